/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Places (OpenMP 5.1, section 6.5): the sets of processors that threads are bound to, in an order;
 * of those processors that the program may use. */
#ifndef MEDLEY_OMP_PLACES_H
#define MEDLEY_OMP_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "omp/value.h"
#include "port/processor_set.h"

typedef struct med_places {
    uint32_t count; /* 0: there are none */
    med_processor_set *list;
    uint32_t fewest;  /* no place has fewer processors; 0: two places share some */
    uint32_t useless; /* so many were asked for besides, of processors that may not be used */
} med_places;

/* As OMP_PLACES has them. False: it is none, or nothing in it may be used. */
bool med_places_read(med_value *value, med_places *places);
/* As GOMP_CPU_AFFINITY has them: numbers, and ranges of them, each a place of its own. */
bool med_places_read_plain(med_value *value, med_places *places);
/* One for each processor. */
bool med_places_of_processors(med_places *places);

/* They are complete: what follows from all of them. */
void med_places_settle(med_places *places);

#endif
