/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Units that nobody has yet, in spans that rise; between two of them others have been given away
 * (a jump). Nothing here is shared, and nothing waits. */
#ifndef MEDLEY_OMP_SCHEDULE_REST_H
#define MEDLEY_OMP_SCHEDULE_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "omp/schedule/split.h"

#define MED_REST_SPANS 64u

typedef struct med_rest {
    uint32_t at; /* the spans before it are empty */
    uint32_t count;
    uintptr_t units; /* in all of them */
    med_units spans[MED_REST_SPANS];
} med_rest;

/* Behind all that it has; one that goes on there is no span of its own. */
void med_rest_put(med_rest *rest, med_units units);
/* From its front, so many at most, and none behind a jump. */
med_units med_rest_take(med_rest *rest, uintptr_t most);
/* What is left of several, of which each lies behind the one before, in one. False: that would be
 * too many spans to share out again; nothing is done. */
bool med_rest_join(med_rest *queues, uint32_t count, med_rest *whole);
/* To each class of the split its part of it. */
void med_rest_share(med_rest *whole, const med_split *split, med_rest *queues);

#endif
