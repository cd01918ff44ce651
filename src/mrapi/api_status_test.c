/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of MRAPI's status codes. */
#include <string.h>

#include "base/log.h"
#include "mrapi.h"
#include "support/unit.h"

static void
status_names(void **state)
{
    char text[MRAPI_MAX_STATUS_SIZE];
    (void)state;
    assert_ptr_equal(mrapi_display_status(MRAPI_ERR_MUTEX_KEY, text, sizeof text), text);
    assert_string_equal(text, "MRAPI_ERR_MUTEX_KEY");
    (void)mrapi_display_status((mrapi_status_t)9999, text, sizeof text);
    assert_string_equal(text, "UNKNOWN");
    (void)mrapi_display_status(MRAPI_SUCCESS, text, 6);
    assert_string_equal(text, "MRAPI");
    assert_null(mrapi_display_status(MRAPI_SUCCESS, NULL, 6));
    assert_null(mrapi_display_status(MRAPI_SUCCESS, text, 0));
    for (int code = 0; code < MRAPI_STATUS_COUNT; code++) {
        (void)mrapi_display_status((mrapi_status_t)code, text, sizeof text);
        assert_int_equal(strncmp(text, "MRAPI_", 6), 0);
    }
}

/* Below the first level it is the first, beyond the last the last. */
static void
debug_levels(void **state)
{
    (void)state;
    mrapi_set_debug_level(-1);
    assert_false(med_log_level_reached(MED_LOG_ERROR));
    mrapi_set_debug_level(MED_LOG_INFO);
    assert_true(med_log_level_reached(MED_LOG_INFO));
    assert_false(med_log_level_reached(MED_LOG_DEBUG));
    mrapi_set_debug_level(MED_LOG_DEBUG + 1);
    assert_true(med_log_level_reached(MED_LOG_DEBUG));
    mrapi_set_debug_level(MED_LOG_ERROR);
    assert_false(med_log_level_reached(MED_LOG_INFO));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_names),
        cmocka_unit_test(debug_levels),
    };
    return cmocka_run_group_tests_name("mrapi/status", tests, NULL, NULL);
}
