/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The segment of a shared memory, and this process's mapping of it: what shmem.c asks for. Rows are
 * named by their index. */
#ifndef MEDLEY_MRAPI_SHMEM_MAPPING_H
#define MEDLEY_MRAPI_SHMEM_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"

static inline med_shmem_row *
med_shmem_row_at(const med_system *system, uint32_t index)
{
    return (med_shmem_row *)(void *)med_table_row(&system->shmems, index);
}

/* Then a segment is its mapping: it has no name, and is mapped as long as it is there. */
static inline bool
med_segments_are_private(const med_system *system)
{
    return !med_system_is_shared(system);
}

/* Of bits, one for each node row. */
static inline uint32_t
med_shmem_bit_words(const med_limits *limits)
{
    return (limits->nodes + 31) / 32;
}

static inline uint32_t
med_shmem_bit(uint32_t node_index)
{
    return 1u << node_index % 32;
}

med_port_segment med_segment_named(const med_system *system, uint32_t file);
/* 0 is no segment. */
void med_segment_remove(const med_system *system, uint32_t file);
/* What the next one calls, for a line that is wanted. */
void med_shmem_report_line(const char *what, uint32_t number, const char *why);
/* Tells why something cannot be done with the memory of that number, or MED_OBJECT_ANY. */
static inline void
med_shmem_report(const char *what, uint32_t number, const char *why)
{
    if (med_log_wanted(MED_LOG_ERROR)) {
        med_shmem_report_line(what, number, why);
    }
}

/* A node of this process, of that row, uses the row's segment. MEDLEY_ERR_EXISTS: it did already;
 * MEDLEY_ERR_CORRUPT: it is not what the row says; MEDLEY_ERR_NO_MEMORY: it cannot be mapped. Of
 * the last two the log says why. */
medley_status_t
med_mapping_use(med_system *system, uint32_t index, uint32_t node_index, void **address);
/* No longer; the last one unmaps it, if it has a name. False: it did not use it. */
bool med_mapping_release(med_system *system, uint32_t index, uint32_t node_index);
/* Asked by the node, or by who recovers it. */
bool med_mapping_is_used_by(const med_system *system, uint32_t index, uint32_t node_index);
/* The row is on its way out. */
void med_mapping_drop_unused(med_system *system, uint32_t index);
/* What a newly made segment is mapped at (if it is) becomes the row's mapping: the process's one
 * that is kept unused. False: nodes of this process use what the row had before, so that it cannot
 * be a free row, whatever the table says; nothing is changed. */
bool med_mapping_keep(med_system *system, uint32_t index, const med_port_segment *segment);
/* The same of one that is mapped, and is used by a node of this process from now on. */
bool med_mapping_begin(med_system *system,
                       uint32_t index,
                       uint32_t node_index,
                       const med_port_segment *segment);

#endif
