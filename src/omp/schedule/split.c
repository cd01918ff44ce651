/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Exact splits: where a part ends is reckoned from all weights before it, so the last one ends with
 * the units. */
#include "omp/schedule/split.h"

/* units * weight / all, for weight <= all < 2^32, whatever the units; of nobody nothing. */
static uintptr_t
share_of(uintptr_t units, uint64_t weight, uint64_t all)
{
    if (all == 0) {
        return 0;
    }
    return (uintptr_t)(units / all * weight + units % all * weight / all);
}

uintptr_t
med_percent_of(uintptr_t units, uint32_t percent)
{
    return share_of(units, percent, 100);
}

/* Of the classes before that one. */
static uint64_t
weight_before(const med_split *split, uint32_t class)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < class; i++) {
        weight += (uint64_t)split->members[i] * split->weights[i];
    }
    return weight;
}

med_units
med_split_class(const med_split *split, uintptr_t units, uint32_t class)
{
    uint64_t all = weight_before(split, split->classes);
    return (med_units){.first = share_of(units, weight_before(split, class), all),
                       .end = share_of(units, weight_before(split, class + 1), all)};
}

med_units
med_split_member(const med_split *split, uintptr_t units, uint32_t class, uint32_t rank)
{
    med_units whole = med_split_class(split, units, class);
    uintptr_t each = (whole.end - whole.first) / split->members[class];
    uintptr_t more = (whole.end - whole.first) % split->members[class];
    uintptr_t first = whole.first + each * rank + (rank < more ? rank : more);
    return (med_units){.first = first, .end = first + each + (rank < more)};
}

uint64_t
med_pace_ps(const med_pace *pace, uint32_t class)
{
    uint64_t ns = pace->ns[class] < UINT64_MAX / 1000 ? pace->ns[class] : UINT64_MAX / 1000;
    uint64_t ps = pace->units[class] ? ns * 1000 / pace->units[class] : 0;
    return pace->units[class] && ps == 0 ? 1 : ps;
}

void
med_pace_weights(const med_pace *pace, uint32_t classes, uint32_t *weights)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < classes; i++) {
        uint64_t ps = med_pace_ps(pace, i);
        least = ps && ps < least ? ps : least;
    }
    least = least < UINT64_MAX / MED_WEIGHT_MOST ? least : UINT64_MAX / MED_WEIGHT_MOST;
    for (uint32_t i = 0; i < classes; i++) {
        uint64_t ps = med_pace_ps(pace, i);
        weights[i] = ps ? (uint32_t)(least * MED_WEIGHT_MOST / ps) : 0;
        weights[i] += ps && weights[i] == 0;
    }
}

uint32_t
med_weight_mean(uint32_t old, uint32_t new)
{
    if (old == 0 || new == 0) {
        return old + new;
    }
    return (3 * new + old + 2) / 4;
}

uint32_t
med_weight_middle(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t low = a < b ? a : b;
    uint32_t high = a < b ? b : a;
    return c < low ? low : c < high ? c : high;
}
