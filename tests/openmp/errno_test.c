/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A directive is no call that the program knows of: errno is behind it what it was before, whoever
 * was waited for, and whatever was started or asked of the system meanwhile. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/unit.h"

#define OWN 77 /* nothing that the system says */
#define THREADS 4
#define ROUNDS 3
/* So long one is kept waiting: he has slept, come up by himself and slept again by then, and it is
 * what the system says of that which may be left in errno. Nothing is taken to have happened
 * meanwhile: where it has not, there is only less to be found. */
#define LONG_US 5000

static int at_start;
static int changed;

static void
look(void)
{
    if (errno != OWN) {
#pragma omp atomic
        changed++;
        errno = OWN;
    }
}

/* One comes late, so that the others sleep. */
static void
come_late(int who)
{
    if (omp_get_thread_num() == who) {
        (void)usleep(LONG_US);
    }
    errno = OWN;
}

static void
at_main_it_is_zero(void **state)
{
    (void)state;
    assert_int_equal(at_start, 0);
}

static void
barriers(void **state)
{
    (void)state;
    changed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        errno = OWN;
#pragma omp parallel num_threads(THREADS)
        {
            come_late(round);
#pragma omp barrier
            look();
            come_late(0);
        }
        look();
    }
    assert_int_equal(changed, 0);
}

/* Of whatever size, threads are started and left. */
static void
teams(void **state)
{
    (void)state;
    changed = 0;
    errno = OWN;
    for (int threads = 1; threads <= 3 * THREADS; threads++) {
#pragma omp parallel num_threads(threads)
        {
#pragma omp single nowait
            errno = OWN;
#pragma omp parallel num_threads(2)
            come_late(1);
        }
        errno = OWN;
        omp_set_dynamic(threads % 2);
        look();
    }
    assert_int_equal(changed, 0);
}

static void
locks(void **state)
{
    (void)state;
    omp_lock_t lock;
    omp_init_lock(&lock);
    changed = 0;
#pragma omp parallel num_threads(THREADS)
    {
        errno = OWN;
#pragma omp critical
        {
            look();
            (void)usleep(LONG_US);
        }
        errno = OWN;
        omp_set_lock(&lock);
        look();
        (void)usleep(LONG_US);
        errno = OWN;
        omp_unset_lock(&lock);
        look();
    }
    omp_destroy_lock(&lock);
    assert_int_equal(changed, 0);
}

static void
turns(void **state)
{
    (void)state;
    changed = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < ROUNDS * THREADS; i++) {
            errno = OWN;
#pragma omp ordered
            {
                look();
                (void)usleep(LONG_US);
            }
        }
#pragma omp for ordered(1) schedule(static, 1)
        for (int i = 0; i < THREADS; i++) {
            errno = OWN;
#pragma omp ordered depend(sink : i - 1)
            look();
            (void)usleep(LONG_US);
#pragma omp ordered depend(source)
        }
    }
    assert_int_equal(changed, 0);
}

static void
make_long_tasks(void)
{
    for (int i = 0; i < THREADS; i++) {
#pragma omp task
        (void)usleep((unsigned)(i + 1) * LONG_US);
    }
    errno = OWN;
}

static void
tasks(void **state)
{
    (void)state;
    changed = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp single
        {
            make_long_tasks();
#pragma omp taskwait
            look();
#pragma omp taskgroup
            make_long_tasks();
            look();
        }
        errno = OWN;
#pragma omp barrier
        look();
    }
    assert_int_equal(changed, 0);
}

int
main(void)
{
    at_start = errno;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_main_it_is_zero),
        cmocka_unit_test(barriers),
        cmocka_unit_test(teams),
        cmocka_unit_test(locks),
        cmocka_unit_test(turns),
        cmocka_unit_test(tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
