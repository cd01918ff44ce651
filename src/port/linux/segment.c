/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Segments on Linux: a file each, in the folder of the shared memories,
 * medley-<uid>+<name>+<instance>-<number>, mode 0600. No shared memory's name has a '+', so neither
 * is ever taken for the other. Or, of this process alone, an anonymous mapping.
 *
 * All storage is allocated at the creation (fallocate, or populated pages where a place is asked
 * for): what cannot be had is an error there. No lock is kept on these files, so that closing a
 * descriptor of one drops nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define NUMA_MAX_NODES 1024u
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* ---- Names and sizes ------------------------------------------------------------------------- */

/* What the paths of all segments beside a shared memory begin with: its own path, which says the
 * folder and the user, with a '+' for the '-' before the name, and another behind that. */
static bool
stem_make(char stem[MED_PORT_PATH_BYTES], const char *beside)
{
    int length = snprintf(stem, MED_PORT_PATH_BYTES, "%s+", beside);
    char *file = length > 0 && length < MED_PORT_PATH_BYTES ? strrchr(stem, '/') : NULL;
    char *user = file ? strchr(file, '-') : NULL;
    char *name = user ? strchr(user + 1, '-') : NULL;
    if (name) {
        *name = '+';
    }
    return name != NULL;
}

static bool
path_make(char path[MED_PORT_PATH_BYTES], const char *beside, uint64_t instance, uint32_t number)
{
    char stem[MED_PORT_PATH_BYTES];
    if (!stem_make(stem, beside)) {
        return false;
    }
    int length = snprintf(path, MED_PORT_PATH_BYTES, "%s%016llx-%08x", stem,
                          (unsigned long long)instance, number);
    return length > 0 && length < MED_PORT_PATH_BYTES;
}

/* Whole pages. */
static size_t
bytes_of(uint32_t size_bytes, uint32_t place)
{
    size_t page =
        place == MED_PORT_PLACE_HUGE_PAGES ? HUGE_PAGE_BYTES : (size_t)sysconf(_SC_PAGESIZE);
    return ((size_t)size_bytes + page - 1) / page * page;
}

static medley_status_t
failed(med_port_segment *segment, const char *doing, int error)
{
    errno = error; /* for %m */
    (void)snprintf(segment->why, sizeof segment->why, "%s: %m", doing);
    return med_linux_status_of(error);
}

/* ---- Places ---------------------------------------------------------------------------------- */

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
    (void)index;
    (void)memory;
    return false;
}

static medley_status_t
place_check(med_port_segment *segment)
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
    (void)snprintf(segment->why, sizeof segment->why, "this machine has no such memory");
    return MEDLEY_ERR_NOT_SUPPORTED;
}

/* On a file system of another kind a mapping's place is advice that the kernel does not follow, and
 * it does not say so. */
static medley_status_t
folder_check(med_port_segment *segment)
{
    struct statfs folder;
    if (fstatfs((int)segment->handle, &folder) != 0) {
        return failed(segment, "storage", errno);
    }
    if (folder.f_type == TMPFS_MAGIC || folder.f_type == HUGETLBFS_MAGIC) {
        return MEDLEY_OK;
    }
    (void)snprintf(segment->why, sizeof segment->why,
                   "files in the folder of '%.200s' have no place; want a tmpfs, see "
                   "MEDLEY_SHM_DIR",
                   segment->beside);
    return MEDLEY_ERR_NOT_SUPPORTED;
}

static medley_status_t
numa_bind(med_port_segment *segment, size_t bytes)
{
    const unsigned bits = 8 * sizeof(unsigned long);
    unsigned long nodes[NUMA_MAX_NODES / (8 * sizeof(unsigned long))] = {0};
    nodes[segment->place_index / bits] = 1ul << segment->place_index % bits;
    if (syscall(SYS_mbind, segment->address, bytes, MPOL_BIND, nodes, NUMA_MAX_NODES + 1, 0) == 0) {
        return MEDLEY_OK;
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
               : failed(segment, "huge pages", errno);
}

/* ---- Storage --------------------------------------------------------------------------------- */

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

/* ---- Mapping --------------------------------------------------------------------------------- */

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
    } else if (!is_for_programs(wanted, bytes_of(segment->size_bytes, segment->place))) {
        why = "no program can have what is wanted at that address";
    }
    (void)snprintf(segment->why, sizeof segment->why, "%s", why ? why : "");
    return why ? MEDLEY_ERR_ARGUMENT : MEDLEY_OK;
}

static medley_status_t
map(med_port_segment *segment, int fd, int flags)
{
    size_t bytes = bytes_of(segment->size_bytes, segment->place);
    uintptr_t wanted = (uintptr_t)segment->wanted;
    /* As a hint, which the kernel follows where nothing is mapped: who comes between (a sanitizer)
     * may not know the flag that insists on it, and drop the address but not the flag. */
    void *p = mmap((void *)wanted, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (p == MAP_FAILED) {
        return failed(segment, "mapping", errno);
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
    medley_status_t status = wanted_check(segment);
    return status == MEDLEY_OK ? map(segment, (int)segment->handle, MAP_SHARED) : status;
}

void
med_port_segment_unmap(void *address, uint32_t size_bytes, uint32_t place)
{
    (void)munmap(address, bytes_of(size_bytes, place));
}

static void
unmap(med_port_segment *segment)
{
    if (segment->address) {
        med_port_segment_unmap(segment->address, segment->size_bytes, segment->place);
        segment->address = NULL;
    }
}

/* ---- Making one ------------------------------------------------------------------------------ */

/* A place is a mapping's, and storage comes after it; what is mapped for that goes again. */
static medley_status_t
storage_get_in_place(med_port_segment *segment, size_t bytes)
{
    med_port_segment there = *segment;
    there.wanted = 0;
    int error = med_linux_file_extend((int)segment->handle, bytes);
    if (error != 0) {
        return failed(segment, "storage", error);
    }
    medley_status_t status = folder_check(&there);
    if (status == MEDLEY_OK) {
        status = med_port_segment_map(&there);
    }
    if (status == MEDLEY_OK) {
        status = place_set(&there, bytes);
    }
    error = status == MEDLEY_OK ? populate(&there, bytes) : 0;
    unmap(&there);
    memcpy(segment->why, there.why, sizeof segment->why);
    return error == 0 ? status : failed(segment, "storage", error);
}

static medley_status_t
storage_get(med_port_segment *segment)
{
    size_t bytes = bytes_of(segment->size_bytes, segment->place);
    if (segment->place != MED_PORT_PLACE_ANY) {
        return storage_get_in_place(segment, bytes);
    }
    int error = med_linux_file_allocate((int)segment->handle, bytes);
    return error == 0 ? MEDLEY_OK : failed(segment, "storage", error);
}

/* Neither made nor opened: for what lies there and is not ours, or for where it should lie. */
static medley_status_t
open_failed(med_port_segment *segment, const char *path, int error)
{
    struct stat st;
    (void)failed(segment, path, error);
    bool refused = lstat(path, &st) == 0 && !med_linux_file_is_ours(&st, path, segment->why);
    return refused && error != EEXIST ? MEDLEY_ERR_ACCESS : med_linux_status_of_folder(error);
}

static medley_status_t
create_file(med_port_segment *segment)
{
    char path[MED_PORT_PATH_BYTES];
    if (!path_make(path, segment->beside, segment->instance, segment->number)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    int fd = med_linux_file_make_named(path); /* nobody looks for it yet */
    if (fd < 0) {
        return open_failed(segment, path, errno);
    }
    segment->handle = fd;
    medley_status_t status = storage_get(segment);
    if (status != MEDLEY_OK) {
        med_port_segment_close(segment);
        (void)unlink(path);
    }
    return status;
}

static medley_status_t
create_private(med_port_segment *segment)
{
    medley_status_t status = map(segment, -1, MAP_PRIVATE | MAP_ANONYMOUS);
    if (status == MEDLEY_OK && segment->place != MED_PORT_PLACE_ANY) {
        size_t bytes = bytes_of(segment->size_bytes, segment->place);
        status = place_set(segment, bytes);
        int error = status == MEDLEY_OK ? populate(segment, bytes) : 0;
        status = error == 0 ? status : failed(segment, "storage", error);
    }
    if (status != MEDLEY_OK) {
        unmap(segment);
    }
    return status;
}

medley_status_t
med_port_segment_create(med_port_segment *segment)
{
    MED_LINUX_NOT_CANCELLED;
    segment->handle = -1;
    segment->address = NULL;
    segment->why[0] = '\0';
    medley_status_t status = place_check(segment);
    if (status == MEDLEY_OK) {
        status = wanted_check(segment);
    }
    if (status == MEDLEY_OK) {
        status = segment->beside ? create_file(segment) : create_private(segment);
    }
    return status;
}

/* ---- Finding one ----------------------------------------------------------------------------- */

static medley_status_t
file_check(med_port_segment *segment, const char *path)
{
    struct stat st;
    if (fstat((int)segment->handle, &st) != 0) {
        return failed(segment, path, errno);
    }
    if (!med_linux_file_is_ours(&st, path, segment->why)) {
        return MEDLEY_ERR_ACCESS;
    }
    if ((uint64_t)st.st_size != bytes_of(segment->size_bytes, segment->place)) {
        (void)snprintf(segment->why, sizeof segment->why, "'%s' is not as large as it was made",
                       path);
        return MEDLEY_ERR_CORRUPT;
    }
    return MEDLEY_OK;
}

static medley_status_t
open_file(med_port_segment *segment)
{
    char path[MED_PORT_PATH_BYTES];
    if (!path_make(path, segment->beside, segment->instance, segment->number)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    segment->handle =
        med_linux_descriptor_keep(open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (segment->handle < 0) {
        return open_failed(segment, path, errno);
    }
    medley_status_t status = file_check(segment, path);
    if (status != MEDLEY_OK) {
        med_port_segment_close(segment);
    }
    return status;
}

medley_status_t
med_port_segment_open(med_port_segment *segment)
{
    MED_LINUX_NOT_CANCELLED;
    segment->handle = -1;
    segment->address = NULL;
    segment->why[0] = '\0';
    return open_file(segment);
}

void
med_port_segment_close(med_port_segment *segment)
{
    MED_LINUX_NOT_CANCELLED;
    if (segment->handle >= 0) {
        (void)close((int)segment->handle);
    }
    segment->handle = -1;
}

/* ---- Removing -------------------------------------------------------------------------------- */

void
med_port_segment_remove(const char *beside, uint64_t instance, uint32_t number)
{
    char path[MED_PORT_PATH_BYTES];
    if (path_make(path, beside, instance, number)) {
        (void)unlink(path);
    }
}

void
med_port_segments_remove(const char *beside)
{
    MED_LINUX_NOT_CANCELLED;
    char folder[MED_PORT_PATH_BYTES];
    if (!stem_make(folder, beside)) {
        return;
    }
    char *stem = strrchr(folder, '/');
    *stem++ = '\0';
    DIR *dir = opendir(folder[0] ? folder : "/");
    if (!dir) {
        return;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (strncmp(entry->d_name, stem, strlen(stem)) == 0) {
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    (void)closedir(dir);
}
