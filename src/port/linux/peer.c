/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Another process's memory on Linux: process_vm_readv and writev, which look at the protection of
 * its pages as it does itself. (/proc/PID/mem does not: who writes there changes constants, and
 * reads what nobody may read.)
 *
 * They go by the process's number at each call. So the caller is asked whether the right process
 * lives: before bytes are written, unless that was asked a moment ago, and after they were read.
 * What was read of a stranger's is an error, then. What was written cannot be taken back: for that,
 * a number is not given again before all others were, which takes thousands of forks; and a process
 * that executes something else within that moment may find the bytes in its new memory, if it has
 * something at their address.
 *
 * Measured, on a virtual machine: 64 bytes are written in 1.31 us, by a process that does nothing
 * else; the question takes 0.33 us.
 *
 * When a process's first thread has ended, its number names no memory any more, though others of
 * its threads live. Then it is reached by the number of one of these, found in /proc/PID/task; it
 * is asked there, too, whether the number is still a thread's of that process. When that one has
 * ended, another is found.
 *
 * The kernel lets a process do this where it would let it trace the other: the same user, no rights
 * that we lack, and where Yama restricts it, descendants and whom PR_SET_PTRACER names.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "port/linux/linux.h"
#include "port/port.h"

#define ALIVE_FOR_NS 100000u
#define TICKS_PER_NS_MAX 16 /* no processor's counter goes faster */
#define PIECES 64
#define TASKS_BYTES 48u             /* "/proc/PID/task/TID" */
#define PIECE_BYTES_MAX (16u << 20) /* the kernel moves less than 2 GiB in one call */

/* ---- Opening --------------------------------------------------------------------------------- */

static medley_status_t
status_of_errno(int error)
{
    switch (error) {
    case ESRCH:
        return MEDLEY_ERR_PEER_DIED;
    case EFAULT:
        return MEDLEY_ERR_NOT_FOUND;
    case ENOSYS:
        return MEDLEY_ERR_NOT_SUPPORTED;
    default:
        return MEDLEY_ERR_ACCESS;
    }
}

/* Are we let into its memory, a process's or a thread's? The address is nobody's: to be told so is
 * to be let in. */
static medley_status_t
reach(intptr_t number)
{
    char byte;
    const struct iovec local = {.iov_base = &byte, .iov_len = 1};
    const struct iovec remote = {.iov_base = NULL, .iov_len = 1};
    ssize_t moved = process_vm_readv((pid_t)number, &local, 1, &remote, 1, 0);
    return moved >= 0 || errno == EFAULT ? MEDLEY_OK : status_of_errno(errno);
}

/* The number of a thread of that process by which its memory is reached; 0: there is none. */
static intptr_t
thread_find(uint32_t process_id)
{
    char path[TASKS_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%u/task", process_id);
    DIR *tasks = opendir(path);
    if (!tasks) {
        return 0;
    }
    intptr_t thread = 0;
    for (struct dirent *entry = readdir(tasks); entry && !thread; entry = readdir(tasks)) {
        intptr_t number = (intptr_t)strtoul(entry->d_name, NULL, 10);
        thread = number && reach(number) == MEDLEY_OK ? number : 0;
    }
    (void)closedir(tasks);
    return thread;
}

static bool
is_thread_of(uint32_t process_id, intptr_t thread)
{
    char path[TASKS_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%u/task/%u", process_id, (uint32_t)thread);
    return access(path, F_OK) == 0;
}

/* And has still the number that we go by. */
static bool
is_alive(const med_port_peer *peer)
{
    return peer->alive(peer->context) && (peer->handle == (intptr_t)peer->process_id ||
                                          is_thread_of(peer->process_id, peer->handle));
}

/* By which number? By the process's own, if that will do. */
static medley_status_t
number_choose(med_port_peer *peer)
{
    medley_status_t status = reach((intptr_t)peer->process_id);
    peer->handle = (intptr_t)peer->process_id;
    if (status == MEDLEY_ERR_PEER_DIED && (peer->handle = thread_find(peer->process_id)) != 0) {
        status = MEDLEY_OK;
    }
    if (status == MEDLEY_OK && !is_alive(peer)) {
        status = MEDLEY_ERR_PEER_DIED;
    }
    peer->alive_for_ticks = 0;
    return status;
}

medley_status_t
med_port_peer_open(uint32_t process_id, med_port_peer *peer)
{
    MED_LINUX_ERRNO_KEPT;
    peer->process_id = process_id;
    medley_status_t status = number_choose(peer);
    if (status != MEDLEY_OK) {
        peer->process_id = 0;
    }
    return status;
}

void
med_port_peer_close(med_port_peer *peer)
{
    MED_LINUX_ERRNO_KEPT;
    peer->process_id = 0;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* The next piece to move: `at` bytes of row `row` are done. */
typedef struct cursor {
    uint32_t row;
    uint32_t at;
} cursor;

/* How many pieces, of at most PIECES; the cursor stands behind them. */
static unsigned long
pieces_take(const med_port_peer_copy *copy, cursor *next, struct iovec *local, struct iovec *remote)
{
    unsigned long count = 0;
    for (; count < PIECES && next->row < copy->rows; count++) {
        uint32_t left = copy->row_bytes - next->at;
        uint32_t bytes = left < PIECE_BYTES_MAX ? left : PIECE_BYTES_MAX;
        uint64_t far = (uint64_t)next->row * copy->remote_stride_bytes + next->at;
        uint64_t near = (uint64_t)next->row * copy->local_stride_bytes + next->at;
        local[count].iov_base = (char *)copy->local + near;
        remote[count].iov_base = (void *)(uintptr_t)(copy->remote + far);
        local[count].iov_len = bytes;
        remote[count].iov_len = bytes;
        next->at += bytes;
        if (next->at == copy->row_bytes) {
            *next = (cursor){.row = next->row + 1};
        }
    }
    return count;
}

static size_t
bytes_of(const struct iovec *pieces, unsigned long count)
{
    size_t bytes = 0;
    for (unsigned long i = 0; i < count; i++) {
        bytes += pieces[i].iov_len;
    }
    return bytes;
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* Asks, and learns how much of the counter is ALIVE_FOR_NS: by what it and the clock went on since
 * that was last learned. Then the counter was read behind the clock, and now before it: so, rather
 * too little. */
static bool
look(med_port_peer *peer, uint64_t ticks)
{
    uint64_t now_ns = med_port_clock_ns();
    uint64_t passed_ns = now_ns - peer->learned_ns;
    int64_t passed_ticks = (int64_t)(ticks - peer->alive_ticks);
    if (passed_ns >= ALIVE_FOR_NS) {
        double per_ns = (double)passed_ticks / (double)passed_ns;
        bool likely = peer->learned_ns != 0 && per_ns > 0 && per_ns < TICKS_PER_NS_MAX;
        peer->alive_for_ticks = likely ? (uint64_t)(per_ns * ALIVE_FOR_NS) : 0;
        peer->learned_ns = now_ns;
        peer->alive_ticks = med_port_cpu_ticks();
    }
    if (!is_alive(peer)) {
        peer->alive_for_ticks = 0;
        return false;
    }
    return true;
}

/* By the processor's counter: behind a system call the clock takes 95 ns of 1,400. */
static bool
was_alive_just_now(med_port_peer *peer)
{
    uint64_t ticks = med_port_cpu_ticks();
    return ticks - peer->alive_ticks < peer->alive_for_ticks || look(peer, ticks);
}

static medley_status_t
pieces_move(med_port_peer *peer,
            bool write,
            const struct iovec *local,
            const struct iovec *remote,
            unsigned long count)
{
    pid_t process = (pid_t)peer->handle;
    if (write && !was_alive_just_now(peer)) {
        return MEDLEY_ERR_PEER_DIED;
    }
    ssize_t moved = write ? process_vm_writev(process, local, count, remote, count, 0)
                          : process_vm_readv(process, local, count, remote, count, 0);
    int error = moved < 0 ? errno : EFAULT; /* less than asked for: a hole in the middle */
    bool all = moved >= 0 && (size_t)moved == bytes_of(local, count);
    if (!(write && all) && !is_alive(peer)) {
        return MEDLEY_ERR_PEER_DIED;
    }
    return all ? MEDLEY_OK : status_of_errno(error);
}

static __attribute__((noinline)) medley_status_t
pieces_run(med_port_peer *peer, const med_port_peer_copy *copy)
{
    struct iovec local[PIECES];
    struct iovec remote[PIECES];
    cursor next = {.row = 0};
    medley_status_t status = MEDLEY_OK;
    for (unsigned long count;
         status == MEDLEY_OK && (count = pieces_take(copy, &next, local, remote)) != 0;) {
        status = pieces_move(peer, copy->write, local, remote, count);
        /* It may be a thread that ended: then once more, by another's number. */
        while (status == MEDLEY_ERR_PEER_DIED && number_choose(peer) == MEDLEY_OK) {
            status = pieces_move(peer, copy->write, local, remote, count);
        }
    }
    return status;
}

/* The common case: bytes that are written in one piece. False: they are not, or that is not sure.
 * Each call and branch on the way costs more than it seems, behind a system call: 1.14 of the bare
 * one through the pieces, 1.07 so. */
static inline bool
piece_write(med_port_peer *peer, const med_port_peer_copy *copy)
{
    if (!copy->write || copy->rows != 1 || copy->row_bytes > PIECE_BYTES_MAX ||
        !was_alive_just_now(peer)) {
        return false;
    }
    const struct iovec local = {.iov_base = copy->local, .iov_len = copy->row_bytes};
    const struct iovec remote = {.iov_base = (void *)(uintptr_t)copy->remote,
                                 .iov_len = copy->row_bytes};
    ssize_t moved = process_vm_writev((pid_t)peer->handle, &local, 1, &remote, 1, 0);
    return moved == (ssize_t)copy->row_bytes;
}

medley_status_t
med_port_peer_copy_run(med_port_peer *peer, const med_port_peer_copy *copy)
{
    MED_LINUX_ERRNO_KEPT;
    return piece_write(peer, copy) ? MEDLEY_OK : pieces_run(peer, copy);
}
