/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sets of processors, by the numbers that the system gives them. Half a KiB: fit for any stack,
 * where a list of as many numbers is not. */
#ifndef MEDLEY_PORT_PROCESSOR_SET_H
#define MEDLEY_PORT_PROCESSOR_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers are below it. */
#define MED_PROCESSORS_MAX 4096u
#define MED_PROCESSOR_WORDS (MED_PROCESSORS_MAX / 64)

typedef struct med_processor_set {
    uint64_t words[MED_PROCESSOR_WORDS]; /* processor N: bit N % 64 of word N / 64 */
} med_processor_set;

static inline bool
med_processor_set_has(const med_processor_set *set, uint32_t number)
{
    return (set->words[number / 64] >> number % 64 & 1) != 0;
}

static inline void
med_processor_set_put(med_processor_set *set, uint32_t number)
{
    set->words[number / 64] |= UINT64_C(1) << number % 64;
}

static inline void
med_processor_set_drop(med_processor_set *set, uint32_t number)
{
    set->words[number / 64] &= ~(UINT64_C(1) << number % 64);
}

/* The lowest in it from that number on; MED_PROCESSORS_MAX: there is none. */
static inline uint32_t
med_processor_set_next(const med_processor_set *set, uint32_t from)
{
    uint32_t i = from / 64;
    uint64_t word = i < MED_PROCESSOR_WORDS ? set->words[i] >> from % 64 << from % 64 : 0;
    while (word == 0 && ++i < MED_PROCESSOR_WORDS) {
        word = set->words[i];
    }
    return word ? i * 64 + (uint32_t)__builtin_ctzll(word) : MED_PROCESSORS_MAX;
}

/* for each of them, from the lowest on; in the loop the set may lose what was met, and what comes
 * later. */
#define MED_PROCESSOR_SET_EACH(number, set)                                                        \
    for (uint32_t number = med_processor_set_next(set, 0); number < MED_PROCESSORS_MAX;            \
         number = med_processor_set_next(set, number + 1))

/* The same as next, and round again from the lowest; MED_PROCESSORS_MAX: the set is empty. */
static inline uint32_t
med_processor_set_next_round(const med_processor_set *set, uint32_t from)
{
    uint32_t next = med_processor_set_next(set, from);
    return next < MED_PROCESSORS_MAX ? next : med_processor_set_next(set, 0);
}

static inline uint32_t
med_processor_set_count(const med_processor_set *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MED_PROCESSOR_WORDS; i++) {
        count += (uint32_t)__builtin_popcountll(set->words[i]);
    }
    return count;
}

/* Leaves what it has in common with another one; false: that is nothing. */
static inline bool
med_processor_set_cut(med_processor_set *set, const med_processor_set *other)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < MED_PROCESSOR_WORDS; i++) {
        set->words[i] &= other->words[i];
        left |= set->words[i];
    }
    return left != 0;
}

/* Puts in all of another one; false: one of them was in there already. */
static inline bool
med_processor_set_join(med_processor_set *set, const med_processor_set *more)
{
    uint64_t met = 0;
    for (uint32_t i = 0; i < MED_PROCESSOR_WORDS; i++) {
        met |= set->words[i] & more->words[i];
        set->words[i] |= more->words[i];
    }
    return met == 0;
}

static inline med_processor_set
med_processor_set_of(uint32_t number)
{
    med_processor_set set = {{0}};
    med_processor_set_put(&set, number);
    return set;
}

#endif
