/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A number may be another process's by the time a person has chosen a signal. So a process is held
 * by a descriptor from the moment it is chosen; and it is the right one, if a look behind that
 * still finds its number in the system.
 */
#include "tools/medley/top_kill.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "tools/medley/output.h"
#include "tools/medley/top_rows.h"

const int top_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGKILL, SIGUSR1,
                           SIGUSR2, SIGTERM, SIGCONT, SIGSTOP, SIGTSTP};
const size_t top_signal_count = sizeof top_signals / sizeof top_signals[0];

size_t
top_signal_first(void)
{
    size_t i = 0;
    while (top_signals[i] != SIGTERM) {
        i++;
    }
    return i;
}

/* ---- Whom ------------------------------------------------------------------------------------ */

static bool
is_among(const top_targets *targets, uint32_t process_id)
{
    for (size_t i = 0; i < targets->count; i++) {
        if (targets->list[i].process_id == process_id) {
            return true;
        }
    }
    return false;
}

/* The process of a row; 0: none that can be seen from here. */
static uint32_t
process_of(const json_t *row)
{
    json_int_t number = top_integer(row, "process_here");
    return number > 0 ? (uint32_t)number : 0;
}

static void
target_add(top_targets *targets, uint32_t process_id)
{
    if (process_id == 0 || is_among(targets, process_id)) {
        return;
    }
    top_target *list = realloc(targets->list, (targets->count + 1) * sizeof *list);
    if (!list) {
        return;
    }
    targets->list = list;
    int fd = pidfd_open((pid_t)process_id, 0);
    if (fd >= 0) {
        targets->list[targets->count++] = (top_target){.process_id = process_id, .fd = fd};
    }
}

bool
top_targets_choose(const top_view *view, top_targets *targets, char *why, size_t why_bytes)
{
    bool any_tagged = json_object_size(view->tagged) > 0;
    uint32_t seen = 0;
    *targets = (top_targets){.count = 0};
    for (size_t i = 0; i < json_array_size(view->rows); i++) {
        const json_t *row = json_array_get(view->rows, i);
        if (any_tagged ? top_view_is_tagged(view, row) : i == view->line) {
            seen = process_of(row) ? process_of(row) : seen;
            target_add(targets, process_of(row));
        }
    }
    if (targets->count > 0) {
        return true;
    }
    if (seen) {
        (void)snprintf(why, why_bytes, "process %u: %s", (unsigned)seen, strerror(errno));
    } else {
        (void)snprintf(why, why_bytes, "no process that can be seen from here is in %s",
                       any_tagged ? "what is tagged" : "this line");
    }
    top_targets_drop(targets);
    return false;
}

static bool
is_there(const json_t *document, uint32_t process_id)
{
    json_t *nodes = top_table_rows(document, TOP_NODES);
    bool found = false;
    for (size_t i = 0; i < json_array_size(nodes) && !found; i++) {
        found = process_of(json_array_get(nodes, i)) == process_id;
    }
    json_decref(nodes);
    return found;
}

size_t
top_targets_check(top_targets *targets, const json_t *document)
{
    size_t kept = 0;
    for (size_t i = 0; i < targets->count; i++) {
        if (is_there(document, targets->list[i].process_id)) {
            targets->list[kept++] = targets->list[i];
        } else {
            (void)close(targets->list[i].fd);
        }
    }
    targets->count = kept;
    return kept;
}

void
top_targets_tell(const top_targets *targets, char *text, size_t text_bytes)
{
    if (targets->count == 1) {
        (void)snprintf(text, text_bytes, "process %u", (unsigned)targets->list[0].process_id);
    } else {
        (void)snprintf(text, text_bytes, "%s", output_count_text(targets->count, "processes"));
    }
}

void
top_targets_drop(top_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        (void)close(targets->list[i].fd);
    }
    free(targets->list);
    *targets = (top_targets){.count = 0};
}

/* ---- What ------------------------------------------------------------------------------------ */

void
top_targets_signal(const top_targets *targets, int signal, char *said, size_t said_bytes)
{
    char whom[OUTPUT_CELL_BYTES];
    top_targets_tell(targets, whom, sizeof whom);
    (void)snprintf(said, said_bytes, "SIG%s sent to %s", sigabbrev_np(signal), whom);
    for (size_t i = 0; i < targets->count; i++) {
        if (pidfd_send_signal(targets->list[i].fd, signal, NULL, 0) != 0) {
            (void)snprintf(said, said_bytes, "SIG%s to process %u: %s", sigabbrev_np(signal),
                           (unsigned)targets->list[i].process_id, strerror(errno));
        }
    }
}
