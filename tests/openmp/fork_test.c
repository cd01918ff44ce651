/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process forks between regions, with its teams' threads asleep or awake: parent, child and the
 * child's child go on with regions of their own; and so do they where they are nodes of MRAPI. */
#include <omp.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mrapi.h"
#include "support/unit.h"

static bool
regions_go(void)
{
    int came = 0;
    omp_set_max_active_levels(2);
    for (int size = 4; size > 0; size--) {
#pragma omp parallel num_threads(size) reduction(+ : came)
        {
#pragma omp parallel num_threads(2) reduction(+ : came)
            came++;
        }
    }
    return came == 2 * (4 + 3 + 2 + 1);
}

static bool
child_succeeds(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Regions in a child, and in its child, and so on. */
static bool
children_go(int generations)
{
    pid_t child = fork();
    if (child == 0) {
        bool good = regions_go() && (generations == 1 || children_go(generations - 1));
        _exit(good && regions_go() ? 0 : 1);
    }
    return child_succeeds(child);
}

static void
all_go_on(void **state)
{
    (void)state;
#ifdef MEDLEY_TEST_EMULATED
    not_possible_here("the emulator ends at times where a child of several threads starts its own");
#endif
    for (int i = 0; i < 20; i++) {
        assert_true(regions_go());
        if (i % 4 == 3) {
            (void)usleep(20000); /* the teams' threads are asleep by then, as a rule */
        }
        assert_true(children_go(3));
    }
}

/* Who is a node, and forks with teams about: the child is none, and has no team; it may become one
 * of its own. Whichever of the two came first in the program. */
static bool
initialize(mrapi_node_t node)
{
    mrapi_info_t info;
    mrapi_status_t status;
    mrapi_initialize(1, node, 0, &info, &status);
    return status == MRAPI_SUCCESS;
}

static bool
is_no_node(void)
{
    mrapi_status_t status;
    (void)mrapi_node_id_get(&status);
    return status == MRAPI_ERR_NODE_NOTINIT;
}

static bool
nodes_and_teams_fork(bool node_first)
{
    bool good = node_first ? initialize(1) && regions_go() : regions_go() && initialize(1);
    pid_t child = fork();
    if (child == 0) {
        _exit(is_no_node() && regions_go() && initialize(2) && regions_go() ? 0 : 1);
    }
    return child_succeeds(child) && good && regions_go() && !is_no_node();
}

static void
nodes_go_on(void **state)
{
    (void)state;
#ifdef MEDLEY_TEST_EMULATED
    not_possible_here("the emulator ends at times where a child of several threads starts its own");
#endif
    for (int node_first = 0; node_first < 2; node_first++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(nodes_and_teams_fork(node_first) ? 0 : 1);
        }
        assert_true(child_succeeds(child));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nodes_go_on), cmocka_unit_test(all_go_on)};
    return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
