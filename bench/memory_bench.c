/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MRAPI's shared memory, from creation to deletion, beside the POSIX calls that do the same; and
 * its heap memory beside malloc. All through the public calls, in a named system.
 *
 * Every page of a shared memory is touched once in its life, on both sides. The peer gets no
 * storage before it is touched; ours gets all of it at the creation, where a full /dev/shm is a
 * status.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "bench.h"
#include "bench_system.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "port/port.h"

#define PAGE 4096u
#define NUMBER 1u
#define BATCH 100u

typedef struct contest {
    uint32_t size_bytes;
    uint64_t count;
    /* One life, or for batches BATCH of them at a time; false: something failed. */
    bool (*live)(uint32_t size_bytes);
    /* Or both ends of it, by two threads; 0: it could not be made. */
    uint64_t (*make)(uint32_t size_bytes);
    bool (*drop)(uint64_t what);
} contest;

static void
touch(unsigned char *bytes, uint32_t size_bytes)
{
    for (uint32_t at = 0; at < size_bytes; at += PAGE) {
        bytes[at] = 1;
    }
}

/* ---- Shared memory --------------------------------------------------------------------------- */

static bool
shmem_live(uint32_t size_bytes)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(NUMBER, size_bytes, NULL, 0, NULL, 0, &status);
    unsigned char *bytes = mrapi_shmem_attach(shmem, &status);
    if (!bytes) {
        return false;
    }
    touch(bytes, size_bytes);
    mrapi_shmem_detach(shmem, &status);
    mrapi_shmem_delete(shmem, &status);
    return status == MRAPI_SUCCESS;
}

static bool
posix_live(uint32_t size_bytes)
{
    char name[32];
    (void)snprintf(name, sizeof name, "/bench-%ld", (long)getpid());
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size_bytes) != 0) {
        return false;
    }
    void *bytes = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (bytes == MAP_FAILED) {
        return false;
    }
    touch(bytes, size_bytes);
    return munmap(bytes, size_bytes) == 0 && shm_unlink(name) == 0;
}

/* ---- Heap memory ----------------------------------------------------------------------------- */

static bool
heap_live(uint32_t size_bytes)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes;
    attributes.use_malloc = MCA_TRUE; /* nothing else is looked at */
    mrapi_shmem_hndl_t heap = mrapi_shmem_create_malloc(NUMBER, size_bytes, &attributes, &status);
    if (status != MRAPI_SUCCESS) {
        return false;
    }
    *(volatile unsigned char *)attributes.mem_addr = 1;
    mrapi_shmem_delete(heap, &status);
    return status == MRAPI_SUCCESS;
}

static bool
malloc_live(uint32_t size_bytes)
{
    unsigned char *block = malloc(size_bytes);
    if (!block) {
        return false;
    }
    *(volatile unsigned char *)block = 1;
    free(block);
    return true;
}

static bool
heap_live_batch(uint32_t size_bytes)
{
    mrapi_shmem_hndl_t heaps[BATCH];
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    for (uint32_t i = 0; i < BATCH; i++) {
        heaps[i] = mrapi_shmem_create_malloc(NUMBER, size_bytes, &attributes, &status);
        if (status != MRAPI_SUCCESS) {
            return false;
        }
        *(volatile unsigned char *)attributes.mem_addr = 1;
    }
    for (uint32_t i = 0; i < BATCH; i++) {
        mrapi_shmem_delete(heaps[i], &status);
    }
    return status == MRAPI_SUCCESS;
}

static bool
malloc_live_batch(uint32_t size_bytes)
{
    unsigned char *blocks[BATCH];
    for (uint32_t i = 0; i < BATCH; i++) {
        blocks[i] = malloc(size_bytes);
        if (!blocks[i]) {
            return false;
        }
        *(volatile unsigned char *)blocks[i] = 1;
    }
    for (uint32_t i = 0; i < BATCH; i++) {
        free(blocks[i]);
    }
    return true;
}

static uint64_t
heap_make(uint32_t size_bytes)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    mrapi_shmem_hndl_t heap = mrapi_shmem_create_malloc(NUMBER, size_bytes, &attributes, &status);
    if (status != MRAPI_SUCCESS) {
        return 0;
    }
    *(volatile unsigned char *)attributes.mem_addr = 1;
    return heap;
}

static bool
heap_drop(uint64_t what)
{
    mrapi_status_t status;
    mrapi_shmem_delete((mrapi_shmem_hndl_t)what, &status);
    return status == MRAPI_SUCCESS;
}

static uint64_t
malloc_make(uint32_t size_bytes)
{
    unsigned char *block = malloc(size_bytes);
    if (block) {
        *(volatile unsigned char *)block = 1;
    }
    return (uintptr_t)block;
}

static bool
malloc_drop(uint64_t what)
{
    free((void *)(uintptr_t)what);
    return true;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct runner {
    const contest *contest;
    uint64_t count;
    bool failed;
} runner;

static void
run(void *argument)
{
    runner *r = argument;
    mrapi_status_t status;
    if (medley_node_adopt(1, MEDLEY_NODE_ANY, NULL) != MEDLEY_OK) {
        r->failed = true;
        return;
    }
    for (uint64_t i = 0; i < r->count && !r->failed; i++) {
        r->failed = !r->contest->live(r->contest->size_bytes);
    }
    mrapi_finalize(&status);
}

/* values: nanoseconds for one */
static bool
measure(const bench *b, void *context, double *values)
{
    const contest *c = context;
    runner r = {.contest = c, .count = bench_count(b, c->count)};
    bench_thread thread = {.run = run, .argument = &r};
    uint64_t ns = bench_run(b, &thread, 1);
    bool batch = c->live == heap_live_batch || c->live == malloc_live_batch;
    values[0] = (double)ns / (double)r.count / (batch ? BATCH : 1);
    return !r.failed || bench_failed("memory", "cannot be made or deleted");
}

/* ---- From one thread to another -------------------------------------------------------------- */

#define ON_THE_WAY 512u

typedef struct passing {
    const contest *contest;
    uint64_t count;
    _Alignas(64) atomic64 places[ON_THE_WAY]; /* 0: empty */
    atomic32 failed;
} passing;

static bool
passing_begins(passing *p)
{
    if (medley_node_adopt(1, MEDLEY_NODE_ANY, NULL) == MEDLEY_OK) {
        return true;
    }
    atomic32_store_release(&p->failed, 1);
    return false;
}

static void
passing_ends(void)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
}

static void
run_maker(void *argument)
{
    passing *p = argument;
    if (!passing_begins(p)) {
        return;
    }
    for (uint64_t i = 0; i < p->count && !atomic32_load_relaxed(&p->failed); i++) {
        atomic64 *place = &p->places[i % ON_THE_WAY];
        uint64_t what = p->contest->make(p->contest->size_bytes);
        if (what == 0) {
            atomic32_store_release(&p->failed, 1);
        }
        while (atomic64_load_acquire(place) != 0 && !atomic32_load_relaxed(&p->failed)) {
            med_port_yield();
        }
        atomic64_store_release(place, what);
    }
    passing_ends();
}

static void
run_dropper(void *argument)
{
    passing *p = argument;
    if (!passing_begins(p)) {
        return;
    }
    for (uint64_t i = 0; i < p->count && !atomic32_load_relaxed(&p->failed); i++) {
        atomic64 *place = &p->places[i % ON_THE_WAY];
        uint64_t what;
        while ((what = atomic64_load_acquire(place)) == 0 && !atomic32_load_relaxed(&p->failed)) {
            med_port_yield();
        }
        atomic64_store_release(place, 0);
        if (what != 0 && !p->contest->drop(what)) {
            atomic32_store_release(&p->failed, 1);
        }
    }
    passing_ends();
}

/* values: nanoseconds for one */
static bool
measure_passing(const bench *b, void *context, double *values)
{
    const contest *c = context;
    passing *p = bench_map(sizeof *p);
    p->contest = c;
    p->count = bench_count(b, c->count);
    bench_thread threads[] = {{.run = run_maker, .argument = p},
                              {.run = run_dropper, .argument = p, .processor = 1}};
    values[0] = (double)bench_run(b, threads, 2) / (double)p->count;
    bool failed = atomic32_load_relaxed(&p->failed) != 0;
    bench_unmap(p, sizeof *p);
    return !failed || bench_failed("memory", "cannot be made here and deleted there");
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void
ask(bench *b,
    contest contests[2],
    const char *peer,
    const char *name,
    const char *setting,
    double goal)
{
    bool (*how)(const bench *, void *, double *) = contests[0].make ? measure_passing : measure;
    bench_subject subjects[] = {{"medley", how, &contests[0]}, {peer, how, &contests[1]}};
    bench_goal goals[] = {BENCH_BESIDE("beside the peer", 1, BENCH_AT_MOST, goal)};
    bench_question question = {.name = name,
                               .setting = setting,
                               .unit = "ns",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects),
                               .goals = goals,
                               .goal_count = goal > 0 ? BENCH_COUNT(goals) : 0};
    bench_ask(b, &question);
}

static const char *
size_text(uint32_t size_bytes)
{
    static char text[16];
    bool kib = size_bytes >= 1024;
    (void)snprintf(text, sizeof text, "%u %s", kib ? size_bytes / 1024 : size_bytes,
                   kib ? "KiB" : "B");
    return text;
}

static void
ask_shared(bench *b, uint32_t size_bytes, uint64_t count)
{
    contest contests[] = {{.size_bytes = size_bytes, .count = count, .live = shmem_live},
                          {.size_bytes = size_bytes, .count = count, .live = posix_live}};
    char name[64];
    (void)snprintf(name, sizeof name, "shared memory of %s, a whole life", size_text(size_bytes));
    ask(b, contests, "posix", name,
        "create, attach, touch each page, detach, delete; shm_open, ftruncate, mmap, touch, "
        "munmap, shm_unlink",
        1.1);
}

static void
ask_heap(bench *b, uint32_t size_bytes)
{
    contest contests[] = {{.size_bytes = size_bytes, .count = 1000000, .live = heap_live},
                          {.size_bytes = size_bytes, .count = 1000000, .live = malloc_live}};
    char name[64];
    (void)snprintf(name, sizeof name, "heap memory of %s", size_text(size_bytes));
    ask(b, contests, "malloc", name, "make, touch one byte, delete", 1.2);
}

/* No goal: what it costs when more is made than a node keeps, or a list is walked through. */
static void
ask_heap_batch(bench *b, uint32_t size_bytes)
{
    contest contests[] = {{.size_bytes = size_bytes, .count = 10000, .live = heap_live_batch},
                          {.size_bytes = size_bytes, .count = 10000, .live = malloc_live_batch}};
    char name[64];
    (void)snprintf(name, sizeof name, "heap memory of %s, 100 at a time", size_text(size_bytes));
    ask(b, contests, "malloc", name, "make 100, touch one byte of each, delete them", 0);
}

/* No goal: what it costs to give a block back to another's list, or to take it over. */
static void
ask_heap_passing(bench *b, uint32_t size_bytes)
{
    contest contests[] = {
        {.size_bytes = size_bytes, .count = 300000, .make = heap_make, .drop = heap_drop},
        {.size_bytes = size_bytes, .count = 300000, .make = malloc_make, .drop = malloc_drop}};
    char name[64];
    (void)snprintf(name, sizeof name, "heap memory of %s, made here, deleted there",
                   size_text(size_bytes));
    ask(b, contests, "malloc", name,
        "one thread makes and touches one byte, another deletes; 512 on the way", 0);
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "memory_bench", "MRAPI's shared and heap memory");
    if (!bench_system_open(bench_system_name())) {
        return 1;
    }
    ask_shared(&b, 4096, 1000);
    ask_shared(&b, 65536, 400);
    ask_shared(&b, 1 << 20, 40);
    ask_shared(&b, 16 << 20, 3);
    static const uint32_t sizes[] = {64, 1024, 4096, 65536, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ask_heap(&b, sizes[i]);
    }
    ask_heap_batch(&b, 64);
    ask_heap_batch(&b, 4096);
    ask_heap_passing(&b, 64);
    ask_heap_passing(&b, 4096);
    bench_system_close();
    return bench_end(&b);
}
