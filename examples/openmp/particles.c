/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Charged particles in a cube of boxes, 100 in each: every one is pushed by those of its own box
 * and of the boxes beside it, with a force that falls off by a Gaussian, as in Rodinia's lavaMD.
 * A box is an iteration; those at the cube's faces, edges and corners have less to do.
 */
#include <math.h>

#include "program.h"

#define PARTICLES 100 /* in a box */
#define SHARPNESS 0.5
#define SEED 271828183u

typedef struct particle {
    double x, y, z, charge;
} particle;

typedef struct push {
    double energy, x, y, z;
} push;

static const int sizes[] = {3, 6, 10};

static int edge; /* boxes along it */
static particle (*particles)[PARTICLES];
static push (*pushes)[PARTICLES];

static void
particles_fill(void)
{
    uint64_t seed = SEED;
    for (int box = 0; box < edge * edge * edge; box++)
        for (int i = 0; i < PARTICLES; i++) {
            particle *p = &particles[box][i];
            p->x = box % edge + program_random(&seed);
            p->y = box / edge % edge + program_random(&seed);
            p->z = box / edge / edge + program_random(&seed);
            p->charge = program_random(&seed) + 0.1;
        }
}

static void
particle_push(const particle *a, const particle *others, push *sum)
{
    for (int j = 0; j < PARTICLES; j++) {
        const particle *b = &others[j];
        double x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
        double energy = exp(-SHARPNESS * (x * x + y * y + z * z));
        double force = 2 * SHARPNESS * energy * b->charge;
        sum->energy += b->charge * energy;
        sum->x += force * x;
        sum->y += force * y;
        sum->z += force * z;
    }
}

/* One function for all, so that the compiler has no two ways to compute it. */
__attribute__((noinline)) static void
box_push(int box, push *sums)
{
    int bx = box % edge, by = box / edge % edge, bz = box / edge / edge;
    memset(sums, 0, PARTICLES * sizeof *sums);
    for (int z = bz > 0 ? bz - 1 : 0; z <= bz + 1 && z < edge; z++)
        for (int y = by > 0 ? by - 1 : 0; y <= by + 1 && y < edge; y++)
            for (int x = bx > 0 ? bx - 1 : 0; x <= bx + 1 && x < edge; x++)
                for (int i = 0; i < PARTICLES; i++)
                    particle_push(&particles[box][i], particles[(z * edge + y) * edge + x],
                                  &sums[i]);
}

static void
run(void)
{
#pragma omp parallel for schedule(runtime)
    for (int box = 0; box < edge * edge * edge; box++)
        box_push(box, pushes[box]);
}

static bool
is_as_serial(void)
{
    bool same = true;
    for (int box = 0; box < edge * edge * edge && same; box++) {
        push sums[PARTICLES];
        box_push(box, sums);
        same = memcmp(sums, pushes[box], sizeof sums) == 0;
    }
    return same;
}

/* Every force has one against it: what all together push is nothing, beside what each does. */
static double
left_over(void)
{
    double all = 0, sum = 0;
    for (int box = 0; box < edge * edge * edge; box++)
        for (int i = 0; i < PARTICLES; i++) {
            sum += particles[box][i].charge * pushes[box][i].x;
            all += particles[box][i].charge * fabs(pushes[box][i].x);
        }
    return fabs(sum) / all;
}

int
main(int argc, char **argv)
{
    static const program_about about = {"particles", "charges in a cube of boxes",
                                        "boxes along an edge", 2, 50};
    program run_of = program_begin(&about, argc, argv);
    edge = run_of.class == PROGRAM_NO_CLASS ? (int)run_of.number : sizes[run_of.class];
    size_t boxes = (size_t)edge * (size_t)edge * (size_t)edge;
    particles = program_memory(boxes, sizeof *particles);
    pushes = program_memory(boxes, sizeof *pushes);
    particles_fill();
    for (int i = 0; i < run_of.repeat; i++) {
        memset(pushes, 0, boxes * sizeof *pushes);
        program_run_begin(&run_of);
        run();
        program_run_end(&run_of);
    }
    double rest = left_over();
    return program_end(&run_of, rest <= 1e-10 && is_as_serial(),
                       "each of %zu forces is that of serial execution, bit by bit; together they "
                       "are %.1e of them",
                       boxes * PARTICLES, rest);
}
