/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The partition's layout, its birth, and the check at the door. */
#include "mrapi/partition.h"

#include <stdbool.h>

#include "base/text.h"
#include "base/trace.h"
#include "mrapi/domain.h"
#include "mrapi/mutex.h"
#include "mrapi/node.h"
#include "mrapi/object.h"
#include "mrapi/process.h"
#include "mrapi/rmem.h"
#include "mrapi/rwl.h"
#include "mrapi/sem.h"
#include "mrapi/shmem.h"
#include "mrapi/table.h"
#include "port/port.h"

#define PART_ALIGNMENT 128u

/* Of a floor above: this name is all that this one knows of it. */
MED_PORT_OPTIONAL uint32_t med_exchange_layout_hash(uint32_t hash);

/* Sizes and places of everything in here. */
static const uint32_t shape[] = {
    sizeof(med_partition_header),
    offsetof(med_partition_header, magic),
    offsetof(med_partition_header, version),
    offsetof(med_partition_header, byte_order),
    offsetof(med_partition_header, layout_hash),
    offsetof(med_partition_header, size_bytes),
    offsetof(med_partition_header, created_ns),
    offsetof(med_partition_header, creator_process_id),
    offsetof(med_partition_header, on_death),
    offsetof(med_partition_header, name),
    offsetof(med_partition_header, limits),
    offsetof(med_partition_header, segments),
    offsetof(med_partition_header, trace_events),
    offsetof(med_partition_header, expected_keys),
    sizeof(med_limits),
    MED_TRACED_LANES,
    sizeof(med_trace_slot),
    offsetof(med_trace_slot, writer),
    offsetof(med_trace_slot, sequence),
    offsetof(med_trace_slot, time_low),
    offsetof(med_trace_slot, time_high),
    offsetof(med_trace_slot, node),
    offsetof(med_trace_slot, event),
    offsetof(med_trace_slot, words),
    sizeof(med_process_row),
    offsetof(med_process_row, state),
    offsetof(med_process_row, process_id),
    offsetof(med_process_row, since_ns),
    offsetof(med_process_row, node_rows),
    sizeof(med_table),
    offsetof(med_table, lock),
    offsetof(med_table, sleepers),
    offsetof(med_table, free_head),
    offsetof(med_table, free_tail),
    offsetof(med_table, fresh),
    offsetof(med_table, used),
    offsetof(med_table, high_water),
    offsetof(med_table, holder_thread),
    offsetof(med_table, held_since_ns),
    sizeof(med_row),
    offsetof(med_row, state),
    offsetof(med_row, key_high),
    offsetof(med_row, key_low),
    offsetof(med_row, next),
    MED_KIND_COUNT,
    sizeof(med_domain_row),
    offsetof(med_domain_row, row),
    offsetof(med_domain_row, isa),
    offsetof(med_domain_row, kept),
    offsetof(med_domain_row, joining),
    sizeof(med_node_row),
    offsetof(med_node_row, row),
    offsetof(med_node_row, process_ref),
    offsetof(med_node_row, thread_id),
    offsetof(med_node_row, since_ns),
    offsetof(med_node_row, kind),
    offsetof(med_node_row, phase),
    offsetof(med_node_row, waiting_for),
    offsetof(med_node_row, sleeps),
    offsetof(med_node_row, making),
    offsetof(med_node_row, is_kept),
    offsetof(med_node_row, news),
    offsetof(med_node_row, named),
    offsetof(med_node_row, name),
    sizeof(med_object),
    offsetof(med_object, row),
    offsetof(med_object, attributes),
    offsetof(med_object, domain),
    sizeof(med_mutex_row),
    offsetof(med_mutex_row, object),
    offsetof(med_mutex_row, lock),
    offsetof(med_mutex_row, sleepers),
    offsetof(med_mutex_row, depth),
    offsetof(med_mutex_row, key),
    offsetof(med_mutex_row, pi_owner),
    offsetof(med_mutex_row, pi_death),
    offsetof(med_mutex_row, pi_word),
    offsetof(med_mutex_row, pi_space),
    offsetof(med_mutex_row, slept),
    offsetof(med_mutex_row, pi_graves),
    sizeof(med_rmem_row),
    offsetof(med_rmem_row, row),
    offsetof(med_rmem_row, attributes),
    offsetof(med_rmem_row, domain),
    offsetof(med_rmem_row, owner),
    offsetof(med_rmem_row, process_ref),
    offsetof(med_rmem_row, access),
    offsetof(med_rmem_row, process_space),
    offsetof(med_rmem_row, extent),
    offsetof(med_rmem_row, segment),
    offsetof(med_rmem_row, segment_offset),
    sizeof(med_rmem_extent),
    offsetof(med_rmem_extent, place),
    offsetof(med_rmem_extent, size_bytes),
    offsetof(med_rmem_extent, address_low),
    offsetof(med_rmem_extent, address_high),
    sizeof(med_rmem_attachment_row),
    offsetof(med_rmem_attachment_row, row),
    offsetof(med_rmem_attachment_row, access),
    sizeof(med_shmem_row),
    offsetof(med_shmem_row, row),
    offsetof(med_shmem_row, attributes),
    offsetof(med_shmem_row, domain),
    offsetof(med_shmem_row, file),
    offsetof(med_shmem_row, size_bytes),
    offsetof(med_shmem_row, place),
    offsetof(med_shmem_row, place_index),
    offsetof(med_shmem_row, address_low),
    offsetof(med_shmem_row, address_high),
    offsetof(med_shmem_row, node_count),
    sizeof(med_sem_row),
    offsetof(med_sem_row, object),
    offsetof(med_sem_row, limit),
    offsetof(med_sem_row, sleepers),
    offsetof(med_sem_row, slept),
    sizeof(med_rwl_row),
    offsetof(med_rwl_row, object),
    offsetof(med_rwl_row, limit),
    offsetof(med_rwl_row, lock),
    offsetof(med_rwlock, sleepers),
    offsetof(med_rwlock, left),
    offsetof(med_rwl_row, slept),
};

uint32_t
med_layout_hash_add(uint32_t hash, const uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ places[i]) * 16777619u;
    }
    return hash;
}

/* Which limit each word of them is. */
static uint32_t
limits_hash_add(uint32_t hash)
{
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        for (const char *letter = med_limit_infos[i].variable; *letter; letter++) {
            hash = med_layout_hash_add(hash, &(uint32_t){(unsigned char)*letter}, 1);
        }
    }
    return hash;
}

/* One number for all of it: another build with another shape differs. */
static uint32_t
layout_hash(void)
{
    uint32_t hash = med_layout_hash_add(2166136261u, shape, sizeof shape / sizeof shape[0]);
    return med_exchange_layout_hash(limits_hash_add(hash));
}

/* Reserves a part; the offset saturates, so that one check at the end is enough. */
static uint32_t
part_place(uint64_t *end, uint64_t size)
{
    uint64_t start = (*end + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
    *end = start + size;
    return start > UINT32_MAX ? UINT32_MAX : (uint32_t)start;
}

medley_status_t
med_layout_compute(const med_limits *limits, med_layout *layout)
{
    uint64_t end = sizeof(med_partition_header);
    layout->processes = part_place(&end, (uint64_t)limits->processes * sizeof(med_process_row));
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        uint32_t rows = med_kind_rows(limits, (med_kind)k);
        layout->row_bytes[k] = rows ? med_kinds[k].row_bytes(limits) : 0;
        layout->tables[k] = rows ? part_place(&end, med_table_size(rows, layout->row_bytes[k])) : 0;
    }
    if (end > UINT32_MAX - PART_ALIGNMENT) {
        return MEDLEY_ERR_LIMIT;
    }
    layout->trace = 0;
    layout->trace_events = 0;
    layout->size_bytes = part_place(&end, 0);
    return MEDLEY_OK;
}

medley_status_t
med_layout_add_trace(med_layout *layout, uint32_t events)
{
    if (events == 0) {
        return MEDLEY_OK;
    }
    uint64_t end = layout->size_bytes;
    size_t bytes = med_trace_size(MED_TRACED_LANES, events / MED_TRACED_LANES);
    if (bytes == 0 || events < MED_TRACED_EVENTS_MIN || events > MED_TRACED_EVENTS_MAX ||
        events % MED_TRACED_LANES) {
        return MEDLEY_ERR_ARGUMENT;
    }
    layout->trace = part_place(&end, bytes);
    if (end > UINT32_MAX - PART_ALIGNMENT) {
        return MEDLEY_ERR_LIMIT;
    }
    layout->trace_events = events;
    layout->size_bytes = part_place(&end, 0);
    return MEDLEY_OK;
}

void
med_partition_init(void *memory,
                   const med_limits *limits,
                   const med_layout *layout,
                   med_on_death on_death,
                   const char *name)
{
    med_partition_header *header = memory;
    header->version = MED_PARTITION_VERSION;
    header->byte_order = MED_PARTITION_BYTE_ORDER;
    header->layout_hash = med_port_has_processes() ? layout_hash() : 0; /* nobody joins */
    header->size_bytes = layout->size_bytes;
    header->created_ns = med_port_clock_common_ns();
    header->creator_process_id = med_port_process_id();
    header->on_death = (uint32_t)on_death;
    med_text_copy(header->name, sizeof header->name, name);
    header->limits = *limits;
    header->trace_events = layout->trace_events;
    /* Relaxed: who looks at it is in the section in which it was made, or has been told that a slot
     * is held, which is claimed behind this. Whoever died in here leaves no slot held. */
    atomic32_store_relaxed(&header->magic, MED_PARTITION_MAGIC);
}

medley_status_t
med_partition_check(const void *memory, size_t size_bytes, med_limits *limits, med_layout *layout)
{
    const med_partition_header *header = memory;
    if (size_bytes < sizeof *header) {
        return MEDLEY_ERR_CORRUPT;
    }
    uint32_t magic = atomic32_load_relaxed(&header->magic); /* relaxed: as in init */
    if (magic == __builtin_bswap32(MED_PARTITION_MAGIC)) {
        return MEDLEY_ERR_BYTE_ORDER;
    }
    if (magic != MED_PARTITION_MAGIC) {
        return MEDLEY_ERR_CORRUPT;
    }
    if (header->version != MED_PARTITION_VERSION || header->layout_hash != layout_hash()) {
        return MEDLEY_ERR_VERSION;
    }
    /* A copy: what is checked is what is used. */
    med_limits copy = header->limits;
    if (header->byte_order != MED_PARTITION_BYTE_ORDER || !med_limits_valid(&copy) ||
        med_layout_compute(&copy, layout) != MEDLEY_OK ||
        med_layout_add_trace(layout, header->trace_events) != MEDLEY_OK ||
        layout->size_bytes > size_bytes || header->size_bytes != layout->size_bytes) {
        return MEDLEY_ERR_CORRUPT;
    }
    *limits = copy;
    return MEDLEY_OK;
}
