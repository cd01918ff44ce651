/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Segments beside named memories, in the simulator. */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#define HERE ((uintptr_t)__builtin_return_address(0))
#define SEGMENTS_MAX 32u
#define MEMORY_NODES 16u

typedef struct segment {
    uint64_t instance;
    uint32_t number;
    uint32_t place;
    uint32_t size_bytes;
    bool used;
    bool removed;
    uint32_t maps[SIM_PROCESSES_MAX]; /* how often each process has it mapped */
    char name[64];
} segment;

static segment segments[SEGMENTS_MAX];
bool sim_unmapped[SIM_PROCESSES_MAX][SIM_VIEW_BYTES / SIM_PAGE_BYTES];

void
sim_segments_begin(void)
{
    memset(segments, 0, sizeof segments);
    memset(sim_unmapped, 0, sizeof sim_unmapped);
}

static segment *
segment_find(const char *name, uint64_t instance, uint32_t number)
{
    for (segment *s = segments; s < segments + SEGMENTS_MAX; s++) {
        if (s->used && !s->removed && strcmp(s->name, name) == 0 && s->instance == instance &&
            s->number == number) {
            return s;
        }
    }
    return NULL;
}

static void
segment_show(const segment *s, uint32_t process)
{
    for (uint32_t at = 0; at < s->size_bytes; at += SIM_PAGE_BYTES) {
        sim_unmapped[process][(s->place + at) / SIM_PAGE_BYTES] = s->maps[process] == 0;
    }
}

bool
med_port_tight_get(uint32_t index, med_port_tight *memory)
{
    (void)index;
    (void)memory;
    return false;
}

/* Memory nodes are many, and alike. */
static medley_status_t
place_check(const med_port_segment *asked)
{
    bool there = asked->place == MED_PORT_PLACE_ANY ||
                 (asked->place == MED_PORT_PLACE_NUMA && asked->place_index < MEMORY_NODES);
    if (!there) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    return asked->wanted % SIM_PAGE_BYTES == 0 ? MEDLEY_OK : MEDLEY_ERR_ARGUMENT;
}

medley_status_t
med_port_segment_create(med_port_segment *asked)
{
    sim_point(HERE);
    asked->why[0] = 0;
    medley_status_t status = place_check(asked);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (!asked->beside) {
        return asked->wanted ? MEDLEY_ERR_EXISTS
                             : med_port_memory_map(asked->size_bytes, &asked->address);
    }
    if (segment_find(asked->beside, asked->instance, asked->number)) {
        return MEDLEY_ERR_EXISTS;
    }
    segment *s = segments;
    while (s < segments + SEGMENTS_MAX && s->used) {
        s++;
    }
    uint32_t place = sim_shared_take(asked->size_bytes);
    if (s == segments + SEGMENTS_MAX || place == SIM_NOWHERE) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    *s = (segment){.used = true,
                   .instance = asked->instance,
                   .number = asked->number,
                   .place = place,
                   .size_bytes = asked->size_bytes};
    (void)snprintf(s->name, sizeof s->name, "%s", asked->beside);
    for (uint32_t process = 0; process < SIM_PROCESSES_MAX; process++) {
        segment_show(s, process);
    }
    asked->handle = s - segments;
    return MEDLEY_OK;
}

medley_status_t
med_port_segment_open(med_port_segment *asked)
{
    sim_point(HERE);
    asked->why[0] = 0;
    const segment *s = segment_find(asked->beside, asked->instance, asked->number);
    if (!s) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    asked->handle = s - segments;
    return s->size_bytes == asked->size_bytes ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

/* A process sees each where its view has it, and has something else at any other address. */
medley_status_t
med_port_segment_map(med_port_segment *asked)
{
    if (!asked->beside) {
        return MEDLEY_OK;
    }
    uint32_t process = sim.current->process;
    segment *s = &segments[asked->handle];
    void *address = sim_shared_address(process, s->place);
    if (asked->wanted && asked->wanted != (uintptr_t)address) {
        return MEDLEY_ERR_EXISTS;
    }
    s->maps[process]++;
    segment_show(s, process);
    asked->address = address;
    return MEDLEY_OK;
}

void
med_port_segment_close(med_port_segment *asked)
{
    asked->handle = -1;
}

void
med_port_segment_unmap(void *address, uint32_t size_bytes, uint32_t place)
{
    uint32_t process = sim.current->process;
    (void)size_bytes;
    (void)place;
    sim_point(HERE);
    for (segment *s = segments; s < segments + SEGMENTS_MAX; s++) {
        if (s->used && sim_shared_address(process, s->place) == address) {
            s->maps[process]--;
            segment_show(s, process);
        }
    }
}

void
med_port_segment_ready(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}

void
med_port_segment_remove(const char *beside, uint64_t instance, uint32_t number)
{
    sim_point(HERE);
    segment *s = segment_find(beside, instance, number);
    if (s) {
        s->removed = true;
    }
}

void
med_port_segments_remove(const char *beside, uint64_t instance)
{
    sim_point(HERE);
    for (segment *s = segments; s < segments + SEGMENTS_MAX; s++) {
        bool meant = instance == 0 || s->instance == instance;
        s->removed = s->removed || (s->used && meant && strcmp(s->name, beside) == 0);
    }
}
