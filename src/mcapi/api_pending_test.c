/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What waits to be sent at one endpoint, to several receivers and at several priorities: what goes
 * to the same receiver at the same priority keeps its order, and nobody else waits for it. Run in a
 * private system and in a named one.
 */
#include "mcapi/lane.h"
#include "support/cancel.h"
#include "support/channel.h"
#include "support/random.h"

#define FROM 1
#define TO 10 /* and those behind it */
#define RECEIVERS 5u
#define PRIORITIES 4u
#define ROOM 4u    /* of each receiver's rings: so many are there */
#define QUEUED 6u  /* and so many wait, of each priority */
#define LONG 1500u /* goes by a buffer, which a short one needs not */

static mcapi_endpoint_t from, to[RECEIVERS];
static test_random choices;

static int
endpoints_up(void **state)
{
    (void)exchange_up(state);
    from = endpoint_make(FROM);
    for (unsigned i = 0; i < RECEIVERS; i++) {
        to[i] = endpoint_make(TO + i);
        assert_int_equal(attribute_set(to[i], MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, ROOM),
                         MCAPI_SUCCESS);
    }
    return 0;
}

static mcapi_request_t
send_bytes_asked(mcapi_endpoint_t receiver,
                 const void *content,
                 size_t bytes,
                 mcapi_priority_t priority)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_msg_send_i(from, receiver, content, bytes, priority, &request, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return request;
}

static mcapi_request_t
send_asked(mcapi_endpoint_t receiver, const unsigned *number, mcapi_priority_t priority)
{
    return send_bytes_asked(receiver, number, sizeof *number, priority);
}

/* Numbers from 0 on, until no more go. */
static void
fill(mcapi_endpoint_t receiver, mcapi_priority_t priority)
{
    for (unsigned number = 0; number < ROOM; number++) {
        assert_int_equal(send_number(from, receiver, number, priority), MCAPI_SUCCESS);
    }
}

static void
other_receiver(void **state)
{
    static const unsigned last = ROOM, other = 77;
    (void)state;
    fill(to[0], 0);
    mcapi_request_t waits = send_asked(to[0], &last, 0);
    expect_no_end(waits, MCAPI_PENDING);
    (void)expect_end(send_asked(to[1], &other, 0), MCAPI_SUCCESS);
    timeout_set(from, 0);
    assert_int_equal(send_number(from, to[2], other, 0), MCAPI_SUCCESS);
    expect_number(to[1], other);
    expect_number(to[2], other);
    expect_no_end(waits, MCAPI_PENDING);
    for (unsigned number = 0; number < ROOM; number++) {
        expect_number(to[0], number);
    }
    (void)expect_end(waits, MCAPI_SUCCESS);
    expect_number(to[0], last);
}

/* How often one of this node's sends found no room, and waited. */
static uint32_t
waits(void)
{
    const med_system *system = med_self_get()->system;
    uint32_t count = 0;
    for (uint32_t i = 0; i < system->lanes.row_count; i++) {
        count += atomic32_load_relaxed(&med_lane_at(system, i)->moved[MED_LANE_PRODUCER].waits);
    }
    return count;
}

/* Who goes at once has not waited, whoever else does. */
static void
waits_are_counted(void **state)
{
    static const unsigned last = ROOM;
    (void)state;
    timeout_set(from, 0);
    fill(to[0], 0);
    fill(to[2], 0);
    (void)send_asked(to[0], &last, 0);
    const uint32_t before = waits();
    for (unsigned number = 0; number < 3 * ROOM; number++) {
        assert_int_equal(send_number(from, to[1], number, 0), MCAPI_SUCCESS);
        expect_number(to[1], number);
    }
    assert_int_equal(waits(), before);
    assert_int_equal(send_number(from, to[2], last, 0), MCAPI_TIMEOUT);
    assert_int_equal(waits(), before + 1);
}

static void
other_priority(void **state)
{
    static const unsigned last = ROOM, urgent = 77;
    (void)state;
    fill(to[0], 3);
    mcapi_request_t waits = send_asked(to[0], &last, 3);
    expect_no_end(waits, MCAPI_PENDING);
    timeout_set(from, 0);
    assert_int_equal(send_number(from, to[0], urgent, 0), MCAPI_SUCCESS);
    (void)expect_end(send_asked(to[0], &urgent, 1), MCAPI_SUCCESS);
    expect_number(to[0], urgent);
    expect_number(to[0], urgent);
    for (unsigned number = 0; number < ROOM; number++) {
        expect_number(to[0], number);
    }
    (void)expect_end(waits, MCAPI_SUCCESS);
    expect_number(to[0], last);
}

/* There is room again, and somebody asked for it before. */
static void
not_overtaken(void **state)
{
    static const unsigned numbers[] = {ROOM, ROOM + 1, ROOM + 2};
    mcapi_request_t waits[2];
    (void)state;
    fill(to[0], 0);
    fill(to[1], 0);
    waits[0] = send_asked(to[0], &numbers[0], 0);
    mcapi_request_t other = send_asked(to[1], &numbers[0], 0);
    waits[1] = send_asked(to[0], &numbers[1], 0);
    timeout_set(from, 0);
    assert_int_equal(send_number(from, to[0], 99, 0), MCAPI_TIMEOUT);
    expect_number(to[0], 0);
    /* The one place is the first's. */
    assert_int_equal(send_number(from, to[0], 99, 0), MCAPI_TIMEOUT);
    expect_number(to[0], 1);
    expect_number(to[0], 2);
    assert_int_equal(send_number(from, to[0], numbers[2], 0), MCAPI_SUCCESS);
    (void)expect_end(waits[1], MCAPI_SUCCESS);
    (void)expect_end(waits[0], MCAPI_SUCCESS);
    for (unsigned number = 3; number <= ROOM + 2; number++) {
        expect_number(to[0], number);
    }
    expect_no_end(other, MCAPI_PENDING);
}

static void
expect_bytes(mcapi_endpoint_t receiver, size_t bytes)
{
    static unsigned char content[LONG];
    mcapi_status_t status;
    size_t size;
    mcapi_msg_recv(receiver, content, sizeof content, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, bytes);
}

/* It would find room, but what was asked for before does not. */
static void
the_short_waits_for_the_long(void **state)
{
    static unsigned char content[LONG];
    const mcapi_endpoint_t receiver = endpoint_make(TO + RECEIVERS);
    mcapi_status_t status;
    unsigned sent = 0;
    (void)state;
    timeout_set(from, 0);
    for (;; sent++) {
        mcapi_msg_send(from, receiver, content, LONG, 0, &status);
        if (status != MCAPI_SUCCESS) {
            break;
        }
    }
    assert_int_equal(status, MCAPI_TIMEOUT);
    assert_true(sent > 0);
    mcapi_request_t long_one = send_bytes_asked(receiver, content, LONG, 0);
    mcapi_request_t short_one = send_bytes_asked(receiver, content, 1, 0);
    expect_no_end(short_one, MCAPI_PENDING);
    expect_no_end(long_one, MCAPI_PENDING);
    for (unsigned i = 0; i < sent; i++) {
        expect_bytes(receiver, LONG);
    }
    (void)expect_end(short_one, MCAPI_SUCCESS);
    (void)expect_end(long_one, MCAPI_SUCCESS);
    expect_bytes(receiver, LONG);
    expect_bytes(receiver, 1);
}

/* In front, in the middle, behind; of one receiver, while the other's stand between them. */
static void
canceled(void **state)
{
    static const unsigned numbers[] = {ROOM, ROOM + 1, ROOM + 2};
    mcapi_request_t waits[3], others[3];
    (void)state;
    for (unsigned which = 0; which < 6; which++) {
        fill(to[0], 0);
        fill(to[1], 0);
        for (unsigned i = 0; i < 3; i++) {
            waits[i] = send_asked(to[0], &numbers[i], 0);
            others[i] = send_asked(to[1], &numbers[i], 0);
        }
        if (which < 3) {
            canceled_by_another(waits[which]);
        } else {
            expect_no_end(waits[which % 3], MCAPI_PENDING);
            assert_int_equal(cancel(waits[which % 3]), MCAPI_SUCCESS);
        }
        for (unsigned number = 0; number < ROOM; number++) {
            expect_number(to[0], number);
        }
        for (unsigned i = 0; i < 3; i++) {
            if (i != which % 3) {
                (void)expect_end(waits[i], MCAPI_SUCCESS);
                expect_number(to[0], numbers[i]);
            }
            expect_no_end(others[i], MCAPI_PENDING);
        }
        for (unsigned number = 0; number < ROOM; number++) {
            expect_number(to[1], number);
        }
        for (unsigned i = 0; i < 3; i++) {
            (void)expect_end(others[i], MCAPI_SUCCESS);
            expect_number(to[1], numbers[i]);
        }
    }
}

/* ---- What all need --------------------------------------------------------------------------- */

#define TAKEN_MOST 1024u
#define WINDOW 3u
#define ROUNDS 300u

typedef struct flow {
    mcapi_endpoint_t to;
    mcapi_request_t requests[WINDOW];
    unsigned oldest;
    unsigned sent;
} flow;

/* If its oldest has been sent: it is received, so that its buffer is free for whoever comes first,
 * and another is asked for. */
static void
flow_on(flow *f, unsigned window, const unsigned char content[LONG])
{
    mcapi_status_t status;
    size_t size;
    if (!mcapi_test(&f->requests[f->oldest], &size, &status)) {
        return;
    }
    assert_int_equal(status, MCAPI_SUCCESS);
    f->sent++;
    f->requests[f->oldest] = send_bytes_asked(f->to, content, LONG, 0);
    f->oldest = (f->oldest + 1) % window;
    expect_bytes(f->to, LONG);
}

/* There is one buffer, and to one receiver more is always waiting: the other has its turn. */
static void
each_has_its_turn(void **state)
{
    static const unsigned char content[LONG];
    static void *taken[TAKEN_MOST];
    mcapi_status_t status;
    unsigned count = 0;
    const mcapi_endpoint_t holder = endpoint_make(40);
    (void)state;
    timeout_set(holder, 0);
    channel all_but_one = channel_between(&of_packets, holder, endpoint_make(41));
    while ((taken[count] = medley_mcapi_pktchan_take(all_but_one.sender, &status)) != NULL) {
        assert_true(++count < TAKEN_MOST);
    }
    mcapi_pktchan_release(taken[--count], &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    flow much = {.to = endpoint_make(42)}, one = {.to = endpoint_make(43)};
    for (unsigned i = 0; i < WINDOW; i++) {
        much.requests[i] = send_bytes_asked(much.to, content, LONG, 0);
    }
    one.requests[0] = send_bytes_asked(one.to, content, LONG, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        flow_on(&much, WINDOW, content);
        flow_on(&one, 1, content);
    }
    assert_true(much.sent >= ROUNDS / 4);
    assert_true(one.sent >= ROUNDS / 4);
}

/* ---- Many ------------------------------------------------------------------------------------ */

#define LINES (RECEIVERS * PRIORITIES)

typedef struct line {
    mcapi_request_t requests[QUEUED];
    unsigned asked;
    unsigned received;
    unsigned wanted; /* less those that were canceled */
    bool canceled[ROOM + QUEUED];
} line;

static unsigned numbers[LINES][ROOM + QUEUED];
static line lines[LINES];

/* The number of which receiver, which priority, and the how manieth. */
static unsigned
number_of(unsigned which, unsigned place)
{
    return which * 100 + place;
}

static void
lines_fill(void)
{
    for (unsigned which = 0; which < LINES; which++) {
        lines[which] = (line){.wanted = ROOM + QUEUED};
        for (unsigned place = 0; place < ROOM; place++) {
            assert_int_equal(send_number(from, to[which / PRIORITIES], number_of(which, place),
                                         which % PRIORITIES),
                             MCAPI_SUCCESS);
        }
    }
}

static void
lines_queue(void)
{
    for (unsigned left = LINES * QUEUED; left > 0;) {
        unsigned which = random_below(&choices, LINES);
        line *l = &lines[which];
        if (l->asked < QUEUED) {
            unsigned place = ROOM + l->asked;
            numbers[which][place] = number_of(which, place);
            l->requests[l->asked++] =
                send_asked(to[which / PRIORITIES], &numbers[which][place], which % PRIORITIES);
            left--;
        }
    }
}

static void
lines_cancel(void)
{
    for (unsigned i = 0; i < LINES; i++) {
        line *l = &lines[random_below(&choices, LINES)];
        unsigned which = random_below(&choices, QUEUED);
        if (!l->canceled[ROOM + which]) {
            assert_int_equal(cancel(l->requests[which]), MCAPI_SUCCESS);
            l->canceled[ROOM + which] = true;
            l->wanted--;
        }
    }
}

static void
receive_at(unsigned receiver)
{
    mcapi_status_t status;
    unsigned number = 0;
    size_t size;
    mcapi_msg_recv(to[receiver], &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    line *l = &lines[number / 100];
    assert_int_equal(number / 100 / PRIORITIES, receiver);
    while (l->canceled[l->received]) {
        l->received++;
    }
    assert_int_equal(number % 100, l->received++);
    l->wanted--;
}

/* Each receiver is at its own pace. */
static void
many(void **state)
{
    (void)state;
    lines_fill();
    lines_queue();
    lines_cancel();
    for (unsigned left = LINES; left > 0;) {
        unsigned receiver = random_below(&choices, RECEIVERS);
        mcapi_status_t status;
        if (mcapi_msg_available(to[receiver], &status) != 0) {
            receive_at(receiver);
        }
        /* Any: who asks about one that goes on brings all of that endpoint's forward. */
        line *l = &lines[random_below(&choices, LINES)];
        size_t size;
        (void)mcapi_test(&l->requests[random_below(&choices, QUEUED)], &size, &status);
        left = 0;
        for (unsigned which = 0; which < LINES; which++) {
            left += lines[which].wanted != 0;
        }
    }
}

/* ---- Looked up ------------------------------------------------------------------------------- */

static void
other_endpoint_appears(void **state)
{
    mcapi_status_t status;
    mcapi_request_t requests[3];
    mcapi_endpoint_t found[3] = {0};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        mcapi_endpoint_get_i(DOMAIN, NODE, 50 + i % 2, &found[i], &requests[i], &status);
        assert_int_equal(status, MCAPI_SUCCESS);
    }
    mcapi_endpoint_t second = endpoint_make(51);
    (void)expect_end(requests[1], MCAPI_SUCCESS);
    assert_int_equal(found[1], second);
    expect_no_end(requests[0], MCAPI_PENDING);
    mcapi_endpoint_t first = endpoint_make(50);
    (void)expect_end(requests[2], MCAPI_SUCCESS);
    (void)expect_end(requests[0], MCAPI_SUCCESS);
    assert_int_equal(found[0], first);
    assert_int_equal(found[2], first);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(other_receiver, endpoints_up, exchange_down),
        cmocka_unit_test_setup_teardown(waits_are_counted, endpoints_up, exchange_down),
        cmocka_unit_test_setup_teardown(other_priority, endpoints_up, exchange_down),
        cmocka_unit_test_setup_teardown(not_overtaken, endpoints_up, exchange_down),
        cmocka_unit_test_setup_teardown(the_short_waits_for_the_long, endpoints_up, exchange_down),
        cmocka_unit_test_setup_teardown(each_has_its_turn, endpoints_up, exchange_down),
        cmocka_unit_test_setup_teardown(canceled, endpoints_up, exchange_down),
        cmocka_unit_test_setup_teardown(many, endpoints_up, exchange_down),
        cmocka_unit_test_setup_teardown(other_endpoint_appears, endpoints_up, exchange_down),
    };
    choices = test_random_of(0);
    setenv("MEDLEY_MAX_REQUESTS", "256", 1);
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mcapi/api_pending", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
