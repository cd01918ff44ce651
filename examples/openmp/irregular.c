/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An irregular loop: rows of a picture of Mandelbrot's set. A point takes 1 to 1,000 steps, so rows
 * differ by a hundred times, and where the work is shifts along the loop. In fixed point: any
 * processor, with or without floating point, counts the same steps.
 */
#include "program.h"

#define STEPS_MAX 1000
#define ONE (INT64_C(1) << 28)

static const int sizes[] = {96, 384, 1536};

static int edge;
static long *steps; /* [row] */

static int
steps_of(int64_t x, int64_t y)
{
    int64_t a = 0, b = 0;
    int count = 0;
    for (; count < STEPS_MAX; count++) {
        int64_t aa = a * a / ONE, bb = b * b / ONE;
        if (aa + bb > 4 * ONE)
            break;
        b = 2 * a * b / ONE + y;
        a = aa - bb + x;
    }
    return count;
}

/* From -2 to 1 and from -1.5 to 1.5. */
static long
row_steps(int row)
{
    long sum = 0;
    for (int column = 0; column < edge; column++)
        sum += steps_of(3 * ONE * column / edge - 2 * ONE, 3 * ONE * row / edge - 3 * ONE / 2);
    return sum;
}

static void
run(void)
{
#pragma omp parallel for schedule(runtime)
    for (int row = 0; row < edge; row++)
        steps[row] = row_steps(row);
}

int
main(int argc, char **argv)
{
    static const program_about about = {"irregular", "rows of Mandelbrot's set",
                                        "points along an edge", 8, 20000};
    program irregular = program_begin(&about, argc, argv);
    long all = 0, wrong = 0;
    edge = irregular.class == PROGRAM_NO_CLASS ? (int)irregular.number : sizes[irregular.class];
    steps = program_memory((size_t)edge, sizeof *steps);
    for (int i = 0; i < irregular.repeat; i++) {
        memset(steps, 0, (size_t)edge * sizeof *steps);
        program_run_begin(&irregular);
        run();
        program_run_end(&irregular);
    }
    for (int row = 0; row < edge; row++) {
        all += steps[row];
        wrong += steps[row] != row_steps(row);
    }
    return program_end(&irregular, wrong == 0, "%ld steps in %d rows; %ld rows differ serially",
                       all, edge, wrong);
}
