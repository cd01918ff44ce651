/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of MCAPI's status codes. */
#include <string.h>

#include "base/log.h"
#include "mcapi.h"
#include "support/unit.h"

static void
status_names(void **state)
{
    char text[MCAPI_MAX_STATUS_SIZE];
    (void)state;
    assert_ptr_equal(mcapi_display_status(MCAPI_ERR_CHAN_DIRECTION, text, sizeof text), text);
    assert_string_equal(text, "MCAPI_ERR_CHAN_DIRECTION");
    const int none[] = {0, -1, MCAPI_STATUSCODE_END, 9999};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        (void)mcapi_display_status((mcapi_status_t)none[i], text, sizeof text);
        assert_string_equal(text, "UNKNOWN");
    }
    (void)mcapi_display_status(MCAPI_SUCCESS, text, 6);
    assert_string_equal(text, "MCAPI");
    assert_null(mcapi_display_status(MCAPI_SUCCESS, NULL, 6));
    assert_null(mcapi_display_status(MCAPI_SUCCESS, text, 0));
    for (int code = MCAPI_SUCCESS; code < MCAPI_STATUSCODE_END; code++) {
        (void)mcapi_display_status((mcapi_status_t)code, text, sizeof text);
        assert_int_equal(strncmp(text, "MCAPI_", 6), 0);
    }
}

/* As MRAPI's: there is one level. */
static void
debug_levels(void **state)
{
    (void)state;
    mcapi_set_debug_level(-1);
    assert_false(med_log_level_reached(MED_LOG_ERROR));
    mcapi_set_debug_level(MED_LOG_INFO);
    assert_true(med_log_level_reached(MED_LOG_INFO));
    assert_false(med_log_level_reached(MED_LOG_DEBUG));
    mcapi_set_debug_level(MED_LOG_DEBUG + 1);
    assert_true(med_log_level_reached(MED_LOG_DEBUG));
    mcapi_set_debug_level(MED_LOG_ERROR);
    assert_false(med_log_level_reached(MED_LOG_INFO));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_names),
        cmocka_unit_test(debug_levels),
    };
    return cmocka_run_group_tests_name("mcapi/status", tests, NULL, NULL);
}
