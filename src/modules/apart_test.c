/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Readings in a process apart, and what is said of one that ends well, wrongly, or not at all. */
#include <stdlib.h>
#include <unistd.h>

#include "modules/apart.h"
#include "support/unit.h"

#define PATIENCE_S 1u
#define LONG_S 60u /* for what is not to run out */

static uint32_t parts;

static bool
count_part(void *context, const med_topology_part *part, uint32_t *number)
{
    (void)context;
    (void)part;
    *number = parts++;
    return true;
}

static const med_topology_sink sink = {.add = count_part};

static medley_status_t
reads(const med_topology_sink *to, char *why, size_t why_bytes)
{
    const med_topology_part part = {.kind = MED_TOPOLOGY_MACHINE};
    uint32_t number;
    (void)snprintf(why, why_bytes, "%s", "");
    return to->add(to->context, &part, &number) ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

static medley_status_t
refuses(const med_topology_sink *to, char *why, size_t why_bytes)
{
    (void)to;
    (void)snprintf(why, why_bytes, "no machine");
    return MEDLEY_ERR_CORRUPT;
}

static medley_status_t
dies(const med_topology_sink *to, char *why, size_t why_bytes)
{
    (void)to;
    (void)why;
    (void)why_bytes;
    apart_fear("feared");
    abort();
}

static medley_status_t
does_not_end(const med_topology_sink *to, char *why, size_t why_bytes)
{
    (void)to;
    (void)why;
    (void)why_bytes;
    apart_fear("feared");
    while (pause() != 0) { /* it never is */
    }
    return MEDLEY_OK;
}

static void
expect(med_topology_read reader, unsigned patience_s, medley_status_t status, const char *said)
{
    char why[100] = "";
    assert_int_equal(apart_read(reader, patience_s, &sink, why, sizeof why), status);
    assert_string_equal(why, said);
}

static void
ended(void **state)
{
    (void)state;
    parts = 0;
    expect(reads, LONG_S, MEDLEY_OK, "");
    assert_int_equal(parts, 1);
    expect(refuses, LONG_S, MEDLEY_ERR_CORRUPT, "no machine");
}

static void
died(void **state)
{
    (void)state;
    expect(dies, LONG_S, MEDLEY_ERR_CORRUPT, "feared");
}

static void
too_slow(void **state)
{
    (void)state;
    expect(does_not_end, PATIENCE_S, MEDLEY_TIMEOUT, "it took longer than 1 s");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended),
        cmocka_unit_test(died),
        cmocka_unit_test(too_slow),
    };
    return cmocka_run_group_tests_name("modules/apart", tests, NULL, NULL);
}
