/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls for doacross loops. It says the dimensions first, whose address the
 * member keeps until the end, and then meets the loop as any other. How many of the outermost
 * dimensions that runs through (one, or some that are collapsed) follows from its iterations.
 */
#include <stdbool.h>

#include "omp/abi_kmpc.h"
#include "omp/say.h"

#define DIMENSIONS_MOST 64u

/* The other way `last` is a value that the variable has. */
static uint64_t
size_of(const med_dimension *d, bool counts)
{
    if (counts) {
        return (uint64_t)d->last;
    }
    return d->step > 0 ? ((uint64_t)d->last - (uint64_t)d->first) / (uint64_t)d->step + 1
                       : ((uint64_t)d->first - (uint64_t)d->last) / -(uint64_t)d->step + 1;
}

/* So many of them are a loop of that count; 0: it is another loop's. */
static uint32_t
outer_of(const med_dimensions *of, uint64_t count, bool counts)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < of->count; i++) {
        product *= size_of(&of->list[i], counts);
        if (product == count) {
            return i + 1;
        }
    }
    return 0;
}

static void
outer_find(med_dimensions *of, uint64_t count)
{
    of->counts = true;
    of->outer = outer_of(of, count, true);
    if (of->outer == 0) {
        of->counts = false;
        of->outer = outer_of(of, count, false);
    }
    if (of->outer == 0) {
        med_say_fatal("an ordered loop has other iterations than its dimensions");
    }
}

void
med_kmpc_doacross_begin(med_member *member, med_loop *loop, const med_bounds *bounds)
{
    unsigned long long sizes[DIMENSIONS_MOST] = {loop->count};
    med_dimensions *of = &member->dimensions;
    outer_find(of, loop->count);
    for (uint32_t i = of->outer; i < of->count; i++) {
        sizes[i - of->outer + 1] = size_of(&of->list[i], of->counts);
    }
    loop->dimensions = of->count - of->outer + 1;
    loop->counts = sizes;
    med_work_begin(member, loop, bounds);
}

FACE void
__kmpc_doacross_init(const med_kmpc_place *place,
                     int32_t thread,
                     int32_t count,
                     const med_dimension *list)
{
    (void)place;
    (void)thread;
    if (count > (int32_t)DIMENSIONS_MOST) {
        med_say_fatal("an ordered loop has more than 64 dimensions");
    }
    med_member_get()->dimensions = (med_dimensions){.list = list, .count = (uint32_t)count};
}

/* A loop of which the member was told that nothing is left is over already. */
FACE void
__kmpc_doacross_fini(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_member *member = med_member_get();
    member->dimensions.count = 0;
    if (member->work) {
        med_work_end(member);
    }
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* False: no iteration has that value. */
static bool
number_of(const med_dimension *d, bool counts, int64_t value, uint64_t *number)
{
    bool is_before = d->step > 0 ? value < d->first : value > d->first;
    uint64_t distance =
        d->step > 0 ? (uint64_t)value - (uint64_t)d->first : (uint64_t)d->first - (uint64_t)value;
    *number = distance / (d->step > 0 ? (uint64_t)d->step : -(uint64_t)d->step);
    return !is_before && *number < size_of(d, counts);
}

/* False: there is no such iteration; or the member is in no such loop. */
static bool
spot_of(const med_member *member, const int64_t *values, med_spot *spot)
{
    const med_dimensions *of = &member->dimensions;
    const med_doacross *doacross = member->work ? member->work->doacross : NULL;
    uint64_t outer = 0, number;
    if (!doacross) {
        return false;
    }
    *spot = (med_spot){.place = 0};
    for (uint32_t i = 0; i < of->count; i++) {
        if (!number_of(&of->list[i], of->counts, values[i], &number)) {
            return false;
        }
        if (i < of->outer) {
            outer = outer * size_of(&of->list[i], of->counts) + number;
            *spot = med_doacross_spot(doacross, outer);
        } else {
            med_doacross_spot_in(doacross, spot, i - of->outer + 1, number);
        }
    }
    med_doacross_spot_end(spot);
    return true;
}

FACE void
__kmpc_doacross_post(const med_kmpc_place *place, int32_t thread, const int64_t *values)
{
    med_spot spot;
    med_member *member = med_member_get();
    (void)place;
    (void)thread;
    if (spot_of(member, values, &spot)) {
        med_doacross_post(member, &spot);
    }
}

/* What is no iteration is not waited for. */
FACE void
__kmpc_doacross_wait(const med_kmpc_place *place, int32_t thread, const int64_t *values)
{
    med_spot spot;
    med_member *member = med_member_get();
    (void)place;
    (void)thread;
    if (spot_of(member, values, &spot)) {
        med_doacross_wait(member, &spot);
    }
}
