/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Offering goes by stretches. What was done in one is what was executed at once and what others
 * took. Where these took a fourth or more, the member tries to go alone, and does as long as it is
 * faster by an eighth than the better of the last two stretches with others: a long task ends that,
 * and others have missed a few. The first stretch may be slower, since they still are at what they
 * took, whose lines of memory all have in common. What it learns by offering again costs
 * microseconds: so the better it goes, the longer it goes alone; and the worse, the seldomer it
 * tries.
 *
 * All that is of the tasks that one task makes: those of a tree, whose branches differ as much as
 * can be, are offered as ever.
 */
#include "omp/task_offer.h"

#include "port/port.h"

#define WITH_OTHERS 32u /* tasks of a stretch; */
#define ALONE 64u       /* of one alone, */
#define ALONE_MOST 256u /* of which there are so many in a row; */
#define RESTS_MOST 32u  /* and stretches with others between two tries */
#define AHEAD 4u        /* tasks; so many slower it may be, */
#define AHEAD_DRAINING 32u

void
med_offer_begin(med_task_offer *offer)
{
    *offer = (med_task_offer){.enough = MED_OFFER_LEAST, .alone_next = 1};
}

static void
begin_stretch(med_task_offer *offer, uint64_t now)
{
    offer->is_begun = true;
    offer->at_once = 0;
    offer->taken = 0;
    offer->since = now;
}

/* ---- With others ----------------------------------------------------------------------------- */

/* Enough is what lasts others for as long as one that is executed instead: if they took half of it
 * meanwhile, twice as many will be. */
static void
adapt(med_task_offer *offer, uint32_t taken)
{
    if (taken >= offer->enough / 2) {
        offer->enough = offer->enough < MED_TASK_QUEUE / 2 ? offer->enough * 2 : MED_TASK_QUEUE;
    } else {
        med_offer_shrink(offer);
    }
}

bool
med_offer_taken(med_task_offer *offer, uint32_t left, uint32_t taken)
{
    adapt(offer, taken);
    offer->taken += taken;
    if (!offer->is_begun || offer->at_once + offer->taken >= WITH_OTHERS) {
        med_offer_turn(offer, med_port_cpu_ticks());
    }
    if (left < offer->enough) {
        return false;
    }
    offer->at_once++;
    return true;
}

static void
try_alone(med_task_offer *offer)
{
    if (offer->rests > 0) {
        offer->rests--;
        return;
    }
    offer->alone = offer->alone_next;
    offer->drains = true;
    offer->enough_then = offer->enough;
    offer->enough = 0;
}

void
med_offer_turn(med_task_offer *offer, uint64_t now)
{
    uint64_t done = offer->at_once + offer->taken;
    if (offer->is_begun && offer->taken >= done / 4) {
        uint64_t each = (now - offer->since) / done;
        offer->with_others = each < offer->last ? each : offer->last;
        offer->last = each;
        if (offer->with_others > 0) {
            try_alone(offer);
        }
    }
    begin_stretch(offer, now);
}

/* ---- Alone ----------------------------------------------------------------------------------- */

static void
fail(med_task_offer *offer)
{
    offer->alone_next = offer->alone_next > 4 ? offer->alone_next / 4 : 1;
    offer->rests = offer->rests_next;
    offer->rests_next = offer->rests < RESTS_MOST / 2 ? offer->rests * 2 + 1 : RESTS_MOST;
    med_offer_again(offer);
}

static void
succeed(med_task_offer *offer)
{
    offer->alone_next = offer->alone_next < ALONE_MOST ? offer->alone_next * 4 : ALONE_MOST;
    offer->rests_next = 0;
    offer->enough_then = MED_OFFER_LEAST;
    med_offer_again(offer);
}

static bool
is_faster(const med_task_offer *offer, uint64_t now)
{
    uint64_t each = offer->with_others - offer->with_others / 8;
    uint32_t ahead = offer->drains ? AHEAD_DRAINING : AHEAD;
    return now - offer->since < (offer->at_once + ahead) * each;
}

bool
med_offer_goes_on(med_task_offer *offer, uint64_t now)
{
    if (!is_faster(offer, now)) {
        fail(offer);
        return false;
    }
    if (offer->at_once >= ALONE) {
        offer->alone--;
        offer->drains = false;
        begin_stretch(offer, now);
    }
    if (offer->alone == 0) {
        succeed(offer);
        return false;
    }
    offer->at_once++;
    return true;
}
