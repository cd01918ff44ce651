/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic operations on a program's own memory, of 1, 2, 4 or 8 bytes, naturally aligned; shared
 * with other processes or not. All are sequentially consistent.
 *
 * Medley's own words are atomic32 (atomic.h); this is for what MRAPI offers to programs.
 *
 * Progress: wait-free where the processor has the operation on that width, lock-free where it takes
 * a compare-and-swap loop. A processor without atomic bytes and halves goes through the word around
 * them; so all who use such memory together must use the same kind of access, which is what a
 * domain's one instruction set means. 8 bytes are there where the processor has them.
 */
#ifndef MEDLEY_BASE_ATOMIC_SIZED_H
#define MEDLEY_BASE_ATOMIC_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "medley/status.h"
#include "port/inner.h"

typedef enum med_atomic_operation {
    MED_ATOMIC_LOAD, /* the operand is not used */
    MED_ATOMIC_STORE,
    MED_ATOMIC_EXCHANGE,
    MED_ATOMIC_ADD, /* modulo the width */
    MED_ATOMIC_AND,
    MED_ATOMIC_OR,
    MED_ATOMIC_XOR,
} med_atomic_operation;

/* MEDLEY_OK when `size` bytes at `memory` can be used atomically; MEDLEY_ERR_ARGUMENT: NULL, of no
 * such size, or not aligned to it; MEDLEY_ERR_NOT_SUPPORTED: not on this processor. */
MED_INNER medley_status_t med_atomic_sized_check(const void *memory, size_t size);

/* Both: of memory that was checked. What was there before; for a store, what was stored. Of the
 * operand the low `size` bytes count. */
MED_INNER uint64_t med_atomic_sized_apply(void *memory,
                                          size_t size,
                                          med_atomic_operation operation,
                                          uint64_t operand);
/* True when `*expected` was there and `desired` is now; else `*expected` becomes what was there. */
MED_INNER bool
med_atomic_sized_cas(void *memory, size_t size, uint64_t *expected, uint64_t desired);

/* For programs: every access before it is seen before every access behind it, by everybody.
 * (Medley's own fences are the port's, which know who else runs.) */
void med_atomic_sized_fence(void);

#endif
