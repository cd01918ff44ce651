/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whether the two processors that the benchmarks use are two cores or halves of one, which a
 * virtual machine often does not say: a loop that keeps a core's multipliers busy takes as long
 * beside another as alone on two cores, and up to twice as long on halves of one. No goal: it
 * belongs to what the report says of the machine.
 */
#include "bench.h"

#define ROUNDS 4000000u
#define CHAINS 4

typedef struct chains {
    uint64_t rounds;
    uint64_t ends[CHAINS];
} chains;

/* So many products that do not wait for each other. */
static void
multiply(void *argument)
{
    chains *c = argument;
    uint64_t at[CHAINS] = {1, 2, 3, 4};
    for (uint64_t i = 0; i < c->rounds; i++) {
        for (uint32_t k = 0; k < CHAINS; k++) {
            at[k] = at[k] * UINT64_C(6364136223846793005) + i;
        }
    }
    for (uint32_t k = 0; k < CHAINS; k++) {
        c->ends[k] = at[k];
    }
}

/* `context`: how many loops at once. value: until the last is through, ms */
static bool
measure(const bench *b, void *context, double *values)
{
    uint32_t count = *(const uint32_t *)context;
    chains loops[2] = {{.rounds = ROUNDS}, {.rounds = ROUNDS}};
    const bench_thread threads[] = {{multiply, &loops[0], 0, false},
                                    {multiply, &loops[1], 1, false}};
    values[0] = (double)bench_run(b, threads, count) / 1e6;
    return loops[0].ends[0] != 0 || bench_failed("loop", "its result is wrong");
}

int
main(int argc, char **argv)
{
    static uint32_t one = 1, two = 2;
    static const bench_subject subjects[] = {{"alone", measure, &one},
                                             {"beside another", measure, &two}};
    static const bench_question question = {.name = "a loop of multiplications",
                                            .setting = "one on each of two processors",
                                            .unit = "ms",
                                            .value_count = 1,
                                            .subjects = subjects,
                                            .subject_count = BENCH_COUNT(subjects)};
    bench b;
    bench_begin(&b, argc, argv, "machine_bench", "What the processors have in common");
    bench_ask(&b, &question);
    return bench_end(&b);
}
