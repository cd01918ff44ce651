/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic operations for cores that have none (ARMv6-M: Cortex-M0, M0+): the functions that the
 * compiler calls instead of instructions, of one, two and four bytes. Interrupts are masked for the
 * few instructions in between, so the core's threads and handlers see each as one step. That holds
 * for ONE core: where two share memory, or a DMA writes the same word, nothing here keeps them
 * apart. Loads and stores need no call; a handler that cannot be masked (NMI, HardFault) may not
 * use these.
 *
 * Progress: wait-free. Orders: all are stronger than what is asked for, since on one core program
 * order is what everybody sees, and the compiler moves nothing across the masking.
 */
#include <stdbool.h>
#include <stdint.h>

/* What the mask was before; to be given to unmask. */
static inline uint32_t
interrupts_mask(void)
{
    uint32_t before;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before)::"memory");
    return before;
}

static inline void
interrupts_unmask(uint32_t before)
{
    __asm__ volatile("msr primask, %0" ::"r"(before) : "memory");
}

/* The compiler's names cannot be declared otherwise than it does; so ours have them as labels. */
#define READ_MODIFY_WRITE(name, bits, after)                                                       \
    uint##bits##_t med_cortex_m_##name##_##bits(                                                   \
        volatile uint##bits##_t *memory, uint##bits##_t operand,                                   \
        int order) __asm__("__atomic_" #name "_" CALL_SUFFIX_##bits);                              \
    uint##bits##_t med_cortex_m_##name##_##bits(volatile uint##bits##_t *memory,                   \
                                                uint##bits##_t operand, int order)                 \
    {                                                                                              \
        uint32_t mask = interrupts_mask();                                                         \
        uint##bits##_t before = *memory;                                                           \
        *memory = (uint##bits##_t)(after);                                                         \
        interrupts_unmask(mask);                                                                   \
        (void)order;                                                                               \
        return before;                                                                             \
    }

#define COMPARE_EXCHANGE(bits)                                                                     \
    bool med_cortex_m_compare_exchange_##bits(                                                     \
        volatile uint##bits##_t *memory, uint##bits##_t *expected, uint##bits##_t desired,         \
        bool weak, int success,                                                                    \
        int failure) __asm__("__atomic_compare_exchange_" CALL_SUFFIX_##bits);                     \
    bool med_cortex_m_compare_exchange_##bits(volatile uint##bits##_t *memory,                     \
                                              uint##bits##_t *expected, uint##bits##_t desired,    \
                                              bool weak, int success, int failure)                 \
    {                                                                                              \
        uint32_t mask = interrupts_mask();                                                         \
        uint##bits##_t there = *memory;                                                            \
        bool same = there == *expected;                                                            \
        if (same) {                                                                                \
            *memory = desired;                                                                     \
        }                                                                                          \
        interrupts_unmask(mask);                                                                   \
        *expected = there;                                                                         \
        (void)weak;                                                                                \
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
