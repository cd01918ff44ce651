/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Event callbacks of one's own: who listens to an event that he alone tells is called each time
 * until he ends it, however many begin to listen meanwhile, and whoever ends what had the entry
 * before.
 *
 * Actors: threads of one process, of equal rank. Each listens to his own event, tells it and ends
 * it. In half of the seeds there is a callback before, that all of them end first.
 */
#include "mrapi/event.h"
#include "scenarios.h"

#define ACTORS 3u
#define ROUNDS 2u
#define SHARED ((mrapi_event_t)1)
#define OWN 2u /* and those after it */

static uint32_t heard[ACTORS]; /* each by its actor only */

static void
hear_own(mrapi_event_t event)
{
    heard[event - OWN]++;
}

static void
hear_shared(mrapi_event_t event)
{
    (void)event;
    SIM_CHECK(false);
}

static void
listen(mrapi_event_t event, uint32_t frequency, void (*callback)(mrapi_event_t event))
{
    SIM_CHECK(med_event_listen(event, frequency, callback) == MEDLEY_OK);
}

static void
begin(const sim_actor *director)
{
    (void)director;
    if (sim_random(2) == 0) {
        listen(SHARED, 1, hear_shared);
    }
}

static void
act(const sim_actor *actor)
{
    mrapi_event_t own = (mrapi_event_t)(OWN + actor->index);
    listen(SHARED, 0, hear_shared);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        listen(own, 1, hear_own);
        med_event_tell_listeners(own);
        SIM_CHECK(heard[actor->index] == round);
        listen(own, 0, hear_own);
        med_event_tell_listeners(own);
        SIM_CHECK(heard[actor->index] == round);
    }
}

const sim_scenario sim_event_own = {
    .name = "event_own",
    .covers = "claimed_raise() listener_change()",
    .actors = ACTORS,
    .one_process = true,
    .begin = begin,
    .act = act,
};
