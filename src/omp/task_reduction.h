/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What tasks reduce. A group of tasks has a part of memory for each member of the team, with a copy
 * of each thing that is reduced; a task works on the copies of the member that executes it, and who
 * made the group combines all parts when its tasks are complete. Compilers initialise and combine.
 */
#ifndef MEDLEY_OMP_TASK_REDUCTION_H
#define MEDLEY_OMP_TASK_REDUCTION_H

#include <stddef.h>
#include <stdint.h>

struct med_member;

/* One thing that is reduced. */
typedef struct med_reduced {
    uintptr_t original;
    uintptr_t offset; /* of its copy in a part */
    uintptr_t unused; /* the compiler's */
} med_reduced;

typedef struct med_reductions {
    const med_reduced *list; /* its maker's, until the group ends */
    size_t count;            /* of these; 0: the group reduces nothing */
    size_t part_bytes;
    uintptr_t parts; /* one behind the other, by the members' numbers */
    uint32_t members;
} med_reductions;

/* Of the member's innermost group: before it has tasks. */
void med_reduction_begin(struct med_member *member, const med_reductions *reductions);
/* The member's copy of that which the address stands for, as the innermost group knows it that
 * does: the original, or any member's copy. NULL: none does. The original goes to `original`,
 * unless that is NULL. */
void *med_reduction_copy(const struct med_member *member, const void *address, void **original);

#endif
