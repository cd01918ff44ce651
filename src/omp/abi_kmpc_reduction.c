/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls for groups of tasks, and for what these reduce. It says how a copy is
 * initialised, combined and destroyed; memory is the library's:
 *
 *   common   one for a group: what is reduced, and behind that a part for each member, which says
 *            in its first bytes which of the copies in it are initialised
 *   own      one for a group, too; but where all members of a region or of a loop reduce (the
 *            modifier `task`), each has a group of its own, with originals of its own, and all have
 *            one common: who comes last to the end combines all parts into his originals, from
 *            where clang's reduction of the construct takes them
 *
 * A copy is initialised by who uses it first, since what has no fixed size has it told by the task.
 */
#include <stdbool.h>
#include <stddef.h>

#include "mrapi/heap_lent.h"
#include "omp/abi_kmpc.h"
#include "omp/lock.h"
#include "omp/once.h"
#include "omp/say.h"

typedef void (*initialiser)(void *copy, void *original);
typedef void (*combiner)(void *into, void *copy);
typedef void (*destroyer)(void *copy);

/* What clang says of one thing; before clang 9, and from then on. */
typedef struct described_first {
    void *shared;
    size_t size;
    initialiser initialise; /* NULL: it is zeroed */
    destroyer destroy;      /* or NULL */
    combiner combine;
    uint32_t flags;
} described_first;

typedef struct described {
    void *shared;   /* by this address tasks ask for it */
    void *original; /* for the initialiser */
    size_t size;
    initialiser initialise;
    destroyer destroy;
    combiner combine;
    uint32_t flags;
} described;

typedef struct common {
    med_lock lock;
    uint32_t left; /* so many members have not come to the end */
    uint32_t members;
    uint32_t count;
    size_t part_bytes;
    char *parts;
    described list[];
} common;

typedef struct own {
    common *common;
    bool is_work; /* of a loop, or of sections */
    med_reduced list[];
} own;

#define LINE 64u

static size_t
lines(size_t size_bytes)
{
    return (size_bytes + LINE - 1) / LINE * LINE;
}

static void *
memory_take(size_t size_bytes)
{
    void *memory = med_heap_lend(size_bytes);
    if (!memory) {
        med_say_fatal("there is no memory for what tasks reduce");
    }
    return memory;
}

/* ---- Begun ----------------------------------------------------------------------------------- */

static common *
common_make(uint32_t members, uint32_t count, const described *list)
{
    size_t head = lines(sizeof(common) + count * sizeof *list);
    size_t part_bytes = lines(count * sizeof(bool));
    for (uint32_t i = 0; i < count; i++) {
        part_bytes += lines(list[i].size);
    }
    common *c = memory_take(head + members * part_bytes);
    c->members = members;
    c->count = count;
    c->part_bytes = part_bytes;
    c->parts = (char *)c + head;
    for (uint32_t i = 0; i < count; i++) {
        c->list[i] = list[i];
    }
    return c;
}

/* In the member's innermost group. */
static void
begin(med_member *member, common *c, const described *list, bool is_work)
{
    own *o = memory_take(sizeof *o + c->count * sizeof o->list[0]);
    size_t at = lines(c->count * sizeof(bool));
    o->common = c;
    o->is_work = is_work;
    for (uint32_t i = 0; i < c->count; i++) {
        o->list[i] = (med_reduced){(uintptr_t)list[i].shared, at, i};
        at += lines(list[i].size);
    }
    const med_reductions reductions = {.list = o->list,
                                       .count = c->count,
                                       .part_bytes = c->part_bytes,
                                       .parts = (uintptr_t)c->parts,
                                       .members = c->members};
    med_reduction_begin(member, &reductions);
}

/* What these return is handed back by tasks; the group is found without. */
FACE void *
__kmpc_taskred_init(int32_t thread, int32_t count, const described *list)
{
    (void)thread;
    med_member *member = med_member_get();
    common *c = common_make(member->team->size, (uint32_t)count, list);
    c->left = 1;
    begin(member, c, list, false);
    return med_task_group_of(member->task);
}

/* The same as it is described now. */
static described *
described_take(int32_t count, const described_first *first)
{
    described *list = memory_take((size_t)count * sizeof *list);
    for (int32_t i = 0; i < count; i++) {
        const described_first *f = &first[i];
        list[i] = (described){f->shared,  f->shared,  f->size, f->initialise,
                              f->destroy, f->combine, f->flags};
    }
    return list;
}

FACE void *
__kmpc_task_reduction_init(int32_t thread, int32_t count, const described_first *first)
{
    described *list = described_take(count, first);
    void *group = __kmpc_taskred_init(thread, count, list);
    med_heap_take_back(list);
    return group;
}

/* ---- A member's copy ------------------------------------------------------------------------- */

static own *
own_of(const med_reduced *first)
{
    return (own *)((uintptr_t)first - offsetof(own, list));
}

FACE void *
__kmpc_task_reduction_get_th_data(int32_t thread, void *group, void *address)
{
    (void)thread;
    (void)group;
    const med_member *member = med_member_get();
    med_reduction_found found;
    if (!med_reduction_find(member, address, &found)) {
        med_say_fatal("a task takes part in a reduction that no task group around it has");
    }
    uintptr_t index = found.one->unused;
    const described *one = &own_of(found.one - index)->common->list[index];
    bool *is_made = (bool *)found.part + index;
    if (!*is_made && one->initialise) {
        one->initialise((void *)(found.part + found.one->offset), one->original);
    }
    *is_made = true;
    return med_reduction_copy(&found);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void
combine(const common *c, const med_reduced *into, const char *part)
{
    for (uint32_t i = 0; i < c->count; i++) {
        void *copy = (void *)(part + into[i].offset);
        if (((const bool *)part)[i]) {
            c->list[i].combine((void *)into[i].original, copy);
            if (c->list[i].destroy) {
                c->list[i].destroy(copy);
            }
        }
    }
}

static bool
is_last(med_member *member, common *c)
{
    med_omp_lock_set(&c->lock, member);
    bool last = --c->left == 0;
    med_omp_lock_unset(&c->lock);
    return last;
}

/* The group ends, and what its tasks reduced is whole. */
static void
end(med_member *member)
{
    const med_reductions reductions = med_task_group_of(member->task)->reductions;
    med_told_group_end_of(member);
    if (!reductions.count) {
        return;
    }
    own *o = own_of(reductions.list);
    common *c = o->common;
    if (is_last(member, c)) {
        for (uint32_t i = 0; i < c->members; i++) {
            combine(c, reductions.list, c->parts + i * c->part_bytes);
        }
        med_heap_take_back(c);
    }
    med_heap_take_back(o);
}

FACE void
__kmpc_taskgroup(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_told_group_begin();
}

FACE void
__kmpc_end_taskgroup(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    end(MED_CALLED(MED_OMPT_PLAIN));
}

/* ---- Regions, loops -------------------------------------------------------------------------- */

/* Where their members find the common, each at its begin. */
typedef struct meeting {
    med_once once;
    common *common;
} meeting;

static common *
common_meet(med_member *member, uint32_t count, const described *list)
{
    static const med_bounds bounds;
    const med_loop loop = {.schedule = &med_schedule_static, .memory_bytes = sizeof(meeting)};
    med_work_begin(member, &loop, &bounds);
    meeting *m = member->work->memory;
    if (med_once_begin(&m->once)) {
        m->common = common_make(member->team->size, count, list);
        m->common->left = member->work->members;
        med_once_end(&m->once);
    }
    common *c = m->common;
    med_work_end(member);
    return c;
}

FACE void *
__kmpc_taskred_modifier_init(const med_kmpc_place *place,
                             int32_t thread,
                             int32_t is_work,
                             int32_t count,
                             const described *list)
{
    (void)place;
    (void)thread;
    med_member *member = med_member_get();
    common *c = common_meet(member, (uint32_t)count, list);
    med_task_group_begin_implied(member);
    begin(member, c, list, is_work != 0);
    return med_task_group_of(member->task);
}

FACE void *
__kmpc_task_reduction_modifier_init(const med_kmpc_place *place,
                                    int32_t thread,
                                    int32_t is_work,
                                    int32_t count,
                                    const described_first *first)
{
    described *list = described_take(count, first);
    void *group = __kmpc_taskred_modifier_init(place, thread, is_work, count, list);
    med_heap_take_back(list);
    return group;
}

FACE void
__kmpc_task_reduction_modifier_fini(const med_kmpc_place *place, int32_t thread, int32_t is_work)
{
    (void)place;
    (void)thread;
    (void)is_work;
    end(med_member_get());
}

void
med_kmpc_reduction_leave(med_member *member, bool is_region)
{
    const med_task_group *group =
        member->task == &member->implicit ? med_task_group_of(member->task) : NULL;
    while (group && group->implied && (is_region || own_of(group->reductions.list)->is_work)) {
        end(member);
        group = is_region ? med_task_group_of(member->task) : NULL;
    }
}
