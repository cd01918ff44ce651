/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of gcc's names have in common. */
#ifndef MEDLEY_OMP_ABI_GOMP_H
#define MEDLEY_OMP_ABI_GOMP_H

#include "omp/told.h"
#include "omp/work.h"

#define MED_GOMP_BIND_MASK 7u /* of a region's flags: the clause proc_bind */

/* Iterations, of a variable that is counted modulo 2^64 whatever its sign. */
uint64_t med_gomp_count_long(long start, long end, long step);
uint64_t med_gomp_count_ull(bool up,
                            unsigned long long start,
                            unsigned long long end,
                            unsigned long long step);
/* In the place of a schedule: that of the program's run; in any order, or each member's iterations
 * one behind the other. */
#define MED_GOMP_OF_RUN NULL
extern const med_schedule med_gomp_of_run_monotonic;
/* A loop. */
med_loop med_gomp_loop(const med_member *member,
                       uint64_t count,
                       const med_schedule *schedule,
                       uint64_t chunk);
/* By gcc's number of it. */
const med_schedule *med_gomp_schedule(long kind);
/* The member meets the construct. `memory` NULL; or: of so many bytes, which all members have in
 * common; where they are, afterwards. `reductions` NULL; or what its tasks reduce: until
 * GOMP_workshare_task_reduction_unregister. */
void med_gomp_begin(med_member *member,
                    med_loop *loop,
                    const med_bounds *bounds,
                    void **memory,
                    uintptr_t *reductions);
/* The next iterations of the loop that the member is in, as values of its variable. */
bool med_gomp_next_long(long *first, long *behind);
bool med_gomp_next_ull(unsigned long long *first, unsigned long long *behind);
/* Of abi_gomp_reduction.c. */
void GOMP_taskgroup_reduction_register(uintptr_t *reductions);
/* There are none: nobody will use them, or unregister them. */
void med_gomp_no_reductions(uintptr_t *reductions);
/* Of abi_gomp_depend.c. */
void GOMP_taskwait_depend(void **depend);
/* What a list of gcc's says. False: there is no memory for it. */
struct med_depend_list;
bool med_gomp_list_read(struct med_depend_list *list, void **depend);
/* Of api_device.c. */
int omp_target_memcpy(void *target,
                      const void *source,
                      size_t size_bytes,
                      size_t target_offset,
                      size_t source_offset,
                      int target_device,
                      int source_device);
int omp_target_memcpy_rect(void *target,
                           const void *source,
                           size_t element_bytes,
                           int dimensions,
                           const size_t *volume,
                           const size_t *target_offsets,
                           const size_t *source_offsets,
                           const size_t *target_dimensions,
                           const size_t *source_dimensions,
                           int target_device,
                           int source_device);
void *omp_target_memset(void *memory, int byte, size_t count, int device);
/* The member is through with its construct, and waits for the others. True: that is cancelled. */
static inline bool
med_gomp_end(med_member *member)
{
    med_work_end(member);
    return med_told_barrier_of(member);
}

/* A parallel region that is a worksharing construct: sent off, the caller its first member. */
void med_gomp_parallel_work_start(void (*entry)(void *),
                                  void *data,
                                  unsigned threads,
                                  unsigned flags,
                                  const med_loop *loop,
                                  const med_bounds *bounds);
/* And executed. */
void med_gomp_parallel_work(void (*entry)(void *),
                            void *data,
                            unsigned threads,
                            unsigned flags,
                            const med_loop *loop,
                            const med_bounds *bounds);

#endif
