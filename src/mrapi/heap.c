/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory of one process.
 *
 *   slot:   FREE in a list, its owner's alone --create--> LIVE --delete--> FREE, the deleter's
 *
 * Create takes a slot from a list that only the calling node uses, block and all, and makes it LIVE
 * by one store. Delete makes it FREE by one compare-and-swap, which two deletes cannot both win,
 * and puts it into the list of the node that did. So blocks wander from who deletes to who creates
 * only through the heap's lock and the port's heap, and neither is on the common path.
 *
 *   create    linearises at the store of LIVE       wait-free but for an empty list
 *   delete    at the compare-and-swap               wait-free but for a full list
 *   get       at the second look at the state       bounded by the slots there are
 *   read      at the second look at the state       wait-free
 *
 * Edges: H1 made (create) -> H2 (delete, get, read); what is given back stays with the node that
 * did it, whose next H1 publishes what it makes of it. H3 key (create) -> H4 (get): a key of a
 * later life is seen with the end of the one before; H5 next life (create, block_set) -> H6 (read):
 * likewise a block and a size. C1 chunk there (grow) -> C2 (slot_at).
 *
 * Old handles: a handle has eight bits of its slot's life. So a slot whose lives have gone round
 * once is worn: it gives its block to another, and goes to the end of the heap's queue, in which a
 * number always rest. An old handle is good again when all before it in the queue were taken, and
 * its slot has come to the same life.
 *
 * Death: of the process, everything is gone. A node that ends gives its lists back
 * (med_heap_leave).
 */
#include "mrapi/heap.h"

#include "base/log.h"
#include "mrapi/node.h"
#include "mrapi/system.h"
#include "port/port.h"

/* How many slots go between a node and the heap at a time. */
#define BATCH 64u
/* So many stay in the heap's queue, while there can be more slots. */
#define RESTING 512u

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

static void
heap_lock(med_heap *heap)
{
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = SOMEBODY,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter};
    (void)med_lock_acquire(&heap->lock, &heap->sleepers, &request);
}

static void
heap_unlock(med_heap *heap)
{
    med_lock_release(&heap->lock, &heap->sleepers, MED_PORT_SCOPE_PROCESS);
}

#define CHUNK_BYTES (MED_HEAP_SLOTS_PER_CHUNK * sizeof(med_heap_slot))
#define DIRECTORY_BYTES (MED_HEAP_CHUNKS * sizeof(med_heap_slot *))

/* With the lock: a slot of nobody's to the end of the queue. */
static void
slot_rest(med_heap *heap, med_heap_slot *slot)
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

/* With the lock: all of a list. */
static void
slots_rest(med_heap *heap, med_heap_slot *list)
{
    while (list) {
        med_heap_slot *slot = list;
        list = slot->next;
        slot_rest(heap, slot);
    }
}

/* With the lock: another chunk of slots, which become the heap's. */
static medley_status_t
grow(med_heap *heap)
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
        slot_rest(heap, &slots[i]);
    }
    /* C1 chunk there -> C2 (med_heap_slot_at) */
    atomic32_store_release(&heap->fresh, first + MED_HEAP_SLOTS_PER_CHUNK);
    return MEDLEY_OK;
}

/* ---- A node's cache -------------------------------------------------------------------------- */

static medley_status_t
cache_of(med_self *self, med_heap_cache **cache)
{
    void *memory;
    if (!self->heap) {
        medley_status_t status = med_port_memory_map(sizeof(med_heap_cache), &memory);
        if (status != MEDLEY_OK) {
            return status;
        }
        self->heap = memory;
    }
    *cache = self->heap;
    return MEDLEY_OK;
}

/* With the heap's lock: a batch, or fewer; none, and why not. Those that rest are taken only when
 * there can be no others. */
static medley_status_t
batch_take(med_heap *heap, med_heap_cache *cache)
{
    medley_status_t status = MEDLEY_OK;
    /* Relaxed: the lock's. */
    bool all_there = atomic32_load_relaxed(&heap->fresh) == MED_HEAP_SLOTS_MAX;
    if (heap->bare_count < (all_there ? 1 : RESTING + BATCH)) {
        status = grow(heap);
    }
    while (heap->bare && cache->bare_count < BATCH) {
        med_heap_slot *slot = heap->bare;
        heap->bare = slot->next;
        heap->bare_count--;
        slot->next = cache->bare;
        cache->bare = slot;
        cache->bare_count++;
    }
    return status;
}

static medley_status_t
bare_take(med_heap *heap, med_heap_cache *cache, med_heap_slot **slot)
{
    if (!cache->bare) {
        heap_lock(heap);
        medley_status_t status = batch_take(heap, cache);
        heap_unlock(heap);
        if (!cache->bare) {
            return status == MEDLEY_OK ? MEDLEY_ERR_NO_MEMORY : status;
        }
    }
    *slot = cache->bare;
    cache->bare = (*slot)->next;
    cache->bare_count--;
    return MEDLEY_OK;
}

static void
bare_give(med_heap *heap, med_heap_cache *cache, med_heap_slot *slot)
{
    slot->next = cache->bare;
    cache->bare = slot;
    if (++cache->bare_count >= 2 * BATCH) {
        heap_lock(heap);
        slots_rest(heap, cache->bare);
        heap_unlock(heap);
        cache->bare = NULL;
        cache->bare_count = 0;
    }
}

/* The slot is the caller's alone, but that old handles are read. */
static void
block_set(med_heap_slot *slot, void *block)
{
    atomic64_store_release(&slot->block, (uintptr_t)block); /* H5 next life -> H6 (read) */
}

static void
block_give(med_heap_slot *slot)
{
    void *block = med_heap_block(slot);
    block_set(slot, NULL);
    med_port_heap_give(block, slot->block_bytes);
}

medley_status_t
med_heap_slot_make(med_self *self, uint32_t class, uint32_t size_bytes, med_heap_slot **slot)
{
    med_heap_cache *cache;
    med_heap *heap = &self->system->heap;
    medley_status_t status = cache_of(self, &cache);
    if (status == MEDLEY_OK) {
        status = bare_take(heap, cache, slot);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    (*slot)->class_of_size = class;
    (*slot)->block_bytes = class == MED_HEAP_CLASS_NONE ? size_bytes : class_bytes(class);
    void *block = med_port_heap_take((*slot)->block_bytes);
    if (!block) {
        bare_give(heap, cache, *slot);
        return MEDLEY_ERR_NO_MEMORY;
    }
    block_set(*slot, block);
    return MEDLEY_OK;
}

void
med_heap_slot_unmake(med_self *self, med_heap_slot *slot)
{
    med_heap_cache *cache;
    med_heap *heap = &self->system->heap;
    block_give(slot);
    if (cache_of(self, &cache) == MEDLEY_OK) {
        bare_give(heap, cache, slot);
        return;
    }
    heap_lock(heap);
    slot_rest(heap, slot);
    heap_unlock(heap);
}

med_heap_slot *
med_heap_slot_replace(med_self *self, med_heap_slot *worn)
{
    med_heap_cache *cache;
    med_heap_slot *fresh;
    med_heap *heap = &self->system->heap;
    if (cache_of(self, &cache) != MEDLEY_OK || bare_take(heap, cache, &fresh) != MEDLEY_OK) {
        return worn;
    }
    fresh->class_of_size = worn->class_of_size;
    fresh->block_bytes = worn->block_bytes;
    block_set(fresh, med_heap_block(worn));
    block_set(worn, NULL);
    heap_lock(heap);
    slot_rest(heap, worn);
    heap_unlock(heap);
    return fresh;
}

/* ---- Finding --------------------------------------------------------------------------------- */

medley_status_t
med_heap_get(const med_self *self, uint32_t key, med_handle *handle)
{
    const med_heap *heap = &self->system->heap;
    med_heap_slot *slot;
    for (uint32_t index = 0; (slot = med_heap_slot_at(heap, index)) != NULL; index++) {
        uint32_t state = atomic32_load_acquire(&slot->state); /* H2 made <- H1 (create) */
        /* H4 key <- H3 (create). The second look says whether the key was this life's; relaxed: H4
         * stands before it. */
        if (state & MED_HEAP_LIVE && atomic32_load_acquire(&slot->key) == key &&
            atomic32_load_relaxed(&slot->state) == state) {
            *handle = med_heap_handle(slot, state);
            return MEDLEY_OK;
        }
    }
    return MEDLEY_ERR_NOT_FOUND;
}

medley_status_t
med_heap_read(const med_self *self, med_handle handle, void **address, uint32_t *size_bytes)
{
    uint32_t good;
    const med_heap_slot *slot = med_heap_slot_of(&self->system->heap, handle, &good);
    if (!slot) {
        return MEDLEY_ERR_ARGUMENT;
    }
    if (atomic32_load_acquire(&slot->state) != good) { /* H2 made <- H1 (create) */
        return MEDLEY_ERR_STALE;
    }
    /* H6 next life <- H5 (create, slot_make, block_give), both */
    uint64_t block = atomic64_load_acquire(&slot->block);
    uint32_t size = atomic32_load_acquire(&slot->size_bytes);
    /* The second look says whether they were this life's; relaxed: H6 stands before it. */
    if (atomic32_load_relaxed(&slot->state) != good) {
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
    for (uint32_t class = 0; class < MED_HEAP_CLASSES; class ++) {
        for (med_heap_slot *slot = cache->blocks[class]; slot; slot = slot->next) {
            block_give(slot);
        }
    }
    heap_lock(heap);
    for (uint32_t class = 0; class < MED_HEAP_CLASSES; class ++) {
        slots_rest(heap, cache->blocks[class]);
    }
    slots_rest(heap, cache->bare);
    heap_unlock(heap);
    self->heap = NULL;
    med_port_memory_unmap(cache, sizeof *cache);
}

void
med_heap_fini(med_system *system)
{
    med_heap *heap = &system->heap;
    uint32_t count = atomic32_load_relaxed(&heap->fresh); /* relaxed: nobody else is left */
    for (uint32_t first = 0; first < count; first += MED_HEAP_SLOTS_PER_CHUNK) {
        med_heap_slot *slots = heap->chunks[first / MED_HEAP_SLOTS_PER_CHUNK];
        for (uint32_t i = 0; i < MED_HEAP_SLOTS_PER_CHUNK; i++) {
            if (med_heap_block(&slots[i])) {
                block_give(&slots[i]);
            }
        }
        med_port_memory_unmap(slots, CHUNK_BYTES);
    }
    if (heap->chunks) {
        med_port_memory_unmap(heap->chunks, DIRECTORY_BYTES);
    }
    *heap = (med_heap){.chunks = NULL};
}
