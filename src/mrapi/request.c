/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Requests. What may run together, on one table and on one request: everything, by any threads of
 * the process.
 *
 *               linearises at
 *   begin       its compare-and-swap of FREE (or CANCELED) to RESERVED
 *   start       the store of VALID (or COMPLETED)
 *   test        not yet: its look at the word, or the return from progress; over: the
 *               compare-and-swap that takes the turn, for a COMPLETED one, else the store of FREE
 *   cancel      the store of CANCELED; of another's in a queue, the compare-and-swap of VALID to it
 *   complete    the store of COMPLETED
 *   leave       for each request, the store of FREE
 *   drop        (of one that another canceled) the store of CANCELED without QUEUED
 *
 * The turn is a bit of the word. Who sees it taken does not wait for it, unless he cancels, drains,
 * leaves or completes: somebody is at the request, so for one who asks it is simply not over yet;
 * and of a COMPLETED one, the turn is taken to collect it. So nobody takes the turn of a COMPLETED
 * one but to collect it: who leaves looks whose it is before.
 *
 * QUEUED says that a request stands in a queue of its maker's. Nobody else takes its turn while it
 * is VALID, or touches what it holds: who tests it has seen all there is to see in the word, and
 * who cancels it changes the word from VALID without a turn. So the maker waits for nobody; who
 * cancels may wait for him, as long as one step takes. CANCELED, it stays QUEUED until the maker
 * drops it, and is nobody's to take until then.
 *
 * Who waits for another's raises `watched` before each look, and sleeps where he sleeps for
 * everything; who ends a request looks at that flag, and wakes all nodes: it is rare. So does who
 * cancels another's, for whose end its maker may be waiting.
 *
 * Progress: begin, test are lock-free; complete, cancel, drain and leave block on the turn, which
 * is held for one look or step. What a maker does with what stands in his queue is wait-free.
 * Death: the table is the process's own and goes with it. It, begin and start are request_table.c.
 */
#include "mrapi/request.h"

#include "mrapi/request_place.h"
#include "mrapi/system.h"
#include "port/port.h"

/* ---- Who waits ------------------------------------------------------------------------------- */

/* Some request is over. */
static void
tell(med_requests *requests)
{
    med_wait_wake(&requests->wait, MED_PORT_SCOPE_PROCESS);
    if (!med_port_has_threads() || !requests->system) {
        return;
    }
    med_port_barrier_light(requests->system->scope); /* F4 over, then flag <-> F1 (exchange.h) */
    /* Relaxed, both: as the sleep flag in wait.c. */
    if (__builtin_expect(atomic32_load_relaxed(&requests->watched) != 0, 0)) {
        atomic32_store_relaxed(&requests->watched, 0);
        med_node_wake_all(requests->system);
    }
}

/* ---- The turn -------------------------------------------------------------------------------- */

/* Who takes a turn, and what for. */
typedef struct turn_taker {
    bool collects;
    bool has_queue; /* he made the request, and it stands in a queue of his */
} turn_taker;

/* May the turn be taken of a request whose word is that? Of a COMPLETED one it is taken only to
 * collect it: so who finds it taken there comes too late. */
static medley_status_t
turn_refused(uint32_t seen, uint32_t generation, turn_taker taker)
{
    med_request_state state = med_request_word_state(seen);
    if (med_request_word_generation(seen) != generation || state < MED_REQUEST_VALID) {
        return MEDLEY_ERR_STALE;
    }
    if (state == MED_REQUEST_CANCELED) {
        return MEDLEY_ERR_CANCELED;
    }
    if (state == MED_REQUEST_COMPLETED && !taker.collects) {
        return MEDLEY_ERR_EXISTS;
    }
    if ((seen & MED_REQUEST_QUEUED) && !taker.has_queue) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    if (seen & MED_REQUEST_TURN) {
        return state == MED_REQUEST_COMPLETED ? MEDLEY_ERR_STALE : MEDLEY_BUSY;
    }
    return MEDLEY_OK;
}

/* `word` is what stood there. MEDLEY_OK: it is had. MEDLEY_BUSY: another has it.
 * MEDLEY_ERR_EXISTS, for one who does not collect: it is COMPLETED. MEDLEY_ERR_NOT_OWNER: it is
 * under way in another's queue. */
static medley_status_t
turn_take(med_request *request, uint32_t generation, turn_taker taker, uint32_t *word)
{
    medley_status_t status;
    *word = atomic32_load_relaxed(&request->word); /* relaxed: A2 stands behind it */
    do {
        status = turn_refused(*word, generation, taker);
        /* A2 filled <- R2 (request_table.c), R1 (turn_give) */
    } while (status == MEDLEY_OK &&
             !atomic32_cas_acquire(&request->word, word, *word | MED_REQUEST_TURN));
    return status;
}

/* What is not VALID any more has left its queue. */
static void
turn_give(med_request *request, uint32_t word, med_request_state state)
{
    uint32_t queued = state == MED_REQUEST_VALID ? word & MED_REQUEST_QUEUED : 0;
    /* R1 place left -> A1 (request_table.c), A2 (turn_take, cancel_anothers) */
    atomic32_store_release(&request->word,
                           med_request_word(state, med_request_word_generation(word)) | queued);
}

/* With the turn: it is over for everybody. */
static void
place_free(med_requests *requests, med_request *request, uint32_t word)
{
    /* R1 place left -> A1 (request_table.c) */
    atomic32_store_release(&request->word,
                           med_request_word(MED_REQUEST_FREE, med_request_generation_next(word)));
    tell(requests);
}

/* Waits while another has it. */
static medley_status_t
turn_await(med_request *request, uint32_t generation, turn_taker taker, uint32_t *word)
{
    uint32_t pauses = 0;
    medley_status_t status;
    while ((status = turn_take(request, generation, taker, word)) == MEDLEY_BUSY) {
        med_wait_pause(&pauses);
    }
    return status;
}

/* Of what stands in no queue. */
static const turn_taker engine = {.collects = false, .has_queue = false};

/* ---- The engine ------------------------------------------------------------------------------ */

medley_status_t
med_request_complete(med_requests *requests, uint32_t handle, med_request_outcome outcome)
{
    med_request *request = med_request_place_of(requests, handle);
    uint32_t word;
    medley_status_t status =
        request ? turn_await(request, med_request_word_generation(handle), engine, &word)
                : MEDLEY_ERR_STALE;
    if (status != MEDLEY_OK) {
        return status == MEDLEY_ERR_EXISTS ? MEDLEY_ERR_STALE : status;
    }
    request->outcome = outcome;
    turn_give(request, word, MED_REQUEST_COMPLETED);
    tell(requests);
    return MEDLEY_OK;
}

/* With the turn. */
static med_request_state
step(med_request *request, uint32_t word)
{
    med_request_state state = med_request_word_state(word);
    return state == MED_REQUEST_COMPLETED
               ? state
               : request->operations->progress(request->context, &request->outcome);
}

static void
finish(med_requests *requests, med_request *request, uint32_t word)
{
    uint32_t pauses = 0;
    while (step(request, word) != MED_REQUEST_COMPLETED) {
        med_wait_pause(&pauses);
    }
    turn_give(request, word, MED_REQUEST_COMPLETED);
    tell(requests);
}

void
med_requests_drain(med_requests *requests,
                   const med_request_operations *operations,
                   bool (*matches)(const void *context, const void *wanted),
                   const void *wanted)
{
    for (uint32_t i = 0; i < requests->count; i++) {
        med_request *request = &requests->places[i];
        uint32_t seen = atomic32_load_relaxed(&request->word); /* relaxed: turn_take follows */
        uint32_t word;
        if (turn_await(request, med_request_word_generation(seen), engine, &word) != MEDLEY_OK) {
            continue;
        }
        if (request->operations == operations && matches(request->context, wanted)) {
            finish(requests, request, word);
        } else {
            turn_give(request, word, med_request_word_state(word));
        }
    }
}

/* ---- The maker of what stands in a queue ----------------------------------------------------- */

medley_status_t
med_request_turn_take(med_request *request)
{
    uint32_t word = atomic32_load_relaxed(&request->word); /* relaxed, as what follows */
    /* Relaxed: who cancels touches nothing but the word. */
    if (med_request_word_state(word) == MED_REQUEST_VALID &&
        atomic32_cas_relaxed(&request->word, &word, word | MED_REQUEST_TURN)) {
        return MEDLEY_OK;
    }
    return MEDLEY_ERR_CANCELED;
}

void
med_request_turn_give(med_request *request)
{
    uint32_t word = atomic32_load_relaxed(&request->word); /* relaxed: of who has the turn */
    turn_give(request, word, MED_REQUEST_VALID);
}

void
med_request_turn_end(med_requests *requests, med_request *request, med_request_outcome outcome)
{
    uint32_t word = atomic32_load_relaxed(&request->word); /* relaxed: of who has the turn */
    request->outcome = outcome;
    turn_give(request, word, MED_REQUEST_COMPLETED);
    tell(requests);
}

void
med_request_drop(med_request *request)
{
    uint32_t word = atomic32_load_relaxed(&request->word); /* relaxed: nobody else's to change */
    /* R1 place left -> A1 (request_table.c) */
    atomic32_store_release(&request->word, word & ~MED_REQUEST_QUEUED);
}

/* ---- The maker leaves ------------------------------------------------------------------------ */

/* With nobody to collect it. What another collects, or has canceled, needs nothing any more. */
static void
place_leave(med_requests *requests, med_request *request, uint32_t generation)
{
    const turn_taker maker = {.collects = true, .has_queue = true};
    uint32_t word;
    if (turn_await(request, generation, maker, &word) != MEDLEY_OK) {
        return;
    }
    if (med_request_word_state(word) != MED_REQUEST_COMPLETED) {
        (void)request->operations->cancel(request->context);
    }
    place_free(requests, request, word);
}

void
med_requests_leave(med_requests *requests, uint32_t maker)
{
    for (uint32_t i = 0; i < requests->count; i++) {
        med_request *request = &requests->places[i];
        uint32_t word =
            atomic32_load_acquire(&request->word); /* A2 filled <- R2 (request_table.c) */
        /* Relaxed: A2 stands before it; of a later life, the generation tells. */
        if (med_request_word_state(word) >= MED_REQUEST_VALID &&
            atomic32_load_relaxed(&request->maker) == maker) {
            place_leave(requests, request, med_request_word_generation(word));
        }
    }
}

void
med_requests_node_leaves(med_self *self)
{
    med_requests_leave(&self->system->requests, self->ref);
}

/* ---- Who asks -------------------------------------------------------------------------------- */

/* Does it stand, as far as can be seen, in a queue, and in which node's? Whether that is so under
 * the caller's handle is for him to see. */
static bool
is_queued(const med_request *request, uint32_t *node_ref)
{
    if (!(atomic32_load_relaxed(&request->word) & MED_REQUEST_QUEUED)) { /* relaxed: A2 follows */
        return false;
    }
    uint32_t word = atomic32_load_acquire(&request->word);   /* A2 filled <- R2 (request_table.c) */
    uint32_t maker = atomic32_load_relaxed(&request->maker); /* relaxed: A2 stands before it */
    *node_ref = maker & ~MED_REQUEST_EXCHANGING;
    return word & MED_REQUEST_QUEUED;
}

static bool
is_in_own_queue(const med_request *request)
{
    if (!med_port_has_threads()) {
        return true; /* there are no others' */
    }
    const med_self *self = med_self_get();
    uint32_t node_ref;
    return is_queued(request, &node_ref) && self && node_ref == self->ref;
}

medley_status_t
med_request_test(med_requests *requests, uint32_t handle, med_request_outcome *outcome)
{
    med_request *request = med_request_place_of(requests, handle);
    uint32_t word;
    if (!request) {
        return MEDLEY_ERR_STALE;
    }
    const turn_taker taker = {.collects = true, .has_queue = is_in_own_queue(request)};
    medley_status_t status = turn_take(request, med_request_word_generation(handle), taker, &word);
    if (status != MEDLEY_OK) {
        return status == MEDLEY_ERR_NOT_OWNER ? MEDLEY_BUSY : status;
    }
    med_request_state state = step(request, word);
    if (state != MED_REQUEST_COMPLETED) {
        turn_give(request, word, state);
        return MEDLEY_BUSY;
    }
    *outcome = request->outcome;
    place_free(requests, request, word);
    return MEDLEY_OK;
}

typedef struct any_context {
    med_requests *requests;
    const med_request_wait *how;
    const med_request_handle *handles;
    size_t count;
    medley_status_t status; /* of the one that ended the wait; before, MEDLEY_BUSY */
    size_t which;
    med_request_outcome outcome;
} any_context;

/* What was collected once is not asked for again, however often this is called. */
static bool
any_is_over(void *context)
{
    any_context *any = context;
    if (any->how->each_look) {
        any->how->each_look(any->how->context);
    }
    for (size_t i = 0; any->status == MEDLEY_BUSY && i < any->count; i++) {
        any->status = med_request_test(any->requests, any->handles[i], &any->outcome);
        any->which = i;
    }
    return any->status != MEDLEY_BUSY;
}

static medley_status_t
any_slice(void *context)
{
    const med_request_wait *how = ((const any_context *)context)->how;
    return how->each_slice(how->context);
}

medley_status_t
med_request_wait_any(med_requests *requests,
                     const med_request_wait *how,
                     const med_request_handle *handles,
                     size_t count,
                     size_t *which,
                     med_request_outcome *outcome)
{
    any_context any = {.requests = requests,
                       .how = how,
                       .handles = handles,
                       .count = count,
                       .status = MEDLEY_BUSY};
    const med_wait_request wait = {.condition = any_is_over,
                                   .each_slice = how->each_slice ? any_slice : NULL,
                                   .context = &any,
                                   .deadline_ns = how->deadline_ns,
                                   .scope = how->scope};
    medley_status_t status = med_wait_until(how->place, how->waiter, &wait);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (any.status == MEDLEY_OK) {
        *outcome = any.outcome;
    }
    *which = any.which;
    return any.status;
}

bool
med_requests_are_others(const med_requests *requests,
                        uint32_t node_ref,
                        const med_request_handle *handles,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const med_request *request = med_request_place_of(requests, handles[i]);
        uint32_t whose;
        if (request && is_queued(request, &whose) && whose != node_ref) {
            return true;
        }
    }
    return false;
}

/* Under way in another's queue: not while he is at it. What it holds is not touched. */
static medley_status_t
cancel_anothers(med_requests *requests, med_request *request, uint32_t generation)
{
    const turn_taker maker = {.collects = false, .has_queue = true};
    const uint32_t under_way = med_request_word(MED_REQUEST_VALID, generation) | MED_REQUEST_QUEUED;
    const uint32_t canceled =
        med_request_word(MED_REQUEST_CANCELED, generation) | MED_REQUEST_QUEUED;
    uint32_t pauses = 0;
    uint32_t word = under_way;
    /* A2 filled <- R1 (turn_give): what its maker did at it, he has done. */
    while (!atomic32_cas_acquire(&request->word, &word, canceled)) {
        medley_status_t status = turn_refused(word, generation, maker);
        if (status != MEDLEY_BUSY) {
            /* It could be had, so it is RECEIVED: out of the queue, and too late. */
            return status == MEDLEY_OK ? MEDLEY_BUSY : status;
        }
        med_wait_pause(&pauses);
        word = under_way;
    }
    med_wait_wake(&requests->wait, MED_PORT_SCOPE_PROCESS);
    med_node_wake_all(requests->system); /* its maker, and who else waits for it */
    return MEDLEY_OK;
}

/* With the turn. */
static medley_status_t
cancel_had(med_requests *requests, med_request *request, uint32_t word)
{
    bool canceled = med_request_word_state(word) == MED_REQUEST_VALID &&
                    request->operations->cancel(request->context);
    turn_give(request, word, canceled ? MED_REQUEST_CANCELED : med_request_word_state(word));
    if (!canceled) {
        return MEDLEY_BUSY;
    }
    tell(requests);
    return MEDLEY_OK;
}

medley_status_t
med_request_cancel(med_requests *requests, uint32_t handle)
{
    med_request *request = med_request_place_of(requests, handle);
    uint32_t generation = med_request_word_generation(handle);
    uint32_t word;
    if (!request) {
        return MEDLEY_ERR_STALE;
    }
    const turn_taker taker = {.collects = false, .has_queue = is_in_own_queue(request)};
    medley_status_t status = turn_await(request, generation, taker, &word);
    if (status == MEDLEY_OK) {
        status = cancel_had(requests, request, word);
    } else if (status == MEDLEY_ERR_NOT_OWNER && med_port_has_threads()) {
        status = cancel_anothers(requests, request, generation);
    }
    return status == MEDLEY_ERR_EXISTS ? MEDLEY_BUSY : status;
}
