/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the simulator found, in words and source lines. */
#ifndef MEDLEY_TESTS_SIM_REPORT_H
#define MEDLEY_TESTS_SIM_REPORT_H

#include <stdint.h>

#include "program.h"

#define PLACE_FILE_BYTES 64

/* Where a site is in the sources: the innermost line that is not of the atomics' own header. */
typedef struct source_line {
    char file[PLACE_FILE_BYTES]; /* without its folder */
    char path[256];              /* from the root of the sources */
    uint32_t line;
    char function[64];
} source_line;

/* The program that the sites are of. */
void report_program(const char *program);
/* One run of addr2line for all. */
void report_lines(const uint32_t *sites, uint32_t count, source_line *lines);

/* Seed and failure, and how to see it again. */
void report_failure(const options *o,
                    const sim_scenario *scenario,
                    uint64_t seed,
                    const sim_outcome *outcome);
/* What happened last. */
void report_events(const sim_outcome *outcome);
/* The choices that led there. */
void report_plan(const sim_plan *plan);
const char *report_kind(sim_failure_kind kind);

#endif
