/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The wait object: whoever waits learns of what he waits for, and of nothing earlier than it is
 * there, with several who wait for different things on one object.
 *
 * Actors: 0 and 1 publish, 2 and 3 wait. One that publishes may be killed: then its waiter is told
 * by its slices. Three times: the sleepers pay for the looks of those who wake them, or these do,
 * or these begin to, as a crowd's.
 */
#include "base/beside.h"
#include "base/wait.h"
#include "scenarios.h"

#define ROUNDS 3u

typedef enum who_pays {
    SLEEPERS,
    WAKERS,
    CROWD,
} who_pays;

typedef struct shared {
    med_wait_crowd crowd;
    who_pays pays;
    struct {
        atomic32 published; /* how many rounds */
        uint32_t payload;   /* plain: published with it */
        atomic32 read;      /* by the waiter: the payload may be written anew */
    } side[2];
} shared;

typedef struct wanted {
    shared *s;
    uint32_t side;
    uint32_t round;
} wanted;

static void
begin(const sim_actor *director)
{
    (void)director; /* a zeroed wait object is ready */
}

static void
begin_paid(const sim_actor *director)
{
    ((shared *)director->memory)->pays = WAKERS;
}

static void
begin_crowd(const sim_actor *director)
{
    ((shared *)director->memory)->pays = CROWD;
}

#define FOUND_OFTEN 6

void
sim_others_stay(void)
{
    for (int i = 0; i < FOUND_OFTEN; i++) {
        med_beside_found(true);
    }
    SIM_CHECK(med_beside_stay());
}

static bool
is_published(void *context)
{
    const wanted *w = context;
    /* A1 published <- R1 (publish) */
    return atomic32_load_acquire(&w->s->side[w->side].published) >= w->round;
}

static bool
is_read(void *context)
{
    const wanted *w = context;
    /* A2 read <- R2 (wait) */
    return atomic32_load_acquire(&w->s->side[w->side].read) >= w->round;
}

static medley_status_t
look_for_death(void *context)
{
    const wanted *w = context;
    return sim_is_dead(w->side) || sim_is_dead(w->side + 2) ? MEDLEY_ERR_PEER_DIED : MEDLEY_OK;
}

static medley_status_t
wait_for(wanted *w, bool (*condition)(void *context))
{
    med_waiter waiter = {0};
    med_wait_request request = {.condition = condition,
                                .each_slice = look_for_death,
                                .context = w,
                                .wakers_pay = w->s->pays == WAKERS,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_SHARED};
    return w->s->pays == CROWD ? med_wait_crowd_until(&w->s->crowd, &waiter, &request)
                               : med_wait_until(&w->s->crowd.wait, &waiter, &request);
}

static void
wake(shared *s)
{
    if (s->pays == CROWD) {
        med_wait_crowd_wake(&s->crowd, MED_PORT_SCOPE_SHARED);
    } else if (s->pays == WAKERS) {
        med_wait_wake_paid(&s->crowd.wait, MED_PORT_SCOPE_SHARED);
    } else {
        med_wait_wake(&s->crowd.wait, MED_PORT_SCOPE_SHARED);
    }
}

static void
publish(shared *s, uint32_t side)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        wanted w = {s, side, round - 1};
        if (wait_for(&w, is_read) != MEDLEY_OK) {
            return;
        }
        s->side[side].payload = round;
        atomic32_store_release(&s->side[side].published, round); /* R1 published -> A1 */
        wake(s);
    }
}

static void
wait(shared *s, uint32_t side)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        wanted w = {s, side, round};
        if (wait_for(&w, is_published) != MEDLEY_OK) {
            return;
        }
        SIM_CHECK(s->side[side].payload == round);
        atomic32_store_release(&s->side[side].read, round); /* R2 read -> A2 */
        wake(s);
    }
}

static void
act(const sim_actor *actor)
{
    if (((shared *)actor->memory)->pays == CROWD && sim_random(2)) {
        sim_others_stay();
    }
    if (actor->index < 2) {
        publish(actor->memory, actor->index);
    } else {
        wait(actor->memory, actor->index - 2);
    }
}

const sim_scenario sim_wait = {
    .name = "wait",
    .covers = "wait wait_sim",
    .memory_bytes = sizeof(shared),
    .actors = 4,
    .deaths = 1,
    .mortal = 0xf,
    .waits_forever = true,
    .begin = begin,
    .act = act,
};

const sim_scenario sim_wait_paid = {
    .name = "wait_paid",
    .covers = "wait_sim announce_to_who_pays() med_wait_wake_paid()",
    .memory_bytes = sizeof(shared),
    .actors = 4,
    .deaths = 1,
    .mortal = 0xf,
    .waits_forever = true,
    .wakers_pay = true,
    .begin = begin_paid,
    .act = act,
};

const sim_scenario sim_wait_crowd = {
    .name = "wait_crowd",
    .covers = "wait_sim announce_to_crowd() is_paid_by_crowd() crowd_turn() med_wait_crowd_wake() "
              "med_wait_wake_paid()",
    .memory_bytes = sizeof(shared),
    .actors = 4,
    .deaths = 1,
    .mortal = 0xf,
    .waits_forever = true,
    .begin = begin_crowd,
    .act = act,
};
