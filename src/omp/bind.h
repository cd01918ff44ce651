/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads are bound to places (OpenMP 5.1, section 2.6.2): which member of a team to which. */
#ifndef MEDLEY_OMP_BIND_H
#define MEDLEY_OMP_BIND_H

#include <stdint.h>

#include "omp/places.h"

struct med_member;
struct med_team;

/* As omp_proc_bind_t, and in a region's flags. */
typedef enum med_bind {
    MED_BIND_FALSE,
    MED_BIND_TRUE,
    MED_BIND_PRIMARY,
    MED_BIND_CLOSE,
    MED_BIND_SPREAD
} med_bind;

/* Where a member is, and among which places those will be that it leads: so many, from `first`. */
typedef struct med_placement {
    uint32_t place;
    uint32_t first;
    uint32_t count; /* 0: nobody is bound */
} med_placement;

/* What the placements of a team's members follow from; that is, without padding. */
typedef struct med_placed {
    uint32_t members;
    uint32_t bind;
    med_placement leader;
} med_placed;

/* The placement of member `number` of so many, whose leader has `leader`. */
med_placement
med_bind_place(med_bind bind, const med_placement *leader, uint32_t members, uint32_t number);

/* What a region's members have as bind-var when the leader has `bind` and the region asks for
 * `wanted` (MED_BIND_FALSE: for none). */
uint32_t med_bind_next(uint32_t bind, uint32_t wanted, uint32_t level);
/* A region begins: each member is told its place; and the team, whether these are too few. */
void med_bind_team(struct med_team *team, uint32_t wanted);
/* Where a new member's thread is to begin, in a team of so many. */
void med_bind_first(struct med_member *member, uint32_t members);
/* The processors of where a member is placed; NULL: it is nowhere in particular. */
const med_processor_set *med_bind_processors(const struct med_member *member);
/* The calling thread, which is that member's, goes where it is told; and says where it is, if the
 * environment wants that. */
void med_bind_here(struct med_member *member);
/* One that leads by itself begins at the first of all places; it is shown in its first region. */
void med_bind_begin(struct med_member *member);

#endif
