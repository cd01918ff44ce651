/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Addresses are found by hashing. What is complete is swept out when there is no room for more. */
#include "omp/task_table.h"

#include <string.h>

#include "omp/block.h"
#include "omp/task_depend.h"
#include "omp/task_inner.h"

typedef struct med_named {
    struct med_named *next;
    uintptr_t address;
    med_way last;
    med_way before;
} med_named;

typedef struct med_task_table {
    med_named **buckets;
    uint32_t size; /* a power of two */
    uint32_t addresses;
} med_task_table;

#define TABLE_FIRST 16u
#define WAY_FIRST 4u

/* ---- Ways ------------------------------------------------------------------------------------ */

static void
way_clear(med_member *member, med_way *of)
{
    for (uint32_t i = 0; i < of->count; i++) {
        med_task_give(member, of->tasks[i]);
    }
    of->count = 0;
}

/* Those that are complete are left out. */
static void
way_sweep(med_member *member, med_way *of)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        if (med_depend_is_complete(of->tasks[i])) {
            med_task_give(member, of->tasks[i]);
        } else {
            of->tasks[kept++] = of->tasks[i];
        }
    }
    of->count = kept;
}

static void
way_add(med_member *member, med_way *of, med_task *task)
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
    med_depend_hold(task);
}

/* ---- The table ------------------------------------------------------------------------------- */

static med_named **
bucket_of(const med_task_table *table, uintptr_t address)
{
    uint64_t mixed = (uint64_t)(address >> 2) * 0x9e3779b97f4a7c15u;
    return &table->buckets[(uint32_t)(mixed >> 32) & (table->size - 1)];
}

static med_named *
named_find(const med_task_table *table, uintptr_t address)
{
    med_named *at = *bucket_of(table, address);
    while (at && at->address != address) {
        at = at->next;
    }
    return at;
}

static void
named_give(med_member *member, med_named *at)
{
    way_clear(member, &at->last);
    way_clear(member, &at->before);
    med_block_give(at->last.tasks);
    med_block_give(at->before.tasks);
    med_block_give(at);
}

/* All addresses, into buckets of that number, but for those of which all tasks are complete. */
static void
table_rebuild(med_member *member, med_task_table *table, uint32_t size)
{
    const med_task_table old = *table;
    *table = (med_task_table){.buckets = med_task_memory(size * sizeof(med_named *)), .size = size};
    for (uint32_t i = 0; i < old.size; i++) {
        med_named *at = old.buckets[i];
        while (at) {
            med_named *next = at->next;
            way_sweep(member, &at->before);
            way_sweep(member, &at->last);
            if (at->last.count + at->before.count == 0) {
                named_give(member, at);
            } else {
                med_named **bucket = bucket_of(table, at->address);
                at->next = *bucket;
                *bucket = at;
                table->addresses++;
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
    if (parent->table->addresses >= parent->table->size) {
        table_rebuild(member, parent->table, parent->table->size);
    }
    if (parent->table->addresses >= parent->table->size / 2) {
        table_rebuild(member, parent->table, parent->table->size * 2);
    }
    return parent->table;
}

static med_named *
named_of(med_member *member, med_task *parent, uintptr_t address)
{
    med_task_table *table = table_of(member, parent);
    med_named *at = named_find(table, address);
    if (!at) {
        med_named **bucket = bucket_of(table, address);
        at = med_task_memory(sizeof *at);
        at->address = address;
        at->next = *bucket;
        *bucket = at;
        table->addresses++;
    }
    return at;
}

/* ---- Named ----------------------------------------------------------------------------------- */

static bool
is_same_way(const med_way *of, med_depend_kind kind)
{
    return of->count > 0 && of->kind == kind && kind != MED_DEPEND_OUT;
}

const med_way *
med_table_put(med_member *member, med_task *task, const med_dependence *named)
{
    med_named *at = named_of(member, member->task, named->address);
    if (at->last.count > 0 && at->last.tasks[at->last.count - 1] == task) {
        return NULL;
    }
    if (!is_same_way(&at->last, named->kind)) {
        med_way unused = at->before;
        way_clear(member, &unused);
        at->before = at->last;
        at->last = unused;
        at->last.kind = named->kind;
    }
    way_add(member, &at->last, task);
    return &at->before;
}

const med_way *
med_table_look(const med_task_table *table, const med_dependence *named)
{
    const med_named *at = table ? named_find(table, named->address) : NULL;
    if (!at) {
        return NULL;
    }
    return is_same_way(&at->last, named->kind) ? &at->before : &at->last;
}

void
med_table_forget(med_member *member, med_task *task)
{
    med_task_table *table = task->table;
    if (!table) {
        return;
    }
    task->table = NULL;
    for (uint32_t i = 0; i < table->size; i++) {
        while (table->buckets[i]) {
            med_named *at = table->buckets[i];
            table->buckets[i] = at->next;
            named_give(member, at);
        }
    }
    med_block_give(table->buckets);
    med_block_give(table);
}
