/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a handler and what it interrupts change both, by MRAPI's atomic operations, so that a change
 * that is lost is seen. For one file of an image.
 */
#ifndef MEDLEY_TESTS_BARE_BESIDE_HANDLER_H
#define MEDLEY_TESTS_BARE_BESIDE_HANDLER_H

#include <stdbool.h>
#include <stdint.h>

#include "medley/mrapi_ext.h"

static uint32_t words[3]; /* 4, 2 and 1 bytes are used */
static uint32_t swapped;

static inline void
change_all(void)
{
    mrapi_status_t status;
    mrapi_uint64_t seen = 0;
    (void)mrapi_atomic_add(&words[0], 4, 5, &status);
    (void)mrapi_atomic_add(&words[1], 2, 5, &status);
    (void)mrapi_atomic_add(&words[2], 1, 5, &status);
    while (!mrapi_atomic_cas(&swapped, sizeof swapped, &seen, seen + 1, &status)) {
    }
}

/* Are they as after so many of these? */
static inline bool
changed_all(uint32_t times)
{
    return words[0] == times * 5 && (uint16_t)words[1] == (uint16_t)(times * 5) &&
           (uint8_t)words[2] == (uint8_t)(times * 5) && swapped == times;
}

#endif
