/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Segments: made, found and mapped by two processes, where and on what they are wanted; and all
 * that can be wrong with what lies under their names. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "port/port.h"
#include "support/emulated.h"
#include "support/mounts.h"
#include "support/process.h"
#include "support/unit.h"

#define NAME "segments.test"
#define INSTANCE UINT64_C(0x1234)
#define SIZE 10000u
#define SMALL_FOLDER_BYTES "65536"

/* Of the shared memory that they would lie beside. */
static const char *
shared_path(void)
{
    static char path[MED_PORT_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/medley-%u-" NAME, getenv("MEDLEY_SHM_DIR"),
                   (unsigned)geteuid());
    return path;
}

static med_port_segment
segment_of(uint32_t number)
{
    return (med_port_segment){
        .beside = shared_path(), .instance = INSTANCE, .number = number, .size_bytes = SIZE};
}

static const char *
path_of(uint32_t number)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/medley-%u+" NAME "+%016llx-%08x",
                   getenv("MEDLEY_SHM_DIR"), (unsigned)geteuid(), (unsigned long long)INSTANCE,
                   number);
    return path;
}

static bool
is_there(uint32_t number)
{
    struct stat st;
    return lstat(path_of(number), &st) == 0;
}

static int
none_left(void **state)
{
    (void)state;
    med_port_segments_remove(shared_path());
    return 0;
}

static med_port_segment
made(uint32_t number)
{
    med_port_segment segment = segment_of(number);
    assert_int_equal(med_port_segment_create(&segment), MEDLEY_OK);
    assert_null(segment.address);
    assert_int_equal(med_port_segment_map(&segment), MEDLEY_OK);
    med_port_segment_close(&segment);
    return segment;
}

/* ---- Made and found -------------------------------------------------------------------------- */

static int
finds(test_process *parent, void *argument)
{
    med_port_segment segment = segment_of(1);
    (void)argument;
    child_expect(med_port_segment_open(&segment) == MEDLEY_OK);
    child_expect(med_port_segment_map(&segment) == MEDLEY_OK);
    med_port_segment_close(&segment);
    unsigned char *bytes = segment.address;
    child_expect(bytes[0] == 1 && bytes[SIZE - 1] == 2);
    bytes[SIZE / 2] = 3;
    process_say(parent, 'w');
    return 0;
}

static void
shared_between_processes(void **state)
{
    test_process child;
    (void)state;
    med_port_segment segment = made(1);
    unsigned char *bytes = segment.address;
    assert_int_equal(bytes[0] | bytes[SIZE / 2] | bytes[SIZE - 1], 0);
    bytes[0] = 1;
    bytes[SIZE - 1] = 2;
    process_start(&child, finds, NULL);
    assert_int_equal(process_hear(&child), 'w');
    assert_int_equal(bytes[SIZE / 2], 3);
    assert_int_equal(process_join(&child), 0);
    /* The memory stays when the name goes. */
    med_port_segment_remove(shared_path(), INSTANCE, 1);
    assert_false(is_there(1));
    assert_int_equal(bytes[SIZE / 2], 3);
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    med_port_segment_remove(shared_path(), INSTANCE, 1);
}

static void
numbers_and_instances(void **state)
{
    med_port_segment again = segment_of(1);
    (void)state;
    med_port_segment first = made(1);
    assert_int_equal(med_port_segment_create(&again), MEDLEY_ERR_EXISTS);
    again.instance = INSTANCE + 1;
    assert_int_equal(med_port_segment_open(&again), MEDLEY_ERR_NOT_FOUND);
    assert_int_equal(med_port_segment_create(&again), MEDLEY_OK);
    med_port_segment_close(&again);
    /* Those of a name whose beginning is another's stay. */
    med_port_segments_remove("segments");
    med_port_segments_remove("segments.test2");
    assert_true(is_there(1));
    med_port_segments_remove(shared_path());
    assert_false(is_there(1));
    assert_int_equal(med_port_segment_open(&again), MEDLEY_ERR_NOT_FOUND);
    med_port_segment_unmap(first.address, SIZE, MED_PORT_PLACE_ANY);
}

static bool
sees_a_system(const char *name, void *context)
{
    (void)name;
    *(bool *)context = true;
    return true;
}

static void
no_shared_memory(void **state)
{
    bool seen = false;
    (void)state;
    med_port_segment segment = made(1);
    assert_int_equal(med_port_shared_list(sees_a_system, &seen), MEDLEY_OK);
    assert_false(seen);
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
}

/* ---- Of a wrong kind ------------------------------------------------------------------------- */

static void
of_another_size(void **state)
{
    med_port_segment segment = made(1);
    (void)state;
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    const uint32_t wrong[] = {1, 4096, 2 * SIZE, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        segment.size_bytes = wrong[i];
        assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_CORRUPT);
        assert_non_null(strstr(segment.why, path_of(1)));
    }
    segment.size_bytes = SIZE;
    assert_int_equal(truncate(path_of(1), 4096), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_CORRUPT);
}

static void
not_ours(void **state)
{
    med_port_segment segment = made(1);
    (void)state;
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    assert_int_equal(chmod(path_of(1), 0666), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
    med_port_segment_remove(shared_path(), INSTANCE, 1);
    assert_int_equal(symlink("/dev/zero", path_of(1)), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
    assert_int_equal(med_port_segment_create(&segment), MEDLEY_ERR_EXISTS);
    med_port_segment_remove(shared_path(), INSTANCE, 1);
    assert_int_equal(mkfifo(path_of(1), 0600), 0);
    assert_int_equal(med_port_segment_open(&segment), MEDLEY_ERR_ACCESS);
}

/* As a user who may not even open it. */
static int
may_not_open(test_process *parent, void *argument)
{
    med_port_segment segment = segment_of(1);
    bool is_root = geteuid() == 0;
    (void)parent;
    (void)argument;
    child_expect(chmod(path_of(1), 0) == 0);
    child_expect(!is_root || seteuid(65534) == 0);
    child_expect(med_port_segment_open(&segment) == MEDLEY_ERR_ACCESS);
    child_expect(strstr(segment.why, is_root ? "belongs to user 0" : "has mode 0000"));
    return 0;
}

static void
not_to_be_opened(void **state)
{
    test_process child;
    (void)state;
    med_port_segment segment = made(1);
    med_port_segment_unmap(segment.address, SIZE, MED_PORT_PLACE_ANY);
    process_start(&child, may_not_open, NULL);
    assert_int_equal(process_join(&child), 0);
}

static int
fills_a_small_folder(test_process *parent, void *argument)
{
    med_port_segment segment = segment_of(1);
    (void)parent;
    (void)argument;
    if (!mounts_of_ones_own() ||
        mount("none", getenv("MEDLEY_SHM_DIR"), "tmpfs", 0, "size=" SMALL_FOLDER_BYTES) != 0) {
        return 77;
    }
    segment.size_bytes = 1 << 20;
    child_expect(med_port_segment_create(&segment) == MEDLEY_ERR_NO_MEMORY);
    child_expect(segment.why[0] && !is_there(1));
    segment.place = MED_PORT_PLACE_NUMA;
    medley_status_t status = med_port_segment_create(&segment);
    child_expect(status == MEDLEY_ERR_NOT_SUPPORTED ||
                 (status == MEDLEY_ERR_NO_MEMORY && strstr(segment.why, strerror(ENOSPC))));
    child_expect(!is_there(1));
    segment.place = MED_PORT_PLACE_ANY;
    segment.size_bytes = SIZE;
    child_expect(med_port_segment_create(&segment) == MEDLEY_OK);
    return 0;
}

static void
a_full_folder(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, fills_a_small_folder, NULL);
    int result = process_join(&child);
    if (result == 77) {
        not_possible_here("no mounts of one's own");
    }
    assert_int_equal(result, 0);
}

/* Beyond it the kernel would send a signal that ends the program. */
static void
limit_of_file_size(void **state)
{
    static const med_port_place places[] = {MED_PORT_PLACE_ANY, MED_PORT_PLACE_NUMA};
    struct rlimit before;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit little = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        med_port_segment segment = segment_of(1);
        segment.place = places[i];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        medley_status_t status = med_port_segment_create(&segment);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, MEDLEY_ERR_NO_MEMORY);
        assert_string_equal(segment.why, "storage: File too large");
        assert_false(is_there(1));
    }
}

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
    med_port_segments_remove(shared_path());
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
    med_port_segments_remove(shared_path());
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
    med_port_segments_remove(beside);
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
        cmocka_unit_test_teardown(shared_between_processes, none_left),
        cmocka_unit_test_teardown(numbers_and_instances, none_left),
        cmocka_unit_test_teardown(no_shared_memory, none_left),
        cmocka_unit_test_teardown(of_another_size, none_left),
        cmocka_unit_test_teardown(not_ours, none_left),
        cmocka_unit_test_teardown(not_to_be_opened, none_left),
        cmocka_unit_test_teardown(a_full_folder, none_left),
        cmocka_unit_test_teardown(limit_of_file_size, none_left),
        cmocka_unit_test_teardown(at_an_address, none_left),
        cmocka_unit_test_teardown(at_no_programs_address, none_left),
        cmocka_unit_test_teardown(not_inherited, none_left),
        cmocka_unit_test_teardown(on_a_memory_node, none_left),
        cmocka_unit_test_teardown(on_a_disk_there_is_no_place, none_left),
        cmocka_unit_test_teardown(on_huge_pages, none_left),
        cmocka_unit_test_teardown(on_what_there_is_not, none_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
