/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Event callbacks: a callback is called with the event that it was given for, as often as was asked
 * for; what stood in an entry before it ended is nobody's. Addresses of callbacks differ in both
 * halves.
 *
 * Actors: threads of one process. Two listen, each to one event at a time, and end it again; two
 * tell. All entries have been used and ended before, so that what is over stands in them.
 */
#include "mrapi/event.h"
#include "scenarios.h"

#define LISTENERS 2u
#define TELLERS 2u
#define ROUNDS 4u
#define TELLS 8u
#define ENTRIES 16u
#define NEVER 1000000u

/* Each callback's own event. */
#define FIRST ((mrapi_event_t)1)
#define SECOND ((mrapi_event_t)2)
#define RARE ((mrapi_event_t)3) /* listened to so that it is never due */

static void
hear_first(mrapi_event_t event)
{
    SIM_CHECK(event == FIRST);
}

static void
hear_second(mrapi_event_t event)
{
    SIM_CHECK(event == SECOND);
}

static void
hear_rare(mrapi_event_t event)
{
    (void)event;
    SIM_CHECK(false);
}

/* At half of the address of one callback and half of another's. */
static void
hear_mixture(mrapi_event_t event)
{
    (void)event;
    SIM_CHECK(false);
}

typedef void hearer(mrapi_event_t event);

typedef struct subject {
    mrapi_event_t event;
    uint32_t frequency;
    hearer *callback;
} subject;

static subject subjects[] = {
    {FIRST, 1, NULL},
    {SECOND, 1, NULL},
    {RARE, NEVER, NULL},
};
#define SUBJECTS (sizeof subjects / sizeof subjects[0])

static hearer *
placed(uint32_t high, uint32_t low, hearer *callback)
{
    return (hearer *)sim_code_place(high, low, (sim_code *)callback);
}

/* Each entry to an event of its own. */
static void
all_listen(uint32_t frequency, hearer *callback)
{
    for (uint32_t i = 1; i <= ENTRIES; i++) {
        SIM_CHECK(med_event_listen((mrapi_event_t)(RARE + i), frequency, callback) == MEDLEY_OK);
    }
}

/* All that ever stands in an entry is placed: no two halves make an address that is none. */
static void
begin(const sim_actor *director)
{
    (void)director;
    subjects[0].callback = placed(0, 0, hear_first);
    subjects[1].callback = placed(1, 1, hear_second);
    subjects[2].callback = placed(1, 0, hear_rare);
    (void)placed(0, 1, hear_mixture);
    all_listen(NEVER, subjects[2].callback);
    all_listen(0, subjects[2].callback);
}

static void
act(const sim_actor *actor)
{
    for (uint32_t i = 0; actor->index < LISTENERS && i < ROUNDS; i++) {
        const subject *s = &subjects[sim_random(SUBJECTS)];
        SIM_CHECK(med_event_listen(s->event, s->frequency, s->callback) == MEDLEY_OK);
        SIM_CHECK(med_event_listen(s->event, 0, s->callback) == MEDLEY_OK);
    }
    for (uint32_t i = 0; actor->index >= LISTENERS && i < TELLS; i++) {
        med_event_tell_listeners((mrapi_event_t)(FIRST + sim_random(SUBJECTS)));
    }
}

const sim_scenario sim_event = {
    .name = "event",
    .covers = "event",
    .actors = LISTENERS + TELLERS,
    .one_process = true,
    .begin = begin,
    .act = act,
};
