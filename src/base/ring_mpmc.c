/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and many consumers. What may run together: everything, but for two
 * threads with one side.
 *
 * The word of a slot is the truth, and says for which lap, in what state, and whose claim it is:
 *
 *   FREE(lap)  -> WRITING(lap, side)   reserve
 *              -> FULL(lap)            commit
 *              -> READING(lap, side)   take
 *              -> FREE(lap + 1)        release
 *   WRITING    -> SKIP(lap)            cancel, recover
 *   SKIP(lap)  -> FREE(lap + 1)        take, in passing
 *   READING    -> FREE(lap + 1)        recover; or READING of the recovering side, first
 *
 * tail and head only say where to look. Whoever finds that the slot at tail is claimed for this
 * lap, or past it, moves tail on by one, whoever claimed it; likewise head. So slots are reserved
 * in the order of tail, and taken in the order of head; and a side that is killed between claiming
 * a slot and moving on is helped by the next.
 *
 *   operation          takes effect (linearisation)          progress
 *   reserve            the compare-and-swap to WRITING,      lock-free
 *                      which is its place in the order
 *   commit, cancel,    the store of the word                 wait-free but for a kernel wake
 *   release
 *   take               the compare-and-swap to READING       lock-free, but blocked behind a slot
 *                                                            that is WRITING
 *   recover            its compare-and-swap, slot by slot    wait-free: once around the ring
 *   reserve_until,     as reserve, take                      blocking
 *   take_until
 *
 * Each try of reserve and take ends: after so many failures as are possible without a peer that
 * scribbles, or the bad luck of losing each race, it says MEDLEY_BUSY.
 *
 * Death. Of a producer between reserve and commit: its slot stays WRITING, and consumers wait
 * before it, until recover makes it SKIP. Of a consumer between take and release: its slot stays
 * READING; the others go on, until producers come around to it and find the ring full; recover
 * frees it. Elsewhere: nothing is left but the side's owner. Recover frees the side last, so that
 * it is begun again by the next should it be cut short. Two that recover at once may differ in
 * pace: the slower one looks, after it read a claim, whether the side is still the dead owner's: a
 * new owner joins before it claims (R4/A4), and the lap in the word keeps an old claim from being
 * mistaken for a new one. What the old owner stored to slots comes before all that is done there
 * for the new one, should that one die as well (R5/A5): else a store of his that is late would undo
 * the claim of a third.
 *
 * The lap has 21 bits, or as many as the index leaves. Somebody who sleeps over exactly 2^21 laps
 * between reading a word and its compare-and-swap may claim a slot ahead of tail: nothing is lost,
 * but his next element may overtake that one.
 *
 * Trust. Every view keeps the shape privately (ring_mpmc_make.c); every index is masked by it.
 * Words that no correct peer leaves are MEDLEY_ERR_CORRUPT.
 *
 * Model: models/mpmc.pml, and models/wait.pml for the sleep. ring_stress_test.c drives the code,
 * under TSan too, and ring_mpmc_death_test.c kills sides.
 */
#include "base/ring_mpmc_slot.h"

/* ---- Sides ----------------------------------------------------------------------------------- */

medley_status_t
med_ring_mpmc_join(med_ring_mpmc_side *side, const med_ring_mpmc_view *view, uint32_t owner)
{
    if (owner == 0) {
        return MEDLEY_ERR_ARGUMENT;
    }
    for (uint32_t number = 0; number < view->sides; number++) {
        uint32_t nobody = 0;
        /* A5 side left <- R5 (leave). Relaxed: it is for who recovers this one, to whom a death
         * shows all that was seen here. */
        if (atomic32_cas_relaxed(&view->owners[number], &nobody, owner)) {
            *side = (med_ring_mpmc_side){.view = *view, .number = number, .owner = owner};
            return MEDLEY_OK;
        }
    }
    return MEDLEY_ERR_LIMIT;
}

medley_status_t
med_ring_mpmc_leave(med_ring_mpmc_side *side)
{
    uint32_t owner = side->owner;
    if (side->has_reserved) {
        med_ring_mpmc_reserve_cancel(side);
    }
    if (side->has_taken) {
        med_ring_mpmc_release(side);
    }
    /* R5 side left -> A5 (join) */
    return atomic32_cas_release(&side->view.owners[side->number], &owner, 0) ? MEDLEY_OK
                                                                             : MEDLEY_ERR_NOT_OWNER;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* As many as it can take to bring a counter that stands a lap behind up to date, and some more for
 * races that are lost. */
static uint32_t
attempts(const med_ring_mpmc_view *view)
{
    return 2 * view->mask + 1024;
}

static void
move_on(atomic32 *counter, uint32_t index)
{
    /* R3 slot claimed -> A3 (reserve, take): who sees the counter sees the words before it, as did
     * who read `index` from it. */
    (void)atomic32_cas_release(counter, &index, index + 1);
}

static bool
claim(const med_ring_mpmc_side *side, uint32_t index, uint32_t word, uint32_t state)
{
    uint32_t desired = mpmc_word_of(&side->view, index, 0, state, side->number);
    /* A1 slot filled <- R1 (commit); A2 slot free <- R2 (release, recover, skip);
     * R4 side joined -> A4 (recover) */
    return atomic32_cas_acq_rel(mpmc_slot_word(&side->view, index), &word, desired);
}

/* `index` was read from the counter, and then a word that allows nothing: is that the present? A
 * word of a later lap is seen together with a later counter, from which it was claimed. */
static bool
is_present(const atomic32 *counter, uint32_t index)
{
    return atomic32_load_relaxed(counter) == index; /* relaxed: A1 or A2 came before */
}

/* Why there is no room at tail, whose slot is still in the lap before. */
static medley_status_t
why_full(uint32_t word)
{
    switch (mpmc_state_of(word)) {
    case MPMC_WRITING:
    case MPMC_FULL:
    case MPMC_SKIP:
        return MEDLEY_FULL;
    case MPMC_READING:
        return MEDLEY_FULL_CONSUMER_READING;
    default:
        return MEDLEY_ERR_CORRUPT;
    }
}

medley_status_t
med_ring_mpmc_reserve(med_ring_mpmc_side *side, void **slot)
{
    const med_ring_mpmc_view *view = &side->view;
    atomic32 *tail = &view->ring->tail;
    for (uint32_t left = attempts(view); left && !side->has_reserved; left--) {
        uint32_t index = atomic32_load_acquire(tail); /* A3 slot claimed <- R3 (move_on) */
        /* A2 slot free <- R2 (release, recover, skip); A1 slot filled <- R1 (commit): is_present */
        uint32_t word = atomic32_load_acquire(mpmc_slot_word(view, index));
        int32_t lead = mpmc_lead_of(view, word, index);
        if (lead == 0 && mpmc_state_of(word) == MPMC_FREE) {
            if (claim(side, index, word, MPMC_WRITING)) {
                side->reserved = index;
                side->has_reserved = true;
                move_on(tail, index);
            }
        } else if (lead == 0 || lead == 1) {
            move_on(tail, index);
        } else if (is_present(tail, index)) {
            return lead == -1 ? why_full(word) : MEDLEY_ERR_CORRUPT;
        }
    }
    if (!side->has_reserved) {
        return MEDLEY_BUSY;
    }
    *slot = mpmc_slot_element(view, side->reserved);
    return MEDLEY_OK;
}

static void
reserved_becomes(med_ring_mpmc_side *side, uint32_t state)
{
    const med_ring_mpmc_view *view = &side->view;
    uint32_t word = mpmc_word_of(view, side->reserved, 0, state, 0);
    side->has_reserved = false;
    /* R1 slot filled -> A1 (take, reserve) */
    atomic32_store_release(mpmc_slot_word(view, side->reserved), word);
    med_wait_wake(&view->ring->data, view->scope);
}

void
med_ring_mpmc_commit(med_ring_mpmc_side *side)
{
    reserved_becomes(side, MPMC_FULL);
}

void
med_ring_mpmc_reserve_cancel(med_ring_mpmc_side *side)
{
    reserved_becomes(side, MPMC_SKIP);
}

/* What there is to be had at head, whose slot's word leads by `lead`. MEDLEY_OK: nothing any more,
 * head has to move on. */
static medley_status_t
why_empty(uint32_t word, int32_t lead)
{
    uint32_t state = mpmc_state_of(word);
    if (lead == 1 || (lead == 0 && state == MPMC_READING)) {
        return MEDLEY_OK;
    }
    if (lead == 0 && state == MPMC_WRITING) {
        return MEDLEY_EMPTY_PRODUCER_INSERTING;
    }
    /* A lap behind: the consumer of the lap before is slow, and nobody could reserve it yet. */
    if ((lead == 0 && state == MPMC_FREE) || (lead == -1 && state == MPMC_READING)) {
        return MEDLEY_EMPTY;
    }
    return MEDLEY_ERR_CORRUPT;
}

/* Passes over a slot that will not be filled: `word` was acquired. */
static void
skip(const med_ring_mpmc_view *view, uint32_t index, uint32_t word)
{
    /* R2 slot free -> A2 (reserve, take) */
    if (atomic32_cas_release(mpmc_slot_word(view, index), &word,
                             mpmc_word_of(view, index, 1, MPMC_FREE, 0))) {
        move_on(&view->ring->head, index);
        med_wait_wake(&view->ring->space, view->scope);
    }
}

medley_status_t
med_ring_mpmc_take(med_ring_mpmc_side *side, void **element)
{
    const med_ring_mpmc_view *view = &side->view;
    atomic32 *head = &view->ring->head;
    for (uint32_t left = attempts(view); left && !side->has_taken; left--) {
        uint32_t index = atomic32_load_acquire(head); /* A3 slot claimed <- R3 (move_on) */
        /* A1 slot filled <- R1 (commit); A2 slot free <- R2 (release, recover, skip): is_present */
        uint32_t word = atomic32_load_acquire(mpmc_slot_word(view, index));
        int32_t lead = mpmc_lead_of(view, word, index);
        if (lead == 0 && mpmc_state_of(word) == MPMC_FULL) {
            if (claim(side, index, word, MPMC_READING)) {
                side->taken = index;
                side->has_taken = true;
                move_on(head, index);
            }
        } else if (lead == 0 && mpmc_state_of(word) == MPMC_SKIP) {
            skip(view, index, word);
        } else {
            medley_status_t status = why_empty(word, lead);
            if (status == MEDLEY_OK) {
                move_on(head, index);
            } else if (is_present(head, index)) {
                return status;
            }
        }
    }
    if (!side->has_taken) {
        return MEDLEY_BUSY;
    }
    *element = mpmc_slot_element(view, side->taken);
    return MEDLEY_OK;
}

void
med_ring_mpmc_release(med_ring_mpmc_side *side)
{
    const med_ring_mpmc_view *view = &side->view;
    uint32_t word = mpmc_word_of(view, side->taken, 1, MPMC_FREE, 0);
    side->has_taken = false;
    /* R2 slot free -> A2 (reserve, take) */
    atomic32_store_release(mpmc_slot_word(view, side->taken), word);
    med_wait_wake(&view->ring->space, view->scope);
}

/* ---- By copy --------------------------------------------------------------------------------- */

medley_status_t
med_ring_mpmc_push(med_ring_mpmc_side *side, const void *element)
{
    void *slot;
    medley_status_t status = med_ring_mpmc_reserve(side, &slot);
    if (status == MEDLEY_OK) {
        med_ring_copy(slot, element, side->view.element_bytes);
        med_ring_mpmc_commit(side);
    }
    return status;
}

medley_status_t
med_ring_mpmc_pop(med_ring_mpmc_side *side, void *element)
{
    void *slot;
    medley_status_t status = med_ring_mpmc_take(side, &slot);
    if (status == MEDLEY_OK) {
        med_ring_copy(element, slot, side->view.element_bytes);
        med_ring_mpmc_release(side);
    }
    return status;
}

/* ---- Death ----------------------------------------------------------------------------------- */

/* Undoes one claim of a dead side, whose word was acquired (A4). False when it has changed. */
static bool
claim_undo(const med_ring_mpmc_view *view,
           uint32_t slot,
           uint32_t word,
           const med_ring_mpmc_salvage *salvage)
{
    uint32_t lap = word & ~((1u << MPMC_LAP_SHIFT) - 1);
    uint32_t next_lap = (lap + (1u << MPMC_LAP_SHIFT)) & mpmc_lap_mask(view) << MPMC_LAP_SHIFT;
    atomic32 *place = mpmc_slot_word(view, slot);
    if (mpmc_state_of(word) == MPMC_WRITING) {
        /* R1 slot filled -> A1 (take, reserve): it is not, but the lap has to go on */
        return atomic32_cas_release(place, &word, lap | MPMC_SKIP << MPMC_STATE_SHIFT);
    }
    if (salvage) {
        uint32_t mine = lap | MPMC_READING << MPMC_STATE_SHIFT | salvage->side->number;
        /* R4 side joined -> A4 (recover): of this one, should he die over it; or, late, of whose
         * side it was before */
        if (!atomic32_cas_release(place, &word, mine)) {
            return false;
        }
        salvage->keep(salvage->context, mpmc_slot_element(view, slot));
        atomic32_store_release(place, next_lap); /* R2 slot free -> A2 (reserve, take) */
        return true;
    }
    return atomic32_cas_release(place, &word, next_lap); /* R2 slot free -> A2 (reserve, take) */
}

static bool
is_claim_of(const med_ring_mpmc_view *view, uint32_t word, uint32_t owner)
{
    uint32_t side = word & MPMC_SIDE_MASK;
    bool claimed = mpmc_state_of(word) == MPMC_WRITING || mpmc_state_of(word) == MPMC_READING;
    /* Relaxed: A4 side joined <- R4 (claim) came with the word. */
    return claimed && side < view->sides && atomic32_load_relaxed(&view->owners[side]) == owner;
}

uint32_t
med_ring_mpmc_recover(const med_ring_mpmc_view *view,
                      uint32_t dead_owner,
                      const med_ring_mpmc_salvage *salvage)
{
    uint32_t recovered = 0;
    if (dead_owner == 0) {
        return 0;
    }
    for (uint32_t slot = 0; slot <= view->mask; slot++) {
        /* A4 side joined <- R4 (claim, claim_undo); and what was claimed, and filled, before it */
        uint32_t word = atomic32_load_acquire(mpmc_slot_word(view, slot));
        if (is_claim_of(view, word, dead_owner)) {
            recovered += claim_undo(view, slot, word, salvage);
        }
    }
    /* Should this one die now: the claims are undone before their side is anybody else's. */
    atomic_compiler_barrier();
    for (uint32_t number = 0; number < view->sides; number++) {
        uint32_t owner = dead_owner;
        /* Relaxed: each claim is undone once, by compare-and-swap, by whomever. */
        recovered += atomic32_cas_relaxed(&view->owners[number], &owner, 0);
    }
    med_wait_wake(&view->ring->data, view->scope);
    med_wait_wake(&view->ring->space, view->scope);
    return recovered;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static medley_status_t
try_reserve(void *side, void **slot)
{
    return med_ring_mpmc_reserve(side, slot);
}

static medley_status_t
try_take(void *side, void **element)
{
    return med_ring_mpmc_take(side, element);
}

medley_status_t
med_ring_mpmc_reserve_until(med_ring_mpmc_side *side, uint64_t deadline_ns, void **slot)
{
    med_ring_wait wait = {.attempt = try_reserve,
                          .side = side,
                          .place = &side->view.ring->space,
                          .scope = side->view.scope};
    return med_ring_wait_until(&wait, &side->sleep, deadline_ns, slot);
}

medley_status_t
med_ring_mpmc_take_until(med_ring_mpmc_side *side, uint64_t deadline_ns, void **element)
{
    med_ring_wait wait = {.attempt = try_take,
                          .side = side,
                          .place = &side->view.ring->data,
                          .scope = side->view.scope};
    return med_ring_wait_until(&wait, &side->sleep, deadline_ns, element);
}
