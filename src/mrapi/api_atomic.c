/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of atomic operations. They need no node: an interrupt handler may call them. */
#include "base/atomic_sized.h"
#include "medley/mrapi_ext.h"
#include "port/port.h"

/* False with the reason in `status`, or when that is NULL. */
static bool
memory_is_good(const void *memory, size_t size, mrapi_status_t *status)
{
    if (!status) {
        return false;
    }
    switch (med_atomic_sized_check(memory, size)) {
    case MEDLEY_OK:
        *status = MRAPI_SUCCESS;
        return true;
    case MEDLEY_ERR_NOT_SUPPORTED:
        *status = MRAPI_ERR_NOT_SUPPORTED;
        return false;
    default:
        *status = MRAPI_ERR_PARAMETER;
        return false;
    }
}

static mrapi_uint64_t
apply(void *memory,
      size_t size,
      med_atomic_operation operation,
      mrapi_uint64_t operand,
      mrapi_status_t *status)
{
    return memory_is_good(memory, size, status)
               ? med_atomic_sized_apply(memory, size, operation, operand)
               : 0;
}

/* ---- Values ---------------------------------------------------------------------------------- */

mrapi_uint64_t
mrapi_atomic_load(const void *memory, size_t size, mrapi_status_t *status)
{
    /* Not written to: a load of memory that is mapped read-only works. */
    union {
        const void *given;
        void *taken;
    } same = {.given = memory};
    return apply(same.taken, size, MED_ATOMIC_LOAD, 0, status);
}

void
mrapi_atomic_store(void *memory, size_t size, mrapi_uint64_t value, mrapi_status_t *status)
{
    (void)apply(memory, size, MED_ATOMIC_STORE, value, status);
}

mrapi_uint64_t
mrapi_atomic_exchange(void *memory, size_t size, mrapi_uint64_t value, mrapi_status_t *status)
{
    return apply(memory, size, MED_ATOMIC_EXCHANGE, value, status);
}

mrapi_boolean_t
mrapi_atomic_cas(void *memory,
                 size_t size,
                 mrapi_uint64_t *expected,
                 mrapi_uint64_t desired,
                 mrapi_status_t *status)
{
    if (!memory_is_good(memory, size, status)) {
        return MRAPI_FALSE;
    }
    if (!expected) {
        *status = MRAPI_ERR_PARAMETER;
        return MRAPI_FALSE;
    }
    uint64_t there = *expected;
    bool done = med_atomic_sized_cas(memory, size, &there, desired);
    *expected = there;
    return done ? MRAPI_TRUE : MRAPI_FALSE;
}

mrapi_uint64_t
mrapi_atomic_add(void *memory, size_t size, mrapi_uint64_t value, mrapi_status_t *status)
{
    return apply(memory, size, MED_ATOMIC_ADD, value, status);
}

mrapi_uint64_t
mrapi_atomic_and(void *memory, size_t size, mrapi_uint64_t value, mrapi_status_t *status)
{
    return apply(memory, size, MED_ATOMIC_AND, value, status);
}

mrapi_uint64_t
mrapi_atomic_or(void *memory, size_t size, mrapi_uint64_t value, mrapi_status_t *status)
{
    return apply(memory, size, MED_ATOMIC_OR, value, status);
}

mrapi_uint64_t
mrapi_atomic_xor(void *memory, size_t size, mrapi_uint64_t value, mrapi_status_t *status)
{
    return apply(memory, size, MED_ATOMIC_XOR, value, status);
}

/* ---- Single bits ----------------------------------------------------------------------------- */

/* What the bit was. `clears`: the operation gets all bits but this one. */
static mrapi_boolean_t
bit_apply(void *memory,
          size_t size,
          med_atomic_operation operation,
          mrapi_uint_t bit,
          bool clears,
          mrapi_status_t *status)
{
    if (!memory_is_good(memory, size, status)) {
        return MRAPI_FALSE;
    }
    if (bit >= size * 8) {
        *status = MRAPI_ERR_PARAMETER;
        return MRAPI_FALSE;
    }
    uint64_t mask = (uint64_t)1 << bit;
    uint64_t before = med_atomic_sized_apply(memory, size, operation, clears ? ~mask : mask);
    return before & mask ? MRAPI_TRUE : MRAPI_FALSE;
}

mrapi_boolean_t
mrapi_atomic_bit_test(const void *memory, size_t size, mrapi_uint_t bit, mrapi_status_t *status)
{
    mrapi_uint64_t value = mrapi_atomic_load(memory, size, status);
    if (!status || *status != MRAPI_SUCCESS) {
        return MRAPI_FALSE;
    }
    if (bit >= size * 8) {
        *status = MRAPI_ERR_PARAMETER;
        return MRAPI_FALSE;
    }
    return value >> bit & 1 ? MRAPI_TRUE : MRAPI_FALSE;
}

mrapi_boolean_t
mrapi_atomic_bit_set(void *memory, size_t size, mrapi_uint_t bit, mrapi_status_t *status)
{
    return bit_apply(memory, size, MED_ATOMIC_OR, bit, false, status);
}

mrapi_boolean_t
mrapi_atomic_bit_clear(void *memory, size_t size, mrapi_uint_t bit, mrapi_status_t *status)
{
    return bit_apply(memory, size, MED_ATOMIC_AND, bit, true, status);
}

mrapi_boolean_t
mrapi_atomic_bit_flip(void *memory, size_t size, mrapi_uint_t bit, mrapi_status_t *status)
{
    return bit_apply(memory, size, MED_ATOMIC_XOR, bit, false, status);
}

/* ---- Barrier --------------------------------------------------------------------------------- */

void
mrapi_atomic_barrier(mrapi_status_t *status)
{
    if (status) {
        med_atomic_sized_fence();
        *status = MRAPI_SUCCESS;
    }
}
