/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap memory of a runtime: whole lines, zeroed; apart where there are several memory nodes, of
 * which this program says how many there are (-Wl,--wrap); and next to who uses it. */
#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mrapi/heap_lent.h"
#include "support/policy.h"
#include "support/unit.h"

#define LINE 64u

uint32_t __wrap_med_port_memory_nodes(med_port_memory_kind kind, uint32_t *numbers, uint32_t room);

uint32_t
__wrap_med_port_memory_nodes(med_port_memory_kind kind, uint32_t *numbers, uint32_t room)
{
    (void)kind;
    (void)numbers;
    (void)room;
    return 2;
}

static void
is_zeroed_lines(const unsigned char *lent, size_t size_bytes)
{
    assert_non_null(lent);
    assert_int_equal((uintptr_t)lent % LINE, 0);
    for (size_t i = 0; i < size_bytes; i++) {
        assert_int_equal(lent[i], 0);
    }
}

static void
lines_are_lent_zeroed_and_shared_with_nobody(void **state)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 1 << 20};
    unsigned char *lent[2][sizeof sizes / sizeof sizes[0]];
    (void)state;
    for (int round = 0; round < 2; round++) { /* the second time of memory that was used before */
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            lent[0][i] = med_heap_lend(sizes[i]);
            lent[1][i] = med_heap_lend_apart(sizes[i]);
            for (int kind = 0; kind < 2; kind++) {
                size_t whole = (sizes[i] + LINE - 1) / LINE * LINE;
                is_zeroed_lines(lent[kind][i], whole);
                memset(lent[kind][i], 0xa5, whole);
            }
        }
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            med_heap_take_back(lent[0][i]);
            med_heap_take_back(lent[1][i]);
        }
    }
    med_heap_take_back(NULL);
}

static void
more_than_there_is_is_not_lent(void **state)
{
    (void)state;
    for (size_t less = 0; less <= 3 * LINE; less += LINE / 2) {
        assert_null(med_heap_lend(SIZE_MAX - less));
        assert_null(med_heap_lend_apart(SIZE_MAX - less));
    }
}

/* On which node the page is; a negative number: the kernel does not tell. */
static int
node_of(const void *address)
{
    void *page = (void *)((uintptr_t)address & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1));
    int node = -1;
    return syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0) == 0 ? node : -1;
}

static void
what_is_apart_comes_next_to_who_uses_it(void **state)
{
    const size_t size_bytes = 3 * (size_t)sysconf(_SC_PAGESIZE);
    unsigned processor, node;
    (void)state;
    if (syscall(SYS_get_mempolicy, NULL, NULL, 0, NULL, 0) != 0) {
        not_possible_here("no memory policies");
    }
    assert_int_equal(getcpu(&processor, &node), 0);
    unsigned char *lent = med_heap_lend_apart(size_bytes);
    memset(lent, 0x5a, size_bytes);
    med_heap_lent_move(lent);
    assert_int_equal(policy_at(lent), MPOL_PREFERRED);
    assert_int_equal(node_of(lent), node);
    for (size_t i = 0; i < size_bytes; i++) {
        assert_int_equal(lent[i], 0x5a);
    }
    med_heap_take_back(lent);
    lent = med_heap_lend(size_bytes);
    med_heap_lent_move(lent); /* of what others have in the same pages nothing moves */
    assert_int_equal(policy_at(lent), MPOL_DEFAULT);
    med_heap_take_back(lent);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_lent_zeroed_and_shared_with_nobody),
        cmocka_unit_test(more_than_there_is_is_not_lent),
        cmocka_unit_test(what_is_apart_comes_next_to_who_uses_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
