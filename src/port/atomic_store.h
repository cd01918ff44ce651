/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How a word is stored to that others change by read-modify-write.
 *
 * Most processors do that in one instruction, beside which a store is a store. Where several cores
 * have only a test-and-set (MEDLEY_TEST_AND_SET, bare/atomic_calls.c), a read-modify-write is a few
 * instructions under one lock, and a plain store between them would be lost: so stores take that
 * lock, too. Loads never do: every value that a word had was whole.
 */
#ifndef MEDLEY_PORT_ATOMIC_STORE_H
#define MEDLEY_PORT_ATOMIC_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef MED_PORT_TEST_AND_SET
#define MED_PORT_STORES_BY_CALL 1
#else
#define MED_PORT_STORES_BY_CALL 0
#endif

/* Sequentially consistent, whatever is asked for. 1, 2 or 4 bytes. */
void med_port_store(volatile void *memory, size_t bytes, uint32_t value);

/* A constant. */
static inline bool
med_port_stores_by_call(void)
{
    return MED_PORT_STORES_BY_CALL;
}

/* The compiler's __atomic_store_n, or that. */
#define med_port_store_n(memory, value, order)                                                     \
    (med_port_stores_by_call()                                                                     \
         ? med_port_store(memory, sizeof *(memory), (uint32_t)(uintptr_t)(value))                  \
         : __atomic_store_n(memory, value, order))

#endif
