/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shared memory by name on Linux: one file per name in /dev/shm, and record locks on bytes far
 * behind its end.
 *
 *   file    <folder>/medley-<uid>-<name>, mode 0600; anything else under that name is refused
 *   byte    MED_LINUX_SECTION_BYTE: the section (section.c)
 *           MED_LINUX_SLOT_BYTE + n: process slot n is alive (slot.c)
 *           MED_LINUX_WITNESS_BYTE + n: so it was, whoever lost that lock (slot.c)
 *
 * Why the inode is compared: between our open and our lock the last user may have removed the name,
 * and we would hold a file that nobody else will ever find. Then we start over.
 *
 * What may run together:
 *   open, close, forget   one thread of this process at a time, of whatever name, which guards
 *                         `open_names`; the name's section keeps other processes out as well
 *   resize, remove        who is in the section
 *   map, list             anybody
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"
#include "shared.h"

#define OPEN_MAX_NAMES 16

static char open_names[OPEN_MAX_NAMES][MED_PORT_NAME_MAX + 1];

bool
med_port_shared_name_valid(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= MED_PORT_NAME_MAX && name[0] != '.' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
               length;
}

/* No folder has room for the name, and not for its segments'. */
static bool
path_make(char path[MED_PORT_PATH_BYTES], const char *name)
{
    int length = snprintf(path, MED_PORT_PATH_BYTES, "%s/medley-%u-%s", med_linux_folder(),
                          (unsigned)geteuid(), name);
    return length > 0 && length < MED_PORT_PATH_BYTES - MED_LINUX_SEGMENT_PATH_MORE;
}

/* ---- Which names this process has open ------------------------------------------------------- */

static char *
open_names_find(const char *name)
{
    for (int i = 0; i < OPEN_MAX_NAMES; i++) {
        if (strcmp(open_names[i], name) == 0) {
            return open_names[i];
        }
    }
    return NULL;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Why an open gave `error`: for what lies there, or for where it should lie. */
static medley_status_t
open_failed(const char *path, int error, char why[MED_PORT_WHY_BYTES])
{
    struct stat st;
    bool there = lstat(path, &st) == 0;
    if (there && !med_linux_file_is_ours(&st, path, why)) {
        return MEDLEY_ERR_ACCESS;
    }
    errno = error; /* for %m */
    if (error == EMFILE || error == ENFILE || error == ENOMEM) {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "%m%s", med_linux_advice_of(error));
    } else {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "folder '%s' (MEDLEY_SHM_DIR): %m",
                       med_linux_folder());
    }
    return med_linux_status_of_folder(error);
}

static bool
path_still_names(const char *path, const struct stat *st)
{
    struct stat now;
    return lstat(path, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

typedef struct opening {
    bool creates; /* what is not there */
    bool aside;   /* of the section: only looks whether a slot is held */
    med_linux_patience patience;
} opening;

/* Enters the section of an open file, or stays aside of it. MEDLEY_BUSY when the file was removed
 * under our hands. */
static medley_status_t
enter(int fd, const char *path, opening *how, med_port_shared *shared)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return MEDLEY_ERR_SYSTEM;
    }
    if (st.st_nlink == 0) {
        return MEDLEY_BUSY;
    }
    if (!med_linux_file_is_ours(&st, path, shared->why)) {
        return MEDLEY_ERR_ACCESS;
    }
    medley_status_t status = how->aside ? med_linux_slots_look(fd)
                                        : med_linux_section_enter(fd, &how->patience, shared->why);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (!path_still_names(path, &st)) {
        return MEDLEY_BUSY;
    }
    /* The size as of now: one who was in the section meanwhile may have set it. */
    if (fstat(fd, &st) != 0) {
        return MEDLEY_ERR_SYSTEM;
    }
    shared->handle = fd;
    shared->device = (uint64_t)st.st_dev;
    shared->inode = (uint64_t)st.st_ino;
    shared->size_bytes = (size_t)st.st_size;
    return MEDLEY_OK;
}

/* One round: MEDLEY_BUSY when the caller must start over. */
static medley_status_t
open_once(const char *path, opening *how, med_port_shared *shared)
{
    int fd = med_linux_descriptor_keep(open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd < 0 && errno == ENOENT && how->creates) {
        fd = med_linux_file_make(path);
        if (fd < 0 && errno == EEXIST) {
            return MEDLEY_BUSY;
        }
    }
    if (fd < 0) {
        return open_failed(path, errno, shared->why);
    }
    medley_status_t status = enter(fd, path, how, shared);
    if (status != MEDLEY_OK) {
        (void)close(fd);
    }
    return status;
}

static medley_status_t
open_alone(const char *name, opening *how, med_port_shared *shared)
{
    char path[MED_PORT_PATH_BYTES];
    char *entry = open_names_find("");
    if (!med_port_shared_name_valid(name) || !path_make(path, name)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    if (open_names_find(name)) {
        return MEDLEY_ERR_EXISTS;
    }
    if (!entry) {
        return MEDLEY_ERR_LIMIT;
    }
    medley_status_t status;
    do {
        status = open_once(path, how, shared);
    } while (status == MEDLEY_BUSY);
    if (status != MEDLEY_OK) {
        return status;
    }
    (void)snprintf(entry, MED_PORT_NAME_MAX + 1, "%s", name);
    (void)snprintf(shared->name, sizeof shared->name, "%s", name);
    (void)snprintf(shared->path, sizeof shared->path, "%s", path);
    shared->in_section = !how->aside;
    med_linux_descriptor_opened();
    return MEDLEY_OK;
}

static medley_status_t
open_with(const char *name, opening how, med_port_shared *shared)
{
    *shared = (med_port_shared){.handle = -1};
    if (!med_linux_threads_exclude_until(&how.patience)) {
        (void)snprintf(shared->why, sizeof shared->why, MED_LINUX_WHY_THREADS);
        return MEDLEY_TIMEOUT;
    }
    medley_status_t status = open_alone(name, &how, shared);
    if (!shared->in_section) {
        med_linux_threads_admit();
    }
    return status;
}

medley_status_t
med_port_shared_open_until(const char *name, uint64_t deadline_ns, med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    opening how = {.creates = true, .patience = med_linux_patience_until(deadline_ns)};
    return open_with(name, how, shared);
}

medley_status_t
med_port_shared_open_existing_until(const char *name, uint64_t deadline_ns, med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    opening how = {.patience = med_linux_patience_until(deadline_ns)};
    return open_with(name, how, shared);
}

medley_status_t
med_port_shared_open_aside(const char *name, med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    opening how = {.aside = true, .patience = med_linux_patience_until(MED_PORT_FOREVER)};
    return open_with(name, how, shared);
}

static medley_status_t
resize_failed(med_port_shared *shared, size_t size_bytes, int error)
{
    switch (error) {
    case EFBIG:
        (void)snprintf(shared->why, sizeof shared->why,
                       "%zu bytes are more than this process may write to a file: raise that "
                       "(ulimit -f), or lower the limits (MEDLEY_MAX_...)",
                       size_bytes);
        break;
    case ENOSPC:
    case EDQUOT:
        (void)snprintf(shared->why, sizeof shared->why,
                       "shared memory has no room for %zu bytes: 'medley system list' shows what "
                       "takes it, lower limits (MEDLEY_MAX_...) need less",
                       size_bytes);
        break;
    default:
        errno = error; /* for %m */
        (void)snprintf(shared->why, sizeof shared->why, "no storage for %zu bytes: %m", size_bytes);
        break;
    }
    return med_linux_status_of(error);
}

medley_status_t
med_port_shared_resize(med_port_shared *shared, size_t size_bytes)
{
    MED_LINUX_ERRNO_KEPT;
    int fd = (int)shared->handle;
    if (ftruncate(fd, 0) != 0) {
        return MEDLEY_ERR_SYSTEM;
    }
    shared->size_bytes = 0;
    int error = med_linux_file_allocate(fd, size_bytes);
    if (error != 0) {
        (void)ftruncate(fd, 0);
        return resize_failed(shared, size_bytes, error);
    }
    shared->size_bytes = size_bytes;
    return MEDLEY_OK;
}

/* EAGAIN is of a program that has all its memory locked (mlockall). */
static medley_status_t
map_failed(med_port_shared *shared, int error)
{
    if (error == EAGAIN) {
        (void)snprintf(shared->why, sizeof shared->why,
                       "%zu bytes are more than this process may lock in memory: raise that "
                       "(ulimit -l), or lower the limits (MEDLEY_MAX_...)",
                       shared->size_bytes);
    }
    return MEDLEY_ERR_NO_MEMORY;
}

medley_status_t
med_port_shared_map(med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    void *p =
        mmap(NULL, shared->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)shared->handle, 0);
    if (p == MAP_FAILED) {
        return map_failed(shared, errno);
    }
    /* A child of fork is no part of the system: it must not be able to touch it by mistake. */
    (void)madvise(p, shared->size_bytes, MADV_DONTFORK);
    shared->address = p;
    return MEDLEY_OK;
}

medley_status_t
med_port_shared_remove(med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    struct stat st;
    if (fstat((int)shared->handle, &st) != 0 || !path_still_names(shared->path, &st) ||
        unlink(shared->path) == 0 || errno == ENOENT) {
        return MEDLEY_OK;
    }
    (void)snprintf(shared->why, sizeof shared->why, "cannot remove '%s': %m", shared->path);
    return MEDLEY_ERR_ACCESS;
}

static void
close_in_section(med_port_shared *shared)
{
    if (shared->address) {
        (void)munmap(shared->address, shared->size_bytes);
    }
    if (med_linux_descriptor_is_ours(shared)) {
        med_linux_witnesses_drop((int)shared->handle);
        (void)close((int)shared->handle); /* drops the section and every slot */
    }
    char *entry = open_names_find(shared->name);
    if (entry) {
        entry[0] = '\0';
    }
    shared->handle = -1;
    shared->address = NULL;
    shared->size_bytes = 0;
    shared->in_section = false;
    shared->name[0] = '\0';
}

void
med_port_shared_close(med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    if (!shared->in_section) {
        med_linux_threads_exclude();
    }
    close_in_section(shared);
    med_linux_threads_admit();
}

void
med_port_shared_forget(med_port_shared *shared)
{
    MED_LINUX_ERRNO_KEPT;
    /* Some other thread of the parent may have held it at the fork; the child has one thread. */
    med_linux_threads_forget();
    med_linux_threads_exclude();
    if (shared) {
        /* The child holds no lock that this could drop. */
        if (med_linux_descriptor_is_ours(shared)) {
            (void)close((int)shared->handle);
        }
        *shared = (med_port_shared){.handle = -1};
    }
    memset(open_names, 0, sizeof open_names);
    med_linux_threads_admit();
}

medley_status_t
med_port_shared_list(bool (*visit)(const char *name, void *context), void *context)
{
    MED_LINUX_NOT_CANCELLED;
    char prefix[32];
    (void)snprintf(prefix, sizeof prefix, "medley-%u-", (unsigned)geteuid());
    DIR *dir = opendir(med_linux_folder());
    if (!dir) {
        return MEDLEY_ERR_SYSTEM;
    }
    bool more = true;
    for (struct dirent *entry = readdir(dir); more && entry; entry = readdir(dir)) {
        const char *name = entry->d_name + strlen(prefix);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            med_port_shared_name_valid(name)) {
            more = visit(name, context);
        }
    }
    (void)closedir(dir);
    return MEDLEY_OK;
}
