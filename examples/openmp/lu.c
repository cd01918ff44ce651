/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * LU: a dense matrix becomes the product of a lower and an upper triangular one, in place, by
 * blocks: the one on the diagonal, then those beside and below it, then all that is left. (NAS's
 * program of this name solves something else.)
 */
#include <math.h>

#include "program.h"

#define BLOCK 32
#define SEED 271828183u
#define VECTORS 3

static const int sizes[] = {256, 768, 1536};

static int n;
static double *matrix, *given; /* rows */

/* Its diagonal outweighs each row: no row needs to change its place. */
static void
matrix_fill(void)
{
    uint64_t seed = SEED;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            given[(long)i * n + j] = program_random(&seed) - 0.5 + (i == j ? n : 0);
}

static double *
block(int row, int column)
{
    return &matrix[((long)row * n + column) * BLOCK];
}

static void
diagonal_split(double *a)
{
    for (int k = 0; k < BLOCK; k++)
        for (int i = k + 1; i < BLOCK; i++) {
            a[(long)i * n + k] /= a[(long)k * n + k];
            for (int j = k + 1; j < BLOCK; j++)
                a[(long)i * n + j] -= a[(long)i * n + k] * a[(long)k * n + j];
        }
}

/* A block to the right of the diagonal one: of U. */
static void
right_solve(const double *diagonal, double *a)
{
    for (int k = 0; k < BLOCK; k++)
        for (int i = k + 1; i < BLOCK; i++)
            for (int j = 0; j < BLOCK; j++)
                a[(long)i * n + j] -= diagonal[(long)i * n + k] * a[(long)k * n + j];
}

/* A block below the diagonal one: of L. */
static void
below_solve(const double *diagonal, double *a)
{
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++) {
            a[(long)i * n + k] /= diagonal[(long)k * n + k];
            for (int j = k + 1; j < BLOCK; j++)
                a[(long)i * n + j] -= a[(long)i * n + k] * diagonal[(long)k * n + j];
        }
}

static void
inner_update(const double *left, const double *above, double *a)
{
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++)
            for (int j = 0; j < BLOCK; j++)
                a[(long)i * n + j] -= left[(long)i * n + k] * above[(long)k * n + j];
}

static void
run(void)
{
    int blocks = n / BLOCK;
#pragma omp parallel
    for (int k = 0; k < blocks; k++) {
#pragma omp single
        diagonal_split(block(k, k));
#pragma omp for schedule(runtime)
        for (int i = 2 * k + 2; i < 2 * blocks; i++) {
            if (i % 2 == 0)
                right_solve(block(k, k), block(k, i / 2));
            else
                below_solve(block(k, k), block(i / 2, k));
        }
#pragma omp for collapse(2) schedule(runtime)
        for (int i = k + 1; i < blocks; i++)
            for (int j = k + 1; j < blocks; j++)
                inner_update(block(i, k), block(k, j), block(i, j));
    }
}

/* ---- A x and L (U x) are the same ------------------------------------------------------------ */

static void
triangles_times(const double *x, double *product)
{
    double *upper = program_memory((size_t)n, sizeof *upper);
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            upper[i] += matrix[(long)i * n + j] * x[j];
    for (int i = 0; i < n; i++) {
        product[i] = upper[i];
        for (int j = 0; j < i; j++)
            product[i] += matrix[(long)i * n + j] * upper[j];
    }
    free(upper);
}

/* The largest difference, in units of n times the precision of what is added up. */
static double
residual(void)
{
    uint64_t seed = SEED + 2;
    double most = 0;
    double *x = program_memory((size_t)n, sizeof *x);
    double *product = program_memory((size_t)n, sizeof *product);
    for (int vector = 0; vector < VECTORS; vector++) {
        for (int i = 0; i < n; i++)
            x[i] = program_random(&seed) - 0.5;
        triangles_times(x, product);
        for (int i = 0; i < n; i++) {
            double sum = 0, size = 0;
            for (int j = 0; j < n; j++) {
                sum += given[(long)i * n + j] * x[j];
                size += fabs(given[(long)i * n + j] * x[j]);
            }
            double units = fabs(product[i] - sum) / (size * n * 2.2e-16);
            most = units <= most ? most : units; /* what is no number is the most */
        }
    }
    free(product);
    free(x);
    return most;
}

int
main(int argc, char **argv)
{
    static const program_about about = {"lu", "a dense matrix as L times U, by blocks of 32",
                                        "rows, rounded up to 32", 32, 20000};
    program lu = program_begin(&about, argc, argv);
    n = lu.class == PROGRAM_NO_CLASS ? (int)lu.number : sizes[lu.class];
    n = (n + BLOCK - 1) / BLOCK * BLOCK;
    size_t elements = (size_t)n * (size_t)n;
    given = program_memory(elements, sizeof *given);
    matrix = program_memory(elements, sizeof *matrix);
    matrix_fill();
    for (int i = 0; i < lu.repeat; i++) {
        memcpy(matrix, given, elements * sizeof *matrix);
        program_run_begin(&lu);
        run();
        program_run_end(&lu);
    }
    double units = residual();
    return program_end(&lu, units <= 1,
                       "A x is L (U x) for %d vectors x: residual %.3g of n times the precision, "
                       "1 allowed",
                       VECTORS, units);
}
