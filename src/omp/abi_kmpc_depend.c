/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names that clang calls for what depends on tasks: tasks, and waits. */
#include <stdbool.h>
#include <stddef.h>

#include "omp/abi_kmpc_task.h"
#include "omp/depend_list.h"
#include "omp/task_table.h"

typedef struct med_kmpc_dependence {
    uintptr_t address;
    size_t size;
    uint8_t kind;
} med_kmpc_dependence;

#define DEPEND_OUT 2u /* and inout, which is 3 */
#define DEPEND_MUTEX 4u
#define DEPEND_SET 8u
#define DEPEND_ALL 0x80u /* on whatever stands before, and so for what comes */

/* All memory may be written as an address that is none, too. */
static med_depend_kind
kind_of(const med_kmpc_dependence *one)
{
    return (one->kind & DEPEND_ALL) || one->address == UINTPTR_MAX ? MED_DEPEND_ALL
           : one->kind & DEPEND_OUT                                ? MED_DEPEND_OUT
           : one->kind & DEPEND_MUTEX                              ? MED_DEPEND_MUTEX
           : one->kind & DEPEND_SET                                ? MED_DEPEND_SET
                                                                   : MED_DEPEND_IN;
}

static void
list_add(med_depend_list *l, const med_kmpc_dependence *more, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        med_depend_list_add(l, more[i].address, kind_of(&more[i]));
    }
}

/* False: there is no memory. */
static bool
list_read(med_depend_list *l,
          int32_t count,
          const med_kmpc_dependence *first,
          int32_t more_count,
          const med_kmpc_dependence *more)
{
    if (!med_depend_list_make(l, (size_t)count + (size_t)more_count)) {
        return false;
    }
    list_add(l, first, count);
    list_add(l, more, more_count);
    return true;
}

static void
wait_for_list(med_member *member,
              int32_t count,
              const med_kmpc_dependence *first,
              int32_t more_count,
              const med_kmpc_dependence *more)
{
    med_depend_list l;
    med_ompt_taskwait_begin(member);
    if (list_read(&l, count, first, more_count, more)) {
        med_task_wait_depend(member, l.all, l.count);
    } else {
        med_task_wait(member);
    }
    med_ompt_taskwait_end(member);
    med_depend_list_give(&l);
}

FACE void
__kmpc_omp_wait_deps(const med_kmpc_place *place,
                     int32_t thread,
                     int32_t count,
                     const med_kmpc_dependence *first,
                     int32_t more_count,
                     const med_kmpc_dependence *more)
{
    (void)place;
    (void)thread;
    wait_for_list(MED_CALLED(MED_OMPT_PLAIN), count, first, more_count, more);
}

static void
nothing(void *data)
{
    (void)data;
}

/* A wait that does not wait is a task without lines. */
FACE void
__kmpc_omp_taskwait_deps_51(const med_kmpc_place *place,
                            int32_t thread,
                            int32_t count,
                            const med_kmpc_dependence *first,
                            int32_t more_count,
                            const med_kmpc_dependence *more,
                            int32_t waits_not)
{
    med_depend_list l;
    (void)place;
    (void)thread;
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    if (!waits_not || !list_read(&l, count, first, more_count, more)) {
        wait_for_list(member, count, first, more_count, more);
        return;
    }
    const med_task_call call = {.entry = nothing, .depends = l.all, .depend_count = l.count};
    med_task_meet(member, &call);
    med_depend_list_give(&l);
}

FACE int32_t
__kmpc_omp_task_with_deps(const med_kmpc_place *place,
                          int32_t thread,
                          med_kmpc_task *task,
                          int32_t count,
                          const med_kmpc_dependence *first,
                          int32_t more_count,
                          const med_kmpc_dependence *more)
{
    (void)place;
    (void)thread;
    med_depend_list l;
    med_member *untold = med_told_not();
    if (untold && med_table_is_none(untold->task) &&
        med_kmpc_task_execute(untold, med_kmpc_head_of(task))) {
        return 0;
    }
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    med_task_call call = med_kmpc_task_call(med_kmpc_head_of(task));
    if (list_read(&l, count, first, more_count, more)) {
        call.depends = l.all;
        call.depend_count = l.count;
    } else {
        med_task_wait(member);
        call.flags |= MED_TASK_UNDEFERRED;
    }
    med_task_meet(member, &call);
    med_depend_list_give(&l);
    return 0;
}
