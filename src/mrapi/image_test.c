/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Images as texts in memory: what is read of a good one, and that no damage to it does harm. What
 * is said of wrong ones is in tests/tools/image_test.py. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mrapi/image.h"
#include "mrapi/mutex.h"
#include "mrapi/view.h"
#include "support/system.h"
#include "support/unit.h"

static const char good[] = "medley-system: 1\n"
                           "name: tower # by hand\n"
                           "on-death: fail\n"
                           "limits:\n"
                           "  nodes: 2\n"
                           "  rmem-attachments: 5\n"
                           "domains:\n"
                           "  - number: 3\n"
                           "endpoints:\n"
                           "  - port: 1073741823\n"
                           "    node: 4\n"
                           "    domain: 3\n"
                           "shmems:\n"
                           "  - number: 8\n"
                           "    domain: 3\n"
                           "    size: 4096\n"
                           "    resource: numa 2\n"
                           "    address: 0x7f0000000000\n"
                           "    nodes: [1, 4294967294]\n"
                           "mutexes:\n"
                           "  - number: 0\n"
                           "    domain: 3\n"
                           "    attributes: [ recursive,priority-inheritance ]";

static unsigned list[MED_IMAGE_LIST_ROOM];

static medley_status_t
open_text(const char *text, size_t length, med_image *image)
{
    /* Exactly so many bytes, so that ASan sees a look behind them. */
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    medley_status_t status = med_image_open_text("text", copy, (uint32_t)length, list, image);
    image->text = NULL;
    free(copy);
    return status;
}

static void
reads_items(void **state)
{
    med_image image;
    med_image_reader reader;
    med_image_item item;
    (void)state;
    assert_int_equal(med_image_open_text("text", good, sizeof good - 1, list, &image), MEDLEY_OK);
    assert_string_equal(image.name, "tower");
    assert_true(image.on_death_said && image.on_death == MED_ON_DEATH_FAIL);
    assert_int_equal(image.limits[MED_LIMIT_NODES], 2);
    assert_int_equal(image.limits[MED_LIMIT_RMEM_ATTACHMENTS], 5);
    assert_int_equal(image.limits[MED_LIMIT_MUTEXES], 0);
    med_image_rewind(&image, &reader);
    assert_int_equal(med_image_next(&reader, &item), MEDLEY_OK);
    assert_true(item.section == MED_IMAGE_DOMAINS && item.number == 3 && item.line == 8);
    assert_int_equal(med_image_next(&reader, &item), MEDLEY_OK);
    assert_true(item.section == MED_IMAGE_ENDPOINTS && item.number == 0x3fffffff);
    assert_true(item.node == 4 && item.domain == 3 && item.line == 10);
    assert_int_equal(med_image_next(&reader, &item), MEDLEY_OK);
    assert_true(item.section == MED_IMAGE_SHMEMS && item.number == 8 && item.domain == 3);
    assert_true(item.size_bytes == 4096 && item.address == UINT64_C(0x7f0000000000));
    assert_true(item.place == MED_PORT_PLACE_NUMA && item.place_index == 2);
    assert_int_equal(item.attributes, MED_MUTEX_DOMAIN_SHARED);
    assert_true(item.node_count == 2 && list[0] == 1 && list[1] == UINT32_MAX - 1);
    assert_int_equal(med_image_next(&reader, &item), MEDLEY_OK);
    assert_true(item.section == MED_IMAGE_MUTEXES && item.number == 0 && item.line == 21);
    assert_int_equal(item.attributes, MED_MUTEX_RECURSIVE | MED_MUTEX_PRIORITY_INHERITANCE);
    assert_int_equal(med_image_next(&reader, &item), MEDLEY_EMPTY);
    assert_int_equal(med_image_next(&reader, &item), MEDLEY_EMPTY);
}

static void
names_limits(void **state)
{
    static const char *const names[MED_LIMIT_COUNT] = {
        [MED_LIMIT_DOMAINS] = "domains",
        [MED_LIMIT_PROCESSES] = "processes",
        [MED_LIMIT_NODES] = "nodes",
        [MED_LIMIT_MUTEXES] = "mutexes",
        [MED_LIMIT_RMEMS] = "rmems",
        [MED_LIMIT_RMEM_ATTACHMENTS] = "rmem-attachments",
        [MED_LIMIT_SHMEMS] = "shmems",
        [MED_LIMIT_SEMAPHORES] = "semaphores",
        [MED_LIMIT_RWLOCKS] = "rwlocks",
        [MED_LIMIT_SHARERS] = "sharers",
        [MED_LIMIT_ENDPOINTS] = "endpoints",
        [MED_LIMIT_LANES] = "lanes",
        [MED_LIMIT_LANE_BYTES] = "lane-bytes",
        [MED_LIMIT_BUFFERS] = "buffers",
        [MED_LIMIT_BUFFER_BYTES] = "buffer-bytes",
    };
    (void)state;
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        char name[32];
        med_image_limit_name((med_limit)i, name);
        assert_string_equal(name, names[i]);
    }
}

static void
says_limits(void **state)
{
    med_image image;
    med_limits limits;
    (void)state;
    med_limits_from_environment(&limits);
    uint32_t mutexes = limits.mutexes;
    assert_int_equal(med_image_open_text("text", good, sizeof good - 1, list, &image), MEDLEY_OK);
    med_image_limits(&image, &limits);
    assert_true(limits.nodes == 2 && limits.mutexes == mutexes);
    assert_int_equal(med_image_check(&image, &limits), MEDLEY_OK);
    assert_false(image.refused);
    limits.nodes = 1; /* two are listed */
    assert_int_equal(med_image_check(&image, &limits), MEDLEY_ERR_ARGUMENT);
    assert_true(image.refused);
}

/* Cut anywhere, and with any byte anywhere, it is read or refused, within its bytes. */
static void
survives_damage(void **state)
{
    static const char bytes[] = {'\0', '\n', ' ', '#', ':', '-', '[', ']', ',', '9', 'x', '\xff'};
    char text[sizeof good];
    med_image image;
    uint32_t refused = 0;
    (void)state;
    for (size_t length = 0; length < sizeof good; length++) {
        refused += open_text(good, length, &image) != MEDLEY_OK;
    }
    assert_true(refused > 20);
    for (size_t at = 0; at + 1 < sizeof good; at++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            memcpy(text, good, sizeof good);
            text[at] = bytes[i];
            (void)open_text(text, sizeof good - 1, &image);
        }
    }
}

#define LIST_BEGINS                                                                                \
    "medley-system: 1\nshmems:\n  - number: 1\n    domain: 1\n    size: 1\n    nodes: ["

/* So many numbers, `first` and those that follow by `step`. */
static medley_status_t
open_list(uint32_t count, uint32_t first, uint32_t step)
{
    static char text[sizeof LIST_BEGINS + (MED_IMAGE_LIST_MAX + 1) * 8];
    med_image image;
    size_t length = sizeof LIST_BEGINS - 1;
    memcpy(text, LIST_BEGINS, length);
    for (uint32_t i = 0; i < count; i++) {
        length +=
            (size_t)sprintf(text + length, "%s%u", i ? ", " : "", (unsigned)(first + i * step));
    }
    text[length++] = ']';
    return open_text(text, length, &image);
}

static void
bounds_lists(void **state)
{
    (void)state;
    assert_int_equal(open_list(MED_IMAGE_LIST_MAX, 0, 1), MEDLEY_OK);
    assert_int_equal(open_list(MED_IMAGE_LIST_MAX + 1, 0, 1), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(open_list(MED_IMAGE_LIST_MAX, MED_IMAGE_LIST_MAX, UINT32_MAX), MEDLEY_OK);
}

/* In any order, which is kept, but each number once. */
static void
lists_nodes_once(void **state)
{
    static const struct {
        const char *list;
        bool good;
    } cases[] = {{"7]", true},           {"7, 7]", false},          {"5, 9, 2, 7]", true},
                 {"9, 5, 2, 9]", false}, {"1, 2, 3, 1]", false},    {"2, 1, 3, 3]", false},
                 {"3, 2, 1, 0]", true},  {"3, 2, 2, 1, 0]", false}, {"1, 0, 0]", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[sizeof LIST_BEGINS + 32] = LIST_BEGINS;
        med_image image;
        strcat(text, cases[i].list);
        assert_int_equal(open_text(text, strlen(text), &image),
                         cases[i].good ? MEDLEY_OK : MEDLEY_ERR_ARGUMENT);
        if (i == 2) {
            assert_true(list[0] == 5 && list[1] == 9 && list[2] == 2 && list[3] == 7);
        }
    }
}

/* All of it is there; or, when the last line is wrong, nothing, and the name is free. */
static void
makes_all_or_nothing(void **state)
{
    static const char small[] = "medley-system: 1\ndomains:\n  - number: 3\n"
                                "nodes:\n  - number: 1\n    domain: 3\n"
                                "mutexes:\n  - number: 5\n    domain: 3\n"
                                "shmems:\n  - number: 5\n    domain: 3\n    size: 100\n";
    static const char twice[] = "  - number: 5\n    domain: 3\n    size: 100\n";
    char text[sizeof small + sizeof twice];
    const char *name = test_system_name();
    bool inhabited;
    med_image image;
    med_system *system;
    (void)state;
    memcpy(text, small, sizeof small);
    memcpy(text + sizeof small - 1, twice, sizeof twice);
    assert_int_equal(med_image_open_text("text", text, (uint32_t)strlen(text), list, &image),
                     MEDLEY_OK);
    assert_int_equal(med_system_open_image(name, &image), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_view_inhabited(name, &inhabited), MEDLEY_ERR_NOT_FOUND);
    assert_int_equal(med_image_open_text("text", small, sizeof small - 1, list, &image), MEDLEY_OK);
    assert_int_equal(med_system_open_image(name, &image), MEDLEY_OK);
    assert_int_equal(med_system_open_image(name, &image), MEDLEY_BUSY);
    assert_int_equal(med_system_attach(name, &system), MEDLEY_OK);
    med_view_node node;
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        if (med_view_node_read(system, i, &node)) {
            nodes++;
            assert_true(node.state == MED_VIEW_NODE_EXPECTED && node.number == 1);
        }
    }
    assert_int_equal(nodes, 1);
    med_node_request request = {.domain = 3, .node = 1};
    med_self *self;
    med_handle mutex, shmem;
    assert_int_equal(med_node_register(system, &request, &self), MEDLEY_OK);
    med_node_enter(self);
    assert_int_equal(med_mutex_get(self, 5, &mutex), MEDLEY_OK);
    assert_int_equal(med_shmem_get(self, 5, &shmem), MEDLEY_OK);
    med_self *second;
    assert_int_equal(med_node_register(system, &request, &second), MEDLEY_ERR_EXISTS);
    med_node_leave(self);
    med_system_release(system);
    assert_int_equal(med_system_close(), MEDLEY_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_items),          cmocka_unit_test(names_limits),
        cmocka_unit_test(says_limits),          cmocka_unit_test(survives_damage),
        cmocka_unit_test(bounds_lists),         cmocka_unit_test(lists_nodes_once),
        cmocka_unit_test(makes_all_or_nothing),
    };
    test_system_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
