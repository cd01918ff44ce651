/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a member offers to others of the tasks that it makes: so many, and the rest it executes at
 * once. Learned from how many they take, and from how long a task takes with their help: where that
 * is longer than one takes the member alone, since tasks are shorter than a theft, it offers none
 * for a while.
 *
 * All is its member's. Times are ticks of the processor, and compared with each other only.
 */
#ifndef MEDLEY_OMP_TASK_OFFER_H
#define MEDLEY_OMP_TASK_OFFER_H

#include <stdbool.h>
#include <stdint.h>

#ifndef MED_TASK_QUEUE
#define MED_TASK_QUEUE 1024u /* so many tasks a member's queue has at most: a power of two */
#endif

/* So many are enough where nobody takes any; */
#define MED_OFFER_LEAST (MED_TASK_QUEUE < 16 ? MED_TASK_QUEUE : 16u)
/* and so many where its own member takes them: what he takes nobody missed. */
#define MED_OFFER_FLOOR 3u

typedef struct med_task_offer {
    uintptr_t maker;      /* whose tasks it learns of */
    uint32_t enough;      /* so many, now: while it goes alone, none, */
    uint32_t enough_then; /* and this afterwards */
    bool is_begun;        /* a stretch; since then, */
    uint64_t since;       /* that is, */
    uint64_t at_once;     /* so many were executed at once, */
    uint64_t taken;       /* and these by others */
    uint64_t last;        /* how long one was in the last stretch with others; 0: not known */
    uint64_t with_others; /* in the better one of the last two */
    uint32_t alone;       /* stretches that it still goes alone; 0: it offers */
    uint32_t alone_next;  /* so many the next time, */
    uint32_t rests;       /* behind so many with others; */
    uint32_t rests_next;  /* and if that fails as well */
    bool drains;          /* others are still at what they took before */
} med_task_offer;

/* What was before tells nothing any more. */
void med_offer_begin(med_task_offer *offer);

/* It no longer goes alone. */
static inline void
med_offer_again(med_task_offer *offer)
{
    offer->alone = 0;
    offer->enough = offer->enough_then;
    offer->is_begun = false;
}

/* Another task makes some now: what is known of tasks tells nothing of those. */
static inline void
med_offer_change(med_task_offer *offer, uintptr_t maker)
{
    offer->maker = maker;
    offer->is_begun = false;
    if (offer->alone > 0) {
        med_offer_again(offer);
    }
}

/* The maker waits for what it has made: what it makes next may be of another kind, and some of it
 * may have to meet. */
static inline void
med_offer_pause(med_task_offer *offer, uintptr_t maker)
{
    if (offer->is_begun && offer->maker == maker) {
        med_offer_change(offer, maker);
    }
}

/* What nobody takes costs less where it is made. */
static inline void
med_offer_shrink(med_task_offer *offer)
{
    offer->enough -= offer->enough > MED_OFFER_LEAST;
}

/* It offers, nobody has taken any since it looked last, and it has enough: the next one is executed
 * at once. */
static inline void
med_offer_untouched(med_task_offer *offer, uintptr_t maker)
{
    if (offer->maker != maker) {
        med_offer_change(offer, maker);
    }
    med_offer_shrink(offer);
    offer->at_once++;
}

/* That many were taken since it looked last, and so many are left. True: the next one is executed
 * at once. */
bool med_offer_taken(med_task_offer *offer, uint32_t left, uint32_t taken);

/* A stretch with others is over, or none had begun. */
void med_offer_turn(med_task_offer *offer, uint64_t now);

/* The next one, while it goes alone. False: no longer. */
bool med_offer_goes_on(med_task_offer *offer, uint64_t now);

#define MED_OFFER_UNLOOKED 4u /* of so many it looks at the time before one */
static inline bool
med_offer_is_unlooked(med_task_offer *offer)
{
    bool is = offer->at_once % MED_OFFER_UNLOOKED != 0;
    offer->at_once += is;
    return is;
}

#endif
