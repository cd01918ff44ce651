/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Locks of OpenMP programs, and of critical constructs: base's lock, four bytes in place. There may
 * be any number of them; who sleeps for one sleeps in a table that all share. */
#ifndef MEDLEY_OMP_LOCK_H
#define MEDLEY_OMP_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "omp/team.h"

/* Blocks until the member has it. */
void med_omp_lock_set(med_lock *lock, med_member *member);
bool med_omp_lock_test(med_lock *lock, med_member *member);
void med_omp_lock_unset(med_lock *lock);

/* A lock of the runtime's own, which all threads of the process share. What it guards is whole
 * after each of its holder's steps, or is the program's. Zeroed: it is free. */
typedef struct med_own_lock {
    med_lock lock;
    atomic32 life; /* of the process, in which it was used last */
} med_own_lock;

/* To be set and unset. In a child of fork a thread may hold it that is not there: it is taken away
 * from that one first. */
med_lock *med_own_lock_here(med_own_lock *own);

/* Around an atomic construct that the processor has nothing for: one lock for all, of any face. */
void med_omp_atomic_begin(void);
void med_omp_atomic_end(void);
med_lock *med_omp_atomic_lock(void);

/* That its owner, a task, may set again. */
typedef struct med_nest_lock {
    med_lock lock;
    uint32_t count;    /* the owner's */
    atomic_word owner; /* which task; 0: nobody */
} med_nest_lock;

/* Each returns how often it is set now; 0: it is another's. */
uint32_t med_nest_lock_set(med_nest_lock *lock, med_member *member);
uint32_t med_nest_lock_test(med_nest_lock *lock, med_member *member);
/* True: it is nobody's any more. */
bool med_nest_lock_unset(med_nest_lock *lock);

#endif
