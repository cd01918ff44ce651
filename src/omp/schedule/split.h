/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How units are split between members on cores of unlike speed: in proportion to that, and so that
 * none is left over. Nothing here is shared, and nothing waits. */
#ifndef MEDLEY_OMP_SCHEDULE_SPLIT_H
#define MEDLEY_OMP_SCHEDULE_SPLIT_H

#include <stdint.h>

#include "omp/work.h"

#define MED_CLASSES_MAX 8u
#define MED_WEIGHT_MOST 65535u

typedef struct med_split {
    uint32_t classes;
    uint32_t members[MED_CLASSES_MAX]; /* of each class; fewer than 2^16 in all */
    uint32_t weights[MED_CLASSES_MAX]; /* a member's of it: from 1 to MED_WEIGHT_MOST */
} med_split;

/* What classes have taken for what they did; 0 units: nothing is known of that class. */
typedef struct med_pace {
    uint64_t ns[MED_CLASSES_MAX];
    uint64_t units[MED_CLASSES_MAX];
} med_pace;

/* So many per cent of them, rounded down. */
uintptr_t med_percent_of(uintptr_t units, uint32_t percent);

/* The part of a class, of so many units: the classes' parts lie one behind the other. */
med_units med_split_class(const med_split *split, uintptr_t units, uint32_t class);
/* The part of a class's member, by its place among these. Members of a class have as much as each
 * other, or one unit more. */
med_units med_split_member(const med_split *split, uintptr_t units, uint32_t class, uint32_t rank);

/* The time of a unit, in ps; 0: it is not known. */
uint64_t med_pace_ps(const med_pace *pace, uint32_t class);
/* As fast as the fastest class: MED_WEIGHT_MOST; of what is not known, 0. */
void med_pace_weights(const med_pace *pace, uint32_t classes, uint32_t *weights);
/* The mean of many: three quarters are the newest. `old` 0: there is none; `new` 0: nothing new. */
uint32_t med_weight_mean(uint32_t old, uint32_t new);

/* The one of three that neither is the least nor the most. */
uint32_t med_weight_middle(uint32_t a, uint32_t b, uint32_t c);

#endif
