/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Segments at the addresses and on the memory where they are wanted. */
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include "port/linux/segment_test.h"
#include "port/port.h"
#include "support/emulated.h"
#include "support/process.h"
#include "support/unit.h"

/* ---- Where ----------------------------------------------------------------------------------- */

/* Somewhere that nothing is mapped. */
static uint64_t
hole(void)
{
    void *p = mmap(NULL, 16 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(munmap(p, 16 * SIZE), 0);
    return (uint64_t)(uintptr_t)p;
}

static void
mapped_where_wanted(const char *name)
{
    med_port_segment segment = segment_of(1);
    segment.beside = name;
    segment.wanted = hole();
    assert_int_equal(med_port_segment_create(&segment), MEDLEY_OK);
    if (name) {
        assert_int_equal(med_port_segment_map(&segment), MEDLEY_OK);
        med_port_segment_close(&segment);
    }
    assert_int_equal((uintptr_t)segment.address, segment.wanted);
    ((unsigned char *)segment.address)[0] = 7;
    /* Nothing is mapped over it. */
    med_port_segment over = segment;
    over.number = 2;
    medley_status_t status = med_port_segment_create(&over);
    if (name) {
        assert_int_equal(status, MEDLEY_OK);
        status = med_port_segment_map(&over);
    }
    assert_int_equal(status, MEDLEY_ERR_EXISTS);
    over.wanted++;
    if (name) {
        assert_int_equal(med_port_segment_map(&over), MEDLEY_ERR_ARGUMENT);
        med_port_segment_close(&over);
        over.number = 3;
    }
    assert_int_equal(med_port_segment_create(&over), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(((unsigned char *)segment.address)[0], 7);
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    med_port_segments_remove(shared_path(), 0);
}

static void
at_an_address(void **state)
{
    (void)state;
    mapped_where_wanted(shared_path());
    mapped_where_wanted(NULL);
}

static int
looks_at(test_process *parent, void *argument)
{
    unsigned char seen;
    (void)parent;
    return mincore(argument, 1, &seen) != 0 ? 0 : 1;
}

static void
not_inherited(void **state)
{
    test_process child;
    med_port_segment own = {.size_bytes = SIZE};
    (void)state;
    WITHOUT_WITHHOLDING_SKIP();
    med_port_segment segment = made(1);
    assert_int_equal(med_port_segment_create(&own), MEDLEY_OK);
    void *const both[] = {segment.address, own.address};
    for (int i = 0; i < 2; i++) {
        process_start(&child, looks_at, both[i]);
        assert_int_equal(process_join(&child), 0);
        med_port_segment_unmap(both[i], SIZE, MED_PORT_PLACE_ANY);
    }
}

/* What a sanitizer keeps of the memory would be touched for the first time, too. */
static __attribute__((no_sanitize("address"), no_sanitize("thread"))) long
faults_of_touching(volatile unsigned char *bytes, size_t size_bytes)
{
    struct rusage before, after;
    assert_int_equal(getrusage(RUSAGE_THREAD, &before), 0);
    for (size_t i = 0; i < size_bytes; i += EMULATED_PAGE) {
        bytes[i] = 1;
    }
    assert_int_equal(getrusage(RUSAGE_THREAD, &after), 0);
    return after.ru_minflt - before.ru_minflt;
}

/* From the middle of a page to the middle of another; and what is of this process alone. */
static void
ready_before_it_is_touched(void **state)
{
    enum {
        PAGES = 64,
        BYTES = PAGES * EMULATED_PAGE,
        HALF = EMULATED_PAGE / 2
    };
    const char *const names[] = {shared_path(), NULL};
    (void)state;
    WITHOUT_POPULATING_SKIP();
    for (size_t i = 0; i < 2; i++) {
        med_port_segment segment = segment_of(1);
        segment.beside = names[i];
        segment.size_bytes = BYTES;
        assert_int_equal(med_port_segment_create(&segment), MEDLEY_OK);
        if (names[i]) {
            assert_int_equal(med_port_segment_map(&segment), MEDLEY_OK);
            med_port_segment_close(&segment);
        }
        unsigned char *bytes = segment.address;
        assert_in_range(faults_of_touching(bytes + BYTES / 2, BYTES / 4), PAGES / 8, PAGES);
        med_port_segment_ready(bytes + HALF, BYTES / 2 - EMULATED_PAGE);
        assert_in_range(faults_of_touching(bytes, BYTES / 2), 0, 2);
        med_port_segment_unmap(bytes, BYTES, MED_PORT_PLACE_ANY);
        med_port_segments_remove(shared_path(), 0);
    }
}

/* Whoever asks, of however much. */
static void
at_no_programs_address(void **state)
{
    static const struct {
        uint64_t wanted;
        uint32_t size_bytes;
    } cases[] = {{UINT64_C(1) << 62, SIZE},
                 {UINT64_C(1) << 63, SIZE},
                 {UINT64_C(0xffffffffffff0000), SIZE},
                 {UINT64_C(0xffffffffffff0000), 65536}};
    const char *const names[] = {shared_path(), NULL};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t j = 0; j < 2; j++) {
            med_port_segment segment = segment_of(1);
            segment.beside = names[j];
            segment.wanted = cases[i].wanted;
            segment.size_bytes = cases[i].size_bytes;
            assert_int_equal(med_port_segment_create(&segment), MEDLEY_ERR_ARGUMENT);
            assert_non_null(strstr(segment.why, "no program"));
            assert_false(is_there(1));
        }
    }
}

/* ---- On what --------------------------------------------------------------------------------- */

/* Either it is had, and can be used, or it is not supported, with a reason. */
static bool
placed(const char *name, uint32_t place, uint32_t place_index)
{
    med_port_segment segment = segment_of(1);
    segment.beside = name;
    segment.place = place;
    segment.place_index = place_index;
    medley_status_t status = med_port_segment_create(&segment);
    if (status != MEDLEY_OK) {
        assert_int_equal(status, MEDLEY_ERR_NOT_SUPPORTED);
        assert_true(segment.why[0] != '\0');
        assert_false(is_there(1));
        return false;
    }
    if (name) {
        assert_int_equal(med_port_segment_map(&segment), MEDLEY_OK);
        med_port_segment_close(&segment);
        med_port_segment found = segment;
        assert_int_equal(med_port_segment_open(&found), MEDLEY_OK);
        med_port_segment_close(&found);
    }
    ((unsigned char *)segment.address)[SIZE - 1] = 1;
    med_port_segment_unmap(segment.address, SIZE, place);
    med_port_segments_remove(shared_path(), 0);
    return true;
}

static void
on_a_memory_node(void **state)
{
    (void)state;
    assert_false(placed(shared_path(), MED_PORT_PLACE_TIGHT, 0));
    assert_false(placed(shared_path(), MED_PORT_PLACE_NUMA, 1023));
    assert_false(placed(shared_path(), MED_PORT_PLACE_NUMA, 1024));
    assert_false(placed(NULL, MED_PORT_PLACE_NUMA, UINT32_MAX));
    if (!placed(shared_path(), MED_PORT_PLACE_NUMA, 0) || !placed(NULL, MED_PORT_PLACE_NUMA, 0)) {
        not_possible_here("no memory nodes");
    }
}

/* In the same words, whatever number is asked for. */
static void
on_a_memory_node_that_is_not_there(void **state)
{
    static const uint32_t numbers[] = {1023, 65535};
    (void)state;
    if (!placed(NULL, MED_PORT_PLACE_NUMA, 0)) {
        not_possible_here("no memory nodes");
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        med_port_segment segment = segment_of(1);
        segment.place = MED_PORT_PLACE_NUMA;
        segment.place_index = numbers[i];
        assert_int_equal(med_port_segment_create(&segment), MEDLEY_ERR_NOT_SUPPORTED);
        assert_string_equal(segment.why, "this machine has no such memory");
    }
}

/* A folder that is no tmpfs; NULL: there is none to be had. */
static const char *
folder_on_disk(char folder[32])
{
    static const char *const tried[] = {"./medley-XXXXXX", "/var/tmp/medley-XXXXXX"};
    for (size_t i = 0; i < 2; i++) {
        struct statfs found;
        (void)strcpy(folder, tried[i]);
        if (!mkdtemp(folder)) {
            continue;
        }
        if (statfs(folder, &found) == 0 && found.f_type != TMPFS_MAGIC) {
            return folder;
        }
        (void)rmdir(folder);
    }
    return NULL;
}

/* There a memory node would be ignored, and nobody told. */
static void
on_a_disk_there_is_no_place(void **state)
{
    char folder[32], beside[64];
    (void)state;
    if (!folder_on_disk(folder)) {
        not_possible_here("every folder is a tmpfs");
    }
    (void)snprintf(beside, sizeof beside, "%s/medley-1-" NAME, folder);
    med_port_segment segment = segment_of(1);
    segment.beside = beside;
    medley_status_t without = med_port_segment_create(&segment);
    med_port_segment_close(&segment);
    med_port_segments_remove(beside, 0);
    segment.place = MED_PORT_PLACE_NUMA;
    medley_status_t with = med_port_segment_create(&segment);
    assert_int_equal(rmdir(folder), 0); /* no file is left */
    assert_int_equal(without, MEDLEY_OK);
    assert_int_equal(with, MEDLEY_ERR_NOT_SUPPORTED);
    assert_non_null(strstr(segment.why, "tmpfs"));
}

static void
on_huge_pages(void **state)
{
    (void)state;
    bool of_process = placed(NULL, MED_PORT_PLACE_HUGE_PAGES, 0);
    bool of_file = placed(shared_path(), MED_PORT_PLACE_HUGE_PAGES, 0);
    if (!of_process || !of_file) {
        not_possible_here(of_process ? "no huge pages for files" : "no huge pages");
    }
}

static void
on_what_there_is_not(void **state)
{
    (void)state;
    assert_false(placed(shared_path(), MED_PORT_PLACE_TIGHT, 0));
    assert_false(placed(NULL, MED_PORT_PLACE_TIGHT, 0));
    assert_false(placed(shared_path(), MED_PORT_PLACE_COUNT, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(at_an_address, none_left),
        cmocka_unit_test_teardown(ready_before_it_is_touched, none_left),
        cmocka_unit_test_teardown(at_no_programs_address, none_left),
        cmocka_unit_test_teardown(not_inherited, none_left),
        cmocka_unit_test_teardown(on_a_memory_node, none_left),
        cmocka_unit_test_teardown(on_a_memory_node_that_is_not_there, none_left),
        cmocka_unit_test_teardown(on_a_disk_there_is_no_place, none_left),
        cmocka_unit_test_teardown(on_huge_pages, none_left),
        cmocka_unit_test_teardown(on_what_there_is_not, none_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
