/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Packets sent in place while the machine has no memory for the node's notes of them: as for any
 * memory that lacks, the call waits, or says so, and the buffer stays the caller's. The port's
 * function is replaced, for this program (-Wl,--wrap).
 */
#include "mcapi/exchange.h"
#include "medley/mcapi_ext.h"
#include "support/channel.h"

#define NEVER UINT32_MAX

/* So many mappings are refused. */
static uint32_t refusals;

medley_status_t __real_med_port_memory_map(size_t size_bytes, void **memory);
medley_status_t __wrap_med_port_memory_map(size_t size_bytes, void **memory);

medley_status_t
__wrap_med_port_memory_map(size_t size_bytes, void **memory)
{
    if (refusals == 0) {
        return __real_med_port_memory_map(size_bytes, memory);
    }
    refusals -= refusals != NEVER;
    return MEDLEY_ERR_NO_MEMORY;
}

/* A buffer, filled. */
static unsigned *
take(const channel *c)
{
    mcapi_status_t status;
    unsigned *buffer = medley_mcapi_pktchan_take(c->sender, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    *buffer = 7;
    return buffer;
}

static void
send(const channel *c, unsigned *buffer, mcapi_status_t expected)
{
    mcapi_status_t status;
    medley_mcapi_pktchan_send_taken(c->sender, buffer, sizeof *buffer, &status);
    assert_int_equal(status, expected);
}

static void
release(void *buffer)
{
    mcapi_status_t status;
    mcapi_pktchan_release(buffer, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
}

/* It is the very buffer, and there is a note of it until it is given back. */
static void
receive(const channel *c, const unsigned *sent)
{
    mcapi_status_t status;
    void *packet;
    size_t size;
    mcapi_pktchan_recv(c->receiver, &packet, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, sizeof *sent);
    assert_ptr_equal(packet, sent);
    assert_int_equal(*sent, 7);
    assert_int_equal(mcapi_pktchan_release_test(packet, &status), MCAPI_FALSE);
    release(packet);
    assert_int_equal(mcapi_pktchan_release_test(packet, &status), MCAPI_TRUE);
}

static void
memory_again(channel *c, unsigned *buffer)
{
    refusals = 0;
    send(c, buffer, MCAPI_SUCCESS);
    receive(c, buffer);
    channel_end(&of_packets, c);
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void
who_may_not_wait(void **state)
{
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1), to = endpoint_make(2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(attribute_set(i ? from : to, MCAPI_ENDP_ATTR_MEMORY_TYPE,
                                       MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT),
                         MCAPI_SUCCESS);
    }
    channel c = channel_between(&of_packets, from, to);
    unsigned *buffer = take(&c);
    refusals = NEVER;
    send(&c, buffer, MCAPI_ERR_MEM_LIMIT);
    memory_again(&c, buffer);
}

static void
who_waits_in_vain(void **state)
{
    (void)state;
    mcapi_endpoint_t from = endpoint_make(1);
    timeout_set(from, 5000);
    channel c = channel_between(&of_packets, from, endpoint_make(2));
    unsigned *buffer = take(&c);
    refusals = NEVER;
    send(&c, buffer, MCAPI_TIMEOUT);
    memory_again(&c, buffer);
}

/* It is sent when there is some, and waits for it as long as it may. */
static void
who_waits(void **state)
{
    (void)state;
    channel c = channel_between(&of_packets, endpoint_make(1), endpoint_make(2));
    unsigned *buffer = take(&c);
    refusals = 3;
    send(&c, buffer, MCAPI_SUCCESS);
    assert_int_equal(refusals, 0);
    receive(&c, buffer);
    channel_end(&of_packets, &c);
}

/* He is told of that, and does not wait for memory. */
static void
whose_receiver_is_gone(void **state)
{
    (void)state;
    channel c = channel_between(&of_packets, endpoint_make(1), endpoint_make(2));
    unsigned *buffer = take(&c);
    receiver_close(&of_packets, c.receiver);
    refusals = NEVER;
    send(&c, buffer, MCAPI_ERR_TRANSMISSION);
    refusals = 0;
    release(buffer);
    sender_close(&of_packets, c.sender);
    endpoint_delete(c.from);
    endpoint_delete(c.to);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_may_not_wait, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(who_waits_in_vain, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(who_waits, exchange_up, exchange_down),
        cmocka_unit_test_setup_teardown(whose_receiver_is_gone, exchange_up, exchange_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
