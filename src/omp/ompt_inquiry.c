/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a tool may ask, at any time and by any thread, also in a signal handler: nothing here waits,
 * or takes memory. A thread that is no member yet does not become one.
 */
#include "omp/ompt_inner.h"
#include "omp/places.h"
#include "port/port.h"

/* ---- The calling thread ---------------------------------------------------------------------- */

/* NULL: no tool has been told of it. */
static const med_ompt_task *
task_here(void)
{
    const med_member *member = med_port_member_get();
    const med_ompt_task *task = member ? member->task->ompt : NULL;
    return task && task->region ? task : NULL;
}

ompt_data_t *
med_ompt_get_thread_data(void)
{
    const med_member *member = med_port_member_get();
    return member && member->ompt ? &member->ompt->data : NULL;
}

/* A worker that has left its region waits at the barrier there until the region is over. */
static ompt_state_t
state_of(const med_member *member, const med_ompt_task *task)
{
    return med_ompt_is_over_told(member) ? ompt_state_idle : task->state;
}

int
med_ompt_get_state(ompt_wait_id_t *wait_id)
{
    const med_member *member = med_port_member_get();
    const med_ompt_task *task = member ? member->task->ompt : NULL;
    if (wait_id) {
        *wait_id = task ? task->wait_id : ompt_wait_id_none;
    }
    return task ? (int)state_of(member, task) : (int)ompt_state_undefined;
}

/* ---- Regions and tasks ----------------------------------------------------------------------- */

#define THERE 2

int
med_ompt_get_parallel_info(int level, ompt_data_t **data, int *size)
{
    const med_ompt_task *task = task_here();
    med_ompt_region *region = task ? task->region : NULL;
    for (int i = 0; region && i < level; i++) {
        region = region->outer;
    }
    if (!region || level < 0) {
        return 0;
    }
    if (data) {
        *data = &region->data;
    }
    if (size) {
        *size = (int)region->size;
    }
    return THERE;
}

static void
task_show(med_ompt_task *task,
          int *flags,
          ompt_data_t **data,
          ompt_frame_t **frame,
          ompt_data_t **region_data,
          int *number)
{
    if (flags) {
        *flags = task->flags;
    }
    if (data) {
        *data = &task->data;
    }
    if (frame) {
        *frame = &task->frame;
    }
    if (region_data) {
        *region_data = med_ompt_region_data(task);
    }
    if (number) {
        *number = (int)task->number;
    }
}

int
med_ompt_get_task_info(int level,
                       int *flags,
                       ompt_data_t **data,
                       ompt_frame_t **frame,
                       ompt_data_t **region_data,
                       int *number)
{
    med_ompt_task *task = (med_ompt_task *)task_here();
    for (int i = 0; task && i < level; i++) {
        task = task->outer;
    }
    if (!task || level < 0) {
        return 0;
    }
    task_show(task, flags, data, frame, region_data, number);
    return THERE;
}

/* One block: what the task has of the data that it was made with. */
int
med_ompt_get_task_memory(void **address, size_t *size_bytes, int block)
{
    const med_ompt_task *task = task_here();
    bool has = task && block == 0 && task->memory_bytes > 0;
    *address = has ? (void *)(uintptr_t)task->memory : NULL;
    *size_bytes = has ? task->memory_bytes : 0;
    return 0;
}

uint64_t
med_ompt_get_unique_id(void)
{
    static atomic_word last;
    return (uint64_t)atomic_word_fetch_add_relaxed(&last, 1) + 1; /* relaxed: only to differ */
}

/* ---- Places ---------------------------------------------------------------------------------- */

int
med_ompt_get_num_procs(void)
{
    return (int)med_settings_get()->processors;
}

int
med_ompt_get_num_places(void)
{
    return (int)med_settings_get()->places.count;
}

/* How many there are; of these as many as there is room for. */
int
med_ompt_get_place_proc_ids(int place, int size, int *numbers)
{
    const med_places *places = &med_settings_get()->places;
    if (place < 0 || (uint32_t)place >= places->count) {
        return 0;
    }
    const med_processor_set *of = &places->list[place];
    int at = 0;
    MED_PROCESSOR_SET_EACH(i, of) {
        if (at < size) {
            numbers[at++] = (int)i;
        }
    }
    return (int)med_processor_set_count(of);
}

static const med_placement *
placement_here(void)
{
    const med_member *member = med_port_member_get();
    return member && member->placement.count ? &member->placement : NULL;
}

int
med_ompt_get_place_num(void)
{
    const med_placement *here = placement_here();
    return here ? (int)here->place : -1;
}

int
med_ompt_get_partition_place_nums(int size, int *numbers)
{
    const med_placement *here = placement_here();
    uint32_t count = here ? here->count : 0;
    for (uint32_t i = 0; i < count && (int)i < size; i++) {
        numbers[i] = (int)(here->first + i);
    }
    return (int)count;
}

int
med_ompt_get_proc_id(void)
{
    return med_port_member_get() ? (int)med_port_processor_here() : -1;
}

/* ---- Devices: there is none but the host ----------------------------------------------------- */

int
med_ompt_get_target_info(uint64_t *device, ompt_id_t *target, ompt_id_t *operation)
{
    (void)device;
    (void)target;
    (void)operation;
    return 0;
}

int
med_ompt_get_num_devices(void)
{
    return 0;
}
