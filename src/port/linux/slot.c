/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The slots of processes: a process lives while it holds the record lock of its slot's byte.
 *
 * Why "not held" is confirmed: without a descriptor of ours (record.c) an error, or another file's
 * answer, is nobody's death: then all slots count as held.
 *
 * What may run together: everything; the kernel orders claim, drop and query of one slot.
 */
#include <fcntl.h>

#include "shared.h"

/* Anything but a plain no is a yes. */
static bool
record_held_by_other(const med_port_shared *shared, off_t start, off_t length)
{
    struct flock lock = med_linux_record(F_WRLCK, start, length);
    int rc = fcntl((int)shared->handle, F_GETLK, &lock);
    return (rc == 0 && lock.l_type != F_UNLCK) || !med_linux_descriptor_check(shared) || rc != 0;
}

medley_status_t
med_linux_slots_look(int fd)
{
    struct flock lock = med_linux_record(F_WRLCK, MED_LINUX_SLOT_BYTE, MED_PORT_SLOT_MAX);
    return med_linux_record_find(fd, &lock) ? MEDLEY_OK : MEDLEY_EMPTY;
}

medley_status_t
med_port_slot_claim(med_port_shared *shared, uint32_t slot)
{
    if (slot >= MED_PORT_SLOT_MAX) {
        return MEDLEY_ERR_ARGUMENT;
    }
    return med_linux_descriptor_check(shared)
               ? med_linux_record_try((int)shared->handle, MED_LINUX_SLOT_BYTE + (off_t)slot)
               : MEDLEY_ERR_SYSTEM;
}

void
med_port_slot_drop(med_port_shared *shared, uint32_t slot)
{
    if (med_linux_descriptor_check(shared)) {
        med_linux_record_drop((int)shared->handle, MED_LINUX_SLOT_BYTE + (off_t)slot);
    }
}

bool
med_port_slot_held(const med_port_shared *shared, uint32_t slot)
{
    return record_held_by_other(shared, MED_LINUX_SLOT_BYTE + (off_t)slot, 1);
}

bool
med_port_slot_any_held(const med_port_shared *shared)
{
    return record_held_by_other(shared, MED_LINUX_SLOT_BYTE, MED_PORT_SLOT_MAX);
}
