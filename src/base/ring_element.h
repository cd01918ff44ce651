/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The elements of any ring: how large they may be, how many, and how one is copied.
 *
 * Fill the slot itself, field by field, where you can. A struct that is filled first and copied
 * then waits, where the copy loads more widely than the fields were stored, for the store buffer to
 * drain: ten times slower across cores. med_ring_copy goes by words of eight bytes for that reason.
 */
#ifndef MEDLEY_BASE_RING_ELEMENT_H
#define MEDLEY_BASE_RING_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "port/port.h"

#define MED_RING_ELEMENT_MAX 65536u
#define MED_RING_CAPACITY_MAX (1u << 28)

/* Bytes that two sides write to, this far apart, share no pair of cache lines: processors fetch
 * them in pairs. */
#define MED_RING_APART_BYTES 128u

static inline uint64_t
med_ring_apart(uint64_t bytes)
{
    return (bytes + MED_RING_APART_BYTES - 1) / MED_RING_APART_BYTES * MED_RING_APART_BYTES;
}

/* Could there be a ring of so many, so large? */
static inline bool
med_ring_is_possible(uint32_t element_bytes, uint32_t capacity)
{
    return element_bytes >= 1 && element_bytes <= MED_RING_ELEMENT_MAX && capacity >= 1 &&
           capacity <= MED_RING_CAPACITY_MAX && (capacity & (capacity - 1)) == 0;
}

/* Above this the end of an element that was filled just now is no longer near the copy's start. */
#define MED_RING_COPY_BY_WORD_MAX 256u

void med_ring_copy_large(void *restrict target, const void *restrict source, uint32_t bytes);

/* Copies the word at `at`; the compiler, which does not know that the word stays the same, cannot
 * join it with its neighbour into a wider load or store. */
static inline void
med_ring_copy_word(uint8_t *target, const uint8_t *source, uint32_t at)
{
    uint64_t word;
    memcpy(&word, source + at, 8);
    __asm__("" : "+r"(word));
    memcpy(target + at, &word, 8);
}

/* Copies by single words of eight bytes, and the rest by bytes: see the head of this file. Up to
 * MED_RING_COPY_BY_WORD_MAX. The first words stand apart so that with a constant `bytes` there is
 * no loop, and what was computed just before goes from registers into the slot. */
static inline void
med_ring_copy_words(void *restrict target, const void *restrict source, uint32_t bytes)
{
    uint8_t *to = target;
    const uint8_t *from = source;
    if (bytes >= 8) {
        med_ring_copy_word(to, from, 0);
    }
    if (bytes >= 16) {
        med_ring_copy_word(to, from, 8);
    }
    if (bytes >= 24) {
        med_ring_copy_word(to, from, 16);
    }
    uint32_t at = bytes >= 24 ? 24 : bytes & ~7u;
    for (; at + 8 <= bytes; at += 8) {
        med_ring_copy_word(to, from, at);
    }
    for (; at < bytes; at++) {
        uint32_t byte = from[at];
        __asm__("" : "+r"(byte)); /* as above */
        to[at] = (uint8_t)byte;
    }
}

/* The same, of any length. */
static inline void
med_ring_copy(void *restrict target, const void *restrict source, uint32_t bytes)
{
    if (med_port_is_small()) {
        memcpy(target, source, bytes);
    } else if (bytes > MED_RING_COPY_BY_WORD_MAX) {
        med_ring_copy_large(target, source, bytes);
    } else {
        med_ring_copy_words(target, source, bytes);
    }
}

#endif
