/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Addresses are found by hashing. What is complete is swept out when there is no room for more. */
#include "omp/task_table.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/task_depend.h"
#include "omp/task_exclude.h"
#include "omp/task_inner.h"

/* Tasks that named an address in one way, one after the other. */
typedef struct way {
    med_task **tasks;
    uint32_t count;
    uint32_t room;
    med_depend_kind kind;
} way;

typedef struct named {
    struct named *next;
    uintptr_t address;
    way ways[2]; /* the last one, and the one before it */
    uint32_t last;
    med_exclusion *exclusion; /* NULL: nobody named it so */
} named;

typedef struct med_task_table {
    named **buckets;
    uint32_t size; /* a power of two */
    uint32_t addresses;
    way all; /* the last one that named all addresses */
} med_task_table;

#define TABLE_FIRST 16u
#define WAY_FIRST 4u

static inline way *
last(named *at)
{
    return &at->ways[at->last];
}

static inline way *
before(named *at)
{
    return &at->ways[at->last ^ 1];
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
        if (med_depend_is_complete(of->tasks[i])) {
            med_task_give(member, of->tasks[i]);
        } else {
            of->tasks[kept++] = of->tasks[i];
        }
    }
    of->count = kept;
}

static void
way_make_room(med_member *member, way *of)
{
    if (of->count == of->room) {
        way_sweep(member, of);
    }
    if (of->count * 2 < of->room) {
        return;
    }
    uint32_t room = of->room ? of->room * 2 : WAY_FIRST;
    med_task **tasks = med_task_memory(room * sizeof(med_task *));
    if (of->count) {
        memcpy(tasks, of->tasks, of->count * sizeof(med_task *));
    }
    med_heap_take_back(of->tasks);
    of->tasks = tasks;
    of->room = room;
}

static inline void
way_add(med_member *member, way *of, med_task *task)
{
    if (of->count * 2 >= of->room) {
        way_make_room(member, of);
    }
    of->tasks[of->count++] = task;
    med_depend_hold(task);
}

/* ---- The table ------------------------------------------------------------------------------- */

static named **
bucket_of(const med_task_table *table, uintptr_t address)
{
    uint64_t mixed = (uint64_t)(address >> 2) * 0x9e3779b97f4a7c15u;
    return &table->buckets[(uint32_t)(mixed >> 32) & (table->size - 1)];
}

static named *
named_find(const med_task_table *table, uintptr_t address)
{
    named *at = *bucket_of(table, address);
    while (at && at->address != address) {
        at = at->next;
    }
    return at;
}

static void
named_give(med_member *member, named *at)
{
    for (uint32_t i = 0; i < 2; i++) {
        way_clear(member, &at->ways[i]);
        med_heap_take_back(at->ways[i].tasks);
    }
    med_exclusion_drop(at->exclusion);
    med_heap_take_back(at);
}

/* All addresses, into buckets of that number, but for those of which all tasks are complete. */
static void
table_rebuild(med_member *member, med_task_table *table, uint32_t size)
{
    const med_task_table old = *table;
    table->buckets = med_task_memory(size * sizeof(named *));
    table->size = size;
    table->addresses = 0;
    for (uint32_t i = 0; i < old.size; i++) {
        named *at = old.buckets[i];
        while (at) {
            named *next = at->next;
            way_sweep(member, last(at));
            way_sweep(member, before(at));
            if (at->ways[0].count + at->ways[1].count == 0) {
                named_give(member, at);
            } else {
                named **bucket = bucket_of(table, at->address);
                at->next = *bucket;
                *bucket = at;
                table->addresses++;
            }
            at = next;
        }
    }
    med_heap_take_back(old.buckets);
}

static med_task_table *
table_with_room(med_member *member, med_task *parent)
{
    if (!parent->table) {
        parent->table = med_task_memory(sizeof *parent->table);
        table_rebuild(member, parent->table, TABLE_FIRST);
    } else {
        table_rebuild(member, parent->table, parent->table->size);
    }
    if (parent->table->addresses >= parent->table->size / 2) {
        table_rebuild(member, parent->table, parent->table->size * 2);
    }
    return parent->table;
}

static inline med_task_table *
table_of(med_member *member, med_task *parent)
{
    med_task_table *table = parent->table;
    return table && table->addresses < table->size ? table : table_with_room(member, parent);
}

static named *
named_of(med_task_table *table, uintptr_t address)
{
    named *at = named_find(table, address);
    if (!at) {
        named **bucket = bucket_of(table, address);
        at = med_task_memory(sizeof *at);
        at->address = address;
        at->next = *bucket;
        *bucket = at;
        table->addresses++;
    }
    return at;
}

static void
table_clear(med_member *member, med_task_table *table)
{
    for (uint32_t i = 0; i < table->size; i++) {
        while (table->buckets[i]) {
            named *at = table->buckets[i];
            table->buckets[i] = at->next;
            named_give(member, at);
        }
    }
    table->addresses = 0;
}

/* ---- Named ----------------------------------------------------------------------------------- */

static inline void
behind(med_task *task, const way *of)
{
    if (of->count > 0) {
        med_depend_behind(task, of->tasks, of->count);
    }
}

/* Those of the first way behind it wait for who named all; others for these. */
static void
behind_all(med_task *task, const way *of, const med_task_table *table)
{
    behind(task, of->count ? of : &table->all);
}

static void
behind_each(med_task *task, const med_task_table *table)
{
    behind(task, &table->all);
    for (uint32_t i = 0; i < table->size; i++) {
        for (named *at = table->buckets[i]; at; at = at->next) {
            behind(task, last(at));
        }
    }
}

static bool
is_last(const way *of, const med_task *task)
{
    return of->count > 0 && of->tasks[of->count - 1] == task;
}

static void
put_all(med_member *member, med_task *task)
{
    med_task_table *table = table_of(member, member->task);
    if (is_last(&table->all, task)) {
        return;
    }
    behind_each(task, table);
    table_clear(member, table);
    way_clear(member, &table->all);
    way_add(member, &table->all, task);
}

static bool
goes_together(const way *of, med_depend_kind kind)
{
    return of->count > 0 && of->kind == kind && kind != MED_DEPEND_OUT;
}

static inline void
begin_way(med_member *member, named *at, med_depend_kind kind)
{
    at->last ^= 1;
    way_clear(member, last(at));
    last(at)->kind = kind;
}

/* Who names an address in two ways waits for whom each of them waits for, and is waited for as who
 * writes it. */
static void
put_again(med_member *member, med_task *task, named *at, med_depend_kind kind)
{
    if (last(at)->kind == kind || last(at)->kind == MED_DEPEND_OUT) {
        return;
    }
    last(at)->count--;
    begin_way(member, at, MED_DEPEND_OUT);
    behind(task, before(at));
    way_add(member, last(at), task);
    (void)med_depend_drop(task); /* which it had twice */
}

static inline void
put(med_member *member, med_task *task, const med_dependence *what)
{
    med_task_table *table = table_of(member, member->task);
    if (is_last(&table->all, task)) {
        return;
    }
    named *at = named_of(table, what->address);
    if (is_last(last(at), task)) {
        put_again(member, task, at, what->kind);
        return;
    }
    if (!goes_together(last(at), what->kind)) {
        begin_way(member, at, what->kind);
    }
    behind_all(task, before(at), table);
    way_add(member, last(at), task);
    if (what->kind == MED_DEPEND_MUTEX) {
        med_exclusions_add(task, &at->exclusion);
    }
}

void
med_table_put(med_member *member, med_task *task, const med_dependence *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].kind == MED_DEPEND_ALL) {
            put_all(member, task);
        } else {
            put(member, task, &list[i]);
        }
    }
}

/* What one that is not in the table would be behind. mutexinoutset: all that it excludes. */
static const way *
ahead_of(const med_task_table *table, const med_dependence *what)
{
    named *at = named_find(table, what->address);
    if (!at) {
        return &table->all;
    }
    bool joins = what->kind != MED_DEPEND_MUTEX && goes_together(last(at), what->kind);
    const way *ahead = joins ? before(at) : last(at);
    return ahead->count ? ahead : &table->all;
}

void
med_table_look(const med_task_table *table, med_task *waits, const med_dependence *what)
{
    if (what->kind == MED_DEPEND_ALL) {
        behind_each(waits, table);
    } else {
        behind(waits, ahead_of(table, what));
    }
}

static bool
is_complete(const way *of)
{
    uint32_t i = 0;
    while (i < of->count && med_depend_is_complete(of->tasks[i])) {
        i++;
    }
    return i == of->count;
}

bool
med_table_is_clear(const med_task_table *table, const med_dependence *list, size_t count)
{
    size_t i = 0;
    while (i < count && list[i].kind != MED_DEPEND_ALL && is_complete(ahead_of(table, &list[i]))) {
        i++;
    }
    return i == count;
}

void
med_table_drop(med_member *member, med_task *task)
{
    med_task_table *table = task->table;
    task->table = NULL;
    table_clear(member, table);
    way_clear(member, &table->all);
    med_heap_take_back(table->all.tasks);
    med_heap_take_back(table->buckets);
    med_heap_take_back(table);
}
