/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time, and the surroundings of the process, on Linux. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

/* Below this a sleep would wake up later than a spin ends. */
#define SLEEP_COST_NS 100000u

uint64_t
med_port_clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What the caller's time namespace adds to the machine's clock. The file is about the namespace
 * that children get: who has just made one is not in it himself. */
static int64_t
added_ns(void)
{
    char line[64];
    long long seconds, nanoseconds;
    struct stat own, of_children;
    if (!med_linux_line_read("/proc/self/timens_offsets", line, sizeof line) ||
        sscanf(line, "monotonic %lld %lld", &seconds, &nanoseconds) != 2 ||
        (seconds == 0 && nanoseconds == 0) || stat("/proc/self/ns/time", &own) != 0 ||
        stat("/proc/self/ns/time_for_children", &of_children) != 0 ||
        own.st_ino != of_children.st_ino) {
        return 0;
    }
    return seconds * 1000000000 + nanoseconds;
}

static int64_t added;
static uint32_t added_known;

/* The child has one thread. */
void
med_linux_clock_forget(void)
{
    added_known = 0;
}

/* Asked once: a process keeps its namespace for life. Its child may be in another, and asks. */
uint64_t
med_port_clock_common_ns(void)
{
    MED_LINUX_ERRNO_KEPT;
    /* C2 known <- C1 */
    if (!__atomic_load_n(&added_known, __ATOMIC_ACQUIRE)) {
        /* Relaxed, as below: all find out the same, and C1 orders it. */
        __atomic_store_n(&added, added_ns(), __ATOMIC_RELAXED);
        /* C1 known -> C2 */
        __atomic_store_n(&added_known, med_linux_is_told_of_forks(), __ATOMIC_RELEASE);
    }
    /* Relaxed: ordered by C2. */
    int64_t added_here = __atomic_load_n(&added, __ATOMIC_RELAXED);
    return med_port_clock_ns() - (uint64_t)added_here;
}

void
med_port_delay_until_ns(uint64_t deadline_ns)
{
    uint64_t now_ns = med_port_clock_ns();
    if (deadline_ns > now_ns + SLEEP_COST_NS) {
        struct timespec until = med_linux_timespec_of(deadline_ns - SLEEP_COST_NS);
        MED_LINUX_NOT_CANCELLED;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
        }
    }
    while (med_port_clock_ns() < deadline_ns) {
        med_port_cpu_relax();
    }
}

void
med_port_delay_ns(uint64_t duration_ns)
{
    med_port_delay_until_ns(med_port_clock_ns() + duration_ns);
}

const char *
med_port_environment(const char *name)
{
    return secure_getenv(name);
}

/* By the raw call: libc's is younger than what we run on, and a point of cancellation. Early in the
 * machine's life the kernel may have none yet. */
uint32_t
med_port_random(void)
{
    MED_LINUX_ERRNO_KEPT;
    uint32_t number;
    bool got = syscall(SYS_getrandom, &number, sizeof number, GRND_NONBLOCK) == sizeof number;
    return got ? number : (uint32_t)med_port_clock_ns();
}

/* A line that nobody reads must not end the program, as SIGPIPE would. It comes to the thread that
 * writes, while it is blocked, and is taken away, unless the program had one waiting already. */
static void
write_without_signal(const struct iovec *parts, int count)
{
    static const struct timespec at_once;
    sigset_t pipe_broken, before, pending;
    (void)sigemptyset(&pipe_broken);
    (void)sigaddset(&pipe_broken, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_broken, &before);
    bool waiting = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    ssize_t written = writev(STDERR_FILENO, parts, count);
    if (written < 0 && errno == EPIPE && !waiting) {
        while (sigtimedwait(&pipe_broken, NULL, &at_once) < 0 && errno == EINTR) {
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
med_port_log(const char *line)
{
    struct iovec parts[2] = {{.iov_base = (void *)(uintptr_t)line, .iov_len = strlen(line)},
                             {.iov_base = (void *)(uintptr_t) "\n", .iov_len = 1}};
    /* One call, so that lines of several processes do not mix. Nobody is left to hear of failure.
     */
    MED_LINUX_NOT_CANCELLED;
    write_without_signal(parts, 2);
}
