/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is left of a loop, joined and shared out again. */
#include "omp/schedule/rest.h"

void
med_rest_put(med_rest *rest, med_units units)
{
    if (units.first == units.end) {
        return;
    }
    med_units *last = rest->count > rest->at ? &rest->spans[rest->count - 1] : NULL;
    if (last && last->end == units.first) {
        last->end = units.end;
    } else {
        rest->spans[rest->count++] = units;
    }
    rest->units += units.end - units.first;
}

med_units
med_rest_take(med_rest *rest, uintptr_t most)
{
    if (rest->at == rest->count) {
        return (med_units){.first = 0};
    }
    med_units *span = &rest->spans[rest->at];
    uintptr_t length = span->end - span->first;
    length = most < length ? most : length;
    med_units taken = {.first = span->first, .end = span->first + length};
    span->first = taken.end;
    rest->at += span->first == span->end;
    rest->units -= length;
    return taken;
}

bool
med_rest_join(med_rest *queues, uint32_t count, med_rest *whole)
{
    uint32_t spans = count; /* each split cuts one more */
    for (uint32_t i = 0; i < count; i++) {
        spans += queues[i].count - queues[i].at;
    }
    if (spans > MED_REST_SPANS) {
        return false;
    }
    *whole = (med_rest){.count = 0};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = queues[i].at; j < queues[i].count; j++) {
            med_rest_put(whole, queues[i].spans[j]);
        }
        queues[i].units = 0;
        queues[i].at = queues[i].count = 0;
    }
    return true;
}

void
med_rest_share(med_rest *whole, const med_split *split, med_rest *queues)
{
    uintptr_t units = whole->units;
    for (uint32_t i = 0; i < split->classes; i++) {
        med_units part = med_split_class(split, units, i);
        for (uintptr_t left = part.end - part.first; left > 0;) {
            med_units taken = med_rest_take(whole, left);
            med_rest_put(&queues[i], taken);
            left -= taken.end - taken.first;
        }
    }
}
