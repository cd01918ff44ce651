/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions: all threads of a team execute them, of whatever size, one in the other, by whichever
 * thread of the program; and what goes by threads within them. */
#include <dirent.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "support/unit.h"

#define THREADS 6

static void
every_thread_comes(void **state)
{
    (void)state;
    for (int round = 0; round < 600; round++) {
        int size = 1 + round % THREADS;
        int came[THREADS] = {0};
        int wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
        {
            wrong += omp_get_num_threads() != size;
            came[omp_get_thread_num()]++;
        }
        assert_int_equal(wrong, 0);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(came[i], i < size);
        }
    }
}

static void
nobody_passes_a_barrier_alone(void **state)
{
    int came[THREADS] = {0};
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 1; round <= 500; round++) {
        came[omp_get_thread_num()] = round;
#pragma omp barrier
        for (int i = 0; i < omp_get_num_threads(); i++) {
            wrong += came[i] != round;
        }
#pragma omp barrier
    }
    assert_int_equal(wrong, 0);
}

static void
one_thread_executes_a_single(void **state)
{
    int executed = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < 2000; round++) {
#pragma omp single nowait
        {
#pragma omp atomic
            executed++;
        }
    }
    assert_int_equal(executed, 2000);
}

static void
a_single_gives_its_value_to_all(void **state)
{
    int wrong = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int round = 0; round < 500; round++) {
        int value;
#pragma omp single copyprivate(value)
        value = round * 7;
        wrong += value != round * 7;
    }
    assert_int_equal(wrong, 0);
}

static void
each_section_is_executed_once(void **state)
{
    int executed[3] = {0};
    (void)state;
    for (int round = 1; round <= 300; round++) {
#pragma omp parallel sections num_threads(1 + round % THREADS)
        {
#pragma omp section
            executed[0]++;
#pragma omp section
            executed[1]++;
#pragma omp section
            executed[2]++;
        }
#pragma omp parallel num_threads(2)
        {
#pragma omp sections
            {
#pragma omp section
                executed[0]++;
#pragma omp section
                executed[1]++;
            }
        }
        assert_int_equal(executed[0], 2 * round);
        assert_int_equal(executed[1], 2 * round);
        assert_int_equal(executed[2], round);
    }
}

static void
regions_stand_in_regions(void **state)
{
    (void)state;
    omp_set_max_active_levels(3);
    for (int round = 0; round < 50; round++) {
        int came = 0;
        int wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : came, wrong)
        {
            int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3) reduction(+ : came, wrong)
            {
                came++;
                wrong += omp_get_level() != 2 || omp_get_active_level() != 2;
                wrong += omp_get_team_size(1) != 2 || omp_get_team_size(2) != 3;
                wrong += omp_get_ancestor_thread_num(1) != outer;
                wrong += omp_get_ancestor_thread_num(0) != 0 || omp_get_team_size(3) != -1;
            }
        }
        assert_int_equal(came, 6);
        assert_int_equal(wrong, 0);
    }
    omp_set_max_active_levels(1);
    int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
    {
#pragma omp parallel num_threads(3) reduction(+ : inner)
        inner += omp_get_num_threads();
    }
    assert_int_equal(inner, 2);
    omp_set_max_active_levels(2);
    int nests = omp_get_nested(); /* out here; not where there are no more levels */
#pragma omp parallel num_threads(2) reduction(+ : nests)
    {
#pragma omp parallel num_threads(2) reduction(+ : nests)
        nests += omp_get_nested();
    }
    assert_int_equal(nests, 1);
    omp_set_max_active_levels(1);
}

/* What a task sets is its own: neither its leader nor its neighbours have it. */
static void
settings_are_the_tasks_own(void **state)
{
    int wrong = 0;
    (void)state;
    omp_set_num_threads(3);
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        wrong += omp_get_max_threads() != 3;
        omp_set_num_threads(10 + omp_get_thread_num());
#pragma omp barrier
        wrong += omp_get_max_threads() != 10 + omp_get_thread_num();
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(omp_get_max_threads(), 3);
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    wrong += omp_get_max_threads() != 3;
    assert_int_equal(wrong, 0);
}

static void *
leads_some(void *argument)
{
    long *sum = argument;
    for (int i = 0; i < 20; i++) {
        long part = 0;
#pragma omp parallel num_threads(3) reduction(+ : part)
        part += omp_get_thread_num() + 1;
        *sum += part;
    }
    return NULL;
}

static bool
is_of_a_team(const char *thread)
{
    char line[64] = "";
    char path[300];
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", thread);
    FILE *file = fopen(path, "r");
    bool is = file && fgets(line, sizeof line, file) && strncmp(line, "omp.", 4) == 0;
    if (file) {
        (void)fclose(file);
    }
    return is;
}

/* Those that the library started. */
static int
threads_of_teams(void)
{
    DIR *threads = opendir("/proc/self/task");
    int count = 0;
    assert_non_null(threads);
    for (const struct dirent *thread = readdir(threads); thread; thread = readdir(threads)) {
        count += is_of_a_team(thread->d_name);
    }
    (void)closedir(threads);
    return count;
}

/* A thread of the program that ends takes its teams with it. */
static void
teams_end_with_their_leader(void **state)
{
    (void)state;
#pragma omp parallel num_threads(3)
    __asm__ volatile("");
    int before = threads_of_teams();
    assert_int_equal(before, 2);
    for (int round = 0; round < 10; round++) {
        pthread_t threads[4];
        long sums[4] = {0};
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, leads_some, &sums[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(sums[i], 20 * 6);
        }
    }
    while (threads_of_teams() != before) { /* one that was joined may be counted for a while */
        (void)usleep(1000);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: of no other size was a team before. */
        cmocka_unit_test(teams_end_with_their_leader),
        cmocka_unit_test(every_thread_comes),
        cmocka_unit_test(nobody_passes_a_barrier_alone),
        cmocka_unit_test(one_thread_executes_a_single),
        cmocka_unit_test(a_single_gives_its_value_to_all),
        cmocka_unit_test(each_section_is_executed_once),
        cmocka_unit_test(regions_stand_in_regions),
        cmocka_unit_test(settings_are_the_tasks_own),
    };
    return cmocka_run_group_tests_name("teams", tests, NULL, NULL);
}
