/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Round trips between two processors; values: median (mean of the middle half) and p99.9 of
 * the trips of one run, ns. */
#ifndef MEDLEY_BENCH_RING_TRIP_H
#define MEDLEY_BENCH_RING_TRIP_H

#include "bench.h"

/* `context`: whether the 24 B go with the word (bool). */
bool trip_bare(const bench *b, void *context, double *values);
/* `context`: the rings' capacity (uint32_t). */
bool trip_rings(const bench *b, void *context, double *values);

#endif
