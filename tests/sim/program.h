/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the simulator's program share. */
#ifndef MEDLEY_TESTS_SIM_PROGRAM_H
#define MEDLEY_TESTS_SIM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "run.h"

#define NAMES_MAX 32u
#define STEPS_MAX 200000u
#define WORLD_USUAL "sim_world"

typedef struct options {
    const char *names[NAMES_MAX];
    uint32_t name_count;
    uint64_t seeds;
    uint64_t first;
    uint64_t mutant_seeds;
    bool mutants;
    bool orders;
    const char *weaken; /* "file:line" */
    const char *world;  /* the name of its file */
    bool loud;
    bool list;
    bool help;
    sim_outcome *second; /* for another run while one's outcome is still needed */
} options;

#endif
