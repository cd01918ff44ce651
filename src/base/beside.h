/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whether others compute on the processors where a process's threads, more than can run at once,
 * wait for each other and give way to each other. One who gives way to somebody who computes loses
 * a slice of that one's, and all who wait for him lose it, too; who sleeps instead is woken in
 * time. So what one has found holds for all:
 *
 *   nobody:    found -> others, for so long
 *   others:    that is over -> one tries; for all else it goes on
 *   one tries: found -> others, for twice as long; gone -> nobody; neither -> another one tries
 *
 * Of a process, by whatever thread; a child of fork goes on from what its parent had found.
 */
#ifndef MEDLEY_BASE_BESIDE_H
#define MEDLEY_BASE_BESIDE_H

#include <stdbool.h>

#include "base/atomic.h"

typedef enum med_beside {
    MED_BESIDE_NOBODY, /* who waits may give way */
    MED_BESIDE_OTHERS, /* he is to sleep at once */
    MED_BESIDE_TRY,    /* he is the one who tries: to give way, and say what came of it */
} med_beside;

extern atomic32 med_beside_until_ms; /* for med_beside_is_known alone */

/* What a wait that begins now is to do. */
med_beside med_beside_look(void);
/* Has somebody found others, since the wait began? */
static inline bool
med_beside_is_known(void)
{
    return atomic32_load_relaxed(&med_beside_until_ms) != 0; /* relaxed: it orders nothing */
}
/* Have they been found again and again? */
bool med_beside_stay(void);
/* A slice was lost to somebody, by one who tried, or not. */
void med_beside_found(bool tried);
/* Who tried lost none; */
void med_beside_gone(void);
/* or cannot tell: he had nobody to give way to, or slept in the end. */
void med_beside_untold(void);

#endif
