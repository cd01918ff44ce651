/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory that another deletes than the node that made it: it goes back to its maker.
 *
 *   a slot's `ended`:   up to which life others ended it; RETURNED: the slot is in its maker's list
 *                       of returns, or on the way there
 *
 *   nothing --end (another's delete)--> RETURNED --push--> in the list --gather--> nothing
 *
 * Who ends a life sets RETURNED in the same compare-and-swap; who set it pushes the slot, and if it
 * was set already, somebody else does, or has. The maker takes the whole list at once, when the one
 * he wants a slot from is empty, clears RETURNED, and has the slot again if the life that was ended
 * is the one that it is in. It is another when he had deleted it himself at the same time. Then the
 * slot was FREE, in his lists, or in a later life all the time, and stays so; for that the list of
 * returns has a link of its own.
 *
 * A block that is LARGE goes back to the port at once, since its end is its deleter's alone; he who
 * only finds RETURNED set leaves it to the maker. Small ones wait for their maker.
 *
 *   delete (another's)   linearises at its compare-and-swap of `ended`   lock-free
 *   gather               slot by slot, at the clearing of RETURNED       bounded by the list
 * Delete runs together with everything; one gather of a cache at a time.
 *
 * A maker that leaves closes his list. Who finds it closed has the heap's lock, and makes the slot
 * nobody's: nobody else touches it, since it is LIVE, and its maker, who has left, does not delete
 * it. If the cache has its next node by then, the list is open again.
 *
 * Edges: R1 returned (push) -> R2 (take): the slots' links, and what their deleters did. E1 ended
 * (end) -> E2 (slot_reclaim): what a deleter did who does not push. E3 link read (slot_reclaim) ->
 * E4 (end): who returns the slot next writes its link. L1 left (take) -> L2 (give_back): whether
 * the maker had deleted it himself.
 *
 * No ABA: slots leave the list all at once. A life is ended once: `ended` goes on only, and who
 * would end a life that is over compares with a value that is gone (slot_retire in heap.c keeps it
 * so when a slot changes hands).
 */
#include "mrapi/heap_return.h"

#include "mrapi/node.h"
#include "mrapi/system.h"

/* ---- The list -------------------------------------------------------------------------------- */

/* False: it is closed. */
static bool
push(med_heap_cache *maker, med_heap_slot *slot)
{
    /* Relaxed: the compare-and-swap looks again. */
    uint32_t first = atomic32_load_relaxed(&maker->returned);
    do {
        if (first == MED_HEAP_RETURNS_CLOSED) {
            return false;
        }
        slot->returned_next = first;
    } while (
        !atomic32_cas_release(&maker->returned, &first, slot->index + 1)); /* R1 -> R2 (take) */
    return true;
}

static uint32_t
take(med_heap_cache *cache, uint32_t next)
{
    /* Relaxed: likewise. */
    uint32_t first = atomic32_load_relaxed(&cache->returned);
    /* R2 returned <- R1 (push); L1 left -> L2 (give_back) */
    while (first != next && !atomic32_cas_acq_rel(&cache->returned, &first, next)) {
    }
    return first;
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
        med_heap_slot *slot = med_heap_slot_at(&self->system->heap, list - 1);
        list = slot->returned_next;
        if (slot_reclaim(slot)) {
            med_heap_slot_put(self, slot);
        }
    }
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

/* It is RETURNED, by the caller. */
static void
give_back(med_heap *heap, med_heap_slot *slot)
{
    med_heap_cache *maker = med_heap_maker(slot);
    while (!push(maker, slot)) {
        med_heap_lock(heap);
        /* L2 left <- L1 (take) */
        bool closed = atomic32_load_acquire(&maker->returned) == MED_HEAP_RETURNS_CLOSED;
        if (closed) {
            slot_disown(heap, slot);
        }
        med_heap_unlock(heap);
        if (closed) {
            return;
        }
    }
}

medley_status_t
med_heap_delete_by_cas(med_self *self, med_heap_slot *slot, uint32_t state)
{
    bool own = med_heap_maker(slot) == self->heap;
    uint32_t before;
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
        give_back(&self->system->heap, slot);
    }
    return MEDLEY_OK;
}
