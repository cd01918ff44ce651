/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MRAPI's mutex, through the public call with key and checks, in a named system, beside pthread's
 * process-shared mutexes, robust (which survive their holder, as MRAPI's does) and plain.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_system.h"
#include "medley/medley.h"

#define THREADS_MAX 8

/* ---- Two kinds of lock ----------------------------------------------------------------------- */

typedef struct lock_kind {
    bool (*create)(void *memory);
    void (*destroy)(void *memory);
    /* `count` times lock, add one to the counter, unlock; the longest wait for a lock in
     * nanoseconds when `worst_ns` is not NULL. */
    void (*loop)(void *memory, uint64_t count, uint64_t *worst_ns);
} lock_kind;

typedef struct lock_memory {
    _Alignas(128) uint64_t counter;
    _Alignas(128) pthread_mutex_t pthread;
    mrapi_mutex_hndl_t medley;
} lock_memory;

static bool
medley_create(void *memory)
{
    mrapi_status_t status;
    ((lock_memory *)memory)->medley = mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
    return status == MRAPI_SUCCESS;
}

static void
medley_destroy(void *memory)
{
    mrapi_status_t status;
    mrapi_mutex_delete(((lock_memory *)memory)->medley, &status);
}

static void
worst_note(uint64_t start_ns, uint64_t *worst_ns)
{
    uint64_t waited_ns = medley_clock_ns() - start_ns;
    if (waited_ns > *worst_ns) {
        *worst_ns = waited_ns;
    }
}

static void
medley_loop(void *memory, uint64_t count, uint64_t *worst_ns)
{
    lock_memory *m = memory;
    mrapi_status_t status;
    mrapi_key_t key;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t start_ns = worst_ns ? medley_clock_ns() : 0;
        mrapi_mutex_lock(m->medley, &key, MRAPI_TIMEOUT_INFINITE, &status);
        if (worst_ns) {
            worst_note(start_ns, worst_ns);
        }
        if (status != MRAPI_SUCCESS) {
            return; /* the counter tells */
        }
        m->counter++;
        mrapi_mutex_unlock(m->medley, &key, &status);
    }
}

static bool
pthread_create_kind(void *memory, int robust)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0) {
        return false;
    }
    bool ok = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
              pthread_mutexattr_setrobust(&attributes, robust) == 0 &&
              pthread_mutex_init(&((lock_memory *)memory)->pthread, &attributes) == 0;
    (void)pthread_mutexattr_destroy(&attributes);
    return ok;
}

static bool
robust_create(void *memory)
{
    return pthread_create_kind(memory, PTHREAD_MUTEX_ROBUST);
}

static bool
plain_create(void *memory)
{
    return pthread_create_kind(memory, PTHREAD_MUTEX_STALLED);
}

static void
pthread_destroy(void *memory)
{
    (void)pthread_mutex_destroy(&((lock_memory *)memory)->pthread);
}

static void
pthread_loop(void *memory, uint64_t count, uint64_t *worst_ns)
{
    lock_memory *m = memory;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t start_ns = worst_ns ? medley_clock_ns() : 0;
        if (pthread_mutex_lock(&m->pthread) != 0) {
            return;
        }
        if (worst_ns) {
            worst_note(start_ns, worst_ns);
        }
        m->counter++;
        (void)pthread_mutex_unlock(&m->pthread);
    }
}

static const lock_kind medley_kind = {medley_create, medley_destroy, medley_loop};
static const lock_kind robust_kind = {robust_create, pthread_destroy, pthread_loop};
static const lock_kind plain_kind = {plain_create, pthread_destroy, pthread_loop};

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct contest {
    const lock_kind *kind;
    uint32_t threads;
    uint64_t count; /* per thread, in a full run */
} contest;

typedef struct runner {
    const lock_kind *kind;
    lock_memory *memory;
    uint64_t count;
    uint64_t worst_ns;
    bool timed;
} runner;

static void
run(void *argument)
{
    runner *r = argument;
    mrapi_status_t status;
    if (medley_node_adopt(BENCH_DOMAIN, MEDLEY_NODE_ANY, NULL) == MEDLEY_OK) {
        r->kind->loop(r->memory, r->count, r->timed ? &r->worst_ns : NULL);
        mrapi_finalize(&status);
    }
}

/* values: million pairs per second, longest wait in microseconds; or, for one thread, ns per pair
 */
static bool
measure(const bench *b, void *context, double *values)
{
    const contest *c = context;
    lock_memory *memory = bench_map(sizeof *memory);
    runner runners[THREADS_MAX];
    bench_thread threads[THREADS_MAX];
    uint64_t count = bench_count(b, c->count);
    if (!c->kind->create(memory)) {
        return bench_failed("lock", "cannot be created");
    }
    for (uint32_t i = 0; i < c->threads; i++) {
        runners[i] =
            (runner){.kind = c->kind, .memory = memory, .count = count, .timed = c->threads > 2};
        threads[i] = (bench_thread){
            .run = run, .argument = &runners[i], .processor = i % 2, .sleeps = c->threads > 2};
    }
    uint64_t ns = bench_run(b, threads, c->threads);
    uint64_t total = count * c->threads;
    bool right = memory->counter == total;
    uint64_t worst_ns = 0;
    for (uint32_t i = 0; i < c->threads; i++) {
        worst_ns = runners[i].worst_ns > worst_ns ? runners[i].worst_ns : worst_ns;
    }
    values[0] = c->threads == 1 ? (double)ns / (double)total : (double)total * 1e3 / (double)ns;
    values[1] = (double)worst_ns / 1e3;
    c->kind->destroy(memory);
    bench_unmap(memory, sizeof *memory);
    return right || bench_failed("lock", "the counter it guards is wrong");
}

/* The three kinds; what is asked of them is filled in but for the subjects. */
static void
ask(bench *b, uint32_t threads, uint64_t count, bench_question *question)
{
    contest contests[] = {{&medley_kind, threads, count},
                          {&robust_kind, threads, count},
                          {&plain_kind, threads, count}};
    bench_subject subjects[] = {{"medley", measure, &contests[0]},
                                {"pthread robust", measure, &contests[1]},
                                {"pthread plain", measure, &contests[2]}};
    question->subjects = subjects;
    question->subject_count = BENCH_COUNT(subjects);
    bench_ask(b, question);
}

static void
ask_uncontended(bench *b)
{
    static const bench_goal goals[] = {BENCH_BESIDE("beside robust", 1, BENCH_AT_MOST, 0.9),
                                       BENCH_BESIDE("beside plain", 2, BENCH_AT_MOST, 1.25)};
    bench_question question = {.name = "mutex lock+unlock, uncontended",
                               .setting = "one thread; one counter under the lock",
                               .unit = "ns",
                               .value_count = 1,
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    ask(b, 1, 2000000, &question);
}

static void
ask_contended(bench *b, uint32_t threads, uint64_t count, const char *name, bool waits)
{
    static const bench_goal goals[] = {
        BENCH_BESIDE("throughput beside robust", 1, BENCH_AT_LEAST, 1.0),
        {.name = "worst wait beside robust",
         .first_peer = 1,
         .peer_count = 1,
         .factor = 1.0,
         .direction = BENCH_AT_MOST,
         .value = 1}};
    bench_question question = {.name = name,
                               .setting = "two processors; one counter under the lock",
                               .unit = "M/s",
                               .value_names = {"rate", "worst"},
                               .value_units = {NULL, "us"},
                               .value_count = waits ? 2 : 1,
                               .goals = goals,
                               .goal_count = waits ? 2 : 1};
    ask(b, threads, count, &question);
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "lock_bench", "MRAPI's mutex beside pthread's");
    if (!bench_system_open(bench_system_name())) {
        return 1;
    }
    ask_uncontended(&b);
    ask_contended(&b, 2, 1000000, "mutex, contended by 2", false);
    ask_contended(&b, 8, 200000, "mutex, contended by 8", true);
    bench_system_close();
    return bench_end(&b);
}
