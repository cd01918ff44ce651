/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The section of a shared memory's name: one thread of this process, one process of all.
 *
 *   threads     a mutex, of all names together
 *   processes   a record lock on the name's file (record.c); a process that dies in there leaves it
 *
 * Both are polled for until a deadline. Why the second is not waited for in the kernel (F_SETLKW):
 * that wait has no deadline, so a process stopped in the section would stop everybody; and it is
 * refused (EDEADLK) where two processes wait for each other by different threads, whom the kernel
 * takes for one owner. The first try is the only one unless somebody is in there. Others are in
 * there for tens of microseconds, so the pauses start at that; they end at 2 ms, the most by which
 * one comes late.
 *
 * Who enters sets the file's time of modification, so that others can see how long he is in there:
 * nothing else sets it in shared memory but a change of size, which happens in the section.
 *
 * Cancellation (pthread_cancel) waits outside of sections.
 *
 * What may run together: threads and processes that want to enter; one is inside. `cancel_state` is
 * guarded by the mutex.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "linux.h"
#include "shared.h"

#define PAUSE_FIRST_NS 20000u
#define PAUSE_LAST_NS 2000000u

static pthread_mutex_t section_mutex = PTHREAD_MUTEX_INITIALIZER;
static int cancel_state; /* of the thread in the section; guarded by section_mutex */

/* ---- Patience -------------------------------------------------------------------------------- */

med_linux_patience
med_linux_patience_until(uint64_t deadline_ns)
{
    return (med_linux_patience){.deadline_ns = deadline_ns, .pause_ns = PAUSE_FIRST_NS};
}

/* Between two tries. False: the deadline has passed, and the last try was after it. */
static bool
patience_pause(med_linux_patience *p)
{
    uint64_t now_ns = med_port_clock_ns();
    if (now_ns >= p->deadline_ns) {
        return false;
    }
    uint64_t left_ns = p->deadline_ns - now_ns;
    med_port_delay_ns(p->pause_ns < left_ns ? p->pause_ns : left_ns);
    p->pause_ns = p->pause_ns < PAUSE_LAST_NS / 2 ? 2 * p->pause_ns : PAUSE_LAST_NS;
    return true;
}

/* ---- The section of this process ------------------------------------------------------------- */

void
med_linux_threads_exclude(void)
{
    int before = med_port_cancel_hold();
    (void)pthread_mutex_lock(&section_mutex);
    cancel_state = before;
}

bool
med_linux_threads_exclude_until(med_linux_patience *p)
{
    int before = med_port_cancel_hold();
    while (pthread_mutex_trylock(&section_mutex) != 0) {
        if (!patience_pause(p)) {
            med_port_cancel_release(before);
            return false;
        }
    }
    cancel_state = before;
    return true;
}

void
med_linux_threads_admit(void)
{
    int before = cancel_state;
    (void)pthread_mutex_unlock(&section_mutex);
    med_port_cancel_release(before);
}

void
med_linux_threads_forget(void)
{
    section_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* ---- The section of all processes ------------------------------------------------------------ */

/* The kernel gives 0 for one without a number in our namespace. */
static bool
section_holder(int fd, long *pid)
{
    struct flock lock = med_linux_record(F_WRLCK, MED_LINUX_SECTION_BYTE, 1);
    bool held = med_linux_record_find(fd, &lock);
    *pid = held && lock.l_pid > 0 ? (long)lock.l_pid : 0;
    return held;
}

/* Who is in there, and what to do about him: a process that is stopped, or hangs, keeps what it has
 * locked until it goes on or ends. */
static void
section_holder_describe(int fd, char why[MED_PORT_WHY_BYTES])
{
    long pid;
    (void)section_holder(fd, &pid);
    if (pid > 0) {
        (void)snprintf(why, MED_PORT_WHY_BYTES,
                       "process %ld has it locked and does not go on: 'kill -CONT %ld' continues "
                       "it if it is stopped, 'kill -9 %ld' ends it",
                       pid, pid, pid);
    } else {
        (void)snprintf(why, MED_PORT_WHY_BYTES,
                       "a process that cannot be seen from here (of another container, or gone by "
                       "now) has it locked and does not go on: continue or end it there");
    }
}

medley_status_t
med_linux_section_enter(int fd, med_linux_patience *p, char why[MED_PORT_WHY_BYTES])
{
    medley_status_t status = med_linux_record_try(fd, MED_LINUX_SECTION_BYTE);
    while (status == MEDLEY_BUSY) {
        if (!patience_pause(p)) {
            section_holder_describe(fd, why);
            return MEDLEY_TIMEOUT;
        }
        status = med_linux_record_try(fd, MED_LINUX_SECTION_BYTE);
    }
    if (status == MEDLEY_OK) {
        static const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
        (void)futimens(fd, now); /* for section_look */
    }
    return status;
}

bool
med_port_shared_section_look(const med_port_shared *shared,
                             uint32_t *process_id,
                             uint64_t *since_ns)
{
    MED_LINUX_ERRNO_KEPT;
    struct stat st;
    struct timespec now;
    long pid;
    if (!section_holder((int)shared->handle, &pid)) {
        return false;
    }
    *process_id = (uint32_t)pid;
    *since_ns = 0;
    if (fstat((int)shared->handle, &st) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0) {
        int64_t age_ns = (now.tv_sec - st.st_mtim.tv_sec) * INT64_C(1000000000) +
                         (now.tv_nsec - st.st_mtim.tv_nsec);
        uint64_t clock_ns = med_port_clock_ns();
        *since_ns = age_ns > 0 && (uint64_t)age_ns < clock_ns ? clock_ns - (uint64_t)age_ns : 0;
    }
    return true;
}

medley_status_t
med_port_shared_lock_until(med_port_shared *shared, uint64_t deadline_ns)
{
    MED_LINUX_ERRNO_KEPT;
    med_linux_patience p = med_linux_patience_until(deadline_ns);
    if (!med_linux_threads_exclude_until(&p)) {
        (void)snprintf(shared->why, sizeof shared->why, MED_LINUX_WHY_THREADS);
        return MEDLEY_TIMEOUT;
    }
    medley_status_t status = med_linux_descriptor_check(shared)
                                 ? med_linux_section_enter((int)shared->handle, &p, shared->why)
                                 : MEDLEY_ERR_SYSTEM;
    if (status != MEDLEY_OK) {
        med_linux_threads_admit();
        return status;
    }
    shared->in_section = true;
    return MEDLEY_OK;
}

void
med_port_shared_unlock(med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    shared->in_section = false;
    if (med_linux_descriptor_check(shared)) {
        med_linux_record_drop((int)shared->handle, MED_LINUX_SECTION_BYTE);
    }
    med_linux_threads_admit();
}
