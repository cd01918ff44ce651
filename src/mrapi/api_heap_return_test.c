/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory that another deletes than the node that made it: it is gone once, comes back to its
 * maker or stays with who deleted it, and is kept from nobody. Run in a private system and in a
 * named one.
 */
#include "mrapi/api_heap_test.h"

#include "mrapi/heap_return.h"

#define RIVALRIES 1000
#define PAGE 4096u /* up to there its maker deletes by a store */
#define QUEUE 512u
#define ON_THE_WAY 1000000u

/* ---- Deleted once ---------------------------------------------------------------------------- */

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

/* ---- Coming back ----------------------------------------------------------------------------- */

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

/* Of all slots: how many wait for their maker. */
static uint32_t
returned_there(void)
{
    const med_heap *heap = &med_self_get()->system->heap;
    const med_heap_slot *slot;
    uint32_t count = 0;
    for (uint32_t i = 0; (slot = med_heap_slot_at(heap, i)) != NULL; i++) {
        count += atomic32_load_relaxed(&slot->ended) & MED_HEAP_RETURNED;
    }
    return count;
}

/* A maker has again what others deleted, as many as may wait for him. */
static void
it_comes_back_to_its_maker(void **state)
{
    static pile p = {.count = MED_HEAP_RETURNS - 1, .size = 64};
    uint32_t before = blocks_there();
    uint32_t slots = 0;
    (void)state;
    for (int round = 0; round < 10; round++) {
        (void)makes_pile(&p);
        on_another_node(deletes_pile, &p);
        assert_int_equal(returned_there(), p.count);
        assert_int_equal(blocks_there(), before + p.count);
        assert_true(round == 0 || slots_there() == slots);
        slots = slots_there();
    }
    (void)makes_pile(&p);
    assert_int_equal(returned_there(), 0);
    assert_null(deletes_pile(&p));
}

static void *
makes_and_deletes_pile(void *argument)
{
    pile own = {.count = 1, .size = 64};
    (void)makes_pile(&own);
    (void)deletes_pile(&own);
    void *wrong = deletes_pile(argument);
    if (returned_there() >= MED_HEAP_RETURNS) {
        return "they wait for their maker";
    }
    uint32_t slots = slots_there();
    uint32_t blocks = blocks_there();
    own.count = MANY / 2;
    (void)makes_pile(&own);
    if (slots_there() != slots || blocks_there() > blocks + MED_HEAP_RETURNS) {
        return "it does not make of them";
    }
    return wrong ? wrong : deletes_pile(&own);
}

/* What more there is goes to who deletes it: he keeps it, or leaves it to the heap if he makes
 * nothing. */
static void
a_maker_that_is_idle_keeps_few(void **state)
{
    static pile p = {.count = MANY, .size = 64};
    uint32_t before = blocks_there();
    uint32_t slots = 0;
    (void)state;
    for (int round = 0; round < 10; round++) {
        (void)makes_pile(&p);
        on_another_node(round % 2 ? makes_and_deletes_pile : deletes_pile, &p);
        assert_true(returned_there() < MED_HEAP_RETURNS);
        assert_true(blocks_there() < before + MED_HEAP_RETURNS);
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
    for (uint32_t life = 0; life < OLD_AGE / 10; life++) {
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

/* ---- At the limit ---------------------------------------------------------------------------- */

typedef struct crowd {
    mrapi_shmem_hndl_t heaps[MED_HEAP_SLOTS_MAX - MED_HEAP_SLOTS_PER_CHUNK];
    uint32_t count;
    atomic32 made;
    atomic32 over;
} crowd;

/* Nearly all there can be; then it is there, and does nothing. */
static void *
makes_crowd(void *argument)
{
    crowd *c = argument;
    c->count = MED_HEAP_SLOTS_MAX - MED_HEAP_SLOTS_PER_CHUNK;
    for (uint32_t i = 0; i < c->count; i++) {
        (void)made(KEY, 64, &c->heaps[i]);
    }
    atomic32_store_release(&c->made, 1);
    while (!atomic32_load_acquire(&c->over)) {
        med_port_yield();
    }
    return NULL;
}

static void
what_was_deleted_can_be_made(void **state)
{
    static crowd c;
    static pile p = {.count = MANY, .size = 64};
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = makes_crowd, .arg = &c};
    (void)state;
    atomic32_store_relaxed(&c.made, 0);
    atomic32_store_relaxed(&c.over, 0);
    mrapi_thread_create(DOMAIN, WORKER_FIRST, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    while (!atomic32_load_acquire(&c.made)) {
        med_port_yield();
    }
    for (uint32_t i = 0; i < c.count; i++) {
        delete_heap(c.heaps[i]);
    }
    (void)makes_pile(&p);
    assert_null(deletes_pile(&p));
    atomic32_store_release(&c.over, 1);
    mrapi_thread_join(DOMAIN, WORKER_FIRST, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deleted_once, node_up, node_down),
        cmocka_unit_test_setup_teardown(what_was_deleted_is_gone, node_up, node_down),
        cmocka_unit_test_setup_teardown(it_comes_back_to_its_maker, node_up, node_down),
        cmocka_unit_test_setup_teardown(a_maker_that_is_idle_keeps_few, node_up, node_down),
        cmocka_unit_test_setup_teardown(a_large_one_goes_at_once, node_up, node_down),
        cmocka_unit_test_setup_teardown(a_maker_that_leaves, node_up, node_down),
        cmocka_unit_test_setup_teardown(always_the_same_blocks, node_up, node_down),
        cmocka_unit_test_setup_teardown(its_maker_deletes_it_too, node_up, node_down),
        cmocka_unit_test_setup_teardown(what_comes_back_stays_its_makers, node_up, node_down),
        cmocka_unit_test_setup_teardown(lives_are_marked_as_over, node_up, node_down),
        cmocka_unit_test_setup_teardown(what_was_deleted_can_be_made, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
