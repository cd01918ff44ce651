/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Groups, from the bottom up: of those that share a cache, until one is left of each; then of those
 * that share a memory node, likewise; then of all. As soon as so few are left that they meet in one
 * group, that is the top. Where there are too many for one group, they lie in several of about the
 * same size. One thread at a time.
 */
#include "omp/groups.h"

#include "omp/icv.h"

/* What begins at a seat; what is larger, too. */
typedef enum begin {
    BEGINS_NOTHING,
    BEGINS_CACHE,
    BEGINS_MEMORY,
    BEGINS_ALL
} begin;

bool
med_groups_read(med_settings *settings, med_value value)
{
    med_groups_told *told = &settings->groups;
    uint64_t number;
    *told = (med_groups_told){.is_told = true};
    do {
        if (told->count == MED_GROUPS_LISTED ||
            !med_value_number(&value, 0, MED_THREADS_MOST, &number)) {
            return false;
        }
        if (number < 2) { /* 0: all in one */
            return number == 0 && told->count == 0 && med_value_end(&value);
        }
        told->sizes[told->count++] = (uint32_t)number;
    } while (med_value_mark(&value, ','));
    return med_value_end(&value);
}

/* ---- Seats ----------------------------------------------------------------------------------- */

#define NO_SEAT UINT32_MAX

typedef struct seating {
    med_groups *groups;
    const uint32_t *caches;
    const uint32_t *memories;
    uint32_t next; /* seat */
} seating;

/* Those of the first one's cache. */
static void
seat_cache(seating *s, uint32_t first, begin begins)
{
    for (uint32_t i = first; i < s->groups->size; i++) {
        if (s->caches[i] == s->caches[first] && s->memories[i] == s->memories[first]) {
            s->groups->begins[s->next] = (uint8_t)begins;
            s->groups->seats[i] = s->next++;
            begins = BEGINS_NOTHING;
        }
    }
}

/* Those of the first one's memory node. */
static void
seat_memory(seating *s, uint32_t first, begin begins)
{
    for (uint32_t i = first; i < s->groups->size; i++) {
        if (s->groups->seats[i] == NO_SEAT && s->memories[i] == s->memories[first]) {
            seat_cache(s, i, begins);
            begins = BEGINS_CACHE;
        }
    }
}

static void
seat_all(seating *s)
{
    begin begins = BEGINS_ALL;
    for (uint32_t i = 0; i < s->groups->size; i++) {
        s->groups->seats[i] = NO_SEAT;
    }
    for (uint32_t i = 0; i < s->groups->size; i++) {
        if (s->groups->seats[i] == NO_SEAT) {
            seat_memory(s, i, begins);
            begins = BEGINS_MEMORY;
        }
    }
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Is somebody of that seat at that level? */
static bool
is_at(const med_groups *groups, uint32_t seat, uint32_t level)
{
    return groups->leads[seat] >= level;
}

static uint32_t
count_at(const med_groups *groups, uint32_t level)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < groups->size; i++) {
        count += is_at(groups, i, level);
    }
    return count;
}

static uint32_t
count_that_begin(const med_groups *groups, begin begins)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < groups->size; i++) {
        count += groups->begins[i] >= begins;
    }
    return count;
}

/* So many of that level, of the seats from `first` on, into groups of one size or one less. */
static void
part(med_groups *groups, uint32_t first, uint32_t level, uint32_t count)
{
    uint32_t most = groups->most ? groups->most : 1;
    uint64_t parts = (count + most - 1) / most;
    uint32_t in_part = 0; /* whose number is that */
    for (uint32_t seat = first, i = 0; i < count; seat++) {
        if (is_at(groups, seat, level)) {
            uint32_t number = (uint32_t)(i++ * parts / count);
            if (seat == first || number != in_part) {
                groups->leads[seat] = (uint8_t)(level + 1);
                in_part = number;
            }
        }
    }
}

/* Those of a level that share what begins there. */
static void
part_each(med_groups *groups, uint32_t level, begin begins)
{
    uint32_t first = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < groups->size; i++) {
        if (groups->begins[i] >= begins && i > 0) {
            part(groups, first, level, count);
            first = i;
            count = 0;
        }
        count += is_at(groups, i, level);
    }
    part(groups, first, level, count);
}

void
med_groups_make(med_groups *groups, const uint32_t *caches, const uint32_t *memories)
{
    seating s = {.groups = groups, .caches = caches, .memories = memories};
    uint32_t level = 0;
    seat_all(&s);
    for (uint32_t i = 0; i < groups->size; i++) {
        groups->leads[i] = 0;
    }
    for (begin begins = BEGINS_CACHE; begins <= BEGINS_ALL; begins++) {
        uint32_t few = count_that_begin(groups, begins);
        while (count_at(groups, level) > groups->most && count_at(groups, level) > few) {
            part_each(groups, level++, begins);
        }
    }
}

void
med_groups_make_told(med_groups *groups, const med_groups_told *told)
{
    for (uint32_t i = 0; i < groups->size; i++) {
        uint64_t span = 1;
        groups->seats[i] = i;
        groups->leads[i] = 0;
        for (uint32_t level = 0; level < told->count; level++) {
            span *= told->sizes[level];
            if (i % span == 0 && span < groups->size) {
                groups->leads[i]++;
            }
        }
    }
}
