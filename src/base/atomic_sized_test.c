/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every operation on every width, with neighbours that must stay as they are; then in a crowd. */
#include "base/atomic_sized.h"

#include <string.h>

#include "port/port.h"
#include "support/unit.h"

#define PATTERN 0x1122334455667788u
#define THREADS 4
#define ROUNDS 20000u

static const size_t sizes[] = {1, 2, 4, 8};
#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])

static uint64_t
low(uint64_t value, size_t size)
{
    return size == 8 ? value : value & (((uint64_t)1 << size * 8) - 1);
}

/* The value at `memory`, read plainly. */
static uint64_t
plain(const void *memory, size_t size)
{
    uint8_t as_8;
    uint16_t as_16;
    uint32_t as_32;
    uint64_t as_64;
    memcpy(&as_8, memory, 1);
    memcpy(&as_16, memory, size >= 2 ? 2 : 1);
    memcpy(&as_32, memory, size >= 4 ? 4 : 1);
    memcpy(&as_64, memory, size == 8 ? 8 : 1);
    return size == 1 ? as_8 : size == 2 ? as_16 : size == 4 ? as_32 : as_64;
}

static bool
is_there(size_t size)
{
    _Alignas(8) uint8_t memory[8] = {0};
    return med_atomic_sized_check(memory, size) == MEDLEY_OK;
}

/* ---- One after the other --------------------------------------------------------------------- */

typedef struct expectation {
    med_atomic_operation operation;
    uint64_t before;
    uint64_t operand;
    uint64_t after;
} expectation;

static const expectation expectations[] = {
    {MED_ATOMIC_LOAD, PATTERN, 1, PATTERN},
    {MED_ATOMIC_STORE, PATTERN, 0x8877665544332211u, 0x8877665544332211u},
    {MED_ATOMIC_EXCHANGE, PATTERN, 0xa5a5a5a5a5a5a5a5u, 0xa5a5a5a5a5a5a5a5u},
    {MED_ATOMIC_ADD, PATTERN, 0x0101010101010101u, 0x1223344556677889u},
    {MED_ATOMIC_ADD, UINT64_MAX, 1, 0},
    {MED_ATOMIC_AND, PATTERN, 0x0f0f0f0f0f0f0f0fu, 0x0102030405060708u},
    {MED_ATOMIC_OR, PATTERN, 0x8080808080808080u, 0x91a2b3c4d5e6f788u},
    {MED_ATOMIC_XOR, PATTERN, UINT64_MAX, ~(uint64_t)PATTERN},
};

/* In each place of eight bytes where the size fits; the other bytes stay 0xee. */
static void
expect(const expectation *e, size_t size, size_t at)
{
    _Alignas(8) uint8_t memory[8];
    uint8_t others[8];
    memset(memory, 0xee, 8);
    (void)med_atomic_sized_apply(memory + at, size, MED_ATOMIC_STORE, e->before);
    assert_true(plain(memory + at, size) == low(e->before, size));
    uint64_t got = med_atomic_sized_apply(memory + at, size, e->operation, e->operand);
    uint64_t wanted = e->operation == MED_ATOMIC_STORE ? e->operand : e->before;
    assert_true(got == low(wanted, size));
    assert_true(plain(memory + at, size) == low(e->after, size));
    memset(memory + at, 0xee, size);
    memset(others, 0xee, 8);
    assert_memory_equal(memory, others, 8);
}

static void
operations_do_what_they_say(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZE_COUNT; s++) {
        for (size_t i = 0; is_there(sizes[s]) && i < sizeof expectations / sizeof *expectations;
             i++) {
            for (size_t at = 0; at < 8; at += sizes[s]) {
                expect(&expectations[i], sizes[s], at);
            }
        }
    }
}

static void
compare_and_swap_compares_and_swaps(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZE_COUNT; s++) {
        _Alignas(8) uint8_t memory[8] = {0};
        uint8_t *at = memory + 8 - sizes[s];
        if (!is_there(sizes[s])) {
            continue;
        }
        uint64_t expected = 1;
        assert_false(med_atomic_sized_cas(at, sizes[s], &expected, PATTERN));
        assert_true(expected == 0 && plain(at, sizes[s]) == 0);
        assert_true(med_atomic_sized_cas(at, sizes[s], &expected, PATTERN));
        assert_true(plain(at, sizes[s]) == low(PATTERN, sizes[s]));
        /* What stands above the width does not count. */
        expected = PATTERN;
        assert_true(med_atomic_sized_cas(at, sizes[s], &expected, 2));
        assert_true(plain(at, sizes[s]) == 2);
    }
}

static void
what_cannot_be_is_refused(void **state)
{
    _Alignas(8) uint8_t memory[16];
    (void)state;
    assert_int_equal(med_atomic_sized_check(NULL, 4), MEDLEY_ERR_ARGUMENT);
    for (size_t size = 0; size <= 16; size++) {
        bool is_size = size == 1 || size == 2 || size == 4 || size == 8;
        if (!is_size) {
            assert_int_equal(med_atomic_sized_check(memory, size), MEDLEY_ERR_ARGUMENT);
            continue;
        }
        for (size_t at = 1; at < size; at++) {
            assert_int_equal(med_atomic_sized_check(memory + at, size), MEDLEY_ERR_ARGUMENT);
        }
    }
    assert_true(is_there(1) && is_there(2) && is_there(4));
}

/* ---- In a crowd ------------------------------------------------------------------------------ */

typedef struct crowd {
    _Alignas(8) uint8_t memory[8];
    size_t size;
} crowd;

typedef struct member {
    crowd *crowd;
    size_t at;
} member;

/* Adds by `add` and by compare-and-swap in turn. */
static void *
adds(void *argument)
{
    const member *m = argument;
    uint8_t *memory = m->crowd->memory + m->at;
    size_t size = m->crowd->size;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (i % 2) {
            (void)med_atomic_sized_apply(memory, size, MED_ATOMIC_ADD, 1);
            continue;
        }
        uint64_t there = med_atomic_sized_apply(memory, size, MED_ATOMIC_LOAD, 0);
        while (!med_atomic_sized_cas(memory, size, &there, there + 1)) {
        }
    }
    return NULL;
}

/* Two at each of two neighbouring places: nothing is lost, no neighbour's update either. */
static void
nothing_is_lost_in_a_crowd(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZE_COUNT; s++) {
        crowd c = {.size = sizes[s]};
        member members[THREADS];
        med_port_thread threads[THREADS];
        size_t places = 8 / sizes[s] >= 2 ? 2 : 1;
        for (size_t i = 0; is_there(sizes[s]) && i < THREADS; i++) {
            members[i] = (member){&c, i % places * sizes[s]};
            assert_int_equal(med_port_thread_start(&threads[i], NULL, adds, &members[i]),
                             MEDLEY_OK);
        }
        for (size_t i = 0; is_there(sizes[s]) && i < THREADS; i++) {
            assert_int_equal(med_port_thread_join(threads[i], NULL), MEDLEY_OK);
        }
        uint64_t each = is_there(sizes[s]) ? ROUNDS * THREADS / places : 0;
        for (size_t place = 0; place < places; place++) {
            assert_true(plain(c.memory + place * sizes[s], sizes[s]) == low(each, sizes[s]));
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_do_what_they_say),
        cmocka_unit_test(compare_and_swap_compares_and_swaps),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(nothing_is_lost_in_a_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
