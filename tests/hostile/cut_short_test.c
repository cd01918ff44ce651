/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Partitions whose file is shorter than their header says, while somebody lives in them. */
#include <string.h>

#include "hostile.h"
#include "mrapi/system.h"
#include "support/process.h"

typedef struct cut {
    off_t size_bytes;
    med_partition_header header;
} cut;

/* Lives in a system whose file is too short for what its header says. */
static int
keeps_alive(test_process *parent, void *argument)
{
    const cut *made = argument;
    med_port_shared shared;
    child_expect(med_port_shared_open_until(test_system_name(), MED_PORT_FOREVER, &shared) ==
                 MEDLEY_OK);
    child_expect(ftruncate((int)shared.handle, made->size_bytes) == 0);
    size_t bytes = sizeof made->header;
    bytes = (size_t)made->size_bytes < bytes ? (size_t)made->size_bytes : bytes;
    child_expect(pwrite((int)shared.handle, &made->header, bytes, 0) == (ssize_t)bytes);
    child_expect(med_port_slot_claim(&shared, 0) == MEDLEY_OK);
    med_port_shared_unlock(&shared);
    process_say(parent, 'k');
    (void)process_hear(parent);
    med_port_shared_remove(&shared);
    med_port_shared_close(&shared);
    return 0;
}

static void
cut_short(void **state)
{
    static med_limits limits;
    med_layout layout;
    med_system system;
    char why[MED_PORT_WHY_BYTES];
    test_process keeper;
    (void)state;
    med_limits_from_environment(&limits);
    assert_int_equal(med_layout_compute(&limits, &layout), MEDLEY_OK);
    void *memory;
    assert_int_equal(med_port_memory_map(layout.size_bytes, &memory), MEDLEY_OK);
    med_partition_init(memory, &limits, &layout, MED_ON_DEATH_RECOVER, test_system_name());
    const off_t sizes[] = {0, 1, 4, 127, 128, 4096, (off_t)layout.size_bytes - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        cut made = {.size_bytes = sizes[i]};
        memcpy(&made.header, memory, sizeof made.header);
        process_start(&keeper, keeps_alive, &made);
        assert_int_equal(process_hear(&keeper), 'k');
        assert_int_equal(medley_system_open(test_system_name()), MEDLEY_ERR_CORRUPT);
        assert_int_equal(med_system_observe(test_system_name(), MED_PORT_FOREVER, &system),
                         MEDLEY_ERR_CORRUPT);
        assert_int_equal(med_system_remove(test_system_name(), MED_PORT_FOREVER, why), MEDLEY_BUSY);
        process_say(&keeper, 'g');
        assert_int_equal(process_join(&keeper), 0);
    }
    med_port_memory_unmap(memory, layout.size_bytes);
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_short),
    };
    hostile_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
