/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lines of /proc, as the kernel writes them, and as nobody should. */
#include "tools/medley/top_kernel.h"

#include <string.h>
#include <unistd.h>

#include "support/unit.h"
#include "tools/medley/top_rows.h"

static void
a_processor_is_read(void **state)
{
    (void)state;
    json_t *row = top_kernel_processor("cpu12 100 20 30 4000 500 6 7 8 90 9\n");
    assert_int_equal(top_integer(row, "processor"), 12);
    assert_int_equal(top_integer(row, "busy"), 100 + 20 + 30 + 6 + 7 + 8);
    assert_int_equal(top_integer(row, "all"), 100 + 20 + 30 + 4000 + 500 + 6 + 7 + 8);
    json_decref(row);
    row = top_kernel_processor("cpu0 1 2 3 4\n"); /* of an old kernel */
    assert_int_equal(top_integer(row, "busy"), 6);
    json_decref(row);
    assert_null(top_kernel_processor("cpu  1 2 3 4 5 6 7 8 9 10\n"));
    assert_null(top_kernel_processor("intr 1 2 3\n"));
}

/* Whatever it is called: names may have blanks and parentheses. */
static void
a_thread_is_read(void **state)
{
    static const char stat[] =
        "853 (a ) S 1 (x) R 802 802 21475 0 -1 4194304 101 0 0 0 70 30 0 0 20 0 1 0 55755 3133440 "
        "379 18446744073709551615 94319202045952 94319202065833 140732344142640 0 0 0 0 0 0 0 0 0 "
        "17 5 0 0 0 0 0 94319202081840 94319202083456 94319423139840 140732344142531 0 0 0 0\n";
    (void)state;
    json_t *thread = top_kernel_thread_of(stat, 100);
    assert_string_equal(top_string(thread, "state"), "running");
    assert_int_equal(top_integer(thread, "processor"), 5);
    assert_int_equal(top_integer(thread, "used_ns"), 1000000000);
    json_decref(thread);
    assert_null(top_kernel_thread_of("853 cat R 802", 100));
    assert_null(top_kernel_thread_of("853 (cat) R 802 802 21475", 100));
    assert_null(top_kernel_thread_of(stat, 0));
}

static void
this_one_is_found(void **state)
{
    (void)state;
    json_t *thread = top_kernel_thread((uint32_t)getpid(), (uint32_t)getpid());
    assert_string_equal(top_string(thread, "state"), "running");
    json_decref(thread);
    json_t *processors = top_kernel_processors();
    assert_true(json_array_size(processors) > 0);
    json_decref(processors);
    json_t *none = top_kernel_thread((uint32_t)getpid(), UINT32_MAX);
    assert_true(json_is_null(none));
    json_decref(none);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_processor_is_read),
        cmocka_unit_test(a_thread_is_read),
        cmocka_unit_test(this_one_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
