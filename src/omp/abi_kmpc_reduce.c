/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls where the members of a team reduce: what each has is added to what the
 * program sees. The caller is told how:
 *
 *   under a lock, each by himself        teams in one group, and whoever need not wait for others
 *   by atomic operations                 the same, of one variable
 *   along the groups of the barrier      leaders add up their groups, the first member the rest: no
 *                                        line goes round among all; and what comes of it is the
 *                                        same each time, of floating-point numbers, too, as long as
 *                                        threads and groups are
 *
 * Along groups all have to be there: so only where a barrier ends the construct, and not where a
 * region may be cancelled, and some never come. Without that barrier a program may have a member
 * come only after another has left. All calls of a member come to the same answer, since that
 * changes between regions only.
 */
#include "omp/abi_kmpc.h"
#include "omp/lock.h"

/* What the caller is to do; 0: nothing. */
#define REDUCES 1           /* add what it has, and call the end */
#define REDUCES_BY_ATOMIC 2 /* the same by atomic operations; the end with a barrier only */

#define BY_ATOMIC_MOST 1 /* variables: more are cheaper under one lock */

typedef void (*reducer)(void *into, void *from);

/* To a tool the lock, or the barrier, is a part of the reduction: no face says what it is. */
static int32_t
begin_alone(med_member *member, med_lock *lock)
{
    med_ompt_reduction_begin(member);
    if (member->team->size > 1) {
        med_omp_lock_set(lock, member);
    }
    return REDUCES;
}

static void
end_alone(med_member *member, med_lock *lock)
{
    if (member->team->size > 1) {
        med_omp_lock_unset(lock);
    }
    med_ompt_reduction_end(member);
}

/* Who has nothing to do calls no end, and waits here for the one who has. */
FACE int32_t
__kmpc_reduce(const med_kmpc_place *place,
              int32_t thread,
              int32_t count,
              size_t size,
              void *data,
              reducer reduce,
              med_lock *lock)
{
    (void)place;
    (void)thread;
    (void)count;
    (void)size;
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    if (!med_team_combines(member)) {
        return begin_alone(member, lock);
    }
    med_ompt_reduction_begin(member);
    bool has_all = med_team_combine(member, data, reduce);
    if (!has_all) {
        med_ompt_reduction_end(member);
        (void)med_told_barrier_of(member);
    }
    return has_all ? REDUCES : 0;
}

FACE int32_t
__kmpc_reduce_nowait(const med_kmpc_place *place,
                     int32_t thread,
                     int32_t count,
                     size_t size,
                     void *data,
                     reducer reduce,
                     med_lock *lock)
{
    (void)thread;
    (void)size;
    (void)data;
    (void)reduce;
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    if (count <= BY_ATOMIC_MOST && (place->flags & MED_KMPC_ATOMIC) && member->team->size > 1) {
        return REDUCES_BY_ATOMIC;
    }
    return begin_alone(member, lock);
}

FACE void
__kmpc_end_reduce_nowait(const med_kmpc_place *place, int32_t thread, med_lock *lock)
{
    (void)place;
    (void)thread;
    end_alone(MED_CALLED(MED_OMPT_PLAIN), lock);
}

FACE void
__kmpc_end_reduce(const med_kmpc_place *place, int32_t thread, med_lock *lock)
{
    (void)place;
    (void)thread;
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    if (med_team_combines(member)) {
        med_ompt_reduction_end(member);
    } else {
        end_alone(member, lock);
    }
    (void)med_told_barrier_of(member);
}
