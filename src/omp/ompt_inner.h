/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is kept for a tool, and no other file needs. A task has a record from its first event on,
 * and so has a thread; each is its own thread's, but that a task's goes with the task. Who executes
 * a task is in the state that stands with it, and comes back to that when a task within it is over.
 *
 * What a tool asks for may be asked by a signal handler: it reads the records of its own thread, in
 * place, and what those of the tasks around it were when they went into a region.
 */
#ifndef MEDLEY_OMP_OMPT_INNER_H
#define MEDLEY_OMP_OMPT_INNER_H

#include "medley/std/omp-tools.h"
#include "omp/ompt.h"
#include "omp/team.h"

/* A parallel region, the league of a teams construct, or what is around an initial task. */
typedef struct med_ompt_region {
    ompt_data_t data;
    struct med_ompt_region *outer;
    uint32_t size;
    int flags;
} med_ompt_region;

typedef struct med_ompt_task {
    ompt_data_t data;
    ompt_frame_t frame;
    int flags;
    uint32_t number; /* of the thread that executes it, in its team */
    med_ompt_region *region;
    struct med_ompt_task *outer; /* beneath it on the stack, or who met its region; NULL: none */
    ompt_state_t state;
    ompt_wait_id_t wait_id;
    /* What the face said last: */
    const void *called_from;
    uint32_t kind;
    med_ompt_region led;   /* that it has met; one at a time */
    med_ompt_region own;   /* what is around an initial task */
    uint32_t work;         /* the construct that it is in: an ompt_work_t, */
    uint64_t work_count;   /* its iterations, */
    const void *work_from; /* and where it was met */
    bool single;           /* the thread executes a single whose end nobody has told of */
    bool ends;             /* a worker's: the end of its region is to be told */
    uint32_t over_before;  /* of its team's regions, when its own began */
    bool yields;
    bool loops;         /* it makes the tasks of a loop: its frame stays until they are made */
    atomic32 event;     /* of one that detaches: MED_OMPT_EVENT_... */
    const void *memory; /* of its data */
    size_t memory_bytes;
} med_ompt_task;

#define MED_OMPT_EVENT_ENDED 1u     /* its lines are over */
#define MED_OMPT_EVENT_FULFILLED 2u /* its event is */

typedef struct med_ompt_thread {
    ompt_data_t data;
    bool is_over;
    uint64_t asked_ns;    /* ompt_traced.c's: when it asked for a lock last */
    med_ompt_task league; /* the initial task of a league's team, while it executes one */
} med_ompt_thread;

/* ---- Records --------------------------------------------------------------------------------- */

/* Of that size, for ever; zeroed. The program ends where there is no memory. */
void *med_ompt_memory(size_t size_bytes);
/* Made if there is none yet. */
med_ompt_task *med_ompt_task_of(med_task *task);
static inline med_ompt_task *
med_ompt_current(const med_member *member)
{
    return med_ompt_task_of(member->task);
}
static inline ompt_data_t *
med_ompt_region_data(const med_ompt_task *task)
{
    return task->region ? &task->region->data : NULL;
}
/* A task begins. */
void med_ompt_task_reset(med_ompt_task *task, int flags);
/* What the face said is told: the program goes on. */
static inline void
med_ompt_back(med_ompt_task *task)
{
    task->frame.enter_frame = (ompt_data_t){.value = 0};
    task->frame.enter_frame_flags = 0;
    task->kind = MED_OMPT_PLAIN;
}
/* Also the kind that it said. */
static inline uint32_t
med_ompt_kind_take(med_ompt_task *task)
{
    uint32_t kind = task->kind;
    task->kind = MED_OMPT_PLAIN;
    return kind;
}
/* The thread waits, as long as that is told. */
typedef struct med_ompt_wait {
    med_ompt_task *task;
    ompt_state_t before;
} med_ompt_wait;
static inline med_ompt_wait
med_ompt_wait_start(med_ompt_task *task, ompt_state_t state, ompt_wait_id_t wait_id)
{
    med_ompt_wait wait = {.task = task, .before = task->state};
    task->wait_id = wait_id;
    task->state = state;
    return wait;
}
static inline void
med_ompt_wait_stop(const med_ompt_wait *wait)
{
    wait->task->state = wait->before;
    wait->task->wait_id = ompt_wait_id_none;
}
/* The task's lines are those between two calls of the one outside: its frame on the stack is its
 * caller's, and none of the runtime's is there. */
void med_ompt_lines_of_caller(med_ompt_task *outer, med_ompt_task *task);
/* What is in the program's lines. */
ompt_state_t med_ompt_state_of_work(const med_member *member);
/* The end of a single of which the compiler says nothing: at the latest here. */
void med_ompt_single_close(const med_member *member, med_ompt_task *task);

/* ---- Callbacks: ompt_entry.c ----------------------------------------------------------------- */

#define MED_OMPT_CALLBACKS 38u
extern atomic_word med_ompt_callbacks[MED_OMPT_CALLBACKS];

static inline ompt_callback_t
med_ompt_callback(ompt_callbacks_t event)
{
    /* Relaxed: a function. What it reads the tool has put there before it registered it. */
    return (ompt_callback_t)atomic_word_load_relaxed(&med_ompt_callbacks[event]);
}

/* The tool is told, if it wants to be. */
#define MED_OMPT_TELL_AS(event, type, ...)                                                         \
    do {                                                                                           \
        type callback_ = (type)med_ompt_callback(event);                                           \
        if (callback_) {                                                                           \
            callback_(__VA_ARGS__);                                                                \
        }                                                                                          \
    } while (0)
#define MED_OMPT_TELL(event, ...) MED_OMPT_TELL_AS(event, event##_t, __VA_ARGS__)

ompt_interface_fn_t med_ompt_lookup(const char *name);
void med_ompt_callbacks_clear(void);

/* How exclusion is made; and what ompt_enumerate_mutex_impls says of it. */
typedef enum med_ompt_impl {
    MED_OMPT_IMPL_NONE = ompt_mutex_impl_none,
    MED_OMPT_IMPL_LOCK, /* base/lock.h */
    MED_OMPT_IMPL_TURN, /* a word that says whose turn it is */
    MED_OMPT_IMPL_COUNT
} med_ompt_impl;

/* ---- What a tool may ask: ompt_inquiry.c ----------------------------------------------------- */

ompt_data_t *med_ompt_get_thread_data(void);
int med_ompt_get_state(ompt_wait_id_t *wait_id);
int med_ompt_get_parallel_info(int level, ompt_data_t **data, int *size);
int med_ompt_get_task_info(int level,
                           int *flags,
                           ompt_data_t **data,
                           ompt_frame_t **frame,
                           ompt_data_t **region_data,
                           int *number);
int med_ompt_get_task_memory(void **address, size_t *size_bytes, int block);
int med_ompt_get_target_info(uint64_t *device, ompt_id_t *target, ompt_id_t *operation);
int med_ompt_get_num_devices(void);
uint64_t med_ompt_get_unique_id(void);
int med_ompt_get_num_procs(void);
int med_ompt_get_num_places(void);
int med_ompt_get_place_proc_ids(int place, int size, int *numbers);
int med_ompt_get_place_num(void);
int med_ompt_get_partition_place_nums(int size, int *numbers);
int med_ompt_get_proc_id(void);

/* ---- Life: ompt.c ---------------------------------------------------------------------------- */

/* Looks for a tool, once. True: there is one. */
bool med_ompt_begin(void);
/* The tool is told that all is over, once. */
void med_ompt_end(void);

/* ---- The tool: ompt_tool.c ------------------------------------------------------------------- */

/* As the environment says where it may be. NULL: there is none. */
ompt_start_tool_result_t *med_ompt_tool_find(void);
void med_ompt_tool_say(const char *line, const char *more);

/* ---- Medley's own: ompt_traced.c ------------------------------------------------------------- */

/* The tool that tells a system's trace of the program's regions; NULL: nobody asked for it. */
ompt_start_tool_result_t *med_ompt_traced_tool(void);

#endif
