/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For faces: what they call of the floor below, as a tool is told of it, if there is one: from
 * where the program called the face. Without a tool a look at one word, and the call. */
#ifndef MEDLEY_OMP_TOLD_H
#define MEDLEY_OMP_TOLD_H

#include "omp/lock.h"
#include "omp/team.h"

/* Inlined in any case: it is the face's callers that are meant. */
#define MED_TOLD static inline __attribute__((always_inline))
#define FROM_HERE __builtin_return_address(0), __builtin_dwarf_cfa()

/* ---- Who calls ------------------------------------------------------------------------------- */

MED_TOLD med_member *
med_told_called(med_member *member, uint32_t kind)
{
    return MED_OMPT_IS_TOLD(member) ? med_ompt_called_told(member, kind, FROM_HERE) : member;
}

/* In a face: the member that the calling thread is. `kind`: of the construct. */
#define MED_CALLED(kind) med_told_called(med_member_get(), kind)
/* The same, where no member is needed. */
#define MED_CALLED_ONLY(kind)                                                                      \
    do {                                                                                           \
        if (med_ompt_is_on()) {                                                                    \
            (void)MED_CALLED(kind);                                                                \
        }                                                                                          \
    } while (0)

/* The member that the calling thread is; NULL: a tool knows it, or it is none yet. What tells a
 * tool of a call does for both, since with no tool nothing is told. */
MED_TOLD med_member *
med_told_not(void)
{
    med_member *member = med_port_member_get();
    return __builtin_expect(member && !member->ompt, 1) ? member : NULL;
}

/* ---- Waits, singles -------------------------------------------------------------------------- */

MED_TOLD bool
med_told_barrier(uint32_t kind)
{
    med_member *member = med_told_not();
    return member ? med_team_barrier(member) : med_ompt_barrier(kind, FROM_HERE);
}

/* Of a member that has said before from where it was called. */
MED_TOLD bool
med_told_barrier_of(med_member *member)
{
    return MED_OMPT_IS_TOLD(member) ? med_ompt_barrier_of(member) : med_team_barrier(member);
}

MED_TOLD bool
med_told_single(void)
{
    med_member *member = med_told_not();
    return member ? med_team_single(member) : med_ompt_single(FROM_HERE);
}

/* A function of the member alone. */
#define MED_TOLD_CALL(name, ompt_name, plain_name)                                                 \
    MED_TOLD void name(void)                                                                       \
    {                                                                                              \
        med_member *member = med_told_not();                                                       \
        if (member) {                                                                              \
            (void)plain_name(member);                                                              \
        } else {                                                                                   \
            ompt_name(FROM_HERE);                                                                  \
        }                                                                                          \
    }
MED_TOLD_CALL(med_told_taskwait, med_ompt_taskwait, med_task_wait)
MED_TOLD_CALL(med_told_taskyield, med_ompt_task_yield, med_task_yield)
MED_TOLD_CALL(med_told_group_begin, med_ompt_group_begin, med_task_group_begin)
MED_TOLD_CALL(med_told_group_end, med_ompt_group_end, med_task_group_end)
MED_TOLD_CALL(med_told_ordered, med_ompt_ordered, med_work_ordered)
MED_TOLD_CALL(med_told_ordered_end, med_ompt_ordered_end, med_work_ordered_end)

MED_TOLD void
med_told_group_begin_of(med_member *member)
{
    if (MED_OMPT_IS_TOLD(member)) {
        med_ompt_group_begin_of(member);
    } else {
        med_task_group_begin(member);
    }
}

MED_TOLD void
med_told_group_end_of(med_member *member)
{
    if (MED_OMPT_IS_TOLD(member)) {
        med_ompt_group_end_of(member);
    } else {
        med_task_group_end(member);
    }
}

/* ---- Exclusion ------------------------------------------------------------------------------- */

MED_TOLD void
med_told_lock_set(med_lock *lock, med_ompt_kind kind)
{
    med_member *member = med_told_not();
    if (member) {
        med_omp_lock_set(lock, member);
    } else {
        med_ompt_lock_set(lock, kind, FROM_HERE);
    }
}

MED_TOLD bool
med_told_lock_test(med_lock *lock, med_ompt_kind kind)
{
    med_member *member = med_told_not();
    return member ? med_omp_lock_test(lock, member) : med_ompt_lock_test(lock, kind, FROM_HERE);
}

MED_TOLD void
med_told_lock_unset(med_lock *lock, med_ompt_kind kind)
{
    if (med_ompt_is_on()) {
        med_ompt_lock_unset(lock, kind, FROM_HERE);
    } else {
        med_omp_lock_unset(lock);
    }
}

MED_TOLD void
med_told_nest_set(med_nest_lock *lock, med_ompt_kind kind)
{
    med_member *member = med_told_not();
    if (member) {
        (void)med_nest_lock_set(lock, member);
    } else {
        (void)med_ompt_nest_take(lock, med_nest_lock_set, kind, FROM_HERE);
    }
}

MED_TOLD uint32_t
med_told_nest_test(med_nest_lock *lock, med_ompt_kind kind)
{
    med_member *member = med_told_not();
    return member ? med_nest_lock_test(lock, member)
                  : med_ompt_nest_take(lock, med_nest_lock_test, kind, FROM_HERE);
}

MED_TOLD void
med_told_nest_unset(med_nest_lock *lock)
{
    if (med_ompt_is_on()) {
        med_ompt_nest_give(lock, FROM_HERE);
    } else {
        (void)med_nest_lock_unset(lock);
    }
}

#endif
