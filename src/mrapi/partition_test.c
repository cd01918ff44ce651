/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The check at the partition's door, and limits from the environment. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mrapi/partition.h"
#include "mrapi/process.h"
#include "port/port.h"
#include "support/unit.h"

typedef struct partition {
    med_partition_header *header;
    med_limits limits;
    med_layout layout;
} partition;

static partition
partition_make(void)
{
    partition p = {.limits = {.domains = 2,
                              .processes = 3,
                              .nodes = 5,
                              .mutexes = 7,
                              .rmem_attachments = 9,
                              .rmems = 4,
                              .shmems = 3,
                              .semaphores = 4,
                              .rwlocks = 6,
                              .sharers = 9,
                              .endpoints = 3,
                              .lanes = 4,
                              .lane_bytes = 256,
                              .buffers = 2,
                              .buffer_bytes = 64}};
    void *memory = NULL;
    assert_int_equal(med_layout_compute(&p.limits, &p.layout), MEDLEY_OK);
    assert_int_equal(med_port_memory_map(p.layout.size_bytes, &memory), MEDLEY_OK);
    med_partition_init(memory, &p.limits, &p.layout, MED_ON_DEATH_RECOVER, "test");
    p.header = memory;
    return p;
}

static medley_status_t
check(const partition *p, size_t size_bytes)
{
    med_limits limits;
    med_layout layout;
    return med_partition_check(p->header, size_bytes, &limits, &layout);
}

static void
sound_partition_is_accepted(void **state)
{
    partition p = partition_make();
    med_limits limits;
    med_layout layout;
    (void)state;
    assert_int_equal(med_partition_check(p.header, p.layout.size_bytes, &limits, &layout),
                     MEDLEY_OK);
    assert_memory_equal(&limits, &p.limits, sizeof limits);
    assert_memory_equal(&layout, &p.layout, sizeof layout);
    med_port_memory_unmap(p.header, p.layout.size_bytes);
}

static void
each_wrong_field_is_refused(void **state)
{
    partition p = partition_make();
    size_t size = p.layout.size_bytes;
    med_partition_header good = *p.header;
    (void)state;
#define REFUSED(change, code)                                                                      \
    *p.header = good;                                                                              \
    change;                                                                                        \
    assert_int_equal(check(&p, size), code)
    REFUSED(p.header->magic.value = 0, MEDLEY_ERR_CORRUPT); /* never finished */
    REFUSED(p.header->magic.value = __builtin_bswap32(good.magic.value), MEDLEY_ERR_BYTE_ORDER);
    REFUSED(p.header->version++, MEDLEY_ERR_VERSION);
    REFUSED(p.header->layout_hash++, MEDLEY_ERR_VERSION);
    REFUSED(p.header->byte_order = 0x04030201, MEDLEY_ERR_CORRUPT);
    REFUSED(p.header->size_bytes++, MEDLEY_ERR_CORRUPT);
    REFUSED(p.header->limits.nodes = 0, MEDLEY_ERR_CORRUPT);
    REFUSED(p.header->limits.nodes = 0xffffffff, MEDLEY_ERR_CORRUPT);
    REFUSED(p.header->limits.mutexes += 100, MEDLEY_ERR_CORRUPT); /* would be larger */
    REFUSED(p.header->limits.sharers += 100, MEDLEY_ERR_CORRUPT);
    REFUSED(p.header->limits.sharers = 0, MEDLEY_ERR_CORRUPT);
    *p.header = good;
    assert_int_equal(check(&p, 0), MEDLEY_ERR_CORRUPT);
    assert_int_equal(check(&p, sizeof good - 1), MEDLEY_ERR_CORRUPT);
    assert_int_equal(check(&p, size - 1), MEDLEY_ERR_CORRUPT);
    assert_int_equal(check(&p, size), MEDLEY_OK);
    med_port_memory_unmap(p.header, size);
}

static void
parts_do_not_overlap(void **state)
{
    med_layout layout;
    med_limits largest;
    (void)state;
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        largest.of[i] = med_limit_infos[i].largest;
    }
    assert_int_equal(med_layout_compute(&largest, &layout), MEDLEY_OK);
    assert_true(layout.processes >= sizeof(med_partition_header));
    assert_true(layout.tables[MED_KIND_DOMAIN] >=
                layout.processes + (uint64_t)largest.processes * sizeof(med_process_row));
    assert_true(layout.tables[MED_KIND_NODE] > layout.tables[MED_KIND_DOMAIN]);
    assert_true(layout.tables[MED_KIND_MUTEX] >
                layout.tables[MED_KIND_NODE] +
                    (uint64_t)largest.nodes * layout.row_bytes[MED_KIND_NODE]);
    assert_true(layout.tables[MED_KIND_SHMEM] >
                layout.tables[MED_KIND_MUTEX] +
                    (uint64_t)largest.mutexes * layout.row_bytes[MED_KIND_MUTEX]);
    assert_true(layout.size_bytes >
                layout.tables[MED_KIND_SHMEM] +
                    (uint64_t)largest.shmems * layout.row_bytes[MED_KIND_SHMEM]);
    assert_int_equal(layout.tables[MED_KIND_MUTEX] % 128, 0);
}

static void
limits_from_the_environment(void **state)
{
    med_limits limits;
    (void)state;
    med_log_level_set(MED_LOG_QUIET);
    (void)setenv("MEDLEY_MAX_NODES", "77", 1);
    (void)setenv("MEDLEY_MAX_MUTEXES", "many", 1);
    (void)setenv("MEDLEY_MAX_DOMAINS", "0", 1);
    (void)setenv("MEDLEY_MAX_PROCESSES", "99999999999", 1);
    med_limits_from_environment(&limits);
    assert_int_equal(limits.nodes, 77);
    assert_int_equal(limits.mutexes, med_limit_infos[MED_LIMIT_MUTEXES].standard);
    assert_int_equal(limits.domains, med_limit_infos[MED_LIMIT_DOMAINS].standard);
    assert_int_equal(limits.processes, med_limit_infos[MED_LIMIT_PROCESSES].standard);
    assert_true(med_limits_valid(&limits));
    limits.nodes = med_limit_infos[MED_LIMIT_NODES].largest + 1;
    assert_false(med_limits_valid(&limits));
}

/* Every kind has some in an image that says nothing. */
static void
limits_built_in(void **state)
{
    (void)state;
    assert_true(med_limits_valid(&med_limits_built_in));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_partition_is_accepted),
        cmocka_unit_test(each_wrong_field_is_refused),
        cmocka_unit_test(parts_do_not_overlap),
        cmocka_unit_test(limits_from_the_environment),
        cmocka_unit_test(limits_built_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
