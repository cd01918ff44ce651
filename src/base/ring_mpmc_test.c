/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ring with many producers and consumers: results, laps, claims, death, scribbling. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/ring_mpmc.h"
#include "base/ring_stress.h"

/* Every counter passes zero in every test of more than a few elements. */
#define NEAR_WRAP (UINT32_MAX - 5)

typedef struct fixture {
    uint8_t *memory;
    uint32_t size_bytes;
    med_ring_mpmc_view view;
    med_ring_mpmc_side side; /* owner 1 */
} fixture;

static medley_status_t
attach(fixture *f, med_ring_mpmc_view *view)
{
    return med_ring_mpmc_attach(view, f->memory, f->size_bytes, MED_PORT_SCOPE_SHARED);
}

static void
ring_start_at(fixture *f, uint32_t capacity, uint32_t sides, uint32_t first_index)
{
    med_ring_mpmc_config config = {sizeof(uint64_t), capacity, sides, first_index};
    assert_int_equal(med_ring_mpmc_size(&config, &f->size_bytes), MEDLEY_OK);
    f->memory =
        mmap(NULL, f->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(f->memory, MAP_FAILED);
    assert_int_equal(med_ring_mpmc_init(f->memory, f->size_bytes, &config), MEDLEY_OK);
    assert_int_equal(attach(f, &f->view), MEDLEY_OK);
    assert_int_equal(med_ring_mpmc_join(&f->side, &f->view, 1), MEDLEY_OK);
}

static void
ring_start(fixture *f, uint32_t capacity, uint32_t sides)
{
    ring_start_at(f, capacity, sides, NEAR_WRAP);
}

static void
ring_end(fixture *f)
{
    assert_int_equal(munmap(f->memory, f->size_bytes), 0);
}

static med_ring_mpmc_side
joined(fixture *f, uint32_t owner)
{
    med_ring_mpmc_side side = {0};
    assert_int_equal(med_ring_mpmc_join(&side, &f->view, owner), MEDLEY_OK);
    return side;
}

static void
push(med_ring_mpmc_side *side, uint64_t value)
{
    assert_int_equal(med_ring_mpmc_push(side, &value), MEDLEY_OK);
}

static void
expect(med_ring_mpmc_side *side, uint64_t expected)
{
    uint64_t value = ~expected;
    assert_int_equal(med_ring_mpmc_pop(side, &value), MEDLEY_OK);
    assert_int_equal(value, expected);
}

static void
expect_push(med_ring_mpmc_side *side, medley_status_t expected)
{
    uint64_t value = 0;
    assert_int_equal(med_ring_mpmc_push(side, &value), expected);
}

static void
expect_pop(med_ring_mpmc_side *side, medley_status_t expected)
{
    uint64_t value = 0;
    assert_int_equal(med_ring_mpmc_pop(side, &value), expected);
}

static void
reserve(med_ring_mpmc_side *side, uint64_t value)
{
    void *slot = NULL;
    assert_int_equal(med_ring_mpmc_reserve(side, &slot), MEDLEY_OK);
    *(uint64_t *)slot = value;
}

static uint64_t
take(med_ring_mpmc_side *side)
{
    void *element = NULL;
    assert_int_equal(med_ring_mpmc_take(side, &element), MEDLEY_OK);
    return *(uint64_t *)element;
}

static atomic32 *
word_at(fixture *f, uint32_t slot)
{
    return (atomic32 *)(void *)(f->view.slots + (size_t)slot * f->view.stride_bytes);
}

/* ---- Making and attaching -------------------------------------------------------------------- */

static void
size_refuses_what_is_outside_its_limits(void **state)
{
    (void)state;
    static const med_ring_mpmc_config wrong[] = {
        {0, 8, 1, 0},
        {MED_RING_ELEMENT_MAX + 1, 8, 1, 0},
        {8, 0, 1, 0},
        {8, 7, 1, 0},
        {8, 2 * MED_RING_CAPACITY_MAX, 1, 0},
        {8, 8, 0, 0},
        {8, 8, MED_RING_MPMC_SIDES_MAX + 1, 0},
        {MED_RING_ELEMENT_MAX, 1u << 16, 1, 0}, /* 4 GiB */
    };
    _Alignas(128) static uint8_t memory[4096];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint32_t size_bytes = 77;
        assert_int_equal(med_ring_mpmc_size(&wrong[i], &size_bytes), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(size_bytes, 77);
        assert_int_equal(med_ring_mpmc_init(memory, sizeof memory, &wrong[i]), MEDLEY_ERR_ARGUMENT);
    }
    med_ring_mpmc_config right = {8, 8, 3, 0};
    uint32_t size_bytes = 0;
    assert_int_equal(med_ring_mpmc_size(&right, &size_bytes), MEDLEY_OK);
    assert_int_equal(med_ring_mpmc_init(memory, size_bytes - 1, &right), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_mpmc_init(memory + 8, size_bytes, &right), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_mpmc_init(memory, size_bytes, &right), MEDLEY_OK);
}

static void
attach_believes_no_field(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 33);
    med_ring_mpmc_shape *shape = &f.view.ring->shape;
    atomic32 *fields[] = {&shape->element_bytes, &shape->capacity, &shape->stride_bytes,
                          &shape->size_bytes};
    med_ring_mpmc_view view = {.sides = 77};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint32_t right = atomic32_load_relaxed(fields[i]);
        uint32_t wrong[] = {0, right + 1, right * 2, right | 0x80000000u, UINT32_MAX};
        for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
            atomic32_store_relaxed(fields[i], wrong[k]);
            assert_int_equal(attach(&f, &view), MEDLEY_ERR_CORRUPT);
            assert_int_equal(view.sides, 77);
        }
        atomic32_store_relaxed(fields[i], right);
    }
    static const uint32_t wrong_sides[] = {0, 32, 65, 257, UINT32_MAX};
    for (size_t k = 0; k < sizeof wrong_sides / sizeof wrong_sides[0]; k++) {
        atomic32_store_relaxed(&shape->sides, wrong_sides[k]);
        assert_int_equal(attach(&f, &view), MEDLEY_ERR_CORRUPT);
    }
    atomic32_store_relaxed(&shape->sides, 33);
    assert_int_equal(med_ring_mpmc_attach(&view, f.memory, f.size_bytes - 1, MED_PORT_SCOPE_SHARED),
                     MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_ring_mpmc_attach(&view, f.memory, 8, MED_PORT_SCOPE_SHARED),
                     MEDLEY_ERR_CORRUPT);
    assert_int_equal(
        med_ring_mpmc_attach(&view, f.memory + 8, f.size_bytes - 8, MED_PORT_SCOPE_SHARED),
        MEDLEY_ERR_ARGUMENT);
    atomic32_store_relaxed(&shape->stamp.version, MED_RING_MPMC_VERSION + 1);
    assert_int_equal(attach(&f, &view), MEDLEY_ERR_VERSION);
    atomic32_store_relaxed(&shape->stamp.kind, __builtin_bswap32(MED_RING_MPMC_KIND));
    assert_int_equal(attach(&f, &view), MEDLEY_ERR_BYTE_ORDER);
    ring_end(&f);
}

static void
a_side_has_one_owner(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpmc_side second = joined(&f, 2);
    med_ring_mpmc_side third;
    assert_int_equal(med_ring_mpmc_join(&third, &f.view, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_mpmc_join(&third, &f.view, 3), MEDLEY_ERR_LIMIT);
    assert_int_equal(med_ring_mpmc_leave(&second), MEDLEY_OK);
    assert_int_equal(med_ring_mpmc_leave(&second), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_ring_mpmc_join(&third, &f.view, 3), MEDLEY_OK);
    assert_int_equal(third.number, second.number);
    ring_end(&f);
}

/* ---- Passing elements ------------------------------------------------------------------------ */

static void
full_and_empty_around_the_ring(void **state)
{
    (void)state;
    static const uint32_t capacities[] = {1, 2, 8, 4096};
    for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++) {
        fixture f;
        uint32_t capacity = capacities[c];
        ring_start(&f, capacity, 2);
        uint64_t sent = 0, received = 0;
        for (uint32_t round = 0; round < 7; round++) {
            expect_pop(&f.side, MEDLEY_EMPTY);
            for (uint32_t i = 0; i < capacity; i++) {
                push(&f.side, sent++);
            }
            expect_push(&f.side, MEDLEY_FULL);
            while (received < sent) {
                expect(&f.side, received++);
            }
        }
        ring_end(&f);
    }
}

/* The lap's own 21 bits pass zero too. */
static void
laps_wrap(void **state)
{
    (void)state;
    static const uint32_t firsts[] = {(1u << 22) - 5, (1u << 23) - 9, UINT32_MAX - 9};
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        fixture f;
        ring_start_at(&f, 2, 1, firsts[i]);
        for (uint64_t value = 0; value < 50; value++) {
            push(&f.side, value);
            push(&f.side, ~value);
            expect_push(&f.side, MEDLEY_FULL);
            expect(&f.side, value);
            expect(&f.side, ~value);
            expect_pop(&f.side, MEDLEY_EMPTY);
        }
        ring_end(&f);
    }
}

static void
claims_keep_the_order(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 2, 3);
    med_ring_mpmc_side second = joined(&f, 2);
    med_ring_mpmc_side third = joined(&f, 3);
    reserve(&f.side, 10);
    reserve(&f.side, 11); /* the same slot */
    push(&second, 20);
    expect_push(&third, MEDLEY_FULL);
    expect_pop(&third, MEDLEY_EMPTY_PRODUCER_INSERTING);
    med_ring_mpmc_commit(&f.side);
    assert_int_equal(take(&third), 11);
    assert_int_equal(take(&third), 11); /* the same element */
    expect(&second, 20);
    expect_pop(&second, MEDLEY_EMPTY);
    expect_push(&second, MEDLEY_FULL_CONSUMER_READING);
    med_ring_mpmc_release(&third);
    push(&second, 21);
    push(&second, 22);
    expect(&third, 21);
    expect(&third, 22);
    ring_end(&f);
}

static void
what_was_cancelled_is_passed_over(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 2);
    med_ring_mpmc_side second = joined(&f, 2);
    for (uint64_t i = 0; i < 10; i++) {
        reserve(&f.side, 666);
        push(&second, i);
        reserve(&second, 667);
        med_ring_mpmc_reserve_cancel(&f.side);
        assert_int_equal(med_ring_mpmc_leave(&second), MEDLEY_OK); /* cancels */
        expect(&f.side, i);
        expect_pop(&f.side, MEDLEY_EMPTY);
        second = joined(&f, 2);
    }
    push(&f.side, 5);
    assert_int_equal(take(&second), 5);
    assert_int_equal(med_ring_mpmc_leave(&second), MEDLEY_OK); /* releases */
    for (uint64_t i = 0; i < 4; i++) {
        push(&f.side, i);
    }
    ring_end(&f);
}

static void
changes_wake(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 2);
    med_ring_mpmc *ring = f.view.ring;
    atomic32_store_relaxed(&ring->data.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&ring->space.word, MED_WAIT_SLEEPS);
    push(&f.side, 1);
    assert_int_equal(atomic32_load_relaxed(&ring->data.word), MED_WAIT_SLEEPS + 1);
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_SLEEPS);
    expect(&f.side, 1);
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_SLEEPS + 1);
    reserve(&f.side, 2);
    atomic32_store_relaxed(&ring->data.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&ring->space.word, MED_WAIT_SLEEPS);
    med_ring_mpmc_reserve_cancel(&f.side);
    assert_int_equal(atomic32_load_relaxed(&ring->data.word), MED_WAIT_SLEEPS + 1);
    expect_pop(&f.side, MEDLEY_EMPTY); /* skips */
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_SLEEPS + 1);
    atomic32_store_relaxed(&ring->data.word, MED_WAIT_SLEEPS);
    atomic32_store_relaxed(&ring->space.word, MED_WAIT_SLEEPS);
    assert_int_equal(med_ring_mpmc_recover(&f.view, 1, NULL), 1);
    assert_int_equal(atomic32_load_relaxed(&ring->data.word), MED_WAIT_SLEEPS + 1);
    assert_int_equal(atomic32_load_relaxed(&ring->space.word), MED_WAIT_SLEEPS + 1);
    ring_end(&f);
}

static void
waiting_ends_at_the_deadline(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 1, 1);
    void *slot = NULL;
    uint64_t soon_ns = med_port_clock_ns() + 1000;
    assert_int_equal(med_ring_mpmc_take_until(&f.side, 0, &slot), MEDLEY_TIMEOUT);
    assert_int_equal(med_ring_mpmc_take_until(&f.side, soon_ns, &slot), MEDLEY_TIMEOUT);
    push(&f.side, 1);
    assert_int_equal(med_ring_mpmc_reserve_until(&f.side, soon_ns, &slot), MEDLEY_TIMEOUT);
    assert_int_equal(med_ring_mpmc_take_until(&f.side, 0, &slot), MEDLEY_OK);
    ring_end(&f);
}

/* ---- Death ----------------------------------------------------------------------------------- */

static void
recover_undoes_the_claims_of_the_dead(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 4);
    for (uint64_t round = 0; round < 20; round++) {
        med_ring_mpmc_side writer = joined(&f, 2);
        med_ring_mpmc_side reader = joined(&f, 2);
        push(&f.side, 10);
        assert_int_equal(take(&reader), 10);
        reserve(&writer, 666);
        push(&f.side, 11);
        expect_pop(&f.side, MEDLEY_EMPTY_PRODUCER_INSERTING);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 0, NULL), 0);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 7, NULL), 0);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 2, NULL), 4);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 2, NULL), 0);
        expect(&f.side, 11);
        expect_pop(&f.side, MEDLEY_EMPTY);
        for (uint64_t i = 0; i < 4; i++) {
            push(&f.side, i);
        }
        expect_push(&f.side, MEDLEY_FULL);
        for (uint64_t i = 0; i < 4; i++) {
            expect(&f.side, i);
        }
    }
    ring_end(&f);
}

/* Killed between the claim and the counter's moving on. */
static void
counters_that_stand_behind_are_moved_on(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 3);
    med_ring_mpmc_side dead = joined(&f, 2);
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t index = atomic32_load_relaxed(&f.view.ring->tail);
        reserve(&dead, 666);
        atomic32_store_relaxed(&f.view.ring->tail, index);
        if (i % 2) {
            push(&f.side, i);
        }
        assert_int_equal(med_ring_mpmc_recover(&f.view, 2, NULL), 2);
        if (i % 2 == 0) {
            expect_pop(&f.side, MEDLEY_EMPTY); /* skips, and head is ahead of tail */
            push(&f.side, i);
        }
        dead = joined(&f, 2);
        assert_int_equal(take(&dead), i);
        atomic32_store_relaxed(&f.view.ring->head, dead.taken);
        expect_pop(&f.side, MEDLEY_EMPTY);
        assert_int_equal(med_ring_mpmc_recover(&f.view, 2, NULL), 2);
        atomic32_store_relaxed(&f.view.ring->head, dead.taken); /* its slot is free again by now */
        expect_pop(&f.side, MEDLEY_EMPTY);
        dead = joined(&f, 2);
    }
    ring_end(&f);
}

static void
keep_one(void *context, const void *element)
{
    uint64_t *kept = context;
    *kept = *kept * 100 + *(const uint64_t *)element;
}

static void
what_a_dead_consumer_had_can_be_kept(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 3);
    med_ring_mpmc_side dead = joined(&f, 2);
    med_ring_mpmc_side helper = joined(&f, 3);
    push(&f.side, 10);
    assert_int_equal(take(&dead), 10);
    uint64_t kept = 0;
    med_ring_mpmc_salvage salvage = {&helper, keep_one, &kept};
    assert_int_equal(med_ring_mpmc_recover(&f.view, 2, &salvage), 2);
    assert_int_equal(kept, 10);
    assert_int_equal(med_ring_mpmc_recover(&f.view, 2, &salvage), 0);
    assert_int_equal(kept, 10);
    for (uint64_t i = 0; i < 4; i++) {
        push(&f.side, i);
    }
    ring_end(&f);
}

/* What a child tells its parent, in shared memory: it dies between any two instructions. */
typedef struct diary {
    atomic32 begun; /* the number of the element it is about to pass, plus one */
    atomic32 done;  /* of the last that it passed, plus one */
} diary;

static diary *
diary_new(void)
{
    diary *d = mmap(NULL, sizeof *d, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(d, MAP_FAILED);
    return d;
}

/* A child that nobody kills, because a test failed, ends itself some time. */
#define CHILD_SECONDS 60

static pid_t
child_start(fixture *f, void (*run)(med_ring_mpmc_side *side, diary *d), diary *d)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)alarm(CHILD_SECONDS);
        med_ring_mpmc_side side;
        if (med_ring_mpmc_join(&side, &f->view, 2) == MEDLEY_OK) {
            run(&side, d);
        }
        _exit(1);
    }
    return pid;
}

static void
child_kill(pid_t pid)
{
    int how;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFSIGNALED(how));
}

static void
produce_for_ever(med_ring_mpmc_side *side, diary *d)
{
    uint64_t number = atomic32_load_relaxed(&d->done);
    for (;;) {
        /* Relaxed, both: read after the kernel has told of the death. */
        atomic32_store_relaxed(&d->begun, (uint32_t)number + 1);
        if (med_ring_mpmc_push(side, &number) == MEDLEY_OK) {
            atomic32_store_relaxed(&d->done, (uint32_t)++number);
        }
    }
}

/* A child produces, is killed at some instruction, recovered, replaced. */
static void
producers_are_killed(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    diary *d = diary_new();
    uint64_t next = 0;
    for (uint32_t kills = 0; kills < 60; kills++) {
        pid_t pid = child_start(&f, produce_for_ever, d);
        uint64_t value;
        for (uint64_t wanted = next + 1 + kills * 7 % 40; next < wanted;) {
            if (med_ring_mpmc_pop(&f.side, &value) == MEDLEY_OK) {
                assert_int_equal(value, next++);
            }
        }
        child_kill(pid);
        (void)med_ring_mpmc_recover(&f.view, 2, NULL);
        while (med_ring_mpmc_pop(&f.side, &value) == MEDLEY_OK) {
            assert_int_equal(value, next++);
        }
        expect_pop(&f.side, MEDLEY_EMPTY); /* nothing stands in the way */
        uint32_t done = atomic32_load_relaxed(&d->done);
        assert_in_range(next, done, atomic32_load_relaxed(&d->begun));
        atomic32_store_relaxed(&d->done, (uint32_t)next);
    }
    ring_end(&f);
}

static void
consume_for_ever(med_ring_mpmc_side *side, diary *d)
{
    for (;;) {
        void *element;
        if (med_ring_mpmc_take(side, &element) == MEDLEY_OK) {
            uint32_t number = (uint32_t) * (uint64_t *)element;
            atomic32_store_relaxed(&d->begun, number + 1); /* relaxed, both: as above */
            med_ring_mpmc_release(side);
            atomic32_store_relaxed(&d->done, number + 1);
        }
    }
}

/* What a consumer had in hand when it was killed is kept; before it nothing is missing, after it
 * everything is there. */
static void
consumers_are_killed(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    diary *d = diary_new();
    uint64_t sent = 0;
    for (uint32_t kills = 0; kills < 60; kills++) {
        pid_t pid = child_start(&f, consume_for_ever, d);
        for (uint64_t enough = sent + 40 + kills; sent < enough;) {
            sent += med_ring_mpmc_push(&f.side, &sent) == MEDLEY_OK;
        }
        child_kill(pid);
        uint64_t kept = 0;
        med_ring_mpmc_salvage salvage = {&f.side, keep_one, &kept};
        uint32_t recovered = med_ring_mpmc_recover(&f.view, 2, &salvage);
        uint64_t next = sent - 8;
        uint64_t value;
        uint64_t first = sent;
        while (med_ring_mpmc_pop(&f.side, &value) == MEDLEY_OK) {
            first = first == sent ? value : first;
            next = first == value ? value : next;
            assert_int_equal(value, next++);
        }
        uint32_t begun = atomic32_load_relaxed(&d->begun);
        if (recovered == 2) { /* it had one in hand, and perhaps had looked at it */
            assert_int_equal(kept + 1, first);
            assert_in_range(begun, first - 1, first);
        } else {
            assert_int_equal(begun, first);
        }
        atomic32_store_relaxed(&d->begun, (uint32_t)sent);
    }
    ring_end(&f);
}

typedef struct recovery {
    fixture *f;
    atomic32 ready;
} recovery;

static void *
recover_two(void *argument)
{
    recovery *r = argument;
    (void)atomic32_fetch_add_acq_rel(&r->ready, 1);
    while (atomic32_load_acquire(&r->ready) < 3) { /* relaxed would do: only to begin together */
        med_port_yield();
    }
    return (void *)(uintptr_t)med_ring_mpmc_recover(&r->f->view, 2, NULL);
}

static void
several_recover_at_once(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 64, 40);
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 32; i++) {
            med_ring_mpmc_side dead = joined(&f, 2);
            reserve(&dead, 666);
            push(&f.side, i);
        }
        recovery r = {.f = &f};
        med_port_thread threads[3];
        uintptr_t recovered = 0;
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(med_port_thread_start(&threads[i], NULL, recover_two, &r), MEDLEY_OK);
        }
        for (uint32_t i = 0; i < 3; i++) {
            void *result = NULL;
            assert_int_equal(med_port_thread_join(threads[i], &result), MEDLEY_OK);
            recovered += (uintptr_t)result;
        }
        assert_int_equal(recovered, 64);
        for (uint64_t i = 0; i < 32; i++) {
            expect(&f.side, i);
        }
        expect_pop(&f.side, MEDLEY_EMPTY);
    }
    ring_end(&f);
}

/* ---- Scribbling ------------------------------------------------------------------------------ */

static void
scribbled_words_end_in_a_status(void **state)
{
    (void)state;
    static const uint32_t patterns[] = {0, 1, 0x700, 0x7ff, 0x80000000u, UINT32_MAX, 0x12345678};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        fixture f;
        ring_start(&f, 4, 3);
        for (uint32_t slot = 0; slot < 4; slot++) {
            atomic32_store_relaxed(word_at(&f, slot), patterns[i]);
        }
        uint64_t value = 0;
        for (uint32_t round = 0; round < 10; round++) {
            assert_int_not_equal(med_ring_mpmc_push(&f.side, &value), MEDLEY_OK);
            assert_int_not_equal(med_ring_mpmc_pop(&f.side, &value), MEDLEY_OK);
        }
        (void)med_ring_mpmc_recover(&f.view, 2, NULL);
        ring_end(&f);
    }
}

static void
scribbled_counters_end_in_a_status(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {1, 3, 4, 5, 1000, 0x7fffffff, 0x80000000u, 0xfffffff0u};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        fixture f;
        ring_start(&f, 4, 3);
        uint64_t value = 0;
        atomic32_store_relaxed(&f.view.ring->tail, NEAR_WRAP + offsets[i]);
        (void)med_ring_mpmc_push(&f.side, &value);
        atomic32_store_relaxed(&f.view.ring->head, NEAR_WRAP - offsets[i]);
        (void)med_ring_mpmc_pop(&f.side, &value);
        assert_int_not_equal(med_ring_mpmc_pop(&f.side, &value), MEDLEY_OK);
        ring_end(&f);
    }
}

/* ---- Many threads ---------------------------------------------------------------------------- */

static bool
stress_push(ring_stress_side *side, uint64_t value)
{
    return med_ring_mpmc_push(side->own, &value) == MEDLEY_OK;
}

static bool
stress_pop(ring_stress_side *side, uint64_t *value)
{
    return med_ring_mpmc_pop(side->own, value) == MEDLEY_OK;
}

/* Thinks better of some of its reservations. */
static bool
stress_push_doubting(ring_stress_side *side, uint64_t value)
{
    void *slot;
    if (ring_stress_random(side) % 8 == 0 && med_ring_mpmc_reserve(side->own, &slot) == MEDLEY_OK) {
        med_ring_mpmc_reserve_cancel(side->own);
    }
    return med_ring_mpmc_push(side->own, &value) == MEDLEY_OK;
}

static bool
stress_push_waiting(ring_stress_side *side, uint64_t value)
{
    void *slot;
    if (med_ring_mpmc_reserve_until(side->own, MED_PORT_FOREVER, &slot) != MEDLEY_OK) {
        return false;
    }
    *(uint64_t *)slot = value;
    med_ring_mpmc_commit(side->own);
    return true;
}

/* A consumer does not know which element is the last: it waits a while only. */
#define SHORT_NS 200000u

static bool
stress_pop_waiting(ring_stress_side *side, uint64_t *value)
{
    void *slot;
    uint64_t deadline_ns = med_port_clock_ns() + SHORT_NS;
    if (med_ring_mpmc_take_until(side->own, deadline_ns, &slot) != MEDLEY_OK) {
        return false;
    }
    *value = *(uint64_t *)slot;
    med_ring_mpmc_release(side->own);
    return true;
}

static void
stress_run(uint32_t capacity,
           uint32_t producers,
           uint32_t consumers,
           uint32_t values,
           bool (*push_one)(ring_stress_side *side, uint64_t value),
           bool (*pop_one)(ring_stress_side *side, uint64_t *value))
{
    static ring_stress stress;
    med_ring_mpmc_side sides[2 * RING_STRESS_SIDES_MAX];
    fixture f;
    ring_start(&f, capacity, 2 * RING_STRESS_SIDES_MAX + 1);
    stress = (ring_stress){.ring = &f,
                           .producers = producers,
                           .consumers = consumers,
                           .values = values,
                           .push = push_one,
                           .pop = pop_one};
    for (uint32_t i = 0; i < producers + consumers; i++) {
        sides[i] = joined(&f, i + 2);
        if (i < producers) {
            stress.producer_own[i] = &sides[i];
        } else {
            stress.consumer_own[i - producers] = &sides[i];
        }
    }
    const char *failure = ring_stress_run(&stress);
    assert_string_equal(failure ? failure : "fine", "fine");
    ring_end(&f);
}

static void
stress_one_by_one(void **state)
{
    (void)state;
    stress_run(16, 1, 1, 100000, stress_push, stress_pop);
    stress_run(1, 2, 2, 20000, stress_push, stress_pop);
    stress_run(2, 3, 3, 20000, stress_push, stress_pop);
    stress_run(64, 7, 4, 15000, stress_push, stress_pop);
    stress_run(16, 4, 1, 20000, stress_push, stress_pop); /* one consumer sees the whole order */
}

static void
stress_doubting(void **state)
{
    (void)state;
    stress_run(8, 3, 2, 30000, stress_push_doubting, stress_pop);
}

static void
stress_asleep(void **state)
{
    (void)state;
    stress_run(4, 2, 2, 5000, stress_push_waiting, stress_pop_waiting);
    stress_run(4, 5, 3, 2000, stress_push_waiting, stress_pop_waiting);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_refuses_what_is_outside_its_limits),
        cmocka_unit_test(attach_believes_no_field),
        cmocka_unit_test(a_side_has_one_owner),
        cmocka_unit_test(full_and_empty_around_the_ring),
        cmocka_unit_test(laps_wrap),
        cmocka_unit_test(claims_keep_the_order),
        cmocka_unit_test(what_was_cancelled_is_passed_over),
        cmocka_unit_test(changes_wake),
        cmocka_unit_test(waiting_ends_at_the_deadline),
        cmocka_unit_test(recover_undoes_the_claims_of_the_dead),
        cmocka_unit_test(counters_that_stand_behind_are_moved_on),
        cmocka_unit_test(what_a_dead_consumer_had_can_be_kept),
        cmocka_unit_test(producers_are_killed),
        cmocka_unit_test(consumers_are_killed),
        cmocka_unit_test(several_recover_at_once),
        cmocka_unit_test(scribbled_words_end_in_a_status),
        cmocka_unit_test(scribbled_counters_end_in_a_status),
        cmocka_unit_test(stress_one_by_one),
        cmocka_unit_test(stress_doubting),
        cmocka_unit_test(stress_asleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
