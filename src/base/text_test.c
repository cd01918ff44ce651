/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages and the texts of statuses. */
#include <string.h>

#include "base/text.h"
#include "medley/status.h"
#include "support/unit.h"

static void
lines_are_built_and_cut(void **state)
{
    med_text text = {.length = 0};
    (void)state;
    med_text_string(&text, "n = ");
    med_text_number(&text, UINT64_MAX);
    assert_string_equal(text.bytes, "n = 18446744073709551615");
    med_text_number(&text, 0);
    assert_string_equal(text.bytes, "n = 184467440737095516150");
    for (int i = 0; i < 100; i++) {
        med_text_string(&text, "and so on ");
    }
    assert_int_equal(strlen(text.bytes), MED_TEXT_BYTES - 1);
}

static void
what_is_counted_is_one_or_many(void **state)
{
    static const struct {
        uint64_t number;
        const char *things, *text;
    } rows[] = {
        {0, "nodes", "0 nodes"},
        {1, "nodes", "1 node"},
        {2, "nodes", "2 nodes"},
        {21, "nodes", "21 nodes"},
        {1, "processes", "1 process"},
        {1, "mutexes", "1 mutex"},
        {1, "lanes", "1 lane"},
        {1, "remote memories", "1 remote memory"},
        {1, "reader/writer locks", "1 reader/writer lock"},
        {1, "bytes in a lane", "1 byte in a lane"},
        {1, "levels of a recursive mutex", "1 level of a recursive mutex"},
        {1, "sheep", "1 sheep"},
        {1, "", "1 "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        med_text text = {.length = 0};
        med_text_count(&text, rows[i].number, rows[i].things);
        assert_string_equal(text.bytes, rows[i].text);
    }
}

static void
copies_end_and_are_padded(void **state)
{
    char name[8];
    (void)state;
    memset(name, 'x', sizeof name);
    med_text_copy(name, sizeof name, "ab");
    assert_memory_equal(name, "ab\0\0\0\0\0\0", sizeof name);
    med_text_copy(name, sizeof name, "abcdefghij");
    assert_string_equal(name, "abcdefg");
}

static void
equality_is_bounded(void **state)
{
    (void)state;
    assert_true(med_text_equal("same", "same", 16));
    assert_false(med_text_equal("same", "some", 16));
    assert_false(med_text_equal("same", "samely", 16));
    assert_true(med_text_equal("same", "samely", 4));
}

static void
every_status_has_a_text(void **state)
{
    (void)state;
    for (int i = 0; i < MEDLEY_STATUS_COUNT; i++) {
        assert_true(strlen(medley_status_text((medley_status_t)i)) > 0);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(medley_status_text((medley_status_t)i),
                                    medley_status_text((medley_status_t)j));
        }
    }
    assert_string_equal(medley_status_text(MEDLEY_STATUS_COUNT), "unknown status");
    assert_string_equal(medley_status_text((medley_status_t)-1), "unknown status");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_built_and_cut),
        cmocka_unit_test(what_is_counted_is_one_or_many),
        cmocka_unit_test(copies_end_and_are_padded),
        cmocka_unit_test(equality_is_bounded),
        cmocka_unit_test(every_status_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
