/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nodes: coming, going, starting, joining.
 *
 * A row is owned by the process named in it. It leaves by med_node_leave (its own thread, in order
 * or at the thread's end) or by med_node_recover (its process died). Both free what it holds by the
 * same code: a lock left locked is a lock whose owner died.
 *
 * A started node that has ended keeps its row in the phase ENDED until it is joined, as a thread
 * does; the join removes it. A detached one removes its own.
 *
 * What its process knows of a node (med_self) is filled before the row can be found. Of it, other
 * threads look at the word `join` only, which names the life of the row it speaks of.
 *
 *   join: JOIN_NEVER      not started by the library, or detached, or it could not be started
 *         JOIN_STARTING   its thread is being made; a join waits for that
 *         JOIN_READY      to be joined; who takes it from here joins, alone
 *         JOIN_TAKEN      somebody joins; back to READY when he cannot
 */
#include "mrapi/node.h"

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "mrapi/domain.h"
#include "mrapi/event.h"
#include "mrapi/parts.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

static uint32_t
touched_words(const med_limits *limits)
{
    return med_kind_touch_first(limits, MED_KIND_COUNT);
}

uint32_t
med_node_row_bytes(const med_limits *limits)
{
    uint32_t bytes = (uint32_t)(sizeof(med_node_row) + touched_words(limits) * sizeof(atomic32));
    return (bytes + 127) / 128 * 128;
}

/* ---- A new node's row ------------------------------------------------------------------------ */

enum {
    JOIN_NEVER,
    JOIN_STARTING,
    JOIN_READY,
    JOIN_TAKEN
};

static uint32_t
join_word(uint32_t state, uint32_t generation)
{
    return state | generation << 16;
}

static void
self_tables_fill(med_self *self, const med_system *system, med_node_row *row)
{
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        const med_table_view *view = &system->tables[k];
        uint32_t first = med_kind_touch_first(&system->limits, (med_kind)k);
        self->tables[k] = (med_self_table){.rows = view->rows,
                                           .row_count = view->row_count,
                                           .row_bytes = view->row_bytes,
                                           .touched = med_node_touched(row) + first};
    }
}

static void
self_fill(med_system *system, const med_node_request *request, uint32_t index, uint32_t generation)
{
    med_self *self = &system->selves[index];
    bool started = request->kind == MED_NODE_STARTED;
    bool joinable = started && !request->detached;
    med_node_row *row = (med_node_row *)(void *)med_table_row(&system->nodes, index);
    /* Field by field: `join` may be looked at by who still looks for an earlier life of the row. */
    self->system = system;
    self->row = row;
    self->ref = med_node_ref(index, generation);
    self->index = index;
    self->generation = generation;
    self->domain = request->domain;
    self->node = request->node;
    self->thread_id = 0;
    self->scope = system->scope;
    self->sharers = system->limits.sharers;
    self_tables_fill(self, system, row);
    self->recent_sem = (med_self_recent){.unit = NULL};
    self->recent_rwl = (med_self_recent){.unit = NULL};
    self->unit = med_units_spread(index, self->sharers);
    self->next_look_ns = 0;
    for (uint32_t i = 0; i < MED_SELF_RMEMS_RECENT; i++) {
        self->rmem_recent[i] = NULL;
    }
    /* Apart from those of its number's former life, and of other nodes. */
    self->mutex_key = self->ref << 14;
    self->owner_died = false;
    self->has_trees = false;
    self->waiter = (med_waiter){.spin_ns = 0};
    self->heap = NULL;
    self->process_heap = &system->heap;
    self->exchange = NULL;
    self->started = started;
    self->joinable = joinable;
    /* Relaxed: published with the row, for a joiner who finds it (T1 in table.c). */
    atomic32_store_relaxed(&self->join,
                           join_word(joinable ? JOIN_STARTING : JOIN_NEVER, generation));
}

typedef struct fill_context {
    med_system *system;
    const med_node_request *request;
} fill_context;

/* Relaxed throughout: published with the row (T1 in table.c). */
static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    const fill_context *fill_with = context;
    med_system *system = fill_with->system;
    med_node_row *node = (med_node_row *)(void *)row;
    self_fill(system, fill_with->request, index, generation);
    uint32_t bit = index / 64;
    atomic32 *chunk = &med_system_process(system, system->process_index)->node_rows[bit / 32];
    (void)atomic32_fetch_or_relaxed(chunk, 1u << bit % 32);
    bool expected = fill_with->request->expected;
    atomic32_store_relaxed(&node->process_ref, expected ? 0 : system->process_ref);
    atomic32_store_relaxed(&node->thread_id, 0);
    atomic64_store_relaxed(&node->since_ns, med_port_clock_ns());
    atomic32_store_relaxed(&node->kind, (uint32_t)fill_with->request->kind);
    atomic32_store_relaxed(&node->phase, expected ? MED_NODE_EXPECTED : MED_NODE_STARTING);
    atomic32_store_relaxed(&node->waiting_for, 0);
    atomic32_store_relaxed(&node->sleeps, 0);
    atomic32_store_relaxed(&node->making, 0);
    for (uint32_t i = 0; i < touched_words(&system->limits); i++) {
        atomic32_store_relaxed(&med_node_touched(node)[i], 0);
    }
}

static void
tell(const char *what, const med_self *self)
{
    if (!med_log_wanted(MED_LOG_DEBUG)) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, "node ");
    med_text_number(&text, self->node);
    med_text_string(&text, " of domain ");
    med_text_number(&text, self->domain);
    med_text_string(&text, " ");
    med_text_string(&text, what);
    med_log(MED_LOG_DEBUG, &text);
}

/* ---- Leaving --------------------------------------------------------------------------------- */

/* Frees what the node holds of one kind. Only where its map says it ever took any. */
static medley_status_t
kind_recover(med_system *system, med_kind kind, med_node_row *row, uint32_t ref)
{
    uint32_t first = med_kind_touch_first(&system->limits, kind);
    uint32_t words = med_kind_touch_first(&system->limits, (med_kind)(kind + 1)) - first;
    medley_status_t status = MEDLEY_OK;
    for (uint32_t word = 0; word < words && status == MEDLEY_OK; word++) {
        /* Relaxed, both: their writer is the caller, or dead. */
        uint32_t bits = atomic32_load_relaxed(&med_node_touched(row)[first + word]);
        for (; bits && status == MEDLEY_OK; bits &= bits - 1) {
            uint32_t bit = word * 32 + (uint32_t)__builtin_ctz(bits);
            status =
                med_kinds[kind].recover_rows(system, bit * MED_ROWS_PER_TOUCH, MED_ROWS_PER_TOUCH,
                                             ref, atomic32_load_relaxed(&row->thread_id));
        }
    }
    return status;
}

/* All kinds, whatever one of them says: who waits for a lock need not wait for a table. */
static medley_status_t
locks_recover(med_system *system, med_node_row *row, uint32_t ref)
{
    medley_status_t status = MEDLEY_OK;
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        if (med_kinds[k].recover_rows && kind_recover(system, (med_kind)k, row, ref) != MEDLEY_OK) {
            status = MEDLEY_TIMEOUT;
        }
    }
    med_parts_node_recover(system, ref);
    return status;
}

/* The row goes last: as long as it is there, what is left of the node is found again. */
medley_status_t
med_node_recover(med_system *system, uint32_t index, uint32_t generation)
{
    med_node_row *row = (med_node_row *)(void *)med_table_row(&system->nodes, index);
    medley_status_t status = locks_recover(system, row, med_node_ref(index, generation));
    if (med_port_has_processes()) {
        med_traced_recover(system, med_node_ref(index, generation));
    }
    if (status == MEDLEY_OK) {
        status = med_table_remove(&system->nodes, index, generation);
    }
    return status == MEDLEY_TIMEOUT ? status : MEDLEY_OK;
}

/* Of a node of this process that has no thread any more. */
static medley_status_t
row_leave(med_system *system, uint32_t index, uint32_t generation)
{
    med_node_row *row = (med_node_row *)(void *)med_table_row(&system->nodes, index);
    medley_status_t status = med_node_recover(system, index, generation);
    if (status == MEDLEY_TIMEOUT) {
        atomic32_store_relaxed(&row->phase, MED_NODE_LEFT); /* relaxed: ordered by U1 */
        atomic32_store_release(&system->leaves_undone, 1);  /* U1 left -> U2 (leaves_finish) */
    }
    return status;
}

/* The join does the rest. Relaxed: the thread's end orders it. */
static medley_status_t
leave_to_be_joined(med_self *self)
{
    medley_status_t status = locks_recover(self->system, self->row, self->ref);
    atomic32_store_relaxed(&self->row->phase, MED_NODE_ENDED);
    return status;
}

medley_status_t
med_node_leave(med_self *self)
{
    med_system *system = self->system;
    tell("goes", self);
    med_traced(system, self->ref, MED_TRACED_NODE_GOES, self->domain, self->node);
    med_event_tell(MEDLEY_EVENT_NODE_GOES);
    med_port_self_set(NULL);
    med_parts_node_leaves(self);
    if (self->joinable) {
        return leave_to_be_joined(self);
    }
    medley_status_t status = row_leave(system, self->index, self->generation);
    med_system_release(system);
    return status;
}

/* ---- Registering ----------------------------------------------------------------------------- */

static void
report_taken(const med_system *system, const med_node_request *request, uint32_t index)
{
    med_node_row *row = (med_node_row *)(void *)med_table_row(&system->nodes, index);
    /* Relaxed, both: for showing. */
    uint32_t owner = med_process_ref_index(atomic32_load_relaxed(&row->process_ref));
    if (!med_log_wanted(MED_LOG_ERROR)) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, "node ");
    med_text_number(&text, request->node);
    med_text_string(&text, " of domain ");
    med_text_number(&text, request->domain);
    med_text_string(&text, " is taken");
    if (med_port_has_processes() && owner < system->limits.processes) {
        med_text_string(&text, " by process ");
        med_text_number(&text,
                        atomic32_load_relaxed(&med_system_process(system, owner)->process_id));
    }
    med_text_string(&text, med_port_has_processes()
                               ? "; another number, or another system (MEDLEY_SYSTEM=name), is "
                                 "free of it"
                               : "; another number is free of it");
    med_log(MED_LOG_ERROR, &text);
}

/* A recovery takes milliseconds; whoever is at it may be kept from the processor for long. */
#define RECOVERY_PATIENCE_NS 2000000000u

/* Is the number still taken by that life of the row, its process alive? A dead one is recovered,
 * one that was only expected makes room. */
static bool
taken_by_living(med_system *system, uint32_t index, uint32_t generation)
{
    med_node_row *row = (med_node_row *)(void *)med_table_row(&system->nodes, index);
    /* Relaxed: a life begins and ends EXPECTED, and only that life is removed. */
    if (atomic32_load_relaxed(&row->phase) == MED_NODE_EXPECTED) {
        (void)med_table_remove(&system->nodes, index, generation);
        return false;
    }
    /* Relaxed: the look at the state that follows checks it. */
    uint32_t process_ref = atomic32_load_relaxed(&row->process_ref);
    bool alive = med_process_alive(system, process_ref);
    uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
    if (word != med_row_word(MED_ROW_LIVE, generation)) {
        return false;
    }
    if (!alive) {
        (void)med_process_recover(system, med_process_ref_index(process_ref));
    }
    return alive;
}

/* The nodes of this process that left and could not remove their rows: once more. */
static medley_status_t
leaves_finish(med_system *system)
{
    if (!med_port_has_processes()) {
        return MEDLEY_OK; /* no table is ever kept from its users */
    }
    /* Cleared first: who fails while this looks sets it again. Relaxed, the first look: it saves
     * the second. U2 left <- U1 (row_leave) */
    if (!atomic32_load_relaxed(&system->leaves_undone) ||
        !atomic32_fetch_and_acquire(&system->leaves_undone, 0)) {
        return MEDLEY_OK;
    }
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        med_node_row *row = (med_node_row *)(void *)med_table_row(&system->nodes, i);
        uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
        /* Relaxed: ordered by A1 and U2. */
        if (med_row_state_of(word) == MED_ROW_LIVE &&
            atomic32_load_relaxed(&row->process_ref) == system->process_ref &&
            atomic32_load_relaxed(&row->phase) == MED_NODE_LEFT &&
            row_leave(system, i, med_row_generation_of(word)) == MEDLEY_TIMEOUT) {
            return MEDLEY_TIMEOUT;
        }
    }
    return MEDLEY_OK;
}

static medley_status_t
insert(med_system *system,
       const med_node_request *request,
       med_key *key,
       uint32_t *index,
       uint32_t *generation)
{
    fill_context context = {.system = system, .request = request};
    if (request->node == MED_NODE_ANY) {
        return med_table_insert_any(&system->nodes, key, fill, &context, index, generation);
    }
    /* A dead holder's recovery may be under way elsewhere: the number is ours when it is done. */
    uint64_t until_ns = med_port_clock_ns() + RECOVERY_PATIENCE_NS;
    for (;;) {
        medley_status_t status =
            med_table_insert(&system->nodes, *key, fill, &context, index, generation);
        if (status != MEDLEY_ERR_EXISTS || !med_port_has_processes() ||
            taken_by_living(system, *index, *generation) || med_port_clock_ns() >= until_ns) {
            return status;
        }
        med_port_yield();
    }
}

medley_status_t
med_node_place(med_system *system, const med_node_request *request, med_self **self)
{
    bool any = request->node == MED_NODE_ANY;
    med_key key = {.high = request->domain, .low = any ? MED_NODE_ANY_FIRST : request->node};
    fill_context context = {.system = system, .request = request};
    uint32_t index, generation;
    medley_status_t status =
        any ? med_table_insert_any(&system->nodes, &key, fill, &context, &index, &generation)
            : med_table_insert(&system->nodes, key, fill, &context, &index, &generation);
    if (status == MEDLEY_OK) {
        *self = &system->selves[index];
    }
    return status;
}

medley_status_t
med_node_register(med_system *system, const med_node_request *request, med_self **self)
{
    if (med_port_has_processes()) {
        med_process_keep(system);
    }
    medley_status_t status = leaves_finish(system);
    if (status == MEDLEY_OK) {
        status = med_domain_join(system, request->domain);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    bool any = request->node == MED_NODE_ANY;
    med_key key = {.high = request->domain, .low = any ? MED_NODE_ANY_FIRST : request->node};
    uint32_t index, generation;
    status = insert(system, request, &key, &index, &generation);
    if (status == MEDLEY_ERR_LIMIT && med_process_recover_all(system) > 0) {
        status = insert(system, request, &key, &index, &generation);
    }
    if (status == MEDLEY_ERR_EXISTS) {
        report_taken(system, request, index);
    } else if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&system->limits, MED_LIMIT_NODES);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    med_self *mine = &system->selves[index];
    mine->node = key.low; /* the number that was found, where any would do */
    tell("comes", mine);
    med_traced(system, mine->ref, MED_TRACED_NODE_COMES, mine->domain, mine->node);
    med_system_retain(system);
    *self = mine;
    med_event_tell(MEDLEY_EVENT_NODE_COMES);
    return MEDLEY_OK;
}

void
med_node_enter(med_self *self)
{
    self->thread_id = med_port_thread_id();
    /* Relaxed, both: for showing, for who recovers the node when it is dead, and for who finds its
     * number in a lock (R4 in mutex_pi.c orders them). */
    atomic32_store_relaxed(&self->row->thread_id, self->thread_id);
    atomic32_store_relaxed(&self->row->phase, MED_NODE_RUNNING);
    med_port_self_set(self);
}

medley_status_t
med_node_become(uint32_t domain, uint32_t node)
{
    if (med_self_get()) {
        return MEDLEY_ERR_EXISTS;
    }
    med_system *system;
    medley_status_t status = med_system_attach_default(&system);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_node_request request = {.domain = domain, .node = node, .kind = MED_NODE_THREAD};
    med_self *self;
    status = med_node_register(system, &request, &self);
    if (status == MEDLEY_OK) {
        med_node_enter(self);
    }
    med_system_release(system); /* the node keeps it open now */
    return status;
}

/* ---- Alive? ---------------------------------------------------------------------------------- */

bool
med_node_is_there(const med_system *system, uint32_t domain, uint32_t node)
{
    uint32_t index, generation;
    const med_key key = {.high = domain, .low = node};
    if (med_table_find(&system->nodes, key, &index, &generation) != MEDLEY_OK) {
        return false;
    }
    med_node_row *row = (med_node_row *)(void *)med_table_row(&system->nodes, index);
    /* Relaxed: a life begins and ends EXPECTED. */
    return atomic32_load_relaxed(&row->phase) != MED_NODE_EXPECTED;
}

bool
med_node_alive(const med_system *system, uint32_t ref)
{
    uint32_t index = med_node_ref_index(ref);
    if (index >= system->limits.nodes) {
        return false;
    }
    const med_node_row *row = (const med_node_row *)(void *)med_table_row(&system->nodes, index);
    uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
    /* Relaxed: published with the row. */
    return word == med_row_word(MED_ROW_LIVE, med_node_ref_generation(ref)) &&
           med_process_alive(system, atomic32_load_relaxed(&row->process_ref));
}

medley_status_t
med_node_look(void *context, uint32_t node_ref)
{
    med_system *system = context;
    uint32_t index = med_node_ref_index(node_ref);
    if (med_port_has_processes()) {
        med_process_keep(system);
    }
    if (node_ref == 0 || med_node_alive(system, node_ref)) {
        return MEDLEY_OK; /* 0: it came free meanwhile */
    }
    if (index >= system->limits.nodes) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    const med_node_row *row = (const med_node_row *)(void *)med_table_row(&system->nodes, index);
    uint32_t process_ref = atomic32_load_relaxed(&row->process_ref); /* relaxed: checked there */
    medley_status_t status =
        process_ref ? med_process_look(system, process_ref) : MEDLEY_ERR_NOT_FOUND;
    uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
    /* What a node held is given back before its row is: a row of another life holds nothing. */
    bool there = word == med_row_word(MED_ROW_LIVE, med_node_ref_generation(node_ref));
    return there ? status : MEDLEY_ERR_NOT_FOUND;
}

/* ---- Started nodes --------------------------------------------------------------------------- */

static void *
started(void *argument)
{
    med_self *self = argument;
    med_node_enter(self);
    return self->entry(self->argument); /* the thread's end leaves the node (thread_ended) */
}

static void
report_not_started(uint32_t domain, uint32_t node, medley_status_t status)
{
    if (!med_log_wanted(MED_LOG_ERROR)) {
        return;
    }
    const char *why = med_port_thread_refusal(status);
    med_text text = {.length = 0};
    med_text_string(&text, "cannot start a thread for node ");
    med_text_number(&text, node);
    med_text_string(&text, " of domain ");
    med_text_number(&text, domain);
    med_text_string(&text, ": ");
    med_text_string(&text, why ? why : medley_status_text(status));
    med_log(MED_LOG_ERROR, &text);
}

medley_status_t
med_node_start(med_system *system,
               const med_node_request *request,
               const med_port_thread_attributes *attributes,
               void *(*entry)(void *),
               void *argument,
               med_port_thread *thread)
{
    med_self *self;
    medley_status_t status = med_node_register(system, request, &self);
    if (status != MEDLEY_OK) {
        return status;
    }
    self->entry = entry;
    self->argument = argument;
    bool joinable = self->joinable; /* a detached one may be gone, its place another's, below */
    uint32_t generation = self->generation;
    med_port_thread handle;
    status = med_port_thread_start(&handle, attributes, started, self);
    if (status != MEDLEY_OK) {
        /* Relaxed: there is nothing to see. Before the row goes, and its place is another's. */
        atomic32_store_relaxed(&self->join, join_word(JOIN_NEVER, generation));
        report_not_started(self->domain, self->node, status);
        (void)row_leave(system, self->index, generation);
        med_system_release(system);
        return status;
    }
    if (joinable) {
        self->thread = handle;
        /* J1 joinable -> J2 (join) */
        atomic32_store_release(&self->join, join_word(JOIN_READY, generation));
    }
    if (thread) {
        *thread = handle;
    }
    return MEDLEY_OK;
}

/* One joins: who takes the word from READY. */
static medley_status_t
join_take(med_self *self, uint32_t generation)
{
    for (;;) {
        uint32_t ready = join_word(JOIN_READY, generation);
        /* J2 joinable <- J1 (start, join_end) */
        if (atomic32_cas_acquire(&self->join, &ready, join_word(JOIN_TAKEN, generation))) {
            return MEDLEY_OK;
        }
        if (ready == join_word(JOIN_STARTING, generation)) {
            med_port_yield();
        } else if (ready == join_word(JOIN_TAKEN, generation)) {
            return MEDLEY_BUSY;
        } else if (ready == join_word(JOIN_NEVER, generation)) {
            return MEDLEY_ERR_NOT_OWNER;
        } else {
            return MEDLEY_ERR_NOT_FOUND; /* joined meanwhile, and its place another's */
        }
    }
}

/* The port refuses who would wait for himself: the node's own thread, under another number by now.
 * Then another may join it. */
static medley_status_t
join_end(med_self *self, uint32_t generation, void **result)
{
    if (med_port_thread_join(self->thread, result) == MEDLEY_OK) {
        return MEDLEY_OK;
    }
    /* J1 joinable -> J2 (join) */
    atomic32_store_release(&self->join, join_word(JOIN_READY, generation));
    return MEDLEY_ERR_ARGUMENT;
}

medley_status_t
med_node_join(med_system *system, uint32_t domain, uint32_t node, void **result)
{
    uint32_t index, generation;
    med_key key = {.high = domain, .low = node};
    if (med_table_find(&system->nodes, key, &index, &generation) != MEDLEY_OK) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    med_self *self = &system->selves[index];
    const med_node_row *row = (const med_node_row *)(void *)med_table_row(&system->nodes, index);
    /* Relaxed: written before the row could be found; of another life, `join` tells. */
    if (atomic32_load_relaxed(&row->process_ref) != system->process_ref) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    if (self == med_self_get()) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status = join_take(self, generation);
    if (status == MEDLEY_OK) {
        status = join_end(self, generation, result);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    status = row_leave(system, index, generation);
    med_system_release(system);
    return status;
}
