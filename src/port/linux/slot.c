/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The slots of processes: a process lives while it holds the record lock of its slot's byte.
 *
 * Why "not held" is confirmed: without a descriptor of ours (record.c) an error, or another file's
 * answer, is nobody's death: then all slots count as held.
 *
 * Why there is a witness beside it. A program that opens the file itself and closes it again drops
 * its process's record locks on it (record.c), and lives. So who claims a slot takes a second lock,
 * of the open file description (F_OFD_SETLK): that one stays until our own descriptor and all its
 * copies are closed. Alone it proves no life, since a child that was made without fork's handlers
 * keeps a copy after its parent's death. With it, and with the process of that number not ended
 * (a zombie has), the slot is lost and its process alive. The process itself finds out by asking
 * for its record lock in the name of the description, to which its own is another's; and takes it
 * again. Where a copy of a dead one's descriptor is left, the next of the slot has no witness. Only
 * if such a copy is left and the dead one's number is a stranger's by now does a dead one count as
 * alive, until one of the two ends.
 *
 * What may run together: everything; the kernel orders claim, drop and query of one slot. Claim and
 * drop are two steps: the record lock is what counts, so it is taken first and given back last.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux.h"
#include "shared.h"

/* ---- Witnesses ------------------------------------------------------------------------------- */

/* By F_WRLCK of any, by F_RDLCK of one that does not exit. */
static bool
witness_of_other(int fd, short type, off_t start, off_t length)
{
    struct flock lock = med_linux_record(type, start, length);
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void
witness_set(int fd, short type, off_t start, off_t length)
{
    struct flock lock = med_linux_record(type, start, length);
    (void)fcntl(fd, F_OFD_SETLK, &lock); /* or there is none */
}

void
med_linux_witnesses_drop(int fd)
{
    witness_set(fd, F_UNLCK, MED_LINUX_WITNESS_BYTE, MED_PORT_SLOT_MAX);
}

/* A zombie is none. */
static bool
process_is_there(uint32_t process_id)
{
    MED_LINUX_NOT_CANCELLED;
    pid_t pid = (pid_t)process_id;
    if (pid <= 0) {
        return false;
    }
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        bool gone = errno == ESRCH || errno == EINVAL; /* or the number of a thread */
        return !gone && (kill(pid, 0) == 0 || errno == EPERM);
    }
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    bool there = poll(&ended, 1, 0) <= 0;
    (void)close(fd);
    return there;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

/* Anything but a plain no is a yes. */
static bool
record_held_by_other(const med_port_shared *shared, short type, off_t start, off_t length)
{
    struct flock lock = med_linux_record(type, start, length);
    int rc = fcntl((int)shared->handle, F_GETLK, &lock);
    return (rc == 0 && lock.l_type != F_UNLCK) || !med_linux_descriptor_check(shared) || rc != 0;
}

medley_status_t
med_linux_slots_look(int fd)
{
    struct flock lock = med_linux_record(F_WRLCK, MED_LINUX_SLOT_BYTE, MED_PORT_SLOT_MAX);
    return med_linux_record_find(fd, &lock) ||
                   witness_of_other(fd, F_WRLCK, MED_LINUX_WITNESS_BYTE, MED_PORT_SLOT_MAX)
               ? MEDLEY_OK
               : MEDLEY_EMPTY;
}

medley_status_t
med_port_slot_claim(med_port_shared *shared, uint32_t slot)
{
    MED_LINUX_ERRNO_KEPT;
    int fd = (int)shared->handle;
    if (slot >= MED_PORT_SLOT_MAX) {
        return MEDLEY_ERR_ARGUMENT;
    }
    if (!med_linux_descriptor_check(shared)) {
        return MEDLEY_ERR_SYSTEM;
    }
    medley_status_t status = med_linux_record_try(fd, MED_LINUX_SLOT_BYTE + (off_t)slot);
    if (status == MEDLEY_OK) {
        witness_set(fd, F_WRLCK, MED_LINUX_WITNESS_BYTE + (off_t)slot, 1);
    }
    return status;
}

void
med_port_slot_drop(med_port_shared *shared, uint32_t slot)
{
    MED_LINUX_ERRNO_KEPT;
    if (med_linux_descriptor_check(shared)) {
        witness_set((int)shared->handle, F_UNLCK, MED_LINUX_WITNESS_BYTE + (off_t)slot, 1);
        med_linux_record_drop((int)shared->handle, MED_LINUX_SLOT_BYTE + (off_t)slot);
    }
}

bool
med_port_slot_held(const med_port_shared *shared, uint32_t slot)
{
    MED_LINUX_ERRNO_KEPT;
    return record_held_by_other(shared, F_WRLCK, MED_LINUX_SLOT_BYTE + (off_t)slot, 1);
}

/* The kernel translates the number; who has none here is 0. */
uint32_t
med_port_slot_process(const med_port_shared *shared, uint32_t slot)
{
    MED_LINUX_ERRNO_KEPT;
    struct flock lock = med_linux_record(F_WRLCK, MED_LINUX_SLOT_BYTE + (off_t)slot, 1);
    bool held = med_linux_record_find((int)shared->handle, &lock);
    return held && lock.l_pid > 0 ? (uint32_t)lock.l_pid : 0;
}

static bool
any_held(const med_port_shared *shared, short type)
{
    return record_held_by_other(shared, type, MED_LINUX_SLOT_BYTE, MED_PORT_SLOT_MAX) ||
           witness_of_other((int)shared->handle, type, MED_LINUX_WITNESS_BYTE, MED_PORT_SLOT_MAX);
}

bool
med_port_slot_any_held(const med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    return any_held(shared, F_WRLCK);
}

/* Both become locks of readers: in the way of who asks as a writer, as all do, not of a reader. */
void
med_port_slot_exits(med_port_shared *shared, uint32_t slot)
{
    MED_LINUX_ERRNO_KEPT;
    int fd = (int)shared->handle;
    struct flock lock = med_linux_record(F_RDLCK, MED_LINUX_SLOT_BYTE + (off_t)slot, 1);
    if (med_linux_descriptor_check(shared)) {
        (void)fcntl(fd, F_SETLK, &lock); /* or it is as before */
        witness_set(fd, F_RDLCK, MED_LINUX_WITNESS_BYTE + (off_t)slot, 1);
    }
}

bool
med_port_slot_any_stays(const med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    return any_held(shared, F_RDLCK);
}

/* ---- Lost ------------------------------------------------------------------------------------ */

bool
med_port_slot_lost(const med_port_shared *shared, uint32_t slot, uint32_t process_id)
{
    MED_LINUX_ERRNO_KEPT;
    off_t witness = MED_LINUX_WITNESS_BYTE + (off_t)slot;
    return witness_of_other((int)shared->handle, F_WRLCK, witness, 1) &&
           process_is_there(process_id);
}

medley_status_t
med_port_slot_keep(med_port_shared *shared, uint32_t slot)
{
    MED_LINUX_ERRNO_KEPT;
    int fd = (int)shared->handle;
    struct flock lock = med_linux_record(F_WRLCK, MED_LINUX_SLOT_BYTE + (off_t)slot, 1);
    bool told = fcntl(fd, F_OFD_GETLK, &lock) == 0;
    bool held = told && lock.l_type != F_UNLCK;
    if (held && lock.l_pid == getpid()) {
        return MEDLEY_OK;
    }
    if (!med_linux_descriptor_check(shared)) {
        return MEDLEY_ERR_SYSTEM;
    }
    if (!told) {
        return MEDLEY_OK; /* a kernel without such locks: what cannot be known is not so */
    }
    medley_status_t status = held ? MEDLEY_BUSY : med_port_slot_claim(shared, slot);
    return status == MEDLEY_OK ? MEDLEY_ERR_STALE : status;
}
