/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dependences. Only the task that makes them asks which of its children a new one has to wait for:
 * its table is its runner's alone. For each address it has the last children that named it in one
 * way (readers, or one writer, or a set of inoutset), and those before them in another way: a new
 * one of the same way waits for these, any other for those.
 *
 * What others change: the list of those that wait for a task, which its completion closes, and the
 * count of those that a task waits for. What may run together: `add` of one task, by its maker,
 * with `release` of all those that it depends on. The maker counts an edge before it puts it into
 * the list, and itself until it has put in all; so the count comes to nothing once, by whoever is
 * last. Edges are in the memory of the task that waits: read before it is counted down.
 *
 * A task that the table names keeps its memory, though it is complete: `holds`.
 *
 * mutexinoutset is taken for inout by the faces, which is one of the orders that it allows.
 */
#include "omp/task_depend.h"

#include <string.h>

#include "omp/block.h"
#include "omp/task_inner.h"

#define EDGES 6u
#define CLOSED ((uintptr_t)1)

typedef struct edge {
    struct edge *next;
    med_task *task; /* that waits */
} edge;

typedef struct edges {
    struct edges *more;
    uint32_t used;
    edge list[EDGES];
} edges;

/* Stays with a task's memory from the first one on that has dependences. */
typedef struct med_task_depend {
    atomic_word dependents; /* the first edge; or CLOSED: complete */
    atomic32 blockers;      /* so many it waits for, and its maker */
    atomic32 holds;         /* of its memory */
    edges edges;
} med_task_depend;

/* Tasks that named an address in one way, one after the other. */
typedef struct way {
    med_task **tasks;
    uint32_t count;
    uint32_t room;
    med_depend_kind kind;
} way;

typedef struct place {
    struct place *next;
    uintptr_t address;
    way last;
    way before;
} place;

typedef struct med_task_table {
    place **buckets;
    uint32_t size; /* a power of two */
    uint32_t places;
} med_task_table;

#define TABLE_FIRST 16u
#define WAY_FIRST 4u

/* ---- Edges ----------------------------------------------------------------------------------- */

static bool
is_complete(const med_task *task)
{
    /* A1 complete <- R1 (med_depend_release) */
    return atomic_word_load_acquire(&task->after->dependents) == CLOSED;
}

static edge *
new_edge(med_task *task)
{
    edges *first = &task->after->edges;
    edges *of = first->more ? first->more : first;
    if (of->used == EDGES) {
        of = med_task_memory(sizeof *of);
        of->more = first->more;
        first->more = of;
    }
    return &of->list[of->used++];
}

/* The task waits for the other one, should that not be complete. */
static void
wait_for(med_task *task, med_task *other)
{
    atomic_word *list = &other->after->dependents;
    if (other == task || is_complete(other)) {
        return;
    }
    edge *e = new_edge(task);
    e->task = task;
    /* Relaxed: its maker counts as well, until all edges are in. */
    (void)atomic32_fetch_add_relaxed(&task->after->blockers, 1);
    uintptr_t first = atomic_word_load_relaxed(list); /* relaxed: the compare-and-swap checks it */
    do {
        if (first == CLOSED) {
            (void)is_complete(other); /* what it did is seen */
            /* Relaxed: as above. */
            (void)atomic32_fetch_add_relaxed(&task->after->blockers, 0u - 1u);
            return;
        }
        e->next = (edge *)first;
        /* R2 edge -> A2 (med_depend_release) */
    } while (!atomic_word_cas_release(list, &first, (uintptr_t)e));
}

/* One less that the task waits for; how many are left. */
static uint32_t
unblock(med_task *task)
{
    /* A3 through with it <- R3 (unblock); R3 through with it -> A3 (unblock) */
    return atomic32_fetch_add_acq_rel(&task->after->blockers, 0u - 1u) - 1;
}

void
med_depend_release(med_member *member, med_task *task)
{
    /* A2 edge <- R2 (wait_for); R1 complete -> A1 (is_complete) */
    uintptr_t list = atomic_word_exchange_acq_rel(&task->after->dependents, CLOSED);
    edge *e = (edge *)list;
    while (e) {
        edge *next = e->next;
        med_task *waits = e->task;
        uint32_t left = unblock(waits);
        if (left == 0) {
            med_task_ready(member, waits);
        } else if (left == 1) {
            med_task_wake(member); /* its maker may be the one who waits */
        }
        e = next;
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void
after_begin(med_task *task)
{
    if (!task->after) {
        task->after = med_task_memory(sizeof *task->after);
    }
    /* Relaxed, these three: nobody else has it yet. */
    atomic_word_store_relaxed(&task->after->dependents, 0);
    atomic32_store_relaxed(&task->after->blockers, 1);
    atomic32_store_relaxed(&task->after->holds, 1);
    task->flags |= MED_TASK_DEPENDS;
}

static void
edges_give(edges *of)
{
    while (of->more) {
        edges *more = of->more;
        of->more = more->more;
        med_block_give(more);
    }
    of->used = 0;
}

bool
med_depend_drop(med_task *task)
{
    /* A4 over <- R4 (med_depend_drop); R4 over -> A4 (med_depend_drop) */
    if (atomic32_fetch_add_acq_rel(&task->after->holds, 0u - 1u) != 1) {
        return false;
    }
    edges_give(&task->after->edges);
    return true;
}

void
med_depend_destroy(med_task_depend *after)
{
    if (after) {
        edges_give(&after->edges);
        med_block_give(after);
    }
}

/* ---- Ways ------------------------------------------------------------------------------------ */

static void
way_clear(med_member *member, way *of)
{
    for (uint32_t i = 0; i < of->count; i++) {
        med_task_give(member, of->tasks[i]);
    }
    of->count = 0;
}

/* Those that are complete are left out. */
static void
way_sweep(med_member *member, way *of)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        if (is_complete(of->tasks[i])) {
            med_task_give(member, of->tasks[i]);
        } else {
            of->tasks[kept++] = of->tasks[i];
        }
    }
    of->count = kept;
}

static void
way_add(med_member *member, way *of, med_task *task)
{
    if (of->count == of->room) {
        way_sweep(member, of);
    }
    if (of->count * 2 >= of->room) {
        uint32_t room = of->room ? of->room * 2 : WAY_FIRST;
        med_task **tasks = med_task_memory(room * sizeof(med_task *));
        if (of->count) {
            memcpy(tasks, of->tasks, of->count * sizeof(med_task *));
        }
        med_block_give(of->tasks);
        of->tasks = tasks;
        of->room = room;
    }
    of->tasks[of->count++] = task;
    /* Relaxed, both: only its maker has it, until all edges are in. */
    uint32_t holds = atomic32_load_relaxed(&task->after->holds);
    atomic32_store_relaxed(&task->after->holds, holds + 1);
}

static void
wait_for_all(med_task *task, const way *of)
{
    for (uint32_t i = 0; i < of->count; i++) {
        wait_for(task, of->tasks[i]);
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static place **
bucket_of(const med_task_table *table, uintptr_t address)
{
    uint64_t mixed = (uint64_t)(address >> 2) * 0x9e3779b97f4a7c15u;
    return &table->buckets[(uint32_t)(mixed >> 32) & (table->size - 1)];
}

static place *
place_find(const med_task_table *table, uintptr_t address)
{
    place *at = *bucket_of(table, address);
    while (at && at->address != address) {
        at = at->next;
    }
    return at;
}

static void
place_give(med_member *member, place *at)
{
    way_clear(member, &at->last);
    way_clear(member, &at->before);
    med_block_give(at->last.tasks);
    med_block_give(at->before.tasks);
    med_block_give(at);
}

/* All places, into buckets of that number, but for those of which all tasks are complete. */
static void
table_rebuild(med_member *member, med_task_table *table, uint32_t size)
{
    const med_task_table old = *table;
    *table = (med_task_table){.buckets = med_task_memory(size * sizeof(place *)), .size = size};
    for (uint32_t i = 0; i < old.size; i++) {
        place *at = old.buckets[i];
        while (at) {
            place *next = at->next;
            way_sweep(member, &at->before);
            way_sweep(member, &at->last);
            if (at->last.count + at->before.count == 0) {
                place_give(member, at);
            } else {
                place **bucket = bucket_of(table, at->address);
                at->next = *bucket;
                *bucket = at;
                table->places++;
            }
            at = next;
        }
    }
    med_block_give(old.buckets);
}

static med_task_table *
table_of(med_member *member, med_task *parent)
{
    if (!parent->table) {
        parent->table = med_task_memory(sizeof *parent->table);
        table_rebuild(member, parent->table, TABLE_FIRST);
    }
    if (parent->table->places >= parent->table->size) {
        table_rebuild(member, parent->table, parent->table->size);
    }
    if (parent->table->places >= parent->table->size / 2) {
        table_rebuild(member, parent->table, parent->table->size * 2);
    }
    return parent->table;
}

static place *
place_of(med_member *member, med_task *parent, uintptr_t address)
{
    med_task_table *table = table_of(member, parent);
    place *at = place_find(table, address);
    if (!at) {
        place **bucket = bucket_of(table, address);
        at = med_task_memory(sizeof *at);
        at->address = address;
        at->next = *bucket;
        *bucket = at;
        table->places++;
    }
    return at;
}

void
med_depend_forget(med_member *member, med_task *task)
{
    med_task_table *table = task->table;
    if (!table) {
        return;
    }
    task->table = NULL;
    for (uint32_t i = 0; i < table->size; i++) {
        while (table->buckets[i]) {
            place *at = table->buckets[i];
            table->buckets[i] = at->next;
            place_give(member, at);
        }
    }
    med_block_give(table->buckets);
    med_block_give(table);
}

/* ---- A task ---------------------------------------------------------------------------------- */

static bool
is_same_way(const way *of, med_depend_kind kind)
{
    return of->count > 0 && of->kind == kind && kind != MED_DEPEND_OUT;
}

static void
add_one(med_member *member, med_task *task, const med_dependence *one)
{
    place *at = place_of(member, member->task, one->address);
    if (at->last.count > 0 && at->last.tasks[at->last.count - 1] == task) {
        return; /* named before, and no weaker */
    }
    if (!is_same_way(&at->last, one->kind)) {
        way unused = at->before;
        way_clear(member, &unused);
        at->before = at->last;
        at->last = unused;
        at->last.kind = one->kind;
    }
    wait_for_all(task, &at->before);
    way_add(member, &at->last, task);
}

bool
med_depend_add(med_member *member, med_task *task, const med_task_call *call)
{
    after_begin(task);
    for (size_t i = 0; i < call->depend_count; i++) {
        add_one(member, task, &call->depends[i]);
    }
    return unblock(task) == 0;
}

static bool
is_unblocked(void *context)
{
    const med_task *task = context;
    /* A3 through with it <- R3 (unblock) */
    return atomic32_load_acquire(&task->after->blockers) == 1;
}

void
med_task_wait_depend(med_member *member, const med_dependence *depends, size_t count)
{
    const med_task_table *table = member->task->table;
    if (!table) {
        return;
    }
    med_task *waits = med_task_take(member);
    waits->flags = 0;
    after_begin(waits);
    for (size_t i = 0; i < count; i++) {
        const place *at = place_find(table, depends[i].address);
        if (at) {
            wait_for_all(waits, is_same_way(&at->last, depends[i].kind) ? &at->before : &at->last);
        }
    }
    const med_until until = {.is_over = is_unblocked, .context = waits};
    med_task_until(member, &until, &member->allowed);
    med_task_give(member, waits);
}
