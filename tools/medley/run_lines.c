/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A line is written when its end has come, so that no two are mixed. */
#include "tools/medley/run_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
run_lines_open(run_lines *lines, FILE *to, const char *whose)
{
    int ends[2];
    char *bytes = lines->bytes ? lines->bytes : malloc(RUN_LINE_BYTES);
    *lines = (run_lines){.from = -1, .to = to, .whose = whose, .bytes = bytes};
    if (!bytes || pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    lines->from = ends[0];
    return ends[1];
}

static void
line_write(const run_lines *lines, const char *line, size_t length)
{
    (void)fprintf(lines->to, "[%s] ", lines->whose);
    (void)fwrite(line, 1, length, lines->to);
    (void)fputc('\n', lines->to);
}

/* Those that are whole; or, when there is no room for more, what there is. */
static void
lines_write(run_lines *lines)
{
    char *line = lines->bytes;
    char *end = lines->bytes + lines->count;
    char *feed;
    while ((feed = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        line_write(lines, line, (size_t)(feed - line));
        line = feed + 1;
    }
    if (line == lines->bytes && lines->count == RUN_LINE_BYTES) {
        line_write(lines, line, lines->count);
        line = end;
    }
    lines->count = (size_t)(end - line);
    memmove(lines->bytes, line, lines->count);
}

/* A pipe that can be written takes so many bytes. */
#define AT_ONCE_BYTES 4096u

static int last_error;

int
run_lines_error(void)
{
    return last_error;
}

static bool
can_write(const run_lines *lines)
{
    struct pollfd to = {.fd = fileno(lines->to), .events = POLLOUT};
    return poll(&to, 1, 0) != 0;
}

struct pollfd
run_lines_poll(const run_lines *lines)
{
    return can_write(lines) ? (struct pollfd){.fd = lines->from, .events = POLLIN}
                            : (struct pollfd){.fd = fileno(lines->to), .events = POLLOUT};
}

/* So few that with a line to each byte they are no more than that. */
static size_t
portion(const run_lines *lines)
{
    size_t most = AT_ONCE_BYTES / (strlen(lines->whose) + sizeof "[] x\n");
    size_t room = RUN_LINE_BYTES - lines->count;
    return most < room ? most : room;
}

/* False: nothing is there; `over`: nor will be. */
static bool
take(run_lines *lines, bool *over)
{
    ssize_t got;
    do {
        got = read(lines->from, lines->bytes + lines->count, portion(lines));
    } while (got < 0 && errno == EINTR);
    *over = got == 0 || (got < 0 && errno != EAGAIN);
    if (got > 0) {
        lines->count += (size_t)got;
        lines_write(lines);
    }
    return got > 0;
}

static void
flush(const run_lines *lines)
{
    if (fflush(lines->to) != 0) {
        last_error = errno;
    }
}

void
run_lines_take(run_lines *lines)
{
    bool over = false;
    if (lines->from >= 0 && can_write(lines)) {
        (void)take(lines, &over);
        flush(lines);
    }
    if (over) {
        run_lines_close(lines);
    }
}

void
run_lines_end(run_lines *lines, bool may_lose)
{
    bool over = false;
    while (lines->from >= 0 && (!may_lose || can_write(lines)) && take(lines, &over)) {
        flush(lines);
    }
    run_lines_close(lines);
}

void
run_lines_close(run_lines *lines)
{
    if (lines->from < 0) {
        return;
    }
    if (lines->count > 0) {
        line_write(lines, lines->bytes, lines->count);
        flush(lines);
    }
    lines->count = 0;
    (void)close(lines->from);
    lines->from = -1;
}
