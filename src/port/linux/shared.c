/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shared memory and liveness on Linux: one file per name in /dev/shm, and record locks on bytes far
 * behind its end.
 *
 *   file    <folder>/medley-<uid>-<name>, mode 0600; anything else under that name is refused
 *   byte    SECTION_BYTE: the section (create, attach, remove)
 *           SLOT_BYTE + n: process slot n is alive
 *
 * Why process-associated record locks: the kernel drops them when the process is gone, before its
 * number can be reused and while it is still a zombie; they work across PID namespaces; a query
 * costs one system call. Two traps: closing ANY descriptor of a file drops all locks the process
 * has on it, so a name is opened at most once (`open_names`); and a child of fork has none of them,
 * which is what we want.
 *
 * Why the inode is compared: between our open and our lock the last user may have removed the name,
 * and we would hold a file that nobody else will ever find. Then we start over.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port/port.h"

#define SECTION_BYTE ((off_t)1 << 30)
#define SLOT_BYTE (SECTION_BYTE + 1)
#define OPEN_MAX_NAMES 16
#define PATH_MAX_BYTES 256

static pthread_mutex_t section_mutex = PTHREAD_MUTEX_INITIALIZER;
static char open_names[OPEN_MAX_NAMES][MED_PORT_NAME_MAX + 1]; /* guarded by section_mutex */

static const char *
folder(void)
{
    const char *chosen = getenv("MEDLEY_SHM_DIR");
    return chosen && chosen[0] == '/' ? chosen : "/dev/shm";
}

static bool
name_is_valid(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= MED_PORT_NAME_MAX && name[0] != '.' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
               length;
}

static bool
path_make(char path[PATH_MAX_BYTES], const char *name)
{
    int length =
        snprintf(path, PATH_MAX_BYTES, "%s/medley-%u-%s", folder(), (unsigned)geteuid(), name);
    return length > 0 && length < PATH_MAX_BYTES;
}

/* ---- Record locks ---------------------------------------------------------------------------- */

static struct flock
record(short type, off_t start, off_t length)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
}

static bool
record_lock_wait(int fd, off_t byte)
{
    struct flock lock = record(F_WRLCK, byte, 1);
    int rc;
    do {
        rc = fcntl(fd, F_SETLKW, &lock);
    } while (rc != 0 && errno == EINTR);
    return rc == 0;
}

static bool
record_held_by_other(int fd, off_t start, off_t length)
{
    struct flock lock = record(F_WRLCK, start, length);
    return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void
record_drop(int fd, off_t byte)
{
    struct flock lock = record(F_UNLCK, byte, 1);
    (void)fcntl(fd, F_SETLK, &lock);
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

static medley_status_t
status_of_open_error(int error)
{
    switch (error) {
    case ENOENT:
        return MEDLEY_ERR_NOT_FOUND;
    case ELOOP:
    case EACCES:
    case EPERM:
    case EISDIR:
        return MEDLEY_ERR_ACCESS;
    case ENOSPC:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return MEDLEY_ERR_NO_MEMORY;
    default:
        return MEDLEY_ERR_SYSTEM;
    }
}

/* Ours alone: a plain file, of this user, with the mode we give, under one name. */
static bool
file_is_ours(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && (st->st_mode & 07777) == 0600 &&
           st->st_nlink == 1;
}

static bool
path_still_names(const char *path, const struct stat *st)
{
    struct stat now;
    return lstat(path, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

/* One round: MEDLEY_BUSY when the file was removed under our hands and the caller must start over.
 */
static medley_status_t
open_once(const char *path, int extra_flags, int *fd_out, size_t *size_bytes)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | extra_flags, 0600);
    if (fd < 0) {
        return status_of_open_error(errno);
    }
    medley_status_t status = MEDLEY_ERR_SYSTEM;
    struct stat st;
    if (fstat(fd, &st) == 0) {
        if (st.st_nlink == 0) {
            status = MEDLEY_BUSY;
        } else if (!file_is_ours(&st)) {
            status = MEDLEY_ERR_ACCESS;
        } else if (record_lock_wait(fd, SECTION_BYTE)) {
            status = path_still_names(path, &st) ? MEDLEY_OK : MEDLEY_BUSY;
        }
    }
    /* The size as of now: the one before us in the section may have set it. */
    if (status == MEDLEY_OK && fstat(fd, &st) != 0) {
        status = MEDLEY_ERR_SYSTEM;
    }
    if (status != MEDLEY_OK) {
        (void)close(fd);
        return status;
    }
    *fd_out = fd;
    *size_bytes = (size_t)st.st_size;
    return MEDLEY_OK;
}

static medley_status_t
open_in_section(const char *name, int extra_flags, med_port_shared *shared)
{
    char path[PATH_MAX_BYTES];
    char *entry = open_names_find("");
    if (!name_is_valid(name) || !path_make(path, name)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    if (open_names_find(name)) {
        return MEDLEY_ERR_EXISTS;
    }
    if (!entry) {
        return MEDLEY_ERR_LIMIT;
    }
    int fd = -1;
    size_t size_bytes = 0;
    medley_status_t status;
    do {
        status = open_once(path, extra_flags, &fd, &size_bytes);
    } while (status == MEDLEY_BUSY);
    if (status != MEDLEY_OK) {
        return status;
    }
    (void)snprintf(entry, MED_PORT_NAME_MAX + 1, "%s", name);
    *shared = (med_port_shared){.handle = fd, .size_bytes = size_bytes, .in_section = true};
    (void)snprintf(shared->name, sizeof shared->name, "%s", name);
    return MEDLEY_OK;
}

static medley_status_t
open_with(const char *name, int extra_flags, med_port_shared *shared)
{
    (void)pthread_mutex_lock(&section_mutex);
    medley_status_t status = open_in_section(name, extra_flags, shared);
    if (status != MEDLEY_OK) {
        (void)pthread_mutex_unlock(&section_mutex);
    }
    return status;
}

medley_status_t
med_port_shared_open(const char *name, med_port_shared *shared)
{
    return open_with(name, O_CREAT, shared);
}

medley_status_t
med_port_shared_open_existing(const char *name, med_port_shared *shared)
{
    return open_with(name, 0, shared);
}

medley_status_t
med_port_shared_lock(med_port_shared *shared)
{
    (void)pthread_mutex_lock(&section_mutex);
    if (!record_lock_wait((int)shared->handle, SECTION_BYTE)) {
        (void)pthread_mutex_unlock(&section_mutex);
        return MEDLEY_ERR_SYSTEM;
    }
    shared->in_section = true;
    return MEDLEY_OK;
}

void
med_port_shared_unlock(med_port_shared *shared)
{
    shared->in_section = false;
    record_drop((int)shared->handle, SECTION_BYTE);
    (void)pthread_mutex_unlock(&section_mutex);
}

medley_status_t
med_port_shared_resize(med_port_shared *shared, size_t size_bytes)
{
    int fd = (int)shared->handle;
    if (ftruncate(fd, 0) != 0) {
        return MEDLEY_ERR_SYSTEM;
    }
    shared->size_bytes = 0;
    /* Every page now: a full /dev/shm is an error here, and would be SIGBUS later. */
    int error;
    do {
        error = posix_fallocate(fd, 0, (off_t)size_bytes);
    } while (error == EINTR);
    if (error != 0) {
        (void)ftruncate(fd, 0);
        return error == ENOSPC || error == EFBIG ? MEDLEY_ERR_NO_MEMORY : MEDLEY_ERR_SYSTEM;
    }
    shared->size_bytes = size_bytes;
    return MEDLEY_OK;
}

medley_status_t
med_port_shared_map(med_port_shared *shared)
{
    void *p =
        mmap(NULL, shared->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)shared->handle, 0);
    if (p == MAP_FAILED) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    /* A child of fork is no part of the system: it must not be able to touch it by mistake. */
    (void)madvise(p, shared->size_bytes, MADV_DONTFORK);
    shared->address = p;
    return MEDLEY_OK;
}

void
med_port_shared_remove(med_port_shared *shared)
{
    char path[PATH_MAX_BYTES];
    struct stat st;
    if (path_make(path, shared->name) && fstat((int)shared->handle, &st) == 0 &&
        path_still_names(path, &st)) {
        (void)unlink(path);
    }
}

void
med_port_shared_close(med_port_shared *shared)
{
    bool in_section = shared->in_section;
    if (!in_section) {
        (void)pthread_mutex_lock(&section_mutex);
    }
    if (shared->address) {
        (void)munmap(shared->address, shared->size_bytes);
    }
    (void)close((int)shared->handle); /* drops the section and every slot */
    char *entry = open_names_find(shared->name);
    if (entry) {
        entry[0] = '\0';
    }
    *shared = (med_port_shared){.handle = -1};
    (void)pthread_mutex_unlock(&section_mutex);
}

void
med_port_shared_forget(med_port_shared *shared)
{
    if (shared) {
        (void)close((int)shared->handle); /* the child holds no lock that this could drop */
        *shared = (med_port_shared){.handle = -1};
    }
    /* Some other thread of the parent may have held it at the fork; the child has one thread. */
    section_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    memset(open_names, 0, sizeof open_names);
}

medley_status_t
med_port_shared_list(bool (*visit)(const char *name, void *context), void *context)
{
    char prefix[32];
    (void)snprintf(prefix, sizeof prefix, "medley-%u-", (unsigned)geteuid());
    DIR *dir = opendir(folder());
    if (!dir) {
        return MEDLEY_ERR_SYSTEM;
    }
    bool more = true;
    for (struct dirent *entry = readdir(dir); more && entry; entry = readdir(dir)) {
        const char *name = entry->d_name + strlen(prefix);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && name_is_valid(name)) {
            more = visit(name, context);
        }
    }
    (void)closedir(dir);
    return MEDLEY_OK;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

medley_status_t
med_port_slot_claim(med_port_shared *shared, uint32_t slot)
{
    if (slot >= MED_PORT_SLOT_MAX) {
        return MEDLEY_ERR_ARGUMENT;
    }
    struct flock lock = record(F_WRLCK, SLOT_BYTE + (off_t)slot, 1);
    if (fcntl((int)shared->handle, F_SETLK, &lock) == 0) {
        return MEDLEY_OK;
    }
    return errno == EACCES || errno == EAGAIN ? MEDLEY_BUSY : MEDLEY_ERR_SYSTEM;
}

void
med_port_slot_drop(med_port_shared *shared, uint32_t slot)
{
    record_drop((int)shared->handle, SLOT_BYTE + (off_t)slot);
}

bool
med_port_slot_held(const med_port_shared *shared, uint32_t slot)
{
    return record_held_by_other((int)shared->handle, SLOT_BYTE + (off_t)slot, 1);
}

bool
med_port_slot_any_held(const med_port_shared *shared)
{
    return record_held_by_other((int)shared->handle, SLOT_BYTE, MED_PORT_SLOT_MAX);
}
