/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * CG of NAS's parallel benchmarks: the smallest eigenvalue of a large sparse matrix by inverse
 * power iteration; each of its steps solves a system by 25 steps of conjugate gradients. The
 * matrix is a sum of sparse outer products, as NAS defines it.
 */
#include <math.h>

#include "program.h"

#define STEPS 25
#define POWER_STEPS 15
#define SEED 314159265u
#define CONDITION 0.1 /* the reciprocal of the matrix's condition number */
#define NONZEROS_MAX 16

typedef struct problem {
    int rows, nonzeros; /* of a vector whose outer product is added */
    double shift;
    double zeta; /* as NAS published it */
} problem;

static const problem problems[] = {
    {1400, 7, 10, 8.5971775078648},
    {7000, 8, 12, 10.362595087124},
    {14000, 11, 20, 17.130235054029},
};

static int rows;
static long *row_begin; /* of a row: where its elements are in the next two */
static int *columns;
static double *elements;
static double *x, *z, *p, *q, *r;
static double rho, rho_before, p_q; /* scalar products, all threads' */

/* ---- The matrix ------------------------------------------------------------------------------ */

typedef struct sparse_vector {
    int count;
    int at[NONZEROS_MAX];
    double value[NONZEROS_MAX];
} sparse_vector;

static bool
has_element(const sparse_vector *v, int at)
{
    for (int i = 0; i < v->count; i++)
        if (v->at[i] == at)
            return true;
    return false;
}

/* Random elements at random places; that of its own row is 0.5, wherever it stands. */
static void
vector_fill(sparse_vector *v, int row, int nonzeros, uint64_t *seed)
{
    int power = 1;
    while (power < rows)
        power *= 2;
    v->count = 0;
    while (v->count < nonzeros) {
        double value = program_random(seed);
        int at = (int)(power * program_random(seed));
        if (at < rows && !has_element(v, at)) {
            v->at[v->count] = at;
            v->value[v->count++] = value;
        }
    }
    if (!has_element(v, row)) {
        v->at[v->count++] = row;
    }
    for (int i = 0; i < v->count; i++)
        if (v->at[i] == row)
            v->value[i] = 0.5;
}

static int
by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* A row's elements: of each vector that has one in this row, all elements, times that one. */
static long
row_add(const sparse_vector *vectors,
        const int *members,
        long count,
        int row,
        double shift,
        double *sums,
        long end)
{
    long begin = end;
    double ratio = pow(CONDITION, 1.0 / rows);
    for (long m = 0; m < count; m++) {
        const sparse_vector *v = &vectors[members[m]];
        double own = 0;
        for (int i = 0; i < v->count; i++)
            if (v->at[i] == row)
                own = v->value[i] * pow(ratio, members[m]);
        for (int i = 0; i < v->count; i++) {
            if (isnan(sums[v->at[i]])) {
                sums[v->at[i]] = 0;
                columns[end++] = v->at[i];
            }
            sums[v->at[i]] += v->value[i] * own;
        }
    }
    sums[row] += CONDITION - shift;
    qsort(&columns[begin], (size_t)(end - begin), sizeof *columns, by_number);
    for (long i = begin; i < end; i++) {
        elements[i] = sums[columns[i]];
        sums[columns[i]] = NAN; /* not there yet */
    }
    return end;
}

static void
matrix_fill(const problem *given)
{
    uint64_t seed = SEED;
    sparse_vector *vectors = program_memory((size_t)rows, sizeof *vectors);
    long *begin = program_memory((size_t)rows + 2, sizeof *begin);
    (void)program_random(&seed);
    for (int i = 0; i < rows; i++) {
        vector_fill(&vectors[i], i, given->nonzeros, &seed);
        for (int j = 0; j < vectors[i].count; j++)
            begin[vectors[i].at[j] + 2]++;
    }
    for (int i = 1; i <= rows; i++)
        begin[i + 1] += begin[i];
    int *members = program_memory((size_t)begin[rows + 1], sizeof *members);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors[i].count; j++)
            members[begin[vectors[i].at[j] + 1]++] = i;
    size_t most = (size_t)begin[rows] * (size_t)(given->nonzeros + 1);
    columns = program_memory(most, sizeof *columns);
    elements = program_memory(most, sizeof *elements);
    for (int i = 0; i < rows; i++)
        z[i] = NAN;
    for (int i = 0; i < rows; i++)
        row_begin[i + 1] = row_add(vectors, &members[begin[i]], begin[i + 1] - begin[i], i,
                                   given->shift, z, row_begin[i]);
    free(members);
    free(begin);
    free(vectors);
}

/* ---- The eigenvalue -------------------------------------------------------------------------- */

static double
row_times(long row, const double *vector)
{
    double sum = 0;
    for (long i = row_begin[row]; i < row_begin[row + 1]; i++)
        sum += elements[i] * vector[columns[i]];
    return sum;
}

/* One step of conjugate gradients, by all threads of a team. */
static void
step(void)
{
#pragma omp single
    {
        rho_before = rho;
        rho = p_q = 0;
    }
#pragma omp for schedule(runtime) reduction(+ : p_q)
    for (int i = 0; i < rows; i++) {
        q[i] = row_times(i, p);
        p_q += p[i] * q[i];
    }
    double alpha = rho_before / p_q;
#pragma omp for schedule(static) reduction(+ : rho)
    for (int i = 0; i < rows; i++) {
        z[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        rho += r[i] * r[i];
    }
    double beta = rho / rho_before;
#pragma omp for schedule(static)
    for (int i = 0; i < rows; i++)
        p[i] = r[i] + beta * p[i];
}

/* z from A z = x, about. */
static void
solve(void)
{
    rho = 0;
#pragma omp parallel
    {
#pragma omp for schedule(static) reduction(+ : rho)
        for (int i = 0; i < rows; i++) {
            z[i] = q[i] = 0;
            r[i] = p[i] = x[i];
            rho += x[i] * x[i];
        }
        for (int i = 0; i < STEPS; i++)
            step();
    }
}

static double
eigenvalue(double shift)
{
    double zeta = 0;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < rows; i++)
        x[i] = 1;
    for (int k = 0; k < POWER_STEPS; k++) {
        double x_z = 0, z_z = 0;
        solve();
#pragma omp parallel for schedule(static) reduction(+ : x_z, z_z)
        for (int i = 0; i < rows; i++) {
            x_z += x[i] * z[i];
            z_z += z[i] * z[i];
        }
        zeta = shift + 1 / x_z;
        double norm = 1 / sqrt(z_z);
#pragma omp parallel for schedule(static)
        for (int i = 0; i < rows; i++)
            x[i] = norm * z[i];
    }
    return zeta;
}

/* ---- Another way to the same ----------------------------------------------------------------- */

/* |A x - lambda x| / |lambda|, serially, where zeta is shift + 1 / lambda': x is near to that
 * eigenvector, however the iteration was run. For sizes that NAS has no zeta of. */
static double
residual(double zeta, double shift)
{
    double lambda = zeta - shift, sum = 0;
    for (int i = 0; i < rows; i++) {
        double difference = row_times(i, x) - lambda * x[i];
        sum += difference * difference;
    }
    return sqrt(sum) / fabs(lambda);
}

int
main(int argc, char **argv)
{
    static const program_about about = {"cg", "an eigenvalue by conjugate gradients, NAS CG",
                                        "rows of the matrix", 100, 1000000};
    program cg = program_begin(&about, argc, argv);
    problem given = {(int)cg.number, 7, 10, 0};
    if (cg.class != PROGRAM_NO_CLASS)
        given = problems[cg.class];
    rows = given.rows;
    row_begin = program_memory((size_t)rows + 1, sizeof *row_begin);
    double **vectors[] = {&x, &z, &p, &q, &r};
    for (int i = 0; i < 5; i++)
        *vectors[i] = program_memory((size_t)rows, sizeof(double));
    matrix_fill(&given);
    double zeta = 0;
    for (int i = 0; i < cg.repeat; i++) {
        program_run_begin(&cg);
        zeta = eigenvalue(given.shift);
        program_run_end(&cg);
    }
    if (cg.class == PROGRAM_NO_CLASS) {
        double rest = residual(zeta, given.shift);
        return program_end(&cg, rest <= 1e-3, "zeta %.13f; |A x - lambda x| / |lambda| %.3g", zeta,
                           rest);
    }
    return program_end(&cg, fabs(zeta - given.zeta) <= 1e-10 * given.zeta,
                       "zeta %.13f; NAS published %.13f, to 1e-10", zeta, given.zeta);
}
