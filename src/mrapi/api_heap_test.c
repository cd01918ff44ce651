/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory, as the OpenMP paper uses it: made, found by its key, given back by whoever; in any
 * number and of any size. Run in a private system and in a named one.
 */
#include <stdlib.h>

#include "mrapi/heap.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/random.h"
#include "support/unit.h"

#define KEY 0xdeadbabeu
#define MANY 5000
#define WORKERS 4
#define WORKER_FIRST 20
#define ROUNDS 20000
#define RIVALRIES 1000
#define OLD_AGE 100000u
#define LARGE 2000000u /* nobody keeps such a block */
#define PAGE 4096u     /* up to there its maker deletes by a store */
#define QUEUE 512u
#define ON_THE_WAY 1000000u

static void *
made(mrapi_shmem_id_t key, mrapi_uint_t size, mrapi_shmem_hndl_t *heap)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes;
    attributes.use_malloc = MCA_TRUE; /* and nothing else, as in the paper */
    mrapi_shmem_hndl_t handle = mrapi_shmem_create_malloc(key, size, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_non_null(attributes.mem_addr);
    assert_int_equal((uintptr_t)attributes.mem_addr % _Alignof(max_align_t), 0);
    if (heap) {
        *heap = handle;
    }
    return attributes.mem_addr;
}

static void
delete_heap(mrapi_shmem_hndl_t heap)
{
    mrapi_status_t status;
    mrapi_shmem_delete(heap, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
one_life(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t heap;
    mrapi_uint_t size = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        void *block = made(KEY, 100, &heap);
        memset(block, i, 100);
        assert_int_equal(mrapi_shmem_get(KEY, &status), heap);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_ptr_equal(mrapi_shmem_attach(heap, &status), block);
        assert_ptr_equal(mrapi_shmem_attach(heap, &status), block);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_shmem_detach(heap, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_shmem_get_attribute(heap, MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(size, 100);
        delete_heap(heap);
        (void)mrapi_shmem_get(KEY, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    }
}

static void
stale_and_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t heap, next;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    mrapi_uint_t size = 0;
    (void)state;
    (void)made(KEY, 64, &heap);
    delete_heap(heap);
    (void)made(KEY, 64, &next); /* the same slot, in another life */
    const mrapi_shmem_hndl_t wrong[] = {heap, next | 0xfffffu, next ^ 0x80000000u};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mrapi_shmem_delete(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        assert_null(mrapi_shmem_attach(wrong[i], &status));
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        mrapi_shmem_detach(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        mrapi_shmem_get_attribute(wrong[i], MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
    }
    delete_heap(next);
    (void)mrapi_shmem_create_malloc(MRAPI_MAX_USER_SHMEM_ID + 1, 1, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    (void)mrapi_shmem_create_malloc(KEY, 0, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    assert_int_equal(mrapi_shmem_create_malloc(KEY, 1, NULL, &status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    assert_int_equal(mrapi_shmem_create_malloc(KEY, 1, &attributes, NULL),
                     MRAPI_RETURN_VALUE_INVALID);
}

/* A handle has fewer bits than a slot may have lives. */
static void
an_old_handle_stays_stale(void **state)
{
    static const struct {
        mrapi_uint_t size;
        uint32_t lives;
    } cases[] = {{64, OLD_AGE}, {LARGE, OLD_AGE / 100}};
    mrapi_status_t status;
    mrapi_shmem_hndl_t old, heap;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)made(KEY, cases[i].size, &old);
        delete_heap(old);
        for (uint32_t life = 0; life < cases[i].lives; life++) {
            (void)made(KEY, cases[i].size, &heap);
            assert_int_not_equal(heap, old);
            delete_heap(heap);
        }
        mrapi_shmem_delete(old, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
    }
}

static void
not_a_node(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    (void)state;
    (void)mrapi_shmem_create_malloc(KEY, 1, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
}

/* ---- Sizes and numbers ----------------------------------------------------------------------- */

/* Every byte is there, and no one else's: checked by what was written when all were made. */
static void
any_size(void **state)
{
    static const mrapi_uint_t sizes[] = {1,    63,   64,    65,      80,      81,      128,    129,
                                         1000, 4096, 65536, 1048575, 1048576, 1048577, 5000000};
    enum {
        COUNT = sizeof sizes / sizeof sizes[0]
    };
    unsigned char *blocks[COUNT];
    mrapi_shmem_hndl_t heaps[COUNT];
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            blocks[i] = made(KEY, sizes[i], &heaps[i]);
            memset(blocks[i], i + round, sizes[i]);
        }
        for (int i = 0; i < COUNT; i++) {
            for (mrapi_uint_t b = 0; b < sizes[i]; b++) {
                if (blocks[i][b] != (unsigned char)(i + round)) {
                    fail_msg("a byte of the block of %u", sizes[i]);
                }
            }
            delete_heap(heaps[i]);
        }
    }
}

static void
very_many(void **state)
{
    static uint32_t *blocks[MANY];
    static mrapi_shmem_hndl_t heaps[MANY];
    mrapi_status_t status;
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            blocks[i] = made(i, 64 + i % 1000, &heaps[i]);
            *blocks[i] = i;
        }
        assert_int_equal(mrapi_shmem_get(MANY - 1, &status), heaps[MANY - 1]);
        for (uint32_t i = 0; i < MANY; i++) {
            assert_int_equal(*blocks[i], i);
            delete_heap(heaps[i]);
        }
    }
}

static void
one_key_for_all(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t first, second;
    (void)state;
    assert_ptr_not_equal(made(KEY, 64, &first), made(KEY, 64, &second));
    mrapi_shmem_hndl_t found = mrapi_shmem_get(KEY, &status);
    assert_true(found == first || found == second);
    delete_heap(found);
    assert_int_equal(mrapi_shmem_get(KEY, &status), found == first ? second : first);
    delete_heap(found == first ? second : first);
}

static void
what_is_kept_has_a_limit(void **state)
{
    mrapi_shmem_hndl_t heaps[40];
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        (void)made(KEY, 1 << 20, &heaps[i]);
    }
    for (size_t i = 0; i < 40; i++) {
        delete_heap(heaps[i]);
    }
    assert_true(med_self_get()->heap->kept_bytes <= 2u << 20);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

typedef struct worker {
    mrapi_node_t node;
    atomic32 *exchange; /* handles that one makes and another deletes */
} worker;

static bool
owned(const uint32_t *block, uint32_t me)
{
    return block[0] == me && block[15] == me;
}

/* Makes, passes on to whoever comes next, and deletes what it finds there. */
static void *
works(void *argument)
{
    worker *me = argument;
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    test_random random = test_random_of(me->node);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t size = 64 + random_below(&random, 200);
        mrapi_shmem_hndl_t heap = mrapi_shmem_create_malloc(me->node, size, &attributes, &status);
        if (status != MRAPI_SUCCESS) {
            return "create";
        }
        uint32_t *block = attributes.mem_addr;
        block[0] = block[15] = me->node;
        if (!owned(block, me->node)) {
            return "two have it";
        }
        uint32_t other = atomic32_exchange_acq_rel(me->exchange, heap);
        if (!other) {
            continue;
        }
        block = mrapi_shmem_attach(other, &status);
        if (status != MRAPI_SUCCESS || !owned(block, block[0])) {
            return "attach";
        }
        mrapi_shmem_delete(other, &status);
        if (status != MRAPI_SUCCESS) {
            return "delete";
        }
    }
    return NULL;
}

static void
made_here_and_deleted_there(void **state)
{
    static atomic32 exchange;
    worker workers[WORKERS];
    mrapi_status_t status;
    (void)state;
    atomic32_store_relaxed(&exchange, 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.node = WORKER_FIRST + i, .exchange = &exchange};
        mrapi_thread_parameters_t parameters = {.start_routine = works, .arg = &workers[i]};
        mrapi_thread_create(DOMAIN, workers[i].node, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        void *wrong;
        mrapi_thread_join(DOMAIN, workers[i].node, &wrong, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        if (wrong) {
            fail_msg("%s", (const char *)wrong);
        }
    }
    delete_heap(atomic32_load_relaxed(&exchange)); /* it outlives its maker */
    for (unsigned i = 0; i < WORKERS; i++) {
        (void)mrapi_shmem_get(workers[i].node, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    }
}

typedef struct rivals {
    mrapi_shmem_hndl_t heaps[RIVALRIES];
    atomic32 ready;
} rivals;

/* How many it was that deleted. */
static void *
deletes(void *argument)
{
    rivals *r = argument;
    uintptr_t count = 0;
    (void)atomic32_fetch_add_acq_rel(&r->ready, 1);
    while (atomic32_load_acquire(&r->ready) < 2) {
        med_port_cpu_relax();
    }
    for (int i = 0; i < RIVALRIES; i++) {
        mrapi_status_t status;
        mrapi_shmem_delete(r->heaps[i], &status);
        count += status == MRAPI_SUCCESS;
    }
    return (void *)count;
}

/* Of two who delete the same, one does. */
static void
deleted_once(void **state)
{
    static rivals r;
    mrapi_thread_parameters_t parameters = {.start_routine = deletes, .arg = &r};
    (void)state;
    for (int round = 0; round < 50; round++) {
        mrapi_status_t status;
        uintptr_t counts[2];
        atomic32_store_relaxed(&r.ready, 0);
        for (int i = 0; i < RIVALRIES; i++) {
            (void)made(KEY, 64, &r.heaps[i]);
        }
        for (unsigned i = 0; i < 2; i++) {
            mrapi_thread_create(DOMAIN, WORKER_FIRST + i, &parameters, &status);
            assert_int_equal(status, MRAPI_SUCCESS);
        }
        for (unsigned i = 0; i < 2; i++) {
            mrapi_thread_join(DOMAIN, WORKER_FIRST + i, (void **)&counts[i], &status);
        }
        assert_int_equal(counts[0] + counts[1], RIVALRIES);
    }
}

/* ---- What others delete ---------------------------------------------------------------------- */

static void
on_another_node(void *(*routine)(void *), void *argument)
{
    mrapi_status_t status;
    void *wrong;
    mrapi_thread_parameters_t parameters = {.start_routine = routine, .arg = argument};
    mrapi_thread_create(DOMAIN, WORKER_FIRST, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN, WORKER_FIRST, &wrong, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    if (wrong) {
        fail_msg("%s", (const char *)wrong);
    }
}

/* Of all slots: how many have a block. */
static uint32_t
blocks_there(void)
{
    const med_heap *heap = &med_self_get()->system->heap;
    const med_heap_slot *slot;
    uint32_t count = 0;
    for (uint32_t i = 0; (slot = med_heap_slot_at(heap, i)) != NULL; i++) {
        count += med_heap_block(slot) != NULL;
    }
    return count;
}

static uint32_t
slots_there(void)
{
    return atomic32_load_relaxed(&med_self_get()->system->heap.fresh);
}

static uint32_t
caches_there(void)
{
    uint32_t count = 0;
    for (const med_heap_cache *c = med_self_get()->system->heap.caches; c; c = c->next) {
        count++;
    }
    return count;
}

typedef struct pile {
    uint32_t count;
    mrapi_uint_t size;
    mrapi_shmem_hndl_t heaps[MANY];
} pile;

static void *
makes_pile(void *argument)
{
    pile *p = argument;
    for (uint32_t i = 0; i < p->count; i++) {
        (void)made(KEY, p->size, &p->heaps[i]);
    }
    return NULL;
}

static void *
deletes_pile(void *argument)
{
    const pile *p = argument;
    for (uint32_t i = 0; i < p->count; i++) {
        mrapi_status_t status;
        mrapi_shmem_delete(p->heaps[i], &status);
        if (status != MRAPI_SUCCESS) {
            return "delete";
        }
    }
    return NULL;
}

static void *
is_refused_pile(void *argument)
{
    const pile *p = argument;
    mrapi_status_t status;
    (void)mrapi_shmem_get(KEY, &status);
    if (status != MRAPI_ERR_SHM_ID_INVALID) {
        return "it is found";
    }
    for (uint32_t i = 0; i < p->count; i++) {
        (void)mrapi_shmem_attach(p->heaps[i], &status);
        if (status != MRAPI_ERR_SHM_INVALID) {
            return "it can be attached to";
        }
        mrapi_shmem_delete(p->heaps[i], &status);
        if (status != MRAPI_ERR_SHM_INVALID) {
            return "it is deleted twice";
        }
    }
    return NULL;
}

/* Whoever did, and whoever asks. */
static void
what_was_deleted_is_gone(void **state)
{
    static pile p = {.count = 3};
    static const mrapi_uint_t sizes[] = {64, PAGE, PAGE + 1, LARGE};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        p.size = sizes[i];
        (void)makes_pile(&p);
        assert_null(deletes_pile(&p));
        on_another_node(is_refused_pile, &p);
        (void)makes_pile(&p);
        on_another_node(deletes_pile, &p);
        assert_null(is_refused_pile(&p));
        on_another_node(is_refused_pile, &p);
        (void)makes_pile(&p); /* of the same blocks */
        on_another_node(deletes_pile, &p);
    }
}

/* A maker has again what others deleted. */
static void
it_comes_back_to_its_maker(void **state)
{
    static pile p = {.count = MANY, .size = 64};
    uint32_t before = blocks_there();
    uint32_t slots = 0;
    (void)state;
    for (int round = 0; round < 10; round++) {
        (void)makes_pile(&p);
        on_another_node(deletes_pile, &p);
        assert_int_equal(blocks_there(), before + MANY);
        assert_true(round == 0 || slots_there() == slots);
        slots = slots_there();
    }
}

static void
a_large_one_goes_at_once(void **state)
{
    static pile p = {.count = 20, .size = PAGE + 1};
    (void)state;
    uint32_t before = blocks_there();
    (void)makes_pile(&p);
    on_another_node(deletes_pile, &p);
    assert_int_equal(blocks_there(), before);
}

/* Deletes what its maker left behind, or what it makes still; then comes again, and has its old
 * slots. */
static void
a_maker_that_leaves(void **state)
{
    static pile p = {.count = MANY / 2, .size = 100};
    uint32_t before = blocks_there();
    uint32_t caches = 0;
    (void)state;
    for (int round = 0; round < 20; round++) {
        on_another_node(makes_pile, &p);
        assert_int_equal(blocks_there(), before + p.count);
        if (round % 2) {
            on_another_node(deletes_pile, &p); /* which has its cache */
        } else {
            assert_null(deletes_pile(&p));
        }
        assert_int_equal(blocks_there(), before);
        assert_null(is_refused_pile(&p));
        assert_true(round == 0 || caches_there() == caches);
        caches = caches_there();
    }
}

typedef struct queue {
    atomic32 heaps[QUEUE]; /* 0: none */
} queue;

static void *
deletes_from_queue(void *argument)
{
    queue *q = argument;
    for (uint32_t i = 0; i < ON_THE_WAY; i++) {
        uint32_t heap;
        mrapi_status_t status;
        while ((heap = atomic32_load_acquire(&q->heaps[i % QUEUE])) == 0) {
            med_port_yield();
        }
        atomic32_store_release(&q->heaps[i % QUEUE], 0);
        mrapi_shmem_delete(heap, &status);
        if (status != MRAPI_SUCCESS) {
            return "delete";
        }
    }
    return NULL;
}

/* One makes, another deletes: no more blocks than are on the way, and come back at a time. */
static void
always_the_same_blocks(void **state)
{
    static queue q;
    void *wrong;
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = deletes_from_queue, .arg = &q};
    uint32_t blocks = blocks_there();
    uint32_t slots = slots_there();
    (void)state;
    mrapi_thread_create(DOMAIN, WORKER_FIRST, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    for (uint32_t i = 0; i < ON_THE_WAY; i++) {
        mrapi_shmem_hndl_t heap;
        *(uint32_t *)made(KEY, 1024, &heap) = i;
        while (atomic32_load_acquire(&q.heaps[i % QUEUE]) != 0) {
            med_port_yield();
        }
        atomic32_store_release(&q.heaps[i % QUEUE], heap);
    }
    mrapi_thread_join(DOMAIN, WORKER_FIRST, &wrong, &status);
    assert_null(wrong);
    assert_true(blocks_there() - blocks <= 2 * (QUEUE + 2));
    assert_true(slots_there() - slots <= MED_HEAP_SLOTS_PER_CHUNK);
}

/* Its maker deletes each at the same time as another: it goes once, whoever is told that he did. */
static void
its_maker_deletes_it_too(void **state)
{
    static rivals r;
    mrapi_thread_parameters_t parameters = {.start_routine = deletes, .arg = &r};
    (void)state;
    for (int round = 0; round < 100; round++) {
        mrapi_status_t status;
        uintptr_t others, own;
        mrapi_uint_t size = round % 4 == 0 ? PAGE + 1 : 64;
        atomic32_store_relaxed(&r.ready, 0);
        for (uint32_t i = 0; i < RIVALRIES; i++) {
            *(uint32_t *)made(KEY, size, &r.heaps[i]) = i;
        }
        mrapi_thread_create(DOMAIN, WORKER_FIRST, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        own = (uintptr_t)deletes(&r);
        mrapi_thread_join(DOMAIN, WORKER_FIRST, (void **)&others, &status);
        assert_true(size > PAGE ? own + others == RIVALRIES
                                : own + others >= RIVALRIES && own + others <= 2 * RIVALRIES);
        for (uint32_t i = 0; i < RIVALRIES; i++) {
            (void)mrapi_shmem_attach(r.heaps[i], &status);
            assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        }
    }
    static uint32_t *blocks[RIVALRIES];
    for (uint32_t i = 0; i < RIVALRIES; i++) {
        blocks[i] = made(KEY, 64, &r.heaps[i]);
        *blocks[i] = i;
    }
    for (uint32_t i = 0; i < RIVALRIES; i++) {
        assert_int_equal(*blocks[i], i);
        delete_heap(r.heaps[i]);
    }
}

/* Who set RETURNED and has not pushed the slot yet finds it where it was, however long he takes. */
static void
what_comes_back_stays_its_makers(void **state)
{
    mrapi_shmem_hndl_t first, heap;
    (void)state;
    (void)made(KEY, 64, &first);
    med_heap *heaps = &med_self_get()->system->heap;
    med_heap_slot *slot = med_heap_slot_of(heaps, first);
    delete_heap(first);
    (void)atomic32_fetch_or_relaxed(&slot->ended, MED_HEAP_RETURNED);
    for (uint32_t life = 0; life < OLD_AGE; life++) {
        (void)made(KEY, life % 2 ? 64 : LARGE, &heap);
        delete_heap(heap);
        assert_ptr_equal(med_heap_maker(slot), med_self_get()->heap);
    }
    for (const med_heap_slot *resting = heaps->bare; resting; resting = resting->next) {
        assert_ptr_not_equal(resting, slot);
    }
    (void)atomic32_fetch_and_relaxed(&slot->ended, ~MED_HEAP_RETURNED);
}

/* Before a slot is another's, and so often that lives can be compared. */
static void
lives_are_marked_as_over(void **state)
{
    mrapi_shmem_hndl_t heap;
    (void)state;
    for (uint32_t life = 0; life < OLD_AGE; life++) {
        (void)made(KEY, 64, &heap);
        delete_heap(heap);
    }
    const med_heap *heaps = &med_self_get()->system->heap;
    const med_heap_slot *slot;
    for (uint32_t i = 0; (slot = med_heap_slot_at(heaps, i)) != NULL; i++) {
        uint32_t unmarked =
            atomic32_load_relaxed(&slot->state) - atomic32_load_relaxed(&slot->ended);
        assert_true(unmarked <= 256 * MED_HEAP_LIFE);
    }
    for (slot = heaps->bare; slot; slot = slot->next) {
        assert_int_equal(atomic32_load_relaxed(&slot->state), atomic32_load_relaxed(&slot->ended));
    }
}

/* ---- Beside shared memory -------------------------------------------------------------------- */

static void
without_malloc_it_is_shared(void **state)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_FALSE};
    (void)state;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create_malloc(KEY, 100, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    memset(attributes.mem_addr, 1, 100);
    mrapi_shmem_delete(shmem, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_ATTCH);
    assert_null(mrapi_shmem_attach(shmem, &status));
    assert_int_equal(status, MRAPI_ERR_SHM_ATTACHED);
    mrapi_shmem_attributes_t again = {.use_malloc = MCA_FALSE};
    (void)mrapi_shmem_create_malloc(KEY, 100, &again, &status);
    assert_int_equal(status, MRAPI_ERR_SHM_EXISTS);
    /* By number, the one that all processes see comes first. */
    mrapi_shmem_hndl_t heap;
    (void)made(KEY, 64, &heap);
    assert_int_equal(mrapi_shmem_get(KEY, &status), shmem);
    delete_heap(heap);
    mrapi_shmem_detach(shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    delete_heap(shmem);
}

/* Who leaves with one attached has it attached no more: each row is the next one's again. */
static void
without_malloc_it_outlives_its_maker(void **state)
{
    mrapi_status_t status;
    uint32_t rows = 1;
    for (uint32_t i = 0; i <= rows; i++) {
        mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_FALSE};
        (void)node_up(state);
        rows = med_self_get()->system->limits.shmems;
        (void)mrapi_shmem_create_malloc(KEY, 100, &attributes, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        (void)node_down(state);
        (void)node_up(state);
        delete_heap(mrapi_shmem_get(KEY, &status));
        (void)node_down(state);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_a_node),
        cmocka_unit_test_setup_teardown(one_life, node_up, node_down),
        cmocka_unit_test_setup_teardown(stale_and_wrong, node_up, node_down),
        cmocka_unit_test_setup_teardown(an_old_handle_stays_stale, node_up, node_down),
        cmocka_unit_test_setup_teardown(any_size, node_up, node_down),
        cmocka_unit_test_setup_teardown(very_many, node_up, node_down),
        cmocka_unit_test_setup_teardown(one_key_for_all, node_up, node_down),
        cmocka_unit_test_setup_teardown(what_is_kept_has_a_limit, node_up, node_down),
        cmocka_unit_test_setup_teardown(made_here_and_deleted_there, node_up, node_down),
        cmocka_unit_test_setup_teardown(deleted_once, node_up, node_down),
        cmocka_unit_test_setup_teardown(what_was_deleted_is_gone, node_up, node_down),
        cmocka_unit_test_setup_teardown(it_comes_back_to_its_maker, node_up, node_down),
        cmocka_unit_test_setup_teardown(a_large_one_goes_at_once, node_up, node_down),
        cmocka_unit_test_setup_teardown(a_maker_that_leaves, node_up, node_down),
        cmocka_unit_test_setup_teardown(always_the_same_blocks, node_up, node_down),
        cmocka_unit_test_setup_teardown(its_maker_deletes_it_too, node_up, node_down),
        cmocka_unit_test_setup_teardown(what_comes_back_stays_its_makers, node_up, node_down),
        cmocka_unit_test_setup_teardown(lives_are_marked_as_over, node_up, node_down),
        cmocka_unit_test_setup_teardown(without_malloc_it_is_shared, node_up, node_down),
        cmocka_unit_test(without_malloc_it_outlives_its_maker),
    };
    (void)test_seed(); /* before there are threads */
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
