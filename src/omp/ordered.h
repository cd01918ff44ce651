/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ordered loops: whose turn it is. For work.c, which shares the iterations out, and cancel.c; the
 * ordered parts themselves are in work.h. */
#ifndef MEDLEY_OMP_ORDERED_H
#define MEDLEY_OMP_ORDERED_H

struct med_member;
struct med_team;
struct med_work;

/* The loop is ordered, and its units are known: who begins it says whose turn is the first. */
void med_ordered_begin(struct med_work *work);
/* Nobody is in that place of the ring any more. */
void med_ordered_end(struct med_work *work);
/* The member has other units now. */
void med_ordered_take(struct med_member *member);
/* The member's units are done, if it has some: those behind them may have their turn. Blocks until
 * its own has come. */
void med_ordered_pass_on(struct med_member *member);
/* Who waits for his turn looks once more: the region is cancelled. */
void med_ordered_wake(struct med_team *team);

#endif
