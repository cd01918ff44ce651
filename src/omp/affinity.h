/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a thread's affinity is shown (OpenMP 5.1, section 6.14): by a format with fields. */
#ifndef MEDLEY_OMP_AFFINITY_H
#define MEDLEY_OMP_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>

#include "omp/team.h"

#define MED_AFFINITY_FORMAT_BYTES 512u

/* affinity-format-var: the program's; no thread may use it while another sets it. What is longer
 * than there is room for is cut off. */
const char *med_affinity_format(void);
void med_affinity_format_set(const char *format, size_t length);

/* As much of the member's as there is room for, with a NUL if there is any; how long the whole is.
 * `format` of no length: affinity-format-var. */
size_t med_affinity_capture(
    const med_member *member, char *text, size_t size_bytes, const char *format, size_t length);
/* A line of it, to standard error. */
void med_affinity_display(const med_member *member, const char *format, size_t length);

#endif
