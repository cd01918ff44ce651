/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Segments on Linux: a file each, in the folder of the shared memories,
 * medley-<uid>+<name>+<instance>-<number>, mode 0600, or less until it is first opened. No shared
 * memory's name has a '+', so neither is ever taken for the other. Or, of this process alone, an
 * anonymous mapping.
 *
 * All storage is allocated at the creation (fallocate, or populated pages where a place is asked
 * for: place.c): what cannot be had is an error there. No lock is kept on these files, so that
 * closing a descriptor of one drops nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"
#include "segment.h"
#include "shared.h"

/* ---- Names ----------------------------------------------------------------------------------- */

/* What the paths of all segments beside a shared memory begin with: its own path, which says the
 * folder and the user, with a '+' for the '-' before the name, and another behind that. Its length;
 * 0: not such a path. By hand here and below, since formatting costs as much as a system call. */
static size_t
stem_make(char stem[MED_PORT_PATH_BYTES], const char *beside)
{
    size_t length = strlen(beside);
    if (length + MED_LINUX_SEGMENT_PATH_MORE >= MED_PORT_PATH_BYTES) {
        return 0;
    }
    memcpy(stem, beside, length + 1);
    memcpy(stem + length, "+", sizeof "+");
    char *file = strrchr(stem, '/');
    char *user = file ? strchr(file, '-') : NULL;
    char *name = user ? strchr(user + 1, '-') : NULL;
    if (!name) {
        return 0;
    }
    *name = '+';
    return length + 1;
}

/* Behind them: so many digits of a number, in hexadecimal. */
static char *
digits_put(char *to, uint64_t number, int count)
{
    for (int i = count; i-- > 0; number >>= 4) {
        to[i] = "0123456789abcdef"[number & 15];
    }
    to[count] = '\0';
    return to + count;
}

/* What the paths of all of one instance begin with. Its end; NULL: not such a path. */
static char *
stem_make_of(char stem[MED_PORT_PATH_BYTES], const char *beside, uint64_t instance)
{
    size_t length = stem_make(stem, beside);
    if (length == 0) {
        return NULL;
    }
    char *end = digits_put(stem + length, instance, 16);
    memcpy(end, "-", sizeof "-");
    return end + 1;
}

static bool
path_make(char path[MED_PORT_PATH_BYTES], const char *beside, uint64_t instance, uint32_t number)
{
    char *end = stem_make_of(path, beside, instance);
    if (end) {
        (void)digits_put(end, number, 8);
    }
    return end != NULL;
}

/* ---- What fails ------------------------------------------------------------------------------ */

medley_status_t
med_linux_segment_failed(med_port_segment *segment, const char *doing, int error)
{
    errno = error; /* for %m */
    (void)snprintf(segment->why, sizeof segment->why, "%s: %m%s", doing,
                   med_linux_advice_of(error));
    return med_linux_status_of(error);
}

/* Neither made nor opened: for what lies there and is not ours, or for where it should lie. */
static medley_status_t
open_failed(med_port_segment *segment, const char *path, int error)
{
    struct stat st;
    (void)med_linux_segment_failed(segment, path, error);
    bool refused = lstat(path, &st) == 0 && !med_linux_file_is_ours(&st, path, segment->why);
    return refused && error != EEXIST ? MEDLEY_ERR_ACCESS : med_linux_status_of_folder(error);
}

/* ---- Making one ------------------------------------------------------------------------------ */

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
    medley_status_t status = med_linux_place_fill_file(segment);
    if (status != MEDLEY_OK) {
        med_port_segment_close(segment);
        (void)unlink(path);
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
    medley_status_t status = med_linux_place_check(segment);
    if (status == MEDLEY_OK) {
        status = segment->beside ? create_file(segment) : med_linux_place_map_private(segment);
    }
    return status;
}

/* ---- Finding one ----------------------------------------------------------------------------- */

static medley_status_t
file_check(med_port_segment *segment, const char *path)
{
    struct stat st;
    if (fstat((int)segment->handle, &st) != 0) {
        return med_linux_segment_failed(segment, path, errno);
    }
    if (!med_linux_file_is_ours(&st, path, segment->why)) {
        return MEDLEY_ERR_ACCESS;
    }
    if ((uint64_t)st.st_size != med_linux_place_bytes(segment->size_bytes, segment->place)) {
        (void)snprintf(segment->why, sizeof segment->why, "'%s' is not as large as it was made",
                       path);
        return MEDLEY_ERR_CORRUPT;
    }
    return MEDLEY_OK;
}

static medley_status_t
open_path(med_port_segment *segment, const char *path)
{
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

/* What a mask of its maker's took from the mode is given back here: to look for that costs one
 * twentieth of the life of a page, and mostly nobody opens one so small, but who made it and has it
 * mapped. */
static medley_status_t
open_file(med_port_segment *segment)
{
    char path[MED_PORT_PATH_BYTES];
    if (!path_make(path, segment->beside, segment->instance, segment->number)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status = open_path(segment, path);
    if (status == MEDLEY_ERR_ACCESS && med_linux_file_mode_mend(path)) {
        segment->why[0] = '\0';
        status = open_path(segment, path);
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
    MED_LINUX_ERRNO_KEPT;
    char path[MED_PORT_PATH_BYTES];
    if (path_make(path, beside, instance, number)) {
        (void)unlink(path);
    }
}

void
med_port_segments_remove(const char *beside, uint64_t instance)
{
    MED_LINUX_NOT_CANCELLED;
    char folder[MED_PORT_PATH_BYTES];
    /* 0: of whichever. */
    bool good =
        instance ? stem_make_of(folder, beside, instance) != NULL : stem_make(folder, beside) != 0;
    if (!good) {
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
