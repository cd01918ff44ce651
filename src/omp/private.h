/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threadprivate variables, where the compiler does not use the threads' own memory for them: each
 * thread has a copy of its own, from its first use on until it ends; the first thread that OpenMP
 * met in the process has the variable itself.
 */
#ifndef MEDLEY_OMP_PRIVATE_H
#define MEDLEY_OMP_PRIVATE_H

#include <stddef.h>

struct med_member;
struct med_privates; /* a thread's; or NULL */

/* How a copy begins (NULL: as the variable was at the first use by anybody), and ends (or NULL). */
void med_private_register(void *variable, void *(*make)(void *copy), void (*destroy)(void *copy));
/* The copy of the thread that is that member. Ends the program when there is no memory. */
void *med_private_get(struct med_member *member, void *variable, size_t size_bytes);
/* The thread ends. */
void med_privates_destroy(struct med_privates *privates);

#endif
