/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Members that are bound to no place, each on a processor of its own. */
#ifndef MEDLEY_OMP_APART_H
#define MEDLEY_OMP_APART_H

struct med_member;

/* The calling thread is that member's, and new. A system may start it on the processor of who
 * starts it, and does not see that two run there when they wait for each other often: they may stay
 * there together for long while another one idles. If so it goes to one beside, and may run
 * everywhere from there on, as before. */
void med_apart_begin(const struct med_member *member);
/* The calling thread is that member's, and has found one it waits for on its own processor. Later
 * too a system brings two together, and leaves them: another program wakes up for a moment where
 * one of them is. Each gives way to the other at once, so neither waits long, and it takes the
 * system up to 100 ms to part them. So now and then it goes to a processor where no member is, if
 * one may be idle. */
void med_apart_again(struct med_member *member);

#endif
