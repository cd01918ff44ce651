/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed while it exchanges, at any moment. A process sends messages, packets and states to the
 * tester, or receives them, and is killed; the next takes its place, under its number. Nothing that
 * was accepted is lost to a receiver that lives, nothing comes twice or out of order, of states the
 * last is received, and whole; nobody hangs, and all lanes and buffers come back.
 *
 *   MEDLEY_TEST_KILLS=n   how many are killed, of each kind (50)
 *   MEDLEY_TEST_SEED=n    when
 */
#include <signal.h>

#include "mcapi/exchange.h"
#include "medley/mcapi_ext.h"
#include "support/exchange.h"
#include "support/process.h"
#include "support/random.h"

#define PEER 8
#define SHORT_BYTES 24u
#define LONG_BYTES 3000u /* by a buffer */
#define STATE_BYTES 256u
#define PAUSE_MAX_US 3000u
#define STUCK_AFTER_US 20000000u

typedef struct diary {
    atomic32 accepted; /* how many sends have succeeded; written by the one who dies */
} diary;

static diary *log_of_victim;
static test_random when;

static uint32_t
kills_wanted(void)
{
    const char *wanted = getenv("MEDLEY_TEST_KILLS");
    return wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 50;
}

static size_t
length_of(uint32_t number)
{
    return number % 5 == 4 ? LONG_BYTES : SHORT_BYTES;
}

static void
fill(unsigned char *message, uint32_t number)
{
    memset(message, (int)(number & 0xff), length_of(number));
    memcpy(message, &number, sizeof number);
}

static bool
is_number(const unsigned char *message, size_t size, uint32_t number)
{
    uint32_t found;
    memcpy(&found, message, sizeof found);
    return size == length_of(number) && found == number &&
           message[size - 1] == (unsigned char)(number & 0xff);
}

/* ---- Who is killed --------------------------------------------------------------------------- */

static void
victim_begin(void)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, PEER, NULL, NULL, &info, &status);
    child_expect(status == MCAPI_SUCCESS);
}

static int
sends_messages(test_process *parent, void *argument)
{
    static unsigned char message[LONG_BYTES];
    mcapi_status_t status;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = mcapi_endpoint_create(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    mcapi_endpoint_t to = mcapi_endpoint_get(DOMAIN, NODE, 1, MCAPI_TIMEOUT_INFINITE, &status);
    process_say(parent, 'r');
    for (uint32_t i = 0;; i++) {
        fill(message, i);
        mcapi_msg_send(from, to, message, length_of(i), i % 2, &status);
        child_expect(status == MCAPI_SUCCESS);
        atomic32_store_relaxed(&log_of_victim->accepted, i + 1);
    }
}

static int
sends_packets(test_process *parent, void *argument)
{
    static unsigned char packet[LONG_BYTES];
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    size_t size;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = mcapi_endpoint_create(1, &status);
    mcapi_endpoint_t to = mcapi_endpoint_get(DOMAIN, NODE, 1, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_pktchan_connect_i(from, to, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
    mcapi_pktchan_send_open_i(&sender, from, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
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
        atomic32_store_relaxed(&log_of_victim->accepted, i + 1);
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
    mcapi_endpoint_t at = mcapi_endpoint_create(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    process_say(parent, 'r');
    for (uint32_t i = 0;; i++) {
        mcapi_msg_recv(at, message, sizeof message, &size, &status);
        child_expect(status == MCAPI_SUCCESS && is_number(message, size, i));
    }
}

static mcapi_endpoint_t
state_endpoint_make_by(mcapi_port_t port, mcapi_status_t *status)
{
    const mcapi_uint_t settings[][2] = {
        {MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER},
        {MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, STATE_BYTES},
        {MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 2},
    };
    mcapi_endpoint_t endpoint = mcapi_endpoint_create(port, status);
    for (size_t i = 0; i < 3 && *status == MCAPI_SUCCESS; i++) {
        mcapi_endpoint_set_attribute(endpoint, settings[i][0], &settings[i][1],
                                     sizeof settings[i][1], status);
    }
    return endpoint;
}

static int
sends_states(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    unsigned value[STATE_BYTES / sizeof(unsigned)];
    size_t size;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = state_endpoint_make_by(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    mcapi_endpoint_t to = mcapi_endpoint_get(DOMAIN, NODE, 1, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_pktchan_connect_i(from, to, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
    mcapi_pktchan_send_open_i(&sender, from, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
    process_say(parent, 'r');
    for (uint32_t i = 1;; i++) {
        for (size_t k = 0; k < sizeof value / sizeof value[0]; k++) {
            value[k] = i;
        }
        mcapi_pktchan_send(sender, value, sizeof value, &status);
        child_expect(status == MCAPI_SUCCESS);
        atomic32_store_relaxed(&log_of_victim->accepted, i);
    }
}

static int
receives_states(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned receiver;
    size_t size;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t at = state_endpoint_make_by(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    process_say(parent, 'r');
    mcapi_pktchan_recv_open_i(&receiver, at, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
    for (uint32_t last = 0;;) {
        void *value;
        mcapi_pktchan_recv(receiver, &value, &size, &status);
        child_expect(status == MCAPI_SUCCESS && *(unsigned *)value >= last);
        last = *(unsigned *)value;
        mcapi_pktchan_release(value, &status);
        child_expect(status == MCAPI_SUCCESS);
    }
}

static int
opens_only(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    size_t size;
    (void)argument;
    victim_begin();
    mcapi_endpoint_t from = mcapi_endpoint_create(1, &status);
    mcapi_endpoint_t to = mcapi_endpoint_get(DOMAIN, NODE, 1, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_pktchan_connect_i(from, to, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
    mcapi_pktchan_send_open_i(&sender, from, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
    process_say(parent, 'r');
    (void)process_hear(parent); /* for ever */
    return 0;
}

/* Receives nothing: of messages, the first endpoint, of scalars, the second. */
static int
fills_up(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned receiver;
    size_t size;
    (void)argument;
    victim_begin();
    (void)mcapi_endpoint_create(1, &status);
    mcapi_endpoint_t to = mcapi_endpoint_create(2, &status);
    mcapi_endpoint_t from = mcapi_endpoint_get(DOMAIN, NODE, 2, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_sclchan_connect_i(from, to, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
    mcapi_sclchan_recv_open_i(&receiver, to, &request, &status);
    child_expect(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
    process_say(parent, 'r');
    (void)process_hear(parent); /* for ever */
    return 0;
}

static void
victim_start(test_process *victim, int (*body)(test_process *, void *))
{
    atomic32_store_relaxed(&log_of_victim->accepted, 0);
    process_start(victim, body, NULL);
    assert_int_equal(process_hear(victim), 'r');
}

static uint64_t
death_of_next(void)
{
    return med_port_clock_ns() + random_below(&when, PAUSE_MAX_US) * 1000u;
}

/* Kills it when its time has come; true from then on. */
static bool
killed(const test_process *victim, uint64_t at_ns, bool *done)
{
    if (!*done && med_port_clock_ns() >= at_ns) {
        process_kill(victim);
        *done = true;
    }
    return *done;
}

/* ---- What is left of it ---------------------------------------------------------------------- */

/* Of the buffers, those in use; of the lanes, all. */
static void
expect_all_back(void)
{
    const med_self *self = med_self_get();
    med_pool_statistics statistics;
    uint32_t lanes = 0;
    (void)med_process_recover_all(self->system);
    for (uint32_t i = 0; i < self->system->lanes.row_count; i++) {
        uint32_t word = atomic32_load_acquire(&med_table_row(&self->system->lanes, i)->state);
        lanes += med_row_state_of(word) == MED_ROW_LIVE;
    }
    assert_int_equal(lanes, 0);
    med_pool_buffer buffer;
    med_exchange_reclaim(self);
    assert_int_equal(med_exchange_buffer_take(med_self_get(), &buffer), MEDLEY_OK);
    med_pool_statistics_get(&self->exchange->exchange->pool, &statistics);
    assert_int_equal(statistics.in_use, 1);
    assert_int_equal(med_pool_give(&self->exchange->exchange->pool, &self->exchange->cache, buffer),
                     MEDLEY_OK);
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
        test_process victim;
        uint32_t next[2] = {0, 1};
        bool dead = false;
        victim_start(&victim, sends_messages);
        uint64_t at_ns = death_of_next();
        for (;;) {
            bool was_dead = killed(&victim, at_ns, &dead);
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
        uint32_t accepted = atomic32_load_relaxed(&log_of_victim->accepted);
        uint32_t received = next[0] / 2 + next[1] / 2;
        assert_in_range(received, accepted, accepted + 1);
        (void)process_join(&victim);
        (void)med_process_recover_all(med_self_get()->system);
        assert_int_equal(mcapi_msg_available(at, &status), 0);
    }
    expect_all_back();
}

static void
packet_senders_die(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet;
    unsigned receiver;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        test_process victim;
        bool dead = false;
        uint32_t received = 0;
        victim_start(&victim, sends_packets);
        mcapi_pktchan_recv_open_i(&receiver, at, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
        uint64_t at_ns = death_of_next();
        for (;;) {
            (void)killed(&victim, at_ns, &dead);
            mcapi_pktchan_recv(receiver, &packet, &size, &status);
            if (status == MCAPI_ERR_ENDP_DELETED) {
                break;
            }
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_true(is_number(packet, size, received++));
            mcapi_pktchan_release(packet, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
        }
        assert_true(dead);
        uint32_t accepted = atomic32_load_relaxed(&log_of_victim->accepted);
        assert_in_range(received, accepted, accepted + 1);
        (void)process_join(&victim);
        mcapi_pktchan_recv_close_i(receiver, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
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
        test_process victim;
        bool dead = false;
        victim_start(&victim, receives_messages);
        mcapi_endpoint_t to = endpoint_of(PEER, 1);
        uint64_t at_ns = death_of_next();
        for (uint32_t i = 0;; i++) {
            (void)killed(&victim, at_ns, &dead);
            fill(message, i);
            mcapi_msg_send(from, to, message, length_of(i), 0, &status);
            if (status != MCAPI_SUCCESS) {
                break;
            }
        }
        assert_true(dead);
        assert_true(status == MCAPI_ERR_TRANSMISSION || status == MCAPI_ERR_ENDP_INVALID);
        (void)process_join(&victim);
        (void)med_process_recover_all(med_self_get()->system);
        mcapi_msg_send(from, to, message, SHORT_BYTES, 0, &status);
        assert_true(status == MCAPI_ERR_TRANSMISSION || status == MCAPI_ERR_ENDP_INVALID);
    }
    mcapi_endpoint_delete(from, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    expect_all_back();
}

static mcapi_endpoint_t
state_endpoint_make(mcapi_port_t port)
{
    mcapi_status_t status;
    mcapi_endpoint_t endpoint = state_endpoint_make_by(port, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return endpoint;
}

/* Each value is whole; the last that was accepted, or one that was not noted any more, comes. */
static void
state_senders_die(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned value[STATE_BYTES / sizeof(unsigned)], receiver, last;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = state_endpoint_make(1);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        test_process victim;
        bool dead = false;
        victim_start(&victim, sends_states);
        mcapi_pktchan_recv_open_i(&receiver, at, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
        uint64_t at_ns = death_of_next();
        for (last = 0;;) {
            (void)killed(&victim, at_ns, &dead);
            medley_mcapi_state_recv(receiver, value, sizeof value, &size, &status);
            if (status == MCAPI_ERR_ENDP_DELETED) {
                break;
            }
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_int_equal(size, sizeof value);
            assert_true(value[0] >= last);
            last = value[0];
            for (size_t k = 0; k < sizeof value / sizeof value[0]; k++) {
                assert_int_equal(value[k], last);
            }
        }
        assert_true(dead);
        uint32_t accepted = atomic32_load_relaxed(&log_of_victim->accepted);
        assert_in_range(last, accepted, accepted + 1);
        (void)process_join(&victim);
        mcapi_pktchan_recv_close_i(receiver, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
    }
    expect_all_back();
}

static void
state_receivers_die(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    (void)state;
    mcapi_endpoint_t from = state_endpoint_make(1);
    for (uint32_t life = 0; life < kills_wanted(); life++) {
        test_process victim;
        bool dead = false;
        victim_start(&victim, receives_states);
        mcapi_pktchan_connect_i(from, endpoint_of(PEER, 1), &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
        mcapi_pktchan_send_open_i(&sender, from, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
        uint64_t at_ns = death_of_next();
        for (unsigned i = 0;; i++) {
            (void)killed(&victim, at_ns, &dead);
            mcapi_pktchan_send(sender, &i, sizeof i, &status);
            if (status != MCAPI_SUCCESS) {
                break;
            }
        }
        assert_true(dead);
        assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
        (void)process_join(&victim);
        mcapi_pktchan_send_close_i(sender, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
    }
    mcapi_endpoint_delete(from, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    expect_all_back();
}

/* Who waits for a request is told, though nobody else looks whether the sender lives. */
static void
asked_for_of_the_dead(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet;
    unsigned receiver;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    test_process victim;
    victim_start(&victim, opens_only);
    mcapi_pktchan_recv_open_i(&receiver, at, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    mcapi_pktchan_recv_i(receiver, &packet, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    process_kill(&victim);
    (void)process_join(&victim);
    (void)expect_end(request, MCAPI_ERR_ENDP_DELETED);
    mcapi_pktchan_recv_close_i(receiver, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    expect_all_back();
}

/* Who only tests is told as well. */
static void
polled_of_the_dead(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    void *packet;
    unsigned receiver;
    size_t size;
    (void)state;
    mcapi_endpoint_t at = endpoint_make(1);
    test_process victim;
    victim_start(&victim, opens_only);
    mcapi_pktchan_recv_open_i(&receiver, at, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    mcapi_pktchan_recv_i(receiver, &packet, &request, &status);
    assert_int_equal(mcapi_test(&request, &size, &status), MCAPI_FALSE);
    process_kill(&victim);
    (void)process_join(&victim);
    while (!mcapi_test(&request, &size, &status)) {
        assert_int_equal(status, MCAPI_PENDING);
    }
    assert_int_equal(status, MCAPI_ERR_ENDP_DELETED);
    mcapi_pktchan_recv_close_i(receiver, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
    expect_all_back();
}

static mcapi_status_t
send_scalar(unsigned sender)
{
    mcapi_status_t status;
    mcapi_sclchan_send_uint8(sender, 0, &status);
    return status;
}

/* And who sends without waiting for room, by either way not to wait. */
static void
sent_to_the_dead(void **state)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    mcapi_uint_t fail = MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT;
    (void)state;
    mcapi_endpoint_t messages = endpoint_make(1), scalars = endpoint_make(2);
    mcapi_endpoint_set_attribute(messages, MCAPI_ENDP_ATTR_MEMORY_TYPE, &fail, sizeof fail,
                                 &status);
    timeout_set(scalars, 0);
    for (int only_scalars = 0; only_scalars < 2; only_scalars++) {
        test_process victim;
        victim_start(&victim, fills_up);
        mcapi_endpoint_t to = endpoint_of(PEER, 1);
        mcapi_sclchan_send_open_i(&sender, scalars, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
        while (send_number(messages, to, 0, 0) == MCAPI_SUCCESS) {
        }
        while ((status = send_scalar(sender)) == MCAPI_SUCCESS) {
        }
        assert_int_equal(status, MCAPI_TIMEOUT);
        process_kill(&victim);
        (void)process_join(&victim);
        while (!only_scalars && (status = send_number(messages, to, 0, 0)) == MCAPI_ERR_MEM_LIMIT) {
        }
        assert_true(only_scalars || status == MCAPI_ERR_TRANSMISSION ||
                    status == MCAPI_ERR_ENDP_INVALID);
        while ((status = send_scalar(sender)) == MCAPI_TIMEOUT) {
        }
        assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
        mcapi_sclchan_send_close_i(sender, &request, &status);
        (void)expect_end(request, MCAPI_SUCCESS);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(packet_senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(receivers_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(state_senders_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(state_receivers_die, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(asked_for_of_the_dead, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(polled_of_the_dead, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(sent_to_the_dead, exchange_up, exchange_down),
    };
    void *memory;
    if (!system_up(argc, argv)) {
        return 1;
    }
    memory = mmap(NULL, sizeof *log_of_victim, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
    if (memory == MAP_FAILED) {
        return 1;
    }
    log_of_victim = memory;
    when = test_random_of(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
