/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the fuzz harnesses share: the input as a stream of numbers, memory with a guard behind its
 * last byte, and a hand that writes over it. Each harness makes something sound, lets the input
 * write over it, uses it, writes over it again, and so on: whatever the other side of shared memory
 * does, a call comes back and touches nothing outside.
 */
#ifndef MEDLEY_FUZZ_FUZZ_H
#define MEDLEY_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

typedef struct fuzz_input {
    const uint8_t *bytes;
    size_t left;
} fuzz_input;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* 0 behind the end. */
static inline uint32_t
fuzz_take(fuzz_input *input, unsigned bytes)
{
    uint32_t number = 0;
    for (; bytes && input->left; bytes--, input->left--) {
        number = number << 8 | *input->bytes++;
    }
    return number;
}

static inline uint32_t
fuzz_below(fuzz_input *input, uint32_t bound)
{
    return fuzz_take(input, bound > 256 ? 4 : 1) % bound;
}

static inline void *
fuzz_memory(size_t size_bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 128, size_bytes) != 0) {
        abort();
    }
    memset(memory, 0, size_bytes);
    return memory;
}

/* A word that is likely to matter: small, around a power of two, all ones, or anything. */
static inline uint32_t
fuzz_word(fuzz_input *input)
{
    uint32_t kind = fuzz_take(input, 1);
    switch (kind & 3) {
    case 0:
        return kind >> 2;
    case 1:
        return (1u << (kind >> 3)) - (kind >> 2 & 1);
    case 2:
        return ~(kind >> 2);
    default:
        return fuzz_take(input, 4);
    }
}

/* Writes over up to 15 words of it. */
static inline void
fuzz_scribble(fuzz_input *input, void *memory, size_t size_bytes)
{
    atomic32 *words = memory;
    for (uint32_t n = fuzz_take(input, 1) & 15; n; n--) {
        uint32_t at = fuzz_take(input, 2) % (uint32_t)(size_bytes / 4);
        atomic32_store_relaxed(&words[at], fuzz_word(input));
    }
}

/* Or over its first bytes, all of them. */
static inline void
fuzz_replace(fuzz_input *input, void *memory, size_t size_bytes)
{
    size_t bytes = input->left < size_bytes ? input->left : size_bytes;
    memcpy(memory, input->bytes, bytes);
    input->bytes += bytes;
    input->left -= bytes;
}

#endif
