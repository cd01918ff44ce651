/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Windows on remote memories whose row becomes another's while they are opened, as where the owner
 * dies: one that is opened is on the memory that was meant, and not on a mixture of two; attributes
 * that are told are its own.
 *
 * Actors: 0 and 1 make a remote memory in turns, in what they have of each kind, and delete it; the
 * others open windows, by handles that are told without any order. What each life is is known to
 * all with its handle. The makers are of two spaces of process numbers, so that what one of them
 * has for itself is out of reach for half of the others.
 */
#include "mrapi.h"
#include "mrapi/process.h"
#include "mrapi/rmem.h"
#include "mrapi/rmem_window.h"
#include "mrapi/system.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 5u
#define MAKERS 2u
#define LIVES 12u
#define LOOKS 400u /* of a maker, whether it is his turn */
#define OPENINGS 32u
#define NUMBER 7u
#define UNUSED 8 /* no attribute is this bit, or one above it */
#define BYTES 64u
#define SEGMENT_BYTES 256u

enum {
    IN_OWNER,
    IN_SEGMENT,
    IN_PARTITION,
    PLACES
};

typedef struct life {
    med_handle handle;
    uint32_t process_ref;
    uint32_t space;
    uint32_t place;
    uint32_t size_bytes;
    uint32_t attributes;
    uint64_t address;
    uint32_t segment_bytes; /* 0: in none */
    uint32_t segment_offset;
} life;

typedef struct notes {
    mrapi_notes common; /* told: a life + 1 */
    uint32_t gone;      /* so many of them */
    life lives[LIVES];
} notes;

static const sim_variable environment[] = {{"MEDLEY_MAX_PROCESSES", "6"}, MRAPI_VARIABLES};

/* ---- Makers ---------------------------------------------------------------------------------- */

/* What a maker has, each of several such. */
typedef struct places {
    unsigned char *of[PLACES];
    uint32_t segment_bytes;
} places;

static void
places_have(const sim_actor *actor, places *p)
{
    static unsigned char own[SEGMENT_BYTES];
    mrapi_status_t status;
    p->segment_bytes = SEGMENT_BYTES * (actor->index + 1);
    mrapi_shmem_hndl_t shmem =
        mrapi_shmem_create(NUMBER + actor->index, p->segment_bytes, NULL, 0, NULL, 0, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    p->of[IN_OWNER] = own;
    p->of[IN_SEGMENT] = mrapi_shmem_attach(shmem, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    p->of[IN_PARTITION] = (unsigned char *)med_self_get()->system->header + SEGMENT_BYTES;
}

/* Each as unlike the one before as it can be. */
static life
life_of(const places *p, uint32_t number)
{
    const med_system *system = med_self_get()->system;
    uint32_t place = number % 4 == 3 ? IN_PARTITION : sim_random(PLACES);
    uint32_t offset = number % 3 * BYTES;
    uintptr_t at = (uintptr_t)p->of[place] + offset;
    return (life){
        .process_ref = system->process_ref,
        .space = med_port_pi_space(),
        .place = place,
        .size_bytes = BYTES - number,
        .attributes = number << UNUSED,
        .address = place == IN_PARTITION ? at - (uintptr_t)system->header : at,
        .segment_bytes = place == IN_SEGMENT ? p->segment_bytes : 0,
        .segment_offset = offset,
    };
}

static void
make_and_delete(notes *n, const places *p, uint32_t number)
{
    life *l = &n->lives[number];
    *l = life_of(p, number);
    const med_rmem_request request = {.number = NUMBER,
                                      .memory = p->of[l->place] + l->segment_offset,
                                      .size_bytes = l->size_bytes,
                                      .access = MED_RMEM_ANY,
                                      .attributes = l->attributes};
    SIM_CHECK(med_rmem_create(med_self_get(), &request, &l->handle) == MEDLEY_OK);
    n->common.told[number % MRAPI_TOLD] = number + 1;
    SIM_CHECK(med_rmem_delete(med_self_get(), l->handle) == MEDLEY_OK);
    n->gone = number + 1;
}

static void
make_in_turns(const sim_actor *actor)
{
    notes *n = actor->notes;
    places p;
    places_have(actor, &p);
    for (uint32_t number = actor->index; number < LIVES; number += MAKERS) {
        for (uint32_t i = 0; i < LOOKS && n->gone < number; i++) {
            med_port_yield();
        }
        if (n->gone < number) {
            return;
        }
        make_and_delete(n, &p, number);
    }
}

/* ---- Those who open -------------------------------------------------------------------------- */

static void
expect(const med_rmem_window *window, const life *l)
{
    const unsigned char *partition = (const unsigned char *)window->system->header;
    SIM_CHECK(window->process_ref == l->process_ref && window->size_bytes == l->size_bytes);
    SIM_CHECK(window->address == l->address);
    SIM_CHECK(l->place != IN_PARTITION || window->local == partition + l->address);
    SIM_CHECK(window->segment_bytes == l->segment_bytes);
    SIM_CHECK(!window->segment ||
              window->local == (unsigned char *)window->segment + l->segment_offset);
}

static void
open_one(const life *l)
{
    const med_self *self = med_self_get();
    med_rmem_window window = {.rmem = 0};
    uint32_t attributes;
    if (med_rmem_attributes(self, l->handle, &attributes) != MEDLEY_OK) {
        return;
    }
    SIM_CHECK(attributes == l->attributes);
    medley_status_t status = med_rmem_window_open(
        self->system, l->handle, med_handle_generation(l->handle), MED_RMEM_PLAIN, &window);
    bool in_reach = l->place != IN_OWNER || l->space == med_port_pi_space();
    medley_status_t good = in_reach ? MEDLEY_OK : MEDLEY_ERR_SYSTEM;
    SIM_CHECK(status == good || status == MEDLEY_ERR_STALE);
    if (status == MEDLEY_OK) {
        expect(&window, l);
        med_rmem_window_close(&window);
    }
}

static void
act(const sim_actor *actor)
{
    const notes *n = actor->notes;
    mrapi_come(actor);
    if (actor->index < MAKERS) {
        make_in_turns(actor);
    }
    for (uint32_t i = 0; actor->index >= MAKERS && i < OPENINGS; i++) {
        uint32_t told = n->common.told[sim_random(MRAPI_TOLD)];
        if (told) {
            open_one(&n->lives[told - 1]);
        } else {
            med_port_yield();
        }
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_window = {
    .name = "mrapi_window",
    .covers = "rmem_window extent_fill() create_fill() med_rmem_attributes()",
    .memory_bytes = sizeof(uint32_t),
    .actors = ACTORS,
    .spaces = 2,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
