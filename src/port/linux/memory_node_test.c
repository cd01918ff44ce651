/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory nodes: which there are and which of them are fast, on a machine laid over this one; where
 * the kernel was told that pages are to lie; pages that stay in memory. */
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "port/port.h"
#include "support/locked.h"
#include "support/mounts.h"
#include "support/policy.h"
#include "support/process.h"
#include "support/unit.h"

/* ---- Which there are: recorded trees, laid over the machine's own ---------------------------- */

typedef struct node_tree {
    const char *has_memory;
    const char *bandwidth[3]; /* of each node's, as its file has it; NULL: there is none */
    uint32_t fast;            /* nodes of high bandwidth, of those that this process may use: 0 */
} node_tree;

static const node_tree trees[] = {
    {"0-1\n", {"200000\n", "90000\n", NULL}, 1},
    {"0-1\n", {"90000\n", "200000\n", NULL}, 0}, /* the fast one is not ours */
    {"0-1\n", {"90000\n", "90000\n", NULL}, 0},
    {"0-1\n", {NULL, NULL, NULL}, 0},
    {"0\n", {"200000\n", NULL, NULL}, 0},
    {"0,2\n", {"200000\n", "300000\n", "90000\n"}, 1}, /* 1 has no memory */
    {"0-1\n", {"200000\n", NULL, NULL}, 0},            /* of 1 nothing is told */
};
#define TREES (sizeof trees / sizeof trees[0])
#define SYS_NODE "/sys/devices/system/node"

static void
text_write(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    child_expect(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(file);
}

static void
bandwidth_lay(int node, const char *bandwidth)
{
    char path[128];
    static const char *const folders[] = {"", "/access0", "/access0/initiators"};
    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, SYS_NODE "/node%d%s", node, folders[i]);
        child_expect(mkdir(path, 0700) == 0);
    }
    (void)snprintf(path, sizeof path, SYS_NODE "/node%d/access0/initiators/read_bandwidth", node);
    text_write(path, bandwidth);
}

static int
finds_the_fast(test_process *parent, void *argument)
{
    const node_tree *tree = argument;
    uint32_t numbers[2] = {77, 77};
    (void)parent;
    if (!mounts_of_ones_own() || mount("tmpfs", SYS_NODE, "tmpfs", 0, "size=1m") != 0 ||
        med_port_memory_nodes(MED_PORT_MEMORY_ALL, numbers, 2) != 1 || numbers[0] != 0) {
        return 77;
    }
    text_write(SYS_NODE "/has_memory", tree->has_memory);
    for (int i = 0; i < 3; i++) {
        if (tree->bandwidth[i]) {
            bandwidth_lay(i, tree->bandwidth[i]);
        }
    }
    numbers[0] = 77;
    uint32_t count = med_port_memory_nodes(MED_PORT_MEMORY_HIGH_BANDWIDTH, numbers, 2);
    child_expect(count == tree->fast && numbers[0] == (count ? 0 : 77));
    return 0;
}

static void
the_fast_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < TREES; i++) {
        test_process child;
        process_start(&child, finds_the_fast, (void *)(uintptr_t)&trees[i]);
        int status = process_join(&child);
        if (status == 77) {
            not_possible_here("no mounts of one's own, or several memory nodes");
        }
        assert_int_equal(status, 0);
    }
}

static void
no_more_are_written_than_there_is_room(void **state)
{
    uint32_t number = 77;
    (void)state;
    assert_true(med_port_memory_nodes(MED_PORT_MEMORY_ALL, &number, 0) >= 1);
    assert_int_equal(number, 77);
}

/* ---- Where pages are to lie ------------------------------------------------------------------ */

#define PAGES 5u

static void
pages_are_spread(void **state)
{
    static const struct {
        med_port_spread spread;
        int policy;
    } spreads[] = {{MED_PORT_SPREAD_NEAREST, MPOL_PREFERRED},
                   {MED_PORT_SPREAD_BLOCKED, MPOL_PREFERRED},
                   {MED_PORT_SPREAD_INTERLEAVED, MPOL_INTERLEAVE}};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t here[2], missing = 1023, beyond = UINT32_MAX;
    (void)state;
    (void)med_port_memory_nodes(MED_PORT_MEMORY_ALL, here, 1);
    here[1] = here[0]; /* two parts, though on one node */
    for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
        void *pages;
        assert_int_equal(med_port_memory_map(PAGES * page, &pages), MEDLEY_OK);
        medley_status_t status =
            med_port_memory_spread(pages, PAGES * page - 1, spreads[i].spread, here, 2);
        if (status == MEDLEY_ERR_NOT_SUPPORTED) {
            not_possible_here("no memory policies");
        }
        assert_int_equal(status, MEDLEY_OK);
        for (size_t p = 0; p < PAGES; p++) {
            assert_int_equal(policy_at((char *)pages + p * page), spreads[i].policy);
        }
        memset(pages, 1, PAGES * page);
        assert_int_equal(med_port_memory_spread(pages, page, spreads[i].spread, &missing, 1),
                         MEDLEY_ERR_NOT_SUPPORTED);
        assert_int_equal(med_port_memory_spread(pages, page, spreads[i].spread, &beyond, 1),
                         MEDLEY_ERR_NOT_SUPPORTED);
        assert_int_equal(med_port_memory_spread(pages, page, spreads[i].spread, here, 0),
                         MEDLEY_ERR_ARGUMENT);
        med_port_memory_unmap(pages, PAGES * page);
    }
}

/* ---- Pages that stay ------------------------------------------------------------------------- */

static int
pins(test_process *parent, void *argument)
{
    void *pages;
    (void)parent;
    (void)argument;
    long before = locked_kib();
    child_expect(med_port_memory_map(65536, &pages) == MEDLEY_OK);
    if (med_port_memory_pin(pages, 65536) != MEDLEY_OK) {
        return 77;
    }
    child_expect(locked_kib() == before + 64);
    med_port_memory_unmap(pages, 65536);
    child_expect(locked_kib() == before);
    return 0;
}

/* Of a user who may lock none. */
static int
pins_too_much(test_process *parent, void *argument)
{
    void *pages;
    (void)parent;
    (void)argument;
    if (!locked_forbid()) {
        return 77;
    }
    child_expect(med_port_memory_map(65536, &pages) == MEDLEY_OK);
    child_expect(med_port_memory_pin(pages, 65536) == MEDLEY_ERR_LIMIT);
    return 0;
}

static void
child_passes(int (*body)(test_process *parent, void *argument), const char *not_here)
{
    test_process child;
    process_start(&child, body, NULL);
    int status = process_join(&child);
    if (status == 77) {
        not_possible_here(not_here);
    }
    assert_int_equal(status, 0);
}

static void
pinned_pages_are_locked(void **state)
{
    (void)state;
    child_passes(pins, "no memory may be locked");
}

static void
who_may_lock_none_is_told(void **state)
{
    (void)state;
    child_passes(pins_too_much, "no other user");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fast_are_found),
        cmocka_unit_test(no_more_are_written_than_there_is_room),
        cmocka_unit_test(pages_are_spread),
        cmocka_unit_test(pinned_pages_are_locked),
        cmocka_unit_test(who_may_lock_none_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
