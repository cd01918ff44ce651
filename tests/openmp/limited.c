/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ten regions, every second one with as many threads as its argument says (0: as many as there are
 * without a word of it), each of which computes something: it prints how many threads the largest
 * region had, and ends with 0 if all computed what they should. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 1000

/* More than the smallest stack. */
static __thread volatile char own[256 << 10];

static int
one(void)
{
    own[sizeof own / 2] = 1;
    return own[sizeof own / 2];
}

static int
region(int threads)
{
    int came = 0;
    if (threads) {
#pragma omp parallel num_threads(threads) reduction(+ : came)
        came += one();
    } else {
#pragma omp parallel reduction(+ : came)
        came += one();
    }
    return came;
}

int
main(int count, char **words)
{
    int threads = count > 1 ? atoi(words[1]) : 0;
    int most = 0;
    for (int i = 0; i < 5; i++) {
        long sum = 0;
        int came = region(threads);
        most = came > most ? came : most;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
        for (int j = 0; j < COUNT; j++) {
            sum += j;
        }
        if (sum != COUNT * (COUNT - 1) / 2) {
            return 1;
        }
    }
    (void)printf("%d\n", most);
    return 0;
}
