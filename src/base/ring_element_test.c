/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies of elements: of all lengths that are copied differently, wherever the two begin in their
 * lines, whole, and nothing beside. */
#include "base/ring_element.h"
#include "support/unit.h"

#define LINE_BYTES 64u
#define LONGEST 20000u
#define BESIDE 0xa5

static _Alignas(64) unsigned char source[LONGEST + 2 * LINE_BYTES];
static _Alignas(64) unsigned char target[LONGEST + 2 * LINE_BYTES];

static void
expect_copied(uint32_t from, uint32_t to, uint32_t bytes)
{
    memset(target, BESIDE, sizeof target);
    med_ring_copy(target + to, source + from, bytes);
    assert_memory_equal(target + to, source + from, bytes);
    for (uint32_t i = 0; i < LINE_BYTES; i++) {
        assert_int_equal(target[to + bytes + i], BESIDE);
        assert_true(i >= to || target[i] == BESIDE);
    }
}

static void
all_places(void **state)
{
    static const uint32_t lengths[] = {0,   1,   7,   8,    24,   31,   255,   256,   257,
                                       320, 519, 520, 2048, 4096, 4103, 16384, 16385, LONGEST};
    (void)state;
    for (uint32_t i = 0; i < sizeof source; i++) {
        source[i] = (unsigned char)(i * 7 + i / 256);
    }
    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
        for (uint32_t from = 0; from < LINE_BYTES; from++) {
            expect_copied(from, 0, lengths[n]);
            expect_copied(0, from, lengths[n]);
            expect_copied(from, from * 3 % LINE_BYTES, lengths[n]);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
