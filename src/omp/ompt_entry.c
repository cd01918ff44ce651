/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entry points by which a tool says what it wants to be told; and how it finds those, and what
 * it may ask (ompt_inquiry.c), by name. */
#include <string.h>

#include "omp/ompt_inner.h"

atomic_word med_ompt_callbacks[MED_OMPT_CALLBACKS];

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* How often an event is told. Of targets and devices there are none: the host is no device. */
static ompt_set_result_t
told(ompt_callbacks_t event)
{
    switch (event) {
    case ompt_callback_thread_begin:
    case ompt_callback_thread_end:
    case ompt_callback_parallel_begin:
    case ompt_callback_parallel_end:
    case ompt_callback_task_create:
    case ompt_callback_task_schedule:
    case ompt_callback_implicit_task:
    case ompt_callback_control_tool:
    case ompt_callback_sync_region_wait:
    case ompt_callback_sync_region:
    case ompt_callback_dependences:
    case ompt_callback_task_dependence:
    case ompt_callback_lock_init:
    case ompt_callback_lock_destroy:
    case ompt_callback_nest_lock:
    case ompt_callback_cancel:
    case ompt_callback_error:
        return ompt_set_always;
    case ompt_callback_mutex_acquire: /* these: not where the compiler sees to it by itself */
    case ompt_callback_mutex_acquired:
    case ompt_callback_mutex_released:
    case ompt_callback_work:
    case ompt_callback_masked:
    case ompt_callback_flush:
    case ompt_callback_reduction:
    case ompt_callback_dispatch:
        return ompt_set_sometimes;
    default:
        return ompt_set_never;
    }
}

static bool
is_event(ompt_callbacks_t event)
{
    return event > 0 && (unsigned)event < MED_OMPT_CALLBACKS;
}

static ompt_set_result_t
set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
    if (!is_event(event)) {
        return ompt_set_error;
    }
    ompt_set_result_t result = told(event);
    if (result != ompt_set_never) {
        /* Relaxed: as in med_ompt_callback. */
        atomic_word_store_relaxed(&med_ompt_callbacks[event], (uintptr_t)callback);
    }
    return result;
}

static int
get_callback(ompt_callbacks_t event, ompt_callback_t *callback)
{
    ompt_callback_t found = is_event(event) ? med_ompt_callback(event) : NULL;
    if (found) {
        *callback = found;
    }
    return found != NULL;
}

void
med_ompt_callbacks_clear(void)
{
    for (uint32_t event = 0; event < MED_OMPT_CALLBACKS; event++) {
        atomic_word_store_relaxed(&med_ompt_callbacks[event], 0); /* relaxed: as above */
    }
}

/* ---- What there is --------------------------------------------------------------------------- */

typedef struct named {
    int number;
    const char *name;
} named;

#define NAMED(name)                                                                                \
    {                                                                                              \
        name, #name                                                                                \
    }
static const named states[] = {NAMED(ompt_state_undefined),
                               NAMED(ompt_state_work_serial),
                               NAMED(ompt_state_work_parallel),
                               NAMED(ompt_state_work_reduction),
                               NAMED(ompt_state_wait_barrier_implicit_parallel),
                               NAMED(ompt_state_wait_barrier_implicit_workshare),
                               NAMED(ompt_state_wait_barrier_explicit),
                               NAMED(ompt_state_wait_barrier_implementation),
                               NAMED(ompt_state_wait_taskwait),
                               NAMED(ompt_state_wait_taskgroup),
                               NAMED(ompt_state_wait_lock),
                               NAMED(ompt_state_wait_critical),
                               NAMED(ompt_state_wait_atomic),
                               NAMED(ompt_state_wait_ordered),
                               NAMED(ompt_state_idle),
                               NAMED(ompt_state_overhead)};
static const named impls[MED_OMPT_IMPL_COUNT] = {
    {MED_OMPT_IMPL_NONE, "none"},
    {MED_OMPT_IMPL_LOCK, "lock: spins, then sleeps"},
    {MED_OMPT_IMPL_TURN, "turn: in the order of iterations"}};

/* What stands behind `current` in a list. */
static int
enumerate(const named *list, size_t count, int current, int *next_number, const char **next_name)
{
    for (size_t i = 0; i + 1 < count; i++) {
        if (list[i].number == current) {
            *next_number = list[i + 1].number;
            *next_name = list[i + 1].name;
            return 1;
        }
    }
    return 0;
}

static int
enumerate_states(int current, int *next, const char **name)
{
    return enumerate(states, sizeof states / sizeof states[0], current, next, name);
}

static int
enumerate_mutex_impls(int current, int *next, const char **name)
{
    return enumerate(impls, MED_OMPT_IMPL_COUNT, current, next, name);
}

/* ---- By name --------------------------------------------------------------------------------- */

typedef struct entry {
    const char *name;
    ompt_interface_fn_t function;
} entry;

/* The types' names are those of the functions. */
#define ENTRY(name, function)                                                                      \
    {                                                                                              \
#name, (ompt_interface_fn_t)(name##_t)(function)                                           \
    }
#define ASKED(name)                                                                                \
    {                                                                                              \
        "ompt_" #name, (ompt_interface_fn_t)(ompt_##name##_t)med_ompt_##name                       \
    }

ompt_interface_fn_t
med_ompt_lookup(const char *name)
{
    static const entry entries[] = {ENTRY(ompt_set_callback, set_callback),
                                    ENTRY(ompt_get_callback, get_callback),
                                    ENTRY(ompt_enumerate_states, enumerate_states),
                                    ENTRY(ompt_enumerate_mutex_impls, enumerate_mutex_impls),
                                    ENTRY(ompt_finalize_tool, med_ompt_end),
                                    ASKED(get_thread_data),
                                    ASKED(get_state),
                                    ASKED(get_parallel_info),
                                    ASKED(get_task_info),
                                    ASKED(get_task_memory),
                                    ASKED(get_target_info),
                                    ASKED(get_num_devices),
                                    ASKED(get_unique_id),
                                    ASKED(get_num_procs),
                                    ASKED(get_num_places),
                                    ASKED(get_place_proc_ids),
                                    ASKED(get_place_num),
                                    ASKED(get_partition_place_nums),
                                    ASKED(get_proc_id)};
    for (size_t i = 0; name && i < sizeof entries / sizeof entries[0]; i++) {
        if (strcmp(entries[i].name, name) == 0) {
            return entries[i].function;
        }
    }
    return NULL;
}
