/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conformance of many messages and scalars in one call. Run in a private system and in a named one.
 */
#include "medley/mcapi_ext.h"
#include "support/channel.h"
#include "support/random.h"
#include "support/threads.h"

#define OTHER 8
#define PLACES 100u
#define PLACE_BYTES 48u

static unsigned char places[PLACES * PLACE_BYTES];
static size_t lengths[PLACES];

/* Each of `size` bytes, that begin with its number. */
static void
fill(unsigned char *messages, size_t size, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned number = first + i;
        memset(messages + i * size, (int)(number & 0xff), size);
        memcpy(messages + i * size, &number, sizeof number);
    }
}

static unsigned
number_at(const unsigned char *message)
{
    unsigned number;
    memcpy(&number, message, sizeof number);
    return number;
}

static mcapi_uint_t
receive_many(mcapi_endpoint_t at, mcapi_uint_t count, mcapi_status_t expected)
{
    mcapi_status_t status;
    mcapi_uint_t received =
        medley_mcapi_msg_recv_many(at, places, PLACE_BYTES, count, lengths, &status);
    assert_int_equal(status, expected);
    return received;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Whatever the length, up to the longest, and wherever the ring's end lies. */
static void
every_length(void **state)
{
    static unsigned char messages[20 * PLACE_BYTES];
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    unsigned next = 0;
    for (unsigned round = 0; round < 60; round++) {
        for (size_t size = sizeof(unsigned); size <= PLACE_BYTES; size++) {
            unsigned count = 1 + (round + (unsigned)size) % 20;
            fill(messages, size, next, count);
            assert_int_equal(
                medley_mcapi_msg_send_many(from, to, messages, size, count, 0, &status), count);
            assert_int_equal(status, MCAPI_SUCCESS);
            assert_int_equal(mcapi_msg_available(to, &status), count);
            assert_int_equal(receive_many(to, PLACES, MCAPI_SUCCESS), count);
            for (unsigned i = 0; i < count; i++) {
                assert_int_equal(lengths[i], size);
                assert_memory_equal(places + i * PLACE_BYTES, messages + i * size, size);
            }
            next += count;
        }
    }
}

/* One call's are received one by one, and the reverse. */
static void
mixed_with_single_ones(void **state)
{
    unsigned char messages[10 * 8];
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(send_number(from, to, i, 0), MCAPI_SUCCESS);
    }
    assert_int_equal(receive_many(to, 4, MCAPI_SUCCESS), 4);
    expect_number(to, 4);
    assert_int_equal(receive_many(to, PLACES, MCAPI_SUCCESS), 5);
    assert_int_equal(number_at(places), 5);
    assert_int_equal(number_at(places + 4 * PLACE_BYTES), 9);
    fill(messages, sizeof(unsigned), 20, 10);
    assert_int_equal(
        medley_mcapi_msg_send_many(from, to, messages, sizeof(unsigned), 10, 0, &status), 10);
    for (unsigned i = 20; i < 30; i++) {
        expect_number(to, i);
    }
}

/* By buffers; longer than its place; empty ones. */
static void
unlike_lengths(void **state)
{
    static unsigned char messages[3 * 3000];
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    fill(messages, 3000, 7, 3);
    assert_int_equal(medley_mcapi_msg_send_many(from, to, messages, 3000, 2, 0, &status), 2);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(receive_many(to, PLACES, MCAPI_ERR_MSG_TRUNCATED), 1);
    assert_int_equal(lengths[0], PLACE_BYTES);
    assert_int_equal(number_at(places), 7);
    assert_int_equal(send_number(from, to, 9, 0), MCAPI_SUCCESS);
    assert_int_equal(receive_many(to, PLACES, MCAPI_ERR_MSG_TRUNCATED), 1);
    assert_int_equal(number_at(places), 8);
    fill(messages, PLACE_BYTES + 1, 30, 2);
    assert_int_equal(medley_mcapi_msg_send_many(from, to, messages, PLACE_BYTES + 1, 2, 0, &status),
                     2);
    assert_int_equal(receive_many(to, PLACES, MCAPI_ERR_MSG_TRUNCATED), 2);
    assert_int_equal(number_at(places), 9);
    assert_int_equal(number_at(places + PLACE_BYTES), 30);
    assert_int_equal(lengths[1], PLACE_BYTES);
    assert_int_equal(receive_many(to, PLACES, MCAPI_ERR_MSG_TRUNCATED), 1);
    assert_int_equal(medley_mcapi_msg_send_many(from, to, NULL, 0, 5, 0, &status), 5);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(receive_many(to, PLACES, MCAPI_SUCCESS), 5);
    assert_int_equal(lengths[4], 0);
}

static void
urgent_first(void **state)
{
    mcapi_status_t status;
    unsigned char messages[4 * sizeof(unsigned)];
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    for (unsigned priority = 4; priority-- > 0;) {
        fill(messages, sizeof(unsigned), priority * 10, 4);
        assert_int_equal(
            medley_mcapi_msg_send_many(from, to, messages, sizeof(unsigned), 4, priority, &status),
            4);
    }
    assert_int_equal(receive_many(to, PLACES, MCAPI_SUCCESS), 16);
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(number_at(places + i * PLACE_BYTES), i / 4 * 10 + i % 4);
    }
}

/* As many as there is room for; and none is lost. */
static void
more_than_there_is_room_for(void **state)
{
    static unsigned char messages[4096 * 8];
    mcapi_status_t status;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    timeout_set(from, 2000);
    timeout_set(to, 2000);
    fill(messages, 8, 0, 4096);
    mcapi_uint_t sent = medley_mcapi_msg_send_many(from, to, messages, 8, 4096, 0, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_in_range(sent, 16, 4095);
    unsigned next = 0;
    while (next < sent) {
        mcapi_uint_t received = receive_many(to, PLACES, MCAPI_SUCCESS);
        for (unsigned i = 0; i < received; i++) {
            assert_int_equal(number_at(places + i * PLACE_BYTES), next++);
        }
    }
    assert_int_equal(next, sent);
    assert_int_equal(receive_many(to, PLACES, MCAPI_TIMEOUT), 0);
}

static void
wrong_arguments(void **state)
{
    mcapi_status_t status;
    mcapi_uint64_t word = 0;
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    assert_int_equal(medley_mcapi_msg_send_many(from, to, NULL, 4, 1, 0, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(medley_mcapi_msg_send_many(from, to, places, 4, 1, 4, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PRIORITY);
    assert_int_equal(medley_mcapi_msg_send_many(from, to, places, 65537, 1, 0, &status), 0);
    assert_int_equal(status, MCAPI_ERR_MSG_SIZE);
    assert_int_equal(medley_mcapi_msg_send_many(from, 0, places, 4, 1, 0, &status), 0);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    assert_int_equal(medley_mcapi_msg_send_many(from, to, places, 4, 1, 0, NULL), 0);
    assert_int_equal(medley_mcapi_msg_send_many(from, to, places, 4, 0, 0, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(medley_mcapi_msg_recv_many(to, NULL, 4, 1, lengths, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(medley_mcapi_msg_recv_many(to, places, 4, 1, NULL, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(medley_mcapi_msg_recv_many(to, places, 4, 0, lengths, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(medley_mcapi_msg_recv_many(0, places, 4, 1, lengths, &status), 0);
    assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
    assert_int_equal(medley_mcapi_sclchan_send_many(0, &word, 1, 8, &status), 0);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    assert_int_equal(medley_mcapi_sclchan_recv_many(0, &word, 1, 8, &status), 0);
    assert_int_equal(status, MCAPI_ERR_CHAN_INVALID);
    assert_int_equal(medley_mcapi_sclchan_send_many(0, &word, 1, 3, &status), 0);
    assert_int_equal(status, MCAPI_ERR_SCL_SIZE);
    assert_int_equal(medley_mcapi_sclchan_send_many(0, NULL, 1, 8, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(medley_mcapi_sclchan_recv_many(0, &word, 0, 8, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
    assert_int_equal(medley_mcapi_sclchan_send_many(0, &word, 0, 8, &status), 0);
    assert_int_equal(status, MCAPI_ERR_PARAMETER);
}

/* ---- Scalars --------------------------------------------------------------------------------- */

static void
scalar_channel_make(unsigned *sender, unsigned *receiver)
{
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    timeout_set(from, 2000);
    timeout_set(to, 2000);
    connect(&of_scalars, from, to, MCAPI_SUCCESS);
    *sender = sender_open(&of_scalars, from);
    *receiver = receiver_open(&of_scalars, to);
}

static void
scalars_of_every_width(void **state)
{
    mcapi_uint64_t in[70], out[70];
    mcapi_status_t status;
    unsigned sender, receiver;
    (void)state;
    scalar_channel_make(&sender, &receiver);
    for (unsigned round = 0; round < 200; round++) {
        unsigned width = 1u << round % 4, count = 1 + round % 70;
        for (unsigned i = 0; i < count; i++) {
            in[i] = 0x8877665544332211u * (round + i + 1);
        }
        assert_int_equal(medley_mcapi_sclchan_send_many(sender, in, count, width, &status), count);
        assert_int_equal(status, MCAPI_SUCCESS);
        mcapi_sclchan_send_uint8(sender, 1, &status);
        mcapi_sclchan_send_uint16(sender, 2, &status);
        mcapi_uint_t got = 0;
        while (got < count) {
            mcapi_uint_t some =
                medley_mcapi_sclchan_recv_many(receiver, out + got, count - got, width, &status);
            assert_int_equal(status, MCAPI_SUCCESS);
            got += some;
        }
        for (unsigned i = 0; i < count; i++) {
            assert_true(out[i] == (in[i] & ~0ull >> (64 - 8 * width)));
        }
        assert_int_equal(medley_mcapi_sclchan_recv_many(receiver, out, 70, 8, &status), 0);
        assert_int_equal(status, MCAPI_ERR_SCL_SIZE);
        assert_int_equal(medley_mcapi_sclchan_recv_many(receiver, out, 70, 1, &status), 1);
        assert_int_equal(mcapi_sclchan_recv_uint16(receiver, &status), 2);
    }
    assert_int_equal(medley_mcapi_sclchan_recv_many(receiver, out, 70, 8, &status), 0);
    assert_int_equal(status, MCAPI_TIMEOUT);
}

static void
send_of_width(unsigned sender, uint64_t value, unsigned width)
{
    mcapi_status_t status;
    switch (width) {
    case 1:
        mcapi_sclchan_send_uint8(sender, (mcapi_uint8_t)value, &status);
        break;
    case 2:
        mcapi_sclchan_send_uint16(sender, (mcapi_uint16_t)value, &status);
        break;
    case 4:
        mcapi_sclchan_send_uint32(sender, (mcapi_uint32_t)value, &status);
        break;
    default:
        mcapi_sclchan_send_uint64(sender, value, &status);
    }
    assert_int_equal(status, MCAPI_SUCCESS);
}

static uint64_t
receive_of_width(unsigned receiver, unsigned width, mcapi_status_t *status)
{
    switch (width) {
    case 1:
        return mcapi_sclchan_recv_uint8(receiver, status);
    case 2:
        return mcapi_sclchan_recv_uint16(receiver, status);
    case 4:
        return mcapi_sclchan_recv_uint32(receiver, status);
    default:
        return mcapi_sclchan_recv_uint64(receiver, status);
    }
}

/* What was sent, in order: its number is its value. */
#define UNDER_WAY 512u
typedef struct widths_sent {
    unsigned sender, receiver;
    uint32_t sent, received;
    uint8_t width[UNDER_WAY];
} widths_sent;

static void
receive_next(widths_sent *s)
{
    mcapi_status_t status;
    unsigned width = s->width[s->received % UNDER_WAY];
    unsigned other = width == 8 ? 1 : 2 * width;
    if (s->received % 5 == 0) {
        (void)receive_of_width(s->receiver, other, &status);
        assert_int_equal(status, MCAPI_ERR_SCL_SIZE);
    }
    uint64_t value = receive_of_width(s->receiver, width, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_true(value == (s->received & ~0ull >> (64 - 8 * width)));
    s->received++;
}

/* Runs of one width, from one to more than pass without a look, some sent many at once; however
 * many are under way where a width begins or ends. */
static void
widths_change_anywhere(void **state)
{
    static const unsigned runs[] = {1, 1, 1, 2, 7, 63, 255, 256, 257, 300, 700};
    static mcapi_uint64_t values[UNDER_WAY];
    mcapi_status_t status;
    widths_sent s = {.sent = 0};
    (void)state;
    scalar_channel_make(&s.sender, &s.receiver);
    mcapi_uint_t room = medley_mcapi_sclchan_send_many(s.sender, values, UNDER_WAY, 1, &status);
    assert_int_equal(medley_mcapi_sclchan_recv_many(s.receiver, values, room, 1, &status), room);
    assert_in_range(room, 32, UNDER_WAY);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned width = 1u << round * 7 / 3 % 4, most = 1 + round * 31 % room;
        for (unsigned i = 0; i < runs[round * 5 % 11]; i++) {
            while (s.sent - s.received >= most) {
                receive_next(&s);
            }
            mcapi_uint64_t value = s.sent;
            s.width[s.sent++ % UNDER_WAY] = (uint8_t)width;
            if (i % 50 == 49) {
                assert_int_equal(
                    medley_mcapi_sclchan_send_many(s.sender, &value, 1, width, &status), 1);
            } else {
                send_of_width(s.sender, value, width);
            }
        }
    }
    while (s.received < s.sent) {
        receive_next(&s);
    }
    assert_int_equal(mcapi_sclchan_available(s.receiver, &status), 0);
}

static void
more_scalars_than_there_is_room_for(void **state)
{
    static mcapi_uint64_t in[8192], out[8192];
    mcapi_status_t status;
    unsigned sender, receiver;
    (void)state;
    scalar_channel_make(&sender, &receiver);
    for (unsigned i = 0; i < 8192; i++) {
        in[i] = i;
    }
    mcapi_uint_t sent = medley_mcapi_sclchan_send_many(sender, in, 8192, 8, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_in_range(sent, 16, 8191);
    assert_int_equal(medley_mcapi_sclchan_recv_many(receiver, out, 8192, 8, &status), sent);
    assert_memory_equal(in, out, sent * sizeof in[0]);
}

/* ---- Between threads ------------------------------------------------------------------------- */

#define MANY 200000u

static void *
sends_many(void *argument)
{
    static unsigned char messages[64 * 24];
    mcapi_status_t status;
    test_random random = {7};
    (void)argument;
    exchange_begin(OTHER);
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_of(NODE, 1);
    for (unsigned i = 0; i < MANY;) {
        unsigned count = 1 + random_below(&random, 64);
        count = count < MANY - i ? count : MANY - i;
        size_t size = 8 + random_below(&random, 17);
        fill(messages, size, i, count);
        assert_int_equal(medley_mcapi_msg_send_many(from, to, messages, size, count, 0, &status),
                         count);
        i += count;
    }
    exchange_end();
    return NULL;
}

static void
across(void **state)
{
    (void)state;
    mcapi_endpoint_t to = endpoint_make(1);
    start(OTHER, sends_many);
    for (unsigned next = 0; next < MANY;) {
        mcapi_uint_t received = receive_many(to, 1 + next % PLACES, MCAPI_SUCCESS);
        assert_true(received >= 1);
        for (unsigned i = 0; i < received; i++, next++) {
            const unsigned char *message = places + i * PLACE_BYTES;
            assert_int_equal(number_at(message), next);
            assert_int_equal(message[lengths[i] - 1], next & 0xff);
        }
    }
    join(OTHER, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_length, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(mixed_with_single_ones, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(unlike_lengths, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(urgent_first, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(more_than_there_is_room_for, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(wrong_arguments, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(scalars_of_every_width, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(widths_change_anywhere, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(more_scalars_than_there_is_room_for, exchange_up,
                                        exchange_down),
        cmocka_unit_test_setup_teardown(across, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
