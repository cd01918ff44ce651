/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program as anybody writes it, in what C and C++ have in common: regions, loops, tasks, locks of
 * both kinds, thread-private variables. It ends with 0 if all came out right. Some of its functions
 * have names that the library has inside, too. */
#include <omp.h>
#include <stdio.h>

#define THREADS 4
#define COUNT 1000

static int mine;
#pragma omp threadprivate(mine)

int med_team_run(int a);
int med_wait_until(int a);
int now_set_lock(int a);

int
med_team_run(int a)
{
    return a + 1;
}

int
med_wait_until(int a)
{
    return med_team_run(a) + 1;
}

int
now_set_lock(int a)
{
    return med_wait_until(a) + 1;
}

static long
fibonacci(int n)
{
    long a, b;
    if (n < 2) {
        return n;
    }
#pragma omp task shared(a)
    a = fibonacci(n - 1);
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static int
locks(void)
{
    struct {
        omp_nest_lock_t nest;
        long guard; /* a lock that is larger than the library thinks would be here */
        omp_lock_t lock;
    } l;
    int count = 0, nested = 0;
    l.guard = 77;
    omp_init_lock(&l.lock);
    omp_init_nest_lock(&l.nest);
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < COUNT; i++) {
        omp_set_nest_lock(&l.nest);
        omp_set_nest_lock(&l.nest);
        nested++;
        omp_unset_nest_lock(&l.nest);
        omp_unset_nest_lock(&l.nest);
        omp_set_lock(&l.lock);
        count++;
        omp_unset_lock(&l.lock);
    }
    omp_destroy_nest_lock(&l.nest);
    omp_destroy_lock(&l.lock);
    return l.guard == 77 && count == nested ? count : -1;
}

int
main(void)
{
    long sum = 0, tree = 0;
    int kept = 0, threads = 0, max = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum) reduction(max : max)
    {
        mine = omp_get_thread_num();
        max = omp_get_num_threads();
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < COUNT; i++) {
            sum += i;
        }
#pragma omp for schedule(guided) ordered
        for (int i = 0; i < COUNT; i++) {
#pragma omp ordered
            threads += i;
        }
#pragma omp single
        tree = fibonacci(15);
    }
#pragma omp parallel num_threads(THREADS) reduction(+ : kept)
    kept += mine == omp_get_thread_num();
    (void)printf("sum %ld, tree %ld, kept %d, team %d, locked %d, own %d\n", sum, tree, kept, max,
                 locks(), now_set_lock(0));
    return sum != COUNT * (COUNT - 1) / 2 || threads != sum || tree != 610 || kept != THREADS ||
           max != THREADS || locks() != THREADS * COUNT || now_set_lock(0) != 3;
}
