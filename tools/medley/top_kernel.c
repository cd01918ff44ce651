/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads /proc, as proc(5) says. */
#include "tools/medley/top_kernel.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAT_BYTES 1024u
#define NS_PER_S UINT64_C(1000000000)
#define SKIP_5 " %*s %*s %*s %*s %*s"
#define FIELDS 8 /* of a processor that count: user to steal; a guest's are among them */

/* ---- Processors ------------------------------------------------------------------------------ */

json_t *
top_kernel_processor(const char *line)
{
    uint64_t ticks[FIELDS] = {0};
    uint64_t all = 0;
    char *at;
    if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9') {
        return NULL; /* the first line is the sum of them */
    }
    json_int_t processor = (json_int_t)strtoul(line + 3, &at, 10);
    for (int i = 0; i < FIELDS && *at == ' '; i++) {
        ticks[i] = strtoull(at, &at, 10);
        all += ticks[i];
    }
    uint64_t idle = ticks[3] + ticks[4]; /* with nothing to do, and waiting for a disk */
    return json_pack("{s:I, s:I, s:I}", "processor", processor, "busy", (json_int_t)(all - idle),
                     "all", (json_int_t)all);
}

json_t *
top_kernel_processors(void)
{
    char *line = NULL;
    size_t size = 0;
    json_t *rows = json_array();
    FILE *file = fopen("/proc/stat", "re");
    while (file && getline(&line, &size, file) > 0 && strncmp(line, "cpu", 3) == 0) {
        json_t *row = top_kernel_processor(line);
        if (row) {
            (void)json_array_append_new(rows, row);
        }
    }
    free(line);
    if (file) {
        (void)fclose(file);
    }
    return rows;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static const char *
state_word(char letter)
{
    switch (letter) {
    case 'R':
        return "running";
    case 'S':
    case 'I':
        return "sleeping";
    case 'D':
        return "blocked";
    case 'T':
    case 't':
        return "stopped";
    default:
        return "ended";
    }
}

json_t *
top_kernel_thread_of(const char *stat, uint64_t ticks_per_second)
{
    char letter;
    uint64_t user, system;
    int processor;
    const char *name_end = strrchr(stat, ')'); /* what follows cannot contain it */
    /* Its state; then, of those named by proc(5) from 4 to 39, utime, stime and processor. */
    if (!name_end || ticks_per_second == 0 ||
        sscanf(name_end + 1,
               " %c" SKIP_5 SKIP_5 " %" SCNu64 " %" SCNu64 SKIP_5 SKIP_5 SKIP_5 SKIP_5
               " %*s %*s %*s %d",
               &letter, &user, &system, &processor) != 4) {
        return NULL;
    }
    uint64_t used_ns = (user + system) * (NS_PER_S / ticks_per_second);
    return json_pack("{s:s, s:i, s:I}", "state", state_word(letter), "processor", processor,
                     "used_ns", (json_int_t)used_ns);
}

static bool
file_read(uint32_t process_id, uint32_t thread_id, const char *name, char text[STAT_BYTES])
{
    char path[96];
    (void)snprintf(path, sizeof path, "/proc/%u/task/%u/%s", (unsigned)process_id,
                   (unsigned)thread_id, name);
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    size_t length = fread(text, 1, STAT_BYTES - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    return length > 0;
}

/* Where the kernel counts by nanoseconds, that is more than its ticks of 10 ms say. */
json_t *
top_kernel_thread(uint32_t process_id, uint32_t thread_id)
{
    char text[STAT_BYTES];
    uint64_t used_ns;
    long ticks_per_second = sysconf(_SC_CLK_TCK);
    if (!file_read(process_id, thread_id, "stat", text)) {
        return json_null();
    }
    json_t *thread =
        top_kernel_thread_of(text, ticks_per_second > 0 ? (uint64_t)ticks_per_second : 100);
    if (thread && file_read(process_id, thread_id, "schedstat", text) &&
        sscanf(text, "%" SCNu64, &used_ns) == 1) {
        (void)json_object_set_new(thread, "used_ns", json_integer((json_int_t)used_ns));
    }
    return thread ? thread : json_null();
}
