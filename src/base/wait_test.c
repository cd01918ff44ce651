/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The wait object: nobody sleeps through a wake, deadlines, who ends a wait, wrap-around. */
#include "base/wait.h"

#include "port/port.h"
#include "support/unit.h"

#define PAIRS 3 /* on two processors: over-committed */
#define ROUNDS 4000

typedef struct baton {
    med_wait wait;
    atomic32 holder; /* 0 or 1: whose turn */
} baton;

typedef struct player {
    med_port_thread thread;
    baton *b;
    uint32_t me;
    uint32_t rounds;
    med_waiter waiter;
} player;

static bool
my_turn(void *context)
{
    const player *p = context;
    return atomic32_load_acquire(&p->b->holder) == p->me; /* A1 turn <- R1 (play) */
}

static void *
play(void *argument)
{
    player *p = argument;
    med_wait_request request = {.condition = my_turn,
                                .context = p,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS};
    for (; p->rounds; p->rounds--) {
        if (med_wait_until(&p->b->wait, &p->waiter, &request) != MEDLEY_OK) {
            break;
        }
        atomic32_store_release(&p->b->holder, 1 - p->me); /* R1 turn -> A1 (my_turn) */
        med_wait_wake(&p->b->wait, MED_PORT_SCOPE_PROCESS);
    }
    return NULL;
}

/* `word` is where the objects' counters start. */
static void
turns(uint32_t word)
{
    static baton batons[PAIRS];
    static player players[PAIRS][2];
    for (int i = 0; i < PAIRS; i++) {
        batons[i] = (baton){.wait = {.word = ATOMIC32_INIT(word)}};
        for (uint32_t me = 0; me < 2; me++) {
            players[i][me] = (player){.b = &batons[i], .me = me, .rounds = ROUNDS};
            assert_int_equal(
                med_port_thread_start(&players[i][me].thread, NULL, play, &players[i][me]),
                MEDLEY_OK);
        }
    }
    for (int i = 0; i < PAIRS; i++) {
        for (uint32_t me = 0; me < 2; me++) {
            assert_int_equal(med_port_thread_join(players[i][me].thread, NULL), MEDLEY_OK);
            assert_int_equal(players[i][me].rounds, 0);
        }
    }
}

static void
turns_pass(void **state)
{
    (void)state;
    turns(0);
}

static void
turns_pass_across_the_wrap(void **state)
{
    (void)state;
    turns(UINT32_MAX - 101);
}

static bool
never(void *context)
{
    (void)context;
    return false;
}

static bool
always(void *context)
{
    (void)context;
    return true;
}

static medley_status_t
gives_up(void *context)
{
    uint32_t *calls = context;
    ++*calls;
    return *calls == 2 ? MEDLEY_ERR_PEER_DIED : MEDLEY_OK;
}

static void
who_ends_a_wait(void **state)
{
    med_wait wait = {.word = ATOMIC32_INIT(0)};
    med_waiter waiter = {.spin_ns = 0};
    uint32_t calls = 0;
    (void)state;
    med_wait_request request = {.condition = never, .scope = MED_PORT_SCOPE_PROCESS};
    assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_TIMEOUT); /* one look */
    request.deadline_ns = med_port_clock_ns() - 1;
    assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_TIMEOUT); /* the past: too */
    assert_int_equal(waiter.spin_ns, 0); /* it did not even spin */
    request.condition = always;
    assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_OK);
    assert_int_equal(waiter.sleeps, 0);

    request.condition = never;
    request.deadline_ns = med_port_clock_ns() + 10000000;
    assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_TIMEOUT);
    assert_true(med_port_clock_ns() >= request.deadline_ns);
    assert_int_equal(waiter.sleeps, 1);

    request = (med_wait_request){.condition = never,
                                 .each_slice = gives_up,
                                 .context = &calls,
                                 .deadline_ns = MED_PORT_FOREVER,
                                 .scope = MED_PORT_SCOPE_PROCESS};
    assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_ERR_PEER_DIED);
    assert_int_equal(calls, 2);
}

static void
a_dead_sleepers_flag_goes_with_the_next_wake(void **state)
{
    med_wait wait = {.word = ATOMIC32_INIT(3 * MED_WAIT_WOKEN | MED_WAIT_SLEEPS)};
    (void)state;
    med_wait_wake(&wait, MED_PORT_SCOPE_PROCESS);
    assert_int_equal(atomic32_load_relaxed(&wait.word), 4 * MED_WAIT_WOKEN);
    med_wait_wake(&wait, MED_PORT_SCOPE_PROCESS); /* nobody sleeps: nothing changes */
    assert_int_equal(atomic32_load_relaxed(&wait.word), 4 * MED_WAIT_WOKEN);
}

static void
spinning_adapts(void **state)
{
    const med_port_scheduling several = {.processors = 2, .real_time = true};
    const med_port_scheduling only = {.processors = 1, .real_time = true, .alone = true};
    const med_port_scheduling alone = {.processors = 1, .real_time = true};
    med_waiter waiter = {.spin_ns = 0};
    (void)state;
    uint64_t short_ns = med_wait_spin_budget_ns(&waiter, NULL, &alone);
    uint64_t first_ns = med_wait_spin_budget_ns(&waiter, NULL, &several);
    med_wait_learn(&waiter, true);
    assert_true(med_wait_spin_budget_ns(&waiter, NULL, &several) < first_ns);
    for (int i = 0; i < 20; i++) {
        med_wait_learn(&waiter, true);
    }
    assert_true(med_wait_spin_budget_ns(&waiter, NULL, &several) > 0);
    for (int i = 0; i < 20; i++) {
        med_wait_learn(&waiter, false);
    }
    assert_true(med_wait_spin_budget_ns(&waiter, NULL, &several) > first_ns);
    assert_true(short_ns > 0 && short_ns < first_ns);
    assert_int_equal(med_wait_spin_budget_ns(&waiter, NULL, &only), 0);
    assert_int_equal(med_wait_spin_budget_ns(&waiter, NULL, &alone),
                     short_ns); /* whatever was learned */
}

static void
limits_count_more_than_what_was_learned(void **state)
{
    const med_port_scheduling several = {.processors = 2};
    const med_port_scheduling only = {.processors = 1, .real_time = true, .alone = true};
    const med_wait_limits none = {.most_ns = 0};
    const med_wait_limits many = {.least_ns = 1000000000, .most_ns = UINT64_MAX};
    med_waiter waiter = {.spin_ns = 0};
    (void)state;
    assert_int_equal(med_wait_spin_budget_ns(&waiter, &none, &several), 0);
    assert_int_equal(med_wait_spin_budget_ns(&waiter, &many, &several), many.least_ns);
    assert_int_equal(med_wait_spin_budget_ns(&waiter, &many, &only), 0); /* nobody else could run */
}

/* One processor, ordinary scheduling: a yield may give it to another for a whole slice. */
static void
who_may_lose_a_slice_sleeps_at_once(void **state)
{
    const med_port_scheduling one = {.processors = 1};
    const med_port_scheduling only = {.processors = 1, .alone = true};
    const med_port_scheduling several = {.processors = 2};
    med_waiter waiter = {.spin_ns = 0};
    (void)state;
    assert_int_equal(med_wait_spin_budget_ns(&waiter, NULL, &one), 0); /* a new one */
    assert_true(med_wait_spin_budget_ns(&waiter, NULL, &one) > 0);
    med_wait_learn_yield(&waiter, 1000); /* nobody else, or whom it waits for */
    assert_true(med_wait_spin_budget_ns(&waiter, NULL, &one) > 0);

    uint32_t before = 0;
    for (int slices = 0; slices < 6; slices++) { /* more share every slice */
        med_wait_learn_yield(&waiter, 3000000);
        uint32_t waits = 0;
        while (med_wait_spin_budget_ns(&waiter, NULL, waits % 2 ? &one : &only) == 0) {
            assert_true(med_wait_spin_budget_ns(&waiter, NULL, &several) > 0);
            waits++;
        }
        assert_true(waits > before && waits <= 10000); /* then it tries again */
        before = waits;
    }
    assert_true(before >= 100);
    for (int i = 0; i < 1000; i++) {
        med_wait_learn(&waiter, false);
    }
    assert_int_equal(waiter.crowd, 0); /* as if there had been none */
}

static bool
looked(void *context)
{
    ++*(uint32_t *)context;
    return false;
}

static void *
spins_once(void *argument)
{
    med_waiter waiter = {.spin_ns = 0};
    (void)med_wait_spin(&waiter, looked, argument);
    return NULL;
}

static void
a_new_one_on_one_processor_does_not_spin(void **state)
{
    uint32_t looks = 0;
    med_processor_set only;
    (void)state;
    med_port_thread thread;
    med_port_thread_attributes attributes = {.processors = &only};
    med_port_processors_allowed(&only);
    only = med_processor_set_of(med_processor_set_next(&only, 0));
    assert_int_equal(med_port_thread_start(&thread, &attributes, spins_once, &looks), MEDLEY_OK);
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
    assert_int_equal(looks, 1);
}

/* Bound to one processor, and those it waits for have others. */
static void *
asks_how_it_is_scheduled(void *seen)
{
    static const med_wait_limits apart = {.least_ns = 1000, .others_apart = true};
    static const med_wait_limits unknown = {.least_ns = 1000};
    med_port_scheduling *scheduling = seen;
    med_wait_scheduling_get(&apart, &scheduling[0]);
    med_wait_scheduling_get(&unknown, &scheduling[1]);
    med_wait_scheduling_get(NULL, &scheduling[2]);
    return NULL;
}

static void
who_is_bound_apart_spins_as_others_do(void **state)
{
    med_port_scheduling seen[3];
    med_processor_set only;
    (void)state;
    med_port_thread thread;
    med_port_thread_attributes attributes = {.processors = &only};
    med_port_processors_allowed(&only);
    only = med_processor_set_of(med_processor_set_next(&only, 0));
    assert_int_equal(med_port_thread_start(&thread, &attributes, asks_how_it_is_scheduled, seen),
                     MEDLEY_OK);
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
    assert_int_equal(seen[0].processors, 2);
    assert_false(seen[0].alone);
    assert_int_equal(seen[1].processors, 1);
    assert_int_equal(seen[2].processors, 1);
}

static bool
holds_at_the_third_look(void *context)
{
    uint32_t *looks = context;
    return ++*looks > 2;
}

/* It had learned the shortest spin, and was made to spin longer than anybody learns. */
static void
a_long_spin_that_was_enough_is_learned(void **state)
{
    const med_wait_limits again = {
        .least_ns = 1000000000, .most_ns = UINT64_MAX, .others_apart = true};
    med_waiter waiter = {.spin_ns = 2000};
    med_wait wait = {{0}};
    uint32_t looks = 0;
    (void)state;
    const med_wait_request request = {.condition = holds_at_the_third_look,
                                      .context = &looks,
                                      .limits = &again,
                                      .deadline_ns = MED_PORT_FOREVER,
                                      .scope = MED_PORT_SCOPE_PROCESS};
    assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_OK);
    assert_int_equal(waiter.spin_ns, 50000);
}

static void
slices_end_by_the_deadline(void **state)
{
    (void)state;
    uint64_t now_ns = med_port_clock_ns();
    assert_int_equal(med_wait_slice_end_ns(0, now_ns), now_ns);
    for (uint32_t slice = 0; slice < 40; slice++) {
        uint64_t end_ns = med_wait_slice_end_ns(slice, MED_PORT_FOREVER);
        assert_true(end_ns > now_ns);
        assert_true(end_ns < now_ns + 1000000000u); /* deaths are noticed within a second */
    }
}

#define SLICES 4u

static medley_status_t
so_many_slices(void *context)
{
    return ++*(uint32_t *)context == SLICES ? MEDLEY_TIMEOUT : MEDLEY_OK;
}

static bool
never_holds(void *context)
{
    (void)context;
    return false;
}

/* 4 ms, 64, and twice as long each time: 452 ms; where deaths are looked for it is 60. */
static void
slices_of_who_looks_for_no_deaths_go_on_doubling(void **state)
{
    (void)state;
    uint32_t slices = 0;
    med_wait wait = {0};
    med_waiter waiter = {0};
    const med_wait_request request = {.condition = never_holds,
                                      .each_slice = so_many_slices,
                                      .context = &slices,
                                      .slices_double = true,
                                      .deadline_ns = MED_PORT_FOREVER,
                                      .scope = MED_PORT_SCOPE_PROCESS};
    uint64_t start_ns = med_port_clock_ns();
    assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_TIMEOUT);
    assert_true(med_port_clock_ns() - start_ns >= 452000000u);
    assert_int_equal(waiter.slices, SLICES);
}

static medley_status_t
goes_on(void *context)
{
    (void)context;
    return MEDLEY_OK;
}

/* He looks in a wait that is over before the second slice is. Again, if he was held up so long
 * that the first ended with the wait. */
static void
who_looks_for_no_deaths_looks_early_once(void **state)
{
    med_waiter waiter = {0};
    (void)state;
    for (uint32_t tries = 0; tries < 100 && waiter.slices < 2; tries++) {
        med_wait wait = {0};
        const med_wait_request request = {.condition = never_holds,
                                          .each_slice = goes_on,
                                          .slices_double = true,
                                          .deadline_ns = med_port_clock_ns() + 40000000u,
                                          .scope = MED_PORT_SCOPE_PROCESS};
        waiter = (med_waiter){0};
        assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_TIMEOUT);
    }
    assert_int_equal(waiter.slices, 2);
}

/* A waker's own word, and what he finds there when he looks closer. */
typedef struct own_word {
    atomic32 stop;
    uint32_t taken_away; /* so often he stores there between the call and W5 */
    uint32_t looks;      /* at the condition, while it was called */
} own_word;

#define CALLED 7u
#define GOES_ON 1000u

static bool
waker_goes_on(void *context)
{
    own_word *own = context;
    if (atomic32_load_relaxed(&own->stop) == CALLED) {
        own->looks++;
        if (own->taken_away > 0) {
            own->taken_away--;
            atomic32_store_relaxed(&own->stop, GOES_ON);
        }
    }
    return false;
}

static medley_status_t
one_slice(void *context)
{
    (void)context;
    return MEDLEY_ERR_PEER_DIED;
}

static void
a_sleeper_calls_again_when_the_call_was_taken_away(void **state)
{
    (void)state;
    for (uint32_t taken_away = 0; taken_away <= 1; taken_away++) {
        med_wait wait = {0};
        med_waiter waiter = {0};
        own_word own = {.stop = ATOMIC32_INIT(GOES_ON), .taken_away = taken_away};
        med_wait_request request = {.condition = waker_goes_on,
                                    .each_slice = one_slice,
                                    .context = &own,
                                    .call = &own.stop,
                                    .call_value = CALLED,
                                    .deadline_ns = MED_PORT_FOREVER,
                                    .scope = MED_PORT_SCOPE_PROCESS};
        assert_int_equal(med_wait_until(&wait, &waiter, &request), MEDLEY_ERR_PEER_DIED);
        assert_int_equal(own.looks, taken_away + 2); /* after each call, and after the sleep */
        assert_int_equal(atomic32_load_relaxed(&own.stop), CALLED);
        assert_int_equal(atomic32_load_relaxed(&wait.word), MED_WAIT_SLEEPS);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_pass),
        cmocka_unit_test(turns_pass_across_the_wrap),
        cmocka_unit_test(who_ends_a_wait),
        cmocka_unit_test(a_dead_sleepers_flag_goes_with_the_next_wake),
        cmocka_unit_test(a_sleeper_calls_again_when_the_call_was_taken_away),
        cmocka_unit_test(spinning_adapts),
        cmocka_unit_test(limits_count_more_than_what_was_learned),
        cmocka_unit_test(who_may_lose_a_slice_sleeps_at_once),
        cmocka_unit_test(a_new_one_on_one_processor_does_not_spin),
        cmocka_unit_test(who_is_bound_apart_spins_as_others_do),
        cmocka_unit_test(a_long_spin_that_was_enough_is_learned),
        cmocka_unit_test(slices_end_by_the_deadline),
        cmocka_unit_test(slices_of_who_looks_for_no_deaths_go_on_doubling),
        cmocka_unit_test(who_looks_for_no_deaths_looks_early_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
