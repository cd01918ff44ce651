/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nodes: coming, and being there. How they leave is in node_leave.c, how the library starts and
 * joins them in node_start.c.
 *
 * A row is owned by the process named in it. What its process knows of a node (med_self) is filled
 * before the row can be found. Of it, other threads look at the words `join` and `left` only, which
 * name the life of the row they speak of.
 */
#include "mrapi/node.h"

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "base/wait.h"
#include "mrapi/domain.h"
#include "mrapi/event.h"
#include "mrapi/node_life.h"
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
    med_node_row *row = med_system_node(system, index);
    /* Field by field: `join` and `left` may be looked at by who still looks for an earlier life of
     * the row. */
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
    if (!med_port_is_small()) { /* else nothing goes at once */
        self->recent_sender = (med_self_recent_end){.at_once = MED_SELF_NO_END};
        self->recent_receiver = (med_self_recent_end){.at_once = MED_SELF_NO_END};
    }
    self->unit = med_units_index(med_units_lines(self->sharers), index % self->sharers);
    self->next_look_ns = 0;
    for (uint32_t i = 0; i < MED_SELF_RECENT_WINDOWS; i++) {
        self->recent_windows[i] = NULL;
    }
    /* Apart from those of its number's former life, and of other nodes. */
    self->mutex_key = self->ref << 14;
    self->owner_died = false;
    self->tells = false;
    self->has_trees = false;
    self->waiter = (med_waiter){.spin_ns = 0};
    self->heap = NULL;
    self->process_heap = &system->heap;
    self->exchange = NULL;
    self->only_for_exchange = false;
    if (med_port_has_processes()) {
        self->of_runtime = false;
    }
    self->started = started;
    self->joinable = joinable;
    atomic32_store_relaxed(&self->left, 0); /* relaxed, as the next: */
    /* Relaxed: published with the row, for a joiner who finds it (T1 in table.c). */
    atomic32_store_relaxed(
        &self->join,
        med_node_join_word(joinable ? MED_NODE_JOIN_STARTING : MED_NODE_JOIN_NEVER, generation));
}

/* Of one that comes. */
typedef struct coming {
    med_system *system;
    const med_node_request *request;
    med_table_insertion insertion; /* replaces: its place was kept for it, and stays so */
} coming;

/* Relaxed throughout: published with the row (T1 in table.c). */
static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    const coming *c = context;
    med_system *system = c->system;
    med_node_row *node = (med_node_row *)(void *)row;
    self_fill(system, c->request, index, generation);
    uint32_t bit = index / MED_PROCESS_NODE_ROWS_PER_BIT;
    atomic32 *chunk = &med_system_process(system, system->process_index)->node_rows[bit / 32];
    (void)atomic32_fetch_or_relaxed(chunk, 1u << bit % 32);
    med_node_row_begin(node, system->process_ref, c->request->kind, MED_NODE_STARTING);
    if (med_port_has_processes()) {
        atomic32_store_relaxed(&node->is_kept, c->insertion.replaces);
    }
    for (uint32_t i = 0; i < touched_words(&system->limits); i++) {
        atomic32_store_relaxed(&med_node_touched(node)[i], 0);
    }
}

void
med_node_tell(const char *what, const med_self *self)
{
    med_text text = {.length = 0};
    med_text_string(&text, "node ");
    med_text_number(&text, self->node);
    med_text_string(&text, " of domain ");
    med_text_number(&text, self->domain);
    med_text_string(&text, " ");
    med_text_string(&text, what);
    med_log(MED_LOG_DEBUG, &text);
}

/* ---- Registering ----------------------------------------------------------------------------- */

static void
report_taken(const med_system *system, const med_node_request *request, uint32_t index)
{
    med_node_row *row = med_system_node(system, index);
    /* Relaxed: for showing. */
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
        uint32_t process_id = med_process_number_here(system, owner);
        med_text_string(&text, process_id ? " by process "
                                          : " by a process that cannot be seen from here");
        if (process_id) {
            med_text_number(&text, process_id);
        }
    }
    med_text_string(&text, med_port_has_processes()
                               ? "; another number, or another system (MEDLEY_SYSTEM=name), is "
                                 "free of it"
                               : "; another number is free of it");
    med_log(MED_LOG_ERROR, &text);
}

/* Is the number still taken by that life of the row, its process alive? A dead one is recovered. */
static bool
taken_by_living(med_system *system, uint32_t index, uint32_t generation)
{
    med_node_row *row = med_system_node(system, index);
    /* Relaxed: the look at the state that follows checks it. */
    uint32_t process_ref = atomic32_load_relaxed(&row->process_ref);
    bool alive = med_process_alive(system, process_ref);
    uint32_t word = atomic32_load_relaxed(&row->row.state); /* relaxed: compared only */
    if (word != med_row_word(MED_ROW_LIVE, generation)) {
        return false;
    }
    if (!alive) {
        (void)med_process_recover(system, med_process_ref_index(process_ref));
    }
    return alive;
}

/* Under the number asked for; where any will do, from the first of those on. */
static void
coming_begin(coming *c, med_system *system, const med_node_request *request)
{
    bool any = request->node == MED_NODE_ANY;
    *c = (coming){
        .system = system,
        .request = request,
        .insertion = {.key = {request->domain, any ? MED_NODE_ANY_FIRST : request->node},
                      .any = any,
                      .fill = fill,
                      .context = c},
    };
}

/* A dead holder's recovery may be under way elsewhere: the number is ours when it is done. That of
 * one who is only expected is ours at once, also where the recovery took all the time. */
static medley_status_t
insert_once(coming *c, uint64_t until_ns)
{
    med_table_insertion *insertion = &c->insertion;
    uint32_t late = 0;
    for (uint32_t pauses = 0;;) {
        medley_status_t status = med_table_insert(&c->system->nodes, insertion);
        if (status != MEDLEY_ERR_EXISTS) {
            return status;
        }
        /* Of another life of the row by now, it is not replaced. */
        insertion->replaces = med_node_is_expected(med_system_node(c->system, insertion->index));
        late += med_port_clock_ns() >= until_ns;
        if (late > (insertion->replaces ? 1u : 0u)) {
            return status;
        }
        if (!insertion->replaces &&
            taken_by_living(c->system, insertion->index, insertion->generation)) {
            return status;
        }
        med_wait_pause(&pauses);
    }
}

/* Where all rows are taken, those of the dead come free, whoever recovers them. */
static medley_status_t
insert(coming *c)
{
    if (!med_port_has_processes()) {
        return med_table_insert(&c->system->nodes, &c->insertion); /* nobody dies */
    }
    uint64_t until_ns = med_port_clock_ns() + MED_PROCESS_RECOVERY_PATIENCE_NS;
    uint32_t pauses = 0;
    for (bool last = false;;) {
        medley_status_t status = insert_once(c, until_ns);
        if (status != MEDLEY_ERR_LIMIT || last) {
            return status;
        }
        /* When there is none any more, one may have ended since we tried. */
        last = med_process_recover_all(c->system) == 0 &&
               !med_process_recovery_await(c->system, until_ns, &pauses);
    }
}

medley_status_t
med_node_place(med_system *system, const med_node_request *request, med_self **self)
{
    coming c;
    coming_begin(&c, system, request);
    medley_status_t status = med_table_insert(&system->nodes, &c.insertion);
    if (status == MEDLEY_OK) {
        *self = &system->selves[c.insertion.index];
    }
    return status;
}

medley_status_t
med_node_register(med_system *system, const med_node_request *request, med_self **self)
{
    if (med_port_has_processes()) {
        med_process_keep(system);
    }
    medley_status_t status = med_node_leaves_finish(system);
    if (status == MEDLEY_OK) {
        status = med_domain_join(system, request->domain);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    coming c;
    coming_begin(&c, system, request);
    status = insert(&c);
    if (status == MEDLEY_ERR_EXISTS) {
        report_taken(system, request, c.insertion.index);
    } else if (status == MEDLEY_ERR_LIMIT && !(med_port_has_processes() && request->quiet)) {
        med_limits_report(&system->limits, MED_LIMIT_NODES);
    }
    if (status != MEDLEY_OK) {
        med_domain_leave(system, request->domain);
        return status;
    }
    med_self *mine = &system->selves[c.insertion.index];
    mine->node = c.insertion.key.low; /* the number that was found, where any would do */
    if (med_log_wanted(MED_LOG_DEBUG)) {
        med_node_tell("comes", mine);
    }
    if (med_traced_is_on(system)) {
        med_traced_more(system, mine->ref, MED_TRACED_NODE_COMES, med_port_process_id(),
                        mine->domain, mine->node);
    }
    med_system_retain(system);
    *self = mine;
    return MEDLEY_OK;
}

void
med_node_enter(med_self *self)
{
    med_node_arrive(self);
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
    med_node_stand_in before;
    bool of_runtime = med_port_has_processes() && med_node_stand_in_take(system, &before);
    med_node_request request = {.domain = domain, .node = node, .kind = MED_NODE_THREAD};
    med_self *self;
    status = med_node_register(system, &request, &self);
    if (status == MEDLEY_OK) {
        if (of_runtime) {
            self->of_runtime = true;
            med_node_name_set(self->row, before.name);
        }
        med_node_enter(self);
        med_event_tell(MEDLEY_EVENT_NODE_COMES); /* a callback is called by that node */
    } else if (of_runtime) {
        (void)med_node_stand_in_put(system, &before);
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
    return !med_node_is_expected(med_system_node(system, index));
}

void
med_node_wake_all(const med_system *system)
{
    for (uint32_t i = 0; med_port_has_threads() && i < system->limits.nodes; i++) {
        med_wait_wake(&med_system_node(system, i)->news, system->scope);
    }
}

bool
med_node_alive(const med_system *system, uint32_t ref)
{
    uint32_t index = med_node_ref_index(ref);
    if (index >= system->limits.nodes) {
        return false;
    }
    const med_node_row *row = med_system_node(system, index);
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
    const med_node_row *row = med_system_node(system, index);
    uint32_t process_ref = atomic32_load_relaxed(&row->process_ref); /* relaxed: checked there */
    medley_status_t status =
        process_ref ? med_process_look(system, process_ref) : MEDLEY_ERR_NOT_FOUND;
    /* What a node held is given back before its row is: a row of another life holds nothing.
     * Relaxed: who is told so takes away what the node had by compare-and-swap, from this node, and
     * that depends on this look. */
    uint32_t word = atomic32_load_relaxed(&row->row.state);
    bool there = word == med_row_word(MED_ROW_LIVE, med_node_ref_generation(node_ref));
    return there ? status : MEDLEY_ERR_NOT_FOUND;
}
