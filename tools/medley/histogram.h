/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How often which time was measured, with three digits: for each power of two, 1024 cells of equal
 * width; below 2048 ns, one for each. A fixed size, no pointer: it may lie in shared memory. Each
 * has one writer; whoever reads it does so afterwards, or learns what is about right.
 *
 * Why not HdrHistogram, which divides time in the same way: Debian 12, of whose packages all is
 * built, has it for Go and for Java, and not for C.
 */
#ifndef MEDLEY_TOOLS_HISTOGRAM_H
#define MEDLEY_TOOLS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_CELLS_OF_A_POWER ((size_t)1024)
#define HISTOGRAM_POWERS 31u /* up to about 2000 s; longer counts as that */

typedef struct histogram {
    uint64_t total;
    uint64_t sum_ns;
    uint64_t least_ns;
    uint64_t most_ns;
    uint64_t cells[(HISTOGRAM_POWERS + 1) * HISTOGRAM_CELLS_OF_A_POWER];
} histogram;

/* A zeroed one is ready for use. */
void histogram_add(histogram *h, uint64_t time_ns);
void histogram_merge(histogram *into, const histogram *from);
/* The time that this share of all did not exceed, 0 to 1; 0 of an empty one. */
uint64_t histogram_at(const histogram *h, double share);
/* How many took at least `from_ns` and less than `to_ns`, both powers of two. */
uint64_t histogram_between(const histogram *h, uint64_t from_ns, uint64_t to_ns);

#endif
