/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes beside the file, and gives it the name when it is whole. */
#include "tools/medley/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes the path, which is the caller's to free. */
static bool
beside_write(char *beside, mode_t mode, output_file_writer write, void *context)
{
    int descriptor = mkstemp(beside);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    bool good = file && write(file, context) && fchmod(descriptor, mode) == 0;
    good = file && fclose(file) == 0 && good;
    if (descriptor >= 0 && !good) {
        int error = errno;
        (void)unlink(beside);
        errno = error;
    }
    return good;
}

static bool
file_replace(const char *path, mode_t mode, output_file_writer write, void *context)
{
    char *beside = NULL;
    if (asprintf(&beside, "%s.XXXXXX", path) < 0) {
        return false;
    }
    bool good = beside_write(beside, mode, write, context);
    if (good && rename(beside, path) != 0) {
        int error = errno;
        (void)unlink(beside);
        errno = error;
        good = false;
    }
    free(beside);
    return good;
}

/* Makes one beside it, which goes again. */
static bool
beside_may_write(const char *path)
{
    char *beside = NULL;
    if (asprintf(&beside, "%s.XXXXXX", path) < 0) {
        return false;
    }
    int descriptor = mkstemp(beside);
    if (descriptor >= 0) {
        (void)close(descriptor);
        (void)unlink(beside);
    }
    free(beside);
    return descriptor >= 0;
}

static bool
stream_write(const char *path, output_file_writer write, void *context)
{
    FILE *file = fopen(path, "w");
    bool good = file && write(file, context);
    return file && fclose(file) == 0 && good;
}

/* As open() would have made it. */
static mode_t
new_file_mode(void)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    return 0666 & ~mask;
}

bool
output_file_write(const char *path, output_file_writer write, void *context)
{
    struct stat found;
    if (strcmp(path, "-") == 0) {
        return write(stdout, context);
    }
    if (stat(path, &found) != 0) {
        struct stat link;
        bool leads_nowhere = lstat(path, &link) == 0;
        return leads_nowhere ? stream_write(path, write, context)
                             : file_replace(path, new_file_mode(), write, context);
    }
    if (!S_ISREG(found.st_mode)) {
        return stream_write(path, write, context);
    }
    char *resolved = realpath(path, NULL);
    bool good = resolved && file_replace(resolved, found.st_mode & 0777, write, context);
    free(resolved);
    return good;
}

/* A pipe is not opened: that would wait for its reader. Where a link leads to is made. */
static bool
stream_may_write(const char *path, bool is_there)
{
    if (is_there) {
        return access(path, W_OK) == 0;
    }
    FILE *file = fopen(path, "a");
    return file && fclose(file) == 0;
}

bool
output_file_may_write(const char *path)
{
    struct stat found, link;
    if (strcmp(path, "-") == 0) {
        return true;
    }
    bool is_there = stat(path, &found) == 0;
    if (!is_there && lstat(path, &link) != 0) {
        return beside_may_write(path);
    }
    if (is_there && S_ISDIR(found.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (!is_there || !S_ISREG(found.st_mode)) {
        return stream_may_write(path, is_there);
    }
    char *resolved = realpath(path, NULL);
    bool good = resolved && beside_may_write(resolved);
    free(resolved);
    return good;
}
