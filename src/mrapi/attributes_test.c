/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Attributes of every kind: a boolean, a value, a value that is only asked for. */
#include "mrapi/attributes.h"

#include <string.h>

#include "support/unit.h"

#define MARK 0x7e570000u
#define SWEET 1u
#define SALTY 2u

typedef struct record {
    mrapi_uint_t set;
    uint32_t weight;
    void *place;
} record;

enum {
    IS_SWEET = 11,
    IS_SALTY,
    WEIGHT,
    PLACE,
    UNKNOWN
};

static const record standard = {.set = MARK | SALTY, .weight = 7};

static const med_attribute known[] = {
    MED_ATTRIBUTE_BOOLEAN(IS_SWEET, SWEET),
    MED_ATTRIBUTE_BOOLEAN(IS_SALTY, SALTY),
    {.number = WEIGHT, .size = 4, .offset = offsetof(record, weight), .read_only = true},
    {.number = PLACE, .size = sizeof(void *), .offset = offsetof(record, place)},
};

static const med_attribute_kind kind = MED_ATTRIBUTE_KIND(known, standard);

static void
standard_record(void **state)
{
    record mine;
    (void)state;
    memset(&mine, 0xff, sizeof mine);
    assert_int_equal(med_attributes_init(&kind, NULL), MRAPI_ERR_PARAMETER);
    assert_int_equal(med_attributes_init(&kind, &mine), MRAPI_SUCCESS);
    assert_memory_equal(&mine, &standard, sizeof mine);
    assert_true(med_attributes_good(&kind, &mine));
    assert_int_equal(med_attributes_flags(&kind, &mine), SALTY);
    assert_int_equal(med_attributes_flags(&kind, NULL), SALTY);
}

static void
never_initialised(void **state)
{
    record mine;
    mrapi_boolean_t yes = MRAPI_TRUE;
    (void)state;
    const int fills[] = {0, 0xff, 0x7e};
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        memset(&mine, fills[i], sizeof mine);
        assert_false(med_attributes_good(&kind, &mine));
        assert_int_equal(med_attributes_set(&kind, &mine, IS_SWEET, &yes, sizeof yes),
                         MRAPI_ERR_PARAMETER);
    }
    assert_false(med_attributes_good(&kind, NULL));
    assert_int_equal(med_attributes_set(&kind, NULL, IS_SWEET, &yes, sizeof yes),
                     MRAPI_ERR_PARAMETER);
}

static void
booleans(void **state)
{
    record mine;
    mrapi_boolean_t value = 5; /* as good as TRUE */
    (void)state;
    (void)med_attributes_init(&kind, &mine);
    assert_int_equal(med_attributes_set(&kind, &mine, IS_SWEET, &value, 1), MRAPI_SUCCESS);
    assert_int_equal(med_attributes_flags(&kind, &mine), SWEET | SALTY);
    assert_int_equal(med_attributes_get(&kind, &mine, IS_SWEET, &value, 1), MRAPI_SUCCESS);
    assert_int_equal(value, MRAPI_TRUE);
    value = MRAPI_FALSE;
    assert_int_equal(med_attributes_set(&kind, &mine, IS_SALTY, &value, 1), MRAPI_SUCCESS);
    assert_int_equal(med_attributes_flags(&kind, &mine), SWEET);
    value = 9;
    assert_int_equal(med_attributes_get(&kind, &mine, IS_SALTY, &value, 1), MRAPI_SUCCESS);
    assert_int_equal(value, MRAPI_FALSE);
}

static void
values(void **state)
{
    record mine;
    uint32_t weight = 99;
    void *place = &mine, *there = NULL;
    (void)state;
    (void)med_attributes_init(&kind, &mine);
    assert_int_equal(med_attributes_set(&kind, &mine, PLACE, &place, sizeof place), MRAPI_SUCCESS);
    assert_ptr_equal(mine.place, &mine);
    assert_int_equal(med_attributes_get(&kind, &mine, PLACE, &there, sizeof there), MRAPI_SUCCESS);
    assert_ptr_equal(there, &mine);
    assert_int_equal(med_attributes_set(&kind, &mine, WEIGHT, &weight, sizeof weight),
                     MRAPI_ERR_ATTR_READONLY);
    assert_int_equal(med_attributes_get(&kind, &mine, WEIGHT, &weight, sizeof weight),
                     MRAPI_SUCCESS);
    assert_int_equal(weight, 7);
}

static void
wrong_arguments(void **state)
{
    record mine;
    uint32_t value = 3;
    (void)state;
    (void)med_attributes_init(&kind, &mine);
    assert_int_equal(med_attributes_set(&kind, &mine, UNKNOWN, &value, 4), MRAPI_ERR_ATTR_NUM);
    assert_int_equal(med_attributes_set(&kind, &mine, WEIGHT, &value, 2), MRAPI_ERR_ATTR_SIZE);
    assert_int_equal(med_attributes_set(&kind, &mine, IS_SWEET, &value, 4), MRAPI_ERR_ATTR_SIZE);
    assert_int_equal(med_attributes_set(&kind, &mine, IS_SWEET, NULL, 1), MRAPI_ERR_PARAMETER);
    assert_int_equal(med_attributes_get(&kind, &mine, UNKNOWN, &value, 4), MRAPI_ERR_ATTR_NUM);
    assert_int_equal(med_attributes_get(&kind, &mine, PLACE, &value, 3), MRAPI_ERR_ATTR_SIZE);
    assert_int_equal(med_attributes_get(&kind, &mine, WEIGHT, NULL, 4), MRAPI_ERR_PARAMETER);
    assert_int_equal(value, 3);
    assert_memory_equal(&mine, &standard, sizeof mine);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_record), cmocka_unit_test(never_initialised),
        cmocka_unit_test(booleans),        cmocka_unit_test(values),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
