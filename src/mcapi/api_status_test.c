/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of MCAPI's status codes, and of the types that its programs use. */
#include <string.h>

#include "base/log.h"
#include "mcapi.h"
#include "support/unit.h"

#define SAME(one, other) _Generic((one *)NULL, other * : 1, default : 0)

/* Programs hand over the address of one as that of the other. */
_Static_assert(SAME(mcapi_status_t, mca_status_t), "one type");
_Static_assert(SAME(mcapi_node_attr_type_t, mcapi_uint_t), "a number");
_Static_assert(SAME(mcapi_endp_attr_type_t, mcapi_uint_t), "a number");
_Static_assert(SAME(mcapi_endp_attr_get_count_t, mcapi_uint_t), "a number");
_Static_assert(sizeof(mcapi_endp_attr_max_payload_size_t) == sizeof(mcapi_uint_t), "an attribute");
_Static_assert(SAME(mcapi_endp_attr_buffer_type_t, mcapi_uint_t), "a number");
_Static_assert(SAME(mcapi_endp_attr_memory_type_t, mcapi_uint_t), "a number");
_Static_assert(sizeof(mcapi_endp_attr_num_priorities_t) == sizeof(mcapi_uint_t), "an attribute");
_Static_assert(SAME(mcapi_endp_attr_priority_t, mcapi_uint_t), "a number");
_Static_assert(sizeof(mcapi_endp_attr_num_send_buffers_t) == sizeof(mcapi_uint_t), "an attribute");
_Static_assert(SAME(mcapi_endp_attr_num_recv_buffers_t, mcapi_uint_t), "a number");
_Static_assert(SAME(mcapi_endp_attr_status_t, mcapi_uint_t), "a number");
_Static_assert(SAME(mcapi_endp_attr_timeout_t, mcapi_timeout_t), "a timeout");
_Static_assert(mcapi_start_endp_attribute(0) == MCAPI_MAX_NUM_ENDP_ATTRS_MCA,
               "behind the standard's");
_Static_assert(mcapi_end_endp_attribute(MCA_ORG_ID_FSL) ==
                   mcapi_start_endp_attribute(MCA_ORG_ID_MGC),
               "one range behind the other");

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
