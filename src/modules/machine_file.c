/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads a machine's file whole, if it is a plain one and not too large, and has it checked. */
#include "modules/machine_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modules/machine_check.h"

#define FILE_BYTES_MAX (64 << 20)

#define WHY(...) ((void)snprintf(why, why_bytes, __VA_ARGS__))

static char *
file_read(const char *path, size_t *size, char *why, size_t why_bytes)
{
    struct stat st;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        WHY("%s: %s", path, strerrordesc_np(errno));
    } else if (!S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX) {
        WHY("%s: not a plain file of at most %d bytes", path, FILE_BYTES_MAX);
    } else if ((text = malloc((size_t)st.st_size + 1)) != NULL) {
        ssize_t got = read(fd, text, (size_t)st.st_size);
        *size = got > 0 ? (size_t)got : 0;
        text[*size] = '\0';
    } else {
        WHY("%s: no memory", path);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return text;
}

char *
machine_file_read(const char *path, size_t *size, unsigned *line, char *why, size_t why_bytes)
{
    char *text = file_read(path, size, why, why_bytes);
    const char *wrong = text ? machine_check(text, *size, line) : NULL;
    if (wrong) {
        WHY("%s:%u: %s; want a file that hwloc wrote (lstopo FILE.xml)", path, *line, wrong);
        free(text);
        text = NULL;
    }
    return text;
}
