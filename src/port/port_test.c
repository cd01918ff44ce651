/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The conformance checks of the port contract, under cmocka. */
#include "port/conformance.h"
#include "support/unit.h"

static void
check(void **state)
{
    const med_port_check *wanted = *state;
    const char *broken = wanted->run();
    if (broken) {
        fail_msg("%s: does not hold: %s", wanted->name, broken);
    }
}

int
main(void)
{
    struct CMUnitTest tests[32];
    assert_true(med_port_check_count <= sizeof tests / sizeof tests[0]);
    for (uint32_t i = 0; i < med_port_check_count; i++) {
        tests[i] = (struct CMUnitTest){.name = med_port_checks[i].name,
                                       .test_func = check,
                                       .initial_state = (void *)(uintptr_t)&med_port_checks[i]};
    }
    return _cmocka_run_group_tests("port", tests, med_port_check_count, NULL, NULL);
}
