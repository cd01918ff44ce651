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
 *
 * Why "not held" is confirmed: a program that closes every descriptor closes ours, and the number
 * may be another file's by now. An error, or another file's answer, is nobody's death: then all
 * slots count as held. The file is looked at after the query, so it was ours during it.
 *
 * Why the section is polled for, and not waited for in the kernel (F_SETLKW): that wait has no
 * deadline, so a process stopped in the section would stop everybody; and it is refused (EDEADLK)
 * where two processes wait for each other by different threads, whom the kernel takes for one
 * owner. The first try is the only one unless somebody is in there. Others are in there for tens of
 * microseconds, so the pauses start at that; they end at 2 ms, the most by which one comes late.
 *
 * Cancellation (pthread_cancel) waits outside of sections.
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

#include "linux.h"
#include "port/port.h"

#define SECTION_BYTE ((off_t)1 << 30)
#define SLOT_BYTE (SECTION_BYTE + 1)
#define OPEN_MAX_NAMES 16
#define PATH_MAX_BYTES 256
#define PAUSE_FIRST_NS 20000u
#define PAUSE_LAST_NS 2000000u

static pthread_mutex_t section_mutex = PTHREAD_MUTEX_INITIALIZER;
static char open_names[OPEN_MAX_NAMES][MED_PORT_NAME_MAX + 1]; /* guarded by section_mutex */
static int cancel_state; /* of the thread in the section; guarded by section_mutex */
static void (*lost_handler)(const char *name);
static uint32_t lost_told;

bool
med_port_shared_name_valid(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= MED_PORT_NAME_MAX && name[0] != '.' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
               length;
}

static bool
path_make(char path[PATH_MAX_BYTES], const char *name)
{
    int length = snprintf(path, PATH_MAX_BYTES, "%s/medley-%u-%s", med_linux_folder(),
                          (unsigned)geteuid(), name);
    return length > 0 && length < PATH_MAX_BYTES;
}

/* ---- Record locks ---------------------------------------------------------------------------- */

static struct flock
record(short type, off_t start, off_t length)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
}

/* MEDLEY_BUSY: another process has it. */
static medley_status_t
record_lock_try(int fd, off_t byte)
{
    struct flock lock = record(F_WRLCK, byte, 1);
    if (fcntl(fd, F_SETLK, &lock) == 0) {
        return MEDLEY_OK;
    }
    return errno == EACCES || errno == EAGAIN ? MEDLEY_BUSY : MEDLEY_ERR_SYSTEM;
}

/* Does another process hold what `lock` asks for? Then the lock that it has there. */
static bool
record_find(int fd, struct flock *lock)
{
    return fcntl(fd, F_GETLK, lock) == 0 && lock->l_type != F_UNLCK;
}

static void
record_drop(int fd, off_t byte)
{
    struct flock lock = record(F_UNLCK, byte, 1);
    (void)fcntl(fd, F_SETLK, &lock);
}

/* ---- Is the descriptor still ours? ----------------------------------------------------------- */

static bool
descriptor_is_ours(const med_port_shared *shared)
{
    struct stat st;
    return fstat((int)shared->handle, &st) == 0 && (uint64_t)st.st_dev == shared->device &&
           (uint64_t)st.st_ino == shared->inode;
}

/* The same; the first to miss it tells. */
static bool
descriptor_check(const med_port_shared *shared)
{
    if (descriptor_is_ours(shared)) {
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

/* Anything but a plain no is a yes. */
static bool
record_held_by_other(const med_port_shared *shared, off_t start, off_t length)
{
    struct flock lock = record(F_WRLCK, start, length);
    int rc = fcntl((int)shared->handle, F_GETLK, &lock);
    return (rc == 0 && lock.l_type != F_UNLCK) || !descriptor_check(shared) || rc != 0;
}

/* ---- Patience -------------------------------------------------------------------------------- */

typedef struct patience {
    uint64_t deadline_ns;
    uint64_t pause_ns; /* the next one */
} patience;

static patience
patience_until(uint64_t deadline_ns)
{
    return (patience){.deadline_ns = deadline_ns, .pause_ns = PAUSE_FIRST_NS};
}

/* Between two tries. False: the deadline has passed, and the last try was after it. */
static bool
patience_pause(patience *p)
{
    uint64_t now_ns = med_port_clock_ns();
    if (now_ns >= p->deadline_ns) {
        return false;
    }
    uint64_t left_ns = p->deadline_ns - now_ns;
    med_port_delay_ns(p->pause_ns < left_ns ? p->pause_ns : left_ns);
    p->pause_ns = p->pause_ns < PAUSE_LAST_NS / 2 ? 2 * p->pause_ns : PAUSE_LAST_NS;
    return true;
}

/* ---- The section of this process ------------------------------------------------------------- */

/* No thread waits longer in there than its own deadline allows. */
static void
threads_exclude(void)
{
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    (void)pthread_mutex_lock(&section_mutex);
    cancel_state = before;
}

static bool
threads_exclude_until(patience *p)
{
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    while (pthread_mutex_trylock(&section_mutex) != 0) {
        if (!patience_pause(p)) {
            (void)pthread_setcancelstate(before, NULL);
            return false;
        }
    }
    cancel_state = before;
    return true;
}

static void
threads_admit(void)
{
    int before = cancel_state;
    (void)pthread_mutex_unlock(&section_mutex);
    (void)pthread_setcancelstate(before, NULL);
}

/* ---- The section of all processes ------------------------------------------------------------ */

#define WHY_THREADS "another thread of this process is at opening or closing shared memory"

/* Who is in there, and what to do about him: a process that is stopped, or hangs, keeps what it has
 * locked until it goes on or ends. The kernel gives 0 for one without a number in our namespace. */
static void
section_holder_describe(int fd, char why[MED_PORT_WHY_BYTES])
{
    struct flock lock = record(F_WRLCK, SECTION_BYTE, 1);
    long pid = record_find(fd, &lock) ? (long)lock.l_pid : 0;
    if (pid > 0) {
        (void)snprintf(why, MED_PORT_WHY_BYTES,
                       "process %ld has it locked and does not go on: 'kill -CONT %ld' continues "
                       "it if it is stopped, 'kill -9 %ld' ends it",
                       pid, pid, pid);
    } else {
        (void)snprintf(why, MED_PORT_WHY_BYTES,
                       "a process that cannot be seen from here (of another container, or gone by "
                       "now) has it locked and does not go on: continue or end it there");
    }
}

/* The threads of this process are kept out already. */
static medley_status_t
record_lock_section(int fd, patience *p, char why[MED_PORT_WHY_BYTES])
{
    medley_status_t status = record_lock_try(fd, SECTION_BYTE);
    while (status == MEDLEY_BUSY) {
        if (!patience_pause(p)) {
            section_holder_describe(fd, why);
            return MEDLEY_TIMEOUT;
        }
        status = record_lock_try(fd, SECTION_BYTE);
    }
    return status;
}

/* Only a plain yes is one: who is told no asks again in the section. */
static medley_status_t
slots_look(int fd)
{
    struct flock lock = record(F_WRLCK, SLOT_BYTE, MED_PORT_SLOT_MAX);
    return record_find(fd, &lock) ? MEDLEY_OK : MEDLEY_EMPTY;
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
        (void)snprintf(why, MED_PORT_WHY_BYTES, "%m");
    } else {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "folder '%s' (MEDLEY_SHM_DIR): %m",
                       med_linux_folder());
    }
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return MEDLEY_ERR_NOT_FOUND;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
        return MEDLEY_ERR_NO_MEMORY;
    default:
        return MEDLEY_ERR_SYSTEM;
    }
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
    patience patience;
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
    medley_status_t status =
        how->aside ? slots_look(fd) : record_lock_section(fd, &how->patience, shared->why);
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
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
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
    char path[PATH_MAX_BYTES];
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
    shared->in_section = !how->aside;
    __atomic_store_n(&lost_told, 0, __ATOMIC_RELAXED); /* as above */
    return MEDLEY_OK;
}

static medley_status_t
open_with(const char *name, opening how, med_port_shared *shared)
{
    *shared = (med_port_shared){.handle = -1};
    if (!threads_exclude_until(&how.patience)) {
        (void)snprintf(shared->why, sizeof shared->why, WHY_THREADS);
        return MEDLEY_TIMEOUT;
    }
    medley_status_t status = open_alone(name, &how, shared);
    if (!shared->in_section) {
        threads_admit();
    }
    return status;
}

medley_status_t
med_port_shared_open_until(const char *name, uint64_t deadline_ns, med_port_shared *shared)
{
    opening how = {.creates = true, .patience = patience_until(deadline_ns)};
    return open_with(name, how, shared);
}

medley_status_t
med_port_shared_open_existing_until(const char *name, uint64_t deadline_ns, med_port_shared *shared)
{
    opening how = {.patience = patience_until(deadline_ns)};
    return open_with(name, how, shared);
}

medley_status_t
med_port_shared_open_aside(const char *name, med_port_shared *shared)
{
    opening how = {.aside = true, .patience = patience_until(MED_PORT_FOREVER)};
    return open_with(name, how, shared);
}

medley_status_t
med_port_shared_lock_until(med_port_shared *shared, uint64_t deadline_ns)
{
    patience p = patience_until(deadline_ns);
    if (!threads_exclude_until(&p)) {
        (void)snprintf(shared->why, sizeof shared->why, WHY_THREADS);
        return MEDLEY_TIMEOUT;
    }
    medley_status_t status = descriptor_check(shared)
                                 ? record_lock_section((int)shared->handle, &p, shared->why)
                                 : MEDLEY_ERR_SYSTEM;
    if (status != MEDLEY_OK) {
        threads_admit();
        return status;
    }
    shared->in_section = true;
    return MEDLEY_OK;
}

void
med_port_shared_unlock(med_port_shared *shared)
{
    shared->in_section = false;
    if (descriptor_check(shared)) {
        record_drop((int)shared->handle, SECTION_BYTE);
    }
    threads_admit();
}

medley_status_t
med_port_shared_resize(med_port_shared *shared, size_t size_bytes)
{
    int fd = (int)shared->handle;
    if (ftruncate(fd, 0) != 0) {
        return MEDLEY_ERR_SYSTEM;
    }
    shared->size_bytes = 0;
    int error = med_linux_file_allocate(fd, size_bytes);
    if (error != 0) {
        (void)ftruncate(fd, 0);
        bool no_room = error == ENOSPC || error == EFBIG;
        if (error == EFBIG) {
            (void)snprintf(shared->why, sizeof shared->why,
                           "%zu bytes are more than this process may write to a file (ulimit -f)",
                           size_bytes);
        }
        return no_room ? MEDLEY_ERR_NO_MEMORY : MEDLEY_ERR_SYSTEM;
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

medley_status_t
med_port_shared_remove(med_port_shared *shared)
{
    char path[PATH_MAX_BYTES];
    struct stat st;
    if (!path_make(path, shared->name) || fstat((int)shared->handle, &st) != 0 ||
        !path_still_names(path, &st) || unlink(path) == 0 || errno == ENOENT) {
        return MEDLEY_OK;
    }
    (void)snprintf(shared->why, sizeof shared->why, "cannot remove '%s': %m", path);
    return MEDLEY_ERR_ACCESS;
}

static void
close_in_section(med_port_shared *shared)
{
    if (shared->address) {
        (void)munmap(shared->address, shared->size_bytes);
    }
    if (descriptor_is_ours(shared)) {
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
    if (!shared->in_section) {
        threads_exclude();
    }
    close_in_section(shared);
    threads_admit();
}

void
med_port_shared_forget(med_port_shared *shared)
{
    /* Some other thread of the parent may have held it at the fork; the child has one thread. */
    section_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    threads_exclude();
    if (shared) {
        /* The child holds no lock that this could drop. */
        if (descriptor_is_ours(shared)) {
            (void)close((int)shared->handle);
        }
        *shared = (med_port_shared){.handle = -1};
    }
    memset(open_names, 0, sizeof open_names);
    threads_admit();
}

medley_status_t
med_port_shared_list(bool (*visit)(const char *name, void *context), void *context)
{
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

/* ---- Slots ----------------------------------------------------------------------------------- */

medley_status_t
med_port_slot_claim(med_port_shared *shared, uint32_t slot)
{
    if (slot >= MED_PORT_SLOT_MAX) {
        return MEDLEY_ERR_ARGUMENT;
    }
    return descriptor_check(shared) ? record_lock_try((int)shared->handle, SLOT_BYTE + (off_t)slot)
                                    : MEDLEY_ERR_SYSTEM;
}

void
med_port_slot_drop(med_port_shared *shared, uint32_t slot)
{
    if (descriptor_check(shared)) {
        record_drop((int)shared->handle, SLOT_BYTE + (off_t)slot);
    }
}

bool
med_port_slot_held(const med_port_shared *shared, uint32_t slot)
{
    return record_held_by_other(shared, SLOT_BYTE + (off_t)slot, 1);
}

bool
med_port_slot_any_held(const med_port_shared *shared)
{
    return record_held_by_other(shared, SLOT_BYTE, MED_PORT_SLOT_MAX);
}
