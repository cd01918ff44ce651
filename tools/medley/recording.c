/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Others write the trace while it is read, and may have scribbled on it (base/trace.h says what is
 * promised): so no lane is read further than it reaches around, and what a record names is checked.
 */
#include "tools/medley/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mrapi/view.h"

/* At the end, with who is at a record: a system that is very busy lets nobody wait for longer. */
#define PATIENCE_NS UINT64_C(4000000000)

/* ---- Nodes ----------------------------------------------------------------------------------- */

const recording_node *
recording_node_of(const recording *r, uint32_t ref)
{
    for (size_t i = r->node_count; ref && i-- > 0;) {
        if (r->nodes[i].ref == ref) {
            return &r->nodes[i];
        }
    }
    return NULL;
}

/* The number may come again: then the last one is it. NULL: none. */
static recording_program *
program_of(const recording *r, uint32_t process_id)
{
    for (size_t i = r->program_count; i-- > 0;) {
        if (r->programs[i].process_id == process_id) {
            return &r->programs[i];
        }
    }
    return NULL;
}

static recording_program *
program_add(recording *r, uint32_t process_id, bool is_given)
{
    recording_program *programs = realloc(r->programs, (r->program_count + 1) * sizeof *programs);
    if (!programs) {
        return NULL;
    }
    r->programs = programs;
    recording_program *program = &programs[r->program_count++];
    *program = (recording_program){.process_id = process_id, .is_given = is_given};
    return program;
}

bool
recording_name(recording *r, uint32_t process_id, const char *name)
{
    recording_program *program = program_add(r, process_id, true);
    if (program) {
        (void)snprintf(program->name, sizeof program->name, "%s", name);
    }
    return program != NULL;
}

/* The trace tells its name, piece by piece; who joins anew tells it again. */
static bool
program_note(recording *r, const med_trace_record *record)
{
    char letters[RECORDING_LETTERS_BYTES];
    uint32_t process_id = MED_TRACED_MORE_OF(record->event);
    recording_program *program = program_of(r, process_id);
    program = program ? program : program_add(r, process_id, false);
    recording_letters(record, letters);
    letters[RECORDING_PROGRAM_LETTERS] = '\0';
    if (program && !program->is_given && strlen(program->name) <= RECORDING_PROGRAM_LETTERS &&
        strncmp(program->name, letters, strlen(letters)) != 0) {
        size_t length = strlen(program->name);
        (void)snprintf(program->name + length, sizeof program->name - length, "%s", letters);
    }
    return program != NULL;
}

/* Of a process whose name the trace does not have any more. */
static void
program_ask(uint32_t process_id, char program[RECORDING_PROGRAM_BYTES])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/comm", process_id);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fgets(program, RECORDING_PROGRAM_BYTES, file)) {
            program[strcspn(program, "\n")] = '\0';
        }
        (void)fclose(file);
    }
}

static void
programs_deal(recording *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        const recording_program *program = program_of(r, r->nodes[i].process_id);
        if (program && program->name[0]) {
            memcpy(r->nodes[i].program, program->name, sizeof program->name);
        }
    }
}

static bool
node_add(recording *r, const recording_node *node)
{
    if (node->ref == 0 || recording_node_of(r, node->ref)) {
        return true;
    }
    recording_node *nodes = realloc(r->nodes, (r->node_count + 1) * sizeof *nodes);
    if (!nodes) {
        return false;
    }
    r->nodes = nodes;
    r->nodes[r->node_count] = *node;
    if (node->process_id) {
        program_ask(node->process_id, r->nodes[r->node_count].program);
    }
    r->node_count++;
    return true;
}

/* Those that are there: of who came before the trace begins too. */
static bool
nodes_look(recording *r)
{
    for (uint32_t i = 0; i < r->system->limits.nodes; i++) {
        recording_node node = {.ref = 0};
        med_view_node view;
        if (med_view_node_name(r->system, i, &node.ref, &node.domain, &node.number) &&
            med_view_node_read(r->system, i, &view)) {
            node.process_id = view.process_id;
            if (!node_add(r, &node)) {
                return false;
            }
            recording_node *known = (recording_node *)recording_node_of(r, node.ref);
            (void)snprintf(known->name, sizeof known->name, "%s", view.name);
        }
    }
    return true;
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool
room_make(recording *r)
{
    if (r->count < r->room) {
        return true;
    }
    size_t room = r->room ? 2 * r->room : 4096;
    med_trace_record *rows = realloc(r->rows, room * sizeof *rows);
    if (rows) {
        r->rows = rows;
        r->room = room;
    }
    return rows != NULL;
}

/* As they are; with what is beyond their end zeroed. */
static void
letters_copy(const med_trace_record *record, char letters[RECORDING_LETTERS_BYTES])
{
    const uint32_t words[] = {record->words[0], record->words[1],
                              MED_TRACED_MORE_OF(record->event)};
    for (uint32_t i = 0; i < MED_TRACED_LETTERS; i++) {
        letters[i] = (char)(words[i / 4] >> 8 * (i % 4) & 0xffu);
    }
    letters[MED_TRACED_LETTERS] = '\0';
}

void
recording_letters(const med_trace_record *record, char letters[RECORDING_LETTERS_BYTES])
{
    letters_copy(record, letters);
    for (char *at = letters; *at; at++) {
        if (*at < ' ' || *at > '~') {
            *at = '?';
        }
    }
}

/* ---- Places ---------------------------------------------------------------------------------- */

static uint64_t
both_words(const med_trace_record *record)
{
    return (uint64_t)record->words[1] << 32 | record->words[0];
}

static bool
path_begin(recording_node *node, const med_trace_record *record)
{
    uint32_t bytes = MED_TRACED_MORE_OF(record->event);
    node->path_bytes = 0;
    if (bytes == 0 || bytes >= RECORDING_PATH_BYTES) {
        return true; /* scribbled */
    }
    free(node->path);
    node->path = calloc(1, bytes + MED_TRACED_LETTERS + 1);
    node->inside = both_words(record);
    node->path_bytes = node->path ? bytes : 0;
    return node->path != NULL;
}

/* One more piece; the last one makes it a place. */
static bool
path_go_on(recording *r, recording_node *node, const med_trace_record *record)
{
    size_t length = node->path_bytes ? strlen(node->path) : 0;
    if (node->path_bytes == 0) {
        return true; /* its beginning was lost */
    }
    letters_copy(record, node->path + length);
    if (strlen(node->path) < node->path_bytes && strlen(node->path) > length) {
        return true;
    }
    node->path_bytes = 0;
    return places_add(&r->places, node->process_id, node->place, node->path, node->inside);
}

/* ---- What is noted --------------------------------------------------------------------------- */

/* Who a node is, and what a place is. */
static bool
details_note(recording *r, const med_trace_record *record)
{
    uint32_t event = MED_TRACED_EVENT_OF(record->event);
    recording_node *node = (recording_node *)recording_node_of(r, record->node);
    if (event == MED_TRACED_NODE_COMES) {
        const recording_node comes = {.ref = record->node,
                                      .domain = record->words[0],
                                      .number = record->words[1],
                                      .process_id = MED_TRACED_MORE_OF(record->event)};
        return node_add(r, &comes);
    }
    if (event == MED_TRACED_PROGRAM) {
        return program_note(r, record);
    }
    if (node && event == MED_TRACED_NODE_NAMED) {
        recording_letters(record, node->name);
    } else if (node && event == MED_TRACED_PLACE) {
        node->place = both_words(record);
    } else if (node && event == MED_TRACED_PLACE_INSIDE) {
        return path_begin(node, record);
    } else if (node && event == MED_TRACED_PLACE_PATH) {
        return path_go_on(r, node, record);
    }
    return true;
}

static bool
row_add(recording *r, const med_trace_record *record)
{
    if (r->count == r->most) {
        r->lost++;
        return true;
    }
    if (!room_make(r)) {
        return false;
    }
    r->rows[r->count++] = *record;
    return details_note(r, record);
}

/* A half-written one is its writer's to finish, whom the system may have stopped, as long as there
 * is room behind it. Then he has died, or given it up, or would have all others' overwritten. */
static bool
is_given_up(const recording *r, const med_trace_cursor *cursor)
{
    return med_trace_begun(&r->system->trace, cursor) > r->system->trace.record_mask / 2;
}

static bool
lane_look(recording *r, med_trace_cursor *cursor, bool is_last)
{
    med_trace_record record;
    for (uint32_t i = 0; i <= r->system->trace.record_mask; i++) {
        medley_status_t status = med_trace_read(&r->system->trace, cursor, &record);
        if (status == MEDLEY_OK) {
            if (!row_add(r, &record)) {
                return false;
            }
        } else if (status == MEDLEY_EMPTY || !(is_last || is_given_up(r, cursor))) {
            return true;
        } else {
            med_trace_skip(cursor);
        }
    }
    return true;
}

/* ---- Its end --------------------------------------------------------------------------------- */

/* Of who writes to that lane. */
static bool
somebody_lives(const recording *r, uint32_t lane)
{
    for (size_t i = 0; i < r->node_count; i++) {
        if ((r->nodes[i].ref & r->system->trace.lane_mask) == lane &&
            med_node_alive(r->system, r->nodes[i].ref)) {
            return true;
        }
    }
    return false;
}

/* What was begun before the end, until it is whole. */
static void
lane_end(recording *r, med_trace_cursor *cursor)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    uint64_t until_ns = med_port_clock_ns() + PATIENCE_NS;
    uint32_t end = cursor->next + 2 * med_trace_begun(&r->system->trace, cursor);
    while (lane_look(r, cursor, false) && (int32_t)(cursor->next - end) < 0 &&
           somebody_lives(r, cursor->lane) && med_port_clock_ns() < until_ns) {
        (void)nanosleep(&pause, NULL);
    }
    (void)lane_look(r, cursor, true);
}

/* ---- The recording --------------------------------------------------------------------------- */

bool
recording_begin(recording *r, const med_system *system, size_t most)
{
    *r = (recording){.system = system, .most = most};
    for (uint32_t lane = 0; lane <= system->trace.lane_mask; lane++) {
        (void)med_trace_rewind(&system->trace, lane, &r->cursors[lane]);
    }
    return nodes_look(r);
}

bool
recording_look(recording *r)
{
    for (uint32_t lane = 0; lane <= r->system->trace.lane_mask; lane++) {
        if (!lane_look(r, &r->cursors[lane], false)) {
            return false;
        }
    }
    return nodes_look(r);
}

static int
by_time(const void *a, const void *b)
{
    uint64_t first = ((const med_trace_record *)a)->time_ns;
    uint64_t second = ((const med_trace_record *)b)->time_ns;
    return first < second ? -1 : first > second;
}

void
recording_end(recording *r)
{
    for (uint32_t lane = 0; lane <= r->system->trace.lane_mask; lane++) {
        med_trace_cursor *cursor = &r->cursors[lane];
        lane_end(r, cursor);
        r->lost += cursor->overwritten + cursor->skipped;
    }
    (void)nodes_look(r);
    programs_deal(r);
    qsort(r->rows, r->count, sizeof *r->rows, by_time);
}

void
recording_forget(recording *r)
{
    places_forget(&r->places);
    for (size_t i = 0; i < r->node_count; i++) {
        free(r->nodes[i].path);
    }
    free(r->nodes);
    free(r->programs);
    free(r->rows);
    *r = (recording){.system = NULL};
}
