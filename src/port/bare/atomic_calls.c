/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic operations for processors that lack them: the functions that the compiler calls instead of
 * instructions, of one, two and four bytes. Each is a plain read and a plain write inside what the
 * machine calls a section (atomic_section.h, in its folder): masked interrupts on a single core
 * (ARMv6-M: Cortex-M0, M0+), and a lock by test-and-set where there are several.
 *
 * Loads need no call; nor stores on a single core. Where there are several, stores take the lock
 * (port/atomic_store.h), since one between the read and the write would be lost.
 *
 * Orders: sequentially consistent, all, whatever is asked for: on one core program order is what
 * everybody sees, and the section of several has its fences. Progress: wait-free on one core; of
 * several each waits until the others are out, in no order. Death: cores do not die. Model: none;
 * tests/bare runs both.
 */
#include <stdbool.h>
#include <stdint.h>

#include "atomic_section.h"
#include "port/atomic_store.h"

/* The compiler's names cannot be declared otherwise than it does; so ours have them as labels. */
#define READ_MODIFY_WRITE(name, bits, after)                                                       \
    uint##bits##_t med_bare_##name##_##bits(                                                       \
        volatile uint##bits##_t *memory, uint##bits##_t operand,                                   \
        int order) __asm__("__atomic_" #name "_" CALL_SUFFIX_##bits);                              \
    uint##bits##_t med_bare_##name##_##bits(volatile uint##bits##_t *memory,                       \
                                            uint##bits##_t operand, int order)                     \
    {                                                                                              \
        uint32_t section = med_bare_atomic_enter();                                                \
        uint##bits##_t before = *memory;                                                           \
        *memory = (uint##bits##_t)(after);                                                         \
        med_bare_atomic_leave(section);                                                            \
        (void)order;                                                                               \
        return before;                                                                             \
    }

#define COMPARE_EXCHANGE(bits)                                                                     \
    bool med_bare_compare_exchange_##bits(                                                         \
        volatile uint##bits##_t *memory, uint##bits##_t *expected, uint##bits##_t desired,         \
        int success, int failure) __asm__("__atomic_compare_exchange_" CALL_SUFFIX_##bits);        \
    bool med_bare_compare_exchange_##bits(volatile uint##bits##_t *memory,                         \
                                          uint##bits##_t *expected, uint##bits##_t desired,        \
                                          int success, int failure)                                \
    {                                                                                              \
        uint32_t section = med_bare_atomic_enter();                                                \
        uint##bits##_t there = *memory;                                                            \
        bool same = there == *expected;                                                            \
        if (same) {                                                                                \
            *memory = desired;                                                                     \
        }                                                                                          \
        med_bare_atomic_leave(section);                                                            \
        *expected = there;                                                                         \
        (void)success;                                                                             \
        (void)failure;                                                                             \
        return same;                                                                               \
    }

#define CALL_SUFFIX_8 "1"
#define CALL_SUFFIX_16 "2"
#define CALL_SUFFIX_32 "4"

#define ALL_OF(bits)                                                                               \
    READ_MODIFY_WRITE(exchange, bits, operand)                                                     \
    READ_MODIFY_WRITE(fetch_add, bits, before + operand)                                           \
    READ_MODIFY_WRITE(fetch_sub, bits, before - operand)                                           \
    READ_MODIFY_WRITE(fetch_and, bits, before &operand)                                            \
    READ_MODIFY_WRITE(fetch_or, bits, before | operand)                                            \
    READ_MODIFY_WRITE(fetch_xor, bits, before ^ operand)                                           \
    COMPARE_EXCHANGE(bits)

ALL_OF(8)
ALL_OF(16)
ALL_OF(32)

#ifdef MED_PORT_TEST_AND_SET

uint32_t med_bare_atomic_taken;

void
med_port_store(volatile void *memory, size_t bytes, uint32_t value)
{
    uint32_t section = med_bare_atomic_enter();
    if (bytes == 1) {
        *(volatile uint8_t *)memory = (uint8_t)value;
    } else if (bytes == 2) {
        *(volatile uint16_t *)memory = (uint16_t)value;
    } else {
        *(volatile uint32_t *)memory = value;
    }
    med_bare_atomic_leave(section);
}

#endif
