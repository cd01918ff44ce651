/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed at any moment, under load: several processes lock, unlock, make and delete mutexes, come
 * and go as nodes, start and join threads. Again and again one of them is killed and another takes
 * its place, under its number. The others must go on; at the end nothing is lost and nothing stuck.
 *
 *   MEDLEY_TEST_KILLS=n   how many are killed (1,000)
 *   MEDLEY_TEST_SEED=n    what each does, who is killed and when; the processors' turns are their
 *                         own
 *
 * What a mutex guards is a pair of counters that differ only inside. Who finds a difference, or
 * somebody inside, without having been told of a death, saw two owners at once.
 */
#include "support/unit.h"

#include <signal.h>
#include <string.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/process.h"
#include "support/random.h"
#include "support/system.h"

#define DOMAIN 1
#define TESTER 1
#define WORKERS 4
#define WORKER_FIRST 10
#define THREAD_FIRST 20
#define MUTEXES 4 /* that stay; the last one is recursive, the one before it inherits priority */
#define PASSING 4 /* numbers of mutexes that come and go */
#define PASSING_FIRST 30
#define KILLS_STANDARD 1000
#define PAUSE_MAX_US 4000
#define PAUSES_INSIDE 100 /* so that many are killed there */
#define STUCK_AFTER_S 30

typedef struct guarded {
    atomic32 inside; /* who is between lock and unlock */
    atomic32 first;
    atomic32 second;
    uint32_t unused[13]; /* a line of its own */
} guarded;

typedef struct shared_state {
    guarded guarded[MUTEXES];
    atomic32 progress[WORKERS]; /* what whoever is this worker has done, all its nodes together */
    atomic32 stop;
    atomic32 deaths_told;
} shared_state;

static shared_state *shared;
static uint32_t kills_done;

/* ---- Workers --------------------------------------------------------------------------------- */

typedef struct worker {
    uint32_t number;
    uint32_t life; /* how often this worker has been replaced */
} worker;

static void
worker_up(const worker *me)
{
    mrapi_status_t status;
    mrapi_info_t info;
    char text[MRAPI_MAX_STATUS_SIZE];
    mrapi_initialize(DOMAIN, WORKER_FIRST + me->number, 0, &info, &status);
    if (status != MRAPI_SUCCESS) {
        (void)fprintf(stderr, "worker %u: %s\n", me->number,
                      mrapi_display_status(status, text, sizeof text));
    }
    child_expect(status == MRAPI_SUCCESS);
}

static void
worker_down(void)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
    child_expect(status == MRAPI_SUCCESS);
}

/* Between lock and unlock. `me` is not 0. */
static void
guarded_change(guarded *what, uint32_t me)
{
    bool died = medley_lock_owner_died();
    uint32_t before = atomic32_exchange_acq_rel(&what->inside, me);
    uint32_t first = atomic32_load_relaxed(&what->first);
    child_expect(died || before == 0);
    child_expect(died || atomic32_load_relaxed(&what->second) == first);
    if (died) {
        (void)atomic32_fetch_add_relaxed(&shared->deaths_told, 1);
    }
    atomic32_store_relaxed(&what->first, first + 1);
    for (int i = 0; i < PAUSES_INSIDE; i++) {
        med_port_cpu_relax();
    }
    atomic32_store_relaxed(&what->second, first + 1);
    child_expect(atomic32_exchange_acq_rel(&what->inside, 0) == me);
}

static void
progress(const worker *me)
{
    (void)atomic32_fetch_add_relaxed(&shared->progress[me->number], 1);
}

static void
lock_staying(const worker *me, test_random *random)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_key_t again;
    uint32_t number = random_below(random, MUTEXES);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(number + 1, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_timeout_t timeout = random_below(random, 4) ? MRAPI_TIMEOUT_INFINITE : 50;
    mrapi_mutex_lock(mutex, &key, timeout, &status);
    if (status == MRAPI_TIMEOUT && timeout != MRAPI_TIMEOUT_INFINITE) {
        return;
    }
    child_expect(status == MRAPI_SUCCESS);
    guarded_change(&shared->guarded[number], med_port_thread_id());
    progress(me);
    if (number == MUTEXES - 1) {
        mrapi_mutex_lock(mutex, &again, MRAPI_TIMEOUT_INFINITE, &status);
        child_expect(status == MRAPI_SUCCESS);
        mrapi_mutex_unlock(mutex, &again, &status);
        child_expect(status == MRAPI_SUCCESS);
    }
    mrapi_mutex_unlock(mutex, &key, &status);
    child_expect(status == MRAPI_SUCCESS);
}

static void
make_passing(test_random *random)
{
    mrapi_status_t status;
    (void)mrapi_mutex_create(PASSING_FIRST + random_below(random, PASSING), NULL, &status);
    child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_MUTEX_EXISTS);
}

static void
delete_passing(test_random *random)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex =
        mrapi_mutex_get(PASSING_FIRST + random_below(random, PASSING), &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_mutex_delete(mutex, &status);
        child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_MUTEX_LOCKED ||
                     status == MRAPI_ERR_MUTEX_INVALID);
    }
}

static void
lock_passing(test_random *random)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex =
        mrapi_mutex_get(PASSING_FIRST + random_below(random, PASSING), &status);
    if (status != MRAPI_SUCCESS) {
        child_expect(status == MRAPI_ERR_MUTEX_ID_INVALID);
        return;
    }
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_mutex_unlock(mutex, &key, &status);
        child_expect(status == MRAPI_SUCCESS); /* nobody else deletes what we hold */
    } else {
        child_expect(status == MRAPI_ERR_MUTEX_INVALID); /* deleted meanwhile */
    }
}

/* A shared memory that comes and goes; small or not, as that takes other ways. */
static void
make_memory(test_random *random)
{
    mrapi_status_t status;
    mrapi_uint_t size = random_below(random, 4) ? 1 + random_below(random, 20000) : (1u << 20) + 1;
    (void)mrapi_shmem_create(PASSING_FIRST + random_below(random, PASSING), size, NULL, 0, NULL, 0,
                             &status);
    child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_SHM_EXISTS);
}

static void
use_memory(test_random *random)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem =
        mrapi_shmem_get(PASSING_FIRST + random_below(random, PASSING), &status);
    unsigned char *bytes = mrapi_shmem_attach(shmem, &status);
    if (status != MRAPI_SUCCESS) {
        child_expect(status == MRAPI_ERR_SHM_INVALID); /* there is none, or no longer */
        return;
    }
    bytes[0]++;
    mrapi_shmem_delete(shmem, &status);
    child_expect(status == MRAPI_ERR_SHM_ATTCH); /* by us at least */
    mrapi_shmem_detach(shmem, &status);
    child_expect(status == MRAPI_SUCCESS);
}

static void
delete_memory(test_random *random)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem =
        mrapi_shmem_get(PASSING_FIRST + random_below(random, PASSING), &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_shmem_delete(shmem, &status);
        child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_SHM_ATTCH ||
                     status == MRAPI_ERR_SHM_INVALID);
    }
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
work_once(const worker *me, test_random *random)
{
    switch (random_below(random, 32)) {
    case 0:
        worker_down(); /* the process leaves the system as well */
        worker_up(me);
        break;
    case 1:
        start_and_join(me, random);
        break;
    case 2:
    case 3:
    case 4:
        make_passing(random);
        break;
    case 5:
    case 6:
        delete_passing(random);
        break;
    case 7:
    case 8:
    case 9:
        lock_passing(random);
        break;
    case 10:
    case 11:
        make_memory(random);
        break;
    case 12:
    case 13:
        use_memory(random);
        break;
    case 14:
        delete_memory(random);
        break;
    default:
        lock_staying(me, random);
        break;
    }
}

static int
worker_body(test_process *parent, void *argument)
{
    const worker *me = argument;
    test_random random = test_random_of((uint64_t)me->life << 8 | me->number);
    (void)parent;
    (void)alarm(0);
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

static void
mutexes_make(void)
{
    mrapi_boolean_t yes = MRAPI_TRUE;
    for (unsigned i = 0; i < MUTEXES; i++) {
        mrapi_status_t status;
        mrapi_mutex_attributes_t attributes;
        mrapi_mutex_init_attributes(&attributes, &status);
        if (i == MUTEXES - 1) {
            mrapi_mutex_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &yes, sizeof yes,
                                      &status);
        } else if (i == MUTEXES - 2) {
            mrapi_mutex_set_attribute(&attributes, MEDLEY_MUTEX_PRIORITY_INHERITANCE, &yes,
                                      sizeof yes, &status);
        }
        (void)mrapi_mutex_create(i + 1, &attributes, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
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
    mrapi_status_t status;
    mrapi_key_t key;
    for (unsigned i = 0; i < MUTEXES; i++) {
        mrapi_mutex_hndl_t mutex = mrapi_mutex_get(i + 1, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        guarded_change(&shared->guarded[i], 1);
        mrapi_mutex_delete(mutex, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    check_settle(med_self_get()->system);
    assert_int_equal(check_system(med_self_get()->system), 0);
    for (unsigned i = 0; i < PASSING; i++) {
        mrapi_shmem_hndl_t shmem = mrapi_shmem_get(PASSING_FIRST + i, &status);
        if (status == MRAPI_SUCCESS) {
            mrapi_shmem_delete(shmem, &status);
            assert_int_equal(status, MRAPI_SUCCESS);
        }
    }
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
    mrapi_status_t status;
    mrapi_info_t info;
    uint64_t slowest_ns = 0;
    (void)state;
    shared = process_shared_memory(sizeof *shared);
    mrapi_initialize(DOMAIN, TESTER, 0, &info, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mutexes_make();
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
    mrapi_finalize(&status);
    assert_int_equal(status, MRAPI_SUCCESS);
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
