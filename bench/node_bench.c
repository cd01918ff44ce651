/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nodes and the registry: starting a thread node beside starting a thread; the first initialize of
 * a process; a registry of 10,000 rows beside one of 100, and a full one after many came and went
 * beside a new one; recovering a node that held 1,000 locks.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_system.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"

#define MANY_ROWS "10000"
#define MANY 10000u
#define HELD_LOCKS 1000u

static bool
open_system(const char *name, const char *mutexes)
{
    (void)setenv("MEDLEY_MAX_MUTEXES", mutexes, 1);
    return bench_system_open(name);
}

/* ---- Create and join ------------------------------------------------------------------------- */

static void *
does_nothing(void *argument)
{
    return argument;
}

static bool
measure_thread_nodes(const bench *b, void *context, double *values)
{
    mrapi_thread_parameters_t parameters = {.start_routine = does_nothing};
    mrapi_status_t created = MRAPI_SUCCESS, joined = MRAPI_SUCCESS;
    uint64_t count = bench_count(b, 2000);
    if (!open_system(context ? bench_system_name() : NULL, "128")) {
        return bench_failed("thread nodes", "no system");
    }
    uint64_t start_ns = med_port_clock_ns();
    for (uint64_t i = 0; i < count && created == MRAPI_SUCCESS && joined == MRAPI_SUCCESS; i++) {
        mrapi_thread_create(BENCH_DOMAIN, 1, &parameters, &created);
        mrapi_thread_join(BENCH_DOMAIN, 1, NULL, &joined);
    }
    values[0] = (double)(med_port_clock_ns() - start_ns) / 1e3 / (double)count;
    bench_system_close();
    return (created == MRAPI_SUCCESS && joined == MRAPI_SUCCESS) ||
           bench_failed("thread nodes", "a node was not created or not joined");
}

static bool
measure_pthreads(const bench *b, void *context, double *values)
{
    (void)context;
    uint64_t count = bench_count(b, 2000);
    int failed = 0;
    uint64_t start_ns = med_port_clock_ns();
    for (uint64_t i = 0; i < count; i++) {
        pthread_t thread;
        failed |= pthread_create(&thread, NULL, does_nothing, NULL);
        failed |= pthread_join(thread, NULL);
    }
    values[0] = (double)(med_port_clock_ns() - start_ns) / 1e3 / (double)count;
    return !failed || bench_failed("pthreads", "a thread was not created or not joined");
}

static void
ask_create_and_join(bench *b)
{
    bench_subject subjects[] = {{"medley, private system", measure_thread_nodes, NULL},
                                {"medley, named system", measure_thread_nodes, b},
                                {"pthread", measure_pthreads, NULL}};
    static const bench_goal goals[] = {
        BENCH_BESIDE("private beside pthread", 2, BENCH_AT_MOST, 1.15),
        {.name = "named beside pthread",
         .own = 1,
         .first_peer = 2,
         .peer_count = 1,
         .factor = 1.15,
         .direction = BENCH_AT_MOST}};
    bench_question question = {.name = "thread node create + join",
                               .setting = "one at a time",
                               .unit = "us",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects),
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* Nanoseconds of the first mrapi_initialize in a child, which has nothing of its parent's; 0:
 * failed. */
static uint64_t
first_initialize_ns(const char *name)
{
    int result[2];
    uint64_t ns = 0;
    if (pipe(result) != 0) {
        return 0;
    }
    pid_t pid = fork();
    if (pid == 0) {
        mrapi_status_t status;
        mrapi_info_t info;
        (void)setenv("MEDLEY_SYSTEM", name ? name : "", 1);
        uint64_t start_ns = med_port_clock_ns();
        if (!name) {
            (void)medley_system_open(NULL);
        }
        mrapi_initialize(BENCH_DOMAIN, 1, 0, &info, &status);
        ns = med_port_clock_ns() - start_ns;
        ssize_t written = write(result[1], &ns, sizeof ns);
        mrapi_finalize(&status);
        _exit(written == (ssize_t)sizeof ns && status == MRAPI_SUCCESS ? 0 : 1);
    }
    int status = -1;
    ssize_t got = read(result[0], &ns, sizeof ns);
    (void)close(result[0]);
    (void)close(result[1]);
    return waitpid(pid, &status, 0) == pid && status == 0 && got == (ssize_t)sizeof ns ? ns : 0;
}

static bool
measure_start(const bench *b, void *context, double *values)
{
    double samples_ns[50];
    uint64_t count = bench_count(b, 50);
    char name[48];
    (void)unsetenv("MEDLEY_MAX_MUTEXES");
    for (uint64_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "%s-start", bench_system_name());
        samples_ns[i] = (double)first_initialize_ns(context ? name : NULL);
        if (samples_ns[i] <= 0) {
            return bench_failed("start", "initialize failed in a child");
        }
    }
    bench_latencies(samples_ns, count, 0);
    values[0] = bench_permille(samples_ns, count, 500) / 1e3;
    return true;
}

static void
ask_start(bench *b)
{
    bench_subject subjects[] = {{"private system", measure_start, NULL},
                                {"named system, created", measure_start, b}};
    static const bench_goal goals[] = {BENCH_AT_MOST_FIGURE("private", 0, 200),
                                       BENCH_AT_MOST_FIGURE("named", 1, 200)};
    bench_question question = {.name = "first mrapi_initialize",
                               .setting = "standard limits; median of 50 children of fork",
                               .unit = "us",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects),
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

/* ---- Many rows ------------------------------------------------------------------------------- */

/* Create, get, lock, unlock, delete one more, beside `rows` others. */
static bool
measure_rows(const bench *b, void *context, double *values)
{
    uint32_t rows = *(const uint32_t *)context;
    uint64_t count = bench_count(b, 200000);
    mrapi_status_t status = MRAPI_SUCCESS;
    mrapi_key_t key;
    if (!open_system(NULL, MANY_ROWS)) {
        return bench_failed("rows", "no system");
    }
    for (uint32_t i = 0; i < rows && status == MRAPI_SUCCESS; i++) {
        (void)mrapi_mutex_create(i + 1, NULL, &status);
    }
    bool right = status == MRAPI_SUCCESS;
    uint64_t start_ns = med_port_clock_ns();
    for (uint64_t i = 0; i < count && right; i++) {
        mrapi_mutex_hndl_t mutex = mrapi_mutex_create(1000000, NULL, &status);
        right = mrapi_mutex_get(1000000, &status) == mutex;
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        mrapi_mutex_delete(mutex, &status);
        right = right && status == MRAPI_SUCCESS;
    }
    values[0] = (double)(med_port_clock_ns() - start_ns) / (double)count;
    bench_system_close();
    return right || bench_failed("rows", "a mutex was not made, found or deleted");
}

static void
ask_rows(bench *b)
{
    uint32_t few = 100, many = 9990;
    bench_subject subjects[] = {{"beside 9,990 rows", measure_rows, &many},
                                {"beside 100 rows", measure_rows, &few}};
    static const bench_goal goals[] = {BENCH_BESIDE("many rows beside few", 1, BENCH_AT_MOST, 1.0)};
    bench_question question = {.name = "10,000 registry rows",
                               .setting = "create, get, lock, delete one more",
                               .unit = "ns",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects),
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

/* ---- Rows that came and went ----------------------------------------------------------------- */

typedef struct turnover {
    mrapi_mutex_hndl_t mutexes[MANY];
    mrapi_mutex_id_t next_key;
    uint32_t random;
    mrapi_status_t status;
} turnover;

/* One of them, whichever, makes room for one with a key that was never there. */
static void
turn_over(turnover *t, uint64_t count)
{
    for (uint64_t i = 0; i < count && t->status == MRAPI_SUCCESS; i++) {
        t->random = t->random * 1664525u + 1013904223u;
        mrapi_mutex_hndl_t *mutex = &t->mutexes[(t->random >> 8) % MANY];
        mrapi_mutex_delete(*mutex, &t->status);
        if (t->status == MRAPI_SUCCESS) {
            *mutex = mrapi_mutex_create(t->next_key++, NULL, &t->status);
        }
    }
}

/* Are none there that never were? */
static bool
get_in_vain(uint64_t count)
{
    mrapi_status_t status = MRAPI_ERR_MUTEX_ID_INVALID;
    for (uint64_t i = 0; i < count && status == MRAPI_ERR_MUTEX_ID_INVALID; i++) {
        (void)mrapi_mutex_get(0x40000000 + (mrapi_mutex_id_t)i, &status);
    }
    return status == MRAPI_ERR_MUTEX_ID_INVALID;
}

static bool
measure_turnover(const bench *b, void *context, double *values)
{
    static turnover t;
    uint64_t count = bench_count(b, 5000);
    if (!open_system(NULL, MANY_ROWS)) {
        return bench_failed("turnover", "no system");
    }
    t = (turnover){.next_key = 1, .random = 1, .status = MRAPI_SUCCESS};
    for (uint32_t i = 0; i < MANY && t.status == MRAPI_SUCCESS; i++) {
        t.mutexes[i] = mrapi_mutex_create(t.next_key++, NULL, &t.status);
    }
    turn_over(&t, *(const uint32_t *)context);
    uint64_t start_ns = med_port_clock_ns();
    turn_over(&t, count);
    uint64_t middle_ns = med_port_clock_ns();
    bool right = get_in_vain(count) && t.status == MRAPI_SUCCESS;
    values[1] = (double)(med_port_clock_ns() - middle_ns) / (double)count;
    values[0] = (double)(middle_ns - start_ns) / (double)count;
    bench_system_close();
    return right || bench_failed("turnover", "a mutex was not made or deleted, or one was found");
}

static void
ask_turnover(bench *b)
{
    /* Not beside none: the first keys follow one another, which spreads them better than any. */
    uint32_t old = 20 * MANY, fresh = 2 * MANY;
    bench_subject subjects[] = {{"after 200,000 came and went", measure_turnover, &old},
                                {"after 20,000", measure_turnover, &fresh}};
    static const bench_goal goals[] = {
        BENCH_BESIDE("delete and create, old beside new", 1, BENCH_AT_MOST, 1.0),
        {.name = "get in vain, old beside new",
         .first_peer = 1,
         .peer_count = 1,
         .factor = 1.0,
         .direction = BENCH_AT_MOST,
         .value = 1}};
    bench_question question = {.name = "10,000 registry rows that come and go",
                               .setting = "a full table, each with a key of its own",
                               .unit = "ns",
                               .value_names = {"delete + create", "get in vain"},
                               .value_count = 2,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects),
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

/* ---- Recovery -------------------------------------------------------------------------------- */

/* A child takes 1,000 locks, says so, and waits to be killed. */
static void
hold_locks(int ready)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    mrapi_key_t key;
    bool held = medley_node_adopt(BENCH_DOMAIN, MEDLEY_NODE_ANY, NULL) == MEDLEY_OK;
    for (uint32_t i = 0; i < HELD_LOCKS && held; i++) {
        mrapi_mutex_lock(mrapi_mutex_get(i + 1, &status), &key, 0, &status);
        held = status == MRAPI_SUCCESS;
    }
    ssize_t written = write(ready, held ? "y" : "n", 1);
    (void)written;
    for (;;) {
        (void)pause();
    }
}

static bool
kill_a_holder(void)
{
    int ready[2];
    char answer = 'n';
    if (pipe(ready) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        hold_locks(ready[1]);
    }
    ssize_t got = read(ready[0], &answer, 1);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return got == 1 && answer == 'y';
}

static bool
measure_recovery(const bench *b, void *context, double *values)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    mrapi_key_t key;
    (void)b;
    if (!open_system(bench_system_name(), context)) {
        return bench_failed("recovery", "no system");
    }
    for (uint32_t i = 0; i < HELD_LOCKS && status == MRAPI_SUCCESS; i++) {
        (void)mrapi_mutex_create(i + 1, NULL, &status);
    }
    bool right = status == MRAPI_SUCCESS && kill_a_holder();
    med_system *system = med_self_get()->system;
    uint64_t start_ns = med_port_clock_ns();
    right = right && med_process_recover_all(system) == 1;
    values[0] = (double)(med_port_clock_ns() - start_ns) / 1e6;
    for (uint32_t i = 0; i < HELD_LOCKS && right; i++) {
        mrapi_mutex_lock(mrapi_mutex_get(i + 1, &status), &key, 0, &status);
        right = status == MRAPI_SUCCESS && medley_lock_owner_died();
    }
    bench_system_close();
    return right || bench_failed("recovery", "a lock of the dead was not free, or nobody was told");
}

static void
ask_recovery(bench *b)
{
    char few[] = "1000", many[] = MANY_ROWS;
    bench_subject subjects[] = {{"of 10,000 rows", measure_recovery, many},
                                {"of 1,000 rows", measure_recovery, few}};
    static const bench_goal goals[] = {BENCH_AT_MOST_FIGURE("time", 0, 100),
                                       BENCH_BESIDE("many rows beside few", 1, BENCH_AT_MOST, 1.0)};
    bench_question question = {.name = "recovery of a node that held 1,000 locks",
                               .setting = "its process was killed",
                               .unit = "ms",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects),
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    bench b;
    (void)setenv("MEDLEY_SYSTEM", bench_system_name(), 1);
    bench_begin(&b, argc, argv, "node_bench", "Nodes and the registry");
    ask_create_and_join(&b);
    ask_start(&b);
    ask_rows(&b);
    ask_turnover(&b);
    ask_recovery(&b);
    return bench_end(&b);
}
