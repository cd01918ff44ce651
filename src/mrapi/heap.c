/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory of one process: its slots, and what each node keeps of them.
 *
 *   slot, in its state:   FREE, in a list of its maker's --create--> LIVE --delete--> FREE, again
 *   and beside it:        which life others ended last, and whether the slot waits to be looked at
 *                         for that (RETURNED): heap_return.c
 *
 * Create takes a slot from a list that only the calling node uses, block and all, and makes it LIVE
 * by one store. Only its maker writes a slot's state. So he deletes by a look and a store, and has
 * it in his list again. Others write their end of it beside the state, by compare-and-swap, and
 * give it back to its maker, or keep it when much waits for him. What is LARGE ends by that
 * compare-and-swap alone, whoever deletes it.
 *
 *   create    linearises at the store of LIVE              wait-free but for an empty list
 *   delete    its maker's: at the store of FREE            wait-free but for a full list
 *             another's, LARGE: at the compare-and-swap    lock-free
 *   get       at the second look at the state              bounded by the slots there are
 *   read      at the second look at the state              wait-free
 *
 * Of deletes of the same that follow one another one succeeds; likewise of others' at the same
 * time. Its maker's look and store are two steps: when another's compare-and-swap falls between
 * them, both have deleted it. The block goes once all the same: the maker finds the slot RETURNED
 * for a life that is over, and leaves it where it is.
 *
 * Whose a slot is changes by the heap's lock, or when it is taken over by who deleted it
 * (heap_return.c). It is given away when it is FREE and not RETURNED, and its lives so far are
 * first marked as over (slot_retire): so the compare-and-swap of one who looked before fails. The
 * caches stay as long as the process has its system; when a node leaves, the next that comes has
 * its cache, and slots.
 *
 * Edges: H1 made (create) -> H2 (delete, get, read); what is given back stays with the node that
 * did it, whose next H1 publishes what it makes of it. H3 key (create) -> H4 (get): a key of a
 * later life is seen with the end of the one before; H5 next life (create, block_set) -> H6 (read):
 * likewise a block and a size. C1 chunk there (grow) -> C2 (slot_at). Those of what others delete:
 * heap_return.c.
 *
 * Lives are counted in 30 bits, and two are compared only within a few hundred of each other, since
 * a slot that is worn, below, is marked as ended anew. (One who is held up in his delete for 2^30
 * lives of a slot, to the life, would delete what has that life then.)
 *
 * Old handles: a handle has eight bits of its slot's life. So a slot whose lives have gone round
 * once is worn: it gives its block to another, and goes to the end of the heap's queue, in which a
 * number always rest. An old handle is good again when all before it in the queue were taken, and
 * its slot has come to the same life.
 *
 * Death: of the process, everything is gone. A node that ends gives its blocks back
 * (med_heap_leave). Model: the simulator, mrapi_heap and mrapi_heap_returned.
 */
#include "mrapi/heap.h"

#include "base/log.h"
#include "mrapi/heap_return.h"
#include "mrapi/node.h"
#include "mrapi/system.h"
#include "port/port.h"

/* A smaller block counts for so much when it is kept: so a node keeps so many slots at most. */
#define KEPT_LEAST_BYTES 512u

static uint32_t
class_bytes(uint32_t class)
{
    if (class == 0) {
        return 64;
    }
    return (4 + (class - 1) % 4 + 1) << ((class - 1) / 4 + 4);
}

/* ---- The heap of the process ----------------------------------------------------------------- */

/* As of a process's mappings (shmem.c): nobody asks for the owner. */
#define SOMEBODY 1u

void
med_heap_lock(med_heap *heap)
{
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = SOMEBODY,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter};
    (void)med_lock_acquire(&heap->lock, &heap->sleepers, &request);
}

void
med_heap_unlock(med_heap *heap)
{
    med_lock_release(&heap->lock, &heap->sleepers, MED_PORT_SCOPE_PROCESS);
}

#define CHUNK_BYTES (MED_HEAP_SLOTS_PER_CHUNK * sizeof(med_heap_slot))
#define DIRECTORY_BYTES (MED_HEAP_CHUNKS * sizeof(med_heap_slot *))

void
med_heap_slot_rest(med_heap *heap, med_heap_slot *slot)
{
    slot->next = NULL;
    if (heap->bare) {
        heap->bare_last->next = slot;
    } else {
        heap->bare = slot;
    }
    heap->bare_last = slot;
    heap->bare_count++;
}

/* With the lock: another chunk of slots, which become the heap's. Whose they are is known before
 * anybody sees them: who looks at one too early finds some cache there. */
static medley_status_t
grow(med_heap *heap, const med_heap_cache *cache)
{
    void *memory;
    uint32_t first = atomic32_load_relaxed(&heap->fresh); /* relaxed: the lock's */
    if (first == MED_HEAP_SLOTS_MAX) {
        med_log_limit("heap memories in a process", MED_HEAP_SLOTS_MAX, NULL, NULL);
        return MEDLEY_ERR_LIMIT;
    }
    if (!heap->chunks) {
        medley_status_t status = med_port_memory_map(DIRECTORY_BYTES, &memory);
        if (status != MEDLEY_OK) {
            return status;
        }
        heap->chunks = memory;
    }
    medley_status_t status = med_port_memory_map(CHUNK_BYTES, &memory);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_heap_slot *slots = memory;
    heap->chunks[first / MED_HEAP_SLOTS_PER_CHUNK] = slots;
    for (uint32_t i = 0; i < MED_HEAP_SLOTS_PER_CHUNK; i++) {
        slots[i].index = first + i;
        /* Relaxed, all: see C1. */
        atomic32_store_relaxed(&slots[i].state, MED_HEAP_FIRST_LIFE * MED_HEAP_LIFE);
        atomic32_store_relaxed(&slots[i].ended, MED_HEAP_FIRST_LIFE * MED_HEAP_LIFE);
        atomic64_store_relaxed(&slots[i].maker, (uintptr_t)cache);
        med_heap_slot_rest(heap, &slots[i]);
    }
    /* C1 chunk there -> C2 (med_heap_slot_at) */
    atomic32_store_release(&heap->fresh, first + MED_HEAP_SLOTS_PER_CHUNK);
    return MEDLEY_OK;
}

/* ---- A node's cache -------------------------------------------------------------------------- */

/* With the lock: one that a node left behind, or NULL. */
static med_heap_cache *
cache_left(med_heap *heap)
{
    med_heap_cache *cache = heap->caches;
    while (cache && cache->used) {
        cache = cache->next;
    }
    if (cache) {
        cache->used = true;
        med_heap_returns_open(cache);
    }
    return cache;
}

static void
bare_push(med_heap_cache *cache, med_heap_slot *slot)
{
    slot->next = cache->bare;
    cache->bare = slot;
    cache->bare_count++;
}

static medley_status_t
cache_of(med_self *self, med_heap *heap)
{
    if (self->heap) {
        return MEDLEY_OK;
    }
    med_heap_lock(heap);
    med_heap_cache *cache = cache_left(heap);
    medley_status_t status = MEDLEY_OK;
    if (!cache) {
        void *memory;
        status = med_port_memory_map(sizeof *cache, &memory);
        if (status == MEDLEY_OK) {
            cache = memory;
            cache->used = true;
            cache->next = heap->caches;
            heap->caches = cache;
        }
    }
    med_heap_unlock(heap);
    self->heap = cache;
    return status;
}

/* With the heap's lock: a batch, or fewer; none, and why not. Those that rest are taken only when
 * there can be no others. */
static medley_status_t
batch_take(med_heap *heap, med_heap_cache *cache)
{
    medley_status_t status = MEDLEY_OK;
    /* Relaxed: the lock's. */
    bool all_there = atomic32_load_relaxed(&heap->fresh) == MED_HEAP_SLOTS_MAX;
    if (heap->bare_count < (all_there ? 1 : MED_HEAP_RESTING + MED_HEAP_BATCH)) {
        status = grow(heap, cache);
    }
    while (heap->bare && cache->bare_count < MED_HEAP_BATCH) {
        med_heap_slot *slot = heap->bare;
        heap->bare = slot->next;
        heap->bare_count--;
        /* Relaxed: published by H1. */
        atomic64_store_relaxed(&slot->maker, (uintptr_t)cache);
        bare_push(cache, slot);
    }
    return status;
}

static medley_status_t
bare_take(med_heap *heap, med_heap_cache *cache, med_heap_slot **slot)
{
    if (!cache->bare) {
        med_heap_lock(heap);
        medley_status_t status = batch_take(heap, cache);
        med_heap_unlock(heap);
        if (!cache->bare) {
            return status == MEDLEY_OK ? MEDLEY_ERR_NO_MEMORY : status;
        }
    }
    *slot = cache->bare;
    cache->bare = (*slot)->next;
    cache->bare_count--;
    return MEDLEY_OK;
}

/* Before a FREE slot is given away, and so often that its lives can be compared. False: it is
 * RETURNED, or about to be, and stays its maker's. */
static bool
slot_retire(med_heap_slot *slot)
{
    /* Relaxed, all: its maker's own state; and whoever else changes `ended` looks what it is. */
    uint32_t lives = atomic32_load_relaxed(&slot->state);
    uint32_t ended = atomic32_load_relaxed(&slot->ended);
    while (!atomic32_cas_relaxed(&slot->ended, &ended, lives | (ended & MED_HEAP_RETURNED))) {
    }
    return !(ended & MED_HEAP_RETURNED);
}

/* All that can be given away. */
static void
bare_flush(med_heap *heap, med_heap_cache *cache)
{
    med_heap_slot *list = cache->bare;
    cache->bare = NULL;
    cache->bare_count = 0;
    med_heap_lock(heap);
    while (list) {
        med_heap_slot *slot = list;
        list = slot->next;
        if (slot_retire(slot)) {
            med_heap_slot_rest(heap, slot);
        } else {
            bare_push(cache, slot);
        }
    }
    med_heap_unlock(heap);
}

static void
bare_give(med_heap *heap, med_heap_cache *cache, med_heap_slot *slot)
{
    /* Relaxed: its maker's own. */
    if (med_heap_worn(atomic32_load_relaxed(&slot->state)) && slot_retire(slot)) {
        med_heap_lock(heap);
        med_heap_slot_rest(heap, slot);
        med_heap_unlock(heap);
        return;
    }
    bare_push(cache, slot);
    if (cache->bare_count >= 2 * MED_HEAP_BATCH) {
        bare_flush(heap, cache);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The slot is the caller's alone, but that old handles are read. */
static void
block_set(med_heap_slot *slot, void *block)
{
    atomic64_store_release(&slot->block, (uintptr_t)block); /* H5 next life -> H6 (read) */
}

void
med_heap_block_give(med_heap_slot *slot)
{
    void *block = med_heap_block(slot);
    if (block) {
        block_set(slot, NULL);
        med_port_heap_give(block, slot->block_bytes);
    }
}

static medley_status_t
block_take(
    med_heap *heap, med_heap_cache *cache, uint32_t class, uint32_t bytes, med_heap_slot **to)
{
    medley_status_t status = bare_take(heap, cache, to);
    if (status != MEDLEY_OK) {
        return status;
    }
    void *block = med_port_heap_take(bytes);
    if (!block) {
        bare_give(heap, cache, *to);
        return MEDLEY_ERR_NO_MEMORY;
    }
    (*to)->class_of_size = class;
    (*to)->block_bytes = bytes;
    (*to)->kept_bytes = bytes < KEPT_LEAST_BYTES ? KEPT_LEAST_BYTES : bytes;
    block_set(*to, block);
    return MEDLEY_OK;
}

medley_status_t
med_heap_slot_make(med_self *self, uint32_t class, uint32_t size_bytes, med_heap_slot **slot)
{
    med_heap *heap = &self->system->heap;
    medley_status_t status = cache_of(self, heap);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_heap_returns_gather(self, MED_HEAP_RETURNS_NONE);
    if (class == MED_HEAP_CLASS_NONE) {
        return block_take(heap, self->heap, class, size_bytes, slot);
    }
    *slot = med_heap_pop(self->heap, class);
    return *slot ? MEDLEY_OK : block_take(heap, self->heap, class, class_bytes(class), slot);
}

/* Another slot has the worn one's block now; the same, when there is none. */
static med_heap_slot *
slot_replace(med_heap *heap, med_heap_cache *cache, med_heap_slot *worn)
{
    med_heap_slot *fresh;
    if (bare_take(heap, cache, &fresh) != MEDLEY_OK) {
        (void)slot_retire(worn);
        return worn;
    }
    fresh->class_of_size = worn->class_of_size;
    fresh->block_bytes = worn->block_bytes;
    fresh->kept_bytes = worn->kept_bytes;
    block_set(fresh, med_heap_block(worn));
    block_set(worn, NULL);
    bare_give(heap, cache, worn);
    return fresh;
}

void
med_heap_slot_put(med_self *self, med_heap_slot *slot)
{
    med_heap *heap = &self->system->heap;
    if (!med_heap_block(slot) || !med_heap_fits(self->heap, slot)) {
        med_heap_block_give(slot);
        bare_give(heap, self->heap, slot);
        return;
    }
    /* Relaxed: its maker's own. */
    if (med_heap_worn(atomic32_load_relaxed(&slot->state))) {
        slot = slot_replace(heap, self->heap, slot);
    }
    med_heap_push(self->heap, slot);
}

/* ---- Finding --------------------------------------------------------------------------------- */

/* A second look: was what is read of the slot meanwhile of that life, and had nobody ended it? */
static bool
is_still(const med_heap_slot *slot, uint32_t state)
{
    /* Relaxed, both: H4 or H6 stands before them; and an end of a later life says enough. */
    return !med_heap_ended(atomic32_load_relaxed(&slot->ended), state) &&
           atomic32_load_relaxed(&slot->state) == state;
}

medley_status_t
med_heap_get(const med_self *self, uint32_t key, med_handle *handle)
{
    const med_heap *heap = &self->system->heap;
    med_heap_slot *slot;
    for (uint32_t index = 0; (slot = med_heap_slot_at(heap, index)) != NULL; index++) {
        uint32_t state = atomic32_load_acquire(&slot->state); /* H2 made <- H1 (create) */
        /* H4 key <- H3 (create) */
        if (state & MED_HEAP_LIVE && atomic32_load_acquire(&slot->key) == key &&
            is_still(slot, state)) {
            *handle = med_heap_handle(slot, state);
            return MEDLEY_OK;
        }
    }
    return MEDLEY_ERR_NOT_FOUND;
}

medley_status_t
med_heap_read(const med_self *self, med_handle handle, void **address, uint32_t *size_bytes)
{
    const med_heap_slot *slot = med_heap_slot_of(&self->system->heap, handle);
    if (!slot) {
        return MEDLEY_ERR_ARGUMENT;
    }
    uint32_t state = atomic32_load_acquire(&slot->state); /* H2 made <- H1 (create) */
    if (!med_heap_state_good(state, handle)) {
        return MEDLEY_ERR_STALE;
    }
    /* H6 next life <- H5 (create, block_set), both */
    uint64_t block = atomic64_load_acquire(&slot->block);
    uint32_t size = atomic32_load_acquire(&slot->size_bytes);
    if (!is_still(slot, state)) {
        return MEDLEY_ERR_STALE;
    }
    *address = (void *)(uintptr_t)block;
    *size_bytes = size;
    return MEDLEY_OK;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

void
med_heap_leave(med_self *self)
{
    med_heap *heap = &self->system->heap;
    med_heap_cache *cache = self->heap;
    if (!cache) {
        return;
    }
    med_heap_returns_gather(self, MED_HEAP_RETURNS_CLOSED);
    for (uint32_t class = 0; class < MED_HEAP_CLASSES; class ++) {
        for (med_heap_slot *slot; (slot = med_heap_pop(cache, class)) != NULL;) {
            med_heap_block_give(slot);
            bare_give(heap, cache, slot);
        }
    }
    med_heap_lock(heap);
    cache->used = false;
    med_heap_unlock(heap);
    self->heap = NULL;
}

void
med_heap_fini(med_system *system)
{
    med_heap *heap = &system->heap;
    uint32_t count = atomic32_load_relaxed(&heap->fresh); /* relaxed: nobody else is left */
    for (uint32_t first = 0; first < count; first += MED_HEAP_SLOTS_PER_CHUNK) {
        med_heap_slot *slots = heap->chunks[first / MED_HEAP_SLOTS_PER_CHUNK];
        for (uint32_t i = 0; i < MED_HEAP_SLOTS_PER_CHUNK; i++) {
            med_heap_block_give(&slots[i]);
        }
        med_port_memory_unmap(slots, CHUNK_BYTES);
    }
    if (heap->chunks) {
        med_port_memory_unmap(heap->chunks, DIRECTORY_BYTES);
    }
    while (heap->caches) {
        med_heap_cache *cache = heap->caches;
        heap->caches = cache->next;
        med_port_memory_unmap(cache, sizeof *cache);
    }
    *heap = (med_heap){.chunks = NULL};
}
