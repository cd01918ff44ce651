/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who of a team is near whom: its members in groups, for the barrier (base/barrier.h). Members get
 * seats, so that those who share a cache sit side by side, and so do those of one memory node; the
 * first of them leads. The first member sits in the first seat.
 */
#ifndef MEDLEY_OMP_GROUPS_H
#define MEDLEY_OMP_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "omp/value.h"

struct med_settings;

/* A member looks at no more lines than that of a level: as many as a core fetches at once from
 * others, and twice as many where all of them have one cache in common. So many members meet in one
 * group. Sixteen threads, 16 processors of one cache, an explicit barrier: 1.25 us in two groups,
 * 0.77 in one. */
#define MED_GROUP_MOST 8u
#define MED_GROUP_MOST_OF_CACHE 16u
#define MED_GROUPS_LISTED 4u

/* MEDLEY_TEAM_GROUPS: so many members to a group, so many of these to one, and so on. */
typedef struct med_groups_told {
    bool is_told;
    uint32_t count; /* of levels; 0: all are in one group */
    uint32_t sizes[MED_GROUPS_LISTED];
} med_groups_told;

bool med_groups_read(struct med_settings *settings, med_value value);

typedef struct med_groups {
    uint32_t size;   /* of the team */
    uint32_t most;   /* of a group */
    uint32_t *seats; /* of its members, by their numbers */
    uint8_t *leads;  /* by the seat: so many levels up */
    uint8_t *begins; /* by the seat: of use while they are made */
} med_groups;

/* Members of the same number share a cache, or a memory node. All that share a cache share a
 * node. */
void med_groups_make(med_groups *groups, const uint32_t *caches, const uint32_t *memories);
/* In the order of their numbers, as one was told. */
void med_groups_make_told(med_groups *groups, const med_groups_told *told);

#endif
