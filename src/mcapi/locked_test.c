/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The locked baseline: who uses it, that all of a system agree, that it excludes, and deaths under
 * its locks. That everything else is as without it, the conformance tests of MCAPI show, which are
 * run over both.
 */
#include <pthread.h>

#include "mcapi/lane.h"
#include "mcapi/locked.h"
#include "mrapi/system.h"
#include "support/channel.h"
#include "support/exchange.h"
#include "support/logged.h"
#include "support/threads.h"

#define OTHER 8
#define ROUNDS 1000u

static void
ask_for(const char *exchange)
{
    (void)setenv("MEDLEY_EXCHANGE", exchange, 1);
}

static mcapi_status_t
come(mcapi_node_t node)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, node, NULL, NULL, &info, &status);
    return status;
}

/* ---- Which ----------------------------------------------------------------------------------- */

static void
asked_for(void **state)
{
    static const struct {
        const char *exchange;
        bool locked;
    } cases[] = {{"locked", true}, {"lock-free", false}, {"", false}, {"loose", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ask_for(cases[i].exchange);
        assert_int_equal(medley_system_open(NULL), MEDLEY_OK);
        exchange_begin(NODE);
        assert_int_equal(med_is_locked(med_self_get()), cases[i].locked);
        exchange_end();
        assert_int_equal(medley_system_close(), MEDLEY_OK);
    }
}

static int
asks_for_nonsense(void)
{
    ask_for("loose");
    child_expect(come(OTHER) == MCAPI_SUCCESS);
    return 0;
}

/* A process that asks for the other. */
static int
asks_for_lock_free(void)
{
    ask_for("lock-free");
    child_expect(come(OTHER) == MCAPI_ERR_NODE_INITFAILED);
    ask_for("locked");
    child_expect(come(OTHER) == MCAPI_SUCCESS);
    ask_for("lock-free");
    child_expect(come(OTHER) == MCAPI_ERR_NODE_INITIALIZED);
    return 0;
}

static int
asks_for_locked(void)
{
    ask_for("locked");
    child_expect(come(OTHER) == MCAPI_ERR_NODE_INITFAILED);
    return 0;
}

static void
all_agree(void **state)
{
    (void)state;
    ask_for("locked");
    exchange_begin(NODE);
    logged_run("error", asks_for_lock_free);
    assert_true(logged_says("exchanges locked, and MEDLEY_EXCHANGE asks for lock-free"));
    exchange_end();
}

static void
all_agree_on_the_other(void **state)
{
    (void)state;
    ask_for("lock-free");
    exchange_begin(NODE);
    logged_run("error", asks_for_locked);
    assert_true(logged_says("exchanges lock-free, and MEDLEY_EXCHANGE asks for locked"));
    logged_run("error", asks_for_nonsense);
    assert_true(logged_says_once("MEDLEY_EXCHANGE ignored: it is 'loose'"));
    exchange_end();
}

/* Also two nodes of one process. */
static void *
asks_in_the_same_process(void *argument)
{
    (void)argument;
    mcapi_status_t status = come(OTHER);
    return (void *)(uintptr_t)(status == MCAPI_ERR_NODE_INITFAILED ? MRAPI_SUCCESS : 1000);
}

static void
all_of_a_process_agree(void **state)
{
    pthread_t thread;
    void *result;
    (void)state;
    ask_for("locked");
    exchange_begin(NODE);
    ask_for("lock-free");
    assert_int_equal(pthread_create(&thread, NULL, asks_in_the_same_process, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_int_equal((uintptr_t)result, MRAPI_SUCCESS);
    exchange_end();
}

/* ---- It excludes ----------------------------------------------------------------------------- */

static struct {
    uint32_t one, other; /* the same, but for a writer inside */
} pair;

static void
write_many(med_self *self)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (med_locked_enter(self, MED_RWL_WRITE) == MEDLEY_OK) {
            pair.one++;
            med_port_yield(); /* to whoever would not be kept out */
            pair.other++;
            med_locked_leave(self, MED_RWL_WRITE);
        }
    }
}

static void *
writes_and_reads(void *argument)
{
    uintptr_t differed = 0;
    (void)argument;
    if (come(OTHER) != MCAPI_SUCCESS) {
        return (void *)1;
    }
    med_self *self = med_self_get();
    write_many(self);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (med_locked_enter(self, MED_RWL_READ) == MEDLEY_OK) {
            differed += pair.one != pair.other;
            med_locked_leave(self, MED_RWL_READ);
        }
    }
    mcapi_status_t status;
    mcapi_finalize(&status);
    return (void *)differed;
}

static void
excludes(void **state)
{
    pthread_t thread;
    void *differed;
    (void)state;
    ask_for("locked");
    exchange_begin(NODE);
    pair.one = pair.other = 0;
    assert_int_equal(pthread_create(&thread, NULL, writes_and_reads, NULL), 0);
    write_many(med_self_get());
    assert_int_equal(pthread_join(thread, &differed), 0);
    assert_int_equal((uintptr_t)differed, 0);
    assert_int_equal(pair.one, 2 * ROUNDS);
    assert_int_equal(pair.other, 2 * ROUNDS);
    exchange_end();
}

/* While another is inside, nothing moves; afterwards it does. */
static int
stays_inside(test_process *parent, void *argument)
{
    (void)argument;
    child_expect(come(OTHER) == MCAPI_SUCCESS);
    child_expect(med_locked_enter(med_self_get(), MED_RWL_WRITE) == MEDLEY_OK);
    process_say(parent, 'i');
    (void)process_hear(parent);
    med_locked_leave(med_self_get(), MED_RWL_WRITE);
    mcapi_status_t status;
    mcapi_finalize(&status);
    return status == MCAPI_SUCCESS ? 0 : 1;
}

static void *
sends_one(void *argument)
{
    mcapi_status_t status = come(OTHER + 1);
    if (status == MCAPI_SUCCESS) {
        mcapi_endpoint_t from = mcapi_endpoint_create(1, &status);
        status = send_number(from, *(const mcapi_endpoint_t *)argument, 5, 0);
        stage_reach(1);
        mcapi_finalize(&status);
    }
    return NULL;
}

static void
nothing_moves_meanwhile(void **state)
{
    test_process child;
    pthread_t thread;
    mcapi_status_t status;
    (void)state;
    ask_for("locked");
    exchange_begin(NODE);
    mcapi_endpoint_t to = endpoint_make(1);
    process_start(&child, stays_inside, NULL);
    assert_int_equal(process_hear(&child), 'i');
    assert_int_equal(pthread_create(&thread, NULL, sends_one, &to), 0);
    for (int i = 0; i < 1000; i++) {
        med_port_yield();
        assert_int_equal(atomic32_load_acquire(&stage), 0);
    }
    process_say(&child, 'g');
    expect_number(to, 5);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(process_join(&child), 0);
    mcapi_endpoint_delete(to, &status);
    exchange_end();
}

/* A channel's end is known by then, and they go the long way all the same. */
static void *
sends_scalars(void *argument)
{
    mcapi_status_t status = come(OTHER + 1);
    (void)argument;
    if (status == MCAPI_SUCCESS) {
        channel c = channel_between(&of_scalars, endpoint_make(1), endpoint_make(2));
        med_lane_own *lane =
            &med_self_get()->exchange->exchange->lane_ends[med_handle_index(c.sender)];
        while (atomic32_load_relaxed(&lane->producer.at_once) == 0) { /* until a stop says so */
            mcapi_sclchan_send_uint8(c.sender, 1, &status);
            (void)mcapi_sclchan_recv_uint8(c.receiver, &status);
        }
        stage_reach(1);
        stage_await(2);
        mcapi_sclchan_send_uint8(c.sender, 2, &status);
        stage_reach(3);
        mcapi_finalize(&status);
    }
    return NULL;
}

static void
no_scalar_moves_meanwhile(void **state)
{
    test_process child;
    pthread_t thread;
    (void)state;
    ask_for("locked");
    exchange_begin(NODE);
    stage_reach(0);
    assert_int_equal(pthread_create(&thread, NULL, sends_scalars, NULL), 0);
    stage_await(1);
    process_start(&child, stays_inside, NULL);
    assert_int_equal(process_hear(&child), 'i');
    stage_reach(2);
    for (int i = 0; i < 1000; i++) {
        med_port_yield();
        assert_int_equal(atomic32_load_acquire(&stage), 2);
    }
    process_say(&child, 'g');
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic32_load_acquire(&stage), 3);
    assert_int_equal(process_join(&child), 0);
    exchange_end();
}

/* ---- Deaths ---------------------------------------------------------------------------------- */

static int
dies_inside(test_process *parent, void *argument)
{
    const med_rwl_mode *mode = argument;
    child_expect(come(OTHER) == MCAPI_SUCCESS);
    child_expect(med_locked_enter(med_self_get(), *mode) == MEDLEY_OK);
    process_say(parent, 'i');
    (void)process_hear(parent);
    return 1;
}

static int
dies_with_the_machine_s(test_process *parent, void *argument)
{
    (void)argument;
    child_expect(come(OTHER) == MCAPI_SUCCESS);
    med_self *self = med_self_get();
    atomic32 *word = &self->exchange->exchange->head->os_lock;
    child_expect(med_port_pi_lock(&word->value, MED_PORT_FOREVER, self->scope) == MEDLEY_OK);
    process_say(parent, 'i');
    (void)process_hear(parent);
    return 1;
}

/* Whoever comes next gets it. */
static void
goes_on_after(int (*body)(test_process *parent, void *argument), void *argument)
{
    test_process child;
    ask_for("locked");
    exchange_begin(NODE);
    mcapi_endpoint_t at = endpoint_make(1);
    process_start(&child, body, argument);
    assert_int_equal(process_hear(&child), 'i');
    process_kill(&child);
    med_self_get()->owner_died = true; /* what the program was told of its own locks, stays */
    assert_int_equal(send_number(at, at, 3, 0), MCAPI_SUCCESS);
    expect_number(at, 3);
    assert_true(med_self_get()->owner_died);
    assert_int_equal(process_join(&child), -SIGKILL);
    exchange_end();
}

static void
death_inside(void **state)
{
    med_rwl_mode modes[] = {MED_RWL_READ, MED_RWL_WRITE};
    (void)state;
    goes_on_after(dies_inside, &modes[0]);
    goes_on_after(dies_inside, &modes[1]);
    goes_on_after(dies_with_the_machine_s, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_for),
        cmocka_unit_test(all_agree),
        cmocka_unit_test(all_agree_on_the_other),
        cmocka_unit_test(all_of_a_process_agree),
        cmocka_unit_test(excludes),
        cmocka_unit_test(nothing_moves_meanwhile),
        cmocka_unit_test(no_scalar_moves_meanwhile),
        cmocka_unit_test(death_inside),
    };
    (void)setenv("MEDLEY_LOG", "error", 1); /* children inherit what this process has read */
    test_system_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
