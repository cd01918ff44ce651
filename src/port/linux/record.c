/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Record locks on bytes far behind the end of a shared memory's file, and whether the descriptor
 * that they hang on is still ours.
 *
 * Why process-associated record locks: the kernel drops them when the process is gone, before its
 * number can be reused and while it is still a zombie; they work across PID namespaces; a query
 * costs one system call. Two traps: closing ANY descriptor of a file drops all locks the process
 * has on it, so a name is opened at most once (shared.c), and slot.c sees to programs that do it;
 * and a child of fork has none of them, which is what we want.
 *
 * A program that closes every descriptor closes ours, and the number may be another file's by now.
 * So it is compared with what was opened, after whatever was done with it: then it was ours during
 * that.
 *
 * What may run together: everything. The kernel orders lock, drop and find of one byte; `lost_told`
 * is exchanged, and who gets 0 tells; `lost_handler` is set before anything is opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "shared.h"

static void (*lost_handler)(const char *name);
static uint32_t lost_told;

struct flock
med_linux_record(short type, off_t start, off_t length)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
}

medley_status_t
med_linux_record_try(int fd, off_t byte)
{
    struct flock lock = med_linux_record(F_WRLCK, byte, 1);
    if (fcntl(fd, F_SETLK, &lock) == 0) {
        return MEDLEY_OK;
    }
    return errno == EACCES || errno == EAGAIN ? MEDLEY_BUSY : MEDLEY_ERR_SYSTEM;
}

bool
med_linux_record_find(int fd, struct flock *lock)
{
    return fcntl(fd, F_GETLK, lock) == 0 && lock->l_type != F_UNLCK;
}

void
med_linux_record_drop(int fd, off_t byte)
{
    struct flock lock = med_linux_record(F_UNLCK, byte, 1);
    (void)fcntl(fd, F_SETLK, &lock);
}

/* ---- Is the descriptor still ours? ----------------------------------------------------------- */

bool
med_linux_descriptor_is_ours(const med_port_shared *shared)
{
    struct stat st;
    return fstat((int)shared->handle, &st) == 0 && (uint64_t)st.st_dev == shared->device &&
           (uint64_t)st.st_ino == shared->inode;
}

bool
med_linux_descriptor_check(const med_port_shared *shared)
{
    if (med_linux_descriptor_is_ours(shared)) {
        return true;
    }
    /* Relaxed: it decides who tells, and guards nothing. */
    if (lost_handler && __atomic_exchange_n(&lost_told, 1, __ATOMIC_RELAXED) == 0) {
        lost_handler(shared->name);
    }
    return false;
}

void
med_port_shared_on_lost(void (*handler)(const char *name))
{
    lost_handler = handler;
}

void
med_linux_descriptor_opened(void)
{
    __atomic_store_n(&lost_told, 0, __ATOMIC_RELAXED); /* relaxed: as above */
}
