/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Plain files: a user's, whole; the kernel's, a line; where a user wants to read lines. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

/* Until the end of the file, or of the room: then one byte more is looked for. */
static medley_status_t
read_whole(int file, char *bytes, size_t size_bytes, size_t *length)
{
    size_t have = 0;
    for (;;) {
        char beyond;
        ssize_t got = have < size_bytes ? read(file, bytes + have, size_bytes - have)
                                        : read(file, &beyond, 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return med_linux_status_of(errno);
        }
        if (got == 0) {
            *length = have;
            return MEDLEY_OK;
        }
        if (have == size_bytes) {
            return MEDLEY_ERR_LIMIT;
        }
        have += (size_t)got;
    }
}

medley_status_t
med_port_file_read(const char *path, char *bytes, size_t size_bytes, size_t *length)
{
    MED_LINUX_NOT_CANCELLED;
    struct stat found;
    /* Not blocking: a pipe would wait for its other end. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        return med_linux_status_of(errno);
    }
    medley_status_t status = fstat(file, &found) == 0 ? MEDLEY_OK : med_linux_status_of(errno);
    if (status == MEDLEY_OK && !S_ISREG(found.st_mode)) {
        status = MEDLEY_ERR_ARGUMENT;
    }
    if (status == MEDLEY_OK) {
        status = read_whole(file, bytes, size_bytes, length);
    }
    (void)close(file);
    return status;
}

bool
med_linux_line_read(const char *path, char *line, size_t size_bytes)
{
    MED_LINUX_NOT_CANCELLED;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, line, size_bytes - 1);
    if (file >= 0) {
        (void)close(file);
    }
    size_t bytes = got > 0 ? (size_t)got : 0;
    const char *end = memchr(line, '\n', bytes);
    line[end ? (size_t)(end - line) : bytes] = '\0';
    return got > 0;
}

medley_status_t
med_port_write_line(const char *where, const char *line)
{
    MED_LINUX_NOT_CANCELLED;
    if (strcasecmp(where, "stderr") == 0) {
        med_port_log(line);
        return MEDLEY_OK;
    }
    bool is_standard = strcasecmp(where, "stdout") == 0;
    if (!is_standard && getauxval(AT_SECURE) != 0) {
        return MEDLEY_ERR_ACCESS;
    }
    FILE *file = is_standard ? stdout : fopen(where, "ae");
    if (!file) {
        return MEDLEY_ERR_ACCESS;
    }
    bool failed = fprintf(file, "%s\n", line) < 0;
    failed = (is_standard ? fflush(file) : fclose(file)) != 0 || failed;
    return failed ? MEDLEY_ERR_SYSTEM : MEDLEY_OK;
}
