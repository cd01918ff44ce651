/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dependences as gcc's programs say them: of tasks, of waits, and of what is copied in a task of
 * its own. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "omp/abi_gomp.h"
#include "omp/depend_list.h"
#include "omp/face.h"
#include "omp/task.h"
#include "omp/team.h"

/* omp_all_memory is written as NULL. */
static void
list_add(med_depend_list *l, void *address, uintptr_t kind)
{
    bool writes = kind != MED_DEPEND_IN && kind != MED_DEPEND_MUTEX && kind != MED_DEPEND_SET;
    med_depend_list_add(l, (uintptr_t)address,
                        !writes   ? (med_depend_kind)kind
                        : address ? MED_DEPEND_OUT
                                  : MED_DEPEND_ALL);
}

/* GCC 12's way to say them: their number, 0 where the long form follows; then how many there are of
 * each kind, the addresses in that order, and last those of objects: an address and its kind.
 * False: there is no memory. */
bool
med_gomp_list_read(med_depend_list *l, void **depend)
{
    bool is_short = depend[0] != NULL;
    size_t count = (size_t)depend[is_short ? 0 : 1];
    size_t out = (size_t)depend[is_short ? 1 : 2];
    size_t writers = out + (is_short ? 0 : (size_t)depend[3]);
    size_t plain = is_short ? count : writers + (size_t)depend[4];
    void **addresses = &depend[is_short ? 2 : 5];
    if (!med_depend_list_make(l, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        void **object = addresses[i];
        if (i < plain) {
            list_add(l, object,
                     i < out       ? MED_DEPEND_OUT
                     : i < writers ? MED_DEPEND_MUTEX
                                   : MED_DEPEND_IN);
        } else {
            list_add(l, object[0], (uintptr_t)object[1]);
        }
    }
    return true;
}

FACE void
GOMP_taskwait_depend(void **depend)
{
    med_depend_list l;
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    if (!med_gomp_list_read(&l, depend)) {
        med_task_wait(member);
        return;
    }
    med_ompt_taskwait_begin(member);
    med_task_wait_depend(member, l.all, l.count);
    med_ompt_taskwait_end(member);
    med_depend_list_give(&l);
}
LLVM(GOMP_taskwait_depend)

/* ---- Copies ---------------------------------------------------------------------------------- */

/* omp_depend_t, as gcc's omp.h has it. */
typedef struct depend_object {
    void *address;
    uintptr_t kind;
} depend_object;

/* A copy is a task that is executed at once, when nothing is before it any more: there is no other
 * device that could go on with it meanwhile. */
static void
await(med_member *member, int count, const depend_object *objects)
{
    med_depend_list l;
    if (count <= 0 || !objects) {
        return;
    }
    if (!med_depend_list_make(&l, (size_t)count)) {
        med_task_wait(member);
        return;
    }
    for (int i = 0; i < count; i++) {
        list_add(&l, objects[i].address, objects[i].kind);
    }
    med_task_wait_depend(member, l.all, l.count);
    med_depend_list_give(&l);
}

/* OpenMP 5.1, section 3.8.7. */
FACE int
omp_target_memcpy_async(void *target,
                        const void *source,
                        size_t size_bytes,
                        size_t target_offset,
                        size_t source_offset,
                        int target_device,
                        int source_device,
                        int count,
                        depend_object *objects)
{
    await(MED_CALLED(MED_OMPT_PLAIN), count, objects);
    return omp_target_memcpy(target, source, size_bytes, target_offset, source_offset,
                             target_device, source_device);
}

/* Section 3.8.8. */
FACE int
omp_target_memcpy_rect_async(void *target,
                             const void *source,
                             size_t element_bytes,
                             int dimensions,
                             const size_t *volume,
                             const size_t *target_offsets,
                             const size_t *source_offsets,
                             const size_t *target_dimensions,
                             const size_t *source_dimensions,
                             int target_device,
                             int source_device,
                             int count,
                             depend_object *objects)
{
    if (target || source) {
        await(MED_CALLED(MED_OMPT_PLAIN), count, objects);
    }
    return omp_target_memcpy_rect(target, source, element_bytes, dimensions, volume, target_offsets,
                                  source_offsets, target_dimensions, source_dimensions,
                                  target_device, source_device);
}

/* OpenMP 6.0, section 25.8. */
FACE void *
omp_target_memset_async(
    void *memory, int byte, size_t bytes, int device, int count, depend_object *objects)
{
    await(MED_CALLED(MED_OMPT_PLAIN), count, objects);
    return omp_target_memset(memory, byte, bytes, device);
}
