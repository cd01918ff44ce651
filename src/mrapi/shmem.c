/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shared memory. What may run together: everything, by any nodes of any processes.
 *
 *              what makes it happen                      against what it stands
 *   create     the row becomes LIVE (T1 in table.c),     another of that number: the table's lock
 *              perhaps with the own bit set
 *   attach     the own bit is set, under that lock       delete: the same lock
 *   detach     the own bit is cleared                    delete sees the bit, or it came later
 *   delete     the row becomes REMOVING                  attach: the same lock
 *   recovery   the bit is cleared, under that lock,      an attach of the node that has the row of
 *              while the node's row is the dead one's    the dead one next
 *
 * The bits carry no generation. They need none: a node's bits are set and recovered under one lock,
 * and are recovered before its row can be another's. So who finds the node's row in the dead one's
 * life, under that lock, finds the dead one's bit.
 *
 * Edges: D1 unmapped (detach) -> D2 (delete): a bit that is seen clear means that its node is done
 * with the memory. M1 own life (create) -> M2 (recover_making): who reads what a node makes, and
 * then finds its row in the dead one's life, has read it of the dead one. K1 next life (fill) -> K2
 * (read), and K3 -> K4 of where it lies: who reads a word of a later life sees that the one before
 * has ended. The table's lock does the rest.
 *
 * Progress: attach, create and delete block while others are under the table's lock. A segment is
 * made before, mapped after, and unmapped without it by who detaches; only what is rarer goes under
 * it: the end of a segment, and its unmapping for a node that left it attached. Death at each step:
 * docs/design/memory.md. Numbers and sizes that are read from a row are compared with the file.
 */
#include "mrapi/shmem.h"

#include "mrapi/object.h"
#include "mrapi/process.h"
#include "mrapi/shmem_mapping.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

#define KEY_NUMBERED 0u
#define KEY_NAMELESS 1u

/* One of this size or below stays mapped until its maker attaches it. */
#define KEPT_MAX_BYTES (1u << 20)

/* Files of one name, when there are others under it. */
#define FILE_TRIES 32u

/* ---- Rows ------------------------------------------------------------------------------------ */

uint32_t
med_shmem_row_bytes(const med_limits *limits)
{
    uint32_t words = med_shmem_bit_words(limits) + limits->nodes;
    return (uint32_t)(sizeof(med_shmem_row) + words * sizeof(atomic32) + 63) / 64 * 64;
}

static atomic32 *
attached(med_shmem_row *row)
{
    return (atomic32 *)(void *)(row + 1);
}

static atomic32 *
listed(const med_system *system, med_shmem_row *row)
{
    return attached(row) + med_shmem_bit_words(&system->limits);
}

/* The row of a good handle, and its generation. */
static medley_status_t
row_of(const med_system *system, med_handle handle, med_shmem_row **row, uint32_t *generation)
{
    uint32_t index = med_handle_index_of_kind(handle, MED_HANDLE_SHMEM);
    if (index >= system->shmems.row_count) {
        return MEDLEY_ERR_ARGUMENT;
    }
    *row = med_shmem_row_at(system, index);
    uint32_t word = atomic32_load_acquire(&(*row)->row.state); /* A1 live <- T1 (table.c) */
    *generation = med_row_generation_of(word);
    return med_handle_is_current(handle, word) ? MEDLEY_OK : MEDLEY_ERR_STALE;
}

/* May the node get it? Relaxed: fixed at creation. Should the row be another's by now, what is said
 * is said of that one, and the handle is stale. */
static medley_status_t
permission(const med_self *self, med_shmem_row *row)
{
    const med_system *system = self->system;
    uint32_t count = atomic32_load_relaxed(&row->node_count);
    bool shared = atomic32_load_relaxed(&row->attributes) & MED_SHMEM_DOMAIN_SHARED;
    if (!shared && atomic32_load_relaxed(&row->domain) != self->domain) {
        return MEDLEY_ERR_ACCESS;
    }
    for (uint32_t i = 0; i < count && i < system->limits.nodes; i++) {
        if (atomic32_load_relaxed(&listed(system, row)[i]) == self->node) {
            return MEDLEY_OK;
        }
    }
    return count == 0 ? MEDLEY_OK : MEDLEY_ERR_NOT_OWNER;
}

/* ---- Create ---------------------------------------------------------------------------------- */

typedef struct fill_context {
    med_self *self;
    const med_shmem_request *request;
    const med_port_segment *segment;
    bool attaches;   /* at once: the segment is mapped */
    bool row_in_use; /* set by fill */
} fill_context;

/* As attach, in a row that nobody has seen yet. False: it is in use. */
static bool
fill_attached(const fill_context *with, med_shmem_row *row, uint32_t index)
{
    med_self *self = with->self;
    med_object_touch(&self->tables[MED_KIND_SHMEM], index);
    /* Relaxed: published with the row. */
    atomic32_store_relaxed(&attached(row)[self->index / 32], med_shmem_bit(self->index));
    return med_mapping_begin(self->system, index, self->index, with->segment);
}

/* Relaxed but for K1, K3: published with the row (T1 in table.c). The mapping comes before that,
 * for the other nodes of a private system, who have no file to map. */
static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    fill_context *with = context;
    med_system *system = with->self->system;
    const med_shmem_request *request = with->request;
    med_shmem_row *shmem = (med_shmem_row *)(void *)row;
    (void)generation;
    atomic32_store_relaxed(&shmem->file, with->segment->number);
    atomic32_store_relaxed(&shmem->domain, with->self->domain);
    atomic32_store_relaxed(&shmem->node_count, request->node_count);
    /* K1 next life -> K2 (read), each. */
    atomic32_store_release(&shmem->attributes, request->attributes);
    atomic32_store_release(&shmem->size_bytes, request->size_bytes);

    /* K3 next life, where it lies -> K4 (read), each. */
    atomic32_store_release(&shmem->place, request->place);
    atomic32_store_release(&shmem->place_index, request->place_index);
    atomic32_store_release(&shmem->address_low, (uint32_t)request->address);
    atomic32_store_release(&shmem->address_high, (uint32_t)(request->address >> 32));

    for (uint32_t i = 0; i < med_shmem_bit_words(&system->limits); i++) {
        atomic32_store_relaxed(&attached(shmem)[i], 0);
    }
    for (uint32_t i = 0; i < request->node_count; i++) {
        atomic32_store_relaxed(&listed(system, shmem)[i], request->nodes[i]);
    }
    with->row_in_use = with->attaches ? !fill_attached(with, shmem, index)
                                      : !med_mapping_keep(system, index, with->segment);
}

static medley_status_t
insert(med_self *self,
       const med_shmem_request *request,
       const med_port_segment *segment,
       bool attaches,
       med_handle *shmem)
{
    med_system *system = self->system;
    fill_context context = {
        .self = self, .request = request, .segment = segment, .attaches = attaches};
    bool any = request->number == MED_OBJECT_ANY;
    med_table_insertion insertion = {
        .key = {any ? KEY_NAMELESS : KEY_NUMBERED, any ? 0 : request->number},
        .any = any,
        .fill = fill,
        .context = &context,
    };
    medley_status_t status = med_table_insert(&system->shmems, &insertion);
    if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&system->limits, MED_LIMIT_SHMEMS);
    }
    if (status == MEDLEY_OK && context.row_in_use) {
        med_shmem_report("cannot make shared memory", request->number,
                         "its row is one that is in use: the system was written over");
        (void)med_table_remove(&system->shmems, insertion.index, insertion.generation);
        return MEDLEY_ERR_CORRUPT;
    }
    if (status == MEDLEY_OK) {
        *shmem = med_handle_make(MED_HANDLE_SHMEM, insertion.index, insertion.generation);
        med_traced(system, self->ref, MED_TRACED_CREATED, MED_KIND_SHMEM, insertion.key.low);
    }
    return status;
}

/* Of these places there are several. */
static bool
place_is_numbered(uint32_t place)
{
    return place == MED_PORT_PLACE_NUMA || place == MED_PORT_PLACE_TIGHT;
}

/* 0 is no number. Relaxed: what counts is that nobody gets the same. */
static uint32_t
file_number(med_system *system, uint32_t step)
{
    uint32_t number;
    do {
        number = atomic32_fetch_add_relaxed(&system->header->segments, step) + step;
    } while (number == 0);
    return number;
}

/* Anybody can read from the files there are which number is next, and take it. Nobody can guess
 * where they begin, nor where they go on from one that was taken. */
static medley_status_t
file_make(med_self *self, med_port_segment *segment)
{
    med_system *system = self->system;
    /* Relaxed: of several firsts each begins anywhere. */
    bool is_first = atomic32_load_relaxed(&system->header->segments) == 0;
    uint32_t step = is_first ? med_port_random() : 1;
    for (uint32_t tries = 1;; tries++) {
        segment->number = file_number(system, step);
        /* M1 own life -> M2 (recovery) */
        atomic32_store_release(&self->row->making, segment->number);
        medley_status_t status = med_port_segment_create(segment);
        bool taken = status == MEDLEY_ERR_EXISTS && !med_segments_are_private(system);
        if (!taken || tries == FILE_TRIES) {
            return taken ? MEDLEY_ERR_ACCESS : status;
        }
        step = med_port_random() | 1u;
    }
}

/* The segment, mapped when it is a private one. */
static medley_status_t
segment_make(med_self *self, const med_shmem_request *request, med_port_segment *segment)
{
    if (request->place_index != 0 && !place_is_numbered(request->place)) {
        med_shmem_report("cannot make shared memory", request->number, "there is no such resource");
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    segment->size_bytes = request->size_bytes;
    segment->place = request->place;
    segment->place_index = request->place_index;
    segment->wanted = request->address;
    medley_status_t status = file_make(self, segment);
    if (status != MEDLEY_OK) {
        if (med_log_wanted(MED_LOG_ERROR)) {
            med_shmem_report("cannot make shared memory", request->number,
                             segment->why[0] ? segment->why : medley_status_text(status));
        }
        return status == MEDLEY_ERR_EXISTS ? MEDLEY_ERR_NO_MEMORY : status;
    }
    return MEDLEY_OK;
}

static void
segment_unmake(med_system *system, const med_port_segment *segment)
{
    if (segment->address) {
        med_port_segment_unmap(segment->address, segment->size_bytes, segment->place);
    }
    med_segment_remove(system, segment->number);
}

/* A named one: when it is attached at once, or is to be kept so until it is. */
static medley_status_t
segment_map(const med_system *system,
            const med_shmem_request *request,
            bool attaches,
            med_port_segment *segment)
{
    if (med_segments_are_private(system)) {
        return MEDLEY_OK;
    }
    bool keeps = request->size_bytes <= KEPT_MAX_BYTES && !request->address;
    medley_status_t status = attaches || keeps ? med_port_segment_map(segment) : MEDLEY_OK;
    med_port_segment_close(segment);
    if (status == MEDLEY_OK || !attaches) {
        return MEDLEY_OK; /* the attach says why not */
    }
    med_shmem_report("cannot attach shared memory", request->number, segment->why);
    return MEDLEY_ERR_NO_MEMORY;
}

/* `address`: where it is to who attaches it at once, or NULL. */
static medley_status_t
create(med_self *self, const med_shmem_request *request, med_handle *shmem, void **address)
{
    med_system *system = self->system;
    uint32_t index, generation;
    med_key key = {.high = KEY_NUMBERED, .low = request->number};
    if (request->number != MED_OBJECT_ANY &&
        med_table_find(&system->shmems, key, &index, &generation) == MEDLEY_OK) {
        return MEDLEY_ERR_EXISTS; /* before anything large is made */
    }
    med_port_segment segment = med_segment_named(system, 0);
    medley_status_t status = segment_make(self, request, &segment);
    if (status == MEDLEY_OK) {
        status = segment_map(system, request, address != NULL, &segment);
        if (status == MEDLEY_OK) {
            status = insert(self, request, &segment, address != NULL, shmem);
        }
        if (status != MEDLEY_OK) {
            segment_unmake(system, &segment);
        } else if (address) {
            *address = segment.address;
        }
    }
    /* Should this one die now: a row says whose the file is, or it is gone. */
    atomic_compiler_barrier();
    atomic32_store_relaxed(&self->row->making, 0); /* relaxed: 0 names no file */
    return status;
}

medley_status_t
med_shmem_create(med_self *self, const med_shmem_request *request, med_handle *shmem)
{
    return create(self, request, shmem, NULL);
}

medley_status_t
med_shmem_create_attached(med_self *self,
                          const med_shmem_request *request,
                          med_handle *shmem,
                          void **address)
{
    return create(self, request, shmem, address);
}

medley_status_t
med_shmem_get(med_self *self, uint32_t number, med_handle *shmem)
{
    const med_table_view *view = &self->system->shmems;
    med_key key = {.high = KEY_NUMBERED, .low = number};
    uint32_t index, generation;
    medley_status_t status = med_table_find(view, key, &index, &generation);
    if (status == MEDLEY_OK) {
        status = permission(self, med_shmem_row_at(self->system, index));
    }
    if (status == MEDLEY_OK) {
        *shmem = med_handle_make(MED_HANDLE_SHMEM, index, generation);
    }
    return status;
}

static void
where_read(const med_shmem_row *row, med_shmem_request *made_with)
{
    /* K4 next life, where it lies <- K3 (fill), all. */
    made_with->place = atomic32_load_acquire(&row->place);
    made_with->place_index = atomic32_load_acquire(&row->place_index);
    made_with->address = atomic32_load_acquire(&row->address_low);
    made_with->address |= (uint64_t)atomic32_load_acquire(&row->address_high) << 32;
}

medley_status_t
med_shmem_read(med_self *self, med_handle handle, med_shmem_request *made_with)
{
    med_shmem_row *row;
    uint32_t generation;
    medley_status_t status = row_of(self->system, handle, &row, &generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    *made_with = (med_shmem_request){
        .number = atomic32_load_acquire(&row->row.key_low)}; /* A2 key <- T2 (table.c) */
    where_read(row, made_with);
    /* K2 next life <- K1 (fill), both. */
    made_with->attributes = atomic32_load_acquire(&row->attributes);
    made_with->size_bytes = atomic32_load_acquire(&row->size_bytes);

    /* Of another life of the row by now? */
    return row_of(self->system, handle, &row, &generation);
}

/* ---- Attach and detach ----------------------------------------------------------------------- */

/* Under the table's lock, which orders the bits. */
static medley_status_t
bit_set(med_row *row, uint32_t index, void *context)
{
    const med_self *self = context;
    atomic32 *word = &attached((med_shmem_row *)(void *)row)[self->index / 32];
    (void)index;
    /* Relaxed: the lock orders it. */
    uint32_t before = atomic32_fetch_or_relaxed(word, med_shmem_bit(self->index));
    return before & med_shmem_bit(self->index) ? MEDLEY_ERR_EXISTS : MEDLEY_OK;
}

static void
bit_clear(med_shmem_row *row, uint32_t node_index)
{
    /* D1 unmapped -> D2 (delete) */
    (void)atomic32_fetch_and_release(&attached(row)[node_index / 32], ~med_shmem_bit(node_index));
}

medley_status_t
med_shmem_attach(med_self *self, med_handle handle, void **address)
{
    med_system *system = self->system;
    med_shmem_row *row;
    uint32_t generation;
    medley_status_t status = row_of(system, handle, &row, &generation);
    if (status == MEDLEY_OK) {
        status = permission(self, row);
    }
    uint32_t index = med_handle_index(handle);
    if (status == MEDLEY_OK) {
        med_object_touch(&self->tables[MED_KIND_SHMEM], index);
        status = med_table_act(&system->shmems, index, generation, bit_set, self);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    status = med_mapping_use(system, index, self->index, address);
    if (status != MEDLEY_OK && status != MEDLEY_ERR_EXISTS) {
        bit_clear(row, self->index);
    }
    return status;
}

medley_status_t
med_shmem_detach(med_self *self, med_handle handle)
{
    med_shmem_row *row;
    uint32_t generation;
    medley_status_t status = row_of(self->system, handle, &row, &generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed: only this node sets and clears it. */
    if (!(atomic32_load_relaxed(&attached(row)[self->index / 32]) & med_shmem_bit(self->index))) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    bool used = med_mapping_release(self->system, med_handle_index(handle), self->index);
    bit_clear(row, self->index);
    return used ? MEDLEY_OK : MEDLEY_ERR_NOT_OWNER; /* a bit that was written over */
}

/* ---- Delete ---------------------------------------------------------------------------------- */

static medley_status_t
nobody_attached(med_row *row, uint32_t index, void *context)
{
    const med_system *system = context;
    (void)index;
    for (uint32_t i = 0; i < med_shmem_bit_words(&system->limits); i++) {
        /* D2 unmapped <- D1 (bit_clear) */
        if (atomic32_load_acquire(&attached((med_shmem_row *)(void *)row)[i])) {
            return MEDLEY_BUSY;
        }
    }
    return MEDLEY_OK;
}

/* Under the table's lock, so that no node comes and attaches meanwhile: a bit of a node row that
 * nobody has was scribbled. */
static medley_status_t
bits_of_nobody_clear(med_row *row, uint32_t index, void *context)
{
    const med_system *system = context;
    atomic32 *bits = attached((med_shmem_row *)(void *)row);
    (void)index;
    for (uint32_t i = 0; i < med_shmem_bit_words(&system->limits) * 32; i++) {
        uint32_t state = MED_ROW_FREE;
        /* Relaxed, both: the lock orders them, and who clears his own has done with it. */
        if (!(atomic32_load_relaxed(&bits[i / 32]) & med_shmem_bit(i))) {
            continue;
        }
        if (i < system->limits.nodes) {
            /* Relaxed: who has set the bit, under the lock, was LIVE by then. */
            state = atomic32_load_relaxed(&med_table_row(&system->nodes, i)->state);
        }
        if (med_row_state_of(state) != MED_ROW_LIVE) {
            (void)atomic32_fetch_and_relaxed(&bits[i / 32], ~med_shmem_bit(i));
        }
    }
    return MEDLEY_OK;
}

/* Recovers the dead among those who have it attached. */
static void
bury(med_system *system, med_shmem_row *row, uint32_t index, uint32_t generation)
{
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        const med_node_row *node = med_system_node(system, i);
        /* Relaxed, both: what is done about it looks again. */
        if (atomic32_load_relaxed(&attached(row)[i / 32]) & med_shmem_bit(i)) {
            uint32_t word = atomic32_load_relaxed(&node->row.state);
            (void)med_node_look(system, med_node_ref(i, med_row_generation_of(word)));
        }
    }
    (void)med_table_act(&system->shmems, index, generation, bits_of_nobody_clear, system);
}

medley_status_t
med_shmem_delete(med_self *self, med_handle handle)
{
    med_system *system = self->system;
    med_shmem_row *row;
    uint32_t generation;
    medley_status_t status = row_of(system, handle, &row, &generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    uint32_t index = med_handle_index(handle);
    uint32_t number = med_traced_word(&row->row.key_low);
    status = med_table_remove_if(&system->shmems, index, generation, nobody_attached, system);
    if (status == MEDLEY_BUSY) {
        bury(system, row, index, generation);
        status = med_table_remove_if(&system->shmems, index, generation, nobody_attached, system);
    }
    if (status == MEDLEY_OK) {
        med_traced(system, self->ref, MED_TRACED_DELETED, MED_KIND_SHMEM, number);
    }
    return status;
}

void
med_shmem_row_removed(const med_table_view *view, med_row *row)
{
    med_system *system = view->context;
    med_shmem_row *shmem = (med_shmem_row *)(void *)row;
    size_t offset = (size_t)((unsigned char *)row - view->rows);
    uint32_t index = (uint32_t)(offset / view->row_bytes);
    uint32_t file = atomic32_load_relaxed(&shmem->file); /* relaxed, both: the table's lock */
    med_mapping_drop_unused(system, index);
    med_segment_remove(system, file);
    atomic32_store_relaxed(&shmem->file, 0); /* relaxed: the table's lock */
}

/* ---- Recovery -------------------------------------------------------------------------------- */

typedef struct gone_node {
    med_system *system;
    uint32_t ref;
    bool of_this_process; /* whose mapping it used */
} gone_node;

/* Under the table's lock. The mapping first: with the bit cleared the row may be another memory's,
 * which other nodes of this process have mapped. */
static medley_status_t
gone_node_detach(med_row *row, uint32_t index, void *context)
{
    const gone_node *gone = context;
    uint32_t node = med_node_ref_index(gone->ref);
    atomic32 *word = &attached((med_shmem_row *)(void *)row)[node / 32];
    uint32_t live = med_row_word(MED_ROW_LIVE, med_node_ref_generation(gone->ref));
    /* Another may have recovered it, and the row may be a newcomer's. Relaxed: who has set the bit
     * as one, under the lock, was LIVE by then. */
    if (atomic32_load_relaxed(&med_table_row(&gone->system->nodes, node)->state) != live) {
        return MEDLEY_ERR_STALE;
    }
    if (gone->of_this_process) {
        (void)med_mapping_release(gone->system, index, node);
    }
    /* Relaxed: the lock orders it. */
    (void)atomic32_fetch_and_relaxed(word, ~med_shmem_bit(node));
    return MEDLEY_OK;
}

static medley_status_t
row_recover(med_system *system, uint32_t index, uint32_t node_ref)
{
    med_shmem_row *row = med_shmem_row_at(system, index);
    uint32_t node = med_node_ref_index(node_ref);
    gone_node gone = {
        .system = system, .ref = node_ref, .of_this_process = med_node_has_left(system, node_ref)};
    /* Relaxed, both: the node, which had seen the row LIVE when it attached it, is gone, or the
     * caller; and looked at again under the lock. */
    uint32_t word = atomic32_load_relaxed(&row->row.state);
    bool is_attached = atomic32_load_relaxed(&attached(row)[node / 32]) & med_shmem_bit(node);
    bool is_used = gone.of_this_process && med_mapping_is_used_by(system, index, node);
    if (med_row_state_of(word) != MED_ROW_LIVE || !(is_attached || is_used)) {
        return MEDLEY_OK;
    }
    medley_status_t status =
        med_table_act(&system->shmems, index, med_row_generation_of(word), gone_node_detach, &gone);
    return status == MEDLEY_TIMEOUT ? status : MEDLEY_OK;
}

medley_status_t
med_shmem_recover_rows(
    med_system *system, uint32_t first, uint32_t count, uint32_t node_ref, uint32_t thread_id)
{
    medley_status_t status = MEDLEY_OK;
    (void)thread_id;
    for (uint32_t i = first; i < first + count && i < system->limits.shmems && status == MEDLEY_OK;
         i++) {
        status = row_recover(system, i, node_ref);
    }
    return status;
}

/* A segment whose row is there is no longer the node's affair. A row that is half made is given
 * back by the repair of the table, and its segment with it, whatever is done here. */
void
med_shmem_recover_making(med_system *system, uint32_t node_ref)
{
    const med_node_row *node = med_system_node(system, med_node_ref_index(node_ref));
    uint32_t live = med_row_word(MED_ROW_LIVE, med_node_ref_generation(node_ref));
    uint32_t file = atomic32_load_acquire(&node->making); /* M2 own life <- M1 (create) */
    /* Relaxed: ordered by M2. */
    if (file == 0 || med_segments_are_private(system) ||
        atomic32_load_relaxed(&node->row.state) != live) {
        return;
    }
    for (uint32_t i = 0; i < system->limits.shmems; i++) {
        const med_shmem_row *row = med_shmem_row_at(system, i);
        /* Relaxed, both: what the dead one put there came with his death; and where another's life
         * has begun, his segment went with his. */
        uint32_t word = atomic32_load_relaxed(&row->row.state);
        if (med_row_state_of(word) == MED_ROW_LIVE && atomic32_load_relaxed(&row->file) == file) {
            return;
        }
    }
    med_segment_remove(system, file);
}

uint32_t
med_shmem_attached_count(const med_system *system, const med_shmem_row *row)
{
    const atomic32 *bits = (const atomic32 *)(const void *)(row + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < med_shmem_bit_words(&system->limits); i++) {
        uint32_t word = atomic32_load_relaxed(&bits[i]); /* relaxed: for showing */
        count += (uint32_t)__builtin_popcount(word);
    }
    return count;
}

uint32_t
med_shmem_listed(const med_system *system, const med_shmem_row *row, uint32_t i)
{
    const atomic32 *words = (const atomic32 *)(const void *)(row + 1);
    /* Relaxed: for showing. */
    return atomic32_load_relaxed(&words[med_shmem_bit_words(&system->limits) + i]);
}
