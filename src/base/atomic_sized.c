/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One set of operations per width that the processor has, made from one text; the others go through
 * the 32-bit word around them. The compiler says which widths it does without a library; or the
 * port has calls for all.
 */
#include "base/atomic_sized.h"

#include "port/atomic_store.h"

#define BY_PROCESSOR 2 /* the compiler's word for: always, and without a lock */

#define APPLY(width)                                                                               \
    static uint64_t apply_##width(uint##width##_t *memory, med_atomic_operation operation,         \
                                  uint##width##_t operand)                                         \
    {                                                                                              \
        switch (operation) {                                                                       \
        case MED_ATOMIC_STORE:                                                                     \
            med_port_store_n(memory, operand, __ATOMIC_SEQ_CST);                                   \
            return operand;                                                                        \
        case MED_ATOMIC_EXCHANGE:                                                                  \
            return __atomic_exchange_n(memory, operand, __ATOMIC_SEQ_CST);                         \
        case MED_ATOMIC_ADD:                                                                       \
            return __atomic_fetch_add(memory, operand, __ATOMIC_SEQ_CST);                          \
        case MED_ATOMIC_AND:                                                                       \
            return __atomic_fetch_and(memory, operand, __ATOMIC_SEQ_CST);                          \
        case MED_ATOMIC_OR:                                                                        \
            return __atomic_fetch_or(memory, operand, __ATOMIC_SEQ_CST);                           \
        case MED_ATOMIC_XOR:                                                                       \
            return __atomic_fetch_xor(memory, operand, __ATOMIC_SEQ_CST);                          \
        case MED_ATOMIC_LOAD:                                                                      \
        default:                                                                                   \
            return __atomic_load_n(memory, __ATOMIC_SEQ_CST);                                      \
        }                                                                                          \
    }

/* GCC before 13.3 compares, on 64-bit RISC-V, all of the register that was cut with what it loads,
 * which has its sign extended: so what was cut goes through memory. */
#define CAS(width)                                                                                 \
    static bool cas_##width(uint##width##_t *memory, uint64_t *expected, uint##width##_t desired)  \
    {                                                                                              \
        volatile uint##width##_t cut = (uint##width##_t) * expected; /* see above */               \
        uint##width##_t there = cut;                                                               \
        bool done = __atomic_compare_exchange_n(memory, &there, desired, false, __ATOMIC_SEQ_CST,  \
                                                __ATOMIC_SEQ_CST);                                 \
        if (!done) {                                                                               \
            *expected = there;                                                                     \
        }                                                                                          \
        return done;                                                                               \
    }

/* ---- Bytes and halves ------------------------------------------------------------------------ */

APPLY(32)
CAS(32)

/* Where a read-modify-write is a call that keeps others' calls out, and nobody's plain store, it
 * must not write what lies beside. */
#if MED_PORT_STORES_BY_CALL ||                                                                     \
    (__GCC_ATOMIC_CHAR_LOCK_FREE == BY_PROCESSOR && __GCC_ATOMIC_SHORT_LOCK_FREE == BY_PROCESSOR)
APPLY(8)
CAS(8)
APPLY(16)
CAS(16)
#else

/* Where a part lies in the word around it. */
typedef struct part {
    uint32_t *word;
    uint32_t shift;
    uint32_t mask; /* not shifted */
} part;

static part
part_of(void *memory, uint32_t bytes)
{
    uintptr_t address = (uintptr_t)memory;
    uint32_t at = (uint32_t)(address % 4);
    bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return (part){.word = (uint32_t *)(address - at), /* NOLINT(performance-no-int-to-ptr) */
                  .shift = (big_endian ? 4 - bytes - at : at) * 8,
                  .mask = bytes == 1 ? 0xffu : 0xffffu};
}

static uint32_t
result_of(med_atomic_operation operation, uint32_t before, uint32_t operand)
{
    switch (operation) {
    case MED_ATOMIC_STORE:
    case MED_ATOMIC_EXCHANGE:
        return operand;
    case MED_ATOMIC_ADD:
        return before + operand;
    case MED_ATOMIC_AND:
        return before & operand;
    case MED_ATOMIC_OR:
        return before | operand;
    case MED_ATOMIC_XOR:
        return before ^ operand;
    case MED_ATOMIC_LOAD:
    default:
        return before;
    }
}

static uint64_t
apply_part(part p, med_atomic_operation operation, uint32_t operand)
{
    uint64_t word = apply_32(p.word, MED_ATOMIC_LOAD, 0);
    for (;;) {
        uint32_t before = (uint32_t)word >> p.shift & p.mask;
        uint32_t after = result_of(operation, before, operand) & p.mask;
        uint32_t rest = (uint32_t)word & ~(p.mask << p.shift);
        if (operation == MED_ATOMIC_LOAD || cas_32(p.word, &word, rest | after << p.shift)) {
            return operation == MED_ATOMIC_STORE ? after : before;
        }
    }
}

static bool
cas_part(part p, uint64_t *expected, uint32_t desired)
{
    uint64_t word = apply_32(p.word, MED_ATOMIC_LOAD, 0);
    for (;;) {
        uint32_t there = (uint32_t)word >> p.shift & p.mask;
        if (there != (*expected & p.mask)) {
            *expected = there;
            return false;
        }
        uint32_t rest = (uint32_t)word & ~(p.mask << p.shift);
        if (cas_32(p.word, &word, rest | (desired & p.mask) << p.shift)) {
            return true;
        }
    }
}

static uint64_t
apply_8(void *memory, med_atomic_operation operation, uint8_t operand)
{
    return apply_part(part_of(memory, 1), operation, operand);
}

static bool
cas_8(void *memory, uint64_t *expected, uint8_t desired)
{
    return cas_part(part_of(memory, 1), expected, desired);
}

static uint64_t
apply_16(void *memory, med_atomic_operation operation, uint16_t operand)
{
    return apply_part(part_of(memory, 2), operation, operand);
}

static bool
cas_16(void *memory, uint64_t *expected, uint16_t desired)
{
    return cas_part(part_of(memory, 2), expected, desired);
}
#endif

/* ---- Eight bytes ----------------------------------------------------------------------------- */

#if __GCC_ATOMIC_LLONG_LOCK_FREE == BY_PROCESSOR
#define WIDEST 8u
APPLY(64)
CAS(64)
#else
#define WIDEST 4u

/* Never called: the check refuses eight bytes. */
static uint64_t
apply_64(uint64_t *memory, med_atomic_operation operation, uint64_t operand)
{
    (void)memory;
    (void)operation;
    return operand;
}

static bool
cas_64(uint64_t *memory, uint64_t *expected, uint64_t desired)
{
    (void)memory;
    (void)expected;
    (void)desired;
    return false;
}
#endif

/* ---- By size --------------------------------------------------------------------------------- */

medley_status_t
med_atomic_sized_check(const void *memory, size_t size)
{
    bool is_size = size == 1 || size == 2 || size == 4 || size == 8;
    if (!memory || !is_size || (uintptr_t)memory % size != 0) {
        return MEDLEY_ERR_ARGUMENT;
    }
    return size <= WIDEST ? MEDLEY_OK : MEDLEY_ERR_NOT_SUPPORTED;
}

uint64_t
med_atomic_sized_apply(void *memory, size_t size, med_atomic_operation operation, uint64_t operand)
{
    switch (size) {
    case 1:
        return apply_8(memory, operation, (uint8_t)operand);
    case 2:
        return apply_16(memory, operation, (uint16_t)operand);
    case 4:
        return apply_32(memory, operation, (uint32_t)operand);
    default:
        return apply_64(memory, operation, operand);
    }
}

bool
med_atomic_sized_cas(void *memory, size_t size, uint64_t *expected, uint64_t desired)
{
    switch (size) {
    case 1:
        return cas_8(memory, expected, (uint8_t)desired);
    case 2:
        return cas_16(memory, expected, (uint16_t)desired);
    case 4:
        return cas_32(memory, expected, (uint32_t)desired);
    default:
        return cas_64(memory, expected, desired);
    }
}

void
med_atomic_sized_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
