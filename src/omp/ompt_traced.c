/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tool that Medley brings: it tells a system's trace (mrapi/traced.h) which member was in which
 * region, task or wait. It is there where the process was asked into a named system and for a trace
 * (MEDLEY_SYSTEM, MEDLEY_TRACE), and no other tool wants to be active; it is told as any other, so
 * without it a program pays nothing.
 *
 * The process is in the system from then on, as long as it lives. Whose node a thread is stands in
 * the thread's data, and of which life of the process, since a child of fork has none of its
 * parent's nodes and has to join anew. A region's, and a task's, data are where the program met it.
 *
 * A lock is asked for far more often than it is waited for, so its wait is told when it is over and
 * was worth a word.
 */
#include <string.h>

#include "mrapi/node.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"
#include "omp/ompt_inner.h"
#include "port/port.h"

#define LOCK_WAIT_LEAST_NS 1000u
#define NS_A_US 1000u

#define PLACES 256u /* a power of two; of more, the addresses are told and nothing else */

static med_system *named;
static atomic_word places[PLACES]; /* that were told of, in that life */
static atomic32 joined;            /* in that life of the process; +1 */

/* ---- Who it is that does something ----------------------------------------------------------- */

static uint32_t
life_now(void)
{
    return med_port_process_life() + 1;
}

static bool
is_joined(void)
{
    return atomic32_load_acquire(&joined) == life_now(); /* A1 in the system <- R1 (join) */
}

/* False: there is no such system any more, or it keeps no trace. */
static bool
join(void)
{
    if (med_system_attach_default(&named) != MEDLEY_OK) {
        return false;
    }
    if (!med_traced_is_on(named)) {
        med_system_release(named);
        return false;
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        atomic_word_store_relaxed(&places[i], 0); /* relaxed: as in is_new */
    }
    atomic32_store_release(&joined, life_now()); /* R1 in the system -> A1 (is_joined) */
    return true;
}

/* A child of fork, when it begins to have teams. One of its threads does it, or finds that it
 * cannot be. */
static void
join_anew(void)
{
    static atomic32 tried;                           /* in that life */
    uint32_t before = atomic32_load_relaxed(&tried); /* relaxed: the swap decides */
    /* Relaxed: who loses finds the process joined later, or not. */
    if (!is_joined() && before != life_now() && atomic32_cas_relaxed(&tried, &before, life_now())) {
        (void)join();
    }
}

/* A thread's data: the life, and its node in that; nothing where it has none. */
static void
know_thread(ompt_data_t *thread)
{
    join_anew();
    thread->value = is_joined() ? (uint64_t)life_now() << 32 | med_node_ref_here(named) : 0;
}

/* 0: a thread that is no node, or not of this life. */
static uint32_t
node_of(const ompt_data_t *thread)
{
    return thread && thread->value >> 32 == life_now() ? (uint32_t)thread->value : 0;
}

static void
tell(med_traced_event event, uint32_t more, uint64_t says)
{
    uint32_t node_ref = node_of(med_ompt_get_thread_data());
    if (node_ref) {
        med_traced_more(named, node_ref, event, more, (uint32_t)says, (uint32_t)(says >> 32));
    }
}

/* ---- Where it does it ------------------------------------------------------------------------ */

#define PLACE_LOOKS 8u

static bool
is_new(uintptr_t address)
{
    for (uint32_t i = 0; i < PLACE_LOOKS; i++) {
        atomic_word *one = &places[((address >> 2) + i) & (PLACES - 1)];
        /* Relaxed, both: whoever swaps it in tells of it. */
        uintptr_t seen = atomic_word_load_relaxed(one);
        if (seen == address) {
            return false;
        }
        if (seen == 0 && atomic_word_cas_relaxed(one, &seen, address)) {
            return true;
        }
    }
    return false;
}

/* The trace may outlive the process: it says what lies there. */
static void
tell_place(uint32_t node_ref, uintptr_t address)
{
    char path[MED_PORT_PATH_BYTES];
    uint64_t inside;
    if (!is_new(address) ||
        !med_port_object_of((const void *)address, path, sizeof path, &inside)) {
        return;
    }
    uint32_t length = (uint32_t)strlen(path);
    med_traced_more(named, node_ref, MED_TRACED_PLACE, 0, (uint32_t)address,
                    (uint32_t)((uint64_t)address >> 32));
    med_traced_more(named, node_ref, MED_TRACED_PLACE_INSIDE, length, (uint32_t)inside,
                    (uint32_t)(inside >> 32));
    for (uint32_t at = 0; at < length; at += MED_TRACED_LETTERS) {
        med_traced_letters(named, node_ref, MED_TRACED_PLACE_PATH, path + at);
    }
}

/* A region or a task was met there. */
static void
tell_met(med_traced_event event, uint32_t more, uint64_t address)
{
    uint32_t node_ref = node_of(med_ompt_get_thread_data());
    if (node_ref && address) {
        tell_place(node_ref, (uintptr_t)address);
    }
    tell(event, more, address);
}

/* ---- Regions --------------------------------------------------------------------------------- */

static void
on_thread_begin(ompt_thread_t type, ompt_data_t *thread)
{
    (void)type;
    know_thread(thread);
}

static void
on_parallel_begin(ompt_data_t *task,
                  const ompt_frame_t *frame,
                  ompt_data_t *region,
                  unsigned threads,
                  int flags,
                  const void *from)
{
    (void)task;
    (void)frame;
    (void)threads;
    (void)flags;
    region->ptr = (void *)(uintptr_t)from;
}

/* An initial task, which is around the whole program, is none to be told of. */
static void
on_implicit_task(ompt_scope_endpoint_t endpoint,
                 ompt_data_t *region,
                 ompt_data_t *task,
                 unsigned threads,
                 unsigned number,
                 int flags)
{
    ompt_data_t *thread = med_ompt_get_thread_data();
    (void)threads;
    if (!(flags & ompt_task_implicit)) {
        return;
    }
    if (endpoint == ompt_scope_begin) {
        if (thread && node_of(thread) == 0) { /* who leads becomes a node with his first team */
            know_thread(thread);
        }
        task->value = region ? region->value : 0;
        tell_met(MED_TRACED_MEMBER, number, task->value);
    } else {
        tell(MED_TRACED_MEMBER_ENDS, number, task->value);
    }
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void
on_task_create(ompt_data_t *outer,
               const ompt_frame_t *frame,
               ompt_data_t *task,
               int flags,
               int depends,
               const void *from)
{
    (void)outer;
    (void)frame;
    (void)depends;
    if (flags & ompt_task_explicit) {
        task->ptr = (void *)(uintptr_t)from;
    }
}

static bool
is_over(ompt_task_status_t status)
{
    return status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
}

/* A task begins within another one, and ends before that goes on. */
static void
on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    if (is_over(status)) {
        tell(MED_TRACED_TASK_ENDS, 0, prior->value);
    } else if (next) {
        tell_met(MED_TRACED_TASK, 0, next->value);
    }
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void
on_wait(ompt_sync_region_t kind,
        ompt_scope_endpoint_t endpoint,
        ompt_data_t *region,
        ompt_data_t *task,
        const void *from)
{
    bool is_of_tasks = kind == ompt_sync_region_taskwait || kind == ompt_sync_region_taskgroup;
    const med_traced_wait what = is_of_tasks ? MED_TRACED_WAIT_TASKS : MED_TRACED_WAIT_BARRIER;
    (void)region;
    (void)task;
    (void)from;
    tell(endpoint == ompt_scope_begin ? MED_TRACED_WAITS : MED_TRACED_WAITED, 0, what);
}

/* A thread asks for one at a time. */
static void
on_acquire(
    ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait_id, const void *from)
{
    const med_member *member = med_port_member_get();
    (void)kind;
    (void)hint;
    (void)impl;
    (void)wait_id;
    (void)from;
    if (member && member->ompt) {
        member->ompt->asked_ns = med_port_clock_ns();
    }
}

static void
on_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *from)
{
    const med_member *member = med_port_member_get();
    (void)kind;
    (void)wait_id;
    (void)from;
    if (member && member->ompt) {
        uint64_t waited_ns = med_port_clock_ns() - member->ompt->asked_ns;
        if (waited_ns >= LOCK_WAIT_LEAST_NS) {
            tell(MED_TRACED_HAS_WAITED, 0, waited_ns / NS_A_US << 32 | MED_TRACED_WAIT_LOCK);
        }
    }
}

/* ---- Life ------------------------------------------------------------------------------------ */

static int
begin(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)device;
    (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    static const struct {
        ompt_callbacks_t event;
        ompt_callback_t callback;
    } wanted[] = {
        {ompt_callback_thread_begin, (ompt_callback_t)on_thread_begin},
        {ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin},
        {ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task},
        {ompt_callback_task_create, (ompt_callback_t)on_task_create},
        {ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule},
        {ompt_callback_sync_region_wait, (ompt_callback_t)on_wait},
        {ompt_callback_mutex_acquire, (ompt_callback_t)on_acquire},
        {ompt_callback_mutex_acquired, (ompt_callback_t)on_acquired},
    };
    if (!join()) {
        return 0;
    }
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        (void)set(wanted[i].event, wanted[i].callback);
    }
    return 1;
}

static void
finish(ompt_data_t *data)
{
    (void)data;
    if (is_joined()) {
        med_node_lend_end(); /* the program ends in order: its node goes, and is not found dead */
        med_system_release(named);
    }
}

ompt_start_tool_result_t *
med_ompt_traced_tool(void)
{
    static ompt_start_tool_result_t tool = {.initialize = begin, .finalize = finish};
    bool is_asked_for =
        med_port_has_processes() && med_traced_wanted() && med_system_is_asked_for();
    return is_asked_for ? &tool : NULL;
}
