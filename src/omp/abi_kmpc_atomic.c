/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names of atomic operations. Clang makes what the processor has itself, and calls libatomic
 * for the rest; these are for other compilers that call LLVM's library, and for its own tests.
 *
 *   TYPE_OP          *at = *at op value; TYPE: fixed (integers), fixed with a u behind (unsigned),
 *                    float and cmplx with their bytes (of one part), float10 a long double
 *   TYPE_OP_rev      *at = value op *at
 *   TYPE_OP_cpt      the same as without, and returns what is there `after`, or else was before
 *   TYPE_rd _wr _swp   reads, writes, exchanges
 *
 * An operation is a compare-and-swap of the whole where the processor has that, and else under the
 * lock that gcc's programs have for such, too.
 */
#include <string.h>

#include "base/atomic_sized.h"
#include "omp/abi_kmpc.h"
#include "omp/lock.h"

/* ---- One attempt ----------------------------------------------------------------------------- */

typedef struct attempt {
    void *at;
    size_t size;
    bool is_locked;
    uint64_t seen;
} attempt;

/* A value's bytes as the low ones of a number, and back. */
static uint64_t
bits_of(const void *value, size_t size)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1:
        return *(const uint8_t *)memcpy(&one, value, size);
    case 2:
        return *(const uint16_t *)memcpy(&two, value, size);
    case 4:
        return *(const uint32_t *)memcpy(&four, value, size);
    default:
        return *(const uint64_t *)memcpy(&eight, value, size);
    }
}

static void
value_of(uint64_t bits, void *value, size_t size)
{
    const uint8_t one = (uint8_t)bits;
    const uint16_t two = (uint16_t)bits;
    const uint32_t four = (uint32_t)bits;
    memcpy(value,
           size == 1   ? &one
           : size == 2 ? (const void *)&two
           : size == 4 ? (const void *)&four
                       : (const void *)&bits,
           size);
}

/* What is there. */
static void
begin(attempt *a, void *at, size_t size, void *value)
{
    *a = (attempt){.at = at, .size = size};
    if (med_atomic_sized_check(at, size) == MEDLEY_OK) {
        a->seen = med_atomic_sized_apply(at, size, MED_ATOMIC_LOAD, 0);
        value_of(a->seen, value, size);
    } else {
        a->is_locked = true;
        med_omp_atomic_begin();
        memcpy(value, at, size);
    }
}

/* What is to be there; false: something else is, by now. */
static bool
end(attempt *a, const void *value)
{
    if (!a->is_locked) {
        return med_atomic_sized_cas(a->at, a->size, &a->seen, bits_of(value, a->size));
    }
    memcpy(a->at, value, a->size);
    med_omp_atomic_end();
    return true;
}

static void
read(void *at, size_t size, void *value)
{
    attempt a;
    begin(&a, at, size, value);
    if (a.is_locked) {
        med_omp_atomic_end();
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

#define PARAMETERS(type, given) const med_kmpc_place *place, int32_t thread, type *at, given value
#define APPLIED(type, expression)                                                                  \
    attempt a;                                                                                     \
    type was, now;                                                                                 \
    (void)place;                                                                                   \
    (void)thread;                                                                                  \
    do {                                                                                           \
        begin(&a, at, sizeof was, &was);                                                           \
        now = (type)(expression);                                                                  \
    } while (!end(&a, &now));

#define UPDATES(name, type, given, expression)                                                     \
    FACE void __kmpc_atomic_##name(PARAMETERS(type, given))                                        \
    {                                                                                              \
        APPLIED(type, expression)                                                                  \
    }
#define CAPTURES(name, type, expression)                                                           \
    FACE type __kmpc_atomic_##name(PARAMETERS(type, type), int32_t after)                          \
    {                                                                                              \
        APPLIED(type, expression)                                                                  \
        return after ? now : was;                                                                  \
    }
/* A complex number of floats goes out by its address. */
#define CAPTURES_TO(name, type, expression)                                                        \
    FACE void __kmpc_atomic_##name(PARAMETERS(type, type), type *to, int32_t after)                \
    {                                                                                              \
        APPLIED(type, expression)                                                                  \
        *to = after ? now : was;                                                                   \
    }
#define OPERATION(id, type, op, captures, expression)                                              \
    UPDATES(id##_##op, type, type, expression)                                                     \
    captures(id##_##op##_cpt, type, expression)
#define REVERSED(id, type, op, captures, expression)                                               \
    UPDATES(id##_##op##_rev, type, type, expression)                                               \
    captures(id##_##op##_cpt_rev, type, expression)

#define READS_AND_WRITES(id, type)                                                                 \
    FACE type __kmpc_atomic_##id##_rd(const med_kmpc_place *place, int32_t thread, type *at)       \
    {                                                                                              \
        type was;                                                                                  \
        (void)place;                                                                               \
        (void)thread;                                                                              \
        read(at, sizeof was, &was);                                                                \
        return was;                                                                                \
    }                                                                                              \
    UPDATES(id##_wr, type, type, value)
#define EXCHANGES(id, type)                                                                        \
    FACE type __kmpc_atomic_##id##_swp(PARAMETERS(type, type))                                     \
    {                                                                                              \
        APPLIED(type, value)                                                                       \
        return was;                                                                                \
    }

/* Integers are added and multiplied modulo their width. */
#define WIDE(v) ((uint64_t)(v))
#define FIXED(id, type)                                                                            \
    OPERATION(id, type, add, CAPTURES, WIDE(was) + WIDE(value))                                    \
    OPERATION(id, type, sub, CAPTURES, WIDE(was) - WIDE(value))                                    \
    OPERATION(id, type, mul, CAPTURES, WIDE(was) * WIDE(value))                                    \
    OPERATION(id, type, andb, CAPTURES, was &value)                                                \
    OPERATION(id, type, orb, CAPTURES, was | value)                                                \
    OPERATION(id, type, xor, CAPTURES, was ^ value)                                                \
    OPERATION(id, type, neqv, CAPTURES, was ^ value)                                               \
    OPERATION(id, type, eqv, CAPTURES, was ^ ~value)                                               \
    OPERATION(id, type, andl, CAPTURES, was &&value)                                               \
    OPERATION(id, type, orl, CAPTURES, was || value)                                               \
    OPERATION(id, type, max, CAPTURES, was > value ? was : value)                                  \
    OPERATION(id, type, min, CAPTURES, was < value ? was : value)                                  \
    OPERATION(id, type, shl, CAPTURES, WIDE(was) << value)                                         \
    REVERSED(id, type, shl, CAPTURES, WIDE(value) << was)                                          \
    REVERSED(id, type, sub, CAPTURES, WIDE(value) - WIDE(was))                                     \
    UNLIKE_BY_SIGN(id, type)                                                                       \
    UNLIKE_BY_SIGN(id##u, u##type)                                                                 \
    UPDATES(id##_mul_float8, type, double, (double)was *value)                                     \
    UPDATES(id##_div_float8, type, double, (double)was / value)                                    \
    READS_AND_WRITES(id, type)                                                                     \
    EXCHANGES(id, type)
#define UNLIKE_BY_SIGN(id, type)                                                                   \
    OPERATION(id, type, div, CAPTURES, was / value)                                                \
    OPERATION(id, type, shr, CAPTURES, was >> value)                                               \
    REVERSED(id, type, div, CAPTURES, value / was)                                                 \
    REVERSED(id, type, shr, CAPTURES, value >> was)
FIXED(fixed1, int8_t)
FIXED(fixed2, int16_t)
FIXED(fixed4, int32_t)
FIXED(fixed8, int64_t)

#define NUMBER(id, type, captures)                                                                 \
    OPERATION(id, type, add, captures, was + value)                                                \
    OPERATION(id, type, sub, captures, was - value)                                                \
    OPERATION(id, type, mul, captures, was *value)                                                 \
    OPERATION(id, type, div, captures, was / value)                                                \
    REVERSED(id, type, sub, captures, value - was)                                                 \
    REVERSED(id, type, div, captures, value / was)                                                 \
    READS_AND_WRITES(id, type)
#define FLOAT(id, type)                                                                            \
    NUMBER(id, type, CAPTURES)                                                                     \
    OPERATION(id, type, max, CAPTURES, was > value ? was : value)                                  \
    OPERATION(id, type, min, CAPTURES, was < value ? was : value)                                  \
    EXCHANGES(id, type)
FLOAT(float4, float)
FLOAT(float8, double)
FLOAT(float10, long double)

NUMBER(cmplx4, float _Complex, CAPTURES_TO)
NUMBER(cmplx8, double _Complex, CAPTURES)
EXCHANGES(cmplx8, double _Complex)
NUMBER(cmplx10, long double _Complex, CAPTURES)
EXCHANGES(cmplx10, long double _Complex)

FACE void
__kmpc_atomic_cmplx4_swp(PARAMETERS(float _Complex, float _Complex), float _Complex *to)
{
    APPLIED(float _Complex, value)
    *to = was;
}

#define WITH_DOUBLE(id, type, name, given)                                                         \
    UPDATES(id##_add_##name, type, given, was + value)                                             \
    UPDATES(id##_sub_##name, type, given, was - value)                                             \
    UPDATES(id##_mul_##name, type, given, was *value)                                              \
    UPDATES(id##_div_##name, type, given, was / value)
WITH_DOUBLE(float4, float, float8, double)
WITH_DOUBLE(cmplx4, float _Complex, cmplx8, double _Complex)

/* ---- Comparisons ----------------------------------------------------------------------------- */

#define COMPARES(bytes, type)                                                                      \
    FACE bool __kmpc_atomic_bool_##bytes##_cas(PARAMETERS(type, type), type next)                  \
    {                                                                                              \
        APPLIED(type, was == value ? next : was)                                                   \
        return was == value;                                                                       \
    }                                                                                              \
    FACE type __kmpc_atomic_val_##bytes##_cas(PARAMETERS(type, type), type next)                   \
    {                                                                                              \
        APPLIED(type, was == value ? next : was)                                                   \
        return was;                                                                                \
    }                                                                                              \
    /* What was there instead, if something was. */                                                \
    FACE bool __kmpc_atomic_bool_##bytes##_cas_cpt(PARAMETERS(type, type), type next, type *to)    \
    {                                                                                              \
        APPLIED(type, was == value ? next : was)                                                   \
        if (was != value) {                                                                        \
            *to = was;                                                                             \
        }                                                                                          \
        return was == value;                                                                       \
    }                                                                                              \
    /* What is there now. */                                                                       \
    FACE type __kmpc_atomic_val_##bytes##_cas_cpt(PARAMETERS(type, type), type next, type *to)     \
    {                                                                                              \
        APPLIED(type, was == value ? next : was)                                                   \
        *to = now;                                                                                 \
        return was;                                                                                \
    }
COMPARES(1, int8_t)
COMPARES(2, int16_t)
COMPARES(4, int32_t)
COMPARES(8, int64_t)

/* ---- Whatever the compiler says -------------------------------------------------------------- */

#define BYTES_MOST 32u

/* `apply` puts into the first what comes of the others. */
#define OF_BYTES(bytes)                                                                            \
    FACE void __kmpc_atomic_##bytes(const med_kmpc_place *place, int32_t thread, void *at,         \
                                    void *value, void (*apply)(void *, void *, void *))            \
    {                                                                                              \
        attempt a;                                                                                 \
        _Alignas(16) char was[BYTES_MOST];                                                         \
        _Alignas(16) char now[BYTES_MOST];                                                         \
        (void)place;                                                                               \
        (void)thread;                                                                              \
        do {                                                                                       \
            begin(&a, at, bytes, was);                                                             \
            apply(now, was, value);                                                                \
        } while (!end(&a, now));                                                                   \
    }
OF_BYTES(1)
OF_BYTES(2)
OF_BYTES(4)
OF_BYTES(8)
OF_BYTES(10)
OF_BYTES(16)
OF_BYTES(20)
OF_BYTES(32)

FACE void
__kmpc_atomic_start(void)
{
    med_omp_atomic_begin();
}

FACE void
__kmpc_atomic_end(void)
{
    med_omp_atomic_end();
}
