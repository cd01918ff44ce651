/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Devices: there is one, the host. A target region is executed here, by the thread that meets it,
 * as the initial one of a team of its own, with the variables that the program began with; all
 * memory is the device's as it stands.
 */
#ifndef MEDLEY_OMP_TARGET_H
#define MEDLEY_OMP_TARGET_H

#include "omp/team.h"

/* As omp.h and gcc number them: others are counted from 0, and there are none. */
#define MED_DEVICE_HOST 0
#define MED_DEVICE_DEFAULT (-1) /* the one that the member's ICV names */
#define MED_DEVICE_FALLBACK (-2)
#define MED_DEVICE_INITIAL (-1) /* omp_initial_device, for functions */

/* A variable that the region has a copy of. */
typedef struct med_private {
    void **address; /* of the variable; of the copy, afterwards */
    size_t size_bytes;
    size_t alignment;
} med_private;

/* Ends the program where the environment forbids to execute anything on the host that was meant for
 * a device which is not there. */
void med_target_device_check(const med_member *member, int device);
/* entry(data) as a region of the host, of no more than so many threads (0: as many as any). */
void
med_target_run(med_member *member, uint32_t thread_limit, void (*entry)(void *data), void *data);
/* Copies of them, in a block that is given back afterwards; NULL: there are none. */
void *med_target_copies(const med_private *privates, uint32_t count);

#endif
