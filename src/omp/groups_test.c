/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Groups of machines of many kinds, some of which no machine here is: who leads, who sits where. */
#include "omp/groups.h"

#include <string.h>

#include "omp/icv.h"
#include "support/unit.h"

#define SIZE_MOST 512u

static uint32_t seats[SIZE_MOST];
static uint32_t most = MED_GROUP_MOST;
static uint8_t leads[SIZE_MOST];
static uint8_t begins[SIZE_MOST];
static uint32_t caches[SIZE_MOST];
static uint32_t memories[SIZE_MOST];

static uint32_t
count_at(uint32_t size, uint32_t level)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < size; i++) {
        count += leads[i] >= level;
    }
    return count;
}

/* Each has a seat of its own, the first member the first one. */
static void
all_sit(uint32_t size)
{
    bool taken[SIZE_MOST] = {false};
    assert_int_equal(seats[0], 0);
    for (uint32_t i = 0; i < size; i++) {
        assert_true(seats[i] < size && !taken[seats[i]]);
        taken[seats[i]] = true;
    }
}

/* A group of a level is no larger than most; and of those that lead in it, none is more. */
static void
no_group_is_too_large(uint32_t size)
{
    for (uint32_t level = 0; level <= leads[0]; level++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < size; i++) {
            count = leads[i] > level ? 0 : count;
            count += leads[i] >= level;
            assert_true(count <= most);
        }
    }
}

/* Below the top of those that share something nobody meets one who does not share it with him. */
static void
make(uint32_t size)
{
    med_groups groups = {
        .size = size, .most = most, .seats = seats, .leads = leads, .begins = begins};
    memset(leads, 0xa5, sizeof leads);
    memset(begins, 0xa5, sizeof begins);
    med_groups_make(&groups, caches, memories);
    all_sit(size);
    no_group_is_too_large(size);
    for (uint32_t i = 0; i < size; i++) {
        assert_true(leads[i] <= leads[0]);
    }
}

/* So many processors to a cache, so many caches to a node; members one behind the other. */
static void
machine(uint32_t size, uint32_t of_cache, uint32_t of_memory)
{
    for (uint32_t i = 0; i < size; i++) {
        caches[i] = i / of_cache + 1;
        memories[i] = i / of_cache / of_memory + 1;
    }
    make(size);
}

static void
few_are_in_one_group(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= MED_GROUP_MOST; size++) {
        machine(size, 2, 2);
        assert_int_equal(count_at(size, 1), 0);
    }
}

static void
by_caches(void **state)
{
    (void)state;
    machine(16, 8, 4); /* two caches: two groups, whose leaders meet */
    assert_int_equal(leads[0], 1);
    assert_int_equal(leads[8], 1);
    assert_int_equal(count_at(16, 1), 2);
    machine(12, 2, 8);
    assert_int_equal(leads[0], 1);
    assert_int_equal(count_at(12, 1), 6);
    machine(24, 24, 1); /* one cache, and too many */
    assert_int_equal(leads[0], 1);
    assert_int_equal(count_at(24, 1), 3);
    assert_int_equal(leads[8], 1);
    assert_int_equal(leads[16], 1);
}

/* Of a machine that has one cache. */
static void
more_of_one_cache(void **state)
{
    (void)state;
    most = MED_GROUP_MOST_OF_CACHE;
    machine(16, 16, 1);
    assert_int_equal(count_at(16, 1), 0);
    machine(17, 17, 1);
    assert_int_equal(count_at(17, 1), 2);
    machine(512, 512, 1);
    assert_int_equal(count_at(512, 1), 32);
    assert_int_equal(count_at(512, 2), 2);
    most = MED_GROUP_MOST;
}

static void
by_memory_nodes(void **state)
{
    (void)state;
    machine(128, 8, 8); /* two nodes of eight caches of eight */
    assert_int_equal(leads[0], 2);
    assert_int_equal(count_at(128, 1), 16);
    assert_int_equal(count_at(128, 2), 2);
    assert_int_equal(leads[64], 2);
    machine(96, 48, 1); /* two nodes of one large cache */
    assert_int_equal(leads[0], 2);
    assert_int_equal(count_at(96, 1), 12);
    assert_int_equal(count_at(96, 2), 2);
    assert_int_equal(leads[48], 2);
    machine(512, 512, 1);
    assert_int_equal(count_at(512, 1), 64);
    assert_int_equal(count_at(512, 2), 8);
    assert_int_equal(leads[0], 2);
}

/* Groups of about the same size: no leader waits for a few while others wait for many. */
static void
parts_are_even(void **state)
{
    static const uint8_t wanted[] = {1, 0, 0, 0, 0, 1, 0, 0, 0};
    (void)state;
    machine(9, 9, 1);
    assert_memory_equal(leads, wanted, sizeof wanted);
}

/* Members lie across caches, as processors are numbered on some machines: they sit side by side all
 * the same. */
static void
neighbours_sit_together(void **state)
{
    static const uint32_t wanted[] = {0, 5, 8, 1, 6, 9, 2, 7, 10, 3, 11, 4};
    static const uint32_t cache[] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 3, 1};
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        caches[i] = cache[i];
        memories[i] = 1;
    }
    make(12);
    assert_memory_equal(seats, wanted, sizeof wanted);
    assert_int_equal(leads[0], 1);
    assert_int_equal(leads[5], 1);
    assert_int_equal(leads[8], 1);
    assert_int_equal(count_at(12, 1), 3);
}

/* One of a cache leads himself; a node's caches lie side by side though others are between. */
static void
groups_of_all_sizes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        caches[i] = i < 9 ? i + 1 : 10;
        memories[i] = i % 3 ? 1 : 2;
        memories[i] = i < 9 ? memories[i] : 3;
    }
    make(20);
    for (uint32_t i = 0; i + 1 < 20; i++) {
        for (uint32_t j = i + 1; j < 20; j++) {
            if (memories[i] == memories[j] && seats[j] > seats[i]) {
                for (uint32_t k = 0; k < 20; k++) {
                    assert_true(seats[k] < seats[i] || seats[k] > seats[j] ||
                                memories[k] == memories[i]);
                }
            }
        }
    }
}

static bool
reads(med_settings *settings, const char *value)
{
    *settings = (med_settings){.groups = {.is_told = false}};
    return med_groups_read(settings, (med_value){.at = value});
}

static void
as_told(void **state)
{
    static const uint8_t wanted[] = {2, 0, 1, 0, 2};
    static const char *const wrong[] = {"", "1", "2,", "2,0", "0,2", "2,2,2,2,2", "a", "65536"};
    static med_settings settings;
    med_groups groups = {.size = 5, .seats = seats, .leads = leads, .begins = begins};
    (void)state;
    assert_true(reads(&settings, " 2, 2 "));
    med_groups_make_told(&groups, &settings.groups);
    assert_memory_equal(leads, wanted, sizeof wanted);
    all_sit(5);
    assert_true(reads(&settings, "0"));
    assert_true(settings.groups.is_told && settings.groups.count == 0);
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(reads(&settings, wrong[i]));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_are_in_one_group), cmocka_unit_test(by_caches),
        cmocka_unit_test(more_of_one_cache),    cmocka_unit_test(by_memory_nodes),
        cmocka_unit_test(parts_are_even),       cmocka_unit_test(neighbours_sit_together),
        cmocka_unit_test(groups_of_all_sizes),  cmocka_unit_test(as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
