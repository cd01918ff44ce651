/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Event callbacks that threads begin to listen with at once: each of them is called afterwards,
 * however many began meanwhile, and whoever ended what had its entry before.
 *
 * Actors: threads of one process, of equal rank. Each listens to an event of its own. In half of
 * the seeds there is a callback before, that all of them end first. When they have ended, the
 * director tells all events.
 */
#include "mrapi/event.h"
#include "scenarios.h"

#define ACTORS 3u
#define SHARED ((mrapi_event_t)1)
#define OWN 2u /* and those after it */

static uint32_t heard[ACTORS]; /* by the director */

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

static mrapi_event_t
own_of(uint32_t actor)
{
    return (mrapi_event_t)(OWN + actor);
}

static void
act(const sim_actor *actor)
{
    mrapi_event_t own = own_of(actor->index);
    listen(SHARED, 0, hear_shared);
    listen(own, 1, hear_own);
}

static void
end(const sim_actor *director)
{
    (void)director;
    med_event_tell_listeners(SHARED);
    for (uint32_t i = 0; i < ACTORS; i++) {
        med_event_tell_listeners(own_of(i));
        SIM_CHECK(heard[i] == 1);
    }
}

const sim_scenario sim_event_own = {
    .name = "event_own",
    .covers = "listener_add() listener_change()",
    .actors = ACTORS,
    .one_process = true,
    .begin = begin,
    .act = act,
    .end = end,
};
