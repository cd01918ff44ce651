/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is done once, by whichever thread comes first; zeroed: nobody has come. */
#ifndef MEDLEY_OMP_ONCE_H
#define MEDLEY_OMP_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/wait.h"

typedef struct med_once {
    atomic32 state;
} med_once;

#define MED_ONCE_BEGUN 1u
#define MED_ONCE_DONE 2u

/* True: the caller is to do it, and to say so by med_once_end. False: it is done. Blocks while
 * another is at it. */
static inline bool
med_once_begin(med_once *once)
{
    uint32_t pauses = 0;
    while (atomic32_load_acquire(&once->state) != MED_ONCE_DONE) { /* A1 done <- R1 (end) */
        uint32_t none = 0;
        /* Relaxed: one of them does it, and R1 tells. */
        if (atomic32_cas_relaxed(&once->state, &none, MED_ONCE_BEGUN)) {
            return true;
        }
        med_wait_pause(&pauses);
    }
    return false;
}

static inline void
med_once_end(med_once *once)
{
    atomic32_store_release(&once->state, MED_ONCE_DONE); /* R1 done -> A1 (begin) */
}

#endif
