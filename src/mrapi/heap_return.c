/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory that another deletes than the node that made it: it goes back to its maker, or, when
 * much waits for him, stays with who deletes it.
 *
 *   a slot's `ended`:   up to which life others ended it; RETURNED: the slot is in its maker's list
 *                       of returns, or on the way there
 *
 *   nothing --end (another's delete)--> RETURNED --push--> in the list --gather--> nothing
 *                                                              --take_over--> nothing, or RETURNED
 *
 * Who ends a life sets RETURNED in the same compare-and-swap; who set it pushes the slot, and if it
 * was set already, somebody else does, or has. The maker takes the whole list at once, when the one
 * he wants a slot from is empty, clears RETURNED, and has the slot again if the life that was ended
 * is the one that it is in. It is another when he had deleted it himself at the same time. Then the
 * slot was FREE, in his lists, or in a later life all the time, and stays so; for that the list of
 * returns has a link of its own.
 *
 * The list counts its slots. Who would push the MED_HEAP_RETURNS-th takes the list instead, and has
 * its slots from then on, whatever its maker does meanwhile (take_over). So nobody's list is longer
 * than that, however long he makes nothing, and gathering is bounded. What hinders is the maker's
 * own delete, which looks at `ended`, or ends a LARGE life there, and then stores FREE: in between
 * he may have seen no end, or his is taken for another's. So he says before that which slot he is
 * at (`at` of his cache). Who has taken the list notes of
 * each slot which lives are over, and then looks at `at`, past the heavy barrier. If that is the
 * slot, it stays RETURNED, and is pushed again. Else, whenever the maker looks, he sees the end
 * that was noted; or he has looked before, and has stored FREE by now, which T2 makes visible. So a
 * slot that is LIVE in a life that was noted to be over is never touched by its maker again. In any
 * other life it is his; then RETURNED is cleared, unless that life was ended too since the note:
 * then who ended it relies on its being RETURNED, and it is pushed again. `at` stays as it is when
 * the delete is over: one slot at most waits longer for that. Where the machine refuses the barrier
 * (a filter on system calls that came late, no memory), all is pushed again, and lists have no end
 * from then on.
 *
 * A block that is LARGE goes back to the port at once, since its end is its deleter's alone; he who
 * only finds RETURNED set leaves it to whose the slot is then. Who has no cache, since he has made
 * nothing yet, leaves to the heap what he takes over.
 *
 *   delete (another's)   linearises at its compare-and-swap of `ended`   lock-free
 *   gather               slot by slot, at the clearing of RETURNED       bounded by the list
 *   take_over            slot by slot, at the look at the state          bounded by the list
 * Delete and take_over run together with everything; one gather of a cache at a time. A list that
 * was taken is its taker's alone.
 *
 * A maker that leaves closes his list. Who finds it closed has the heap's lock, and makes the slot
 * nobody's: nobody else touches it, since it is LIVE, and its maker, who has left, does not delete
 * it. If the cache has its next node by then, the list is open again. What was taken over is of no
 * list, and who leaves, or has the cache next, touches it as little as its maker did.
 *
 * Edges: R1 returned (push) -> R2 (push, take): the slots' links, and what their deleters did. E1
 * ended (end) -> E2 (slot_reclaim, ends_note): what a deleter did who does not push. E3 link read
 * (slot_reclaim, slot_take_over) -> E4 (end): who returns the slot next writes its link. L1 left
 * (take) -> L2 (give_back): whether the maker had deleted it himself. T1 the one before is over
 * (med_heap_go_to, heap.h) -> T2 (take_over): a maker that has gone on to another slot has stored
 * FREE in the one before. T3 at, then ended (likewise) <-> T4 ended, then at (take_over): either
 * the maker sees the end, or he is seen at the slot.
 *
 * No ABA: slots leave the list all at once. A life is ended once: `ended` goes on only, and who
 * would end a life that is over compares with a value that is gone (slot_retire in heap.c keeps it
 * so when a slot changes hands; of one that is taken over the life that ends is the last).
 *
 * Model: the simulator, mrapi_heap_returned; with the barrier, the look at `at`, or slot_retire
 * left out a block becomes two nodes' (tests/sim/plant.py).
 */
#include "mrapi/heap_return.h"

#include "mrapi/node.h"
#include "mrapi/system.h"
#include "port/port.h"

/* ---- The list -------------------------------------------------------------------------------- */

/* NONE: the slot is in the maker's list. CLOSED: it is not. Else a list that is the caller's now,
 * with the slot in it. */
static uint32_t
push(const med_heap *heap, med_heap_cache *maker, med_heap_slot *slot)
{
    /* Relaxed, both: nothing hangs on when it is seen; the compare-and-swap looks again. */
    bool endless = atomic32_load_relaxed(&heap->refused);
    uint32_t word = atomic32_load_relaxed(&maker->returned);
    while (word != MED_HEAP_RETURNS_CLOSED) {
        uint32_t count = med_heap_returns_count(word);
        bool full = count == MED_HEAP_RETURNS - 1;
        slot->returned_next = med_heap_returns_first(word);
        if (!full || endless) {
            uint32_t next = (count + !full) * MED_HEAP_RETURNS_ONE + slot->index + 1;
            if (atomic32_cas_release(&maker->returned, &word, next)) { /* R1 returned -> R2 */
                return MED_HEAP_RETURNS_NONE;
            }
            /* R2 returned <- R1 */
        } else if (atomic32_cas_acquire(&maker->returned, &word, MED_HEAP_RETURNS_NONE)) {
            return slot->index + 1;
        }
    }
    return MED_HEAP_RETURNS_CLOSED;
}

static uint32_t
take(med_heap_cache *cache, uint32_t next)
{
    /* Relaxed: likewise. */
    uint32_t word = atomic32_load_relaxed(&cache->returned);
    /* R2 returned <- R1 (push); L1 left -> L2 (give_back) */
    while (word != next && !atomic32_cas_acq_rel(&cache->returned, &word, next)) {
    }
    return med_heap_returns_first(word);
}

void
med_heap_returns_open(med_heap_cache *cache)
{
    /* Relaxed: who pushes wants to know no more of it. */
    atomic32_store_relaxed(&cache->returned, MED_HEAP_RETURNS_NONE);
}

/* By its maker, or for one that has left: it is RETURNED no more. True: nor LIVE. */
static bool
slot_reclaim(med_heap_slot *slot)
{
    /* E2 ended <- E1 (end); E3 link read -> E4 (end) */
    uint32_t ended = atomic32_fetch_and_acq_rel(&slot->ended, ~MED_HEAP_RETURNED);
    uint32_t state = atomic32_load_relaxed(&slot->state); /* relaxed: its maker's own */
    if (!(state & MED_HEAP_LIVE) || !med_heap_ended(ended, state)) {
        return false;
    }
    /* Relaxed: as med_heap_slot_free. */
    atomic32_store_relaxed(&slot->state, (state & MED_HEAP_LIFE_BITS) + MED_HEAP_LIFE);
    return true;
}

void
med_heap_returns_gather(med_self *self, uint32_t next)
{
    uint32_t list = take(self->heap, next);
    while (list != MED_HEAP_RETURNS_NONE) {
        med_heap_slot *slot = med_heap_slot_there(&self->system->heap, list - 1);
        list = slot->returned_next;
        if (slot_reclaim(slot)) {
            med_heap_slot_put(self, slot);
        }
    }
}

/* ---- Taking over ----------------------------------------------------------------------------- */

/* Which lives of them were over before its maker's next look at them. */
static void
ends_note(const med_heap *heap, uint32_t list)
{
    while (list != MED_HEAP_RETURNS_NONE) {
        med_heap_slot *slot = med_heap_slot_there(heap, list - 1);
        slot->returned_ended = atomic32_load_acquire(&slot->ended); /* E2 ended <- E1 (end) */
        list = slot->returned_next;
    }
}

/* Of a FREE one that is the caller's alone. Who keeps nothing leaves it to the heap. */
static void
slot_adopt(med_self *self, med_heap_slot *slot)
{
    med_heap *heap = &self->system->heap;
    if (self->heap) {
        /* Relaxed: published by H1. */
        atomic64_store_relaxed(&slot->maker, (uintptr_t)self->heap);
        med_heap_slot_put(self, slot);
        return;
    }
    med_heap_block_give(slot);
    med_heap_lock(heap);
    med_heap_slot_rest(heap, slot);
    med_heap_unlock(heap);
}

/* Of a slot that its maker is not at: it is the caller's, if its life is one of those noted, else
 * its maker's, and RETURNED no more. False: another has ended its next life meanwhile. */
static bool
slot_take_over(med_self *self, med_heap_slot *slot)
{
    uint32_t ended = slot->returned_ended;
    /* Relaxed: its maker's own, and what he did is seen by T2 and T4. */
    uint32_t state = atomic32_load_relaxed(&slot->state);
    if (!(state & MED_HEAP_LIVE) || !med_heap_ended(ended, state)) {
        /* E3 link read -> E4 (end) */
        return atomic32_cas_release(&slot->ended, &ended, ended & ~MED_HEAP_RETURNED);
    }
    /* Relaxed, both: nobody changes either now, and H1 publishes them. */
    atomic32_store_relaxed(&slot->ended, ended & ~MED_HEAP_RETURNED);
    atomic32_store_relaxed(&slot->state, (state & MED_HEAP_LIFE_BITS) + MED_HEAP_LIFE);
    slot_adopt(self, slot);
    return true;
}

/* A list that was taken from the maker's. Those that stay RETURNED are put before `others`. */
static uint32_t
take_over(med_self *self, const med_heap_cache *maker, uint32_t list, uint32_t others)
{
    med_heap *heap = &self->system->heap;
    if (list == MED_HEAP_RETURNS_NONE) {
        return others;
    }
    ends_note(heap, list);
    /* T4 ended, then at <-> T3 (heap.h) */
    bool may = med_port_barrier_heavy(MED_PORT_SCOPE_PROCESS);
    if (!may) {
        atomic32_store_relaxed(&heap->refused, 1); /* relaxed: see push */
    }
    /* T2 the one before is over <- T1 (heap.h) */
    uint32_t at = atomic32_load_acquire(&maker->at) & MED_HEAP_INDEX_MASK;
    while (list != MED_HEAP_RETURNS_NONE) {
        med_heap_slot *slot = med_heap_slot_there(heap, list - 1);
        list = slot->returned_next;
        if (!may || slot->index == at || !slot_take_over(self, slot)) {
            slot->returned_next = others;
            others = slot->index + 1;
        }
    }
    return others;
}

/* ---- Deleting -------------------------------------------------------------------------------- */

/* With the lock: its maker has left. */
static void
slot_disown(med_heap *heap, med_heap_slot *slot)
{
    if (slot_reclaim(slot)) {
        med_heap_block_give(slot);
        med_heap_slot_rest(heap, slot);
    }
}

/* Slots of one maker that are RETURNED, and in no list but the caller's: `list`. */
static void
give_back(med_self *self, uint32_t list)
{
    med_heap *heap = &self->system->heap;
    while (list != MED_HEAP_RETURNS_NONE) {
        med_heap_slot *slot = med_heap_slot_there(heap, list - 1);
        med_heap_cache *maker = med_heap_maker(slot);
        uint32_t behind = slot->returned_next;
        uint32_t taken = push(heap, maker, slot);
        if (taken == MED_HEAP_RETURNS_CLOSED) {
            med_heap_lock(heap);
            /* L2 left <- L1 (take) */
            if (atomic32_load_acquire(&maker->returned) == MED_HEAP_RETURNS_CLOSED) {
                slot_disown(heap, slot);
                list = behind;
            } else {
                slot->returned_next = behind;
            }
            med_heap_unlock(heap);
        } else {
            list = take_over(self, maker, taken, behind);
        }
    }
}

medley_status_t
med_heap_delete_by_cas(med_self *self, med_heap_slot *slot, uint32_t state)
{
    bool own = med_heap_maker(slot) == self->heap;
    uint32_t before;
    if (own) {
        med_heap_go_to(self->heap, slot->index);
    }
    do {
        before = atomic32_load_acquire(&slot->ended); /* E4 link read <- E3 (slot_reclaim) */
        if (med_heap_ended(before, state)) {
            return MEDLEY_ERR_STALE;
        }
        /* E1 ended -> E2 (slot_reclaim) */
    } while (!atomic32_cas_release(&slot->ended, &before,
                                   (state & MED_HEAP_LIFE_BITS) + MED_HEAP_LIFE +
                                       (own ? before & MED_HEAP_RETURNED : MED_HEAP_RETURNED)));
    if (own) {
        med_heap_slot_free(self, slot, state);
    } else if (!(before & MED_HEAP_RETURNED)) {
        if (state & MED_HEAP_LARGE) {
            med_heap_block_give(slot);
        }
        slot->returned_next = MED_HEAP_RETURNS_NONE;
        give_back(self, slot->index + 1);
    }
    return MEDLEY_OK;
}
