/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Segments of shared memories, and what this process has mapped of them. What may run together:
 * everything, by any threads of the process; what changes a mapping, or looks through all, does so
 * under the mappings' lock, which is taken last. A segment is opened and mapped under it, so that
 * one of several threads does it.
 *
 * Which of the process's nodes use a mapping stands beside it, in the process's own memory: the
 * bits in the row tell it to others, and whoever writes over them unmaps nothing that is in use.
 *
 * Death: the lock and the mappings are the process's, and go with it.
 */
#include "mrapi/shmem_mapping.h"

#include "base/log.h"
#include "mrapi/object.h"
#include "mrapi/system.h"

/* ---- Segments -------------------------------------------------------------------------------- */

med_port_segment
med_segment_named(const med_system *system, uint32_t file)
{
    return (med_port_segment){.beside =
                                  med_segments_are_private(system) ? NULL : system->shared.path,
                              .instance = system->instance,
                              .number = file};
}

void
med_segment_remove(const med_system *system, uint32_t file)
{
    if (file && !med_segments_are_private(system)) {
        med_port_segment_remove(system->shared.path, system->instance, file);
    }
}

void
med_shmem_report_line(const char *what, uint32_t number, const char *why)
{
    med_text text = {.length = 0};
    med_text_string(&text, what);
    if (number != MED_OBJECT_ANY) {
        med_text_string(&text, " ");
        med_text_number(&text, number);
    }
    med_text_string(&text, ": ");
    med_text_string(&text, why);
    med_log(MED_LOG_ERROR, &text);
}

/* ---- Mappings of this process ---------------------------------------------------------------- */

/* Who holds it dies with everybody who wants it, so nobody asks for the owner. */
#define SOMEBODY 1u

static void
mappings_lock(med_system *system)
{
    if (!med_port_has_threads()) {
        return; /* nobody else could have it */
    }
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = SOMEBODY,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter};
    (void)med_lock_acquire(&system->mappings.lock, &system->mappings.sleepers, &request);
}

static void
mappings_unlock(med_system *system)
{
    if (med_port_has_threads()) {
        med_lock_release(&system->mappings.lock, &system->mappings.sleepers,
                         MED_PORT_SCOPE_PROCESS);
    }
}

static void
mapping_drop(med_mapping *mapping)
{
    if (mapping->address) {
        med_port_segment_unmap(mapping->address, mapping->size_bytes, mapping->place);
    }
    *mapping = (med_mapping){.address = NULL};
}

/* A row says what its segment is; the port compares that with the file. */
static medley_status_t
mapping_make(const med_system *system, med_shmem_row *row, uint32_t file, med_mapping *mapping)
{
    /* Relaxed, all: fixed at creation; while it is attached it stays. */
    med_port_segment segment = med_segment_named(system, file);
    segment.size_bytes = atomic32_load_relaxed(&row->size_bytes);
    segment.place = atomic32_load_relaxed(&row->place);
    segment.wanted = atomic32_load_relaxed(&row->address_low) |
                     (uint64_t)atomic32_load_relaxed(&row->address_high) << 32;
    medley_status_t status = med_port_segment_open(&segment);
    if (status == MEDLEY_OK) {
        status = med_port_segment_map(&segment);
        med_port_segment_close(&segment);
    }
    if (status != MEDLEY_OK) {
        med_shmem_report("cannot attach shared memory", atomic32_load_relaxed(&row->row.key_low),
                         segment.why);
        return status == MEDLEY_ERR_CORRUPT ? status : MEDLEY_ERR_NO_MEMORY;
    }
    *mapping = (med_mapping){.address = segment.address,
                             .file = file,
                             .size_bytes = segment.size_bytes,
                             .place = segment.place};
    return MEDLEY_OK;
}

static atomic32 *
users_of(const med_system *system, uint32_t index, uint32_t node_index)
{
    size_t words = med_shmem_bit_words(&system->limits);
    return &system->mappings.users[index * words + node_index / 32];
}

/* Relaxed: a node's bit is written for it alone. Who leaves the system has given up all. */
bool
med_mapping_is_used_by(const med_system *system, uint32_t index, uint32_t node_index)
{
    return system->mappings.users &&
           atomic32_load_relaxed(users_of(system, index, node_index)) & med_shmem_bit(node_index);
}

/* With the lock. */
static void
user_add(const med_system *system, uint32_t index, uint32_t node_index)
{
    /* Relaxed: the lock orders it. */
    (void)atomic32_fetch_or_relaxed(users_of(system, index, node_index), med_shmem_bit(node_index));
    system->mappings.of_row[index].users++;
}

/* With the lock. */
static medley_status_t
use(const med_system *system, uint32_t index, uint32_t node_index, void **address)
{
    med_shmem_row *row = med_shmem_row_at(system, index);
    med_mapping *mapping = &system->mappings.of_row[index];
    uint32_t file = atomic32_load_relaxed(&row->file); /* relaxed: fixed at creation */
    medley_status_t status = MEDLEY_OK;
    bool good = mapping->address && mapping->file == file;
    if (!good && mapping->users > 0) {
        return MEDLEY_ERR_CORRUPT; /* it could not be deleted while we use it */
    }
    if (good && med_mapping_is_used_by(system, index, node_index)) {
        return MEDLEY_ERR_EXISTS; /* its bit in the row was written over */
    }
    if (!good) {
        mapping_drop(mapping); /* kept, and deleted by another process since */
        status = med_segments_are_private(system) ? MEDLEY_ERR_CORRUPT
                                                  : mapping_make(system, row, file, mapping);
    }
    if (status == MEDLEY_OK) {
        user_add(system, index, node_index);
        *address = mapping->address;
    }
    return status;
}

medley_status_t
med_mapping_use(med_system *system, uint32_t index, uint32_t node_index, void **address)
{
    mappings_lock(system);
    medley_status_t status = use(system, index, node_index, address);
    mappings_unlock(system);
    return status;
}

bool
med_mapping_release(med_system *system, uint32_t index, uint32_t node_index)
{
    med_mapping *mapping = &system->mappings.of_row[index];
    uint32_t bit = med_shmem_bit(node_index);
    if (!med_mapping_is_used_by(system, index, node_index)) {
        return false;
    }
    mappings_lock(system);
    /* Relaxed: the lock orders it. */
    bool used = atomic32_fetch_and_relaxed(users_of(system, index, node_index), ~bit) & bit;
    if (used && --mapping->users == 0 && !med_segments_are_private(system)) {
        mapping_drop(mapping);
    }
    mappings_unlock(system);
    return used;
}

void
med_mapping_drop_unused(med_system *system, uint32_t index)
{
    mappings_lock(system);
    if (system->mappings.of_row[index].users == 0) {
        mapping_drop(&system->mappings.of_row[index]);
    }
    mappings_unlock(system);
}

/* With the lock. */
static void
replace(med_mapping *mapping, const med_port_segment *segment)
{
    mapping_drop(mapping);
    *mapping = (med_mapping){.address = segment->address,
                             .file = segment->number,
                             .size_bytes = segment->size_bytes,
                             .place = segment->place};
}

/* With the lock. */
static void
keep(med_system *system, uint32_t index, const med_port_segment *segment)
{
    med_mappings *mappings = &system->mappings;
    if (!med_segments_are_private(system)) {
        if (mappings->kept && mappings->of_row[mappings->kept - 1].users == 0) {
            mapping_drop(&mappings->of_row[mappings->kept - 1]);
        }
        mappings->kept = index + 1;
    }
    replace(&mappings->of_row[index], segment);
}

bool
med_mapping_keep(med_system *system, uint32_t index, const med_port_segment *segment)
{
    mappings_lock(system);
    bool free = system->mappings.of_row[index].users == 0;
    if (free && segment->address) {
        keep(system, index, segment);
    }
    mappings_unlock(system);
    return free;
}

bool
med_mapping_begin(med_system *system,
                  uint32_t index,
                  uint32_t node_index,
                  const med_port_segment *segment)
{
    mappings_lock(system);
    bool free = system->mappings.of_row[index].users == 0;
    if (free) {
        replace(&system->mappings.of_row[index], segment);
        user_add(system, index, node_index);
    }
    mappings_unlock(system);
    return free;
}

bool
med_shmem_holds(
    med_system *system, const void *memory, uint32_t size_bytes, uint32_t *file, uint32_t *offset)
{
    bool found = false;
    mappings_lock(system);
    for (uint32_t i = 0; i < system->mappings.row_count && !found; i++) {
        const med_mapping *mapping = &system->mappings.of_row[i];
        uintptr_t at = (uintptr_t)memory - (uintptr_t)mapping->address;
        found =
            mapping->address && at <= mapping->size_bytes && size_bytes <= mapping->size_bytes - at;
        if (found) {
            *file = mapping->file;
            *offset = (uint32_t)at;
        }
    }
    mappings_unlock(system);
    return found;
}

medley_status_t
med_shmem_map_again(const med_system *system, uint32_t file, med_port_segment *segment)
{
    for (uint32_t i = 0; i < system->shmems.row_count; i++) {
        const med_shmem_row *row = med_shmem_row_at(system, i);
        /* Relaxed, all: with the file's number (K2 in rmem_window.c) comes the row that says it.
         * What another life says, the port compares with the file. */
        uint32_t word = atomic32_load_relaxed(&row->row.state);
        if (med_row_state_of(word) == MED_ROW_LIVE && atomic32_load_relaxed(&row->file) == file) {
            *segment = med_segment_named(system, file);
            segment->size_bytes = atomic32_load_relaxed(&row->size_bytes);
            segment->place = atomic32_load_relaxed(&row->place);
            medley_status_t status = med_port_segment_open(segment);
            if (status == MEDLEY_OK) {
                status = med_port_segment_map(segment);
                med_port_segment_close(segment);
            }
            return status;
        }
    }
    return MEDLEY_ERR_NOT_FOUND;
}

/* One piece: the mappings, then the bits of who uses each. */
static size_t
own_bytes(const med_system *system)
{
    size_t words = med_shmem_bit_words(&system->limits);
    return system->limits.shmems * (sizeof(med_mapping) + words * sizeof(atomic32));
}

medley_status_t
med_mappings_init(med_system *system)
{
    void *memory;
    uint32_t count = system->limits.shmems;
    medley_status_t status = med_port_memory_map(own_bytes(system), &memory);
    if (status == MEDLEY_OK) {
        med_mapping *of_row = memory;
        system->mappings = (med_mappings){
            .of_row = of_row, .users = (atomic32 *)(void *)(of_row + count), .row_count = count};
    }
    return status;
}

void
med_mappings_forget(med_system *system)
{
    med_mappings *mappings = &system->mappings;
    if (mappings->of_row) {
        med_port_memory_unmap(mappings->of_row, own_bytes(system));
    }
    *mappings = (med_mappings){.of_row = NULL};
}

void
med_mappings_fini(med_system *system)
{
    for (uint32_t i = 0; i < system->mappings.row_count; i++) {
        mapping_drop(&system->mappings.of_row[i]);
    }
    med_mappings_forget(system);
}
