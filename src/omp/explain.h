/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How the program's loops were shared out, written where MEDLEY_EXPLAIN says when the program ends:
 * what `medley explain` reads. A line of JSON for each loop, between a first and a last one; each
 * goes to the end of the file at once and names its process, so many may write one file.
 *
 * Loops for unlike cores are known anyway (schedule/site.h); others are noted for this only.
 */
#ifndef MEDLEY_OMP_EXPLAIN_H
#define MEDLEY_OMP_EXPLAIN_H

struct med_loop;
struct med_team;

/* While the environment is read, if it wants that: to this file. */
void med_explain_begin(const char *path);
/* A loop is begun, of a schedule that does not note itself. */
void med_explain_loop(const struct med_team *team, const struct med_loop *loop);

#endif
