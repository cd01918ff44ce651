/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Three programs of tasks, of the kinds that BOTS has: Fibonacci numbers, a task for each call;
 * queens, a task for each place of one; LU of a matrix of blocks of which many are empty, a task
 * for each block. A program by itself, which openmp_tasks_bench runs on one runtime after the
 * other:
 *
 *   openmp_recursion THREADS REPETITIONS
 *
 * Writes the nanoseconds of each, the least of `REPETITIONS`, one line each. Exit: 1 when a result
 * is wrong.
 */
#include <math.h>
#include <string.h>

#include "openmp_measure.h"

#define FIB_OF 22
#define FIB 17711
#define QUEENS 8
#define SOLUTIONS 92
#define BLOCKS 20
#define EDGE 12 /* of a block */

/* ---- Fibonacci ------------------------------------------------------------------------------- */

static long
fib(int n)
{
    long a, b;
    if (n < 2) {
        return n;
    }
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static bool
fib_is_right(void)
{
    long found = 0;
#pragma omp parallel
#pragma omp single
    found = fib(FIB_OF);
    return found == FIB;
}

/* ---- Queens ---------------------------------------------------------------------------------- */

static bool
is_safe(int row, const char *columns)
{
    for (int i = 0; i < row; i++) {
        int apart = columns[row] - columns[i];
        if (apart == 0 || apart == row - i || apart == i - row) {
            return false;
        }
    }
    return true;
}

static long
queens(int row, const char *columns)
{
    long found[QUEENS] = {0}, sum = 0;
    if (row == QUEENS) {
        return 1;
    }
    for (char column = 0; column < QUEENS; column++) {
#pragma omp task shared(found) firstprivate(column)
        {
            char own[QUEENS];
            memcpy(own, columns, sizeof own);
            own[row] = column;
            if (is_safe(row, own)) {
                found[(int)column] = queens(row + 1, own);
            }
        }
    }
#pragma omp taskwait
    for (int i = 0; i < QUEENS; i++) {
        sum += found[i];
    }
    return sum;
}

static bool
queens_is_right(void)
{
    const char none[QUEENS] = {0};
    long found = 0;
#pragma omp parallel
#pragma omp single
    found = queens(0, none);
    return found == SOLUTIONS;
}

/* ---- LU of sparse blocks --------------------------------------------------------------------- */

typedef double block[EDGE][EDGE];

static block blocks[BLOCKS][BLOCKS];
static bool is_there[BLOCKS][BLOCKS];

static void
blocks_fill(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        for (int j = 0; j < BLOCKS; j++) {
            is_there[i][j] = i == j || (i * 7 + j * 3) % 5 == 0;
            for (int k = 0; k < EDGE * EDGE; k++) {
                double value = (double)((i * 31 + j * 17 + k * 13) % 101) / 101;
                blocks[i][j][k / EDGE][k % EDGE] =
                    !is_there[i][j] ? 0 : value + (i == j && k / EDGE == k % EDGE ? 1000 : 0);
            }
        }
    }
}

static void
diagonal_split(block a)
{
    for (int k = 0; k < EDGE; k++) {
        for (int i = k + 1; i < EDGE; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < EDGE; j++) {
                a[i][j] -= a[i][k] * a[k][j];
            }
        }
    }
}

static void
right_solve(block diagonal, block a)
{
    for (int k = 0; k < EDGE; k++) {
        for (int i = k + 1; i < EDGE; i++) {
            for (int j = 0; j < EDGE; j++) {
                a[i][j] -= diagonal[i][k] * a[k][j];
            }
        }
    }
}

static void
below_solve(block diagonal, block a)
{
    for (int i = 0; i < EDGE; i++) {
        for (int k = 0; k < EDGE; k++) {
            a[i][k] /= diagonal[k][k];
            for (int j = k + 1; j < EDGE; j++) {
                a[i][j] -= a[i][k] * diagonal[k][j];
            }
        }
    }
}

static void
inner_update(block left, block above, block a)
{
    for (int i = 0; i < EDGE; i++) {
        for (int k = 0; k < EDGE; k++) {
            for (int j = 0; j < EDGE; j++) {
                a[i][j] -= left[i][k] * above[k][j];
            }
        }
    }
}

static void
inner_tasks(int k)
{
    for (int i = k + 1; i < BLOCKS; i++) {
        for (int j = k + 1; j < BLOCKS; j++) {
            if (is_there[i][k] && is_there[k][j]) {
                is_there[i][j] = true;
#pragma omp task firstprivate(i, j, k)
                inner_update(blocks[i][k], blocks[k][j], blocks[i][j]);
            }
        }
    }
#pragma omp taskwait
}

static void
sparse_lu(void)
{
    for (int k = 0; k < BLOCKS; k++) {
        diagonal_split(blocks[k][k]);
        for (int i = k + 1; i < BLOCKS; i++) {
            if (is_there[k][i]) {
#pragma omp task firstprivate(i, k)
                right_solve(blocks[k][k], blocks[k][i]);
            }
            if (is_there[i][k]) {
#pragma omp task firstprivate(i, k)
                below_solve(blocks[k][k], blocks[i][k]);
            }
        }
#pragma omp taskwait
        inner_tasks(k);
    }
}

static double
element(int row, int column)
{
    return blocks[row / EDGE][column / EDGE][row % EDGE][column % EDGE];
}

/* With every element one, A x is the sums of A's rows, and so must L (U x) be. */
static bool
sparse_lu_is_right(void)
{
    enum {
        ROWS = BLOCKS * EDGE
    };
    double wanted[ROWS] = {0}, upper[ROWS] = {0};
    bool right = true;
    blocks_fill();
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
            wanted[i] += element(i, j);
        }
    }
#pragma omp parallel
#pragma omp single
    sparse_lu();
    for (int i = 0; i < ROWS; i++) {
        for (int j = i; j < ROWS; j++) {
            upper[i] += element(i, j);
        }
    }
    for (int i = 0; i < ROWS; i++) {
        double found = upper[i];
        for (int j = 0; j < i; j++) {
            found += element(i, j) * upper[j];
        }
        right = right && fabs(found - wanted[i]) <= 1e-10 * wanted[i];
    }
    return right;
}

/* ---- Measured -------------------------------------------------------------------------------- */

int
main(int argc, char **argv)
{
    static bool (*const programs[])(void) = {fib_is_right, queens_is_right, sparse_lu_is_right};
    int repetitions = measure_begin(argc, argv);
    for (int i = 0; i < 3; i++) {
        uint64_t least_ns = UINT64_MAX;
        for (int r = 0; r < repetitions; r++) {
            uint64_t begin_ns = delay_now_ns();
            if (!programs[i]()) {
                return 1;
            }
            uint64_t took_ns = delay_now_ns() - begin_ns;
            least_ns = took_ns < least_ns ? took_ns : least_ns;
        }
        (void)printf("%llu\n", (unsigned long long)least_ns);
    }
    return 0;
}
