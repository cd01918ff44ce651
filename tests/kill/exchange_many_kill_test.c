/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed while they send many scalars, or receive many messages or scalars, in one call. All that
 * was accepted comes, in order, and at most what one call sends beyond; who sends to the dead is
 * told; all lanes and buffers come back.
 */
#include "exchange_victim.h"
#include "medley/mcapi_ext.h"

#define MANY 10u
#define SHORT_BYTES 24u
#define STUCK_AFTER_US 20000000u

static void
number_from(mcapi_uint64_t *scalars, uint32_t first)
{
    for (uint32_t k = 0; k < MANY; k++) {
        scalars[k] = (mcapi_uint64_t)(first + k) << 32 | (first + k);
    }
}

static bool
is_number(mcapi_uint64_t scalar, uint32_t number)
{
    return scalar == ((mcapi_uint64_t)number << 32 | number);
}

static void
fill_from(unsigned char *messages, uint32_t first)
{
    for (uint32_t k = 0; k < MANY; k++) {
        uint32_t number = first + k;
        memset(messages + k * SHORT_BYTES, (int)(number & 0xff), SHORT_BYTES);
        memcpy(messages + k * SHORT_BYTES, &number, sizeof number);
    }
}

/* ---- Who is killed --------------------------------------------------------------------------- */

static int
sends_scalars(test_process *parent, void *argument)
{
    mcapi_uint64_t scalars[MANY];
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = mcapi_endpoint_create(1, &status);
    mcapi_endpoint_t to = mcapi_endpoint_get(DOMAIN, NODE, 1, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_sclchan_connect_i(from, to, &request, &status);
    victim_expect_end(&request);
    mcapi_sclchan_send_open_i(&sender, from, &request, &status);
    victim_expect_end(&request);
    process_say(parent, 'r');
    for (uint32_t i = 0;; i += MANY) {
        number_from(scalars, i);
        child_expect(medley_mcapi_sclchan_send_many(sender, scalars, MANY, 8, &status) == MANY);
        atomic32_store_relaxed(&log_of_victim->accepted, i + MANY);
    }
}

static int
receives_messages(test_process *parent, void *argument)
{
    unsigned char messages[3 * MANY * SHORT_BYTES];
    size_t sizes[3 * MANY];
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t at = mcapi_endpoint_create(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    process_say(parent, 'r');
    for (uint32_t next = 0;;) {
        mcapi_uint_t received =
            medley_mcapi_msg_recv_many(at, messages, SHORT_BYTES, 3 * MANY, sizes, &status);
        child_expect(status == MCAPI_SUCCESS);
        for (mcapi_uint_t i = 0; i < received; i++, next++) {
            child_expect(memcmp(messages + i * SHORT_BYTES, &next, sizeof next) == 0);
        }
    }
}

static int
receives_scalars(test_process *parent, void *argument)
{
    mcapi_uint64_t scalars[3 * MANY];
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned receiver;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t at = mcapi_endpoint_create(1, &status);
    mcapi_endpoint_t from = mcapi_endpoint_get(DOMAIN, NODE, 1, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_sclchan_connect_i(from, at, &request, &status);
    victim_expect_end(&request);
    mcapi_sclchan_recv_open_i(&receiver, at, &request, &status);
    victim_expect_end(&request);
    process_say(parent, 'r');
    for (uint32_t next = 0;;) {
        mcapi_uint_t received =
            medley_mcapi_sclchan_recv_many(receiver, scalars, 3 * MANY, 8, &status);
        child_expect(status == MCAPI_SUCCESS);
        for (mcapi_uint_t i = 0; i < received; i++) {
            child_expect(is_number(scalars[i], next++));
        }
    }
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void
scalar_senders_die(void **state)
{
    mcapi_uint64_t scalars[3 * MANY];
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned receiver;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        test_process victim;
        bool dead = false;
        uint32_t next = 0;
        victim_start(&victim, sends_scalars);
        mcapi_sclchan_recv_open_i(&receiver, at, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
        uint64_t at_ns = death_of_next();
        for (;;) {
            (void)killed(&victim, at_ns, &dead);
            mcapi_uint_t received =
                medley_mcapi_sclchan_recv_many(receiver, scalars, 3 * MANY, 8, &status);
            if (status == MCAPI_ERR_ENDP_DELETED) {
                assert_int_equal(received, 0);
                break;
            }
            assert_int_equal(status, MCAPI_SUCCESS);
            for (mcapi_uint_t i = 0; i < received; i++) {
                assert_true(is_number(scalars[i], next++));
            }
        }
        assert_true(dead);
        uint32_t accepted = atomic32_load_relaxed(&log_of_victim->accepted);
        assert_in_range(next, accepted, accepted + MANY);
        (void)process_join(&victim);
        mcapi_sclchan_recv_close_i(receiver, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
    }
    expect_all_back();
}

/* Who sends many to the dead is told; and sends to the next. */
static void
message_receivers_die(void **state)
{
    unsigned char messages[MANY * SHORT_BYTES];
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    timeout_set(from, STUCK_AFTER_US);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        test_process victim;
        bool dead = false;
        victim_start(&victim, receives_messages);
        mcapi_endpoint_t to = endpoint_of(PEER, 1);
        uint64_t at_ns = death_of_next();
        status = MCAPI_SUCCESS;
        for (uint32_t i = 0; status == MCAPI_SUCCESS; i += MANY) {
            (void)killed(&victim, at_ns, &dead);
            fill_from(messages, i);
            mcapi_uint_t sent =
                medley_mcapi_msg_send_many(from, to, messages, SHORT_BYTES, MANY, 0, &status);
            assert_true((sent == MANY) == (status == MCAPI_SUCCESS));
        }
        assert_true(dead);
        assert_true(status == MCAPI_ERR_TRANSMISSION || status == MCAPI_ERR_ENDP_INVALID);
        (void)process_join(&victim);
        (void)med_process_recover_all(med_self_get()->system);
    }
    mcapi_endpoint_delete(from, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    expect_all_back();
}

static void
scalar_receivers_die(void **state)
{
    mcapi_uint64_t scalars[MANY];
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    timeout_set(from, STUCK_AFTER_US);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        test_process victim;
        bool dead = false;
        victim_start(&victim, receives_scalars);
        mcapi_sclchan_send_open_i(&sender, from, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
        uint64_t at_ns = death_of_next();
        status = MCAPI_SUCCESS;
        for (uint32_t i = 0; status == MCAPI_SUCCESS; i += MANY) {
            (void)killed(&victim, at_ns, &dead);
            number_from(scalars, i);
            mcapi_uint_t sent = medley_mcapi_sclchan_send_many(sender, scalars, MANY, 8, &status);
            assert_true((sent == MANY) == (status == MCAPI_SUCCESS));
        }
        assert_true(dead);
        assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
        (void)process_join(&victim);
        mcapi_sclchan_send_close_i(sender, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
    }
    expect_all_back();
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scalar_senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(message_receivers_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(scalar_receivers_die, exchange_up, exchange_down),
    };
    if (!victims_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
