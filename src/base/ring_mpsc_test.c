/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ring with many producers: lanes, their owners, order, fairness, death, scribbling. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/ring_mpsc.h"
#include "base/ring_stress.h"

/* Every counter passes zero in every test of more than a few elements. */
#define NEAR_WRAP (UINT32_MAX - 5)
#define CONSUMER 100u /* the consumer's owner number; producers count from 1 */

typedef struct fixture {
    uint8_t *memory;
    uint32_t size_bytes;
    med_ring_mpsc_view view;
    med_ring_mpsc_consumer consumer;
} fixture;

static void
ring_start_of(fixture *f, uint32_t element_bytes, uint32_t capacity, uint32_t lanes)
{
    med_ring_mpsc_config config = {element_bytes, capacity, lanes, NEAR_WRAP};
    assert_int_equal(med_ring_mpsc_size(&config, &f->size_bytes), MEDLEY_OK);
    f->memory =
        mmap(NULL, f->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(f->memory, MAP_FAILED);
    assert_int_equal(med_ring_mpsc_init(f->memory, f->size_bytes, &config), MEDLEY_OK);
    assert_int_equal(
        med_ring_mpsc_attach(&f->view, f->memory, f->size_bytes, MED_PORT_SCOPE_SHARED), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_consumer_join(&f->consumer, &f->view, CONSUMER), MEDLEY_OK);
}

static void
ring_start(fixture *f, uint32_t capacity, uint32_t lanes)
{
    ring_start_of(f, sizeof(uint64_t), capacity, lanes);
}

static void
ring_end(fixture *f)
{
    assert_int_equal(munmap(f->memory, f->size_bytes), 0);
}

static med_ring_mpsc_producer
joined(fixture *f, uint32_t owner)
{
    med_ring_mpsc_producer producer;
    assert_int_equal(med_ring_mpsc_producer_join(&producer, &f->view, owner), MEDLEY_OK);
    return producer;
}

static uint32_t
lane_of(fixture *f, const med_ring_mpsc_producer *producer)
{
    return (uint32_t)(producer->role - f->view.roles);
}

static med_ring *
lane_ring(fixture *f, uint32_t number)
{
    return (med_ring *)(void *)(f->view.lanes_at + (size_t)number * f->view.lane_bytes);
}

static void
push(med_ring_mpsc_producer *producer, uint64_t value)
{
    assert_int_equal(med_ring_mpsc_push(producer, &value), MEDLEY_OK);
}

static void
expect(fixture *f, uint64_t expected)
{
    uint64_t value = ~expected;
    assert_int_equal(med_ring_mpsc_pop(&f->consumer, &value), MEDLEY_OK);
    assert_int_equal(value, expected);
}

static void
expect_empty(fixture *f)
{
    uint64_t value;
    assert_int_equal(med_ring_mpsc_pop(&f->consumer, &value), MEDLEY_EMPTY);
}

static bool
in_map(fixture *f, uint32_t number)
{
    return atomic32_load_relaxed(&f->view.ring->map[number / 32]) >> number % 32 & 1;
}

/* ---- Making and attaching -------------------------------------------------------------------- */

static void
size_refuses_what_is_outside_its_limits(void **state)
{
    (void)state;
    static const med_ring_mpsc_config wrong[] = {
        {0, 8, 1, 0},
        {MED_RING_ELEMENT_MAX + 1, 8, 1, 0},
        {8, 0, 1, 0},
        {8, 7, 1, 0},
        {8, 8, 0, 0},
        {8, 8, MED_RING_MPSC_LANES_MAX + 1, 0},
        {MED_RING_ELEMENT_MAX, 1u << 15, 4, 0}, /* one lane fits in 4 GiB, four do not */
    };
    _Alignas(128) static uint8_t memory[64 * 1024];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint32_t size_bytes = 77;
        assert_int_equal(med_ring_mpsc_size(&wrong[i], &size_bytes), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(size_bytes, 77);
        assert_int_equal(med_ring_mpsc_init(memory, sizeof memory, &wrong[i]), MEDLEY_ERR_ARGUMENT);
    }
    med_ring_mpsc_config right = {8, 8, 3, 0};
    uint32_t size_bytes;
    assert_int_equal(med_ring_mpsc_size(&right, &size_bytes), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_init(memory, size_bytes - 1, &right), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_mpsc_init(memory + 8, size_bytes, &right), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_mpsc_init(memory, size_bytes, &right), MEDLEY_OK);
}

static void
attach_believes_no_field(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 128, 3); /* so many that no wrong shape has the right size */
    med_ring_mpsc_shape *shape = &f.view.ring->shape;
    atomic32 *fields[] = {&shape->lanes, &shape->element_bytes, &shape->capacity,
                          &shape->lane_bytes, &shape->size_bytes};
    med_ring_mpsc_view view = {.lanes = 77};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint32_t right = atomic32_load_relaxed(fields[i]);
        uint32_t wrong[] = {0, 1, right - 1, right + 1, right * 2, right | 0x80000000u, UINT32_MAX};
        for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
            atomic32_store_relaxed(fields[i], wrong[k]);
            assert_int_equal(
                med_ring_mpsc_attach(&view, f.memory, f.size_bytes, MED_PORT_SCOPE_SHARED),
                MEDLEY_ERR_CORRUPT);
            assert_int_equal(view.lanes, 77);
        }
        atomic32_store_relaxed(fields[i], right);
    }
    assert_int_equal(med_ring_mpsc_attach(&view, f.memory, f.size_bytes - 1, MED_PORT_SCOPE_SHARED),
                     MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_ring_mpsc_attach(&view, f.memory, 8, MED_PORT_SCOPE_SHARED),
                     MEDLEY_ERR_CORRUPT);
    assert_int_equal(
        med_ring_mpsc_attach(&view, f.memory + 8, f.size_bytes - 8, MED_PORT_SCOPE_SHARED),
        MEDLEY_ERR_ARGUMENT);
    atomic32_store_relaxed(&shape->stamp.version, MED_RING_MPSC_VERSION + 1);
    assert_int_equal(med_ring_mpsc_attach(&view, f.memory, f.size_bytes, MED_PORT_SCOPE_SHARED),
                     MEDLEY_ERR_VERSION);
    atomic32_store_relaxed(&shape->stamp.kind, __builtin_bswap32(MED_RING_MPSC_KIND));
    assert_int_equal(med_ring_mpsc_attach(&view, f.memory, f.size_bytes, MED_PORT_SCOPE_SHARED),
                     MEDLEY_ERR_BYTE_ORDER);
    ring_end(&f);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static void
a_lane_has_one_owner(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer third;
    assert_int_equal(med_ring_mpsc_producer_join(&third, &f.view, 0), MEDLEY_ERR_ARGUMENT);
    med_ring_mpsc_producer first = joined(&f, 1);
    med_ring_mpsc_producer second = joined(&f, 2);
    assert_int_not_equal(lane_of(&f, &first), lane_of(&f, &second));
    assert_int_equal(med_ring_mpsc_producer_join(&third, &f.view, 3), MEDLEY_ERR_LIMIT);
    assert_int_equal(med_ring_mpsc_producer_leave(&first), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_producer_leave(&first), MEDLEY_ERR_NOT_OWNER);
    third = joined(&f, 3);
    assert_int_equal(lane_of(&f, &third), lane_of(&f, &first));
    med_ring_mpsc_consumer other;
    assert_int_equal(med_ring_mpsc_consumer_join(&other, &f.view, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_ring_mpsc_consumer_join(&other, &f.view, 101), MEDLEY_BUSY);
    assert_int_equal(med_ring_mpsc_consumer_leave(&f.consumer), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_consumer_leave(&f.consumer), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_ring_mpsc_consumer_join(&other, &f.view, 101), MEDLEY_OK);
    ring_end(&f);
}

static void
who_comes_back_goes_to_its_leftover(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    med_ring_mpsc_producer other = joined(&f, 2); /* lane 0, so that 1 is not just the first */
    med_ring_mpsc_producer producer = joined(&f, 1);
    uint32_t lane = lane_of(&f, &producer);
    push(&producer, 10);
    assert_int_equal(med_ring_mpsc_producer_leave(&other), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_producer_leave(&producer), MEDLEY_OK);
    producer = joined(&f, 1);
    assert_int_equal(lane_of(&f, &producer), lane);
    push(&producer, 11);
    expect(&f, 10);
    expect(&f, 11);
    /* Somebody holds its lane for a look: it has to come again, until the lane is drained. */
    push(&producer, 12);
    assert_int_equal(med_ring_mpsc_producer_leave(&producer), MEDLEY_OK);
    atomic32_store_relaxed(&f.view.roles[lane].owner, 3);
    assert_int_equal(med_ring_mpsc_producer_join(&producer, &f.view, 1), MEDLEY_BUSY);
    expect(&f, 12);
    producer = joined(&f, 1);
    assert_int_not_equal(lane_of(&f, &producer), lane);
    ring_end(&f);
}

static void
nobody_gets_anothers_leftover(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 1);
    med_ring_mpsc_producer producer = joined(&f, 1);
    push(&producer, 10);
    assert_int_equal(med_ring_mpsc_producer_leave(&producer), MEDLEY_OK);
    med_ring_mpsc_producer other;
    assert_int_equal(med_ring_mpsc_producer_join(&other, &f.view, 2), MEDLEY_BUSY);
    assert_int_equal(atomic32_load_relaxed(&f.view.roles[0].owner), 0);
    expect(&f, 10);
    other = joined(&f, 2);
    push(&other, 20);
    expect(&f, 20);
    ring_end(&f);
}

static void
the_map_forgets_lanes_and_learns_them_again(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, MED_RING_MPSC_LANES_MAX);
    expect_empty(&f);
    for (uint32_t i = 0; i < MED_RING_MPSC_LANES_MAX; i++) {
        assert_false(in_map(&f, i)); /* the new consumer set them all, and has looked */
    }
    static med_ring_mpsc_producer producers[MED_RING_MPSC_LANES_MAX];
    for (uint32_t i = 0; i < MED_RING_MPSC_LANES_MAX; i++) {
        producers[i] = joined(&f, i + 1);
        assert_true(in_map(&f, lane_of(&f, &producers[i])));
    }
    push(&producers[1000], 1);
    push(&producers[31], 2);
    push(&producers[32], 3);
    expect(&f, 2); /* from lane 0 on */
    expect(&f, 3);
    expect(&f, 1);
    push(&producers[700], 4);
    assert_int_equal(med_ring_mpsc_producer_leave(&producers[700]), MEDLEY_OK);
    expect(&f, 4);
    assert_true(in_map(&f, 700));
    expect_empty(&f);
    assert_false(in_map(&f, 700));
    assert_true(in_map(&f, 699));
    ring_end(&f);
}

/* ---- Passing elements ------------------------------------------------------------------------ */

static void
each_lane_is_full_for_itself(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer first = joined(&f, 1);
    med_ring_mpsc_producer second = joined(&f, 2);
    expect_empty(&f);
    for (uint32_t round = 0; round < 5; round++) {
        uint64_t value = 0;
        void *slot = NULL;
        for (uint32_t i = 0; i < 8; i++) {
            push(&first, 100 + i);
        }
        assert_int_equal(med_ring_mpsc_push(&first, &value), MEDLEY_FULL);
        assert_int_equal(med_ring_mpsc_peek(&f.consumer, &slot), MEDLEY_OK);
        assert_int_equal(*(uint64_t *)slot, 100);
        assert_int_equal(med_ring_mpsc_push(&first, &value), MEDLEY_FULL_CONSUMER_READING);
        push(&second, 200);
        for (uint32_t i = 0; i < 8; i++) {
            expect(&f, 100 + i);
        }
        expect(&f, 200);
        expect_empty(&f);
    }
    ring_end(&f);
}

static void
a_reservation_stands_in_nobodys_way(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 4, 3);
    med_ring_mpsc_producer stopped = joined(&f, 1);
    med_ring_mpsc_producer running = joined(&f, 2);
    void *slot = NULL;
    assert_int_equal(med_ring_mpsc_reserve(&stopped, &slot), MEDLEY_OK);
    *(uint64_t *)slot = 666;
    uint64_t value;
    assert_int_equal(med_ring_mpsc_pop(&f.consumer, &value), MEDLEY_EMPTY_PRODUCER_INSERTING);
    for (uint64_t i = 0; i < 100; i++) {
        push(&running, i);
        expect(&f, i);
    }
    med_ring_mpsc_reserve_cancel(&stopped);
    expect_empty(&f);
    ring_end(&f);
}

static void
batches_lie_side_by_side(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer producer = joined(&f, 1);
    uint64_t sent = 0, received = 0;
    for (uint32_t round = 0; round < 50; round++) {
        void *slots = NULL;
        uint32_t count = 0;
        assert_int_equal(med_ring_mpsc_reserve_many(&producer, 1 + round % 8, &slots, &count),
                         MEDLEY_OK);
        assert_in_range(count, 1, 1 + round % 8);
        for (uint32_t i = 0; i < count; i++) {
            ((uint64_t *)slots)[i] = sent++;
        }
        med_ring_mpsc_commit_many(&producer, count);
        while (received < sent) {
            void *elements = NULL;
            assert_int_equal(med_ring_mpsc_peek_many(&f.consumer, 3, &elements, &count), MEDLEY_OK);
            assert_in_range(count, 1, 3);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(((uint64_t *)elements)[i], received++);
            }
            med_ring_mpsc_release_many(&f.consumer, count);
        }
    }
    expect_empty(&f);
    ring_end(&f);
}

/* Those of whole KiB lie further apart than they are long. */
static void
batches_lie_side_by_side_whatever_their_elements(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {8, 24, 1024, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fixture f;
        ring_start_of(&f, sizes[i], 8, 2);
        med_ring_mpsc_producer producer = joined(&f, 1);
        uint8_t element[4096] = {0};
        for (uint8_t n = 1; n <= 8; n++) {
            memset(element, n, sizes[i]);
            assert_int_equal(med_ring_mpsc_push(&producer, element), MEDLEY_OK);
        }
        for (uint8_t n = 1; n <= 8;) {
            void *elements = NULL;
            uint32_t count = 0;
            assert_int_equal(med_ring_mpsc_peek_many(&f.consumer, 8, &elements, &count), MEDLEY_OK);
            for (uint32_t k = 0; k < count; k++) {
                memset(element, n++, sizes[i]);
                assert_memory_equal((uint8_t *)elements + k * f.view.stride_bytes, element,
                                    sizes[i]);
            }
            med_ring_mpsc_release_many(&f.consumer, count);
        }
        ring_end(&f);
    }
}

/* A producer that never stops does not keep the others waiting longer than a run. */
static void
a_run_ends(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 1024, 2);
    med_ring_mpsc_producer busy = joined(&f, 1);
    med_ring_mpsc_producer quiet = joined(&f, 2);
    for (uint64_t i = 0; i < 1024; i++) {
        push(&busy, i);
    }
    expect(&f, 0);
    push(&quiet, 5000);
    uint32_t waited = 0;
    for (uint64_t value = 0; value != 5000; waited++) {
        void *elements = NULL;
        uint32_t count = 0;
        assert_int_equal(med_ring_mpsc_peek_many(&f.consumer, 1024, &elements, &count), MEDLEY_OK);
        value = *(uint64_t *)elements;
        med_ring_mpsc_release(&f.consumer);
        push(value == 5000 ? &quiet : &busy, 6000);
    }
    assert_in_range(waited, 1, MED_RING_MPSC_RUN_MAX);
    ring_end(&f);
}

/* ---- Death ----------------------------------------------------------------------------------- */

static void
recover_takes_everything_a_dead_owner_had(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    med_ring_mpsc_producer living = joined(&f, 1);
    med_ring_mpsc_producer dead = joined(&f, 2);
    med_ring_mpsc_producer dead_too = joined(&f, 2);
    void *slot = NULL;
    push(&dead, 20);
    assert_int_equal(med_ring_mpsc_reserve(&dead, &slot), MEDLEY_OK);
    *(uint64_t *)slot = 666;
    push(&dead_too, 21);
    assert_int_equal(med_ring_mpsc_recover(&f.view, 0), 0);
    assert_int_equal(med_ring_mpsc_recover(&f.view, 7), 0);
    assert_int_equal(med_ring_mpsc_recover(&f.view, 2), 2);
    assert_int_equal(med_ring_mpsc_recover(&f.view, 2), 0);
    assert_int_equal(med_ring_mpsc_producer_leave(&dead), MEDLEY_ERR_NOT_OWNER);
    push(&living, 10);
    expect(&f, 10);
    expect(&f, 20);
    expect(&f, 21);
    expect_empty(&f);
    med_ring_mpsc_producer next = joined(&f, 3);
    push(&next, 30);
    expect(&f, 30);
    expect_empty(&f);
    ring_end(&f);
}

static void
the_next_consumer_goes_on(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer first = joined(&f, 1);
    med_ring_mpsc_producer second = joined(&f, 2);
    push(&first, 10);
    push(&first, 11);
    push(&second, 20);
    expect(&f, 10);
    void *slot = NULL;
    assert_int_equal(med_ring_mpsc_peek(&f.consumer, &slot), MEDLEY_OK);
    /* It dies between taking a lane out of the map and looking again. */
    atomic32_store_relaxed(&f.view.ring->map[0], 0);
    assert_int_equal(med_ring_mpsc_recover(&f.view, CONSUMER), 1);
    assert_int_equal(med_ring_mpsc_consumer_join(&f.consumer, &f.view, CONSUMER + 1), MEDLEY_OK);
    expect(&f, 11); /* was peeked, not released */
    expect(&f, 20);
    expect_empty(&f);
    ring_end(&f);
}

static void *
recover_two(void *argument)
{
    return (void *)(uintptr_t)med_ring_mpsc_recover(argument, 2);
}

static void
several_recover_at_once(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 64);
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 64; i++) {
            (void)joined(&f, i % 2 ? 1 : 2);
        }
        med_port_thread threads[4];
        uintptr_t recovered = 0;
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(med_port_thread_start(&threads[i], NULL, recover_two, &f.view),
                             MEDLEY_OK);
        }
        for (uint32_t i = 0; i < 4; i++) {
            void *result;
            assert_int_equal(med_port_thread_join(threads[i], &result), MEDLEY_OK);
            recovered += (uintptr_t)result;
        }
        assert_int_equal(recovered, 32);
        assert_int_equal(med_ring_mpsc_recover(&f.view, 1), 32);
    }
    ring_end(&f);
}

/* What a child tells its parent, in shared memory: it dies between any two instructions. */
typedef struct diary {
    atomic32 begun; /* the number of the element it is about to commit, plus one */
    atomic32 done;  /* of the last that commit returned from, plus one */
} diary;

static diary *
diary_new(void)
{
    diary *d = mmap(NULL, sizeof *d, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(d, MAP_FAILED);
    return d;
}

static void
produce_for_ever(fixture *f, uint32_t owner, diary *d)
{
    med_ring_mpsc_producer producer;
    uint32_t number = atomic32_load_relaxed(&d->done);
    for (;;) {
        if (med_ring_mpsc_producer_join(&producer, &f->view, owner) != MEDLEY_OK) {
            continue;
        }
        for (uint32_t i = 0; i < 20;) {
            uint64_t value = (uint64_t)owner << 32 | number;
            /* Relaxed, both: read after the kernel has told of the death. */
            atomic32_store_relaxed(&d->begun, number + 1);
            if (med_ring_mpsc_push(&producer, &value) == MEDLEY_OK) {
                atomic32_store_relaxed(&d->done, ++number);
                i++;
            }
        }
        if (med_ring_mpsc_producer_leave(&producer) != MEDLEY_OK) {
            _exit(1);
        }
    }
}

/* A child that nobody kills, because a test failed, ends itself some time. */
#define CHILD_SECONDS 60

static pid_t
child_start(fixture *f, uint32_t owner, diary *d)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)alarm(CHILD_SECONDS);
        produce_for_ever(f, owner, d);
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

/* Takes one element, if there is one; it is the next of its producer. */
static bool
take_checked(fixture *f, uint32_t *next)
{
    uint64_t value;
    medley_status_t status = med_ring_mpsc_pop(&f->consumer, &value);
    if (status != MEDLEY_OK) {
        assert_true(status == MEDLEY_EMPTY || status == MEDLEY_EMPTY_PRODUCER_INSERTING);
        return false;
    }
    assert_in_range(value >> 32, 1, 2);
    assert_int_equal((uint32_t)value, next[value >> 32]);
    next[value >> 32]++;
    return true;
}

/* Two children produce; again and again one is killed at some instruction, recovered, replaced. */
static void
producers_are_killed(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 16, 2);
    diary *diaries[3] = {NULL, diary_new(), diary_new()};
    uint32_t next[3] = {0};
    pid_t survivor = child_start(&f, 1, diaries[1]);
    for (uint32_t kills = 0; kills < 60; kills++) {
        pid_t victim = child_start(&f, 2, diaries[2]);
        uint32_t wanted = next[2] + 1 + kills * 7 % 40;
        while (next[2] < wanted) {
            (void)take_checked(&f, next);
        }
        child_kill(victim);
        (void)med_ring_mpsc_recover(&f.view, 2);
        uint32_t survivors = next[1] + 40; /* goes on meanwhile: more than is in the ring */
        while (next[1] < survivors) {
            (void)take_checked(&f, next);
        }
        uint32_t done = atomic32_load_relaxed(&diaries[2]->done);
        uint32_t begun = atomic32_load_relaxed(&diaries[2]->begun);
        assert_in_range(next[2], done, begun); /* nothing lost; the one in progress is open */
        atomic32_store_relaxed(&diaries[2]->done, next[2]);
    }
    child_kill(survivor);
    while (take_checked(&f, next)) {
    }
    assert_in_range(next[1], atomic32_load_relaxed(&diaries[1]->done),
                    atomic32_load_relaxed(&diaries[1]->begun));
    ring_end(&f);
}

static void
consume_for_ever(fixture *f, diary *d)
{
    uint32_t number = atomic32_load_relaxed(&d->done);
    if (med_ring_mpsc_consumer_join(&f->consumer, &f->view, CONSUMER) != MEDLEY_OK) {
        _exit(1);
    }
    for (;;) {
        uint64_t value;
        atomic32_store_relaxed(&d->begun, number + 1); /* relaxed: as above */
        if (med_ring_mpsc_pop(&f->consumer, &value) == MEDLEY_OK) {
            if (value != number) {
                _exit(2);
            }
            atomic32_store_relaxed(&d->done, ++number);
        }
    }
}

static void
consumers_are_killed(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 16, 2);
    assert_int_equal(med_ring_mpsc_consumer_leave(&f.consumer), MEDLEY_OK);
    diary *d = diary_new();
    uint64_t sent = 0;
    for (uint32_t kills = 0; kills < 60; kills++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            (void)alarm(CHILD_SECONDS);
            consume_for_ever(&f, d);
        }
        med_ring_mpsc_producer producer;
        while (med_ring_mpsc_producer_join(&producer, &f.view, 1) != MEDLEY_OK) {
        }
        uint64_t enough = sent + 40 + kills;
        while (sent < enough) {
            sent += med_ring_mpsc_push(&producer, &sent) == MEDLEY_OK;
        }
        assert_int_equal(med_ring_mpsc_producer_leave(&producer), MEDLEY_OK);
        child_kill(pid);
        (void)med_ring_mpsc_recover(&f.view, CONSUMER);
        /* What was released is gone, what was not is there: the first left is the next. */
        assert_int_equal(med_ring_mpsc_consumer_join(&f.consumer, &f.view, CONSUMER), MEDLEY_OK);
        uint32_t done = atomic32_load_relaxed(&d->done);
        uint32_t begun = atomic32_load_relaxed(&d->begun);
        void *slot = NULL;
        if (med_ring_mpsc_peek(&f.consumer, &slot) == MEDLEY_OK) {
            assert_in_range(*(uint64_t *)slot, done, begun);
            atomic32_store_relaxed(&d->done, (uint32_t) * (uint64_t *)slot);
        } else {
            assert_in_range(sent, done, begun);
            atomic32_store_relaxed(&d->done, (uint32_t)sent);
        }
        assert_int_equal(med_ring_mpsc_consumer_leave(&f.consumer), MEDLEY_OK);
    }
    ring_end(&f);
}

/* ---- Scribbling ------------------------------------------------------------------------------ */

static void
a_scribbled_lane_is_emptied_and_the_others_go_on(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    med_ring_mpsc_producer bad = joined(&f, 1);
    med_ring_mpsc_producer good = joined(&f, 2);
    static const uint32_t wrong[] = {9, 1000, 0x80000000u, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        med_ring *ring = lane_ring(&f, lane_of(&f, &bad));
        push(&bad, 10);
        push(&good, 20);
        atomic32_store_relaxed(&ring->tail, atomic32_load_relaxed(&ring->head) + wrong[i]);
        uint64_t value;
        bool bad_seen = false, good_seen = false;
        for (uint32_t k = 0; k < 2; k++) {
            medley_status_t status = med_ring_mpsc_pop(&f.consumer, &value);
            bad_seen = bad_seen || status == MEDLEY_ERR_CORRUPT;
            good_seen = good_seen || (status == MEDLEY_OK && value == 20);
        }
        assert_true(bad_seen && good_seen);
        medley_status_t status = med_ring_mpsc_pop(&f.consumer, &value);
        assert_true(status == MEDLEY_EMPTY || status == MEDLEY_EMPTY_PRODUCER_INSERTING);
        assert_int_equal(med_ring_mpsc_producer_leave(&bad), MEDLEY_OK);
        bad = joined(&f, 1);
        push(&bad, 11);
        expect(&f, 11);
    }
    ring_end(&f);
}

static void
join_passes_over_scribbled_lanes(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 3);
    med_ring_mpsc_producer producer;
    expect_empty(&f);                                   /* and the map is empty now */
    med_ring_config other = {MED_RING_PACKED, 8, 4, 0}; /* a right ring, but not of our shape */
    assert_int_equal(med_ring_init(lane_ring(&f, 0), f.view.lane_bytes, &other), MEDLEY_OK);
    atomic32_store_relaxed(&lane_ring(&f, 1)->tail, 77);
    producer = joined(&f, 1);
    assert_int_equal(lane_of(&f, &producer), 2);
    assert_int_equal(med_ring_mpsc_producer_join(&producer, &f.view, 2), MEDLEY_BUSY);
    uint64_t value;
    assert_int_equal(med_ring_mpsc_pop(&f.consumer, &value), MEDLEY_ERR_CORRUPT);
    producer = joined(&f, 2); /* the consumer has emptied lane 1 */
    assert_int_equal(lane_of(&f, &producer), 1);
    assert_int_equal(med_ring_mpsc_producer_join(&producer, &f.view, 3), MEDLEY_ERR_CORRUPT);
    ring_end(&f);
}

static void
bits_of_no_lane_lead_nowhere(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 33);
    for (uint32_t i = 0; i < MED_RING_MPSC_LANES_MAX / 32; i++) {
        atomic32_store_relaxed(&f.view.ring->map[i], UINT32_MAX);
    }
    expect_empty(&f);
    ring_end(&f);
}

/* ---- Many threads ---------------------------------------------------------------------------- */

static bool
stress_push(ring_stress_side *side, uint64_t value)
{
    return med_ring_mpsc_push(side->own, &value) == MEDLEY_OK;
}

static bool
stress_pop(ring_stress_side *side, uint64_t *value)
{
    return med_ring_mpsc_pop(side->own, value) == MEDLEY_OK;
}

/* Leaves and comes back now and then, to whatever lane it is given. */
static bool
stress_push_moving(ring_stress_side *side, uint64_t value)
{
    med_ring_mpsc_producer *producer = side->own;
    fixture *f = side->stress->ring;
    if (producer->role && ring_stress_random(side) % 16 == 0) {
        (void)med_ring_mpsc_producer_leave(producer);
        producer->role = NULL;
    }
    if (!producer->role &&
        med_ring_mpsc_producer_join(producer, &f->view, side->number + 1) != MEDLEY_OK) {
        producer->role = NULL;
        return false;
    }
    return med_ring_mpsc_push(producer, &value) == MEDLEY_OK;
}

static bool
stress_push_batch(ring_stress_side *side, uint64_t value)
{
    med_ring_mpsc_producer *producer = side->own;
    void *slots = NULL;
    uint32_t count = 0;
    uint32_t wanted = 1 + ring_stress_random(side) % 5;
    if (med_ring_mpsc_reserve_many(producer, wanted, &slots, &count) != MEDLEY_OK) {
        return false;
    }
    *(uint64_t *)slots = value; /* the rest it thinks better of */
    med_ring_mpsc_commit_many(producer, 1);
    return true;
}

static bool
stress_push_waiting(ring_stress_side *side, uint64_t value)
{
    void *slot = NULL;
    if (med_ring_mpsc_reserve_until(side->own, MED_PORT_FOREVER, &slot) != MEDLEY_OK) {
        return false;
    }
    *(uint64_t *)slot = value;
    med_ring_mpsc_commit(side->own);
    return true;
}

static bool
stress_pop_waiting(ring_stress_side *side, uint64_t *value)
{
    void *slot = NULL;
    if (med_ring_mpsc_peek_until(side->own, MED_PORT_FOREVER, &slot) != MEDLEY_OK) {
        return false;
    }
    *value = *(uint64_t *)slot;
    med_ring_mpsc_release(side->own);
    return true;
}

static void
stress_run(uint32_t producers,
           uint32_t values,
           bool joined_before,
           bool (*push_one)(ring_stress_side *side, uint64_t value),
           bool (*pop_one)(ring_stress_side *side, uint64_t *value))
{
    static ring_stress stress;
    med_ring_mpsc_producer sides[RING_STRESS_SIDES_MAX] = {0};
    fixture f;
    ring_start(&f, 16, producers + 1);
    stress = (ring_stress){.ring = &f,
                           .producers = producers,
                           .consumers = 1,
                           .values = values,
                           .push = push_one,
                           .pop = pop_one,
                           .consumer_own = {&f.consumer}};
    for (uint32_t i = 0; i < producers; i++) {
        if (joined_before) {
            sides[i] = joined(&f, i + 1);
        }
        stress.producer_own[i] = &sides[i];
    }
    const char *failure = ring_stress_run(&stress);
    assert_string_equal(failure ? failure : "fine", "fine");
    ring_end(&f);
}

static void
stress_one_by_one(void **state)
{
    (void)state;
    stress_run(1, 200000, true, stress_push, stress_pop);
    stress_run(2, 100000, true, stress_push, stress_pop);
    stress_run(7, 30000, true, stress_push, stress_pop);
}

static void
stress_in_batches(void **state)
{
    (void)state;
    stress_run(4, 30000, true, stress_push_batch, stress_pop);
}

static void
stress_coming_and_going(void **state)
{
    (void)state;
    stress_run(1, 50000, false, stress_push_moving, stress_pop);
    stress_run(5, 20000, false, stress_push_moving, stress_pop);
}

static void
stress_asleep(void **state)
{
    (void)state;
    stress_run(2, 20000, true, stress_push_waiting, stress_pop_waiting);
    stress_run(6, 5000, true, stress_push_waiting, stress_pop_waiting);
}

/* Whoever sleeps is not left to its slice: the word says that it was woken. */
static void
commit_and_release_wake(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 8, 2);
    med_ring_mpsc_producer producer = joined(&f, 1);
    med_wait *waits[] = {&f.view.ring->data, &lane_ring(&f, lane_of(&f, &producer))->space};
    for (size_t i = 0; i < 2; i++) {
        atomic32_store_relaxed(&waits[0]->word, MED_WAIT_SLEEPS);
        atomic32_store_relaxed(&waits[1]->word, MED_WAIT_SLEEPS);
        push(&producer, 1);
        assert_int_equal(atomic32_load_relaxed(&waits[0]->word), MED_WAIT_SLEEPS + 1);
        assert_int_equal(atomic32_load_relaxed(&waits[1]->word), MED_WAIT_SLEEPS);
        expect(&f, 1);
        assert_int_equal(atomic32_load_relaxed(&waits[1]->word), MED_WAIT_SLEEPS + 1);
    }
    ring_end(&f);
}

static void
waiting_ends_at_the_deadline(void **state)
{
    (void)state;
    fixture f;
    ring_start(&f, 1, 1);
    med_ring_mpsc_producer producer = joined(&f, 1);
    void *slot = NULL;
    uint64_t soon_ns = med_port_clock_ns() + 1000;
    assert_int_equal(med_ring_mpsc_peek_until(&f.consumer, soon_ns, &slot), MEDLEY_TIMEOUT);
    assert_int_equal(med_ring_mpsc_peek_until(&f.consumer, 0, &slot), MEDLEY_TIMEOUT);
    push(&producer, 1);
    assert_int_equal(med_ring_mpsc_peek_until(&f.consumer, 0, &slot), MEDLEY_OK);
    assert_int_equal(med_ring_mpsc_reserve_until(&producer, soon_ns, &slot), MEDLEY_TIMEOUT);
    ring_end(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_refuses_what_is_outside_its_limits),
        cmocka_unit_test(attach_believes_no_field),
        cmocka_unit_test(a_lane_has_one_owner),
        cmocka_unit_test(who_comes_back_goes_to_its_leftover),
        cmocka_unit_test(nobody_gets_anothers_leftover),
        cmocka_unit_test(the_map_forgets_lanes_and_learns_them_again),
        cmocka_unit_test(each_lane_is_full_for_itself),
        cmocka_unit_test(a_reservation_stands_in_nobodys_way),
        cmocka_unit_test(batches_lie_side_by_side),
        cmocka_unit_test(batches_lie_side_by_side_whatever_their_elements),
        cmocka_unit_test(a_run_ends),
        cmocka_unit_test(recover_takes_everything_a_dead_owner_had),
        cmocka_unit_test(the_next_consumer_goes_on),
        cmocka_unit_test(several_recover_at_once),
        cmocka_unit_test(producers_are_killed),
        cmocka_unit_test(consumers_are_killed),
        cmocka_unit_test(a_scribbled_lane_is_emptied_and_the_others_go_on),
        cmocka_unit_test(join_passes_over_scribbled_lanes),
        cmocka_unit_test(bits_of_no_lane_lead_nowhere),
        cmocka_unit_test(stress_one_by_one),
        cmocka_unit_test(stress_in_batches),
        cmocka_unit_test(stress_coming_and_going),
        cmocka_unit_test(stress_asleep),
        cmocka_unit_test(commit_and_release_wake),
        cmocka_unit_test(waiting_ends_at_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
