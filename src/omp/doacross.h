/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops whose iterations wait for single earlier ones of the loops around them too (doacross): an
 * iteration is posted when it is so far, and others wait for it.
 *
 * Who executes a run of outer iterations posts them in their order. So there is one word for each
 * run, which says how far that is: a row. Runs are what the schedule gives out at once: a member's
 * part, or a chunk; where their bounds are not known beforehand, single outer iterations.
 */
#ifndef MEDLEY_OMP_DOACROSS_H
#define MEDLEY_OMP_DOACROSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

struct med_member;
struct med_work;

typedef struct med_doacross {
    uint32_t dimensions;
    uint64_t part;   /* outer iterations to a row; */
    uint64_t longer; /* so many rows, the first, have one more */
    uint64_t count;  /* of outer iterations */
    uintptr_t row_bytes;
    atomic_word *rows; /* behind the counts; 0: nothing of it is posted */
    uint64_t counts[]; /* of iterations, from the outermost loop in */
} med_doacross;

/* The values of a loop's variable, where a face is told them. */
typedef struct med_dimension {
    int64_t first;
    int64_t last;
    int64_t step;
} med_dimension;

/* Those of a loop that a member is in, or about to meet. */
typedef struct med_dimensions {
    const med_dimension *list; /* the caller's */
    uint32_t count;            /* 0: it is no such loop */
    uint32_t outer;            /* so many, the first, are the loop that is shared out */
    bool counts;               /* all go from 0, by 1, to before `last` */
} med_dimensions;

/* An iteration: which row, and the how manieth of it, from 1. */
typedef struct med_spot {
    uintptr_t row;
    uintptr_t place;
} med_spot;
#define MED_ROW_NONE UINTPTR_MAX /* of what is no iteration: nobody waits for it */

/* For a construct that is filled in already; the counts of dimensions are left to the caller. Ends
 * the program when there is no memory. med_heap_take_back takes it back. */
med_doacross *med_doacross_make(const struct med_work *work, uint32_t dimensions);

/* The spot of outer iteration `number`, then by one dimension after the other, from 1 on; `end`
 * behind the last. */
med_spot med_doacross_spot(const med_doacross *doacross, uint64_t number);

static inline void
med_doacross_spot_in(const med_doacross *doacross,
                     med_spot *spot,
                     uint32_t dimension,
                     uint64_t number)
{
    spot->place = spot->place * (uintptr_t)doacross->counts[dimension] + (uintptr_t)number;
}

static inline void
med_doacross_spot_end(med_spot *spot)
{
    spot->place++;
}

/* The member's iteration is so far. */
void med_doacross_post(struct med_member *member, const med_spot *spot);
/* Blocks until that iteration is. */
void med_doacross_wait(struct med_member *member, const med_spot *spot);

#endif
