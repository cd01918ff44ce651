/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attributes of resources: the static ones, which are in the tree, and those that are counted.
 *
 * A count is in the list of its tree while it is started. Its source counts from some point of its
 * own, in 64 bits or in the 32 of a row; what it went on since the last look is added to the total.
 * All of it happens with the lock of the trees held; a roll-over's callback is called without.
 */
#include "base/log.h"
#include "base/text.h"
#include "mrapi/mutex.h"
#include "mrapi/resource.h"
#include "mrapi/rwl.h"
#include "mrapi/sem.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"

/* ---- Static ---------------------------------------------------------------------------------- */

static medley_status_t
number_is(med_resource_value *value, uint64_t number)
{
    value->number = number;
    return MEDLEY_OK;
}

static medley_status_t
memory_read(const med_topology_part *part, uint32_t attribute, med_resource_value *value)
{
    switch (attribute) {
    case MRAPI_RSRC_MEM_BASEADDR:
        return number_is(value, part->address);
    case MRAPI_RSRC_MEM_NUMWORDS:
        return number_is(value, part->size_bytes / sizeof(void *));
    case MRAPI_RSRC_MEM_WORDSIZE:
        return number_is(value, sizeof(void *));
    default:
        return MEDLEY_ERR_NOT_FOUND;
    }
}

static medley_status_t
cache_read(const med_topology_part *part, uint32_t attribute, med_resource_value *value)
{
    switch (attribute) {
    case MRAPI_RSRC_CACHE_SIZE:
        return number_is(value, part->size_bytes);
    case MRAPI_RSRC_CACHE_LINE_SIZE:
        return number_is(value, part->line_bytes);
    case MRAPI_RSRC_CACHE_ASSOCIATIVITY:
        return number_is(value, part->ways);
    case MRAPI_RSRC_CACHE_LEVEL:
        return number_is(value, part->level);
    default:
        return MEDLEY_ERR_NOT_FOUND;
    }
}

static medley_status_t
processor_read(const med_topology_part *part, uint32_t attribute, med_resource_value *value)
{
    switch (attribute) {
    case MRAPI_RSRC_CPU_FREQUENCY:
        return number_is(value, part->frequency_hz);
    case MRAPI_RSRC_CPU_TYPE:
        value->text = part->type;
        return MEDLEY_OK;
    case MRAPI_RSRC_CPU_ID:
        return number_is(value, part->id);
    default:
        return MEDLEY_ERR_NOT_FOUND;
    }
}

static medley_status_t
static_read(const med_resource *resource, uint32_t attribute, med_resource_value *value)
{
    switch (resource->face.resource_type) {
    case MRAPI_RSRC_MEM:
        return memory_read(&resource->part, attribute, value);
    case MRAPI_RSRC_CACHE:
        return cache_read(&resource->part, attribute, value);
    case MRAPI_RSRC_CPU:
        return processor_read(&resource->part, attribute, value);
    default:
        return MEDLEY_ERR_NOT_FOUND;
    }
}

static bool
is_dynamic(const med_resource *resource, uint32_t attribute)
{
    mrapi_rsrc_filter_t type = resource->face.resource_type;
    switch (attribute) {
    case MEDLEY_RSRC_TIME_NS:
    case MEDLEY_RSRC_CYCLES:
    case MEDLEY_RSRC_INSTRUCTIONS:
    case MEDLEY_RSRC_CACHE_MISSES:
        return type == MRAPI_RSRC_CPU || type == MEDLEY_RSRC_NODE;
    case MEDLEY_RSRC_SLEEPS:
        return type == MEDLEY_RSRC_NODE || type == MEDLEY_RSRC_LOCK;
    case MEDLEY_RSRC_USED_BYTES:
        return type == MEDLEY_RSRC_SYSTEM || type == MEDLEY_RSRC_TABLE;
    default:
        return false;
    }
}

/* ---- Sources --------------------------------------------------------------------------------- */

/* The row that a resource stands for, if it still lives the same life. Others may be at it: what is
 * read of it afterwards is a number to show. */
static medley_status_t
row_living(const med_tree *tree, const med_resource *resource, med_row **row)
{
    const med_table_view *table = &tree->system->tables[resource->kind];
    *row = med_table_row(table, resource->index);
    /* Relaxed: compared only; who made the tree has seen that life (A1 in resource.c). */
    uint32_t word = atomic32_load_relaxed(&(*row)->state);
    return word == med_row_word(MED_ROW_LIVE, resource->generation) ? MEDLEY_OK
                                                                    : MEDLEY_ERR_PEER_DIED;
}

static uint32_t
slept(med_kind kind, const med_row *row)
{
    const void *at = row;
    /* Relaxed, all: statistics. */
    switch (kind) {
    case MED_KIND_NODE:
        return atomic32_load_relaxed(&((const med_node_row *)at)->sleeps);
    case MED_KIND_SEM:
        return atomic32_load_relaxed(&((const med_sem_row *)at)->slept);
    case MED_KIND_RWL:
        return atomic32_load_relaxed(&((const med_rwl_row *)at)->slept);
    default:
        return atomic32_load_relaxed(&((const med_mutex_row *)at)->slept);
    }
}

static medley_status_t
sleeps_read(const med_tree *tree, const med_resource *resource, uint64_t *value)
{
    med_row *row;
    medley_status_t status = row_living(tree, resource, &row);
    if (status == MEDLEY_OK) {
        *value = slept(resource->kind, row);
    }
    return status;
}

/* The memories that the rows describe. */
static uint64_t
segments_bytes(const med_table_view *shmems)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < shmems->row_count; i++) {
        const med_shmem_row *row = (const med_shmem_row *)(void *)med_table_row(shmems, i);
        uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
        /* Relaxed: fixed while the row is LIVE. */
        bytes +=
            med_row_state_of(word) == MED_ROW_LIVE ? atomic32_load_relaxed(&row->size_bytes) : 0;
    }
    return bytes;
}

static uint64_t
table_bytes(const med_system *system, med_kind kind)
{
    const med_table_view *table = &system->tables[kind];
    if (!med_kind_is_there(kind)) {
        return 0;
    }
    uint32_t used = atomic32_load_relaxed(&table->table->used); /* relaxed: statistics */
    uint32_t rows = used < table->row_count ? used : table->row_count;
    return (uint64_t)rows * table->row_bytes + (kind == MED_KIND_SHMEM ? segments_bytes(table) : 0);
}

static uint64_t
used_bytes(const med_tree *tree, const med_resource *resource)
{
    if (resource->face.resource_type == MEDLEY_RSRC_TABLE) {
        return table_bytes(tree->system, resource->kind);
    }
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        bytes += table_bytes(tree->system, (med_kind)k);
    }
    return bytes;
}

/* A node's row stays when its process dies, until somebody recovers that; its numbers may be
 * others' by then. */
static medley_status_t
thread_living(const med_tree *tree, const med_resource *resource)
{
    med_row *row;
    medley_status_t status = row_living(tree, resource, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed: of another life only where this one has ended, which is found out next time. */
    uint32_t process_ref =
        atomic32_load_relaxed(&((const med_node_row *)(const void *)row)->process_ref);
    return med_process_alive(tree->system, process_ref) ? MEDLEY_OK : MEDLEY_ERR_PEER_DIED;
}

static medley_status_t
source_read(const med_tree *tree, med_count *count, uint64_t *value)
{
    if (count->attribute == MEDLEY_RSRC_SLEEPS) {
        return sleeps_read(tree, count->resource, value);
    }
    if (count->attribute == MEDLEY_RSRC_USED_BYTES) {
        *value = used_bytes(tree, count->resource);
        return MEDLEY_OK;
    }
    /* The system may know a thread that has ended for a moment yet, and another by its number. */
    medley_status_t status =
        count->port.of_processor ? MEDLEY_OK : thread_living(tree, count->resource);
    if (status == MEDLEY_OK) {
        status = med_port_counter_read(&count->port, value);
    }
    return status == MEDLEY_ERR_NOT_FOUND ? MEDLEY_ERR_PEER_DIED : status;
}

/* Of a node: its thread, by numbers that hold here. Those of another PID namespace are others'. */
static medley_status_t
thread_name(const med_tree *tree, const med_resource *resource, med_port_counter *counter)
{
    med_row *row;
    medley_status_t status = row_living(tree, resource, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed, all: written before the thread ran, or 0 as yet, which is no thread. */
    const med_node_row *node = (const med_node_row *)(void *)row;
    uint32_t process_ref = atomic32_load_relaxed(&node->process_ref);
    uint32_t process = med_process_ref_index(process_ref);
    counter->thread_id = atomic32_load_relaxed(&node->thread_id);
    if (counter->thread_id == 0 || !med_process_alive(tree->system, process_ref)) {
        return MEDLEY_ERR_PEER_DIED;
    }
    counter->process_id =
        atomic32_load_relaxed(&med_system_process(tree->system, process)->process_id);
    if (med_process_number_here(tree->system, process) != counter->process_id) {
        med_text_copy(counter->why, sizeof counter->why,
                      "the node is of another PID namespace, where its thread has another number");
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    return MEDLEY_OK;
}

static medley_status_t
port_open(const med_tree *tree, med_count *count)
{
    const med_resource *resource = count->resource;
    med_port_counter *counter = &count->port;
    medley_status_t status = MEDLEY_OK;
    counter->kind = (med_port_counter_kind)(count->attribute - MEDLEY_RSRC_TIME_NS);
    counter->of_processor = resource->face.resource_type == MRAPI_RSRC_CPU;
    counter->processor = resource->part.id;
    if (!counter->of_processor) {
        status = thread_name(tree, resource, counter);
    }
    if (status == MEDLEY_OK) {
        status = med_port_counter_open(counter);
    }
    if (status == MEDLEY_ERR_PEER_DIED ||
        (status == MEDLEY_ERR_NOT_FOUND && !counter->of_processor)) {
        return MEDLEY_ERR_PEER_DIED;
    }
    if (status != MEDLEY_OK) {
        med_log_error("an attribute cannot be counted", counter->why);
    }
    return status == MEDLEY_ERR_NOT_FOUND ? MEDLEY_ERR_NOT_SUPPORTED : status;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static med_count **
count_place(med_tree *tree, const mrapi_resource_t *face, uint32_t attribute)
{
    med_count **place = &tree->counts;
    while (*place && (&(*place)->resource->face != face || (*place)->attribute != attribute)) {
        place = &(*place)->next;
    }
    return place;
}

/* A count begins at nothing, a level where it is. */
static bool
is_level(const med_count *count)
{
    return count->attribute == MEDLEY_RSRC_USED_BYTES;
}

static void
begin_anew(med_count *count)
{
    count->total = is_level(count) ? count->last : 0;
    if (count->attribute <= MEDLEY_RSRC_CACHE_MISSES) {
        med_port_counter_forgive(&count->port);
    }
}

static uint64_t
went_on(const med_count *count, uint64_t now)
{
    uint64_t by = now - count->last;
    return count->attribute == MEDLEY_RSRC_SLEEPS ? (uint32_t)by : by; /* 32 bits in the row */
}

/* Looks at the source. `rolled` gets the callback when one is due. */
static medley_status_t
count_look(const med_tree *tree, med_count *count, void (**rolled)(void))
{
    uint64_t now;
    medley_status_t status = source_read(tree, count, &now);
    if (status != MEDLEY_OK) {
        return status;
    }
    uint64_t before = count->total;
    if (is_level(count)) {
        count->total = now;
    } else {
        count->total += went_on(count, now);
    }
    count->last = now;
    if (count->total >> 32 > before >> 32) {
        *rolled = count->on_rollover;
    }
    return MEDLEY_OK;
}

static void
count_end(med_count **place)
{
    med_count *count = *place;
    *place = count->next;
    if (count->attribute <= MEDLEY_RSRC_CACHE_MISSES) {
        med_port_counter_close(&count->port);
    }
    med_port_heap_give(count, sizeof *count);
}

void
med_resource_counts_end(med_tree *tree)
{
    while (tree->counts) {
        count_end(&tree->counts);
    }
}

/* Of a resource of the tree: what kind of attribute is it? */
static medley_status_t
dynamic_check(const mrapi_resource_t *face, uint32_t attribute)
{
    const med_resource *resource = (const med_resource *)(const void *)face;
    med_resource_value ignored;
    if (is_dynamic(resource, attribute)) {
        return MEDLEY_OK;
    }
    medley_status_t status = static_read(resource, attribute, &ignored);
    return status == MEDLEY_OK ? MEDLEY_ERR_ARGUMENT : status;
}

/* ---- The calls ------------------------------------------------------------------------------- */

medley_status_t
med_resource_read(const mrapi_resource_t *face, uint32_t attribute, med_resource_value *value)
{
    void (*rolled)(void) = NULL;
    med_tree *tree = med_resource_lock(face);
    if (!tree) {
        return MEDLEY_ERR_STALE;
    }
    const med_resource *resource = (const med_resource *)(const void *)face;
    medley_status_t status;
    *value = (med_resource_value){.text = NULL};
    if (is_dynamic(resource, attribute)) {
        med_count *count = *count_place(tree, face, attribute);
        status = count ? count_look(tree, count, &rolled) : MEDLEY_EMPTY;
        value->number = count ? count->total : 0;
    } else {
        status = static_read(resource, attribute, value);
    }
    med_resource_unlock();
    if (rolled) {
        rolled();
    }
    return status;
}

/* With the lock. */
static medley_status_t
start(med_tree *tree, const mrapi_resource_t *face, uint32_t attribute, void (*on_rollover)(void))
{
    medley_status_t status = dynamic_check(face, attribute);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (*count_place(tree, face, attribute)) {
        return MEDLEY_ERR_EXISTS;
    }
    med_count *count = med_port_heap_take(sizeof *count);
    if (!count) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    *count = (med_count){.next = tree->counts,
                         .resource = (const med_resource *)(const void *)face,
                         .attribute = attribute,
                         .port = {.handle = -1},
                         .on_rollover = on_rollover};
    if (attribute <= MEDLEY_RSRC_CACHE_MISSES) {
        status = port_open(tree, count);
    }
    if (status == MEDLEY_OK) {
        status = source_read(tree, count, &count->last);
        begin_anew(count);
    }
    tree->counts = count;
    if (status != MEDLEY_OK) {
        count_end(&tree->counts);
    }
    return status;
}

medley_status_t
med_resource_count_start(const mrapi_resource_t *face,
                         uint32_t attribute,
                         void (*on_rollover)(void))
{
    med_tree *tree = med_resource_lock(face);
    if (!tree) {
        return MEDLEY_ERR_STALE;
    }
    medley_status_t status = start(tree, face, attribute, on_rollover);
    med_resource_unlock();
    return status;
}

/* Looks at a started count for the last time, and ends it, or begins it anew. */
static medley_status_t
look_and(bool end, const mrapi_resource_t *face, uint32_t attribute)
{
    void (*rolled)(void) = NULL;
    med_tree *tree = med_resource_lock(face);
    if (!tree) {
        return MEDLEY_ERR_STALE;
    }
    medley_status_t status = dynamic_check(face, attribute);
    med_count **place = count_place(tree, face, attribute);
    if (status == MEDLEY_OK && !*place) {
        status = MEDLEY_EMPTY;
    } else if (status == MEDLEY_OK) {
        status = count_look(tree, *place, &rolled);
        begin_anew(*place);
        if (end) {
            status = MEDLEY_OK; /* whatever has gone */
            count_end(place);
        }
    }
    med_resource_unlock();
    if (rolled) {
        rolled();
    }
    return status;
}

medley_status_t
med_resource_count_reset(const mrapi_resource_t *face, uint32_t attribute)
{
    return look_and(false, face, attribute);
}

medley_status_t
med_resource_count_stop(const mrapi_resource_t *face, uint32_t attribute)
{
    return look_and(true, face, attribute);
}
