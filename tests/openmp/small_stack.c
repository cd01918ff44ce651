/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions, one inside of another one, each of threads bound to places; loops, tasks and a reduction
 * in them. It needs next to nothing of a stack, so that what is needed is the runtime's: with 0 it
 * ends when all that was done. */
#include <omp.h>

#define THREADS 3
#define ROUNDS 20

static int done;

static void
inner(void)
{
#pragma omp parallel num_threads(THREADS) proc_bind(close)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < THREADS; i++) {
#pragma omp atomic
            done++;
        }
#pragma omp task
        {
#pragma omp atomic
            done++;
        }
    }
}

int
main(void)
{
    int came = 0;
    omp_set_max_active_levels(2);
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(THREADS) proc_bind(spread) reduction(+ : came)
        {
            came++;
            inner();
        }
    }
    return came == ROUNDS * THREADS && done == ROUNDS * THREADS * 2 * THREADS ? 0 : 1;
}
