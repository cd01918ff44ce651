/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For faces: room for what a task depends on, as they read it from what the compiler says; on the
 * stack, but where it is much. */
#ifndef MEDLEY_OMP_DEPEND_LIST_H
#define MEDLEY_OMP_DEPEND_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "mrapi/heap_lent.h"
#include "omp/task.h"

#define MED_DEPEND_LIST_FEW 16u

typedef struct med_depend_list {
    size_t count;
    med_dependence *all;
    med_dependence few[MED_DEPEND_LIST_FEW];
} med_depend_list;

/* Empty. False: there is no memory for so many. */
static inline bool
med_depend_list_make(med_depend_list *list, size_t most)
{
    list->count = 0;
    list->all = most <= MED_DEPEND_LIST_FEW ? list->few : med_heap_lend(most * sizeof *list->all);
    return list->all != NULL;
}

static inline void
med_depend_list_add(med_depend_list *list, uintptr_t address, med_depend_kind kind)
{
    list->all[list->count++] = (med_dependence){address, kind};
}

static inline void
med_depend_list_give(const med_depend_list *list)
{
    if (list->all != list->few) {
        med_heap_take_back(list->all);
    }
}

#endif
