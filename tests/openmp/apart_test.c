/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A new thread goes to a processor beside its starter's, and may run everywhere again at once; also
 * where the system refuses that at first. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "support/unit.h"

#define STARTS 30

static _Thread_local bool was_refused;
static atomic32 refused;

/* In the place of the C library's. What a thread asks for is refused once, if it is more than one
 * processor. */
int
pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
    (void)thread;
    if (CPU_COUNT_S(size, mask) > 1 && !was_refused) {
        was_refused = true;
        (void)atomic32_fetch_add_relaxed(&refused, 1);
        return 22;
    }
    return sched_setaffinity(0, size, mask) == 0 ? 0 : 22;
}

static int
processors(void)
{
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

static void
runs_everywhere(void **state)
{
    (void)state;
    int all = processors();
    if (all < 2) {
        not_possible_here("there is one processor");
    }
    for (int i = 0; i < STARTS; i++) {
        int bound = 0;
#pragma omp parallel num_threads(2) reduction(+ : bound)
        bound += processors() != all;
        assert_int_equal(bound, 0);
        assert_int_equal(omp_pause_resource_all(omp_pause_soft), 0);
    }
    print_message("%d of %d threads were refused it\n", (int)atomic32_load_relaxed(&refused),
                  STARTS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_everywhere)};
    return cmocka_run_group_tests_name("apart", tests, NULL, NULL);
}
