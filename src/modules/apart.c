/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The child sends records through a pipe: parts, numbered as they come, then one that says how it
 * ended. Without that last one it died; of what, it may have said before. What it sends is checked
 * by who gets it, as ever.
 */
#include "modules/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "modules/child.h"

#define WHY_BYTES 320

typedef enum record_kind {
    RECORD_PART,
    RECORD_FEAR,
    RECORD_LAST,
} record_kind;

typedef struct record {
    record_kind kind;
    medley_status_t status; /* of the last */
    union {
        med_topology_part part;
        char why[WHY_BYTES]; /* of the other two */
    };
} record;

/* ---- The child ------------------------------------------------------------------------------- */

typedef struct sender {
    int fd;
    uint32_t count;
} sender;

static bool
record_send(int fd, const record *r)
{
    return write(fd, r, sizeof *r) == sizeof *r; /* fits a pipe at once */
}
_Static_assert(sizeof(record) <= 512, "POSIX: so much is written in one piece");

static bool
part_send(void *context, const med_topology_part *part, uint32_t *number)
{
    sender *s = context;
    record r = {.kind = RECORD_PART};
    r.part = *part;
    *number = s->count++;
    return record_send(s->fd, &r);
}

static int fear_fd = -1; /* in a child its pipe */

void
apart_fear(const char *why)
{
    if (fear_fd >= 0) {
        record r = {.kind = RECORD_FEAR};
        (void)snprintf(r.why, sizeof r.why, "%s", why);
        (void)record_send(fear_fd, &r);
    }
}

static _Noreturn void
read_and_send(med_topology_read read_machine, int fd)
{
    sender s = {.fd = fd};
    const med_topology_sink sink = {.add = part_send, .context = &s};
    record r = {.kind = RECORD_LAST};
    fear_fd = fd;
    r.status = read_machine(&sink, r.why, sizeof r.why);
    _exit(record_send(fd, &r) ? 0 : 1);
}

/* ---- The parent ------------------------------------------------------------------------------ */

typedef struct receiver {
    const med_topology_sink *sink;
    uint32_t *numbers; /* what the sink called each part */
    uint32_t count;
    uint32_t capacity;
} receiver;

static bool
record_get(int fd, record *r)
{
    size_t got = 0;
    while (got < sizeof *r) {
        ssize_t n = read(fd, (char *)r + got, sizeof *r - got);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool
numbers_room(receiver *to)
{
    if (to->count < to->capacity) {
        return true;
    }
    uint32_t capacity = to->capacity ? 2 * to->capacity : 256;
    uint32_t *numbers = realloc(to->numbers, capacity * sizeof *numbers);
    if (numbers) {
        to->numbers = numbers;
        to->capacity = capacity;
    }
    return numbers != NULL;
}

static bool
part_pass(receiver *to, med_topology_part *part)
{
    if (!numbers_room(to) || (to->count > 0 && part->parent >= to->count)) {
        return false;
    }
    part->parent = to->count > 0 ? to->numbers[part->parent] : 0;
    return to->sink->add(to->sink->context, part, &to->numbers[to->count++]);
}

/* Until the last record, or until there is no more: then `why` says that it died. */
static medley_status_t
receive(receiver *to, int fd, char *why, size_t why_bytes)
{
    record r;
    (void)snprintf(why, why_bytes,
                   "hwloc did not survive, or not end, reading what a variable of its own "
                   "(HWLOC_...) describes: it is no machine");
    while (record_get(fd, &r)) {
        if (r.kind != RECORD_PART) {
            r.why[sizeof r.why - 1] = '\0';
            (void)snprintf(why, why_bytes, "%s", r.why);
        }
        if (r.kind == RECORD_LAST) {
            return r.status;
        }
        if (r.kind == RECORD_PART && !part_pass(to, &r.part)) {
            (void)snprintf(why, why_bytes, "no memory, or parts that make no machine");
            break;
        }
    }
    return MEDLEY_ERR_CORRUPT;
}

medley_status_t
apart_read(med_topology_read read_machine,
           unsigned patience_s,
           const med_topology_sink *sink,
           char *why,
           size_t why_bytes)
{
    receiver to = {.sink = sink};
    int fd;
    pid_t pid = child_begin(&fd, patience_s);
    if (pid == 0) {
        read_and_send(read_machine, fd);
    }
    if (pid < 0) {
        (void)snprintf(why, why_bytes, "no process to read it in: %s", strerrordesc_np(errno));
        return MEDLEY_ERR_NO_MEMORY;
    }
    medley_status_t status = receive(&to, fd, why, why_bytes);
    if (child_end(pid, fd) == -SIGALRM) {
        (void)snprintf(why, why_bytes, "it took longer than %u s", patience_s);
        status = MEDLEY_TIMEOUT;
    }
    free(to.numbers);
    return status;
}
