/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Requests, with an engine that ends when it is told to. */
#include "mrapi/request.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "port/port.h"
#include "support/unit.h"

#define PLACES 8
#define PLACES_TEXT "8"
#define SIZE 4711
#define MAKER 7u
#define OTHER 8u

/* ---- The engine ------------------------------------------------------------------------------ */

typedef struct engine {
    atomic32 over;     /* set by the test: it may end */
    atomic32 received; /* it cannot be canceled any more */
    atomic32 inside;   /* how many are in its operations */
    atomic32 crowded;  /* more than one was */
    atomic32 stubborn; /* cannot be canceled at all */
    atomic32 canceled; /* it was */
} engine;

static engine *
engine_of(void *context)
{
    engine *e;
    memcpy(&e, context, sizeof e);
    return e;
}

static void
enter(engine *e)
{
    if (atomic32_fetch_add_acq_rel(&e->inside, 1) != 0) {
        atomic32_store_relaxed(&e->crowded, 1);
    }
}

static void
leave(engine *e)
{
    (void)atomic32_fetch_add_acq_rel(&e->inside, UINT32_MAX);
}

static med_request_state
engine_progress(void *context, med_request_outcome *outcome)
{
    engine *e = engine_of(context);
    enter(e);
    bool over = atomic32_load_acquire(&e->over);
    bool received = atomic32_load_acquire(&e->received);
    leave(e);
    *outcome = (med_request_outcome){.status = MEDLEY_OK, .size_bytes = SIZE};
    return over ? MED_REQUEST_COMPLETED : received ? MED_REQUEST_RECEIVED : MED_REQUEST_VALID;
}

static bool
engine_cancel(void *context)
{
    engine *e = engine_of(context);
    enter(e);
    leave(e);
    bool possible = !atomic32_load_acquire(&e->stubborn);
    atomic32_store_release(&e->canceled, possible);
    return possible;
}

static const med_request_operations engine_operations = {.progress = engine_progress,
                                                         .cancel = engine_cancel};
static const med_request_operations other_operations = {.progress = engine_progress,
                                                        .cancel = engine_cancel};

/* ---- Each test has a table and an engine of its own ------------------------------------------ */

static med_requests requests;
static engine one;

static int
set_up(void **state)
{
    (void)state;
    one = (engine){.over = ATOMIC32_INIT(0)};
    return med_requests_init(&requests) == MEDLEY_OK && requests.count == PLACES ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    med_requests_fini(&requests);
    return atomic32_load_relaxed(&one.crowded) ? -1 : 0;
}

static uint32_t
start_from(uint32_t maker, uint32_t *next, engine *e)
{
    med_request *request;
    assert_int_equal(med_request_begin(&requests, maker, next, &engine_operations, &request),
                     MEDLEY_OK);
    memcpy(request->context, &e, sizeof e);
    uint32_t handle = med_request_start(&requests, request);
    assert_true(handle != 0 && handle != UINT32_MAX);
    return handle;
}

static uint32_t next_place;

static uint32_t
start_as(uint32_t maker, engine *e)
{
    return start_from(maker, &next_place, e);
}

static uint32_t
start(engine *e)
{
    return start_as(MAKER, e);
}

static medley_status_t
test(uint32_t handle)
{
    med_request_outcome outcome = {.size_bytes = 0};
    medley_status_t status = med_request_test(&requests, handle, &outcome);
    assert_int_equal(outcome.size_bytes, status == MEDLEY_OK ? SIZE : 0);
    return status;
}

static medley_status_t
wait_until(const med_request_handle *handles, size_t count, uint64_t deadline_ns, size_t *which)
{
    med_waiter waiter = {.spin_ns = 0};
    med_request_outcome outcome = {.size_bytes = 0};
    const med_request_wait how = {.place = &requests.wait,
                                  .scope = MED_PORT_SCOPE_PROCESS,
                                  .waiter = &waiter,
                                  .deadline_ns = deadline_ns};
    medley_status_t status = med_request_wait_any(&requests, &how, handles, count, which, &outcome);
    assert_int_equal(outcome.size_bytes, status == MEDLEY_OK ? SIZE : 0);
    return status;
}

/* ---- One request ----------------------------------------------------------------------------- */

static void
a_request_ends_once(void **state)
{
    (void)state;
    uint32_t handle = start(&one);
    assert_int_equal(test(handle), MEDLEY_BUSY);
    atomic32_store_release(&one.over, 1);
    assert_int_equal(test(handle), MEDLEY_OK);
    assert_int_equal(test(handle), MEDLEY_ERR_STALE);
    assert_int_equal(med_request_cancel(&requests, handle), MEDLEY_ERR_STALE);
}

static void
over_at_once(void **state)
{
    med_request *request;
    (void)state;
    assert_int_equal(med_request_begin(&requests, MAKER, &next_place, &engine_operations, &request),
                     MEDLEY_OK);
    const med_request_outcome outcome = {.status = MEDLEY_OK, .size_bytes = SIZE};
    uint32_t handle = med_request_end_at_once(&requests, request, outcome);
    assert_int_equal(med_request_cancel(&requests, handle), MEDLEY_BUSY);
    assert_int_equal(med_request_complete(&requests, handle, outcome), MEDLEY_ERR_STALE);
    assert_int_equal(test(handle), MEDLEY_OK);
    assert_int_equal(test(handle), MEDLEY_ERR_STALE);
}

static void
completed_by_its_engine(void **state)
{
    (void)state;
    uint32_t handle = start(&one);
    const med_request_outcome outcome = {.status = MEDLEY_OK, .size_bytes = SIZE};
    assert_int_equal(med_request_complete(&requests, handle, outcome), MEDLEY_OK);
    assert_int_equal(med_request_complete(&requests, handle, outcome), MEDLEY_ERR_STALE);
    assert_int_equal(test(handle), MEDLEY_OK);
}

static void
no_request(void **state)
{
    (void)state;
    uint32_t handle = start(&one);
    const uint32_t wrong[] = {0,
                              UINT32_MAX,
                              handle & 0xfffu,
                              handle + 1,
                              handle + PLACES,
                              handle ^ 1u << 12,
                              handle ^ 1u << 31};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        size_t which;
        assert_int_equal(test(wrong[i]), MEDLEY_ERR_STALE);
        assert_int_equal(med_request_cancel(&requests, wrong[i]), MEDLEY_ERR_STALE);
        assert_int_equal(wait_until(&wrong[i], 1, MED_PORT_FOREVER, &which), MEDLEY_ERR_STALE);
    }
    assert_int_equal(test(handle), MEDLEY_BUSY);
}

/* ---- Canceling ------------------------------------------------------------------------------- */

static void
canceled_and_told(void **state)
{
    (void)state;
    size_t which;
    uint32_t handle = start(&one);
    assert_int_equal(med_request_cancel(&requests, handle), MEDLEY_OK);
    assert_true(atomic32_load_relaxed(&one.canceled));
    atomic32_store_release(&one.over, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(test(handle), MEDLEY_ERR_CANCELED);
        assert_int_equal(med_request_cancel(&requests, handle), MEDLEY_ERR_CANCELED);
        assert_int_equal(wait_until(&handle, 1, 0, &which), MEDLEY_ERR_CANCELED);
    }
}

static void
too_late_to_cancel(void **state)
{
    (void)state;
    uint32_t handle = start(&one);
    atomic32_store_release(&one.stubborn, 1);
    assert_int_equal(med_request_cancel(&requests, handle), MEDLEY_BUSY);
    atomic32_store_release(&one.stubborn, 0);
    atomic32_store_release(&one.received, 1);
    assert_int_equal(test(handle), MEDLEY_BUSY);
    assert_int_equal(med_request_cancel(&requests, handle), MEDLEY_BUSY);
    assert_false(atomic32_load_relaxed(&one.canceled));
    atomic32_store_release(&one.over, 1);
    assert_int_equal(test(handle), MEDLEY_OK);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void
all_places_in_use(void **state)
{
    uint32_t handles[PLACES];
    med_request *request;
    (void)state;
    for (int i = 0; i < PLACES; i++) {
        handles[i] = start(&one);
    }
    assert_int_equal(med_request_begin(&requests, MAKER, &next_place, &engine_operations, &request),
                     MEDLEY_ERR_LIMIT);
    /* What was canceled gives its place, and is no more. */
    assert_int_equal(med_request_cancel(&requests, handles[3]), MEDLEY_OK);
    uint32_t another = start(&one);
    assert_int_equal(test(handles[3]), MEDLEY_ERR_STALE);
    assert_int_equal(test(another), MEDLEY_BUSY);
    assert_int_equal(med_request_begin(&requests, MAKER, &next_place, &engine_operations, &request),
                     MEDLEY_ERR_LIMIT);
}

static void
an_abandoned_place_comes_back(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * PLACES; i++) {
        med_request *request;
        assert_int_equal(
            med_request_begin(&requests, MAKER, &next_place, &engine_operations, &request),
            MEDLEY_OK);
        med_request_abandon(request);
    }
}

/* A place's generation goes on across its wrap, and is never 0. */
static void
generations_wrap(void **state)
{
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (int i = 0; i < PLACES; i++) {
        atomic32_store_relaxed(&requests.places[i].word, 0xffffe000u); /* FREE */
    }
    uint32_t before = 0;
    for (int i = 0; i < 4 * PLACES; i++) {
        uint32_t handle = start(&one);
        assert_int_not_equal(handle >> 12, 0);
        assert_int_not_equal(handle, before);
        assert_int_equal(test(before), MEDLEY_ERR_STALE);
        assert_int_equal(test(handle), MEDLEY_OK);
        before = handle;
    }
    assert_true(before >> 12 < 8);
}

#define MANY 100 /* places, the last run of them a short one */
#define MANY_TEXT "100"
#define RUN 16
#define RUN_ROUNDS 1024

static int
set_up_many(void **state)
{
    (void)state;
    one = (engine){.over = ATOMIC32_INIT(1)};
    (void)setenv("MEDLEY_MAX_REQUESTS", MANY_TEXT, 1);
    bool good = med_requests_init(&requests) == MEDLEY_OK && requests.count == MANY;
    (void)setenv("MEDLEY_MAX_REQUESTS", PLACES_TEXT, 1);
    return good ? 0 : -1;
}

static uint32_t
start_and_collect(uint32_t maker, uint32_t *next)
{
    uint32_t handle = start_from(maker, next, &one);
    assert_int_equal(test(handle), MEDLEY_OK);
    return handle & 0xfffu;
}

/* Who has few requests at a time has them where no other has his. */
static void
makers_are_apart(void **state)
{
    uint32_t next[2] = {0, 0};
    bool had[2][MANY] = {{false}};
    uint32_t places[2] = {0, 0};
    (void)state;
    uint32_t lasting = start_from(0, &next[0], &one); /* at a place of the first one's */
    for (uint32_t i = 0; i < 4000; i++) {
        had[i % 2][start_and_collect(i % 2, &next[i % 2])] = true;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        assert_false(had[0][i] && had[1][i]);
        places[0] += had[0][i];
        places[1] += had[1][i];
    }
    assert_int_equal(places[0], RUN - 1);
    assert_int_equal(places[1], RUN);
    assert_int_equal(test(lasting), MEDLEY_OK);
}

/* However unlike they are: some have far more requests than others. */
static void
places_come_equally_far(void **state)
{
    uint32_t next[3] = {0, 0, 0};
    uint32_t least = UINT32_MAX, most = 0;
    (void)state;
    for (uint32_t i = 0; i < 8 * MANY * RUN_ROUNDS; i++) {
        (void)start_and_collect(0, &next[0]);
        if (i % 8 == 0) {
            (void)start_and_collect(1, &next[1]);
        }
        if (i % 4096 == 0) {
            (void)start_and_collect(2, &next[2]);
        }
    }
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t generation =
            (atomic32_load_relaxed(&requests.places[i].word) - requests.first) >> 12;
        least = generation < least ? generation : least;
        most = generation > most ? generation : most;
    }
    assert_in_range(most - least, 0, 3 * RUN_ROUNDS);
}

#define LIVES 1000
#define REMEMBERED 16

/* Starts one, beside which none of those is there. */
static uint32_t
start_beside(const uint32_t former[REMEMBERED])
{
    uint32_t handle = start(&one);
    for (size_t i = 0; i < REMEMBERED; i++) {
        assert_int_equal(med_request_cancel(&requests, former[i]), MEDLEY_ERR_STALE);
        assert_int_equal(test(former[i]), MEDLEY_ERR_STALE);
    }
    return handle;
}

/* A table after the other, in which a place is in use all the time and others more or less: what
 * the former gave is nothing to the next. */
static void
former_tables_are_told_apart(void **state)
{
    uint32_t former[REMEMBERED] = {0};
    engine stays = {.over = ATOMIC32_INIT(0)};
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (uint32_t life = 0; life < LIVES; life++) {
        if (life % 2) {
            (void)start(&stays);
        }
        for (uint32_t i = 0; i < life % 3 * PLACES + life % 5; i++) {
            assert_int_equal(test(start_beside(former)), MEDLEY_OK);
        }
        former[life % REMEMBERED] = start_beside(former);
        med_requests_fini(&requests);
        assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
    }
}

/* Where the generations wrap, too. */
static void
former_tables_are_told_apart_across_the_wrap(void **state)
{
    uint32_t former = 0;
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (int i = 0; i < PLACES; i++) {
        atomic32_store_relaxed(&requests.places[i].word, 0xffff0000u); /* FREE */
    }
    for (uint32_t life = 0; life < 40; life++) {
        for (uint32_t i = 0; i <= PLACES; i++) {
            uint32_t handle = start(&one);
            assert_int_not_equal(handle >> 12, 0);
            assert_int_equal(test(former), MEDLEY_ERR_STALE);
            assert_int_equal(test(handle), MEDLEY_OK);
        }
        former = start(&one);
        med_requests_fini(&requests);
        assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
    }
    assert_true(former >> 12 < 0x1000);
}

#define TOLD_LAST 16u

/* Of a place that has come so far: has it told that one lately? */
static bool
was_told(uint32_t place, uint32_t furthest, uint32_t handle)
{
    uint32_t ago = ((furthest << 12) - (handle & ~0xfffu)) >> 12;
    return (handle & 0xfffu) == place && ago < TOLD_LAST;
}

/* The table whose places have come so far, and the one after it. */
static void
next_tells_nothing_of(const uint32_t furthest[PLACES])
{
    for (uint32_t i = 0; i < PLACES; i++) {
        atomic32_store_relaxed(&requests.places[i].word, furthest[i] << 12); /* FREE */
    }
    med_requests_fini(&requests);
    assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
    for (uint32_t n = 0; n < 4 * PLACES; n++) {
        uint32_t handle = start(&one);
        assert_int_equal(test(handle), MEDLEY_OK);
        for (uint32_t i = 0; i < PLACES; i++) {
            assert_false(was_told(i, furthest[i], handle));
        }
    }
}

/* However much was begun in a table, and though some of its places have gone round and others not:
 * the next tells nothing that it told last. */
static void
far_tables_are_told_apart(void **state)
{
    static const uint32_t far[] = {0x7ffff,  0x80000,  0x80001,  0xffffe,  0xfffff,
                                   0x100000, 0x100001, 0x100007, 0x180000, 0x1fffff};
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (size_t f = 0; f < sizeof far / sizeof far[0]; f++) {
        uint32_t furthest[PLACES];
        for (uint32_t i = 0; i < PLACES; i++) {
            furthest[i] = ((requests.first >> 12) + far[f] - 2 * i) & 0xfffffu;
            furthest[i] += furthest[i] == 0; /* no generation */
        }
        next_tells_nothing_of(furthest);
    }
}

/* The least number is the furthest on. */
static void
some_places_have_gone_round(void **state)
{
    uint32_t furthest[PLACES];
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (uint32_t i = 0; i < PLACES; i++) {
        furthest[i] = (5 - 2 * i) & 0xfffffu;
    }
    next_tells_nothing_of(furthest);
}

/* A child that could not end its parent's tables, and a child of that one, and so on: none tells
 * what any before it told. */
static void
forgotten_tables_are_told_apart(void **state)
{
    enum {
        GENERATIONS = 7,
        EACH = 2 * PLACES
    };
    uint32_t told[GENERATIONS * EACH];
    size_t count = 0;
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    while (count < GENERATIONS * EACH) {
        for (size_t i = 0; i < EACH; i++) {
            uint32_t handle = start(&one);
            assert_int_equal(test(handle), MEDLEY_OK);
            for (size_t t = 0; t < count; t++) {
                assert_int_not_equal(handle, told[t]);
            }
            told[count++] = handle;
        }
        med_requests left = requests; /* where it is */
        med_requests_forget();
        assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
        med_port_memory_unmap(left.places, left.count * sizeof(med_request));
    }
}

/* A process may be in two systems at once: whichever it leaves last, its next table is behind what
 * both told. */
static void
two_tables_at_once(void **state)
{
    enum {
        EACH = 4 * PLACES
    };
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (int first_ends_first = 0; first_ends_first < 2; first_ends_first++) {
        med_requests other;
        uint32_t told[2 * EACH];
        assert_int_equal(med_requests_init(&other), MEDLEY_OK);
        for (int i = 0; i < EACH; i++) {
            told[i] = start(&one);
            assert_int_equal(test(told[i]), MEDLEY_OK);
        }
        med_requests first = requests;
        requests = other;
        for (int i = EACH; i < 2 * EACH; i++) {
            told[i] = start(&one);
            assert_int_equal(test(told[i]), MEDLEY_OK);
        }
        med_requests_fini(first_ends_first ? &first : &requests);
        med_requests_fini(first_ends_first ? &requests : &first);
        assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
        for (int n = 0; n < EACH; n++) {
            uint32_t handle = start(&one);
            for (int i = 0; i < 2 * EACH; i++) {
                assert_int_not_equal(handle, told[i]);
            }
            assert_int_equal(test(handle), MEDLEY_OK);
        }
    }
}

static bool
is_of(const void *context, const void *wanted)
{
    return memcmp(context, &wanted, sizeof wanted) == 0;
}

static void
drained(void **state)
{
    engine two = {.over = ATOMIC32_INIT(0)};
    (void)state;
    uint32_t first = start(&one);
    uint32_t second = start(&two);
    uint32_t third = start(&one);
    atomic32_store_release(&one.over, 1);
    med_requests_drain(&requests, &other_operations, is_of, &two);
    med_requests_drain(&requests, &engine_operations, is_of, &one);
    atomic32_store_release(&one.over, 0); /* it is over all the same */
    assert_int_equal(test(second), MEDLEY_BUSY);
    assert_int_equal(test(first), MEDLEY_OK);
    assert_int_equal(test(third), MEDLEY_OK);
}

static void *
ends_it(void *argument)
{
    atomic32_store_release(&one.over, 1);
    return argument;
}

/* Beside one less urgent, who has to run for it to end, on the one processor of both. */
static void *
drains_urgently(void *argument)
{
    const med_port_thread_attributes less = {
        .priority = 1, .processors = argument, .processor_count = 1};
    med_port_thread thread;
    if (med_port_thread_start(&thread, &less, ends_it, NULL) != MEDLEY_OK) {
        return NULL;
    }
    med_requests_drain(&requests, &engine_operations, is_of, &one);
    return med_port_thread_join(thread, NULL) == MEDLEY_OK ? argument : NULL;
}

static void
drained_by_one_more_urgent(void **state)
{
    cpu_set_t mine;
    uint32_t processor = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    while (!CPU_ISSET(processor, &mine)) {
        processor++;
    }
    const med_port_thread_attributes urgent = {
        .priority = 2, .processors = &processor, .processor_count = 1};
    med_port_thread thread;
    void *result;
    uint32_t handle = start(&one);
    medley_status_t status = med_port_thread_start(&thread, &urgent, drains_urgently, &processor);
    if (status == MEDLEY_ERR_ACCESS) {
        not_possible_here("no permission for SCHED_FIFO");
    }
    assert_int_equal(status, MEDLEY_OK);
    assert_int_equal(med_port_thread_join(thread, &result), MEDLEY_OK);
    assert_non_null(result);
    assert_int_equal(test(handle), MEDLEY_OK);
}

/* Under way, over, canceled: all places that were his come free, and no other. */
static void
a_maker_leaves(void **state)
{
    (void)state;
    uint32_t under_way = start(&one);
    uint32_t others = start_as(OTHER, &one);
    uint32_t over = start(&one);
    uint32_t canceled = start(&one);
    const med_request_outcome outcome = {.status = MEDLEY_OK, .size_bytes = SIZE};
    assert_int_equal(med_request_complete(&requests, over, outcome), MEDLEY_OK);
    assert_int_equal(med_request_cancel(&requests, canceled), MEDLEY_OK);
    atomic32_store_release(&one.canceled, 0);
    med_requests_leave(&requests, MAKER);
    assert_true(atomic32_load_relaxed(&one.canceled));
    assert_int_equal(test(under_way), MEDLEY_ERR_STALE);
    assert_int_equal(test(over), MEDLEY_ERR_STALE);
    assert_int_equal(test(canceled), MEDLEY_ERR_CANCELED);
    assert_int_equal(test(others), MEDLEY_BUSY);
    for (int i = 0; i < PLACES - 1; i++) {
        (void)start(&one);
    }
    assert_int_equal(test(others), MEDLEY_BUSY);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void
wait_of_several(void **state)
{
    engine two = {.over = ATOMIC32_INIT(1)};
    (void)state;
    const uint32_t handles[] = {start(&one), start(&two), start(&two)};
    size_t which = 9;
    assert_int_equal(wait_until(handles, 1, 0, &which), MEDLEY_TIMEOUT);
    assert_int_equal(wait_until(handles, 1, med_port_clock_ns() + 1, &which), MEDLEY_TIMEOUT);
    assert_int_equal(which, 9);
    assert_int_equal(wait_until(handles, 3, MED_PORT_FOREVER, &which), MEDLEY_OK);
    assert_int_equal(which, 1);
    assert_int_equal(test(handles[2]), MEDLEY_OK);
}

#define CROWD 4
#define ROUNDS 300

typedef struct asker {
    uint32_t handle;
    atomic32 statuses[MEDLEY_STATUS_COUNT]; /* how often each was had */
} asker;

static void *
asks(void *argument)
{
    asker *a = argument;
    size_t which;
    medley_status_t status = wait_until(&a->handle, 1, MED_PORT_FOREVER, &which);
    (void)atomic32_fetch_add_acq_rel(&a->statuses[status], 1);
    return NULL;
}

static void
crowd_start(med_port_thread *threads, asker *a)
{
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(med_port_thread_start(&threads[i], NULL, asks, a), MEDLEY_OK);
    }
}

static void
crowd_join(const med_port_thread *threads)
{
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(med_port_thread_join(threads[i], NULL), MEDLEY_OK);
    }
}

/* Ends it in one of the three ways. */
static medley_status_t
end(uint32_t way, uint32_t handle)
{
    const med_request_outcome outcome = {.status = MEDLEY_OK, .size_bytes = SIZE};
    switch (way) {
    case 0:
        atomic32_store_release(&one.over, 1);
        return MEDLEY_OK;
    case 1:
        return med_request_complete(&requests, handle, outcome);
    default:
        return med_request_cancel(&requests, handle);
    }
}

static void
one_of_many_gets_it(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        med_port_thread threads[CROWD];
        atomic32_store_relaxed(&one.over, 0);
        asker a = {.handle = start(&one)};
        crowd_start(threads, &a);
        assert_int_equal(end(round % 3, a.handle), MEDLEY_OK);
        crowd_join(threads);
        uint32_t got = atomic32_load_acquire(&a.statuses[MEDLEY_OK]);
        uint32_t stale = atomic32_load_acquire(&a.statuses[MEDLEY_ERR_STALE]);
        uint32_t canceled = atomic32_load_acquire(&a.statuses[MEDLEY_ERR_CANCELED]);
        assert_int_equal(got, round % 3 == 2 ? 0 : 1);
        assert_int_equal(stale, round % 3 == 2 ? 0 : CROWD - 1);
        assert_int_equal(canceled, round % 3 == 2 ? CROWD : 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_request_ends_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(over_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completed_by_its_engine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(canceled_and_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_late_to_cancel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_places_in_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_abandoned_place_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(generations_wrap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(makers_are_apart, set_up_many, tear_down),
        cmocka_unit_test_setup_teardown(places_come_equally_far, set_up_many, tear_down),
        cmocka_unit_test_setup_teardown(former_tables_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(former_tables_are_told_apart_across_the_wrap, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(far_tables_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(some_places_have_gone_round, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forgotten_tables_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_tables_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drained_by_one_more_urgent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_maker_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wait_of_several, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_of_many_gets_it, set_up, tear_down),
    };
    (void)setenv("MEDLEY_MAX_REQUESTS", PLACES_TEXT, 1);
    (void)setenv("MEDLEY_LOG", "quiet", 0);
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
