/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Remote memories and attachments in the registry. What may run together: everything, by any nodes.
 *
 *              linearises at
 *   create     the row's LIVE (T1 in table.c); that nothing overlaps is looked at under the lock of
 *              the remote memories' table
 *   attach     the attachment's LIVE; that the remote memory is there, and how others are attached,
 *              is looked at under the lock of the attachments' table
 *   delete     the row's REMOVING, under both locks: attachments first
 *   detach     the attachment's REMOVING
 *
 * Rows are constant while they are LIVE. So they are read between two looks at the state word, and
 * what a later life's words say is seen with the end of the life before (K1 -> K2).
 *
 * Progress: get is wait-free; the others block on the tables' locks. Death: rows name their nodes,
 * and a node sets its touch bit before its row is LIVE; a recovery removes the rows of one node,
 * each by its generation. Who dies in the middle holds a table's lock, and the table is repaired.
 */
#include "mrapi/rmem.h"

#include "mrapi/object.h"
#include "mrapi/rmem_cache.h"
#include "mrapi/rmem_window.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

static med_rmem_row *
row_at(const med_system *system, uint32_t index)
{
    return (med_rmem_row *)(void *)med_table_row(&system->rmems, index);
}

/* The row that a handle names, and the row's generation. MEDLEY_ERR_ARGUMENT, MEDLEY_ERR_STALE. */
static medley_status_t
row_of(const med_system *system, med_handle rmem, med_rmem_row **row, uint32_t *generation)
{
    uint32_t index = med_handle_index_of_kind(rmem, MED_HANDLE_RMEM);
    if (index >= system->rmems.row_count) {
        return MEDLEY_ERR_ARGUMENT;
    }
    *row = row_at(system, index);
    uint32_t word = atomic32_load_acquire(&(*row)->row.state); /* A1 live <- T1 (table.c) */
    *generation = med_row_generation_of(word);
    return med_handle_is_current(rmem, word) ? MEDLEY_OK : MEDLEY_ERR_STALE;
}

/* ---- Create ---------------------------------------------------------------------------------- */

typedef struct create_context {
    med_self *self;
    const med_rmem_request *request;
    uint32_t segment; /* 0: in none */
    uint32_t segment_offset;
} create_context;

/* Offset in the partition, or address. */
static med_rmem_place
place_of(const med_system *system, const med_rmem_request *request, uint64_t *address)
{
    uintptr_t partition = (uintptr_t)system->header;
    uintptr_t at = (uintptr_t)request->memory;
    uint32_t size = system->layout.size_bytes;
    bool inside =
        at >= partition && at - partition <= size && size - (at - partition) >= request->size_bytes;
    *address = inside ? at - partition : at;
    return inside ? MED_RMEM_IN_PARTITION : MED_RMEM_IN_OWNER;
}

static void
extent_fill(med_rmem_extent *extent, const med_system *system, const med_rmem_request *request)
{
    uint64_t address;
    med_rmem_place place = place_of(system, request, &address);
    /* K1 next life -> K2 (rmem_window.c), each. */
    atomic32_store_release(&extent->place, place);
    atomic32_store_release(&extent->size_bytes, request->size_bytes);
    atomic32_store_release(&extent->address_low, (uint32_t)address);
    atomic32_store_release(&extent->address_high, (uint32_t)(address >> 32));
}

static void
create_fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    const create_context *create = context;
    const med_rmem_request *request = create->request;
    const med_self *self = create->self;
    med_rmem_row *rmem = (med_rmem_row *)(void *)row;
    (void)generation;
    /* Before the row is LIVE: its recovery looks where this says. */
    med_object_touch(&self->tables[MED_KIND_RMEM], index);
    /* Relaxed, all: published with the row (T1 in table.c). */
    atomic32_store_relaxed(&rmem->domain, self->domain);
    atomic32_store_relaxed(&rmem->owner, self->ref);
    atomic32_store_relaxed(&rmem->access, request->access);
    /* K1 next life -> K2 (med_rmem_attributes, rmem_window.c), each. */
    atomic32_store_release(&rmem->attributes, request->attributes);
    atomic32_store_release(&rmem->process_ref, self->system->process_ref);
    atomic32_store_release(&rmem->segment, create->segment);
    atomic32_store_release(&rmem->segment_offset, create->segment_offset);
    /* K3 next life, as K1 -> K4 (rmem_window.c) */
    atomic32_store_release(&rmem->process_space, med_port_pi_space());
    extent_fill(&rmem->extent, self->system, request);
    extent_fill(&self->system->rmem_extents[index], self->system, request);
}

static bool
overlaps(const med_rmem_extent *extent, const med_rmem_request *request, uint64_t wanted)
{
    /* Relaxed, all: under the lock. */
    uint64_t at = atomic32_load_relaxed(&extent->address_low) |
                  (uint64_t)atomic32_load_relaxed(&extent->address_high) << 32;
    uint32_t size_bytes = atomic32_load_relaxed(&extent->size_bytes);
    return at < wanted + request->size_bytes && wanted < at + size_bytes;
}

/* Under the lock: does it overlap none of this process's? */
static medley_status_t
may_create(void *context)
{
    const create_context *create = context;
    const med_system *system = create->self->system;
    uint64_t wanted;
    med_rmem_place place = place_of(system, create->request, &wanted);
    for (uint32_t i = 0; i < system->rmems.row_count; i++) {
        const med_rmem_row *row = row_at(system, i);
        /* Relaxed, all: the lock orders them. */
        bool ours = med_row_state_of(atomic32_load_relaxed(&row->row.state)) == MED_ROW_LIVE &&
                    (atomic32_load_relaxed(&row->process_ref) == system->process_ref ||
                     place == MED_RMEM_IN_PARTITION) &&
                    atomic32_load_relaxed(&row->extent.place) == place;
        if (ours && overlaps(&row->extent, create->request, wanted)) {
            return MEDLEY_BUSY;
        }
    }
    return MEDLEY_OK;
}

/* Who stands in the way may be dead, and nobody has noticed yet. */
static void
dead_owners_look(med_system *system, medley_status_t status, uint32_t index)
{
    if (status == MEDLEY_ERR_EXISTS) {
        /* Relaxed: whom it names is looked at, whoever it is. */
        (void)med_node_look(system, atomic32_load_relaxed(&row_at(system, index)->owner));
    } else if (status == MEDLEY_ERR_LIMIT) {
        (void)med_process_recover_all(system);
    }
}

medley_status_t
med_rmem_create(med_self *self, const med_rmem_request *request, med_handle *rmem)
{
    med_system *system = self->system;
    create_context context = {.self = self, .request = request};
    bool any = request->number == MED_OBJECT_ANY;
    med_table_insertion insertion = {
        .key = {.low = any ? MED_OBJECT_USER_MAX + 1 : request->number},
        .any = any,
        .may = may_create,
        .fill = create_fill,
        .context = &context,
    };
    (void)med_shmem_holds(system, request->memory, request->size_bytes, &context.segment,
                          &context.segment_offset);
    medley_status_t status = med_table_insert(&system->rmems, &insertion);
    if (status == MEDLEY_ERR_EXISTS || status == MEDLEY_ERR_LIMIT) {
        dead_owners_look(system, status, insertion.index);
        status = med_table_insert(&system->rmems, &insertion);
    }
    if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&system->limits, MED_LIMIT_RMEMS);
    }
    if (status == MEDLEY_OK) {
        *rmem = med_handle_make(MED_HANDLE_RMEM, insertion.index, insertion.generation);
        med_traced(system, self->ref, MED_TRACED_CREATED, MED_KIND_RMEM, insertion.key.low);
    }
    return status;
}

/* ---- Get, attributes ------------------------------------------------------------------------- */

static bool
offers(const med_rmem_row *row, med_rmem_access access)
{
    uint32_t offered = atomic32_load_relaxed(&row->access); /* relaxed: constant */
    return offered == MED_RMEM_ANY || offered == (uint32_t)access;
}

/* Not, if it is another domain's and not shared. */
static bool
may_use(const med_self *self, const med_rmem_row *row)
{
    /* Relaxed, both: constant. */
    return atomic32_load_relaxed(&row->attributes) & MED_RMEM_DOMAIN_SHARED ||
           atomic32_load_relaxed(&row->domain) == self->domain;
}

medley_status_t
med_rmem_get(med_self *self, uint32_t number, med_rmem_access access, med_handle *rmem)
{
    med_system *system = self->system;
    med_key key = {.high = 0, .low = number};
    uint32_t index, generation;
    medley_status_t status = med_table_find(&system->rmems, key, &index, &generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    const med_rmem_row *row = row_at(system, index);
    if (!may_use(self, row)) {
        return MEDLEY_ERR_ACCESS;
    }
    if (!offers(row, access)) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    *rmem = med_handle_make(MED_HANDLE_RMEM, index, generation);
    return MEDLEY_OK;
}

medley_status_t
med_rmem_attributes(const med_self *self, med_handle rmem, uint32_t *attributes)
{
    med_rmem_row *row;
    uint32_t generation;
    medley_status_t status = row_of(self->system, rmem, &row, &generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    *attributes = atomic32_load_acquire(&row->attributes); /* K2 next life <- K1 (create_fill) */

    /* Of another life of the row by now? */
    return row_of(self->system, rmem, &row, &generation);
}

/* ---- Attach ---------------------------------------------------------------------------------- */

typedef struct attach_context {
    med_self *self;
    med_handle rmem;
    uint32_t generation; /* of the remote memory's row */
    med_rmem_access access;
} attach_context;

/* Under the lock of the attachments' table: what is true of its LIVE rows stays so. */
static bool
any_attachment(const med_system *system,
               med_handle rmem,
               bool (*is_it)(const med_rmem_attachment_row *row, uint32_t wanted),
               uint32_t wanted)
{
    const med_table_view *view = &system->rmem_attachments;
    for (uint32_t i = 0; i < view->row_count; i++) {
        const med_rmem_attachment_row *row =
            (const med_rmem_attachment_row *)(void *)med_table_row(view, i);
        /* Relaxed, all: the lock orders them. */
        if (med_row_state_of(atomic32_load_relaxed(&row->row.state)) == MED_ROW_LIVE &&
            atomic32_load_relaxed(&row->row.key_high) == rmem && is_it(row, wanted)) {
            return true;
        }
    }
    return false;
}

static bool
has_other_access(const med_rmem_attachment_row *row, uint32_t access)
{
    return atomic32_load_relaxed(&row->access) != access; /* relaxed: under the lock */
}

static bool
is_there(const med_rmem_attachment_row *row, uint32_t ignored)
{
    (void)row;
    (void)ignored;
    return true;
}

static medley_status_t
may_attach(void *context)
{
    const attach_context *attach = context;
    const med_system *system = attach->self->system;
    const med_rmem_row *row = row_at(system, med_handle_index(attach->rmem));
    uint32_t live = med_row_word(MED_ROW_LIVE, attach->generation);
    /* Relaxed: the caller has acquired it, and who deletes it holds the lock that is held here. */
    if (atomic32_load_relaxed(&row->row.state) != live) {
        return MEDLEY_ERR_STALE;
    }
    return any_attachment(system, attach->rmem, has_other_access, attach->access) ? MEDLEY_BUSY
                                                                                  : MEDLEY_OK;
}

static void
attach_fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    const attach_context *attach = context;
    med_rmem_attachment_row *attachment = (med_rmem_attachment_row *)(void *)row;
    (void)generation;
    /* As create. */
    med_object_touch(&attach->self->tables[MED_KIND_RMEM_ATTACHMENT], index);
    atomic32_store_relaxed(&attachment->access, attach->access); /* relaxed: published by T1 */
}

static med_key
attachment_key(const med_self *self, med_handle rmem)
{
    return (med_key){.high = rmem, .low = self->ref};
}

/* As dead_owners_look, of attachments: one pass over the table. */
static void
dead_users_look(med_system *system, medley_status_t status, med_handle rmem)
{
    if (status == MEDLEY_ERR_LIMIT) {
        (void)med_process_recover_all(system);
    }
    const med_table_view *view = &system->rmem_attachments;
    for (uint32_t i = 0; i < view->row_count; i++) {
        const med_row *row = med_table_row(view, i);
        /* Relaxed, all: whom it names is looked at, whoever it is. */
        if (med_row_state_of(atomic32_load_relaxed(&row->state)) == MED_ROW_LIVE &&
            atomic32_load_relaxed(&row->key_high) == rmem) {
            (void)med_node_look(system, atomic32_load_relaxed(&row->key_low));
        }
    }
}

medley_status_t
med_rmem_attach(med_self *self, med_handle rmem, med_rmem_access access)
{
    med_system *system = self->system;
    med_rmem_row *row;
    attach_context context = {.self = self, .rmem = rmem, .access = access};
    medley_status_t status = row_of(system, rmem, &row, &context.generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (!may_use(self, row)) {
        return MEDLEY_ERR_ACCESS;
    }
    if (!offers(row, access)) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    med_table_insertion insertion = {
        .key = attachment_key(self, rmem),
        .may = may_attach,
        .fill = attach_fill,
        .context = &context,
    };
    status = med_table_insert(&system->rmem_attachments, &insertion);
    if (status == MEDLEY_BUSY || status == MEDLEY_ERR_LIMIT) {
        dead_users_look(system, status, rmem);
        status = med_table_insert(&system->rmem_attachments, &insertion);
    }
    if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&system->limits, MED_LIMIT_RMEM_ATTACHMENTS);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    med_rmem_window *window = &system->rmem_windows[insertion.index];
    status = med_rmem_window_open(system, rmem, context.generation, access, window);
    if (status != MEDLEY_OK) {
        (void)med_table_remove(&system->rmem_attachments, insertion.index, insertion.generation);
        return status;
    }
    window->attachment_generation = insertion.generation;
    window->node_ref = self->ref;
    return MEDLEY_OK;
}

/* ---- Detach, delete -------------------------------------------------------------------------- */

medley_status_t
med_rmem_detach(med_self *self, med_handle rmem)
{
    med_system *system = self->system;
    med_rmem_row *row;
    uint32_t index, generation, attachment;
    medley_status_t there = row_of(system, rmem, &row, &generation);
    medley_status_t status =
        med_table_find(&system->rmem_attachments, attachment_key(self, rmem), &index, &attachment);
    if (status != MEDLEY_OK) {
        return there == MEDLEY_OK ? MEDLEY_ERR_NOT_FOUND : there;
    }
    med_rmem_window *window = &system->rmem_windows[index];
    if (window->cache && there == MEDLEY_OK) {
        there = med_rmem_cache_flush(window);
    }
    /* Also while nobody has noticed. */
    if (there == MEDLEY_OK && !med_process_alive(system, window->process_ref)) {
        there = MEDLEY_ERR_STALE;
    }
    status = med_table_remove(&system->rmem_attachments, index, attachment);
    return status == MEDLEY_TIMEOUT ? status : there;
}

void
med_rmem_node_leaves(med_self *self)
{
    const med_self_table *table = &self->tables[MED_KIND_RMEM_ATTACHMENT];
    for (uint32_t i = 0; i < table->row_count; i++) {
        const med_row *row = med_table_row(&self->system->rmem_attachments, i);
        /* Relaxed, both: the caller wrote its own rows, and flush looks whether it is one. Without
         * a cache, or of what is gone, there is nothing to send. */
        if (med_object_touched(table, i) && atomic32_load_relaxed(&row->key_low) == self->ref) {
            (void)med_rmem_flush(self, atomic32_load_relaxed(&row->key_high));
        }
    }
}

typedef struct delete_context {
    const med_system *system;
    med_handle rmem;
    uint32_t generation;
} delete_context;

/* Under the lock of the attachments' table. */
static medley_status_t
delete_unattached(void *context)
{
    const delete_context *gone = context;
    if (any_attachment(gone->system, gone->rmem, is_there, 0)) {
        return MEDLEY_BUSY;
    }
    return med_table_remove(&gone->system->rmems, med_handle_index(gone->rmem), gone->generation);
}

medley_status_t
med_rmem_delete(med_self *self, med_handle rmem)
{
    med_rmem_row *row;
    delete_context context = {.system = self->system, .rmem = rmem};
    medley_status_t status = row_of(self->system, rmem, &row, &context.generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (atomic32_load_relaxed(&row->owner) != self->ref) { /* relaxed: constant */
        return MEDLEY_ERR_NOT_OWNER;
    }
    uint32_t number = med_traced_word(&row->row.key_low);
    status = med_table_hold(&self->system->rmem_attachments, delete_unattached, &context);
    if (status == MEDLEY_BUSY) {
        dead_users_look(self->system, status, rmem);
        status = med_table_hold(&self->system->rmem_attachments, delete_unattached, &context);
    }
    if (status == MEDLEY_OK) {
        med_traced(self->system, self->ref, MED_TRACED_DELETED, MED_KIND_RMEM, number);
    }
    return status;
}

/* ---- Recovery -------------------------------------------------------------------------------- */

medley_status_t
med_rmem_recover_rows(
    med_system *system, uint32_t first, uint32_t count, uint32_t node_ref, uint32_t thread_id)
{
    medley_status_t status = MEDLEY_OK;
    (void)thread_id;
    for (uint32_t i = first;
         i < first + count && i < system->rmems.row_count && status != MEDLEY_TIMEOUT; i++) {
        const med_rmem_row *row = row_at(system, i);
        uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
        /* Relaxed: constant while it is LIVE; of another life, remove refuses. */
        if (med_row_state_of(word) == MED_ROW_LIVE &&
            atomic32_load_relaxed(&row->owner) == node_ref) {
            status = med_table_remove(&system->rmems, i, med_row_generation_of(word));
        }
    }
    return status == MEDLEY_TIMEOUT ? status : MEDLEY_OK;
}

medley_status_t
med_rmem_attachment_recover_rows(
    med_system *system, uint32_t first, uint32_t count, uint32_t node_ref, uint32_t thread_id)
{
    const med_table_view *view = &system->rmem_attachments;
    medley_status_t status = MEDLEY_OK;
    (void)thread_id;
    for (uint32_t i = first; i < first + count && i < view->row_count && status != MEDLEY_TIMEOUT;
         i++) {
        const med_row *row = med_table_row(view, i);
        uint32_t word = atomic32_load_acquire(&row->state); /* A1 live <- T1 (table.c) */
        /* Relaxed: as above. */
        if (med_row_state_of(word) == MED_ROW_LIVE &&
            atomic32_load_relaxed(&row->key_low) == node_ref) {
            status = med_table_remove(view, i, med_row_generation_of(word));
        }
    }
    return status == MEDLEY_TIMEOUT ? status : MEDLEY_OK;
}

/* ---- What this process keeps for itself ------------------------------------------------------ */

/* One piece: the windows, then the extents. */
static size_t
own_bytes(const med_system *system)
{
    return system->limits.rmem_attachments * sizeof(med_rmem_window) +
           system->limits.rmems * sizeof(med_rmem_extent);
}

medley_status_t
med_rmem_own_make(med_system *system)
{
    void *memory;
    medley_status_t status = med_port_memory_map(own_bytes(system), &memory);
    if (status == MEDLEY_OK) {
        system->rmem_windows = memory;
        system->rmem_extents =
            (med_rmem_extent *)(void *)(system->rmem_windows + system->limits.rmem_attachments);
    }
    return status;
}

void
med_rmem_own_end(med_system *system)
{
    if (!system->rmem_windows) {
        return;
    }
    for (uint32_t i = 0; i < system->limits.rmem_attachments; i++) {
        if (system->rmem_windows[i].rmem) {
            med_rmem_window_close(&system->rmem_windows[i]);
        }
    }
    med_port_memory_unmap(system->rmem_windows, own_bytes(system));
    system->rmem_windows = NULL;
}
