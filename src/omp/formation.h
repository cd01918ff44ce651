/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Formations: the barriers of a team, one for each number of members that it has had, and where
 * these lie in groups, one for each way in which they are placed. A team keeps the last ones that
 * it had, and those that somebody who departed from one may still look at. By its leader, between
 * two regions.
 */
#ifndef MEDLEY_OMP_FORMATION_H
#define MEDLEY_OMP_FORMATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/barrier.h"
#include "omp/bind.h"

struct med_team;

typedef struct med_formation {
    struct med_formation *next;
    uint32_t size;
    uint32_t come;           /* by all of them, so often */
    bool is_in_groups;       /* of members that are placed so, where they are at all: */
    uint32_t bind;           /* by that way of binding */
    med_placement placement; /* from there on */
    med_barrier *barrier;
    const uint32_t *seats; /* in the barrier, by the members' numbers; NULL: these */
} med_formation;

/* All in one group; of so many, or as many as there is memory for. */
med_formation *med_formation_of(struct med_team *team, uint32_t size);
/* The team has its size, and its members are placed: it gets its formation for the region. In
 * groups, if it has more members than one group and no fewer processors; or as MEDLEY_TEAM_GROUPS
 * says. */
void med_formation_choose(struct med_team *team);
/* Its members are told of a region. */
void med_formation_tell(struct med_team *team);
void med_formations_destroy(struct med_team *team);

#endif
