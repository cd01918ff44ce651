/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Requests, with an engine that ends when it is told to. */
#include "mrapi/request_test.h"

#include <sched.h>

#define OTHER 8u

static const med_request_operations other_operations = {.progress = engine_progress,
                                                        .cancel = engine_cancel};

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

/* ---- Leaving --------------------------------------------------------------------------------- */

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
    const med_port_thread_attributes less = {.priority = 1, .processors = argument};
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
    med_processor_set only = med_processor_set_of(processor);
    const med_port_thread_attributes urgent = {.priority = 2, .processors = &only};
    med_port_thread thread;
    void *result;
    uint32_t handle = start(&one);
    medley_status_t status = med_port_thread_start(&thread, &urgent, drains_urgently, &only);
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
