/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is done once, by whichever thread comes first; zeroed: nobody has come. Who came may be a
 * thread that a child of fork does not have: there it is done from the beginning once more. */
#ifndef MEDLEY_OMP_ONCE_H
#define MEDLEY_OMP_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/wait.h"
#include "port/port.h"

typedef struct med_once {
    atomic32 state;
} med_once;

#define MED_ONCE_DONE 1u
#define MED_ONCE_BEGUN 2u /* and of which life of the process, on top */

/* True: the caller is to do it, and to say so by med_once_end. False: it is done. Blocks while
 * another is at it. */
static inline bool
med_once_begin(med_once *once)
{
    uint32_t pauses = 0;
    uint32_t seen;
    while ((seen = atomic32_load_acquire(&once->state)) !=
           MED_ONCE_DONE) { /* A1 done <- R1 (end) */
        uint32_t begun = (med_port_process_life() << 2) | MED_ONCE_BEGUN;
        /* Relaxed: one of them does it, and R1 tells. */
        if (seen != begun && atomic32_cas_relaxed(&once->state, &seen, begun)) {
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
