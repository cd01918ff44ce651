/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocators as OMP_ALLOCATOR says them (OpenMP 5.1, section 6.21): one of the predefined ones, or
 * a memory space, and perhaps traits behind a colon. Names have their numbers from their places in
 * these lists: those of omp.h. */
#include "omp/allocator.h"

#define COUNT(list) (uint32_t)(sizeof(list) / sizeof(list)[0])
#define TRAITS_MOST COUNT(traits)

static const char *const spaces[] = {"omp_default_mem_space", "omp_large_cap_mem_space",
                                     "omp_const_mem_space", "omp_high_bw_mem_space",
                                     "omp_low_lat_mem_space"};

static const char *const truths[] = {"false", "true"};
static const char *const hints[] = {"contended", "uncontended", "serialized", "private"};
static const char *const accesses[] = {"all", "thread", "pteam", "cgroup"};
static const char *const fallbacks[] = {"default_mem_fb", "null_fb", "abort_fb", "allocator_fb"};
static const char *const partitions[] = {"environment", "nearest", "blocked", "interleaved"};

/* Their keys are their places, from 1. Without words it is a number. */
static const struct trait {
    const char *name;
    const char *const *words;
    uint32_t word_count;
    uint32_t first; /* number */
} traits[] = {
    {"sync_hint", hints, COUNT(hints), 3},
    {"alignment", NULL, 0, 0},
    {"access", accesses, COUNT(accesses), 7},
    {"pool_size", NULL, 0, 0},
    {"fallback", fallbacks, COUNT(fallbacks), 11},
    {"fb_data", med_allocator_names, MED_ALLOCATOR_PREDEFINED, MED_ALLOCATOR_DEFAULT},
    {"pinned", truths, COUNT(truths), 0},
    {"partition", partitions, COUNT(partitions), 15},
};

static bool
trait_read(med_value *value, med_allocator_trait *read)
{
    uint32_t key = 0;
    uint32_t word = 0;
    uint64_t number = 0;
    while (key < TRAITS_MOST && !med_value_is(value, traits[key].name)) {
        key++;
    }
    if (key == TRAITS_MOST || !med_value_mark(value, '=')) {
        return false;
    }
    const struct trait *trait = &traits[key];
    if (trait->words ? !med_value_one_of(value, trait->words, trait->word_count, &word)
                     : !med_value_number(value, 1, UINTPTR_MAX, &number)) {
        return false;
    }
    *read = (med_allocator_trait){.key = (int)key + 1,
                                  .value = trait->words ? trait->first + word : (uintptr_t)number};
    return true;
}

uintptr_t
med_allocator_read(med_value *value)
{
    med_allocator_trait read[TRAITS_MOST];
    uint32_t count = 0;
    uint32_t found;
    if (med_value_one_of(value, med_allocator_names, MED_ALLOCATOR_PREDEFINED, &found)) {
        return med_value_end(value) ? MED_ALLOCATOR_DEFAULT + found : MED_ALLOCATOR_NULL;
    }
    if (!med_value_one_of(value, spaces, COUNT(spaces), &found)) {
        return MED_ALLOCATOR_NULL;
    }
    if (med_value_mark(value, ':')) {
        do {
            if (count == TRAITS_MOST || !trait_read(value, &read[count++])) {
                return MED_ALLOCATOR_NULL;
            }
        } while (med_value_mark(value, ','));
    }
    return med_value_end(value) ? med_allocator_make(found, read, count) : MED_ALLOCATOR_NULL;
}
