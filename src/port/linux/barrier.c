/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The asymmetric fence on Linux: membarrier(2).
 *
 *   scope process   PRIVATE_EXPEDITED; registering takes 0.6 us while the process has one thread,
 *                   so it is done before the first other one starts, and 15 to 60 ms (a grace
 *                   period of the kernel) when there are more
 *   scope shared    GLOBAL_EXPEDITED; the kernel notes the registration per processor. While the
 *                   process has a single thread only the current processor is told, and one that
 *                   idles with this process's memory still loaded never learns (measured: without
 *                   effect in half of the tries). So a second thread does it, and lives meanwhile.
 *
 * What the kernel might still miss costs the sleeper one slice (base/wait.c), not a hang.
 *
 * What may run together: everything. `med_port_barrier_ready` and `preparing` go up once; only in
 * a child of fork, which is alone, do they go down.
 *
 * The change from fences to none. A heavy half that comes before the registration stops nobody
 * here, and a processor may load ahead. So this is possible when `ready` is set at once:
 *     light half's side                     heavy half's side           registering
 *     loads y, ahead of its turn: 0
 *                                           y = 1; fence; not stopped
 *                                           loads x: 0
 *                                                                       registered; ready = 1
 *     x = 1 (seen by nobody yet)
 *     loads ready: 1, so no fence
 * So whoever registers has everybody stopped before he sets `ready`: whoever finds it set does so
 * after that, and loads y afresh. That the light half loads in turn too (A2) is for the heavy half
 * whose call the kernel refuses: what it stored before it found nobody ready is seen then.
 *
 * A fork copies the kernel's note of the registration first, and this process's memory later: a
 * child that trusted its copy of `ready` could have neither fence nor registration. So it trusts
 * what its thread saw before the fork.
 *
 * Linearisation: the store to `ready`. Progress: the light half is wait-free, the heavy one waits
 * for the kernel. Death: of who registers, nobody's: the process's. Model: models/call.pml for the
 * change; the litmus tests.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

/* So many full fences are cheaper than a thread and a grace period. */
#define FENCES_BEFORE_PREPARE 256

/* By scope: what registers, and what stops those that are registered. */
static const struct {
    int registers;
    int stops;
} commands[2] = {
    [MED_PORT_SCOPE_PROCESS] = {MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
                                MEMBARRIER_CMD_PRIVATE_EXPEDITED},
    [MED_PORT_SCOPE_SHARED] = {MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
                               MEMBARRIER_CMD_GLOBAL_EXPEDITED},
};

uint32_t med_port_barrier_ready[2];
static _Thread_local uint32_t ready_at_fork[2] __attribute__((tls_model("initial-exec")));
static uint32_t preparing[2]; /* 1: somebody is at it, or it is done */
static uint32_t fences[2];

static long
membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

static void
register_scope(med_port_scope scope)
{
    if (membarrier(commands[scope].registers) == 0 && membarrier(commands[scope].stops) == 0) {
        /* R1 registered -> A1 (before_fork), A2 (light, port_inline.h) */
        __atomic_store_n(&med_port_barrier_ready[scope], 1, __ATOMIC_RELEASE);
    }
}

static void *
register_in_background(void *argument)
{
    register_scope(argument ? MED_PORT_SCOPE_SHARED : MED_PORT_SCOPE_PROCESS);
    return NULL;
}

/* The caller may be a real-time thread that leaves its only processor to nobody. */
static void
scheduling_ordinary(pthread_attr_t *attributes)
{
    cpu_set_t everywhere;
    memset(&everywhere, 0xff, sizeof everywhere);
    struct sched_param parameter = {.sched_priority = 0};
    (void)pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    (void)pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
    (void)pthread_attr_setschedparam(attributes, &parameter);
    (void)pthread_attr_setaffinity_np(attributes, sizeof everywhere, &everywhere);
}

void
med_linux_barrier_before_fork(void)
{
    for (int scope = 0; scope < 2; scope++) {
        /* A1 registered <- R1 (register_scope) */
        ready_at_fork[scope] = __atomic_load_n(&med_port_barrier_ready[scope], __ATOMIC_ACQUIRE);
    }
}

/* A child inherits what is registered, but not the thread that was at it. */
void
med_linux_barrier_in_child(void)
{
    for (int scope = 0; scope < 2; scope++) {
        /* Relaxed, all: the child is alone. */
        __atomic_store_n(&med_port_barrier_ready[scope], ready_at_fork[scope], __ATOMIC_RELAXED);
        __atomic_store_n(&preparing[scope], ready_at_fork[scope], __ATOMIC_RELAXED);
        __atomic_store_n(&fences[scope], 0, __ATOMIC_RELAXED);
    }
}

/* False: the machine gave no thread. */
static bool
start_background(med_port_scope scope)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, old;
    if (!med_linux_is_told_of_forks() || pthread_attr_init(&attributes) != 0) {
        return false;
    }
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, (size_t)64 << 10);
    scheduling_ordinary(&attributes);
    /* The program's signals are not for this thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&thread, &attributes, register_in_background,
                               scope == MED_PORT_SCOPE_SHARED ? &preparing : NULL);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attributes);
    return error == 0;
}

void
med_port_barrier_prepare(med_port_scope scope)
{
    MED_LINUX_ERRNO_KEPT;
    /* Relaxed: it decides who registers, and guards nothing. */
    if (__atomic_exchange_n(&preparing[scope], 1, __ATOMIC_RELAXED)) {
        return;
    }
    if (scope == MED_PORT_SCOPE_PROCESS && __libc_single_threaded) {
        register_scope(scope);
    } else if (!start_background(scope)) {
        /* Relaxed: as above. After so many fences again. */
        __atomic_store_n(&preparing[scope], 0, __ATOMIC_RELAXED);
    }
}

void
med_linux_barrier_before_thread(void)
{
    if (__libc_single_threaded) {
        med_port_barrier_prepare(MED_PORT_SCOPE_PROCESS);
    }
}

/* Counted until somebody is at it: meanwhile threads would only take the count from each other. */
void
med_port_barrier_light_unready(med_port_scope scope)
{
    /* B1 what is published, then who sleeps <-> B2 (heavy) */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    /* Relaxed, these two: a guess, and a count. */
    if (__atomic_load_n(&preparing[scope], __ATOMIC_RELAXED)) {
        return;
    }
    uint32_t before = __atomic_fetch_add(&fences[scope], 1, __ATOMIC_RELAXED);
    if (before % FENCES_BEFORE_PREPARE == FENCES_BEFORE_PREPARE - 1) {
        med_port_barrier_prepare(scope);
    }
}

bool
med_port_barrier_heavy(med_port_scope scope)
{
    MED_LINUX_ERRNO_KEPT;
    /* B2 who sleeps, then what is published <-> B1 (light; barrier.c, port_inline.h). A full fence
     * of our own first: where the call fails for all (old kernel, emulator, nobody is registered),
     * everybody's light half is a fence too. Where it fails for this process alone (a filter on
     * system calls, no memory) a wake can be missed, and costs a slice. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    /* Asked behind the fence: who finds it ready only later looks for sleepers later still (A2),
     * and finds this one. */
    bool fenced = !med_port_barrier_is_free(scope);
    return membarrier(commands[scope].stops) == 0 || fenced;
}
