/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Black-Scholes: prices of European options, 100 passes over all of them, as PARSEC's program of
 * that name does. The normal distribution is a polynomial (Abramowitz and Stegun 26.2.17, within
 * 7.5e-8); what is verified are the prices by the C library's erfc, serially.
 */
#include <math.h>

#include "program.h"

#define PASSES 100
#define SEED 271828183u

typedef struct option {
    double spot, strike, rate, volatility, years;
    bool is_put;
} option;

static const long sizes[] = {4096, 16384, 65536};

static long count;
static option *options;
static double *sums; /* of an option's prices in all passes: what one pass leaves out is missed */

static double
between(uint64_t *seed, double least, double most)
{
    return least + (most - least) * program_random(seed);
}

static void
options_fill(void)
{
    uint64_t seed = SEED;
    for (long i = 0; i < count; i++) {
        options[i].spot = between(&seed, 20, 120);
        options[i].strike = options[i].spot * between(&seed, 0.7, 1.3);
        options[i].rate = between(&seed, 0.01, 0.1);
        options[i].volatility = between(&seed, 0.1, 0.6);
        options[i].years = between(&seed, 0.1, 2);
        options[i].is_put = program_random(&seed) < 0.5;
    }
}

static double
normal_polynomial(double x)
{
    double k = 1 / (1 + 0.2316419 * fabs(x));
    double sum = k * (0.319381530 + k * (-0.356563782 +
                                         k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    double tail = 0.3989422804014327 * exp(-x * x / 2) * sum;
    return x < 0 ? tail : 1 - tail;
}

static double
normal_exact(double x)
{
    return erfc(-x * 0.7071067811865476) / 2;
}

static double
price(const option *o, double (*normal)(double))
{
    double spread = o->volatility * sqrt(o->years);
    double drift = (o->rate + o->volatility * o->volatility / 2) * o->years;
    double d1 = (log(o->spot / o->strike) + drift) / spread;
    double d2 = d1 - spread;
    double later = o->strike * exp(-o->rate * o->years);
    return o->is_put ? later * normal(-d2) - o->spot * normal(-d1)
                     : o->spot * normal(d1) - later * normal(d2);
}

static void
run(void)
{
    for (int pass = 0; pass < PASSES; pass++) {
#pragma omp parallel for schedule(runtime)
        for (long i = 0; i < count; i++)
            sums[i] += price(&options[i], normal_polynomial);
    }
}

static double
error_most(void)
{
    double most = 0;
    for (long i = 0; i < count; i++) {
        double wanted = price(&options[i], normal_exact);
        double error = fabs(sums[i] / PASSES - wanted) / options[i].strike;
        most = error > most ? error : most;
    }
    return most;
}

int
main(int argc, char **argv)
{
    static const program_about about = {"blackscholes", "prices of European options, 100 passes",
                                        "options", 10, 10000000};
    program blackscholes = program_begin(&about, argc, argv);
    count =
        blackscholes.class == PROGRAM_NO_CLASS ? blackscholes.number : sizes[blackscholes.class];
    options = program_memory((size_t)count, sizeof *options);
    sums = program_memory((size_t)count, sizeof *sums);
    options_fill();
    for (int i = 0; i < blackscholes.repeat; i++) {
        memset(sums, 0, (size_t)count * sizeof *sums);
        program_run_begin(&blackscholes);
        run();
        program_run_end(&blackscholes);
    }
    double most = error_most();
    return program_end(&blackscholes, most <= 4e-7,
                       "%ld prices by erfc, serially: they differ by %.1e of the strike at most, "
                       "4e-7 allowed",
                       count, most);
}
