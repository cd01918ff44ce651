/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Listing 1 of the paper on OpenMP over MRAPI: each element is the mean of two neighbours. */
#include "program.h"

#define PERIOD 1048576 /* all of these, and their means, are floats exactly */

static const int sizes[] = {1000000, 10000000, 100000000};

static void
sum(int n, float *a, float *b)
{
    int i;
#pragma omp parallel for
    for (i = 1; i < n; i++)
        b[i] = (a[i] + a[i - 1]) / 2.0f;
}

int
main(int argc, char **argv)
{
    static const program_about about = {"listing1", "means of neighbours", "elements", 2,
                                        1000000000};
    program listing1 = program_begin(&about, argc, argv);
    int n = listing1.class == PROGRAM_NO_CLASS ? (int)listing1.number : sizes[listing1.class];
    int wrong = 0;
    float *a = program_memory((size_t)n, sizeof *a);
    float *b = program_memory((size_t)n, sizeof *b);
    for (int i = 0; i < n; i++)
        a[i] = (float)(i % PERIOD);
    for (int i = 0; i < listing1.repeat; i++) {
        memset(b, 0, (size_t)n * sizeof *b);
        program_run_begin(&listing1);
        sum(n, a, b);
        program_run_end(&listing1);
    }
    for (int i = 1; i < n; i++) {
        double middle = i % PERIOD ? i % PERIOD - 0.5 : (PERIOD - 1) / 2.0;
        wrong += b[i] != middle;
    }
    bool good = wrong == 0 && b[0] == 0;
    free(a);
    free(b);
    return program_end(&listing1, good, "%d of %d means differ from the closed form", wrong, n);
}
