/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Programs of OpenMP on one runtime after the other: ours, gcc's, and LLVM's by the names that gcc
 * calls. Each restart is a process of its own; which runtime it gets says LD_LIBRARY_PATH.
 */
#ifndef MEDLEY_BENCH_OPENMP_RUNTIMES_H
#define MEDLEY_BENCH_OPENMP_RUNTIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct openmp_runtime {
    const char *name;
    const char *libraries; /* LD_LIBRARY_PATH */
    const char *setting;   /* NULL, or NAME=VALUE for its environment */
} openmp_runtime;

#define OPENMP_RUNTIMES 3
extern const openmp_runtime openmp_runtimes[OPENMP_RUNTIMES]; /* ours is the first */
extern const openmp_runtime openmp_gcc_passive;

typedef struct openmp_run {
    pid_t process;
    FILE *output; /* what it writes */
} openmp_run;

/* How long their delay is, for all programs that are started from here on (openmp_delay.h). */
void openmp_delay_settle(void);
/* Starts a program of this build; false when it cannot be started. */
bool openmp_start(openmp_run *run, const openmp_runtime *runtime, const char *const *arguments);
/* Waits for it; whether it passed. */
bool openmp_end(openmp_run *run);
/* Runs one with two numbers and perhaps a word as arguments (NULL: none); reads `count` positive
 * numbers that it writes. */
bool openmp_values(const openmp_runtime *runtime,
                   const char *program,
                   uint32_t threads,
                   uint64_t repetitions,
                   const char *word,
                   double *values,
                   uint32_t count);
/* The geometric mean. */
double openmp_mean(const double *values, uint32_t count);

#endif
