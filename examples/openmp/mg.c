/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MG of NAS's parallel benchmarks: the Poisson equation on a periodic cube, by V-cycles over grids
 * each half as fine as the one above. All operators weigh a point's 27 neighbours by how far they
 * are. A grid has a layer around it that repeats the other side.
 */
#include <math.h>

#include "program.h"

#define LEVELS_MAX 10
#define CYCLES 4
#define CHARGES 10 /* of each sign */
#define SEED 314159265u

typedef struct problem {
    int log2_points; /* along an edge */
    double norm;     /* of the residual, as NAS published it */
} problem;

static const problem problems[] = {
    {5, 0.5307707005734e-04},
    {7, 0.6467329375339e-05},
    {8, 0.2433365309069e-05},
};

typedef struct grid {
    int points; /* along an edge, without the layer around */
    double *u;  /* the solution */
    double *r;  /* the residual */
} grid;

/* By the number of coordinates in which a neighbour differs: 0, 1, 2, 3. */
static const double laplace[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
static const double smoother[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
static const double restriction[4] = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};

static int top; /* levels are 1 to top; 1 has 2 points along an edge */
static grid grids[LEVELS_MAX + 1];
static double *charges; /* the right side */

/* A grid as an array of planes of rows. */
#define CUBE(name, memory, edge) double(*(name))[edge][edge] = (double(*)[edge][edge])(memory)

/* ---- Rows and layers ------------------------------------------------------------------------- */

/* Of the four rows beside a row, and of the four at its corners: sums, point by point. */
static void
rows_add(int points, const double *memory, int plane, int row, double *beside, double *corners)
{
    int edge = points + 2;
    const double(*a)[edge][edge] = (const double(*)[edge][edge])memory;
    for (int i = 0; i < edge; i++) {
        beside[i] = a[plane][row - 1][i] + a[plane][row + 1][i] + a[plane - 1][row][i] +
                    a[plane + 1][row][i];
        corners[i] = a[plane - 1][row - 1][i] + a[plane - 1][row + 1][i] +
                     a[plane + 1][row - 1][i] + a[plane + 1][row + 1][i];
    }
}

/* What point i has around it, weighed. */
static inline double
weighed(const double *w, const double *row, const double *beside, const double *corners, int i)
{
    return w[0] * row[i] + w[1] * (row[i - 1] + row[i + 1] + beside[i]) +
           w[2] * (beside[i - 1] + beside[i + 1] + corners[i]) +
           w[3] * (corners[i - 1] + corners[i + 1]);
}

/* The layer around: what is on the other side. */
static void
layer_fill(int points, double *memory)
{
    int edge = points + 2;
    CUBE(a, memory, edge);
#pragma omp parallel
    {
#pragma omp for schedule(runtime)
        for (int plane = 1; plane <= points; plane++) {
            for (int row = 1; row <= points; row++) {
                a[plane][row][0] = a[plane][row][points];
                a[plane][row][points + 1] = a[plane][row][1];
            }
            memcpy(a[plane][0], a[plane][points], sizeof a[plane][0]);
            memcpy(a[plane][points + 1], a[plane][1], sizeof a[plane][0]);
        }
#pragma omp for schedule(runtime)
        for (int row = 0; row < edge; row++) {
            memcpy(a[0][row], a[points][row], sizeof a[0][row]);
            memcpy(a[points + 1][row], a[1][row], sizeof a[0][row]);
        }
    }
}

/* ---- Operators ------------------------------------------------------------------------------- */

/* r = v - A u; r may be v. */
static void
residual(int points, const double *u_memory, const double *v_memory, double *r_memory)
{
    int edge = points + 2;
    CUBE(r, r_memory, edge);
    const double(*u)[edge][edge] = (const double(*)[edge][edge])u_memory;
    const double(*v)[edge][edge] = (const double(*)[edge][edge])v_memory;
#pragma omp parallel for schedule(runtime)
    for (int plane = 1; plane <= points; plane++) {
        double beside[edge], corners[edge];
        for (int row = 1; row <= points; row++) {
            rows_add(points, u_memory, plane, row, beside, corners);
            for (int i = 1; i <= points; i++)
                r[plane][row][i] =
                    v[plane][row][i] - weighed(laplace, u[plane][row], beside, corners, i);
        }
    }
    layer_fill(points, r_memory);
}

/* u += S r */
static void
smooth(const grid *g)
{
    int points = g->points, edge = points + 2;
    CUBE(u, g->u, edge);
    CUBE(r, g->r, edge);
#pragma omp parallel for schedule(runtime)
    for (int plane = 1; plane <= points; plane++) {
        double beside[edge], corners[edge];
        for (int row = 1; row <= points; row++) {
            rows_add(points, g->r, plane, row, beside, corners);
            for (int i = 1; i <= points; i++)
                u[plane][row][i] += weighed(smoother, r[plane][row], beside, corners, i);
        }
    }
    layer_fill(points, g->u);
}

/* The residual, on the next coarser grid: its point i is point 2 i. */
static void
restrict_down(const grid *fine, const grid *coarse)
{
    int edge = fine->points + 2, coarse_edge = coarse->points + 2;
    CUBE(from, fine->r, edge);
    CUBE(to, coarse->r, coarse_edge);
#pragma omp parallel for schedule(runtime)
    for (int plane = 1; plane <= coarse->points; plane++) {
        double beside[edge], corners[edge];
        for (int row = 1; row <= coarse->points; row++) {
            rows_add(fine->points, fine->r, 2 * plane, 2 * row, beside, corners);
            for (int i = 1; i <= coarse->points; i++)
                to[plane][row][i] =
                    weighed(restriction, from[2 * plane][2 * row], beside, corners, 2 * i);
        }
    }
    layer_fill(coarse->points, coarse->r);
}

/* Adds a coarse row's sum over `count` rows to a fine row: points between two get the mean. */
static void
row_spread(const double *sum, double share, int coarse_points, double *fine)
{
    for (int i = 0; i <= coarse_points; i++) {
        fine[2 * i] += share * sum[i];
        fine[2 * i + 1] += share / 2 * (sum[i] + sum[i + 1]);
    }
}

/* The coarse solution is added to the finer one, linear in between. */
static void
interpolate_up(const grid *coarse, const grid *fine)
{
    int edge = fine->points + 2, coarse_edge = coarse->points + 2;
    CUBE(from, coarse->u, coarse_edge);
    CUBE(to, fine->u, edge);
#pragma omp parallel for schedule(runtime)
    for (int plane = 0; plane <= coarse->points; plane++) {
        double two[coarse_edge], four[coarse_edge], across[coarse_edge];
        for (int row = 0; row <= coarse->points; row++) {
            for (int i = 0; i < coarse_edge; i++) {
                two[i] = from[plane][row][i] + from[plane][row + 1][i];
                across[i] = from[plane][row][i] + from[plane + 1][row][i];
                four[i] = across[i] + from[plane][row + 1][i] + from[plane + 1][row + 1][i];
            }
            row_spread(from[plane][row], 1, coarse->points, to[2 * plane][2 * row]);
            row_spread(two, 0.5, coarse->points, to[2 * plane][2 * row + 1]);
            row_spread(across, 0.5, coarse->points, to[2 * plane + 1][2 * row]);
            row_spread(four, 0.25, coarse->points, to[2 * plane + 1][2 * row + 1]);
        }
    }
}

static double
norm(const grid *g)
{
    int points = g->points, edge = points + 2;
    CUBE(r, g->r, edge);
    double sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int plane = 1; plane <= points; plane++)
        for (int row = 1; row <= points; row++)
            for (int i = 1; i <= points; i++)
                sum += r[plane][row][i] * r[plane][row][i];
    return sqrt(sum / ((double)points * points * points));
}

static size_t
size_of(int points)
{
    size_t edge = (size_t)points + 2;
    return edge * edge * edge * sizeof(double);
}

/* ---- The cycle ------------------------------------------------------------------------------- */

static void
cycle(void)
{
    for (int level = top; level > 1; level--)
        restrict_down(&grids[level], &grids[level - 1]);
    memset(grids[1].u, 0, size_of(grids[1].points));
    smooth(&grids[1]);
    for (int level = 2; level <= top; level++) {
        grid *g = &grids[level];
        if (level < top)
            memset(g->u, 0, size_of(g->points));
        interpolate_up(&grids[level - 1], g);
        residual(g->points, g->u, level < top ? g->r : charges, g->r);
        smooth(g);
    }
}

static void
run(void)
{
    grid *g = &grids[top];
    residual(g->points, g->u, charges, g->r);
    for (int i = 0; i < CYCLES; i++) {
        cycle();
        residual(g->points, g->u, charges, g->r);
    }
}

/* ---- The problem ----------------------------------------------------------------------------- */

typedef struct place {
    double value;
    size_t at;
} place;

/* Keeps the `CHARGES` largest, the smallest of them first. */
static void
largest_keep(place *largest, double value, size_t at)
{
    int i = 0;
    if (value <= largest[0].value)
        return;
    for (; i + 1 < CHARGES && largest[i + 1].value < value; i++)
        largest[i] = largest[i + 1];
    largest[i] = (place){value, at};
}

/* Ten charges of each sign, where random numbers are largest and smallest. */
static void
charges_fill(int points)
{
    place high[CHARGES], low[CHARGES];
    uint64_t seed = SEED;
    size_t edge = (size_t)points + 2;
    for (int i = 0; i < CHARGES; i++)
        high[i] = low[i] = (place){-2, 0};
    for (size_t plane = 1; plane < edge - 1; plane++)
        for (size_t row = 1; row < edge - 1; row++)
            for (size_t i = 1; i < edge - 1; i++) {
                double value = program_random(&seed);
                largest_keep(high, value, (plane * edge + row) * edge + i);
                largest_keep(low, -value, (plane * edge + row) * edge + i);
            }
    memset(charges, 0, size_of(points));
    for (int i = 0; i < CHARGES; i++) {
        charges[high[i].at] = 1;
        charges[low[i].at] = -1;
    }
    layer_fill(points, charges);
}

static void
grids_make(void)
{
    for (int level = 1; level <= top; level++) {
        grids[level].points = 1 << level;
        grids[level].u = program_memory(1, size_of(grids[level].points));
        grids[level].r = program_memory(1, size_of(grids[level].points));
    }
    charges = program_memory(1, size_of(grids[top].points));
    charges_fill(grids[top].points);
}

/* For sizes without a published norm: the residual of what came out is the one told, and is small
 * beside that of nothing. */
static bool
is_small(double found)
{
    const grid *g = &grids[top];
    int points = g->points, edge = points + 2;
    CUBE(u, g->u, edge);
    CUBE(v, charges, edge);
    double sum = 0, all = 0, beside[edge], corners[edge];
    for (int plane = 1; plane <= points; plane++)
        for (int row = 1; row <= points; row++) {
            rows_add(points, g->u, plane, row, beside, corners);
            for (int i = 1; i <= points; i++) {
                double rest =
                    v[plane][row][i] - weighed(laplace, u[plane][row], beside, corners, i);
                sum += rest * rest;
                all += v[plane][row][i] * v[plane][row][i];
            }
        }
    double wanted = sqrt(sum / ((double)points * points * points));
    return fabs(found - wanted) <= 1e-8 * wanted && sum <= 1e-2 * all;
}

int
main(int argc, char **argv)
{
    static const program_about about = {"mg", "the Poisson equation by V-cycles, NAS MG",
                                        "2^N points along an edge", 3, LEVELS_MAX};
    program mg = program_begin(&about, argc, argv);
    problem given = {.log2_points = (int)mg.number};
    if (mg.class != PROGRAM_NO_CLASS)
        given = problems[mg.class];
    top = given.log2_points;
    grids_make();
    for (int i = 0; i < mg.repeat; i++) {
        memset(grids[top].u, 0, size_of(grids[top].points));
        program_run_begin(&mg);
        run();
        program_run_end(&mg);
    }
    double found = norm(&grids[top]);
    if (mg.class == PROGRAM_NO_CLASS)
        return program_end(&mg, is_small(found),
                           "norm of the residual %.13e, also serially, and by far smaller than "
                           "before",
                           found);
    return program_end(&mg, fabs(found - given.norm) <= 1e-8 * given.norm,
                       "norm of the residual %.13e; NAS published %.13e, to 1e-8", found,
                       given.norm);
}
