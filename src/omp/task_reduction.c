/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Copies are found by address. Groups are looked through from the innermost one outwards, since
 * what one of them calls the original may be a copy of the next one out. What they have is written
 * before their tasks are made, and read by these; so nothing here is atomic.
 */
#include "omp/task_reduction.h"

#include "omp/task.h"
#include "omp/team.h"

void
med_reduction_begin(med_member *member, const med_reductions *reductions)
{
    med_task_group_of(member->task)->reductions = *reductions;
}

static const med_reduced *
of_original(const med_reductions *in, uintptr_t address)
{
    for (size_t i = 0; i < in->count; i++) {
        if (in->list[i].original == address) {
            return &in->list[i];
        }
    }
    return NULL;
}

/* Whose copy stands there in a part. */
static const med_reduced *
of_copy(const med_reductions *in, uintptr_t offset)
{
    const med_reduced *nearest = NULL;
    for (size_t i = 0; i < in->count; i++) {
        const med_reduced *one = &in->list[i];
        if (one->offset <= offset && (!nearest || one->offset > nearest->offset)) {
            nearest = one;
        }
    }
    return nearest;
}

bool
med_reduction_find(const med_member *member, const void *address, med_reduction_found *found)
{
    const med_task_group *group = med_task_group_of(member->task);
    for (; group; group = group->outer) {
        const med_reductions *in = &group->reductions;
        uintptr_t distance = (uintptr_t)address - in->parts;
        bool is_copy = distance < in->members * in->part_bytes;
        uintptr_t at = is_copy ? distance % in->part_bytes : 0; /* in a part, or in one of them */
        const med_reduced *one = is_copy ? of_copy(in, at) : of_original(in, (uintptr_t)address);
        if (one) {
            found->one = one;
            found->part = in->parts + member->number * in->part_bytes;
            found->at = is_copy ? at - one->offset : 0;
            return true;
        }
    }
    return false;
}
