/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a process writes, line by line, each behind whose it is. */
#ifndef MEDLEY_TOOLS_RUN_LINES_H
#define MEDLEY_TOOLS_RUN_LINES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define RUN_LINE_BYTES 65536u /* a longer one becomes several */

typedef struct run_lines {
    int from; /* the end of a pipe that is read, which does not block; -1: there is none */
    FILE *to;
    const char *whose;
    char *bytes; /* of a line whose end has not come */
    size_t count;
} run_lines;

/* Gives the end that is written, which programs do not inherit unasked; -1, and errno. */
int run_lines_open(run_lines *lines, FILE *to, const char *whose);
/* What to wait for: that something comes, or, where it cannot be written now, that it can. */
struct pollfd run_lines_poll(const run_lines *lines);
/* Writes some of what has come, no more than can be written at once, as a rule. */
void run_lines_take(run_lines *lines);
/* Nothing more will come. Writes what has; `may_lose`: only what can be written at once. */
void run_lines_end(run_lines *lines, bool may_lose);
void run_lines_close(run_lines *lines);
/* Why nothing could be written: an errno, or 0. */
int run_lines_error(void);

#endif
