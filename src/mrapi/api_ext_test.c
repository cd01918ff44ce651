/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of what published work adds to MRAPI: atomic operations, yielding, delays. What the
 * operations do is base's to test (atomic_sized_test.c). */
#include "mrapi/system.h"
#include "support/api.h"
#include "support/expected.h"

/* ---- Atomic operations ----------------------------------------------------------------------- */

static void
atomics_pass_through(void **state)
{
    _Alignas(8) mrapi_uint32_t word = 0;
    mrapi_uint64_t expected = 5;
    mrapi_status_t status = MRAPI_TIMEOUT;
    (void)state;
    mrapi_atomic_store(&word, 4, 12, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_true(mrapi_atomic_load(&word, 4, &status) == 12);
    assert_true(mrapi_atomic_exchange(&word, 4, 6, &status) == 12);
    assert_true(mrapi_atomic_add(&word, 4, 4, &status) == 6);
    assert_true(mrapi_atomic_and(&word, 4, 9, &status) == 10);
    assert_true(mrapi_atomic_or(&word, 4, 3, &status) == 8);
    assert_true(mrapi_atomic_xor(&word, 4, 14, &status) == 11);
    assert_int_equal(word, 5);
    assert_true(mrapi_atomic_cas(&word, 4, &expected, 1, &status) == MRAPI_TRUE);
    assert_true(mrapi_atomic_cas(&word, 4, &expected, 2, &status) == MRAPI_FALSE);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_true(expected == 1 && word == 1);
    mrapi_atomic_barrier(&status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
bits_are_single(void **state)
{
    mrapi_uint8_t byte = 0x10;
    mrapi_status_t status;
    (void)state;
    assert_true(mrapi_atomic_bit_test(&byte, 1, 4, &status) == MRAPI_TRUE);
    assert_true(mrapi_atomic_bit_test(&byte, 1, 3, &status) == MRAPI_FALSE);
    assert_true(mrapi_atomic_bit_set(&byte, 1, 7, &status) == MRAPI_FALSE);
    assert_true(mrapi_atomic_bit_set(&byte, 1, 7, &status) == MRAPI_TRUE);
    assert_true(mrapi_atomic_bit_clear(&byte, 1, 4, &status) == MRAPI_TRUE);
    assert_true(mrapi_atomic_bit_clear(&byte, 1, 4, &status) == MRAPI_FALSE);
    assert_true(mrapi_atomic_bit_flip(&byte, 1, 0, &status) == MRAPI_FALSE);
    assert_true(mrapi_atomic_bit_flip(&byte, 1, 0, &status) == MRAPI_TRUE);
    assert_int_equal(byte, 0x80);
}

typedef mrapi_uint64_t (*value_call)(void *, size_t, mrapi_uint64_t, mrapi_status_t *);
typedef mrapi_boolean_t (*bit_call)(void *, size_t, mrapi_uint_t, mrapi_status_t *);

static const value_call value_calls[] = {mrapi_atomic_exchange, mrapi_atomic_add, mrapi_atomic_and,
                                         mrapi_atomic_or, mrapi_atomic_xor};
static const bit_call bit_calls[] = {mrapi_atomic_bit_set, mrapi_atomic_bit_clear,
                                     mrapi_atomic_bit_flip};

/* Every call on memory or a size that it cannot use. */
static void
refused(void *memory, size_t size)
{
    mrapi_uint64_t expected = 0;
    mrapi_status_t status = MRAPI_SUCCESS;
    for (size_t i = 0; i < sizeof value_calls / sizeof value_calls[0]; i++) {
        assert_true(value_calls[i](memory, size, 1, &status) == 0);
        assert_int_equal(status, MRAPI_ERR_PARAMETER);
        (void)value_calls[i](memory, size, 1, NULL);
    }
    for (size_t i = 0; i < sizeof bit_calls / sizeof bit_calls[0]; i++) {
        assert_true(bit_calls[i](memory, size, 1, &status) == MRAPI_FALSE);
        assert_int_equal(status, MRAPI_ERR_PARAMETER);
        (void)bit_calls[i](memory, size, 1, NULL);
    }
    assert_true(mrapi_atomic_load(memory, size, &status) == 0);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    status = MRAPI_SUCCESS;
    mrapi_atomic_store(memory, size, 1, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    status = MRAPI_SUCCESS;
    assert_true(mrapi_atomic_cas(memory, size, &expected, 1, &status) == MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    status = MRAPI_SUCCESS;
    assert_true(mrapi_atomic_bit_test(memory, size, 0, &status) == MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
}

static void
wrong_atomics_are_refused(void **state)
{
    _Alignas(8) mrapi_uint8_t memory[16] = {0};
    const mrapi_uint8_t untouched[16] = {0};
    mrapi_status_t status;
    (void)state;
    refused(NULL, 4);
    refused(memory, 0);
    refused(memory, 3);
    refused(memory, 16);
    refused(memory + 1, 2);
    refused(memory + 4, 8);
    assert_true(mrapi_atomic_cas(memory, 4, NULL, 1, &status) == MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    for (size_t i = 0; i < sizeof bit_calls / sizeof bit_calls[0]; i++) {
        assert_true(bit_calls[i](memory, 1, 8, &status) == MRAPI_FALSE);
        assert_int_equal(status, MRAPI_ERR_PARAMETER);
    }
    status = MRAPI_SUCCESS;
    assert_true(mrapi_atomic_bit_test(memory, 4, 32, &status) == MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    assert_true(mrapi_atomic_bit_test(memory, 4, 0, NULL) == MRAPI_FALSE);
    assert_true(mrapi_atomic_load(memory, 4, NULL) == 0);
    mrapi_uint64_t expected = 0;
    assert_true(mrapi_atomic_cas(memory, 4, &expected, 1, NULL) == MRAPI_FALSE);
    mrapi_atomic_store(memory, 4, 1, NULL);
    mrapi_atomic_barrier(NULL);
    assert_memory_equal(memory, untouched, sizeof memory);
}

/* ---- Yielding and delays --------------------------------------------------------------------- */

static void
delays_last(void **state)
{
    mrapi_status_t status;
    (void)state;
    uint64_t before_ns = medley_clock_ns();
    mrapi_delay(300, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    uint64_t after_ns = medley_clock_ns();
    assert_true(after_ns - before_ns >= 300000);
    mrapi_delay_until_ns(after_ns + 200000, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_true(medley_clock_ns() >= after_ns + 200000);
    mrapi_delay_until_ns(before_ns, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_delay(0, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
yields_are_to_nodes(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_yield(&status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_yield_to(DOMAIN, NODE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_yield_to(DOMAIN, NODE + 1, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_yield_to(DOMAIN + 1, NODE, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
}

/* As an image leaves it. */
static void
an_expected_node_is_nobody(void **state)
{
    mrapi_status_t status;
    med_system *system = med_self_get()->system;
    (void)state;
    assert_int_equal(med_node_expect(system, DOMAIN, NODE + 1), MEDLEY_OK);
    mrapi_yield_to(DOMAIN, NODE + 1, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_node_get_attribute(NODE + 1, 0, &status, sizeof status, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    assert_true(expect_no_more(system, DOMAIN, NODE + 1));
}

static void
no_node_no_yield(void **state)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    (void)state;
    mrapi_yield(&status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    status = MRAPI_SUCCESS;
    mrapi_yield_to(DOMAIN, NODE, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    status = MRAPI_SUCCESS;
    mrapi_delay(1, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    status = MRAPI_SUCCESS;
    mrapi_delay_until_ns(0, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_yield(NULL);
    mrapi_yield_to(DOMAIN, NODE, NULL);
    mrapi_delay(1, NULL);
    mrapi_delay_until_ns(0, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomics_pass_through),
        cmocka_unit_test(bits_are_single),
        cmocka_unit_test(wrong_atomics_are_refused),
        cmocka_unit_test(no_node_no_yield),
        cmocka_unit_test_setup_teardown(delays_last, node_up, node_down),
        cmocka_unit_test_setup_teardown(yields_are_to_nodes, node_up, node_down),
        cmocka_unit_test_setup_teardown(an_expected_node_is_nobody, node_up, node_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
