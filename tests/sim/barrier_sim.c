/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The barrier: nobody goes on before all have come, and all that was done before is seen behind,
 * with members in one group and in groups of groups; sleepers are woken, and who is called away
 * comes back. Or members bring something, which is combined along the groups, and is their own
 * again behind.
 *
 * Actors: members of equal rank. Each writes his word in every round; all read it.
 */
#include "base/barrier.h"
#include "scenarios.h"

#define MEMBERS 5u
#define ROUNDS 3u
#define LINES 16u

typedef struct shared {
    union {
        med_barrier barrier;
        unsigned char room[sizeof(med_barrier) + LINES * sizeof(med_barrier_line)];
    } at;
    uint32_t work[MEMBERS];    /* plain: each by its member */
    uint32_t brought[MEMBERS]; /* plain: each its member's, or who leads him */
    atomic32 calls;
    uint32_t errands[ROUNDS + 1]; /* plain: what those who are called are to do, by the call */
} shared;

static void
begin_as(const sim_actor *director, const uint8_t *leads)
{
    shared *s = director->memory;
    SIM_CHECK(med_barrier_size(MEMBERS, leads) <= sizeof s->at);
    med_barrier_init(&s->at.barrier, MEMBERS, leads, MED_PORT_SCOPE_SHARED);
}

static void
begin(const sim_actor *director)
{
    begin_as(director, NULL);
}

/* Two groups of two, which meet, and one alone, who meets them above. */
static void
begin_in_groups(const sim_actor *director)
{
    static const uint8_t leads[MEMBERS] = {2, 0, 1, 0, 2};
    begin_as(director, leads);
}

typedef struct ear {
    shared *s;
    uint32_t heard;
    uint32_t last; /* call, whether heard or not */
} ear;

static bool
is_called(void *context)
{
    ear *e = context;
    /* A2 called <- R2 (call) */
    e->last = atomic32_load_acquire(&e->s->calls);
    return e->last != e->heard;
}

/* Now and then the first calls all who wait, to do something else. */
static void
call(shared *s, const sim_actor *actor, uint32_t round)
{
    if (actor->index == 0 && sim_random(2) == 0) {
        s->errands[round] = round;
        atomic32_store_release(&s->calls, round); /* R2 called -> A2 (is_called) */
        med_wait_crowd_wake(&s->at.barrier.wait, MED_PORT_SCOPE_SHARED);
    }
}

static void
pass(shared *s, med_barrier_member *member, ear *e)
{
    med_barrier_come(&s->at.barrier, member);
    while (!med_barrier_await(&s->at.barrier, member, is_called, e)) {
        e->heard = e->last;
        SIM_CHECK(s->errands[e->heard] == e->heard);
    }
}

static void
act(const sim_actor *actor)
{
    shared *s = actor->memory;
    ear e = {.s = s};
    med_barrier_member member;
    med_barrier_member_init(&member, actor->index);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        s->work[actor->index] = round;
        call(s, actor, round);
        pass(s, &member, &e);
        for (uint32_t i = 0; i < MEMBERS; i++) {
            SIM_CHECK(s->work[i] == round);
        }
        pass(s, &member, &e);
    }
}

/* Beside others that compute, as each finds for himself, sooner or later. */
static void
act_in_crowd(const sim_actor *actor)
{
    if (sim_random(4)) {
        sim_others_stay();
    }
    act(actor);
}

static void
combine(void *into, void *from)
{
    *(uint32_t *)into += *(const uint32_t *)from;
}

/* It tells whose it is, and in which round. */
static uint32_t
number_of(uint32_t member, uint32_t round)
{
    return round << 3 * member;
}

/* Behind it the member changes what it has brought at once. */
static void
act_bringing(const sim_actor *actor)
{
    shared *s = actor->memory;
    ear e = {.s = s};
    uint32_t *own = &s->brought[actor->index];
    med_barrier_member member;
    med_barrier_member_init(&member, actor->index);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint32_t all = 0;
        *own = number_of(actor->index, round);
        call(s, actor, round);
        med_barrier_bring(&s->at.barrier, &member, own, combine);
        while (!med_barrier_await(&s->at.barrier, &member, is_called, &e)) {
            e.heard = e.last;
        }
        for (uint32_t i = 0; i < MEMBERS; i++) {
            all += number_of(i, round);
        }
        SIM_CHECK(actor->index != 0 || *own == all);
        *own = 0;
        if (round == ROUNDS - 1) { /* and now and then comes with nothing */
            pass(s, &member, &e);
        }
    }
}

const sim_scenario sim_barrier = {
    .name = "barrier",
    .covers = "barrier barrier_sim",
    .memory_bytes = sizeof(shared),
    .actors = MEMBERS,
    .waits_forever = true,
    .begin = begin,
    .act = act,
};

const sim_scenario sim_barrier_crowd = {
    .name = "barrier_crowd",
    .covers = "barrier_sim announce_to_crowd() is_paid_by_crowd() crowd_turn()",
    .memory_bytes = sizeof(shared),
    .actors = MEMBERS,
    .waits_forever = true,
    .begin = begin,
    .act = act_in_crowd,
};

const sim_scenario sim_barrier_groups = {
    .name = "barrier_groups",
    .covers = "barrier barrier_sim",
    .memory_bytes = sizeof(shared),
    .actors = MEMBERS,
    .waits_forever = true,
    .begin = begin_in_groups,
    .act = act,
};

const sim_scenario sim_barrier_brought = {
    .name = "barrier_brought",
    .covers = "barrier barrier_sim",
    .memory_bytes = sizeof(shared),
    .actors = MEMBERS,
    .one_process = true,
    .waits_forever = true,
    .begin = begin_in_groups,
    .act = act_bringing,
};
