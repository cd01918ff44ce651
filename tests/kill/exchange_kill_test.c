/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed while it exchanges, at any moment. A process sends messages or packets to the tester, or
 * receives them, and is killed; the next takes its place, under its number. Nothing that was
 * accepted is lost to a receiver that lives, nothing comes twice or out of order; nobody hangs, and
 * all lanes and buffers come back.
 */
#include "exchange_victim.h"
#include "medley/mcapi_ext.h"

#define LONG_BYTES 3000u /* by a buffer */

static size_t
length_of(uint32_t number)
{
    return number % 5 == 4 ? LONG_BYTES : SHORT_BYTES;
}

static void
fill(unsigned char *message, uint32_t number)
{
    number_write(message, length_of(number), number);
}

static bool
is_number(const unsigned char *message, size_t size, uint32_t number)
{
    return size == length_of(number) && number_is(message, size, number);
}

/* ---- Who is killed --------------------------------------------------------------------------- */

static int
sends_messages(test_process *parent, void *argument)
{
    static unsigned char message[LONG_BYTES];
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = victim_endpoint_make();
    mcapi_endpoint_t to = victim_other_endpoint();
    process_say(parent, 'r');
    for (uint32_t i = 0;; i++) {
        fill(message, i);
        mcapi_msg_send(from, to, message, length_of(i), i % 2, &status);
        child_expect(status == MCAPI_SUCCESS);
        victim_note(i + 1);
    }
}

static int
sends_packets(test_process *parent, void *argument)
{
    static unsigned char packet[LONG_BYTES];
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = victim_endpoint_make();
    unsigned sender = victim_sender_open(&of_packets, from);
    process_say(parent, 'r');
    for (uint32_t i = 0;; i++) {
        if (i % 2) {
            fill(packet, i);
            mcapi_pktchan_send(sender, packet, length_of(i), &status);
        } else {
            unsigned char *place = medley_mcapi_pktchan_take(sender, &status);
            child_expect(status == MCAPI_SUCCESS);
            fill(place, i);
            medley_mcapi_pktchan_send_taken(sender, place, length_of(i), &status);
        }
        child_expect(status == MCAPI_SUCCESS);
        victim_note(i + 1);
    }
}

static int
receives_messages(test_process *parent, void *argument)
{
    static unsigned char message[LONG_BYTES];
    mcapi_status_t status;
    size_t size;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t at = victim_endpoint_make();
    process_say(parent, 'r');
    for (uint32_t i = 0;; i++) {
        mcapi_msg_recv(at, message, sizeof message, &size, &status);
        child_expect(status == MCAPI_SUCCESS && is_number(message, size, i));
    }
}

/* ---- The tests ------------------------------------------------------------------------------- */

/* Two priorities, each in order; the last message of all may be accepted and not noted. */
static void
senders_die(void **state)
{
    static unsigned char message[LONG_BYTES];
    mcapi_status_t status;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    timeout_set(at, 5000);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        uint32_t next[2] = {0, 1};
        victim_start(&v, sends_messages);
        victim_doom(&v);
        for (;;) {
            bool was_dead = victim_is_dead(&v);
            mcapi_msg_recv(at, message, sizeof message, &size, &status);
            if (status == MCAPI_TIMEOUT && was_dead) {
                break;
            }
            if (status != MCAPI_TIMEOUT) {
                uint32_t number;
                assert_int_equal(status, MCAPI_SUCCESS);
                memcpy(&number, message, sizeof number);
                assert_true(is_number(message, size, next[number % 2]));
                next[number % 2] += 2;
            }
        }
        uint32_t accepted = victim_end(&v);
        uint32_t received = next[0] / 2 + next[1] / 2;
        assert_in_range(received, accepted, accepted + 1);
        (void)med_process_recover_all(med_self_get()->system);
        assert_int_equal(mcapi_msg_available(at, &status), 0);
    }
    expect_all_back();
}

static void
packet_senders_die(void **state)
{
    mcapi_status_t status;
    void *packet;
    unsigned receiver;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        uint32_t received = 0;
        victim_start(&v, sends_packets);
        receiver = receiver_open(&of_packets, at);
        victim_doom(&v);
        for (;;) {
            (void)victim_is_dead(&v);
            mcapi_pktchan_recv(receiver, &packet, &size, &status);
            if (status == MCAPI_ERR_ENDP_DELETED) {
                break;
            }
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_true(is_number(packet, size, received++));
            mcapi_pktchan_release(packet, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
        }
        uint32_t accepted = victim_end(&v);
        assert_in_range(received, accepted, accepted + 1);
        receiver_close(&of_packets, receiver);
    }
    expect_all_back();
}

/* Who sends to the dead is told; and sends to the next. */
static void
receivers_die(void **state)
{
    static unsigned char message[LONG_BYTES];
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    timeout_set(from, STUCK_AFTER_US);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        victim v;
        victim_start(&v, receives_messages);
        mcapi_endpoint_t to = endpoint_of(PEER, 1);
        victim_doom(&v);
        for (uint32_t i = 0;; i++) {
            (void)victim_is_dead(&v);
            fill(message, i);
            mcapi_msg_send(from, to, message, length_of(i), 0, &status);
            if (status != MCAPI_SUCCESS) {
                break;
            }
        }
        expect_told(status);
        (void)victim_end(&v);
        (void)med_process_recover_all(med_self_get()->system);
        mcapi_msg_send(from, to, message, SHORT_BYTES, 0, &status);
        expect_told(status);
    }
    endpoint_delete(from);
    expect_all_back();
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packet_senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(receivers_die, exchange_up, exchange_down),
    };
    return victims_run(argc, argv, tests);
}
