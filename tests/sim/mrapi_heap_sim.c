/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory: a block is one node's at a time; who has its handle, or finds it by its key, finds
 * it as its maker made it; of several who delete it, one does, or its maker (or who has his cache
 * since he left) and one other; who knows of a delete is refused. Nothing is lost: what was deleted
 * is FREE in the end, or waits in its maker's list.
 *
 * Actors: three nodes of one process, of equal rank, which leave and come again; and, in
 * mrapi_heap_returned, one that makes, mostly of the same slot, and two that delete all they see:
 * one of them returns it for a life that its maker ends too, and another ends its next life before
 * or after its maker has it again, or while he leaves. They make a few as well, that they keep: so
 * they take slots over, and two have the same block if one took a slot that its maker was at.
 */
#include "base/atomic.h"
#include "medley/mrapi_ext.h"
#include "mrapi.h"
#include "mrapi/heap_return.h"
#include "mrapi/system.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define ROUNDS 4u
#define MAKER 0u
#define TURNS 3u        /* of him who makes most; each makes MADE_IN_TURN */
#define MADE_IN_TURN 5u /* or one less */
#define KEPT 2u         /* by each of the others at most */
#define MADE_MAX (TURNS * MADE_IN_TURN + (MRAPI_ACTORS - 1) * KEPT)
_Static_assert(MADE_MAX >= MRAPI_ACTORS * ROUNDS, "those of equal rank make one in each round");
#define SMALL_MAX 4096u
#define KEY 7u /* and the next */

typedef struct made {
    mrapi_shmem_hndl_t handle;
    void *address;
    uint32_t size;
    uint32_t maker;
    uint32_t key;
    bool contested; /* anybody deletes it; else one who has claimed it uses it before */
    bool claimed;
    bool deleted_by_owner; /* who has the cache of it */
    bool deleted_by_other;
} made;

typedef struct notes {
    mrapi_notes common;
    uint32_t count;
    uint32_t last; /* which heap it is of: the first is 1 */
    bool all_made; /* by him who makes only */
    made made[MADE_MAX];
} notes;

/* In simulated memory: who sees it set knows that the memory was deleted. */
typedef struct known {
    atomic32 deleted[MADE_MAX]; /* in which heap */
} known;

static bool
is_deleted(const made *m)
{
    return m->deleted_by_owner || m->deleted_by_other;
}

/* Sizes of one class, more often, and of three more. */
static uint32_t
any_size(void)
{
    static const uint32_t sizes[] = {16, 40, 16, 40, 64, 100, 3000, 5000};
    return sizes[sim_random(sizeof sizes / sizeof sizes[0])];
}

static made *
make(const sim_actor *actor, uint32_t size, bool contested)
{
    notes *n = actor->notes;
    mrapi_shmem_attributes_t attributes;
    mrapi_status_t status;
    mrapi_shmem_init_attributes(&attributes, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    attributes.use_malloc = MRAPI_TRUE;
    uint32_t key = KEY + sim_random(2);
    mrapi_shmem_hndl_t handle = mrapi_shmem_create_malloc(key, size, &attributes, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    for (uint32_t i = 0; i < n->count; i++) {
        SIM_CHECK(is_deleted(&n->made[i]) || n->made[i].address != attributes.mem_addr);
        SIM_CHECK(is_deleted(&n->made[i]) || n->made[i].handle != handle);
    }
    made *m = &n->made[n->count++];
    *m = (made){.handle = handle,
                .address = attributes.mem_addr,
                .size = size,
                .maker = actor->index,
                .key = key,
                .contested = contested};
    return m;
}

static void
write_to(void *block, uint32_t size)
{
    uint32_t *memory = block;
    memory[0] = 1;
    memory[size / sizeof *memory - 1] = 2;
}

/* By one who has claimed it. False: he was told without any order, and does not see it yet. */
static bool
use(const sim_actor *actor, const made *m)
{
    mrapi_status_t status;
    void *memory = mrapi_shmem_attach(m->handle, &status);
    if (status == MRAPI_ERR_SHM_INVALID && m->maker != actor->index) {
        return false;
    }
    SIM_CHECK(status == MRAPI_SUCCESS && memory == m->address);
    mrapi_uint_t size;
    mrapi_shmem_get_attribute(m->handle, MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
    SIM_CHECK(status == MRAPI_SUCCESS && size == m->size);
    write_to(memory, m->size);
    return true;
}

/* Has the calling node the cache that it is of? Who was told without any order may not see the slot
 * yet. */
static bool
is_own(const made *m)
{
    const med_self *self = med_self_get();
    const med_heap_slot *slot = med_heap_slot_of(self->process_heap, m->handle);
    return slot && med_heap_state_good(atomic32_load_acquire(&slot->state), m->handle) &&
           med_heap_maker(slot) == self->heap;
}

static void
end_of(const sim_actor *actor, made *m)
{
    const notes *n = actor->notes;
    known *k = actor->memory;
    atomic32 *deleted = &k->deleted[m - n->made];
    bool own = is_own(m);
    uint32_t heap = n->last;
    bool known_before = atomic32_load_acquire(deleted) == heap;
    mrapi_status_t status;
    mrapi_shmem_delete(m->handle, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || (m->contested && status == MRAPI_ERR_SHM_INVALID));
    if (status != MRAPI_SUCCESS) {
        return;
    }
    SIM_CHECK(!known_before);
    SIM_CHECK(!(own ? m->deleted_by_owner : m->deleted_by_other));
    SIM_CHECK(!is_deleted(m) || m->size <= SMALL_MAX);
    *(own ? &m->deleted_by_owner : &m->deleted_by_other) = true;
    atomic32_store_release(deleted, heap);
}

static void
use_and_end(const sim_actor *actor, made *m)
{
    if (m->claimed) {
        return;
    }
    m->claimed = true;
    m->claimed = use(actor, m);
    if (m->claimed) {
        end_of(actor, m);
    }
}

/* What is found by a key has it; it may be gone by the time. */
static void
find(const notes *n)
{
    uint32_t key = KEY + sim_random(2);
    mrapi_status_t status;
    mrapi_shmem_hndl_t handle = mrapi_shmem_get(key, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_SHM_ID_INVALID);
    for (uint32_t i = 0; status == MRAPI_SUCCESS && i < n->count; i++) {
        SIM_CHECK(n->made[i].handle != handle || n->made[i].key == key);
    }
}

/* By anybody, of what anybody may delete meanwhile: its own address and size, or nothing. */
static void
look(const sim_actor *actor, const made *m)
{
    const notes *n = actor->notes;
    known *k = actor->memory;
    bool known_before = atomic32_load_acquire(&k->deleted[m - n->made]) == n->last;
    mrapi_status_t status;
    mrapi_uint_t size;
    void *memory = mrapi_shmem_attach(m->handle, &status);
    SIM_CHECK(status == MRAPI_SUCCESS ? memory == m->address : status == MRAPI_ERR_SHM_INVALID);
    SIM_CHECK(status != MRAPI_SUCCESS || !known_before);
    mrapi_shmem_get_attribute(m->handle, MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
    SIM_CHECK(status == MRAPI_SUCCESS ? size == m->size : status == MRAPI_ERR_SHM_INVALID);
}

/* ---- In the end ------------------------------------------------------------------------------ */

/* A slot that others ended is in its maker's list, once, which is as long as it says, and no longer
 * than it may be; nobody has left a list behind. */
static void
nothing_is_lost(const med_heap *heap)
{
    uint32_t waiting = 0;
    med_heap_slot *slot;
    for (uint32_t i = 0; (slot = med_heap_slot_at(heap, i)) != NULL; i++) {
        uint32_t state = atomic32_load_relaxed(&slot->state);
        uint32_t ended = atomic32_load_relaxed(&slot->ended);
        SIM_CHECK(!(state & MED_HEAP_LIVE) || !med_heap_ended(ended, state) ||
                  (ended & MED_HEAP_RETURNED));
        waiting += ended & MED_HEAP_RETURNED;
    }
    for (const med_heap_cache *cache = heap->caches; cache; cache = cache->next) {
        uint32_t word = atomic32_load_relaxed(&cache->returned);
        SIM_CHECK((word == MED_HEAP_RETURNS_CLOSED) == !cache->used);
        uint32_t count = cache->used ? med_heap_returns_count(word) : 0;
        uint32_t list = cache->used ? med_heap_returns_first(word) : MED_HEAP_RETURNS_NONE;
        SIM_CHECK(count < MED_HEAP_RETURNS);
        for (; list != MED_HEAP_RETURNS_NONE; count--) {
            slot = med_heap_slot_at(heap, list - 1);
            SIM_CHECK(waiting > 0 && med_heap_maker(slot) == cache);
            SIM_CHECK(atomic32_load_relaxed(&slot->ended) & MED_HEAP_RETURNED);
            waiting--;
            list = slot->returned_next;
        }
        SIM_CHECK(count == 0);
    }
    SIM_CHECK(waiting == 0);
}

/* By the last who is there. */
static void
look_back(const sim_actor *actor)
{
    const notes *n = actor->notes;
    for (uint32_t i = 0; i < MRAPI_ACTORS; i++) {
        if (i != actor->index) {
            (void)sim_join(i);
        }
    }
    nothing_is_lost(&med_self_get()->system->heap);
    for (uint32_t i = 0; i < n->count; i++) {
        mrapi_status_t status;
        (void)mrapi_shmem_attach(n->made[i].handle, &status);
        SIM_CHECK(status == (is_deleted(&n->made[i]) ? MRAPI_ERR_SHM_INVALID : MRAPI_SUCCESS));
    }
}

static void
come(const sim_actor *actor)
{
    notes *n = actor->notes;
    mrapi_come(actor);
    if (n->common.told[0] == 0) { /* the heap of a new system */
        n->common.told[0] = 1;
        n->count = 0;
        n->last++;
    }
}

/* ---- Of equal rank --------------------------------------------------------------------------- */

static void
do_anything(const sim_actor *actor)
{
    notes *n = actor->notes;
    if (sim_random(3) != 0) {
        (void)make(actor, any_size(), sim_random(2) == 0);
    }
    if (sim_random(4) == 0) {
        find(n);
    }
    if (n->count == 0) {
        return;
    }
    made *m = &n->made[sim_random(n->count)];
    if (m->contested && sim_random(3) != 0) {
        look(actor, m);
    } else if (m->contested) {
        end_of(actor, m);
    } else {
        use_and_end(actor, m);
    }
}

static void
act(const sim_actor *actor)
{
    come(actor);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        do_anything(actor);
        if (sim_random(6) == 0) {
            mrapi_go(actor);
            come(actor);
        }
    }
    if (actor->index == MAKER) {
        look_back(actor);
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_heap = {
    .name = "mrapi_heap",
    .covers = "heap",
    .memory_bytes = sizeof(known),
    .actors = MRAPI_ACTORS,
    .sees_late = true,
    .one_process = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = mrapi_environment,
};

/* ---- One makes, two delete and keep ---------------------------------------------------------- */

/* Two that the others delete too, and what comes behind them in a slot: he has that again at once,
 * or when they are through with it. */
static void
make_in_turn(const sim_actor *actor)
{
    uint32_t size = sim_random(8) == 0 ? SMALL_MAX + 1 : 16;
    made *both[] = {make(actor, size, true), make(actor, size, true)};
    for (uint32_t i = 0; i < 2; i++) {
        if (sim_random(4) != 0) {
            end_of(actor, both[i]);
        }
    }
    if (sim_random(4) == 0) {
        mrapi_go(actor);
        come(actor);
    }
    made *m = make(actor, size, sim_random(2) == 0);
    bool waits = !m->contested && sim_random(2) == 0;
    while (waits && !is_deleted(m)) {
        med_port_yield();
    }
    use_and_end(actor, make(actor, size, false));
}

static made *
make_own(const sim_actor *actor, uint32_t size)
{
    made *m = make(actor, size, false);
    m->claimed = true;
    return m;
}

/* A small one that others delete too; when they come late, its slot's next life is a large one's,
 * which he deletes behind a small one. */
static void
make_large_behind_small(const sim_actor *actor)
{
    made *small = make(actor, SMALL_MAX - 1000, true);
    (void)make(actor, 16, true);
    end_of(actor, small);
    made *large = make_own(actor, SMALL_MAX + 1);
    end_of(actor, make_own(actor, 16));
    end_of(actor, large);
}

static void
make_only(const sim_actor *actor)
{
    notes *n = actor->notes;
    while (n->common.present != (1u << MRAPI_ACTORS) - 1) {
        med_port_yield();
    }
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        if (sim_random(4) == 0) {
            make_large_behind_small(actor);
        } else {
            make_in_turn(actor);
        }
    }
    n->all_made = true;
}

/* One that stays, of what the caller took over, or of the heap's. */
static void
keep_one(const sim_actor *actor)
{
    made *m = make_own(actor, 16);
    write_to(m->address, m->size);
}

/* All that is made, each once. */
static void
delete_all(const sim_actor *actor)
{
    notes *n = actor->notes;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->count || !n->all_made;) {
        if (i == n->count) {
            med_port_yield();
            continue;
        }
        if (n->made[i].contested) {
            end_of(actor, &n->made[i++]);
        } else {
            use_and_end(actor, &n->made[i]);
            if (n->made[i].claimed) {
                i++;
            } else {
                med_port_yield(); /* it is seen in time */
            }
        }
        if (kept < KEPT && sim_random(3) == 0) {
            keep_one(actor);
            kept++;
        }
    }
}

static void
act_apart(const sim_actor *actor)
{
    come(actor);
    if (actor->index == MAKER) {
        make_only(actor);
        look_back(actor);
    } else {
        delete_all(actor);
    }
    mrapi_go(actor);
}

const sim_scenario sim_mrapi_heap_returned = {
    .name = "mrapi_heap_returned",
    .covers = "heap_return med_heap_go_to()",
    .memory_bytes = sizeof(known),
    .actors = MRAPI_ACTORS,
    .sees_late = true,
    .one_process = true,
    .begin = mrapi_begin,
    .act = act_apart,
    .environment = mrapi_environment,
};
