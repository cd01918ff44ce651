/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Round trips between two processors; values: median (mean of the middle half) and p99.9 of
 * the trips of one run, ns. */
#ifndef MEDLEY_BENCH_RING_TRIP_H
#define MEDLEY_BENCH_RING_TRIP_H

#include "bench.h"

#define TRIP_LINES_IN_TURN 64
#define TRIP_WARM_UP_SHARE 25 /* one in so many, the first ones, does not count */

typedef enum trip_bare_kind {
    TRIP_WORD,        /* one word */
    TRIP_MESSAGE,     /* with 24 B in its line */
    TRIP_TWO_IN_TURN, /* likewise, and two lines used in turn */
    TRIP_IN_TURN,     /* and TRIP_LINES_IN_TURN of them */
} trip_bare_kind;

/* Of `count` trips, each timed by one reading of the clock, which is taken off. Tells each as a
 * latency; sorts them. */
void trip_values(double *ns, uint64_t count, double *values);
/* `context`: trip_bare_kind. */
bool trip_bare(const bench *b, void *context, double *values);
/* `context`: the rings' capacity (uint32_t). */
bool trip_rings(const bench *b, void *context, double *values);

#endif
