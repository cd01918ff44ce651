/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many threads, as many as its argument says, that all need memory of the runtime's at once: for
 * tasks, with dependences, with data of any size, in groups that reduce; for teams of their own,
 * for target regions, for loops. It ends with 0 if all of it was done. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS 40

typedef struct large {
    char bytes[3000];
} large;

static int done;

static void
note(void)
{
#pragma omp atomic
    done++;
}

static void
tasks_of_all_kinds(void)
{
    large data = {{0}};
    int chain = 0, sum = 0;
    for (int i = 0; i < TASKS; i++) {
#pragma omp task
        note();
#pragma omp task depend(inout : chain) shared(chain)
        chain++;
#pragma omp task firstprivate(data)
        data.bytes[0]++;
    }
#pragma omp taskwait
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < TASKS; i++) {
#pragma omp task in_reduction(+ : sum)
        sum++;
    }
    if (chain != TASKS || sum != TASKS) {
        exit(1);
    }
}

static void
regions_within(void)
{
    int came = 0, on_host = 0;
#pragma omp parallel num_threads(2) reduction(+ : came)
    came++;
#pragma omp target map(tofrom : on_host)
    on_host = 1;
    if (came < 1 || !on_host) {
        exit(1);
    }
}

int
main(int count, char **words)
{
    int threads = count > 1 ? atoi(words[1]) : 1;
    int came = 0, iterations = 0;
    omp_set_max_active_levels(2);
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(threads) reduction(+ : came)
        {
            came++;
            tasks_of_all_kinds();
            regions_within();
#pragma omp for schedule(nonmonotonic : dynamic)
            for (int i = 0; i < 10000; i++) {
#pragma omp atomic
                iterations++;
            }
        }
    }
    (void)printf("%d\n", came / 2);
    return done == came * TASKS && iterations == 20000 ? 0 : 1;
}
