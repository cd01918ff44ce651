/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The barrier: shapes, nobody early, calls in between, sleepers, wrap-around, beginning anew. */
#include "base/barrier.h"

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

#define THREADS_MAX 24u
#define SCOPE MED_PORT_SCOPE_PROCESS

typedef struct crew {
    med_barrier *barrier;
    uint32_t members;
    uint32_t rounds;
    uint32_t dozes;             /* the first member lets all others fall asleep, so often */
    uint32_t work[THREADS_MAX]; /* plain: a round's number, of each member */
    atomic32 late;              /* who found another's work of an earlier round */
    atomic32 told;              /* rounds that those who departed may begin */
} crew;

typedef struct hand {
    crew *c;
    med_barrier_member member;
    med_port_thread thread;
} hand;

/* Who leads is written out for each, in the order of the members; others lead none. */
typedef struct grouping {
    bool in_groups;
    uint8_t leads[THREADS_MAX];
} grouping;

static med_barrier *
barrier_make(uint32_t members, const grouping *shape)
{
    const uint8_t *leads = shape->in_groups ? shape->leads : NULL;
    size_t bytes = med_barrier_size(members, leads);
    assert_int_not_equal(bytes, 0);
    med_barrier *barrier = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(barrier);
    memset(barrier, 0xa5, bytes);
    med_barrier_init(barrier, members, leads, SCOPE);
    return barrier;
}

/* Each looks at what all did in this round; nobody does the next before all have looked. */
static void
look_around(hand *h, uint32_t round)
{
    for (uint32_t i = 0; i < h->c->members; i++) {
        if (h->c->work[i] != round) {
            (void)atomic32_fetch_add_relaxed(&h->c->late, 1);
        }
    }
}

static void *
toil(void *argument)
{
    hand *h = argument;
    for (uint32_t round = 1; round <= h->c->rounds; round++) {
        if (h->member.index == 0 && round <= h->c->dozes) {
            med_port_delay_ns(2000000);
        }
        h->c->work[h->member.index] = round;
        med_barrier_pass(h->c->barrier, &h->member);
        look_around(h, round);
        med_barrier_pass(h->c->barrier, &h->member);
    }
    return NULL;
}

static void
run(crew *c, void *(*body)(void *argument), uint32_t come)
{
    static hand hands[THREADS_MAX];
    for (uint32_t i = 0; i < c->members; i++) {
        hands[i].c = c;
        med_barrier_member_init(&hands[i].member, i);
        hands[i].member.come = come;
        assert_int_equal(med_port_thread_start(&hands[i].thread, NULL, body, &hands[i]), MEDLEY_OK);
    }
    for (uint32_t i = 0; i < c->members; i++) {
        assert_int_equal(med_port_thread_join(hands[i].thread, NULL), MEDLEY_OK);
    }
    assert_int_equal(atomic32_load_relaxed(&c->late), 0);
}

static const grouping shapes[] = {
    {false, {0}},
    {true, {0}},
    {true, {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}},
    {true, {2, 0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 2, 0, 0, 1}},
    /* Of all sizes; one leads himself only, one of two levels as well. */
    {true, {3, 1, 0, 2, 0, 0, 0, 0, 1, 0, 3, 1, 0, 0, 1, 2, 2, 0, 0, 1, 0, 1, 1, 3}},
    {true, {1}},
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

/* Crews of all sizes, at barriers of all shapes. */
static void
run_all(void *(*body)(void *argument))
{
    static const uint32_t members[] = {1, 2, 3, 4, 7, 8, 13, 24};
    for (uint32_t i = 0; i < SHAPES; i++) {
        for (uint32_t j = 0; j < sizeof members / sizeof members[0]; j++) {
            crew c = {.barrier = barrier_make(members[j], &shapes[i]),
                      .members = members[j],
                      .rounds = 1 + 600 / members[j]};
            run(&c, body, 0);
            free(c.barrier);
        }
    }
}

static void
nobody_is_early(void **state)
{
    (void)state;
    run_all(toil);
}

static void
sleepers_are_woken(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SHAPES; i++) {
        crew c = {.barrier = barrier_make(6, &shapes[i]), .members = 6, .rounds = 12, .dozes = 12};
        run(&c, toil, 0);
        free(c.barrier);
    }
}

/* What is said of how often wraps round. */
static void
counts_wrap(void **state)
{
    const uint32_t come = UINT32_MAX - 5;
    (void)state;
    for (uint32_t i = 0; i < SHAPES; i++) {
        crew c = {.barrier = barrier_make(5, &shapes[i]), .members = 5, .rounds = 10};
        for (uint32_t j = 0; j < c.barrier->line_count; j++) {
            atomic32_store_relaxed(&c.barrier->lines[j].come, come);
        }
        run(&c, toil, come);
        free(c.barrier);
    }
}

/* All but the first depart, and the first alone sees that all have come; it tells them. */
static void *
toil_and_depart(void *argument)
{
    hand *h = argument;
    crew *c = h->c;
    for (uint32_t round = 1; round <= c->rounds; round++) {
        c->work[h->member.index] = round;
        med_barrier_pass(c->barrier, &h->member);
        look_around(h, round);
        if (h->member.index == 0) {
            med_barrier_pass(c->barrier, &h->member);
            atomic32_store_release(&c->told, round);
            continue;
        }
        med_barrier_come(c->barrier, &h->member);
        assert_true(med_barrier_depart(c->barrier, &h->member, NULL, NULL));
        while (atomic32_load_acquire(&c->told) != round) {
            med_port_yield();
        }
    }
    return NULL;
}

static void
those_who_depart_are_told(void **state)
{
    (void)state;
    run_all(toil_and_depart);
}

static bool
at_once(void *context)
{
    (void)context;
    return true;
}

/* Of four in two groups, all here: the first alone sees that all have come. */
static void
all_depart(med_barrier *barrier, med_barrier_member *members)
{
    for (uint32_t i = 0; i < 4; i++) {
        med_barrier_come(barrier, &members[i]);
    }
    for (uint32_t i = 3; i > 0; i--) {
        assert_true(med_barrier_depart(barrier, &members[i], at_once, NULL));
    }
    assert_true(med_barrier_await(barrier, &members[0], at_once, NULL));
}

/* They have departed nearly 2^31 times, and nobody was told by a leader; then they go on to where
 * that is as far ahead as it is behind, and behind that. */
static void
nobody_is_early_behind_many_departures(void **state)
{
    const uint32_t news_first = 6; /* behind four members and two leaders */
    const uint32_t come = (uint32_t)INT32_MAX - 2;
    (void)state;
    med_barrier *barrier = barrier_make(4, &shapes[2]);
    med_barrier_member members[4];
    for (uint32_t i = 0; i < barrier->line_count; i++) {
        atomic32_store_relaxed(&barrier->lines[i].come, i < news_first ? come : 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        med_barrier_member_init(&members[i], i);
        members[i].come = come;
    }
    for (uint32_t round = 0; round < 6; round++) {
        all_depart(barrier, members);
        med_barrier_member second = members[3]; /* comes to one that nobody else has come to */
        second.come++;
        second.line = second.index;
        assert_false(med_barrier_await(barrier, &second, at_once, NULL));
    }
    free(barrier);
}

/* Is the second of three, who departed, wanted on that processor, by the lines of the others? */
static bool
is_wanted_on(uint32_t here, uint32_t first, uint32_t first_come, uint32_t last, uint32_t last_come)
{
    med_barrier *barrier = barrier_make(3, &shapes[0]);
    med_barrier_member member;
    med_barrier_member_init(&member, 1);
    med_barrier_come(barrier, &member);
    assert_true(med_barrier_depart(barrier, &member, NULL, NULL));
    atomic32_store_relaxed(&barrier->lines[0].processor, first);
    atomic32_store_relaxed(&barrier->lines[0].come, first_come);
    atomic32_store_relaxed(&barrier->lines[1].processor, here);
    atomic32_store_relaxed(&barrier->lines[2].processor, last);
    atomic32_store_relaxed(&barrier->lines[2].come, last_come);
    bool is_wanted = med_barrier_is_wanted_here(barrier, &member);
    free(barrier);
    return is_wanted;
}

/* By whoever has not come yet; then by the first member, who is to tell. */
static void
one_knows_who_is_wanted_here(void **state)
{
    uint32_t here;
    bool right;
    (void)state;
    do { /* again if the thread was moved meanwhile */
        here = med_port_processor_here();
        uint32_t other = here + 1;
        right = is_wanted_on(here, here, 0, other, 0) && is_wanted_on(here, other, 0, here, 0) &&
                is_wanted_on(here, here, 1, other, 1) && !is_wanted_on(here, other, 0, other, 0) &&
                !is_wanted_on(here, other, 1, here, 1);
    } while (med_port_processor_here() != here);
    assert_true(right);
}

static void
shapes_that_are_none(void **state)
{
    static const uint8_t upside_down[] = {1, 0, 2, 0};
    static const uint8_t two_levels[] = {2, 0, 2, 0};
    (void)state;
    assert_int_equal(med_barrier_size(0, NULL), 0);
    assert_int_equal(med_barrier_size(MED_BARRIER_MEMBERS_MAX + 1, NULL), 0);
    assert_int_equal(med_barrier_size(4, upside_down), 0);
    assert_int_not_equal(med_barrier_size(2, upside_down), 0);
    assert_int_not_equal(med_barrier_size(4, two_levels), 0);
    assert_int_not_equal(med_barrier_size(1, NULL), 0);
    assert_int_not_equal(med_barrier_size(MED_BARRIER_MEMBERS_MAX, NULL), 0);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

typedef struct caller {
    atomic32 calls;
    atomic32 answered;
    uint32_t heard;
} caller;

static caller desk;

static bool
is_called(void *context)
{
    const uint32_t *heard = context;
    return atomic32_load_acquire(&desk.calls) != *heard; /* A2 call <- R2 (call_often) */
}

static void *
answer(void *argument)
{
    hand *h = argument;
    uint32_t heard = 0;
    med_barrier_come(h->c->barrier, &h->member);
    while (!med_barrier_await(h->c->barrier, &h->member, is_called, &heard)) {
        heard++;
        (void)atomic32_fetch_add_relaxed(&desk.answered, 1);
    }
    return NULL;
}

static void *
call_often(void *argument)
{
    hand *h = argument;
    if (h->member.index != 0) {
        return answer(argument);
    }
    for (uint32_t call = 1; call <= h->c->rounds; call++) {
        atomic32_store_release(&desk.calls, call); /* R2 call -> A2 (is_called) */
        med_wait_crowd_wake(&h->c->barrier->wait, SCOPE);
        while (atomic32_load_relaxed(&desk.answered) != call * (h->c->members - 1)) {
            med_port_delay_ns(call % 2 ? 200000 : 0);
            med_port_yield();
        }
    }
    med_barrier_pass(h->c->barrier, &h->member);
    return NULL;
}

/* Who waits hears each call, awake or asleep, and passes in the end. */
static void
called_while_waiting(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SHAPES; i++) {
        crew c = {.barrier = barrier_make(5, &shapes[i]), .members = 5, .rounds = 6};
        desk = (caller){0};
        run(&c, call_often, 0);
        free(c.barrier);
    }
}

/* Some have come and were called away; the barrier begins anew and is whole. */
static void
begins_anew(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SHAPES; i++) {
        crew c = {.barrier = barrier_make(4, &shapes[i]), .members = 4, .rounds = 20};
        uint32_t heard = 0;
        med_barrier_member gone;
        desk = (caller){.calls = ATOMIC32_INIT(1)};
        med_barrier_member_init(&gone, 2);
        med_barrier_come(c.barrier, &gone);
        assert_false(med_barrier_await(c.barrier, &gone, is_called, &heard));
        med_barrier_reset(c.barrier);
        run(&c, toil, 0);
        free(c.barrier);
    }
}

/* Of thousands each looks at some, or all would look at all; and so it is a guess. */
static void
of_thousands_some_are_looked_at(void **state)
{
    (void)state;
    med_barrier *barrier = barrier_make(3000, &shapes[0]);
    med_barrier_member member = {.index = 100, .come = 1};
    atomic32_store_relaxed(&barrier->lines[1500].processor, med_port_processor_here());
    assert_false(med_barrier_is_wanted_here(barrier, &member));
    atomic32_store_relaxed(&barrier->lines[110].processor, med_port_processor_here());
    assert_true(med_barrier_is_wanted_here(barrier, &member));
    member.index = 2999;
    assert_false(med_barrier_is_wanted_here(barrier, &member));
    atomic32_store_relaxed(&barrier->lines[5].processor, med_port_processor_here());
    assert_true(med_barrier_is_wanted_here(barrier, &member));
    free(barrier);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_early),
        cmocka_unit_test(sleepers_are_woken),
        cmocka_unit_test(counts_wrap),
        cmocka_unit_test(shapes_that_are_none),
        cmocka_unit_test(called_while_waiting),
        cmocka_unit_test(begins_anew),
        cmocka_unit_test(those_who_depart_are_told),
        cmocka_unit_test(nobody_is_early_behind_many_departures),
        cmocka_unit_test(one_knows_who_is_wanted_here),
        cmocka_unit_test(of_thousands_some_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
