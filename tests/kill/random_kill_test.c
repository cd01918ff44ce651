/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed at any moment, under load: several processes make, use and delete objects of all kinds
 * (random_work.h), come and go as nodes, start and join threads. Again and again one of them is
 * killed and another takes its place, under its number. The others must go on; at the end nothing
 * is lost and nothing stuck.
 *
 *   MEDLEY_TEST_KILLS=n   how many are killed (1,000)
 *   MEDLEY_TEST_SEED=n    what each does, who is killed and when; the processors' turns are their
 *                         own
 */
#include "support/unit.h"

#include <signal.h>
#include <sys/prctl.h>

#include "kill/random_work.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/process.h"
#include "support/random.h"
#include "support/system.h"

#define TESTER 1
#define WORKER_FIRST 10
#define THREAD_FIRST 20
#define KILLS_STANDARD 1000
#define PAUSE_MAX_US 4000
#define STUCK_AFTER_S 30

shared_state *shared;
static uint32_t kills_done;

/* ---- Workers --------------------------------------------------------------------------------- */

static void
worker_up(const worker *me)
{
    char text[MRAPI_MAX_STATUS_SIZE];
    mrapi_status_t status = initialize(WORKER_FIRST + me->number);
    if (status != MRAPI_SUCCESS) {
        (void)fprintf(stderr, "worker %u: %s\n", me->number,
                      mrapi_display_status(status, text, sizeof text));
    }
    child_expect(status == MRAPI_SUCCESS);
}

static void
worker_down(void)
{
    child_expect(finalize() == MRAPI_SUCCESS);
}

void
progress(const worker *me)
{
    (void)atomic32_fetch_add_relaxed(&shared->progress[me->number], 1);
}

/* Of what stays. */
static void
lock_staying(const worker *me, test_random *random)
{
    static random_work *const ways[] = {lock_mutex, lock_mutex, lock_sem, lock_rwl};
    ways[random_below(random, sizeof ways / sizeof ways[0])](me, random);
}

typedef struct thread_work {
    const worker *me;
    test_random random;
} thread_work;

static void *
thread_body(void *argument)
{
    thread_work *work = argument;
    for (int i = 0; i < 20; i++) {
        lock_staying(work->me, &work->random);
    }
    return NULL;
}

static void
start_and_join(const worker *me, test_random *random)
{
    mrapi_status_t status;
    mrapi_node_t node = THREAD_FIRST + me->number;
    thread_work work = {.me = me, .random = {.state = random->state ^ 1}};
    mrapi_thread_parameters_t parameters = {.start_routine = thread_body, .arg = &work};
    mrapi_thread_create(DOMAIN, node, &parameters, &status);
    child_expect(status == MRAPI_SUCCESS);
    lock_staying(me, random);
    mrapi_thread_join(DOMAIN, node, NULL, &status);
    child_expect(status == MRAPI_SUCCESS);
}

static void
leave_and_come(const worker *me, test_random *random)
{
    (void)random;
    worker_down(); /* the process leaves the system as well */
    worker_up(me);
}

/* How often, beside the others. */
static const struct {
    random_work *work;
    uint32_t share;
} works[] = {
    {lock_staying, 30}, {leave_and_come, 1}, {start_and_join, 1}, {make_passing, 6},
    {lock_passing, 6},  {delete_passing, 4}, {make_memory, 2},    {use_memory, 2},
    {delete_memory, 1}, {make_remote, 2},    {use_remote, 4},     {delete_remote, 1},
};

#define WORKS (sizeof works / sizeof works[0])

static uint32_t
shares(void)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < WORKS; i++) {
        sum += works[i].share;
    }
    return sum;
}

static void
work_once(const worker *me, test_random *random)
{
    uint32_t chosen = random_below(random, shares());
    uint32_t i = 0;
    while (chosen >= works[i].share) {
        chosen -= works[i++].share;
    }
    works[i].work(me, random);
}

static int
worker_body(test_process *parent, void *argument)
{
    const worker *me = argument;
    test_random random = test_random_of((uint64_t)me->life << 8 | me->number);
    (void)parent;
    (void)alarm(0);
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* for remote memory */
    worker_up(me);
    while (!atomic32_load_acquire(&shared->stop)) {
        work_once(me, &random);
        progress(me);
    }
    worker_down();
    return 0;
}

/* ---- The tester ------------------------------------------------------------------------------ */

static void
stuck(int signal)
{
    (void)signal;
    (void)fprintf(stderr, "stuck after %u kills, seed %llu\n", kills_done,
                  (unsigned long long)test_seed());
    _exit(96);
}

/* Until every worker but one has done something more than `seen`. */
static void
others_go_on(uint32_t killed, const uint32_t seen[WORKERS])
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        while (i != killed && atomic32_load_relaxed(&shared->progress[i]) == seen[i]) {
            med_port_yield();
        }
    }
}

static uint64_t
kill_one(test_process *processes, worker *workers, test_random *random)
{
    uint32_t seen[WORKERS];
    uint32_t victim = random_below(random, WORKERS);
    (void)alarm(STUCK_AFTER_S);
    med_port_delay_ns((uint64_t)random_below(random, PAUSE_MAX_US) * 1000);
    process_kill(&processes[victim]);
    uint64_t died_ns = med_port_clock_ns();
    for (uint32_t i = 0; i < WORKERS; i++) {
        seen[i] = atomic32_load_relaxed(&shared->progress[i]);
    }
    if (random_below(random, 2)) {
        others_go_on(victim, seen); /* before the number is taken anew */
    }
    assert_int_equal(process_join(&processes[victim]), -SIGKILL);
    workers[victim].life++;
    process_start(&processes[victim], worker_body, &workers[victim]);
    others_go_on(victim, seen);
    kills_done++;
    return med_port_clock_ns() - died_ns;
}

static void
nothing_is_stuck(void)
{
    staying_end();
    check_settle(med_self_get()->system);
    assert_int_equal(check_system(med_self_get()->system), 0);
    passing_end();
    memories_end();
    assert_int_equal(check_system(med_self_get()->system), 0);
}

static uint32_t
kills_wanted(void)
{
    const char *chosen = getenv("MEDLEY_TEST_KILLS");
    return chosen ? (uint32_t)strtoul(chosen, NULL, 10) : KILLS_STANDARD;
}

static void
killed_at_any_moment(void **state)
{
    test_process processes[WORKERS];
    worker workers[WORKERS];
    test_random random = test_random_of(UINT32_MAX);
    uint64_t slowest_ns = 0;
    (void)state;
    shared = process_shared_memory(sizeof *shared);
    assert_int_equal(initialize(TESTER), MRAPI_SUCCESS);
    staying_make();
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.number = i};
        process_start(&processes[i], worker_body, &workers[i]);
    }
    for (uint32_t i = 0; i < kills_wanted(); i++) {
        uint64_t took_ns = kill_one(processes, workers, &random);
        slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
    }
    atomic32_store_release(&shared->stop, 1);
    for (uint32_t i = 0; i < WORKERS; i++) {
        assert_int_equal(process_join(&processes[i]), 0);
    }
    nothing_is_stuck();
    assert_int_equal(finalize(), MRAPI_SUCCESS);
    print_message("%u kills, %u holders' deaths told, all others went on within %u us\n",
                  kills_done, atomic32_load_relaxed(&shared->deaths_told),
                  (unsigned)(slowest_ns / 1000));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_at_any_moment)};
    test_system_prepare();
    (void)test_seed();
    (void)signal(SIGALRM, stuck);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
