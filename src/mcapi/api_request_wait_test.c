/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Requests of MCAPI and who waits: for one that another made, or cancels, or whose endpoint or node
 * goes; and for something else, while what he asked for is canceled. Run in a private system and in
 * a named one.
 */
#include <stdlib.h>

#include "support/cancel.h"
#include "support/channel.h"
#include "support/requests.h"

#define OTHER 8
#define THIRD 9
#define FROM 1
#define TO 2
#define NOWHERE 77

/* ---- Who waits ------------------------------------------------------------------------------- */

static atomic32 waiting;

static void
expect_canceled(mcapi_request_t request)
{
    mcapi_status_t status;
    size_t size;
    (void)atomic32_fetch_add_acq_rel(&waiting, 1);
    assert_int_equal(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status), MCAPI_FALSE);
    assert_int_equal(status, MCAPI_ERR_REQUEST_CANCELLED);
}

static void *
waits_until_canceled(void *argument)
{
    (void)argument;
    exchange_begin(THIRD);
    expect_canceled(of_another);
    exchange_end();
    return NULL;
}

static void *
cancels_what_two_wait_for(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    while (atomic32_load_acquire(&waiting) != 2) {
        med_port_yield();
    }
    assert_int_equal(cancel(of_another), MCAPI_SUCCESS);
    exchange_end();
    return NULL;
}

static void
who_waits_is_woken(void **state)
{
    unsigned number;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    for (int i = 0; i < 20; i++) {
        atomic32_store_relaxed(&waiting, 0);
        of_another = receive_message(at, &number);
        start(THIRD, waits_until_canceled);
        start(OTHER, cancels_what_two_wait_for);
        expect_canceled(of_another);
        join(OTHER, 0);
        join(THIRD, 0);
    }
}

static void *
waits_for_an_end(void *argument)
{
    (void)argument;
    exchange_begin(THIRD);
    stage_reach(1);
    (void)expect_end(of_another, MCAPI_ERR_ENDP_DELETED);
    exchange_end();
    return NULL;
}

/* Its endpoint goes, and what was canceled there with it. */
static void
endpoint_goes(void **state)
{
    unsigned number, other;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    mcapi_request_t first = receive_message(at, &other);
    mcapi_request_t canceled = receive_message(at, &number); /* stays in the queue behind it */
    canceled_by_another(canceled);
    of_another = first;
    stage_reach(0);
    start(THIRD, waits_for_an_end);
    stage_await(1);
    endpoint_delete(at);
    join(THIRD, 0);
    expect_no_end(canceled, MCAPI_ERR_REQUEST_CANCELLED); /* as before */
}

static void *
waits_for_what_goes(void *argument)
{
    mcapi_status_t status;
    size_t size;
    (void)argument;
    exchange_begin(THIRD);
    stage_reach(1);
    mcapi_boolean_t ended = mcapi_wait(&of_another, &size, MCAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, ended ? MCAPI_ERR_ENDP_DELETED : MCAPI_ERR_REQUEST_INVALID);
    exchange_end();
    return NULL;
}

/* The node goes with requests under way, canceled and not. */
static void *
goes_with_its_requests(void *argument)
{
    unsigned number, other;
    mcapi_endpoint_t unfound;
    mcapi_request_t lookups;
    mcapi_status_t status;
    (void)argument;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, OTHER + 10, NULL, NULL, &info, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    mcapi_endpoint_t at = endpoint_make(FROM);
    canceled_by_another(receive_message(at, &number));
    mcapi_endpoint_get_i(DOMAIN, NODE, NOWHERE, &unfound, &lookups, &status);
    canceled_by_another(lookups);
    of_another = receive_message(at, &other);
    stage_reach(0);
    start(THIRD, waits_for_what_goes);
    stage_await(1);
    exchange_end();
    return NULL;
}

static void
goes(void)
{
    (void)goes_with_its_requests(NULL);
}

/* All places are there again. */
static void
node_goes(void **state)
{
    (void)state;
    mcapi_endpoint_t at = endpoint_make(TO);
    requests_use_up(at);
    size_t before = asked_count;
    requests_give_back();
    for (int i = 0; i < 3; i++) {
        on_other_thread(goes);
        join(THIRD, 0);
    }
    requests_use_up(at);
    assert_int_equal(asked_count, before);
    requests_give_back();
}

/* ---- Who waits for something else ------------------------------------------------------------ */

#define SLICES_US 50000u     /* of a sleep there are several in it */
#define SOON_NS 10000000000u /* 10 s */

/* What a node sleeps for, again and again, in vain. */
typedef struct sleeper {
    void (*prepare)(void);
    mcapi_status_t (*sleep)(void);
} sleeper;

static mcapi_endpoint_t sleeps_at;
static channel sleeps_by;

static mcapi_endpoint_t
patient_endpoint(mcapi_port_t port, mcapi_uint_t buffer_type)
{
    mcapi_endpoint_t endpoint = endpoint_make(port);
    timeout_set(endpoint, SLICES_US);
    assert_int_equal(attribute_set(endpoint, MCAPI_ENDP_ATTR_BUFFER_TYPE, buffer_type),
                     MCAPI_SUCCESS);
    return endpoint;
}

static void
prepare_endpoint(void)
{
    sleeps_at = patient_endpoint(TO, MCAPI_ENDP_ATTR_FIFO_BUFFER);
}

static mcapi_status_t
sleep_for_endpoint(void)
{
    mcapi_status_t status;
    (void)mcapi_endpoint_get(DOMAIN, OTHER, NOWHERE, SLICES_US, &status);
    return status;
}

static mcapi_status_t
sleep_for_message(void)
{
    mcapi_status_t status;
    size_t size;
    mcapi_msg_recv(sleeps_at, &size, sizeof size, &size, &status);
    return status;
}

static mcapi_status_t
sleep_for_request(void)
{
    mcapi_status_t status;
    size_t size;
    (void)mcapi_wait(&asked[0], &size, SLICES_US, &status);
    return status;
}

static void
prepare_channel(const channel_kind *kind, mcapi_uint_t buffer_type)
{
    mcapi_endpoint_t from = patient_endpoint(TO, buffer_type);
    sleeps_by = channel_between(kind, from, patient_endpoint(TO + 1, buffer_type));
}

static void
prepare_scalars(void)
{
    prepare_channel(&of_scalars, MCAPI_ENDP_ATTR_FIFO_BUFFER);
}

static mcapi_status_t
sleep_for_scalar(void)
{
    mcapi_status_t status;
    (void)mcapi_sclchan_recv_uint8(sleeps_by.receiver, &status);
    return status;
}

static mcapi_status_t
sleep_for_room(void)
{
    mcapi_status_t status;
    mcapi_sclchan_send_uint8(sleeps_by.sender, 1, &status);
    return status;
}

static void
prepare_full(void)
{
    prepare_scalars();
    while (sleep_for_room() == MCAPI_SUCCESS) {
    }
}

static void
prepare_states(void)
{
    prepare_channel(&of_packets, MCAPI_ENDP_ATTR_STATE_BUFFER);
}

static mcapi_status_t
sleep_for_state(void)
{
    mcapi_status_t status;
    medley_mcapi_state_wait(sleeps_by.receiver, SLICES_US, &status);
    return status;
}

static mcapi_status_t
sleep_for_subscriber(void)
{
    mcapi_status_t status;
    (void)medley_mcapi_topic_publish(sleeps_at, "", 1, &status);
    return status;
}

static void
prepare_subscriber(void)
{
    mcapi_endpoint_t slow = endpoint_make(TO + 1);
    prepare_endpoint();
    assert_int_equal(attribute_set(slow, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 1), MCAPI_SUCCESS);
    (void)subscribe(sleeps_at, slow, MCAPI_SUCCESS);
    while (sleep_for_subscriber() == MCAPI_SUCCESS) {
    }
}

static const sleeper *sleeping; /* set before it starts */

/* Has all requests there are; but for the first they are canceled meanwhile. */
static void *
sleeps_with_requests(void *argument)
{
    (void)argument;
    exchange_begin(OTHER);
    sleeping->prepare();
    requests_use_up(endpoint_make(FROM));
    stage_reach(1);
    while (atomic32_load_acquire(&stage) == 1) {
        assert_int_equal(sleeping->sleep(), MCAPI_TIMEOUT);
    }
    exchange_end();
    return NULL;
}

/* Another's places come back, though he asks for nothing. */
static void
gets_a_place(mcapi_endpoint_t at)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned number;
    uint64_t soon_ns = med_port_clock_ns() + SOON_NS;
    do {
        med_port_yield();
        mcapi_msg_recv_i(at, &number, sizeof number, &request, &status);
    } while (status == MCAPI_ERR_REQUEST_LIMIT && med_port_clock_ns() < soon_ns);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(cancel(request), MCAPI_SUCCESS);
}

static void
sleeper_gives_places_back(void **state)
{
    static const sleeper sleepers[] = {
        {prepare_endpoint, sleep_for_endpoint},
        {prepare_endpoint, sleep_for_message},
        {prepare_endpoint, sleep_for_request},
        {prepare_scalars, sleep_for_scalar},
        {prepare_full, sleep_for_room},
        {prepare_states, sleep_for_state},
        {prepare_subscriber, sleep_for_subscriber},
    };
    (void)state;
    mcapi_endpoint_t at = endpoint_make(FROM);
    for (size_t i = 0; i < sizeof sleepers / sizeof sleepers[0]; i++) {
        sleeping = &sleepers[i];
        stage_reach(0);
        start(OTHER, sleeps_with_requests);
        stage_await(1);
        for (size_t k = 1; k < asked_count; k++) {
            assert_int_equal(cancel(asked[k]), MCAPI_SUCCESS);
        }
        gets_a_place(at);
        stage_reach(2);
        join(OTHER, 0);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_waits_is_woken, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(endpoint_goes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(node_goes, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(sleeper_gives_places_back, exchange_up, exchange_down),
    };
    setenv("MEDLEY_MAX_NODES", "32", 1);
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mcapi/api_request_wait", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
