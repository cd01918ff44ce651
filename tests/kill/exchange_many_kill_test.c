/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed while they send or receive many messages or scalars in one call. All that was accepted
 * comes, in order, and at most what one call sends beyond; who sends to the dead is told; all lanes
 * and buffers come back.
 */
#include "exchange_victim.h"
#include "medley/mcapi_ext.h"

#define MANY 10u

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
        number_write(messages + k * SHORT_BYTES, SHORT_BYTES, first + k);
    }
}

/* ---- Who is killed --------------------------------------------------------------------------- */

static int
sends_messages(test_process *parent, void *argument)
{
    unsigned char messages[MANY * SHORT_BYTES];
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = victim_endpoint_make();
    mcapi_endpoint_t to = victim_other_endpoint();
    process_say(parent, 'r');
    for (uint32_t i = 0;; i += MANY) {
        fill_from(messages, i);
        child_expect(
            medley_mcapi_msg_send_many(from, to, messages, SHORT_BYTES, MANY, 0, &status) == MANY);
        victim_note(i + MANY);
    }
}

static int
sends_scalars(test_process *parent, void *argument)
{
    mcapi_uint64_t scalars[MANY];
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    unsigned sender = victim_sender_open(&of_scalars, victim_endpoint_make());
    process_say(parent, 'r');
    for (uint32_t i = 0;; i += MANY) {
        number_from(scalars, i);
        child_expect(medley_mcapi_sclchan_send_many(sender, scalars, MANY, 8, &status) == MANY);
        victim_note(i + MANY);
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
    mcapi_endpoint_t at = victim_endpoint_make();
    process_say(parent, 'r');
    for (uint32_t next = 0;;) {
        mcapi_uint_t received =
            medley_mcapi_msg_recv_many(at, messages, SHORT_BYTES, 3 * MANY, sizes, &status);
        child_expect(status == MCAPI_SUCCESS);
        for (mcapi_uint_t i = 0; i < received; i++, next++) {
            child_expect(number_is(messages + i * SHORT_BYTES, sizes[i], next));
        }
    }
}

static int
receives_scalars(test_process *parent, void *argument)
{
    mcapi_uint64_t scalars[3 * MANY];
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    unsigned receiver = victim_receiver_open(&of_scalars, victim_endpoint_make());
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
message_senders_die(void **state)
{
    static unsigned char messages[3 * MANY * SHORT_BYTES];
    size_t sizes[3 * MANY];
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    timeout_set(at, 5000);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        uint32_t next = 0;
        bool was_dead = false;
        victim_start(&v, sends_messages);
        victim_doom(&v);
        for (status = MCAPI_SUCCESS; status != MCAPI_TIMEOUT || !was_dead;) {
            was_dead = victim_is_dead(&v);
            mcapi_uint_t received =
                medley_mcapi_msg_recv_many(at, messages, SHORT_BYTES, 3 * MANY, sizes, &status);
            assert_true(status == MCAPI_TIMEOUT ? received == 0 : status == MCAPI_SUCCESS);
            for (mcapi_uint_t i = 0; i < received; i++, next++) {
                assert_int_equal(sizes[i], SHORT_BYTES);
                assert_true(number_is(messages + i * SHORT_BYTES, SHORT_BYTES, next));
            }
        }
        uint32_t accepted = victim_end(&v);
        assert_in_range(next, accepted, accepted + MANY);
        (void)med_process_recover_all(med_self_get()->system);
        assert_int_equal(mcapi_msg_available(at, &status), 0);
    }
    expect_all_back();
}

static void
scalar_senders_die(void **state)
{
    mcapi_uint64_t scalars[3 * MANY];
    mcapi_status_t status;
    unsigned receiver;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        uint32_t next = 0;
        victim_start(&v, sends_scalars);
        receiver = receiver_open(&of_scalars, at);
        victim_doom(&v);
        for (;;) {
            (void)victim_is_dead(&v);
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
        uint32_t accepted = victim_end(&v);
        assert_in_range(next, accepted, accepted + MANY);
        receiver_close(&of_scalars, receiver);
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
        victim v;
        victim_start(&v, receives_messages);
        mcapi_endpoint_t to = endpoint_of(PEER, 1);
        victim_doom(&v);
        status = MCAPI_SUCCESS;
        for (uint32_t i = 0; status == MCAPI_SUCCESS; i += MANY) {
            (void)victim_is_dead(&v);
            fill_from(messages, i);
            mcapi_uint_t sent =
                medley_mcapi_msg_send_many(from, to, messages, SHORT_BYTES, MANY, 0, &status);
            assert_true((sent == MANY) == (status == MCAPI_SUCCESS));
        }
        expect_told(status);
        (void)victim_end(&v);
        (void)med_process_recover_all(med_self_get()->system);
    }
    endpoint_delete(from);
    expect_all_back();
}

static void
scalar_receivers_die(void **state)
{
    mcapi_uint64_t scalars[MANY];
    mcapi_status_t status;
    unsigned sender;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    timeout_set(from, STUCK_AFTER_US);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        victim_start(&v, receives_scalars);
        sender = sender_open(&of_scalars, from);
        victim_doom(&v);
        status = MCAPI_SUCCESS;
        for (uint32_t i = 0; status == MCAPI_SUCCESS; i += MANY) {
            (void)victim_is_dead(&v);
            number_from(scalars, i);
            mcapi_uint_t sent = medley_mcapi_sclchan_send_many(sender, scalars, MANY, 8, &status);
            assert_true((sent == MANY) == (status == MCAPI_SUCCESS));
        }
        assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
        (void)victim_end(&v);
        sender_close(&of_scalars, sender);
    }
    expect_all_back();
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(message_senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(scalar_senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(message_receivers_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(scalar_receivers_die, exchange_up, exchange_down),
    };
    return victims_run(argc, argv, tests);
}
