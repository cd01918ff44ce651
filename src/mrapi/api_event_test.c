/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events, by the public call: who listens is told as often as he asked, and of nothing else. */
#include <stdlib.h>

#include "mrapi/system.h"
#include "support/api.h"
#include "support/process.h"
#include "support/unit.h"

static mrapi_status_t status;

static uint32_t told[MEDLEY_EVENT_COUNT];

static void
tell(mrapi_event_t event)
{
    told[event]++;
}

static void
listen(mrapi_event_t event, unsigned frequency)
{
    mrapi_resource_register_callback(event, frequency, tell, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    told[event] = 0;
}

static void
come_and_go(void)
{
    mrapi_node_t node;
    assert_int_equal(medley_node_adopt(DOMAIN, MEDLEY_NODE_ANY, &node), MEDLEY_OK);
}

static void
events(void **state)
{
    mrapi_status_t created = MRAPI_SUCCESS;
    (void)state;
    listen(MEDLEY_EVENT_NODE_COMES, 1);
    listen(MEDLEY_EVENT_NODE_GOES, 3);
    for (int i = 0; i < 7; i++) {
        on_other_thread(come_and_go);
    }
    assert_int_equal(told[MEDLEY_EVENT_NODE_COMES], 7);
    assert_int_equal(told[MEDLEY_EVENT_NODE_GOES], 2);
    listen(MEDLEY_EVENT_NODE_GOES, 2);
    listen(MEDLEY_EVENT_NODE_COMES, 0);
    on_other_thread(come_and_go);
    on_other_thread(come_and_go);
    assert_int_equal(told[MEDLEY_EVENT_NODE_COMES], 0);
    assert_int_equal(told[MEDLEY_EVENT_NODE_GOES], 1);
    listen(MEDLEY_EVENT_NODE_GOES, 0);
    listen(MEDLEY_EVENT_LIMIT, 1);
    uint32_t made = 0;
    while (created == MRAPI_SUCCESS) {
        (void)mrapi_mutex_create(made++, NULL, &created);
    }
    assert_int_equal(created, MRAPI_ERR_MUTEX_LIMIT);
    assert_int_equal(told[MEDLEY_EVENT_LIMIT], 1);
    listen(MEDLEY_EVENT_LIMIT, 0);
    for (uint32_t i = 0; i + 1 < made; i++) {
        delete_mutex(mrapi_mutex_get(i, &status));
    }
}

static uint32_t calls;
static mrapi_status_t again;

static void
tries_again(mrapi_event_t event)
{
    mrapi_status_t own;
    calls++;
    assert_int_equal(event, MEDLEY_EVENT_LIMIT);
    if (calls < 100) { /* else it would not end */
        (void)mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &again);
    }
    mrapi_resource_register_callback(event, 1, tries_again, &own);
    assert_int_equal(own, MRAPI_SUCCESS);
}

/* He who hears of a limit and reaches it again is not told by himself. */
static void
what_a_callback_causes(void **state)
{
    mrapi_mutex_hndl_t mutexes[TEST_MUTEXES];
    (void)state;
    for (uint32_t i = 0; i < TEST_MUTEXES; i++) {
        mutexes[i] = mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    mrapi_resource_register_callback(MEDLEY_EVENT_LIMIT, 1, tries_again, &status);
    for (uint32_t i = 1; i < 4; i++) {
        (void)mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
        assert_int_equal(status, MRAPI_ERR_MUTEX_LIMIT);
        assert_int_equal(again, MRAPI_ERR_MUTEX_LIMIT);
        assert_int_equal(calls, i);
    }
    mrapi_resource_register_callback(MEDLEY_EVENT_LIMIT, 0, tries_again, &status);
    for (uint32_t i = 0; i < TEST_MUTEXES; i++) {
        delete_mutex(mutexes[i]);
    }
}

static mrapi_node_t came, went;
static mrapi_status_t came_status, went_status;

static void
who_comes(mrapi_event_t event)
{
    (void)event;
    came = mrapi_node_id_get(&came_status);
}

static void
who_goes(mrapi_event_t event)
{
    (void)event;
    went = mrapi_node_id_get(&went_status);
}

/* It is a node when it is told of, and still is when it goes. */
static void
who_is_told_of(void **state)
{
    (void)state;
    mrapi_resource_register_callback(MEDLEY_EVENT_NODE_COMES, 1, who_comes, &status);
    mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 1, who_goes, &status);
    on_other_thread(come_and_go);
    assert_int_equal(came_status, MRAPI_SUCCESS);
    assert_int_equal(went_status, MRAPI_SUCCESS);
    assert_int_equal(came, went);
    assert_int_not_equal(came, NODE);
    mrapi_resource_register_callback(MEDLEY_EVENT_NODE_COMES, 0, who_comes, &status);
    mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 0, who_goes, &status);
}

/* Nobody comes or goes meanwhile, so it is never called. */
static void (*no_callback(uintptr_t number))(mrapi_event_t event)
{
    return (void (*)(mrapi_event_t))number;
}

/* Who ended leaves his place to others. */
static void
places_of_listeners_come_back(void **state)
{
    (void)state;
    for (uintptr_t i = 1; i <= 100; i++) {
        mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 1, no_callback(i), &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 2, no_callback(i), &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 0, no_callback(i), &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    listen(MEDLEY_EVENT_NODE_GOES, 1);
    on_other_thread(come_and_go);
    assert_int_equal(told[MEDLEY_EVENT_NODE_GOES], 1);
    listen(MEDLEY_EVENT_NODE_GOES, 0);
}

/* One more than there is room for is refused, and the others are told all the same. */
static void
too_many_listeners(void **state)
{
    uintptr_t count = 0;
    (void)state;
    listen(MEDLEY_EVENT_NODE_COMES, 1);
    do {
        mrapi_resource_register_callback(MEDLEY_EVENT_DEATH, 1, no_callback(++count), &status);
    } while (status == MRAPI_SUCCESS && count < 1000);
    assert_int_equal(status, MRAPI_ERR_MEM_LIMIT);
    assert_int_equal(count, 16); /* with the one above */
    on_other_thread(come_and_go);
    assert_int_equal(told[MEDLEY_EVENT_NODE_COMES], 1);
    for (uintptr_t i = 1; i < count; i++) {
        mrapi_resource_register_callback(MEDLEY_EVENT_DEATH, 0, no_callback(i), &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    listen(MEDLEY_EVENT_DEATH, 1); /* there is room again */
    listen(MEDLEY_EVENT_DEATH, 0);
    listen(MEDLEY_EVENT_NODE_COMES, 0);
}

static void
wrong_events(void **state)
{
    (void)state;
    mrapi_resource_register_callback(MRAPI_EVENT_CROSSBAR_BUFFER_OVER_80PERCENT, 1, tell, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_EVENT);
    mrapi_resource_register_callback(MEDLEY_EVENT_COUNT, 1, tell, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_EVENT);
    mrapi_resource_register_callback((mrapi_event_t)-1, 1, tell, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_EVENT);
    mrapi_resource_register_callback(MEDLEY_EVENT_DEATH, 1, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_CALLBACK);
}

static int
dies(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    child_expect(initialize(NODE + 1) == MRAPI_SUCCESS);
    _exit(0); /* without a word */
}

static void
death(void **state)
{
    test_process child;
    (void)state;
    if (med_self_get()->system->scope == MED_PORT_SCOPE_PROCESS) {
        return; /* nobody else can be in a private system */
    }
    listen(MEDLEY_EVENT_DEATH, 1);
    process_start(&child, dies, NULL);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(told[MEDLEY_EVENT_DEATH], 0);
    assert_int_equal(med_process_recover_all(med_self_get()->system), 1);
    assert_int_equal(told[MEDLEY_EVENT_DEATH], 1);
    listen(MEDLEY_EVENT_DEATH, 0);
}

static void
no_node(void **state)
{
    (void)state;
    mrapi_resource_register_callback(MEDLEY_EVENT_DEATH, 1, tell, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_resource_register_callback(MEDLEY_EVENT_DEATH, 1, tell, NULL);
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, node_up, node_down)

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HERE(events),
        HERE(places_of_listeners_come_back),
        HERE(too_many_listeners),
        HERE(what_a_callback_causes),
        HERE(who_is_told_of),
        HERE(wrong_events),
        HERE(death),
        cmocka_unit_test(no_node),
    };
    return system_up(argc, argv) ? cmocka_run_group_tests_name("mrapi/event", tests, NULL, NULL)
                                 : 1;
}
