/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The atomic operations of LLVM's library, which clang does not call itself: each gives what its
 * expression says, before and after; none is lost when several threads are at it; where there is no
 * alignment, too. */
#include <complex.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "support/unit.h"

#define THREADS 4
#define TIMES 2000

/* ---- What comes out -------------------------------------------------------------------------- */

static int
same(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* Of a long double ten bytes are its value. */
#define BYTES(type) (_Generic((type)0, long double : 10, default : sizeof(type)))
#define IS(type, a, b) assert_true(same(&(type){a}, &(type){b}, BYTES(type)))

#define UPDATE(name, type, given, first, with, expression)                                         \
    {                                                                                              \
        extern void __kmpc_atomic_##name(void *, int, type *, given);                              \
        type at = first;                                                                           \
        type was = at;                                                                             \
        (void)was;                                                                                 \
        given value = with;                                                                        \
        __kmpc_atomic_##name(NULL, 0, &at, value);                                                 \
        IS(type, at, (type)(expression));                                                          \
    }
#define CAPTURE(name, type, first, with, expression)                                               \
    for (int after = 0; after < 2; after++) {                                                      \
        extern type __kmpc_atomic_##name(void *, int, type *, type, int);                          \
        type at = first;                                                                           \
        type was = at;                                                                             \
        type value = with;                                                                         \
        type now = (type)(expression);                                                             \
        type out = __kmpc_atomic_##name(NULL, 0, &at, value, after);                               \
        IS(type, at, now);                                                                         \
        IS(type, out, after ? now : was);                                                          \
    }
#define BOTH(id, type, op, first, with, expression)                                                \
    UPDATE(id##_##op, type, type, first, with, expression)                                         \
    CAPTURE(id##_##op##_cpt, type, first, with, expression)
#define REVERSED(id, type, op, first, with, expression)                                            \
    UPDATE(id##_##op##_rev, type, type, first, with, expression)                                   \
    CAPTURE(id##_##op##_cpt_rev, type, first, with, expression)
#define MOVES(id, type, first, with)                                                               \
    {                                                                                              \
        extern type __kmpc_atomic_##id##_rd(void *, int, type *);                                  \
        extern type __kmpc_atomic_##id##_swp(void *, int, type *, type);                           \
        type at = first;                                                                           \
        IS(type, __kmpc_atomic_##id##_rd(NULL, 0, &at), first);                                    \
        IS(type, __kmpc_atomic_##id##_swp(NULL, 0, &at, with), first);                             \
        IS(type, at, with);                                                                        \
        UPDATE(id##_wr, type, type, first, with, value)                                            \
    }
#define NUMBER(id, type, a, b)                                                                     \
    BOTH(id, type, add, a, b, was + value)                                                         \
    BOTH(id, type, sub, a, b, was - value)                                                         \
    BOTH(id, type, mul, a, b, was *value)                                                          \
    BOTH(id, type, div, a, b, was / value)                                                         \
    REVERSED(id, type, sub, a, b, value - was)                                                     \
    REVERSED(id, type, div, a, b, value / was)                                                     \
    MOVES(id, type, a, b)
#define ORDERED(id, type, a, b)                                                                    \
    BOTH(id, type, max, a, b, was > value ? was : value)                                           \
    BOTH(id, type, max, b, a, was > value ? was : value)                                           \
    BOTH(id, type, min, a, b, was < value ? was : value)                                           \
    BOTH(id, type, min, b, a, was < value ? was : value)
#define FIXED(id, type)                                                                            \
    NUMBER(id, type, 113, 7)                                                                       \
    ORDERED(id, type, -5, 3)                                                                       \
    BOTH(id, type, andb, 0x5c, 0x36, was &value)                                                   \
    BOTH(id, type, orb, 0x5c, 0x36, was | value)                                                   \
    BOTH(id, type, xor, 0x5c, 0x36, was ^ value)                                                   \
    BOTH(id, type, neqv, 0x5c, 0x36, was ^ value)                                                  \
    BOTH(id, type, eqv, 0x5c, 0x36, was ^ ~value)                                                  \
    BOTH(id, type, andl, 6, 1, was &&value)                                                        \
    BOTH(id, type, andl, 6, 0, was &&value)                                                        \
    BOTH(id, type, orl, 0, 8, was || value)                                                        \
    BOTH(id, type, orl, 0, 0, was || value)                                                        \
    BOTH(id, type, shl, 13, 2, was << value)                                                       \
    BOTH(id, type, shr, -100, 2, was >> value)                                                     \
    REVERSED(id, type, shl, 2, 13, value << was)                                                   \
    REVERSED(id, type, shr, 2, -100, value >> was)                                                 \
    BOTH(id##u, u##type, div, -100, 7, was / value)                                                \
    BOTH(id##u, u##type, shr, -100, 2, was >> value)                                               \
    REVERSED(id##u, u##type, div, 7, -100, value / was)                                            \
    REVERSED(id##u, u##type, shr, 2, -100, value >> was)                                           \
    UPDATE(id##_mul_float8, type, double, 7, 2.6, (double)was *value)                              \
    UPDATE(id##_div_float8, type, double, 7, 0.4, (double)was / value)

static void
integers(void **state)
{
    (void)state;
    FIXED(fixed1, int8_t)
    FIXED(fixed2, int16_t)
    FIXED(fixed4, int32_t)
    FIXED(fixed8, int64_t)
}

static void
floats(void **state)
{
    (void)state;
    NUMBER(float4, float, 1.5f, 0.3f)
    ORDERED(float4, float, 1.5f, 0.3f)
    NUMBER(float8, double, 1.5, 0.3)
    ORDERED(float8, double, 1.5, 0.3)
    NUMBER(float10, long double, 1.5L, 0.3L)
    ORDERED(float10, long double, 1.5L, 0.3L)
    UPDATE(float4_add_float8, float, double, 1.5f, 0.3, was + value)
    UPDATE(float4_sub_float8, float, double, 1.5f, 0.3, was - value)
    UPDATE(float4_mul_float8, float, double, 1.5f, 0.3, was *value)
    UPDATE(float4_div_float8, float, double, 1.5f, 0.3, was / value)
}

#undef IS
#define IS(type, a, b) assert_true((type)(a) == (type)(b))

#define CAPTURE_TO(name, expression)                                                               \
    for (int after = 0; after < 2; after++) {                                                      \
        typedef float complex type;                                                                \
        extern void __kmpc_atomic_cmplx4_##name(void *, int, type *, type, type *, int);           \
        type at = 1 + 2 * I, was = at, value = 2 - 4 * I, out;                                     \
        type now = expression;                                                                     \
        __kmpc_atomic_cmplx4_##name(NULL, 0, &at, value, &out, after);                             \
        IS(type, at, now);                                                                         \
        IS(type, out, after ? now : was);                                                          \
    }
#define UPDATE_COMPLEX(name, given, expression)                                                    \
    UPDATE(cmplx4_##name, float complex, given, 1 + 2 * I, 2 - 4 * I, expression)

static void
complex_numbers(void **state)
{
    extern float complex __kmpc_atomic_cmplx4_rd(void *, int, float complex *);
    extern void __kmpc_atomic_cmplx4_swp(void *, int, float complex *, float complex,
                                         float complex *);
    float complex at = 3 - I, out;
    (void)state;
    NUMBER(cmplx8, double complex, 1 + 2 * I, 2 - 4 * I)
    NUMBER(cmplx10, long double complex, 1 + 2 * I, 2 - 4 * I)
    CAPTURE_TO(add_cpt, was + value)
    CAPTURE_TO(sub_cpt, was - value)
    CAPTURE_TO(mul_cpt, was * value)
    CAPTURE_TO(div_cpt, was / value)
    CAPTURE_TO(sub_cpt_rev, value - was)
    CAPTURE_TO(div_cpt_rev, value / was)
    UPDATE_COMPLEX(add, float complex, was + value)
    UPDATE_COMPLEX(sub, float complex, was - value)
    UPDATE_COMPLEX(mul, float complex, was *value)
    UPDATE_COMPLEX(div, float complex, was / value)
    UPDATE_COMPLEX(sub_rev, float complex, value - was)
    UPDATE_COMPLEX(div_rev, float complex, value / was)
    UPDATE_COMPLEX(wr, float complex, value)
    UPDATE_COMPLEX(add_cmplx8, double complex, was + value)
    UPDATE_COMPLEX(sub_cmplx8, double complex, was - value)
    UPDATE_COMPLEX(mul_cmplx8, double complex, was *value)
    UPDATE_COMPLEX(div_cmplx8, double complex, was / value)
    assert_true(__kmpc_atomic_cmplx4_rd(NULL, 0, &at) == 3 - I);
    __kmpc_atomic_cmplx4_swp(NULL, 0, &at, 5, &out);
    assert_true(at == 5 && out == 3 - I);
}

#define COMPARES(bytes, type)                                                                      \
    {                                                                                              \
        extern bool __kmpc_atomic_bool_##bytes##_cas(void *, int, type *, type, type);             \
        extern type __kmpc_atomic_val_##bytes##_cas(void *, int, type *, type, type);              \
        extern bool __kmpc_atomic_bool_##bytes##_cas_cpt(void *, int, type *, type, type, type *); \
        extern type __kmpc_atomic_val_##bytes##_cas_cpt(void *, int, type *, type, type, type *);  \
        type at = 4, out = 77;                                                                     \
        assert_false(__kmpc_atomic_bool_##bytes##_cas(NULL, 0, &at, 3, 5) || at != 4);             \
        assert_true(__kmpc_atomic_bool_##bytes##_cas(NULL, 0, &at, 4, 5) && at == 5);              \
        assert_true(__kmpc_atomic_val_##bytes##_cas(NULL, 0, &at, 4, 6) == 5 && at == 5);          \
        assert_true(__kmpc_atomic_val_##bytes##_cas(NULL, 0, &at, 5, 6) == 5 && at == 6);          \
        assert_true(__kmpc_atomic_bool_##bytes##_cas_cpt(NULL, 0, &at, 6, 7, &out) && at == 7);    \
        assert_true(out == 77);                                                                    \
        assert_false(__kmpc_atomic_bool_##bytes##_cas_cpt(NULL, 0, &at, 6, 8, &out) || at != 7);   \
        assert_true(out == 7);                                                                     \
        assert_true(__kmpc_atomic_val_##bytes##_cas_cpt(NULL, 0, &at, 7, 8, &out) == 7);           \
        assert_true(out == 8 && at == 8);                                                          \
        assert_true(__kmpc_atomic_val_##bytes##_cas_cpt(NULL, 0, &at, 7, 9, &out) == 8);           \
        assert_true(out == 8 && at == 8);                                                          \
    }

static void
comparisons(void **state)
{
    (void)state;
    COMPARES(1, int8_t)
    COMPARES(2, int16_t)
    COMPARES(4, int32_t)
    COMPARES(8, int64_t)
}

/* ---- Several at once ------------------------------------------------------------------------- */

/* Each byte is a sum of its own, without what is carried. */
static size_t bytes_added;

static void
add_bytes(void *to, void *a, void *b)
{
    for (size_t i = 0; i < bytes_added; i++) {
        ((unsigned char *)to)[i] =
            (unsigned char)(((unsigned char *)a)[i] + ((unsigned char *)b)[i]);
    }
}

#define AT_ONCE(bytes)                                                                             \
    {                                                                                              \
        extern void __kmpc_atomic_##bytes(void *, int, void *, void *,                             \
                                          void (*)(void *, void *, void *));                       \
        _Alignas(16) unsigned char at[48] = {0}, ones[32];                                         \
        memset(ones, 1, sizeof ones);                                                              \
        bytes_added = bytes;                                                                       \
        for (int shift = 0; shift < 2; shift++) {                                                  \
            _Pragma("omp parallel num_threads(THREADS)") for (int i = 0; i < TIMES; i++)           \
            {                                                                                      \
                __kmpc_atomic_##bytes(NULL, 0, at + shift, ones, add_bytes);                       \
            }                                                                                      \
        }                                                                                          \
        for (int i = 1; i < bytes; i++) {                                                          \
            assert_int_equal(at[i], 2 * THREADS * TIMES % 256);                                    \
        }                                                                                          \
        assert_int_equal(at[bytes], THREADS *TIMES % 256);                                         \
        assert_int_equal(at[bytes + 1], 0);                                                        \
    }

static void
none_is_lost(void **state)
{
    extern void __kmpc_atomic_fixed2_add(void *, int, int16_t *, int16_t);
    extern void __kmpc_atomic_float8_add(void *, int, double *, double);
    extern void __kmpc_atomic_float10_add(void *, int, long double *, long double);
    extern void __kmpc_atomic_cmplx8_add(void *, int, double complex *, double complex);
    extern void __kmpc_atomic_start(void);
    extern void __kmpc_atomic_end(void);
    int16_t pair[2] = {0, 0};
    double of_double = 0, plain = 0;
    long double of_long = 0;
    double complex of_complex = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < TIMES; i++) {
        __kmpc_atomic_fixed2_add(NULL, 0, &pair[i % 2], 1);
        __kmpc_atomic_float8_add(NULL, 0, &of_double, 0.5);
        __kmpc_atomic_float10_add(NULL, 0, &of_long, 0.5L);
        __kmpc_atomic_cmplx8_add(NULL, 0, &of_complex, 1 + 2 * I);
        __kmpc_atomic_start();
        plain += 1;
        __kmpc_atomic_end();
    }
    assert_int_equal(pair[0], THREADS * TIMES / 2);
    assert_int_equal(pair[1], THREADS * TIMES / 2);
    assert_true(of_double == THREADS * TIMES / 2);
    assert_true(of_long == THREADS * TIMES / 2);
    assert_true(of_complex == THREADS * TIMES * (1 + 2 * I));
    assert_true(plain == THREADS * TIMES);
    AT_ONCE(1)
    AT_ONCE(2)
    AT_ONCE(4)
    AT_ONCE(8)
    AT_ONCE(10)
    AT_ONCE(16)
    AT_ONCE(20)
    AT_ONCE(32)
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),        cmocka_unit_test(floats),
        cmocka_unit_test(complex_numbers), cmocka_unit_test(comparisons),
        cmocka_unit_test(none_is_lost),
    };
    return cmocka_run_group_tests_name("atomic operations", tests, NULL, NULL);
}
