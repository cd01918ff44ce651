/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Remote memory: what a write costs beside what the machine itself offers for it.
 *
 *   into another process's own memory: process_vm_writev, by a process that does nothing else
 *   into memory that another process maps: memcpy; once with nobody looking, once with the other
 *   process reading each write before the next
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "bench.h"
#include "bench_system.h"
#include "medley/medley.h"
#include "port/port.h"

#define LARGEST (1u << 20)
#define NUMBER 1

/* What the writer and the other process share, and the buffer behind it. */
typedef struct shared_page {
    _Alignas(64) atomic32 ready;
    _Alignas(64) atomic32 written; /* how many; by the writer */
    _Alignas(64) atomic32 seen;    /* how many; by the reader */
    _Alignas(64) atomic32 wrong;   /* bytes that were not as written */
    _Alignas(4096) unsigned char buffer[LARGEST];
} shared_page;

static unsigned char own[LARGEST];    /* of each process, at one address */
static unsigned char source[LARGEST]; /* of the writer */
static shared_page *page;

/* ---- The other process ----------------------------------------------------------------------- */

static pid_t
other_starts(void (*body)(uint32_t bytes), uint32_t bytes)
{
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        body(bytes);
        _exit(0);
    }
    while (atomic32_load_acquire(&page->ready) == 0) {
        med_port_yield();
    }
    return pid;
}

static void
other_ends(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static void
owns(uint32_t bytes)
{
    mrapi_status_t status;
    mrapi_info_t info;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    memset(own, 1, sizeof own);
    mrapi_initialize(BENCH_DOMAIN, 2, 0, &info, &status);
    (void)mrapi_rmem_create(NUMBER, own, MRAPI_RMEM_DUMMY, NULL, bytes, &status);
    atomic32_store_release(&page->ready, 1);
    for (;;) {
        (void)pause();
    }
}

static void
reads(uint32_t bytes)
{
    static unsigned char copy[LARGEST];
    atomic32_store_release(&page->ready, 1);
    for (uint32_t round = 1;; round++) {
        while (atomic32_load_acquire(&page->written) != round) {
            med_port_cpu_relax();
        }
        memcpy(copy, page->buffer, bytes);
        if (copy[0] != (unsigned char)round || copy[bytes - 1] != (unsigned char)round) {
            atomic32_store_relaxed(&page->wrong, round);
        }
        atomic32_store_release(&page->seen, round);
    }
}

/* ---- The writers ----------------------------------------------------------------------------- */

typedef struct write_case {
    uint32_t bytes;
    bool theirs;  /* the other process's own memory; else shared */
    bool watched; /* it reads each write before the next */
    bool medley;
} write_case;

static mrapi_rmem_hndl_t rmem;
static pid_t other;

static bool
write_once(const write_case *c)
{
    if (c->medley) {
        mrapi_status_t status;
        mrapi_rmem_write(rmem, 0, source, 0, c->bytes, 1, c->bytes, c->bytes, &status);
        return status == MRAPI_SUCCESS;
    }
    if (c->theirs) {
        const struct iovec from = {.iov_base = source, .iov_len = c->bytes};
        const struct iovec to = {.iov_base = own, .iov_len = c->bytes};
        return process_vm_writev(other, &from, 1, &to, 1, 0) == (ssize_t)c->bytes;
    }
    memcpy(page->buffer, source, c->bytes);
    __asm__ volatile("" ::: "memory"); /* it is done each time */
    return true;
}

static bool
write_all(const write_case *c, uint64_t count)
{
    bool good = true;
    for (uint64_t i = 1; i <= count; i++) {
        source[0] = (unsigned char)i;
        source[c->bytes - 1] = (unsigned char)i;
        good &= write_once(c);
        if (c->watched) {
            atomic32_store_release(&page->written, (uint32_t)i);
            while (atomic32_load_acquire(&page->seen) != (uint32_t)i) {
                med_port_cpu_relax();
            }
        }
    }
    return good && atomic32_load_relaxed(&page->wrong) == 0;
}

static bool
rmem_up(const write_case *c)
{
    mrapi_status_t status;
    if (c->theirs) {
        rmem = mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status);
    } else {
        rmem = mrapi_rmem_create(NUMBER, page->buffer, MRAPI_RMEM_DUMMY, NULL, LARGEST, &status);
    }
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    return status == MRAPI_SUCCESS;
}

typedef struct timed {
    const write_case *c;
    uint64_t count;
    double ns;
    bool good;
} timed;

static void
run(void *argument)
{
    timed *t = argument;
    (void)write_all(t->c, 0);
    uint64_t start_ns = med_port_clock_ns();
    t->good = write_all(t->c, t->count);
    t->ns = (double)(med_port_clock_ns() - start_ns);
}

static bool
measure(const bench *b, void *context, double *values)
{
    const write_case *c = context;
    uint64_t count = bench_count(b, c->theirs ? 2000 : c->bytes > 4096 ? 3000 : 200000);
    page = bench_map(sizeof *page);
    if (!bench_system_open(bench_system_name())) {
        return bench_failed("remote memory", "no system");
    }
    other = 0;
    if (c->theirs || c->watched) {
        other = other_starts(c->theirs ? owns : reads, c->bytes);
    }
    memset(source, 2, sizeof source);
    timed t = {.c = c, .count = count};
    t.good = rmem_up(c);
    if (t.good) {
        run(&t);
    }
    if (other) {
        other_ends(other);
    }
    bench_system_close();
    bench_unmap(page, sizeof *page);
    values[0] = t.ns / (double)count;
    return t.good || bench_failed("remote memory", "a write failed, or its bytes were not seen");
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void
ask(bench *b, bool theirs, bool watched, uint32_t bytes)
{
    write_case ours = {.bytes = bytes, .theirs = theirs, .watched = watched, .medley = true};
    write_case peers = {.bytes = bytes, .theirs = theirs, .watched = watched};
    bench_subject subjects[] = {
        {"mrapi_rmem_write", measure, &ours},
        {theirs ? "process_vm_writev" : "memcpy", measure, &peers},
    };
    bench_goal goals[] = {BENCH_BESIDE("beside the peer", 1, BENCH_AT_MOST, 1.1)};
    char name[80];
    (void)snprintf(name, sizeof name, "rmem write, %u B, %s", bytes,
                   theirs    ? "another process's own memory"
                   : watched ? "shared, each write read by another process"
                             : "shared, nobody reads");
    bench_question question = {.name = name,
                               .setting = "in one piece, again and again to one place",
                               .unit = "ns",
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
    static const uint32_t sizes[] = {64, 4096, 65536, LARGEST};
    bench b;
    bench_begin(&b, argc, argv, "rmem_bench", "Remote memory beside what it is made of");
    for (uint32_t i = 0; i < BENCH_COUNT(sizes); i++) {
        ask(&b, true, false, sizes[i]);
        ask(&b, false, true, sizes[i]);
        ask(&b, false, false, sizes[i]);
    }
    return bench_end(&b);
}
