/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which instructions are killed after, how each is reached without stepping all the way, and the
 * round of doing, killing and looking.
 */
#include "support/step_kill.h"

#include "support/unit.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/random.h"
#include "support/system.h"

#define STUCK_AFTER_S 60

/* How often an operation is killed without MEDLEY_TEST_EXHAUSTIVE, if it has more instructions than
 * are all killed after. */
#define KILLS_BUDGET 150u
#define SHORT 400u
/* Of longer operations the rest is stepped through. */
#define PLACES_MAX 65536u

static const step_plan *current;
static test_random further;
static uint32_t stop_after; /* steps */

uint32_t
step_kill_steps(void)
{
    return stop_after;
}

/* ---- Surroundings ---------------------------------------------------------------------------- */

/* The tester and the stepped child take turns; on one processor that costs a third of it on two. */
static void
stay_on_one_processor(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

static void
environment_reduce(void)
{
    char **kept = environ;
    for (char **entry = environ; *entry; entry++) {
        if (strncmp(*entry, "MEDLEY_", 7) == 0) {
            *kept++ = *entry;
        }
    }
    *kept = NULL;
}

static void
stuck(int signal)
{
    (void)signal;
    (void)fprintf(stderr, "%s, stopped after %u: stuck\n", current->name, stop_after);
    _exit(96);
}

void
step_kill_prepare(void)
{
    environment_reduce();
    test_system_prepare();
    (void)setenv("MEDLEY_MAX_DOMAINS", "2", 1);
    (void)setenv("MEDLEY_MAX_PROCESSES", "6", 1);
    (void)setenv("MEDLEY_MAX_NODES", "8", 1);
    (void)setenv("MEDLEY_MAX_MUTEXES", "8", 1);
    (void)setenv("MEDLEY_MAX_SEMAPHORES", "4", 1);
    (void)setenv("MEDLEY_MAX_RWLOCKS", "4", 1);
    (void)setenv("MEDLEY_MAX_SHARERS", "4", 1);
    (void)setenv("MEDLEY_MAX_SHMEMS", "4", 1);
    (void)setenv("MEDLEY_MAX_RMEMS", "4", 1);
    (void)setenv("MEDLEY_MAX_RMEM_ATTACHMENTS", "4", 1);
    (void)setenv("MEDLEY_MAX_REQUESTS", "4", 1);
    stay_on_one_processor();
    (void)signal(SIGALRM, stuck);
    (void)test_seed();
}

/* ---- The way to the n-th instruction --------------------------------------------------------- */

/* Where the child is after each of its steps, and after each of its calls. */
static uint64_t step_places[PLACES_MAX];
static uint64_t call_places[PLACES_MAX];
/* After how many steps it has returned from each of its first calls. */
static uint32_t call_steps[PLACES_MAX];
static uint32_t calls_known;

static step_outcome
note_steps(step_child child, uint32_t steps)
{
    child.places = step_places;
    child.places_max = PLACES_MAX;
    return step_run(child, steps, current->asleep);
}

static step_outcome
note_calls(step_child child, uint32_t calls)
{
    child.places = call_places;
    child.places_max = PLACES_MAX;
    return step_calls(child, calls, current->asleep);
}

/* Each call ends where the first step ends there that comes after the call before. */
static void
match(uint32_t steps, uint32_t calls)
{
    uint32_t step = 0;
    calls_known = 0;
    for (uint32_t call = 0; call < calls && call < PLACES_MAX; call++) {
        while (step < steps && step < PLACES_MAX && step_places[step] != call_places[call]) {
            step++;
        }
        if (step >= steps || step >= PLACES_MAX || call_places[call] == 0) {
            return;
        }
        call_steps[calls_known++] = ++step;
    }
}

/* The call that the n-th instruction is is stepped over: the child may be killed inside. */
static step_outcome
go_by_calls(step_child child, uint32_t steps)
{
    uint32_t calls = 0;
    while (calls < calls_known && call_steps[calls] < steps) {
        calls++;
    }
    uint32_t before = calls ? call_steps[calls - 1] : 0;
    step_outcome outcome = step_calls(child, calls, current->asleep);
    if (!outcome.ended) {
        outcome = step_run(child, steps - before, outcome.woken ? NULL : current->asleep);
        outcome.steps += before;
    }
    return outcome;
}

/* ---- One stop, and all ----------------------------------------------------------------------- */

static void
call(void (*step)(void))
{
    if (step) {
        step();
    }
}

static step_outcome
stop_at(uint32_t steps, bool kill, step_outcome (*go)(step_child child, uint32_t steps))
{
    stop_after = steps;
    (void)alarm(STUCK_AFTER_S);
    call(current->set_up);
    step_child child = step_start(&current->operation);
    call(current->ready);
    step_outcome outcome = go(child, steps);
    call(current->stopped);
    if (!outcome.ended && !kill) {
        assert_true(step_calls(child, UINT32_MAX, NULL).ended);
    } else if (!outcome.ended && current->further) {
        (void)step_run(child, random_below(&further, current->further), NULL);
    }
    step_kill(child);
    current->check();
    return outcome;
}

static uint32_t
stride_for(uint32_t steps)
{
    const char *exhaustive = getenv("MEDLEY_TEST_EXHAUSTIVE");
    bool all = exhaustive && *exhaustive == '1';
    return steps <= SHORT || all ? 1 : 1 + steps / KILLS_BUDGET;
}

static void
run(const step_plan *plan, bool kill)
{
    const char *reason = step_impossible();
    if (reason) {
        not_possible_here(reason);
    }
    current = plan;
    further = test_random_of(1);
    /* Once to no purpose: a process that has had threads, as the tester has in its checks, goes
     * other ways in the C library. */
    calls_known = 0;
    (void)stop_at(0, kill, go_by_calls);
    uint32_t length = stop_at(UINT32_MAX, kill, note_steps).steps;
    match(length, stop_at(UINT32_MAX, kill, note_calls).steps);
    uint32_t stride = stride_for(length);
    uint32_t stops = 3;
    test_random random = test_random_of(0);
    /* An operation that waits is not as long each time: it has to be at its end after them all. */
    for (uint32_t n = random_below(&random, stride);
         !stop_at(n, kill, go_by_calls).ended || n < length; n += stride) {
        stops++;
    }
    (void)alarm(0);
    print_message("%-20s %6u instructions, %s at %u of them\n", plan->name, length,
                  kill ? "killed" : "stopped", stops);
    current = NULL;
}

void
step_kill_run(const step_plan *plan)
{
    run(plan, true);
}

void
step_stop_run(const step_plan *plan)
{
    run(plan, false);
}

/* ---- As tests -------------------------------------------------------------------------------- */

static void
killed_after_every_instruction(void **state)
{
    step_kill_run(*state);
}

/* After a failed assertion: where it was. */
static int
tell_where(void **state)
{
    (void)state;
    if (current) {
        print_error("%s, stopped after %u\n", current->name, stop_after);
        current = NULL;
    }
    return 0;
}

int
step_kill_group(const char *name, const step_plan *plans, uint32_t count)
{
    int failed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct CMUnitTest tests[] = {{.name = plans[i].name,
                                            .test_func = killed_after_every_instruction,
                                            .teardown_func = tell_where,
                                            .initial_state = (void *)(uintptr_t)&plans[i]}};
        failed += _cmocka_run_group_tests(name, tests, 1, NULL, NULL);
    }
    return failed;
}
