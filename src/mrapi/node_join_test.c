/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Started nodes under race: who joins may come before the start is done, in numbers, and be
 * canceled. */
#include <pthread.h>

#include "base/atomic.h"
#include "mrapi/node.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/process.h"

#define STARTED 20
#define ROUNDS 500u
#define JOINERS 2

/* ---- Joins before, while and after it starts ------------------------------------------------- */

typedef struct joiner {
    med_port_thread thread;
    med_system *system;
    atomic32 *joined; /* by all joiners */
    bool alone;
    medley_status_t wrong; /* an answer that nobody should get */
} joiner;

static void *
joins_all(void *argument)
{
    joiner *j = argument;
    while (atomic32_load_acquire(j->joined) < ROUNDS) {
        medley_status_t status = med_node_join(j->system, DOMAIN, STARTED, NULL);
        if (status == MEDLEY_OK) {
            (void)atomic32_fetch_add_relaxed(j->joined, 1); /* relaxed: counts */
        } else if (status != MEDLEY_ERR_NOT_FOUND && (j->alone || status != MEDLEY_BUSY)) {
            j->wrong = status;
        }
        med_port_yield();
    }
    return NULL;
}

static void *
ends_at_once(void *argument)
{
    return argument;
}

/* The number comes free with the join; until then it is taken. */
static void
start_all(void)
{
    uint32_t started = 0;
    while (started < ROUNDS) {
        mrapi_thread_parameters_t parameters = {.start_routine = ends_at_once};
        mrapi_status_t status;
        mrapi_thread_create(DOMAIN, STARTED, &parameters, &status);
        assert_true(status == MRAPI_SUCCESS || status == MRAPI_ERR_NODE_INITIALIZED);
        started += status == MRAPI_SUCCESS;
        med_port_yield();
    }
}

static void
race(uint32_t count)
{
    atomic32 joined = ATOMIC32_INIT(0);
    joiner joiners[JOINERS];
    for (uint32_t i = 0; i < count; i++) {
        joiners[i] =
            (joiner){.system = med_self_get()->system, .joined = &joined, .alone = count == 1};
        assert_int_equal(med_port_thread_start(&joiners[i].thread, NULL, joins_all, &joiners[i]),
                         MEDLEY_OK);
    }
    start_all();
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(med_port_thread_join(joiners[i].thread, NULL), MEDLEY_OK);
        assert_int_equal(joiners[i].wrong, MEDLEY_OK);
    }
    assert_int_equal(atomic32_load_acquire(&joined), ROUNDS);
}

static void
one_joins_what_starts(void **state)
{
    (void)state;
    race(1);
}

static void
several_join_what_starts(void **state)
{
    (void)state;
    race(JOINERS);
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

static atomic32 gate_word;
static atomic32 joiner_id;

static void *
waits_at_the_gate(void *argument)
{
    while (atomic32_load_acquire(&gate_word) == 0) {
        (void)med_port_wait(&gate_word.value, 0, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS);
    }
    return argument;
}

static void *
joins_one(void *argument)
{
    atomic32_store_release(&joiner_id, med_port_thread_id());
    (void)med_node_join(argument, DOMAIN, STARTED, NULL);
    pthread_testcancel();
    return NULL;
}

static void
canceled_joiner_has_joined(void **state)
{
    mrapi_thread_parameters_t parameters = {.start_routine = waits_at_the_gate};
    mrapi_status_t status;
    pthread_t thread;
    void *result;
    uint32_t id;
    (void)state;
    mrapi_thread_create(DOMAIN, STARTED, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, joins_one, med_self_get()->system), 0);
    do {
        id = atomic32_load_acquire(&joiner_id);
    } while (id == 0 || !process_sleeps((pid_t)id));
    assert_int_equal(pthread_cancel(thread), 0);
    atomic32_store_release(&gate_word, 1);
    (void)med_port_wake(&gate_word.value, 1, MED_PORT_SCOPE_PROCESS);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    mrapi_thread_join(DOMAIN, STARTED, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_thread_create(DOMAIN, STARTED, &parameters, &status); /* the number is free */
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN, STARTED, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

/* ---- By the thread itself -------------------------------------------------------------------- */

#define OTHER_NUMBER 21

/* It cannot wait for its own end, whatever number it has by now. */
static void *
joins_its_old_self(void *argument)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
    (void)initialize(OTHER_NUMBER);
    mrapi_thread_join(DOMAIN, STARTED, NULL, &status);
    mrapi_status_t told = status;
    mrapi_finalize(&status);
    atomic32_store_release(argument, (uint32_t)told + 1); /* told -> told (old_self_...) */
    return argument;
}

static void
old_self_stays_to_be_joined(void **state)
{
    mrapi_status_t status;
    atomic32 told = ATOMIC32_INIT(0);
    void *result = NULL;
    mrapi_thread_parameters_t parameters = {.start_routine = joins_its_old_self, .arg = &told};
    (void)state;
    mrapi_thread_create(DOMAIN, STARTED, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    while (atomic32_load_acquire(&told) == 0) { /* told <- told (joins_its_old_self) */
        med_port_yield();
    }
    assert_int_equal(atomic32_load_acquire(&told), MRAPI_ERR_NODE_INVALID + 1);
    mrapi_thread_join(DOMAIN, STARTED, &result, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_ptr_equal(result, &told);
    parameters = (mrapi_thread_parameters_t){.start_routine = ends_at_once};
    mrapi_thread_create(DOMAIN, STARTED, &parameters, &status); /* the number is free */
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN, STARTED, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(old_self_stays_to_be_joined, node_up, node_down),
        cmocka_unit_test_setup_teardown(one_joins_what_starts, node_up, node_down),
        cmocka_unit_test_setup_teardown(several_join_what_starts, node_up, node_down),
        cmocka_unit_test_setup_teardown(canceled_joiner_has_joined, node_up, node_down),
    };
    test_system_prepare();
    return cmocka_run_group_tests_name("mrapi/node_join", tests, NULL, NULL);
}
