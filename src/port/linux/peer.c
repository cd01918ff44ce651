/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Another process's memory on Linux.
 *
 * /proc/PID/mem, once opened, is bound to the memory that the process had at that time: after its
 * death, or when it executes something else, nothing is there any more. The slot that the caller
 * asks for after the opening says that it was the right process's. process_vm_readv and writev go
 * by the number at each call, and are asked for the process's life after, and before too unless it
 * was asked for in the last 0.1 ms; but they copy once where the file copies twice, page by page.
 * Measured, on a virtual machine: 64 bytes 3.4 us by the file and 4.5 us by number; 16 KiB 6.8 and
 * 6.4; 1 MiB 555 and 274.
 *
 * The kernel lets a process do either where it would let it trace the other: the same user, no
 * rights that we lack, and where Yama restricts it, descendants and whom PR_SET_PTRACER names.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

#define BY_FILE_BYTES_MAX 16384u
#define ALIVE_FOR_NS 100000u
#define PIECES 64
#define PIECE_BYTES_MAX (16u << 20) /* the kernel moves less than 2 GiB in one call */

/* ---- Opening --------------------------------------------------------------------------------- */

static medley_status_t
status_of_errno(int error)
{
    switch (error) {
    case ESRCH:
    case ENOENT:
        return MEDLEY_ERR_PEER_DIED;
    case EFAULT:
    case EIO:
        return MEDLEY_ERR_NOT_FOUND;
    case ENOSYS:
        return MEDLEY_ERR_NOT_SUPPORTED;
    default:
        return MEDLEY_ERR_ACCESS;
    }
}

medley_status_t
med_port_peer_open(uint32_t process_id, med_port_peer *peer)
{
    MED_LINUX_NOT_CANCELLED;
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%u/mem", process_id);
    int fd = med_linux_descriptor_keep(open(path, O_RDWR | O_CLOEXEC));
    if (fd < 0) {
        return status_of_errno(errno);
    }
    peer->handle = fd;
    peer->process_id = process_id;
    if (!peer->alive(peer->context)) {
        med_port_peer_close(peer);
        return MEDLEY_ERR_PEER_DIED;
    }
    return MEDLEY_OK;
}

void
med_port_peer_close(med_port_peer *peer)
{
    MED_LINUX_NOT_CANCELLED;
    (void)close((int)peer->handle);
    peer->handle = -1;
    peer->process_id = 0;
}

/* ---- One row, by the file -------------------------------------------------------------------- */

/* Moves up to `count` bytes; negative: errno. */
static ssize_t
file_move(const med_port_peer *peer, char *local, uint64_t remote, size_t count, bool write)
{
    MED_LINUX_NOT_CANCELLED;
    ssize_t moved = write ? pwrite((int)peer->handle, local, count, (off_t)remote)
                          : pread((int)peer->handle, local, count, (off_t)remote);
    return moved < 0 ? -errno : moved;
}

static medley_status_t
row_by_file(const med_port_peer *peer, const med_port_peer_copy *copy)
{
    char *local = copy->local;
    for (size_t done = 0; done < copy->row_bytes;) {
        ssize_t moved =
            file_move(peer, local + done, copy->remote + done, copy->row_bytes - done, copy->write);
        if (moved == 0) {
            return MEDLEY_ERR_PEER_DIED; /* the memory is gone */
        }
        if (moved < 0 && moved != -EINTR) {
            return status_of_errno((int)-moved);
        }
        done += moved > 0 ? (size_t)moved : 0;
    }
    return MEDLEY_OK;
}

/* ---- Any number of rows, by the process's number --------------------------------------------- */

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

static bool
is_alive(med_port_peer *peer)
{
    bool alive = peer->alive(peer->context);
    peer->alive_ns = alive ? med_port_clock_ns() : 0;
    return alive;
}

/* A number is not given again before all others were: that takes thousands of forks. */
static bool
was_alive_just_now(const med_port_peer *peer)
{
    return med_port_clock_ns() - peer->alive_ns < ALIVE_FOR_NS;
}

static medley_status_t
rows_by_number(med_port_peer *peer, const med_port_peer_copy *copy)
{
    struct iovec local[PIECES];
    struct iovec remote[PIECES];
    cursor next = {.row = 0};
    pid_t process = (pid_t)peer->process_id;
    for (;;) {
        unsigned long count = pieces_take(copy, &next, local, remote);
        if (count == 0) {
            return MEDLEY_OK;
        }
        if (!was_alive_just_now(peer) && !is_alive(peer)) {
            return MEDLEY_ERR_PEER_DIED;
        }
        ssize_t moved = copy->write ? process_vm_writev(process, local, count, remote, count, 0)
                                    : process_vm_readv(process, local, count, remote, count, 0);
        int error = moved < 0 ? errno : EFAULT; /* less than asked for: a hole in the middle */
        if (!is_alive(peer)) {
            return MEDLEY_ERR_PEER_DIED;
        }
        if (moved < 0 || (size_t)moved != bytes_of(local, count)) {
            return status_of_errno(error);
        }
    }
}

medley_status_t
med_port_peer_copy_run(med_port_peer *peer, const med_port_peer_copy *copy)
{
    bool by_file = copy->rows == 1 && copy->row_bytes <= BY_FILE_BYTES_MAX;
    return by_file ? row_by_file(peer, copy) : rows_by_number(peer, copy);
}
