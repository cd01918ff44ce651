/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The threads of teams: each has a name, its place in the team, behind that of the team's leader
 * where regions stand in one another: omp.3, and omp.3.1 of the team that this one leads.
 *
 * In a process of which somebody asked that it be in a named system they are nodes there, those of
 * the program that lead as well: `medley ps` shows them under these names, and their ends, fork and
 * death are what they are of any node (mrapi/node_runtime.c). Else they are threads and nothing
 * more. A leader asks that when it makes a team; where its own node is refused its threads try
 * nothing. Who finds the table of nodes full works all the same.
 */
#include "omp/crew.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "mrapi/heap_lent.h"
#include "mrapi/node.h"
#include "omp/apart.h"
#include "omp/bind.h"
#include "omp/gate.h"
#include "omp/once.h"
#include "omp/team_keep.h"
#include "port/port.h"

static atomic32 owners;

void
med_crew_begin(void (*thread_ends)(void *member))
{
    static med_once once;
    if (med_once_begin(&once)) {
        (void)med_port_member_on_exit(thread_ends);
        med_once_end(&once);
    }
}

uint32_t
med_crew_owner(void)
{
    /* Relaxed: only to be different. After 2^30 members numbers come again. */
    return atomic32_fetch_add_relaxed(&owners, 1) % (MED_LOCK_OWNER_MASK - 1) + 1;
}

/* ---- Started --------------------------------------------------------------------------------- */

/* Its number, behind those of whom it is led by. */
static void
path_write(const med_member *member, med_text *text)
{
    const med_member *leader = member->team->leader;
    if (leader && leader->team->leader) {
        path_write(leader, text);
    }
    med_text_string(text, ".");
    med_text_number(text, member->number);
}

static med_text
name_of(const med_member *member)
{
    med_text text = {.length = 0};
    med_text_string(&text, "omp");
    path_write(member, &text);
    return text;
}

bool
med_crew_show(const med_member *member)
{
    static atomic32 limit_said;
    static atomic32 is_no_name; /* of a system; that was said */
    const med_text name = name_of(member);
    if (atomic32_load_relaxed(&is_no_name)) { /* relaxed: it only saves saying it again */
        return false;
    }
    medley_status_t status = med_node_lend(name.bytes, true);
    if (status == MEDLEY_ERR_ARGUMENT) {
        atomic32_store_relaxed(&is_no_name, 1); /* relaxed: as above */
    }
    /* Relaxed: one of those who come at once says it, and tries once more to do so. */
    if (status == MEDLEY_ERR_LIMIT && atomic32_fetch_or_relaxed(&limit_said, 1) == 0) {
        status = med_node_lend(name.bytes, false);
    }
    return status == MEDLEY_OK;
}

void
med_crew_hide(void)
{
    med_node_lend_end();
}

static void *
serve(void *argument)
{
    med_member *member = argument;
    if (member->bound) {
        med_heap_lent_move(member);
    } else {
        med_apart_begin(member);
    }
    bool is_shown = member->team->is_shown;
    med_port_thread_name(name_of(member).bytes);
    if (is_shown) {
        (void)med_crew_show(member);
    }
    med_gate_serve(member);
    if (is_shown) {
        med_crew_hide();
    }
    return NULL;
}

static atomic32 started; /* and not ended; in a child of fork a parent's may be among them */

uint32_t
med_crew_count(void)
{
    return atomic32_load_relaxed(&started); /* relaxed: a number, of a moment ago */
}

static atomic_word stack_bytes; /* set by the program; 0: it has not been */

size_t
med_crew_stack_bytes(void)
{
    uintptr_t bytes = atomic_word_load_relaxed(&stack_bytes); /* relaxed: a number, for the next */
    return bytes ? bytes : (size_t)med_settings_get()->stack_size_bytes;
}

void
med_crew_stack_set(size_t size_bytes)
{
    atomic_word_store_relaxed(&stack_bytes, size_bytes); /* relaxed: as above */
}

static size_t
folder_length(const char *path)
{
    size_t length = 0;
    for (size_t i = 0; path[i]; i++) {
        length = path[i] == '/' ? i : length;
    }
    return length;
}

/* In our folder there is what programs are linked with, which has no lines. */
static bool
is_of_our_folder(const char *path, const void *own)
{
    char here[MED_PORT_PATH_BYTES];
    uint64_t inside;
    size_t length = folder_length(path);
    return med_port_object_of(own, here, sizeof here, &inside) && folder_length(here) == length &&
           memcmp(here, path, length) == 0;
}

/* Another runtime starts as many threads again, which know nothing of ours. Looked for whenever a
 * team gets its first thread, since libraries come at any time; said once of each name. */
static void
report_second_runtime(void)
{
    static const char *const names[] = {"libgomp", "libomp", "libiomp5"};
    static atomic32 said; /* bit i: of that name */
    char path[MED_PORT_PATH_BYTES];
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        /* Relaxed: one of those who come at once says it. */
        if (med_port_object_beside(names[i], &said, path, sizeof path) &&
            !is_of_our_folder(path, &said) &&
            !(atomic32_fetch_or_relaxed(&said, 1u << i) & 1u << i)) {
            med_text text = {.length = 0};
            med_text_string(&text,
                            "OpenMP: there is a second runtime in this process, whose threads "
                            "contend with this one's: ");
            med_text_string(&text, path);
            med_log(MED_LOG_ERROR, &text);
        }
    }
}

static medley_status_t
start(med_member *member, const med_processor_set *processors)
{
    const med_port_thread_attributes attributes = {.stack_size_bytes = med_crew_stack_bytes(),
                                                   .processors = processors};
    bool is_default = attributes.stack_size_bytes == 0 && !processors;
    return med_port_thread_start(&member->thread, is_default ? NULL : &attributes, serve, member);
}

/* What the thread touches first, its stack, lies next to its place, if it has one. */
static medley_status_t
start_at_place(med_member *member)
{
    const med_processor_set *place = med_bind_processors(member);
    member->bound = place ? member->placement.place + 1 : 0;
    return start(member, place);
}

/* Where it may be the size of a stack that somebody asked for, which one that is. */
static void
report_refusal(uint32_t threads, medley_status_t status)
{
    med_text text = {.length = 0};
    const char *why = med_port_thread_refusal(status);
    size_t asked_bytes = med_crew_stack_bytes();
    if (status == MEDLEY_ERR_ARGUMENT && asked_bytes) {
        med_text_string(&text, "a stack of ");
        med_text_number(&text, asked_bytes);
        med_text_string(&text, " bytes does not hold what a thread begins with (its thread-local "
                               "variables, say); ask for a larger one");
        why = text.bytes;
    }
    med_team_report_fewer(threads, why ? why : "the system starts no more");
}

bool
med_crew_start(med_member *member)
{
    if (member->number == 1) {
        report_second_runtime();
    }
    member->started_on = med_port_processor_here();
    medley_status_t status = start_at_place(member);
    if (status != MEDLEY_OK && member->bound) { /* nor need it begin there */
        member->bound = 0;
        status = start(member, NULL);
    }
    member->thread_of_team = status == MEDLEY_OK;
    if (status != MEDLEY_OK) {
        report_refusal(member->number, status);
        return false;
    }
    atomic32_fetch_add_relaxed(&started, 1); /* relaxed: a number */
    return true;
}

/* ---- Ended ----------------------------------------------------------------------------------- */

void
med_crew_end(med_team *team)
{
    if (team->process_life != med_port_process_life()) {
        return;
    }
    med_gate_open_for_the_end(team);
    for (uint32_t i = 1; i < team->ready; i++) {
        (void)med_port_thread_join(team->members[i]->thread, NULL);
    }
    atomic32_fetch_add_relaxed(&started, 1 - team->ready); /* relaxed: a number */
}

void
med_crew_forget(med_team *team)
{
    atomic32_fetch_add_relaxed(&started, 1 - team->ready); /* relaxed: a number */
    med_team_destroy(team);
}
