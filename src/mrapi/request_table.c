/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The table of requests: its places, their generations, and what a maker does with one until its
 * handle is told. request.c says what may run together, and where that linearises. Tables are made
 * and ended while nobody uses them.
 *
 * Death: the table is the process's own and goes with it. A generation has 20 bits and a place
 * rests while others of its run are free, so a handle is told from later ones of its place for a
 * million requests there. A process that leaves its system and comes back has a new table, whose
 * places begin behind the generations of all the old one's: over its lives, for half a million
 * requests of a place at least, as long as no two places are further apart than that. They come
 * about equally far, since nobody stays in a run.
 */
#include "mrapi/request.h"

#include "mrapi/limits.h"
#include "mrapi/request_place.h"
#include "mrapi/system.h"
#include "port/port.h"

#define RUN 16u          /* places that one maker goes round in, while few are his */
#define RUN_ROUNDS 1024u /* so often at most */

/* ---- The table ------------------------------------------------------------------------------- */

const med_limit_info med_limit_requests = {"requests", "MEDLEY_MAX_REQUESTS", 256,
                                           MED_REQUEST_PLACES_MAX};

/* The word with which the places of the next table begin: behind all that were told, of any. Tables
 * come and go in the system's gate. */
static uint32_t generations_begin;

/* The word of the generation that is furthest on, going round; 0: nobody had a place. */
static uint32_t
generation_furthest(const med_requests *requests)
{
    uint32_t furthest = 0;
    for (uint32_t i = 0; i < requests->count; i++) {
        /* There are no users any more. */
        uint32_t word = requests->places[i].word.value & ~MED_REQUEST_PLACE_MASK;
        if (word && (!furthest || word - furthest < 1u << 31)) {
            furthest = word;
        }
    }
    return furthest;
}

medley_status_t
med_requests_init(med_requests *requests)
{
    uint32_t count = med_limits_of_process(&med_limit_requests);
    void *memory;
    medley_status_t status = med_port_memory_map(count * sizeof(med_request), &memory);
    if (status == MEDLEY_OK) {
        *requests = (med_requests){.places = memory, .count = count, .first = generations_begin};
    }
    return status;
}

void
med_requests_fini(med_requests *requests)
{
    if (requests->places) {
        uint32_t furthest = generation_furthest(requests);
        uint32_t used = furthest ? furthest - requests->first + MED_REQUEST_GENERATION_STEP : 0;
        generations_begin += used; /* added: the process's other system has begun there too */
        med_port_memory_unmap(requests->places, requests->count * sizeof(med_request));
        requests->places = NULL;
    }
}

void
med_requests_forget(void)
{
    /* Far behind all that was told, and of a child's child too, whose parent could not either: it
     * comes round after eight. */
    generations_begin += 5u << 29;
}

medley_status_t
med_requests_begin(med_system *system)
{
    medley_status_t status = med_requests_init(&system->requests);
    system->requests.system = system;
    return status;
}

void
med_requests_end(med_system *system)
{
    med_requests_fini(&system->requests);
}

med_request *
med_request_of_context(const med_requests *requests, const void *context)
{
    const uintptr_t at = (uintptr_t)context - offsetof(med_request, context);
    const uintptr_t first = (uintptr_t)requests->places;
    bool none = at < first || at - first >= requests->count * sizeof(med_request);
    return none ? NULL : &requests->places[(at - first) / sizeof(med_request)];
}

/* ---- The maker ------------------------------------------------------------------------------- */

static bool
place_take(const med_requests *requests, med_request *request, med_request_state from)
{
    const uint32_t flags = MED_REQUEST_TURN | MED_REQUEST_QUEUED;
    uint32_t word = atomic32_load_relaxed(&request->word); /* relaxed: checked by what follows */
    if ((word & (MED_REQUEST_STATE_MASK | flags)) != (uint32_t)from) {
        return false;
    }
    uint32_t former = med_request_word_generation(word) ? word : requests->first;
    uint32_t generation = from == MED_REQUEST_CANCELED ? med_request_generation_next(former)
                                                       : med_request_generation_from(former);
    /* A1 place left <- R1 (request.c; here, abandon) */
    return atomic32_cas_acquire(&request->word, &word,
                                med_request_word(MED_REQUEST_RESERVED, generation));
}

/* At the end of a run: may who went through it go through it again, and from where? */
static bool
run_again(const med_requests *requests, uint32_t end, uint32_t *begin)
{
    for (uint32_t at = (end - 1) / RUN * RUN; at < end; at++) {
        uint32_t word = atomic32_load_relaxed(&requests->places[at].word); /* relaxed: a hint */
        if (med_request_word_state(word) == MED_REQUEST_FREE) {
            *begin = at;
            return med_request_word_generation(word) % RUN_ROUNDS != 0;
        }
    }
    return false;
}

/* Where a maker's search begins, who had the place before `next` last; 0: none. He goes round in a
 * run of places, so that what he writes stays with his processor; but not for ever, so that all
 * places come about equally far. */
static uint32_t
search_begin(med_requests *requests, uint32_t next)
{
    uint32_t count = requests->count;
    uint32_t begin = next;
    if (next % RUN != 0 && next < count) {
        return next;
    }
    if (next == 0 || next > count || !run_again(requests, next, &begin)) {
        uint32_t run = atomic32_fetch_add_relaxed(&requests->next_run, 1); /* relaxed: a hint */
        begin = run % ((count + RUN - 1) / RUN) * RUN;
    }
    return begin;
}

medley_status_t
med_request_begin(med_requests *requests,
                  uint32_t maker,
                  uint32_t *next,
                  const med_request_operations *operations,
                  med_request **request)
{
    static const med_request_state ways[] = {MED_REQUEST_FREE, MED_REQUEST_CANCELED};
    uint32_t start = search_begin(requests, *next);
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        for (uint32_t i = 0; i < requests->count; i++) {
            uint32_t at = (start + i) % requests->count;
            med_request *place = &requests->places[at];
            if (place_take(requests, place, ways[way])) {
                atomic32_store_relaxed(&place->maker, maker); /* relaxed: published by R2 */
                place->operations = operations;
                *next = at + 1;
                *request = place;
                return MEDLEY_OK;
            }
        }
    }
    return MEDLEY_ERR_LIMIT;
}

void
med_requests_report_limit(const med_requests *requests)
{
    med_limits_report_of_process(&med_limit_requests, requests->count);
}

/* The handle. Once it is told, others may come: nothing of the request is touched afterwards. */
static uint32_t
publish(med_requests *requests, med_request *request, med_request_state state, uint32_t queued)
{
    uint32_t word = atomic32_load_relaxed(&request->word); /* relaxed: the maker's own */
    /* R2 filled -> A2 (request.c: turn_take, med_requests_leave, is_queued) */
    atomic32_store_release(&request->word,
                           med_request_word(state, med_request_word_generation(word)) | queued);
    return med_request_handle_of(requests, request, word);
}

uint32_t
med_request_start(med_requests *requests, med_request *request)
{
    uint32_t queued = request->operations->queued ? MED_REQUEST_QUEUED : 0;
    return publish(requests, request, MED_REQUEST_VALID, queued);
}

uint32_t
med_request_end_at_once(med_requests *requests, med_request *request, med_request_outcome outcome)
{
    request->outcome = outcome;
    return publish(requests, request, MED_REQUEST_COMPLETED, 0);
}

void
med_request_abandon(med_request *request)
{
    uint32_t word = atomic32_load_relaxed(&request->word); /* relaxed: the maker's own */
    /* R1 place left -> A1 (place_take). The generation was never seen. */
    atomic32_store_release(&request->word,
                           med_request_word(MED_REQUEST_FREE, med_request_word_generation(word)));
}
