/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process forks between regions, with its teams' threads asleep or awake: parent, child and the
 * child's child go on with regions of their own. */
#include <omp.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

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

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_go_on)};
    return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
