/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Waiting on a word on Linux, and locks with priority inheritance: futexes. Doorbells: eventfds. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14: as FUTEX_LOCK_PI, against the monotonic clock */
#endif

static long
futex(const uint32_t *word,
      int operation,
      uint32_t value,
      const struct timespec *deadline,
      med_port_scope scope)
{
    int flags = scope == MED_PORT_SCOPE_PROCESS ? FUTEX_PRIVATE_FLAG : 0;
    return syscall(SYS_futex, word, operation | flags, value, deadline, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}

medley_status_t
med_port_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns, med_port_scope scope)
{
    MED_LINUX_ERRNO_KEPT;
    struct timespec deadline = med_linux_timespec_of(deadline_ns);
    /* WAIT_BITSET because its deadline is absolute, on the monotonic clock. */
    long rc = futex(word, FUTEX_WAIT_BITSET, expected,
                    deadline_ns == MED_PORT_FOREVER ? NULL : &deadline, scope);
    return rc != 0 && errno == ETIMEDOUT ? MEDLEY_TIMEOUT : MEDLEY_OK;
}

uint32_t
med_port_wake(const uint32_t *word, uint32_t count, med_port_scope scope)
{
    MED_LINUX_ERRNO_KEPT;
    long rc = futex(word, FUTEX_WAKE, count > INT_MAX ? INT_MAX : count, NULL, scope);
    return rc > 0 ? (uint32_t)rc : 0;
}

/* ---- Priority inheritance -------------------------------------------------------------------- */

static medley_status_t
status_of_pi_lock(uint32_t word, long rc)
{
    if (rc == 0) {
        return word & FUTEX_OWNER_DIED ? MEDLEY_ERR_OWNER_DIED : MEDLEY_OK;
    }
    switch (errno) {
    case ETIMEDOUT:
        return MEDLEY_TIMEOUT;
    case EDEADLK:
        return MEDLEY_ERR_EXISTS;
    case ESRCH: /* the word names a thread that is gone, and nobody told the kernel */
    case EPERM: /* or one of the kernel's own, which have no such locks */
        return MEDLEY_ERR_PEER_DIED;
    case EAGAIN:
    case EINTR:
        return MEDLEY_BUSY;
    case ENOSYS:
        return MEDLEY_ERR_NOT_SUPPORTED;
    default:
        return MEDLEY_ERR_SYSTEM;
    }
}

medley_status_t
med_port_pi_lock(uint32_t *word, uint64_t deadline_ns, med_port_scope scope)
{
    MED_LINUX_ERRNO_KEPT;
    struct timespec deadline = med_linux_timespec_of(deadline_ns);
    medley_status_t status;
    do {
        long rc = futex(word, FUTEX_LOCK_PI2, 0, deadline_ns == MED_PORT_FOREVER ? NULL : &deadline,
                        scope);
        /* A1 held <- R1 (unlock). The kernel orders it, but the checkers cannot see that; who freed
         * the word without the kernel has released it. */
        status = status_of_pi_lock(__atomic_load_n(word, __ATOMIC_ACQUIRE), rc);
    } while (status == MEDLEY_BUSY);
    if (status == MEDLEY_ERR_OWNER_DIED) {
        /* Relaxed: acquired above. The kernel may say meanwhile that others wait. */
        (void)__atomic_fetch_and(word, ~(uint32_t)FUTEX_OWNER_DIED, __ATOMIC_RELAXED);
    }
    return status;
}

medley_status_t
med_port_pi_unlock(uint32_t *word, med_port_scope scope)
{
    MED_LINUX_ERRNO_KEPT;
    (void)__atomic_fetch_or(word, 0, __ATOMIC_RELEASE); /* R1 held -> A1 (lock) */
    return futex(word, FUTEX_UNLOCK_PI, 0, NULL, scope) == 0 ? MEDLEY_OK : MEDLEY_ERR_NOT_OWNER;
}

/* Tried out once: an emulator may lack the call, or write its host's thread number, or byte order,
 * into the word. */
bool
med_port_pi_supported(void)
{
    enum {
        UNKNOWN,
        NO,
        YES
    };
    static uint32_t known;
    /* Relaxed, both: all find out the same. */
    uint32_t answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (answer == UNKNOWN) {
        uint32_t word = 0;
        bool works =
            med_port_pi_lock(&word, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED) == MEDLEY_OK &&
            word == med_port_thread_id() &&
            med_port_pi_unlock(&word, MED_PORT_SCOPE_SHARED) == MEDLEY_OK && word == 0;
        answer = works ? YES : NO;
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer == YES;
}

static uint32_t space_known;

/* The child has one thread. */
void
med_linux_pi_space_forget(void)
{
    space_known = 0;
}

static uint32_t
space_find(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint32_t)st.st_ino : 0;
}

/* The PID namespace, by its number. A process keeps its own for life, so it asks once; its child
 * may be in another (unshare, setns), and asks again. Without /proc nobody says. */
uint32_t
med_port_pi_space(void)
{
    MED_LINUX_ERRNO_KEPT;
    /* Relaxed, both: all find out the same. */
    uint32_t space = __atomic_load_n(&space_known, __ATOMIC_RELAXED);
    if (space == 0) {
        space = space_find();
        if (med_linux_is_told_of_forks()) {
            __atomic_store_n(&space_known, space, __ATOMIC_RELAXED);
        }
    }
    return space;
}

/* ---- Doorbells ------------------------------------------------------------------------------- */

medley_status_t
med_port_doorbell_create(med_port_doorbell *bell)
{
    MED_LINUX_NOT_CANCELLED;
    int fd = med_linux_descriptor_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (fd < 0) {
        return MEDLEY_ERR_SYSTEM;
    }
    bell->handle = fd;
    return MEDLEY_OK;
}

void
med_port_doorbell_destroy(med_port_doorbell *bell)
{
    MED_LINUX_NOT_CANCELLED;
    (void)close((int)bell->handle);
    bell->handle = -1;
}

medley_status_t
med_port_doorbell_ring(med_port_doorbell bell)
{
    MED_LINUX_NOT_CANCELLED;
    uint64_t one = 1;
    ssize_t n = write((int)bell.handle, &one, sizeof one);
    /* EAGAIN: 2^64-2 rings are waiting to be heard; one more makes no difference. */
    return n == (ssize_t)sizeof one || errno == EAGAIN ? MEDLEY_OK : MEDLEY_ERR_ARGUMENT;
}

static int
poll_timeout_ms(uint64_t deadline_ns)
{
    if (deadline_ns == MED_PORT_FOREVER) {
        return -1;
    }
    uint64_t now_ns = med_port_clock_ns();
    uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns + 999999) / 1000000 : 0;
    return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

medley_status_t
med_port_doorbell_wait(med_port_doorbell bell, uint64_t deadline_ns, uint64_t *count)
{
    MED_LINUX_NOT_CANCELLED;
    for (;;) {
        uint64_t rings = 0;
        if (read((int)bell.handle, &rings, sizeof rings) == (ssize_t)sizeof rings) {
            if (count) {
                *count = rings;
            }
            return MEDLEY_OK;
        }
        if (errno != EAGAIN && errno != EINTR) {
            return MEDLEY_ERR_ARGUMENT;
        }
        struct pollfd ready = {.fd = (int)bell.handle, .events = POLLIN};
        if (poll(&ready, 1, poll_timeout_ms(deadline_ns)) == 0) {
            return MEDLEY_TIMEOUT;
        }
    }
}
