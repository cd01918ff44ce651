/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What tasks reduce. A group of tasks has a part of memory for each member of the team, with a copy
 * of each thing that is reduced; a task works on the copies of the member that executes it, and who
 * made the group combines all parts when its tasks are complete. Compilers initialise and combine.
 */
#ifndef MEDLEY_OMP_TASK_REDUCTION_H
#define MEDLEY_OMP_TASK_REDUCTION_H

#include <stdbool.h>
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
/* What an address stands for: so many bytes behind the original's begin, or its copy's. */
typedef struct med_reduction_found {
    const med_reduced *one;
    uintptr_t part; /* the member's */
    uintptr_t at;
} med_reduction_found;

/* As the innermost group knows it that does: the address is the original's, or of any member's
 * copy. False: none does. */
bool med_reduction_find(const struct med_member *member,
                        const void *address,
                        med_reduction_found *found);

static inline void *
med_reduction_copy(const med_reduction_found *found)
{
    return (void *)(found->part + found->one->offset + found->at);
}

#endif
