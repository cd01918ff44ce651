/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that cannot be started: what the program gets, and what the user is told. Each case is a
 * process of its own, whose log is read afterwards. And one that is joined while it is started. */
#include <pthread.h>
#include <sched.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/domain.h"
#include "mrapi/node_life.h"
#include "mrapi/system.h"
#include "support/logged.h"
#include "support/node.h"
#include "support/process.h"
#include "support/system.h"
#include "support/unit.h"

#define NODE 7
#define STARTED 20

static void *
ends_at_once(void *argument)
{
    return argument;
}

static mrapi_status_t
create_with(const pthread_attr_t *attributes)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.attr = attributes, .start_routine = ends_at_once};
    mrapi_thread_create(DOMAIN, STARTED, &parameters, &status);
    return status;
}

/* What was begun is undone: the number is free. */
static int
is_refused(const pthread_attr_t *attributes, mrapi_status_t refusal)
{
    mrapi_status_t status;
    child_expect(initialize(NODE) == MRAPI_SUCCESS);
    child_expect(create_with(attributes) == refusal);
    child_expect(create_with(NULL) == MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN, STARTED, NULL, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_finalize(&status);
    return status == MRAPI_SUCCESS ? 0 : 1;
}

/* Nowhere is there memory for such a stack. */
static int
wants_a_giant_stack(void)
{
    pthread_attr_t attributes;
    child_expect(pthread_attr_init(&attributes) == 0);
    child_expect(pthread_attr_setstacksize(&attributes, SIZE_MAX / 4) == 0);
    return is_refused(&attributes, MRAPI_ERR_NODE_INITFAILED);
}

static void
missing_memory_is_told(void **state)
{
    (void)state;
    logged_run("error", wants_a_giant_stack);
    assert_true(logged_says_once("cannot start a thread for node 20 of domain 1: there is no "
                                 "memory for its stack"));
    assert_true(logged_says("ulimit -u, pids.max of the cgroup)"));
}

static int
wants_no_processor(void)
{
    pthread_attr_t attributes;
    cpu_set_t none;
    CPU_ZERO(&none);
    child_expect(pthread_attr_init(&attributes) == 0);
    child_expect(pthread_attr_setaffinity_np(&attributes, sizeof none, &none) == 0);
    return is_refused(&attributes, MRAPI_ERR_PARAMETER);
}

static void
missing_processor_is_told(void **state)
{
    (void)state;
    logged_run("error", wants_no_processor);
    assert_true(logged_says_once("cannot start a thread for node 20 of domain 1: there is no such "
                                 "stack size, priority or processor"));
}

static uint32_t comes;
static uint32_t goes;

static void
count_comes(mrapi_event_t event)
{
    (void)event;
    comes++;
}

static void
count_goes(mrapi_event_t event)
{
    (void)event;
    goes++;
}

/* Who counts the nodes that are there has no more of them than there are. */
static int
counts_nodes(void)
{
    mrapi_status_t status;
    child_expect(initialize(NODE) == MRAPI_SUCCESS);
    mrapi_resource_register_callback(MEDLEY_EVENT_NODE_COMES, 1, count_comes, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 1, count_goes, &status);
    child_expect(status == MRAPI_SUCCESS);
    cpu_set_t none;
    pthread_attr_t attributes;
    CPU_ZERO(&none);
    child_expect(pthread_attr_init(&attributes) == 0);
    child_expect(pthread_attr_setaffinity_np(&attributes, sizeof none, &none) == 0);
    child_expect(create_with(&attributes) == MRAPI_ERR_PARAMETER);
    child_expect(comes == 1 && goes == 1);
    child_expect(finalize() == MRAPI_SUCCESS);
    return 0;
}

static void
who_is_not_started_goes(void **state)
{
    (void)state;
    logged_run("quiet", counts_nodes);
}

/* ---- A node that comes to nothing takes no domain -------------------------------------------- */

static mrapi_status_t
become(mrapi_domain_t domain)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(domain, NODE, 0, &info, &status);
    return status;
}

static int
starts_none_in_three_domains(void)
{
    mrapi_status_t status;
    pthread_attr_t attributes;
    mrapi_thread_parameters_t parameters = {.attr = &attributes, .start_routine = ends_at_once};
    cpu_set_t none;
    CPU_ZERO(&none);
    child_expect(pthread_attr_init(&attributes) == 0);
    child_expect(pthread_attr_setaffinity_np(&attributes, sizeof none, &none) == 0);
    child_expect(setenv("MEDLEY_MAX_DOMAINS", "2", 1) == 0);
    child_expect(become(DOMAIN) == MRAPI_SUCCESS);
    for (mrapi_domain_t refused = DOMAIN + 1; refused < DOMAIN + 4; refused++) {
        mrapi_thread_create(refused, STARTED, &parameters, &status);
        child_expect(status == MRAPI_ERR_PARAMETER);
    }
    parameters.attr = NULL;
    mrapi_thread_create(DOMAIN + 9, STARTED, &parameters, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN + 9, STARTED, NULL, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_finalize(&status);
    return status == MRAPI_SUCCESS ? 0 : 1;
}

static void *
becomes_none(void *argument)
{
    return become(DOMAIN + 1) == MRAPI_ERR_NODE_INITFAILED ? argument : NULL;
}

static int
becomes_none_where_all_rows_are_taken(void)
{
    mrapi_status_t status;
    pthread_t other;
    void *result = NULL;
    child_expect(setenv("MEDLEY_MAX_DOMAINS", "2", 1) == 0);
    child_expect(setenv("MEDLEY_MAX_NODES", "1", 1) == 0);
    child_expect(medley_system_open(NULL) == MEDLEY_OK && become(DOMAIN) == MRAPI_SUCCESS);
    child_expect(pthread_create(&other, NULL, becomes_none, &status) == 0);
    child_expect(pthread_join(other, &result) == 0 && result == &status);
    mrapi_finalize(&status);
    child_expect(status == MRAPI_SUCCESS && become(DOMAIN + 2) == MRAPI_SUCCESS);
    mrapi_finalize(&status);
    return status == MRAPI_SUCCESS && medley_system_close() == MEDLEY_OK ? 0 : 1;
}

static void
refused_node_takes_no_domain(void **state)
{
    (void)state;
    logged_run("error", starts_none_in_three_domains);
    logged_run("error", becomes_none_where_all_rows_are_taken);
}

static bool
is_there(const med_system *system, uint32_t domain)
{
    uint32_t index, generation;
    const med_key key = {.high = 0, .low = domain};
    return med_table_find(&system->domains, key, &index, &generation) == MEDLEY_OK;
}

#define REFUSED_AT_ONCE 4
#define REFUSALS 200

static void *
is_refused_often(void *argument)
{
    for (uint32_t i = 0; i < REFUSALS && argument; i++) {
        argument = becomes_none(argument);
    }
    return argument;
}

/* At once in one new domain, again and again. */
static int
several_become_none(void)
{
    pthread_t others[REFUSED_AT_ONCE];
    int one;
    child_expect(setenv("MEDLEY_MAX_NODES", "1", 1) == 0);
    child_expect(become(DOMAIN) == MRAPI_SUCCESS);
    for (uint32_t i = 0; i < REFUSED_AT_ONCE; i++) {
        child_expect(pthread_create(&others[i], NULL, is_refused_often, &one) == 0);
    }
    for (uint32_t i = 0; i < REFUSED_AT_ONCE; i++) {
        void *result;
        child_expect(pthread_join(others[i], &result) == 0 && result == &one);
    }
    child_expect(!is_there(med_self_get()->system, DOMAIN + 1));
    return finalize() == MRAPI_SUCCESS ? 0 : 1;
}

static void
refused_at_once_they_take_none(void **state)
{
    (void)state;
    logged_run("quiet", several_become_none);
}

/* Who failed takes nothing away from who came meanwhile; the last of those who failed does. */
static void
domain_of_another_stays(void **state)
{
    mrapi_status_t status;
    (void)state;
    assert_int_equal(become(DOMAIN), MRAPI_SUCCESS);
    med_system *system = med_self_get()->system;
    for (uint32_t others = 0; others < 3; others++) {
        const uint32_t domain = DOMAIN + 1 + others;
        assert_int_equal(med_domain_join(system, domain), MEDLEY_OK);
        for (uint32_t i = 0; i < others; i++) {
            assert_int_equal(med_domain_join(system, domain), MEDLEY_OK);
        }
        for (uint32_t i = 0; i < others; i++) {
            med_domain_leave(system, domain);
            assert_true(is_there(system, domain));
        }
        if (others == 1) {
            med_domain_keep(system, domain); /* the other's node came */
        }
        med_domain_leave(system, domain);
        assert_int_equal(is_there(system, domain), others == 1);
    }
    assert_int_equal(med_domain_join(system, DOMAIN + 1), MEDLEY_OK); /* its row's next life */
    med_domain_leave(system, DOMAIN + 1);
    assert_false(is_there(system, DOMAIN + 1));
    mrapi_finalize(&status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

/* ---- A start that is under way --------------------------------------------------------------- */

static atomic32 joiner_thread;

static void *
joins(void *system)
{
    void *result = NULL;
    atomic32_store_release(&joiner_thread, med_port_thread_id());
    return med_node_join(system, DOMAIN, STARTED, &result) == MEDLEY_OK ? system : NULL;
}

/* Who joins it meanwhile sleeps: in real time, giving way to no ordinary thread, he would keep the
 * starter from their only processor. */
static void
joiner_of_one_being_started_sleeps(void **state)
{
    uint32_t index, generation;
    pthread_t joiner;
    void *result = NULL;
    const med_key key = {.high = DOMAIN, .low = STARTED};
    (void)state;
    assert_int_equal(initialize(NODE), MRAPI_SUCCESS);
    assert_int_equal(create_with(NULL), MRAPI_SUCCESS);
    med_system *system = med_self_get()->system;
    assert_int_equal(med_table_find(&system->nodes, key, &index, &generation), MEDLEY_OK);
    atomic32 *join = &system->selves[index].join;
    atomic32_store_release(join, med_node_join_word(MED_NODE_JOIN_STARTING, generation));
    assert_int_equal(pthread_create(&joiner, NULL, joins, system), 0);
    uint32_t thread;
    do {
        thread = atomic32_load_acquire(&joiner_thread);
    } while (thread == 0 || !process_sleeps((pid_t)thread));
    atomic32_store_release(join, med_node_join_word(MED_NODE_JOIN_READY, generation));
    assert_int_equal(pthread_join(joiner, &result), 0);
    assert_ptr_equal(result, system);
    assert_int_equal(finalize(), MRAPI_SUCCESS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_memory_is_told),
        cmocka_unit_test(missing_processor_is_told),
        cmocka_unit_test(who_is_not_started_goes),
        cmocka_unit_test(refused_node_takes_no_domain),
        cmocka_unit_test(refused_at_once_they_take_none),
        cmocka_unit_test(domain_of_another_stays),
        cmocka_unit_test(joiner_of_one_being_started_sleeps),
    };
    test_system_prepare();
    (void)alarm(60);
    return cmocka_run_group_tests_name("mrapi/node start", tests, NULL, NULL);
}
