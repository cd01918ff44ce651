/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From a time to its cell and back, and the sums over cells that shares are read from. */
#include "tools/medley/histogram.h"

#define CELLS (sizeof((histogram *)NULL)->cells / sizeof(uint64_t))

/* Below twice the cells of a power, a time is its own cell; then each power of two halves how
 * closely it is looked at. */
static size_t
cell_of(uint64_t time_ns)
{
    unsigned power = 0;
    while (time_ns >> power >= 2 * HISTOGRAM_CELLS_OF_A_POWER) {
        power++;
    }
    size_t cell = power * HISTOGRAM_CELLS_OF_A_POWER + (size_t)(time_ns >> power);
    return cell < CELLS ? cell : CELLS - 1;
}

/* The largest time of that cell. */
static uint64_t
time_of(size_t cell)
{
    if (cell < 2 * HISTOGRAM_CELLS_OF_A_POWER) {
        return cell;
    }
    size_t power = cell / HISTOGRAM_CELLS_OF_A_POWER - 1;
    uint64_t place = cell - power * HISTOGRAM_CELLS_OF_A_POWER;
    return ((place + 1) << power) - 1;
}

void
histogram_add(histogram *h, uint64_t time_ns)
{
    h->cells[cell_of(time_ns)]++;
    h->least_ns = h->total == 0 || time_ns < h->least_ns ? time_ns : h->least_ns;
    h->most_ns = time_ns > h->most_ns ? time_ns : h->most_ns;
    h->sum_ns += time_ns;
    h->total++;
}

void
histogram_merge(histogram *into, const histogram *from)
{
    if (from->total == 0) {
        return;
    }
    for (size_t i = 0; i < CELLS; i++) {
        into->cells[i] += from->cells[i];
    }
    into->least_ns =
        into->total == 0 || from->least_ns < into->least_ns ? from->least_ns : into->least_ns;
    into->most_ns = from->most_ns > into->most_ns ? from->most_ns : into->most_ns;
    into->sum_ns += from->sum_ns;
    into->total += from->total;
}

uint64_t
histogram_at(const histogram *h, double share)
{
    uint64_t below = 0;
    double wanted = share * (double)h->total;
    for (size_t i = 0; i < CELLS && h->total; i++) {
        below += h->cells[i];
        if (below > 0 && (double)below >= wanted) {
            uint64_t time_ns = time_of(i);
            return time_ns < h->most_ns ? time_ns : h->most_ns;
        }
    }
    return h->most_ns;
}

uint64_t
histogram_between(const histogram *h, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t count = 0;
    for (size_t i = cell_of(from_ns); i < CELLS && time_of(i) < to_ns; i++) {
        count += h->cells[i];
    }
    return count;
}
