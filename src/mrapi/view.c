/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading while others write. Each row is read between two looks at its state word, and left out
 * when they differ: the state carries the generation, so what was read belongs to one life of the
 * row. Within that life words change one by one, as they do for everybody.
 *
 * Orders: all reads of a row's words are acquires, so that the second look comes after them; that
 * is all they are for (first look: A1 live <- T1, table.c). Progress: wait-free. Death: of the
 * reader, nothing; of others, it shows.
 */
#include "mrapi/view.h"

#include "mrapi/domain.h"
#include "mrapi/mutex.h"
#include "mrapi/mutex_pi.h"
#include "mrapi/rwl.h"
#include "mrapi/sem.h"
#include "mrapi/shmem.h"

/* Of rows that may change under our eyes: a state or key shows the row that it is of. The other
 * words are relaxed stores: for showing. */
static uint32_t
word(const atomic32 *a)
{
    /* A1 live <- T1 (table.c), L1 (process.c); A2 key <- T2 (table.c) */
    return atomic32_load_acquire(a);
}

static uint64_t
age_of(uint64_t since_ns)
{
    uint64_t now_ns = med_port_clock_common_ns();
    return since_ns < now_ns ? now_ns - since_ns : 0;
}

medley_status_t
med_view_inhabited(const char *name, bool *inhabited)
{
    med_port_shared shared;
    medley_status_t status = med_port_shared_open_aside(name, &shared);
    if (status != MEDLEY_OK && status != MEDLEY_EMPTY) {
        return status;
    }
    *inhabited = status == MEDLEY_OK;
    if (*inhabited) {
        med_port_shared_close(&shared);
    }
    return MEDLEY_OK;
}

void
med_view_system_read(const med_system *system, med_view_system *view)
{
    view->size_bytes = system->layout.size_bytes;
    view->age_ns = age_of(system->header->created_ns);
    view->instance = system->instance;
    view->creator_process_id = system->header->creator_process_id;
    view->on_death = system->on_death;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static med_view_life
life_of(const med_system *system, uint32_t index, uint32_t state)
{
    switch (med_process_state_of(state)) {
    case MED_PROCESS_LIVE:
        if (med_port_slot_held(&system->shared, index)) {
            return MED_VIEW_ALIVE;
        }
        return med_process_slot_lost(system, index) ? MED_VIEW_LOST : MED_VIEW_DEAD;
    case MED_PROCESS_RECOVERING:
        return MED_VIEW_RECOVERING;
    case MED_PROCESS_FREE:
    case MED_PROCESS_DEAD:
    default:
        return MED_VIEW_DEAD;
    }
}

bool
med_view_process_read(const med_system *system, uint32_t index, med_view_process *view)
{
    const med_process_row *row = med_system_process(system, index);
    uint32_t state = word(&row->state);
    med_process_state kind = med_process_state_of(state);
    if (kind == MED_PROCESS_FREE || kind > MED_PROCESS_RECOVERING) {
        return false;
    }
    view->process_id = word(&row->process_id);
    view->age_ns = age_of(atomic64_load_relaxed(&row->since_ns)); /* relaxed: for showing */
    view->life = life_of(system, index, state);
    uint32_t by = med_process_recoverer_of(state);
    bool at_it = kind == MED_PROCESS_RECOVERING && by < system->limits.processes;
    view->recovered_by = at_it ? med_process_number_here(system, by) : 0;
    return word(&row->state) == state;
}

/* ---- Domains --------------------------------------------------------------------------------- */

bool
med_view_domain_read(const med_system *system, uint32_t index, uint32_t *number)
{
    const med_row *row = med_table_row(&system->domains, index);
    uint32_t state = word(&row->state);
    *number = word(&row->key_low);
    return med_row_state_of(state) == MED_ROW_LIVE && word(&row->state) == state;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static const med_mutex_row *
mutex_at(const med_system *system, uint32_t index)
{
    return (const med_mutex_row *)(void *)med_table_row(&system->mutexes, index);
}

/* What kind of object a handle names; MED_KIND_COUNT: none that is waited for. */
static med_kind
kind_of(med_handle handle)
{
    switch (med_handle_kind_of(handle)) {
    case MED_HANDLE_MUTEX:
    case MED_HANDLE_MUTEX_PI:
        return MED_KIND_MUTEX;
    case MED_HANDLE_SEM:
        return MED_KIND_SEM;
    case MED_HANDLE_RWL:
        return MED_KIND_RWL;
    default:
        return MED_KIND_COUNT;
    }
}

/* Is it a live object that the node waits for? Then which. */
static bool
waits(const med_system *system, med_handle handle, med_view_node *view)
{
    uint32_t index = med_handle_index(handle);
    med_kind kind = kind_of(handle);
    if (kind == MED_KIND_COUNT || index >= system->tables[kind].row_count) {
        return false;
    }
    const med_row *row = med_table_row(&system->tables[kind], index);
    if (!med_handle_is_current(handle, word(&row->state))) {
        return false;
    }
    view->lock_kind = kind;
    view->lock_index = index;
    view->lock_number = word(&row->key_low);
    return true;
}

med_kind
med_view_handle_read(const med_system *system, uint32_t handle, bool *known, uint32_t *number)
{
    med_view_node node;
    *known = waits(system, handle, &node);
    *number = *known ? node.lock_number : 0;
    return kind_of(handle);
}

/* A row that nobody has had is as it was made, of the first generation. */
bool
med_view_was_joined(const med_system *system)
{
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        if (i != system->process_index && word(&med_system_process(system, i)->state) != 0) {
            return true;
        }
    }
    return false;
}

static med_view_node_state
node_state(const med_system *system, const med_node_row *row, med_view_node *view)
{
    uint32_t phase = word(&row->phase);
    if (phase == MED_NODE_EXPECTED) {
        return MED_VIEW_NODE_EXPECTED;
    }
    if (!med_process_alive(system, word(&row->process_ref))) {
        return MED_VIEW_NODE_DEAD;
    }
    if (phase == MED_NODE_ENDED || phase == MED_NODE_LEFT) {
        return MED_VIEW_NODE_ENDED;
    }
    if (phase == MED_NODE_STARTING) {
        return MED_VIEW_NODE_STARTING;
    }
    return waits(system, word(&row->waiting_for), view) ? MED_VIEW_NODE_WAITING
                                                        : MED_VIEW_NODE_RUNNING;
}

/* The row of the process that a reference names; NULL when it has another owner by now. */
static const med_process_row *
process_of(const med_system *system, uint32_t ref)
{
    uint32_t index = med_process_ref_index(ref);
    if (index >= system->limits.processes) {
        return NULL;
    }
    const med_process_row *row = med_system_process(system, index);
    uint32_t state = word(&row->state);
    bool same = med_process_state_of(state) != MED_PROCESS_FREE &&
                med_process_generation_of(state) == med_process_ref_generation(ref);
    return same ? row : NULL;
}

/* Who has another number here has other threads' numbers as well. */
static void
here_read(const med_system *system, uint32_t process_ref, med_view_node *view)
{
    bool known = process_of(system, process_ref) != NULL;
    uint32_t index = med_process_ref_index(process_ref);
    view->process_here = known ? med_process_number_here(system, index) : 0;
    bool same = view->process_here != 0 && view->process_here == view->process_id;
    view->thread_here = same ? view->thread_id : 0;
}

static med_node_kind
node_kind_of(uint32_t said)
{
    return said == MED_NODE_STARTED || said == MED_NODE_RUNTIME ? (med_node_kind)said
                                                                : MED_NODE_THREAD;
}

/* Others may have written there whatever they like, and this is printed. */
static void
name_read(const med_node_row *row, char name[MED_NODE_NAME_BYTES])
{
    med_node_name_get(row, name);
    for (char *letter = name; *letter; letter++) {
        if (*letter <= ' ' || *letter > '~') {
            *letter = '?';
        }
    }
}

bool
med_view_node_read(const med_system *system, uint32_t index, med_view_node *view)
{
    const med_node_row *row = med_system_node(system, index);
    uint32_t state = word(&row->row.state);
    if (med_row_state_of(state) != MED_ROW_LIVE) {
        return false;
    }
    view->domain = word(&row->row.key_high);
    view->number = word(&row->row.key_low);
    const med_process_row *process = process_of(system, word(&row->process_ref));
    view->process_id = process ? word(&process->process_id) : 0;
    view->thread_id = word(&row->thread_id);
    here_read(system, word(&row->process_ref), view);
    view->kind = node_kind_of(word(&row->kind));
    name_read(row, view->name);
    view->age_ns = age_of(atomic64_load_relaxed(&row->since_ns)); /* relaxed: for showing */
    view->sleeps = word(&row->sleeps);
    view->awaits_news = word(&row->news.word) & MED_WAIT_SLEEPS;
    view->state = node_state(system, row, view);
    view->kept = word(&row->is_kept) != 0;
    return word(&row->row.state) == state;
}

bool
med_view_node_name(
    const med_system *system, uint32_t index, uint32_t *ref, uint32_t *domain, uint32_t *number)
{
    if (index >= system->limits.nodes) {
        return false;
    }
    const med_node_row *row = med_system_node(system, index);
    uint32_t state = word(&row->row.state);
    *ref = med_node_ref(index, med_row_generation_of(state));
    *domain = word(&row->row.key_high);
    *number = word(&row->row.key_low);
    return med_row_state_of(state) == MED_ROW_LIVE && word(&row->row.state) == state;
}

/* ---- Locks ----------------------------------------------------------------------------------- */

static med_view_object
object_of(const med_object *object)
{
    return (med_view_object){.number = word(&object->row.key_low),
                             .domain = word(&object->domain),
                             .attributes = word(&object->attributes)};
}

bool
med_view_object_read(const med_system *system, med_kind kind, uint32_t index, med_view_object *view)
{
    const med_object *object =
        (const med_object *)(void *)med_table_row(&system->tables[kind], index);
    uint32_t state = word(&object->row.state);
    *view = object_of(object);
    return med_row_state_of(state) == MED_ROW_LIVE && word(&object->row.state) == state;
}

/* False: the node that the reference names is gone. */
static bool
owner_read(const med_system *system, uint32_t ref, uint32_t *domain, uint32_t *number)
{
    uint32_t index = med_node_ref_index(ref);
    if (index >= system->limits.nodes) {
        return false;
    }
    const med_node_row *row = med_system_node(system, index);
    uint32_t live = med_row_word(MED_ROW_LIVE, med_node_ref_generation(ref));
    if (word(&row->row.state) != live) {
        return false;
    }
    *domain = word(&row->row.key_high);
    *number = word(&row->row.key_low);
    return word(&row->row.state) == live;
}

static med_view_lock_state
free_state(const med_mutex_row *row)
{
    if (!(word(&row->object.attributes) & MED_MUTEX_PRIORITY_INHERITANCE)) {
        return word(&row->lock.word) & MED_LOCK_DIED ? MED_VIEW_LOCK_DIED : MED_VIEW_LOCK_FREE;
    }
    switch (word(&row->pi_death)) {
    case MED_MUTEX_TELL_NEXT:
        return MED_VIEW_LOCK_DIED;
    case MED_MUTEX_DEAD:
        return MED_VIEW_LOCK_DEAD;
    case MED_MUTEX_FORMER:
        return MED_VIEW_LOCK_FREE;
    default:
        return med_mutex_pi_is_gone(row) ? MED_VIEW_LOCK_DIED : MED_VIEW_LOCK_FREE;
    }
}

static bool
is_held(const med_mutex_row *row)
{
    return word(&row->object.attributes) & MED_MUTEX_PRIORITY_INHERITANCE
               ? med_mutex_pi_thread(row) != 0
               : word(&row->lock.word) & MED_LOCK_OWNER_MASK;
}

bool
med_view_lock_read(const med_system *system, uint32_t index, med_view_lock *view)
{
    const med_mutex_row *row = mutex_at(system, index);
    uint32_t state = word(&row->object.row.state);
    if (med_row_state_of(state) != MED_ROW_LIVE) {
        return false;
    }
    uint32_t holder = med_mutex_holder(system, row);
    view->object = object_of(&row->object);
    view->slept = word(&row->slept);
    view->owner_known = false;
    view->depth = 0;
    if (holder == MED_LOCK_DEAD) {
        view->state = MED_VIEW_LOCK_DEAD;
    } else if (is_held(row)) {
        view->state = MED_VIEW_LOCK_HELD;
        view->depth = word(&row->depth);
        view->owner_known = owner_read(system, holder, &view->owner_domain, &view->owner_number);
    } else {
        view->state = free_state(row);
    }
    return word(&row->object.row.state) == state;
}

/* ---- Semaphores and reader/writer locks ------------------------------------------------------ */

bool
med_view_sem_read(const med_system *system, uint32_t index, med_view_sem *view)
{
    med_sem_row *row = (med_sem_row *)(void *)med_table_row(&system->sems, index);
    uint32_t state = word(&row->object.row.state);
    if (med_row_state_of(state) != MED_ROW_LIVE) {
        return false;
    }
    med_units units = med_sem_units(row, system->limits.sharers);
    view->object = object_of(&row->object);
    view->limit = units.count;
    view->held = med_units_held(&units);
    view->slept = word(&row->slept);
    return word(&row->object.row.state) == state;
}

static med_view_lock_state
writer_state(uint32_t writer)
{
    switch (writer & MED_LOCK_OWNER_MASK) {
    case 0:
        return writer & MED_LOCK_DIED ? MED_VIEW_LOCK_DIED : MED_VIEW_LOCK_FREE;
    case MED_LOCK_DEAD:
        return MED_VIEW_LOCK_DEAD;
    default:
        return MED_VIEW_LOCK_HELD;
    }
}

bool
med_view_rwl_read(const med_system *system, uint32_t index, med_view_rwl *view)
{
    med_rwl_row *row = (med_rwl_row *)(void *)med_table_row(&system->rwls, index);
    uint32_t state = word(&row->object.row.state);
    if (med_row_state_of(state) != MED_ROW_LIVE) {
        return false;
    }
    med_units units = med_rwl_units(row, system->limits.sharers);
    uint32_t writer = word(&row->lock.writer.word);
    view->object = object_of(&row->object);
    view->limit = units.count;
    view->readers = med_units_held(&units);
    view->state = writer_state(writer);
    view->coming = view->state == MED_VIEW_LOCK_HELD && (writer & MED_RWLOCK_COMING);
    view->owner_known =
        view->state == MED_VIEW_LOCK_HELD &&
        owner_read(system, writer & MED_LOCK_OWNER_MASK, &view->owner_domain, &view->owner_number);
    view->slept = word(&row->slept);
    return word(&row->object.row.state) == state;
}

/* ---- Remote memory --------------------------------------------------------------------------- */

static uint32_t
attachments_of(const med_system *system, med_handle rmem)
{
    const med_table_view *table = &system->rmem_attachments;
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const med_row *row = med_table_row(table, i);
        count +=
            med_row_state_of(word(&row->state)) == MED_ROW_LIVE && word(&row->key_high) == rmem;
    }
    return count;
}

bool
med_view_rmem_read(const med_system *system, uint32_t index, med_view_rmem *view)
{
    const med_rmem_row *row = (const med_rmem_row *)(void *)med_table_row(&system->rmems, index);
    uint32_t state = word(&row->row.state);
    uint32_t access = word(&row->access);
    if (med_row_state_of(state) != MED_ROW_LIVE || access >= MED_RMEM_ACCESS_COUNT) {
        return false;
    }
    view->number = word(&row->row.key_low);
    view->size_bytes = word(&row->extent.size_bytes);
    view->access = (med_rmem_access)access;
    view->owner_known =
        owner_read(system, word(&row->owner), &view->owner_domain, &view->owner_number);
    view->attachments = attachments_of(
        system, med_handle_make(MED_HANDLE_RMEM, index, med_row_generation_of(state)));
    return word(&row->row.state) == state;
}

/* ---- Shared memory --------------------------------------------------------------------------- */

bool
med_view_shmem_read(const med_system *system, uint32_t index, med_view_shmem *view)
{
    const med_shmem_row *row = (const med_shmem_row *)(void *)med_table_row(&system->shmems, index);
    uint32_t state = word(&row->row.state);
    if (med_row_state_of(state) != MED_ROW_LIVE) {
        return false;
    }
    view->numbered = word(&row->row.key_high) == 0;
    view->number = word(&row->row.key_low);
    view->size_bytes = word(&row->size_bytes);
    view->domain = word(&row->domain);
    view->attributes = word(&row->attributes);
    view->place = word(&row->place);
    view->place_index = word(&row->place_index);
    view->attached = med_shmem_attached_count(system, row);
    view->address = word(&row->address_low) | (uint64_t)word(&row->address_high) << 32;
    uint32_t node_count = word(&row->node_count);
    view->node_count = node_count < system->limits.nodes ? node_count : system->limits.nodes;
    return word(&row->row.state) == state;
}

uint32_t
med_view_shmem_node(const med_system *system, uint32_t index, uint32_t i)
{
    const med_shmem_row *row = (const med_shmem_row *)(void *)med_table_row(&system->shmems, index);
    return i < system->limits.nodes ? med_shmem_listed(system, row, i) : 0;
}

/* ---- Tables' locks --------------------------------------------------------------------------- */

static void
holder_node_read(const med_system *system,
                 uint32_t process_ref,
                 uint32_t thread_id,
                 med_view_holder *view)
{
    view->node_known = false;
    for (uint32_t i = 0; i < system->limits.nodes && !view->node_known; i++) {
        const med_node_row *row = med_system_node(system, i);
        uint32_t state = word(&row->row.state);
        if (med_row_state_of(state) == MED_ROW_LIVE && word(&row->process_ref) == process_ref &&
            word(&row->thread_id) == thread_id) {
            view->domain = word(&row->row.key_high);
            view->number = word(&row->row.key_low);
            view->node_known = word(&row->row.state) == state;
        }
    }
}

bool
med_view_holder_read(const med_system *system, med_kind kind, med_view_holder *view)
{
    const med_table *table = system->tables[kind].table;
    uint32_t ref = word(&table->lock.word) & MED_LOCK_OWNER_MASK;
    uint32_t index = med_process_ref_index(ref);
    if (ref == 0 || index >= system->limits.processes) {
        return false;
    }
    uint64_t since_ns = atomic64_load_relaxed(&table->held_since_ns); /* relaxed: for showing */
    view->held_ns = since_ns ? age_of(since_ns) : 0;
    uint32_t thread_id = word(&table->holder_thread);
    const med_process_row *row = process_of(system, ref);
    view->life = row ? life_of(system, index, word(&row->state)) : MED_VIEW_DEAD;
    view->process_id = row ? med_process_number_here(system, index) : 0;
    /* Who has another number here has other threads' numbers as well. */
    view->thread_id = row && view->process_id == word(&row->process_id) ? thread_id : 0;
    holder_node_read(system, ref, thread_id, view);
    return (word(&table->lock.word) & MED_LOCK_OWNER_MASK) == ref;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static uint32_t
processes_used(const med_system *system)
{
    med_view_process ignored;
    uint32_t used = 0;
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        used += med_view_process_read(system, i, &ignored);
    }
    return used;
}

/* The rows are the truth; the table's own count may be a dead process's. */
static uint32_t
rows_used(const med_table_view *table)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        used += med_row_state_of(word(&med_table_row(table, i)->state)) == MED_ROW_LIVE;
    }
    return used;
}

static void
table_limit_read(const med_table_view *table, med_view_limit *view)
{
    uint32_t high_water = word(&table->table->high_water);
    view->used = rows_used(table);
    uint32_t least = high_water > view->used ? high_water : view->used;
    view->high_water = least < view->limit ? least : view->limit;
}

static uint32_t
sharers_allowed(const med_system *system)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < system->sems.row_count; i++) {
        med_view_sem sem;
        most = med_view_sem_read(system, i, &sem) && sem.limit > most ? sem.limit : most;
    }
    for (uint32_t i = 0; i < system->rwls.row_count; i++) {
        med_view_rwl rwl;
        most = med_view_rwl_read(system, i, &rwl) && rwl.limit > most ? rwl.limit : most;
    }
    return most;
}

/* Of what is no table. */
static uint32_t
other_used(const med_system *system, med_limit which)
{
    switch (which) {
    case MED_LIMIT_SHARERS:
        return sharers_allowed(system);
    case MED_LIMIT_PROCESSES:
        return processes_used(system);
    default:
        return 0; /* of the exchange, which lies outside of the partition */
    }
}

void
med_view_limit_read(const med_system *system, med_limit which, med_view_limit *view)
{
    view->limit = system->limits.of[which];
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        if (med_kinds[k].limit == which) {
            table_limit_read(&system->tables[k], view);
            return;
        }
    }
    view->used = other_used(system, which);
    view->high_water = 0;
}
