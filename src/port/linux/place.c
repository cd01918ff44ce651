/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where segments lie on Linux: on what memory, and at which address.
 *
 * On what memory is a property of a mapping, and counts for the pages that get their storage after
 * it is set. So a file is mapped for that while it is made, and all its pages are populated; where
 * others map it later, they are there. At which address each process sees it is its own affair.
 */
#include <errno.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"
#include "segment.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define NUMA_MAX_NODES 1024u
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

size_t
med_linux_place_bytes(uint32_t size_bytes, uint32_t place)
{
    size_t page =
        place == MED_PORT_PLACE_HUGE_PAGES ? HUGE_PAGE_BYTES : (size_t)sysconf(_SC_PAGESIZE);
    return ((size_t)size_bytes + page - 1) / page * page;
}

/* ---- Which memories there are ---------------------------------------------------------------- */

/* Is the word that a file of settings has chosen, in brackets, the one that forbids? */
static bool
setting_is_never(const char *path)
{
    char line[128];
    return !med_linux_line_read(path, line, sizeof line) || strstr(line, "[never]") ||
           strstr(line, "[deny]");
}

#define HUGE_PAGES_FOLDER "/sys/kernel/mm/transparent_hugepage/"

/* Huge pages are asked for; a kernel that is told never to give any would not say so. */
static medley_status_t
huge_pages_check(med_port_segment *segment)
{
    const char *setting =
        segment->beside ? HUGE_PAGES_FOLDER "shmem_enabled" : HUGE_PAGES_FOLDER "enabled";
    if (!setting_is_never(setting)) {
        return MEDLEY_OK;
    }
    (void)snprintf(segment->why, sizeof segment->why, "no huge pages: see '%s'", setting);
    return MEDLEY_ERR_NOT_SUPPORTED;
}

/* What a board has of it, Linux does not tell. */
bool
med_port_tight_get(uint32_t index, med_port_tight *memory)
{
    MED_LINUX_ERRNO_KEPT;
    (void)index;
    (void)memory;
    return false;
}

static medley_status_t
no_such_memory(med_port_segment *segment)
{
    (void)snprintf(segment->why, sizeof segment->why, "this machine has no such memory");
    return MEDLEY_ERR_NOT_SUPPORTED;
}

static medley_status_t
memory_check(med_port_segment *segment)
{
    switch (segment->place) {
    case MED_PORT_PLACE_ANY:
        return MEDLEY_OK;
    case MED_PORT_PLACE_NUMA:
        if (segment->place_index < NUMA_MAX_NODES) {
            return MEDLEY_OK;
        }
        break;
    case MED_PORT_PLACE_HUGE_PAGES:
        return huge_pages_check(segment);
    case MED_PORT_PLACE_TIGHT:
        (void)snprintf(segment->why, sizeof segment->why,
                       "Linux tells of no tightly coupled memory, so there is no number %u of it",
                       segment->place_index);
        return MEDLEY_ERR_NOT_SUPPORTED;
    default:
        break;
    }
    return no_such_memory(segment);
}

/* ---- Which addresses there are --------------------------------------------------------------- */

#ifdef SYS_mmap2
#define MAP_CALL SYS_mmap2
#else
#define MAP_CALL SYS_mmap
#endif

/* Could any program have these addresses? Of 64 bits the upper half is the kernel's. Of the rest it
 * is asked for a mapping of neither kind, shared nor private. It makes none, but not before it has
 * looked where that would lie: not in what programs have (ENOMEM). MAP_FIXED: there and nowhere
 * else, since an emulator sets aside what it finds instead, and keeps it. MAP_FIXED_NOREPLACE:
 * nothing would be lost to a kernel that knew such a kind. By the system call, since sanitizers
 * change what they do not like of such a request. */
static bool
is_for_programs(uint64_t wanted, size_t bytes)
{
    const uint64_t most = sizeof(void *) == 8 ? INT64_MAX : UINT32_MAX;
    const int flags = MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE;
    if (bytes > most || wanted > most - bytes) {
        return false;
    }
    return syscall(MAP_CALL, (uintptr_t)wanted, bytes, PROT_NONE, flags, -1, 0) != -1 ||
           errno != ENOMEM;
}

static medley_status_t
wanted_check(med_port_segment *segment)
{
    uint64_t wanted = segment->wanted;
    const char *why = NULL;
    if (wanted == 0) {
        return MEDLEY_OK;
    }
    if (wanted % (uint64_t)sysconf(_SC_PAGESIZE) != 0) {
        why = "no page begins at the wanted address";
    } else if (!is_for_programs(wanted,
                                med_linux_place_bytes(segment->size_bytes, segment->place))) {
        why = "no program can have what is wanted at that address";
    }
    (void)snprintf(segment->why, sizeof segment->why, "%s", why ? why : "");
    return why ? MEDLEY_ERR_ARGUMENT : MEDLEY_OK;
}

medley_status_t
med_linux_place_check(med_port_segment *segment)
{
    medley_status_t status = memory_check(segment);
    return status == MEDLEY_OK ? wanted_check(segment) : status;
}

/* ---- Mapping --------------------------------------------------------------------------------- */

/* EAGAIN is of a program that has all its memory locked (mlockall). */
static medley_status_t
map_failed(med_port_segment *segment, size_t bytes, int error)
{
    if (error != EAGAIN) {
        return med_linux_segment_failed(segment, "mapping", error);
    }
    (void)snprintf(
        segment->why, sizeof segment->why,
        "%zu bytes are more than this process may lock in memory: raise that (ulimit -l)", bytes);
    return MEDLEY_ERR_NO_MEMORY;
}

static medley_status_t
map(med_port_segment *segment, int fd, int flags)
{
    size_t bytes = med_linux_place_bytes(segment->size_bytes, segment->place);
    uintptr_t wanted = (uintptr_t)segment->wanted;
    /* As a hint, which the kernel follows where nothing is mapped: who comes between (a sanitizer)
     * may not know the flag that insists on it, and drop the address but not the flag. */
    void *p = mmap((void *)wanted, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (p == MAP_FAILED) {
        return map_failed(segment, bytes, errno);
    }
    if (wanted && (uintptr_t)p != wanted) {
        (void)munmap(p, bytes);
        (void)snprintf(segment->why, sizeof segment->why,
                       "something is mapped at the wanted address");
        return MEDLEY_ERR_EXISTS;
    }
    /* As the partition: nothing for a child of fork. */
    (void)madvise(p, bytes, MADV_DONTFORK);
    segment->address = p;
    return MEDLEY_OK;
}

medley_status_t
med_port_segment_map(med_port_segment *segment)
{
    MED_LINUX_ERRNO_KEPT;
    medley_status_t status = wanted_check(segment);
    return status == MEDLEY_OK ? map(segment, (int)segment->handle, MAP_SHARED) : status;
}

void
med_port_segment_unmap(void *address, uint32_t size_bytes, uint32_t place)
{
    MED_LINUX_ERRNO_KEPT;
    (void)munmap(address, med_linux_place_bytes(size_bytes, place));
}

void
med_port_segment_ready(void *address, size_t size_bytes)
{
    MED_LINUX_ERRNO_KEPT;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (uintptr_t)address % page;
    (void)madvise((char *)address - before, before + size_bytes, MADV_POPULATE_WRITE);
}

static void
unmap(med_port_segment *segment)
{
    if (segment->address) {
        med_port_segment_unmap(segment->address, segment->size_bytes, segment->place);
        segment->address = NULL;
    }
}

/* ---- Storage --------------------------------------------------------------------------------- */

static medley_status_t
numa_bind(med_port_segment *segment, size_t bytes)
{
    const unsigned bits = 8 * sizeof(unsigned long);
    unsigned long nodes[NUMA_MAX_NODES / (8 * sizeof(unsigned long))] = {0};
    nodes[segment->place_index / bits] = 1ul << segment->place_index % bits;
    if (syscall(SYS_mbind, segment->address, bytes, MPOL_BIND, nodes, NUMA_MAX_NODES + 1, 0) == 0) {
        return MEDLEY_OK;
    }
    if (errno == EINVAL) { /* not there, or not this process's to use */
        return no_such_memory(segment);
    }
    (void)snprintf(segment->why, sizeof segment->why, "memory node %u: %m", segment->place_index);
    return MEDLEY_ERR_NOT_SUPPORTED;
}

/* Of what is mapped and has no storage yet. */
static medley_status_t
place_set(med_port_segment *segment, size_t bytes)
{
    if (segment->place == MED_PORT_PLACE_NUMA) {
        return numa_bind(segment, bytes);
    }
    return madvise(segment->address, bytes, MADV_HUGEPAGE) == 0
               ? MEDLEY_OK
               : med_linux_segment_failed(segment, "huge pages", errno);
}

/* Every page of what is mapped; a kernel that does not know how (before 5.14) is asked through the
 * file. */
static int
populate(const med_port_segment *segment, size_t bytes)
{
    if (madvise(segment->address, bytes, MADV_POPULATE_WRITE) == 0) {
        return 0;
    }
    switch (errno) {
    case EINVAL:
        return segment->beside ? med_linux_file_allocate((int)segment->handle, bytes) : 0;
    case EFAULT: /* a touch would be SIGBUS, since there is no storage */
        return ENOSPC;
    default:
        return errno;
    }
}

/* All of what is mapped, in its place. */
static medley_status_t
fill(med_port_segment *segment, size_t bytes)
{
    medley_status_t status = place_set(segment, bytes);
    int error = status == MEDLEY_OK ? populate(segment, bytes) : 0;
    return error == 0 ? status : med_linux_segment_failed(segment, "storage", error);
}

/* On a file system of another kind a mapping's place is advice that the kernel does not follow, and
 * it does not say so. */
static medley_status_t
folder_check(med_port_segment *segment)
{
    struct statfs folder;
    if (fstatfs((int)segment->handle, &folder) != 0) {
        return med_linux_segment_failed(segment, "storage", errno);
    }
    uint32_t type = (uint32_t)folder.f_type; /* signed, of 32 or 64 bits */
    if (type == TMPFS_MAGIC || type == HUGETLBFS_MAGIC) {
        return MEDLEY_OK;
    }
    (void)snprintf(segment->why, sizeof segment->why,
                   "files in the folder of '%.200s' have no place; want a tmpfs, see "
                   "MEDLEY_SHM_DIR",
                   segment->beside);
    return MEDLEY_ERR_NOT_SUPPORTED;
}

/* By a mapping that goes again. */
static medley_status_t
fill_file_in_place(med_port_segment *segment, size_t bytes)
{
    med_port_segment there = *segment;
    there.wanted = 0;
    int error = med_linux_file_extend((int)segment->handle, bytes);
    if (error != 0) {
        return med_linux_segment_failed(segment, "storage", error);
    }
    medley_status_t status = folder_check(&there);
    if (status == MEDLEY_OK) {
        status = med_port_segment_map(&there);
    }
    if (status == MEDLEY_OK) {
        status = fill(&there, bytes);
    }
    unmap(&there);
    memcpy(segment->why, there.why, sizeof segment->why);
    return status;
}

medley_status_t
med_linux_place_fill_file(med_port_segment *segment)
{
    size_t bytes = med_linux_place_bytes(segment->size_bytes, segment->place);
    if (segment->place != MED_PORT_PLACE_ANY) {
        return fill_file_in_place(segment, bytes);
    }
    int error = med_linux_file_allocate((int)segment->handle, bytes);
    return error == 0 ? MEDLEY_OK : med_linux_segment_failed(segment, "storage", error);
}

medley_status_t
med_linux_place_map_private(med_port_segment *segment)
{
    medley_status_t status = map(segment, -1, MAP_PRIVATE | MAP_ANONYMOUS);
    if (status == MEDLEY_OK && segment->place != MED_PORT_PLACE_ANY) {
        status = fill(segment, med_linux_place_bytes(segment->size_bytes, segment->place));
    }
    if (status != MEDLEY_OK) {
        unmap(segment);
    }
    return status;
}
