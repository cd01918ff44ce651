/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MRAPI's semaphores and reader/writer locks, through the public calls, in a named system, beside
 * the process-shared POSIX semaphore and pthread's reader/writer lock.
 */
#include <pthread.h>
#include <semaphore.h>

#include "bench.h"
#include "bench_system.h"
#include "medley/medley.h"

#define THREADS_MAX 8
#define READERS_MAX 16
#define WRITES_ONE_IN 64

/* ---- What is shared -------------------------------------------------------------------------- */

typedef struct sharing_memory {
    _Alignas(128) uint64_t guarded[2]; /* equal, for whoever is inside */
    _Alignas(128) sem_t sem;
    pthread_rwlock_t rwlock;
    mrapi_sem_hndl_t medley_sem;
    mrapi_rwl_hndl_t medley_rwl;
} sharing_memory;

/* How often, by which of the threads. The count of what was found wrong. */
typedef struct sharing_loop {
    sharing_memory *memory;
    uint64_t count;
    uint32_t thread;
    bool writes; /* one in so many */
} sharing_loop;

typedef struct sharing_kind {
    bool (*create)(sharing_memory *memory, uint32_t places);
    void (*destroy)(sharing_memory *memory);
    uint64_t (*loop)(const sharing_loop *loop);
} sharing_kind;

static inline uint64_t
is_wrong(const sharing_memory *memory)
{
    const volatile uint64_t *guarded = memory->guarded;
    return guarded[0] != guarded[1];
}

static inline void
change(sharing_memory *memory)
{
    volatile uint64_t *guarded = memory->guarded;
    guarded[0] = guarded[0] + 1;
    guarded[1] = guarded[1] + 1;
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

static bool
medley_sem_make(sharing_memory *memory, uint32_t places)
{
    mrapi_status_t status;
    memory->medley_sem = mrapi_sem_create(MRAPI_SEM_ID_ANY, NULL, places, &status);
    return status == MRAPI_SUCCESS;
}

static void
medley_sem_end(sharing_memory *memory)
{
    mrapi_status_t status;
    mrapi_sem_delete(memory->medley_sem, &status);
}

static uint64_t
medley_sem_loop(const sharing_loop *loop)
{
    mrapi_status_t status;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < loop->count; i++) {
        mrapi_sem_lock(loop->memory->medley_sem, MRAPI_TIMEOUT_INFINITE, &status);
        wrong += status != MRAPI_SUCCESS;
        if (loop->writes) {
            change(loop->memory);
        }
        mrapi_sem_unlock(loop->memory->medley_sem, &status);
    }
    return wrong;
}

static bool
posix_sem_make(sharing_memory *memory, uint32_t places)
{
    return sem_init(&memory->sem, 1, places) == 0;
}

static void
posix_sem_end(sharing_memory *memory)
{
    (void)sem_destroy(&memory->sem);
}

static uint64_t
posix_sem_loop(const sharing_loop *loop)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < loop->count; i++) {
        wrong += sem_wait(&loop->memory->sem) != 0;
        if (loop->writes) {
            change(loop->memory);
        }
        (void)sem_post(&loop->memory->sem);
    }
    return wrong;
}

static const sharing_kind medley_sem = {medley_sem_make, medley_sem_end, medley_sem_loop};
static const sharing_kind posix_sem = {posix_sem_make, posix_sem_end, posix_sem_loop};

/* ---- Reader/writer locks --------------------------------------------------------------------- */

static bool
medley_rwl_make(sharing_memory *memory, uint32_t places)
{
    mrapi_status_t status;
    memory->medley_rwl = mrapi_rwl_create(MRAPI_RWL_ID_ANY, NULL, places, &status);
    return status == MRAPI_SUCCESS;
}

static void
medley_rwl_end(sharing_memory *memory)
{
    mrapi_status_t status;
    mrapi_rwl_delete(memory->medley_rwl, &status);
}

static inline bool
is_write(const sharing_loop *loop, uint64_t i)
{
    return loop->writes && (i + loop->thread) % WRITES_ONE_IN == 0;
}

static uint64_t
medley_rwl_loop(const sharing_loop *loop)
{
    mrapi_status_t status;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < loop->count; i++) {
        bool write = is_write(loop, i);
        mrapi_rwl_mode_t mode = write ? MRAPI_RWL_WRITER : MRAPI_RWL_READER;
        mrapi_rwl_lock(loop->memory->medley_rwl, mode, MRAPI_TIMEOUT_INFINITE, &status);
        wrong += is_wrong(loop->memory) || status != MRAPI_SUCCESS;
        if (write) {
            change(loop->memory);
        }
        mrapi_rwl_unlock(loop->memory->medley_rwl, mode, &status);
    }
    return wrong;
}

static bool
pthread_rwl_make(sharing_memory *memory, uint32_t places)
{
    pthread_rwlockattr_t attributes;
    (void)places;
    if (pthread_rwlockattr_init(&attributes) != 0) {
        return false;
    }
    bool made = pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
                pthread_rwlock_init(&memory->rwlock, &attributes) == 0;
    (void)pthread_rwlockattr_destroy(&attributes);
    return made;
}

static void
pthread_rwl_end(sharing_memory *memory)
{
    (void)pthread_rwlock_destroy(&memory->rwlock);
}

static uint64_t
pthread_rwl_loop(const sharing_loop *loop)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < loop->count; i++) {
        bool write = is_write(loop, i);
        wrong += (write ? pthread_rwlock_wrlock(&loop->memory->rwlock)
                        : pthread_rwlock_rdlock(&loop->memory->rwlock)) != 0;
        wrong += is_wrong(loop->memory);
        if (write) {
            change(loop->memory);
        }
        (void)pthread_rwlock_unlock(&loop->memory->rwlock);
    }
    return wrong;
}

static const sharing_kind medley_rwl = {medley_rwl_make, medley_rwl_end, medley_rwl_loop};
static const sharing_kind pthread_rwl = {pthread_rwl_make, pthread_rwl_end, pthread_rwl_loop};

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct contest {
    const sharing_kind *kind;
    uint32_t threads;
    uint32_t places;
    uint64_t count; /* per thread, in a full run */
    bool writes;
} contest;

typedef struct runner {
    const sharing_kind *kind;
    sharing_loop loop;
    uint64_t wrong;
} runner;

static void
run(void *argument)
{
    runner *r = argument;
    mrapi_status_t status;
    r->wrong = 1;
    if (medley_node_adopt(BENCH_DOMAIN, MEDLEY_NODE_ANY, NULL) == MEDLEY_OK) {
        r->wrong = r->kind->loop(&r->loop);
        mrapi_finalize(&status);
    }
}

/* value: million pairs per second; for one thread, ns per pair */
static bool
measure(const bench *b, void *context, double *values)
{
    const contest *c = context;
    sharing_memory *memory = bench_map(sizeof *memory);
    runner runners[THREADS_MAX];
    bench_thread threads[THREADS_MAX];
    uint64_t count = bench_count(b, c->count);
    if (!c->kind->create(memory, c->places)) {
        return bench_failed("sharing", "cannot be created");
    }
    for (uint32_t i = 0; i < c->threads; i++) {
        runners[i] =
            (runner){.kind = c->kind,
                     .loop = {.memory = memory, .count = count, .thread = i, .writes = c->writes}};
        threads[i] = (bench_thread){
            .run = run, .argument = &runners[i], .processor = i % 2, .sleeps = c->threads > 2};
    }
    uint64_t ns = bench_run(b, threads, c->threads);
    uint64_t total = count * c->threads;
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < c->threads; i++) {
        wrong += runners[i].wrong;
    }
    values[0] = c->threads == 1 ? (double)ns / (double)total : (double)total * 1e3 / (double)ns;
    c->kind->destroy(memory);
    bench_unmap(memory, sizeof *memory);
    return wrong == 0 || bench_failed("sharing", "what it guards is wrong");
}

typedef struct sharing_question {
    const char *name;
    const char *setting;
    const sharing_kind *own;
    const sharing_kind *peer;
    uint32_t threads;
    uint32_t places;
    uint64_t count;
    bool writes;
} sharing_question;

static void
ask(bench *b, const sharing_question *q)
{
    static const bench_goal alone[] = {BENCH_BESIDE("beside the peer", 1, BENCH_AT_MOST, 1.15)};
    static const bench_goal contended[] = {BENCH_BESIDE("beside the peer", 1, BENCH_AT_LEAST, 1.0)};
    contest contests[] = {{q->own, q->threads, q->places, q->count, q->writes},
                          {q->peer, q->threads, q->places, q->count, q->writes}};
    bool is_sem = q->own == &medley_sem;
    bench_subject subjects[] = {{"medley", measure, &contests[0]},
                                {is_sem ? "POSIX" : "pthread", measure, &contests[1]}};
    bench_question question = {.name = q->name,
                               .setting = q->setting,
                               .unit = q->threads == 1 ? "ns" : "M/s",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects),
                               .goals = q->threads == 1 ? alone : contended,
                               .goal_count = 1};
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    static const sharing_question questions[] = {
        {"semaphore, uncontended", "one thread; 16 units; nothing touched", &medley_sem, &posix_sem,
         1, READERS_MAX, 2000000, false},
        {"read lock, uncontended", "one thread; 16 places; 16 bytes read", &medley_rwl,
         &pthread_rwl, 1, READERS_MAX, 2000000, false},
        {"semaphore of 1, contended by 2", "two processors; 16 bytes written", &medley_sem,
         &posix_sem, 2, 1, 1000000, true},
        {"semaphore of 1, contended by 8", "two processors; 16 bytes written", &medley_sem,
         &posix_sem, 8, 1, 200000, true},
        {"semaphore of 3, contended by 8", "two processors; nothing touched", &medley_sem,
         &posix_sem, 8, 3, 200000, false},
        {"readers, 2", "two processors; 16 bytes read", &medley_rwl, &pthread_rwl, 2, READERS_MAX,
         1000000, false},
        {"readers, 8", "two processors; 16 bytes read", &medley_rwl, &pthread_rwl, 8, READERS_MAX,
         200000, false},
        {"readers and writers, 2", "two processors; 16 bytes; one of 64 writes", &medley_rwl,
         &pthread_rwl, 2, READERS_MAX, 1000000, true},
        {"readers and writers, 8", "two processors; 16 bytes; one of 64 writes", &medley_rwl,
         &pthread_rwl, 8, READERS_MAX, 200000, true},
    };
    bench b;
    bench_begin(&b, argc, argv, "sharing_bench",
                "MRAPI's semaphores and reader/writer locks beside POSIX's and pthread's");
    if (!bench_system_open(bench_system_name())) {
        return 1;
    }
    for (size_t i = 0; i < BENCH_COUNT(questions); i++) {
        ask(&b, &questions[i]);
    }
    bench_system_close();
    return bench_end(&b);
}
