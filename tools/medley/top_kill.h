/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Signals from `top`, to the very processes that were on the screen. */
#ifndef MEDLEY_TOOLS_TOP_KILL_H
#define MEDLEY_TOOLS_TOP_KILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "tools/medley/top_view.h"

typedef struct top_target {
    uint32_t process_id;
    int fd; /* of the process: its number may become another's */
} top_target;

/* Zeroed: none. */
typedef struct top_targets {
    top_target *list;
    size_t count;
} top_targets;

/* The processes of the rows that are tagged, or else of the selected one, each once. False: there
 * are none, and `why` (so large) says why. */
bool top_targets_choose(const top_view *view, top_targets *targets, char *why, size_t why_bytes);
/* Leaves out those that no node of the document is of: a number that was another's when the
 * process was found by it. How many are left. */
size_t top_targets_check(top_targets *targets, const json_t *document);
/* "process 1234", "3 processes". */
void top_targets_tell(const top_targets *targets, char *text, size_t text_bytes);
/* `said` becomes what came of it. */
void top_targets_signal(const top_targets *targets, int signal, char *said, size_t said_bytes);
void top_targets_drop(top_targets *targets);

/* The signals that are offered, and which one first. */
extern const int top_signals[];
extern const size_t top_signal_count;
size_t top_signal_first(void);

#endif
