/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Endpoints that an image expects: each keeps its place, also where all others are taken, until its
 * node makes it, and again when that goes; nobody finds one before.
 */
#include <pthread.h>
#include <string.h>

#include "mcapi/endpoint.h"
#include "mcapi/view.h"
#include "mrapi/image.h"
#include "mrapi/system.h"
#include "support/exchange.h"
#include "support/process.h"
#include "support/system.h"
#include "support/threads.h"

#define OTHER 8
#define PORT 5

#define BEGIN "medley-system: 1\nlimits:\n  endpoints: 3\ndomains:\n  - number: %d\nendpoints:\n"
#define ITEM "  - port: %d\n    node: %d\n    domain: %d\n"

static unsigned list[MED_IMAGE_LIST_ROOM];

static medley_status_t
system_open(const char *text)
{
    med_image image;
    assert_int_equal(med_image_open_text("text", text, (uint32_t)strlen(text), list, &image),
                     MEDLEY_OK);
    return med_system_open_image(test_system_name(), &image);
}

/* Two endpoints of two nodes are expected, a third may come. */
static int
expecting_up(void **state)
{
    char text[512];
    (void)snprintf(text, sizeof text, BEGIN ITEM ITEM, DOMAIN, PORT, NODE, DOMAIN, PORT, OTHER,
                   DOMAIN);
    assert_int_equal(system_open(text), MEDLEY_OK);
    return exchange_up(state);
}

static int
expecting_down(void **state)
{
    (void)exchange_down(state);
    return med_system_close() == MEDLEY_OK ? 0 : -1;
}

/* How many are expected, and, in `there`, how many others are there. */
static uint32_t
expected_count(uint32_t *there)
{
    const med_system *system = med_self_get()->system;
    uint32_t expected = 0;
    *there = 0;
    for (uint32_t i = 0; i < system->limits.endpoints; i++) {
        med_view_endpoint endpoint;
        if (!med_view_endpoint_read(system, i, &endpoint)) {
            continue;
        }
        assert_true(endpoint.name.owner_known && endpoint.name.domain == DOMAIN);
        expected += endpoint.expected;
        *there += !endpoint.expected;
        assert_true(!endpoint.expected || endpoint.name.port == PORT);
    }
    return expected;
}

static mcapi_status_t
create(mcapi_port_t port, mcapi_endpoint_t *endpoint)
{
    mcapi_status_t status;
    *endpoint = mcapi_endpoint_create(port, &status);
    return status;
}

static void
a_place_is_kept(void **state)
{
    mcapi_endpoint_t own, third, ignored;
    uint32_t there;
    (void)state;
    assert_int_equal(expected_count(&there), 2);
    assert_int_equal(there, 0);
    third = endpoint_make(1);
    assert_int_equal(create(2, &ignored), MCAPI_ERR_ENDP_LIMIT);
    assert_int_equal(create(PORT, &own), MCAPI_SUCCESS);
    assert_int_equal(expected_count(&there), 1);
    assert_int_equal(there, 2);
    assert_int_equal(create(PORT, &ignored), MCAPI_ERR_ENDP_EXISTS);
    assert_int_equal(create(2, &ignored), MCAPI_ERR_ENDP_LIMIT);
    assert_int_equal(send_number(third, own, 77, 0), MCAPI_SUCCESS);
    expect_number(own, 77);
    /* What lies in it when it goes is not the next one's. */
    assert_int_equal(send_number(third, own, 78, 0), MCAPI_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        mcapi_endpoint_t gone = own;
        endpoint_delete(own);
        assert_int_equal(expected_count(&there), 2);
        assert_int_equal(there, 1);
        assert_int_equal(send_number(third, gone, 79, 0), MCAPI_ERR_ENDP_INVALID);
        assert_int_equal(create(2, &ignored), MCAPI_ERR_ENDP_LIMIT);
        assert_int_equal(create(PORT, &own), MCAPI_SUCCESS);
        assert_int_equal(send_number(third, own, i, 0), MCAPI_SUCCESS);
        expect_number(own, i);
    }
    endpoint_delete(third); /* nobody expected that one */
    assert_int_equal(create(2, &third), MCAPI_SUCCESS);
}

/* Its node leaves, and comes again. */
static void
its_node_goes(void **state)
{
    mcapi_endpoint_t own;
    uint32_t there;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(create(PORT, &own), MCAPI_SUCCESS);
        assert_int_equal(expected_count(&there), 1);
        (void)exchange_down(state);
        (void)exchange_up(state);
        assert_int_equal(expected_count(&there), 2);
        assert_int_equal(there, 0);
    }
}

/* A slower recoverer, who has an earlier life in hand, changes nothing: neither while the place is
 * kept, nor when it is taken again. */
static void
who_is_late_replaces_nothing(void **state)
{
    mcapi_endpoint_t own;
    uint32_t there;
    (void)state;
    med_system *system = med_self_get()->system;
    assert_int_equal(create(PORT, &own), MCAPI_SUCCESS);
    uint32_t index = med_handle_index(own), life = med_handle_generation(own);
    endpoint_delete(own);
    assert_int_equal(med_endpoint_remove(system, index, life), MEDLEY_ERR_STALE);
    assert_int_equal(expected_count(&there), 2);
    assert_int_equal(create(PORT, &own), MCAPI_SUCCESS);
    /* As it was in that life. */
    atomic32_store_relaxed(&med_endpoint_at(system, index)->is_kept, 1);
    assert_int_equal(med_endpoint_remove(system, index, life), MEDLEY_ERR_STALE);
    assert_int_equal(expected_count(&there), 1);
    assert_int_equal(there, 1);
}

/* ---- Another process ------------------------------------------------------------------------- */

/* Its handle goes through `argument`. */
static int
has_the_others(test_process *parent, void *argument)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, OTHER, NULL, NULL, &info, &status);
    child_expect(status == MCAPI_SUCCESS);
    child_expect(create(PORT, argument) == MCAPI_SUCCESS);
    process_say(parent, 'r');
    (void)process_hear(parent);
    return 0;
}

/* All rows are taken, so that the place is kept in the very row of the dead: who sends to that one
 * hears what became of it until the next one is there. */
static void
a_death_is_told(void **state)
{
    test_process child;
    mcapi_endpoint_t own, ignored;
    mcapi_endpoint_t *others = process_shared_memory(sizeof *others);
    uint32_t there;
    (void)state;
    med_system *system = med_self_get()->system;
    own = endpoint_make(1);
    for (unsigned i = 0; i < 2; i++) {
        process_start(&child, has_the_others, others);
        assert_int_equal(process_hear(&child), 'r');
        assert_int_equal(send_number(own, *others, 77, 0), MCAPI_SUCCESS);
        process_kill(&child);
        assert_true(med_process_recover_all(system) > 0);
        assert_int_equal(expected_count(&there), 2);
        assert_int_equal(create(2, &ignored), MCAPI_ERR_ENDP_LIMIT);
        assert_int_equal(med_endpoint_why_gone(system, *others), MEDLEY_ERR_PEER_DIED);
        assert_int_equal(process_join(&child), -SIGKILL);
    }
}

/* ---- Who finds one --------------------------------------------------------------------------- */

/* Neither by its name, nor by what its handle would be. */
static void
nobody_finds_one(void **state)
{
    mcapi_status_t status;
    mcapi_uint_t value;
    mcapi_endpoint_t own = endpoint_make(1);
    (void)state;
    (void)mcapi_endpoint_get(DOMAIN, OTHER, PORT, 1000, &status);
    assert_int_equal(status, MCAPI_TIMEOUT);
    for (uint32_t i = 0; i < 2; i++) {
        mcapi_endpoint_t guessed = med_handle_make(MED_HANDLE_ENDPOINT, i, 0);
        assert_int_equal(send_number(own, guessed, 1, 0), MCAPI_ERR_ENDP_INVALID);
        mcapi_endpoint_get_attribute(guessed, MCAPI_ENDP_ATTR_NUM_PRIORITIES, &value, sizeof value,
                                     &status);
        assert_int_equal(status, MCAPI_ERR_ENDP_INVALID);
        assert_int_equal(attribute_set(guessed, MCAPI_ENDP_ATTR_NUM_PRIORITIES, 2),
                         MCAPI_ERR_ENDP_INVALID);
    }
}

static void *
comes_as_the_other(void *argument)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_endpoint_t endpoint;
    mcapi_initialize(DOMAIN, OTHER, NULL, NULL, &info, &status);
    status = create(PORT, &endpoint);
    if (status == MCAPI_SUCCESS) {
        expect_number(endpoint, 78);
    }
    mcapi_status_t left;
    mcapi_finalize(&left);
    (void)argument;
    return (void *)(uintptr_t)status;
}

/* Who waits for one is woken when its node makes it. */
static void
who_waits_gets_it(void **state)
{
    pthread_t thread;
    void *result;
    (void)state;
    mcapi_endpoint_t own = endpoint_make(1);
    assert_int_equal(pthread_create(&thread, NULL, comes_as_the_other, NULL), 0);
    mcapi_endpoint_t other = endpoint_of(OTHER, PORT);
    assert_int_equal(send_number(own, other, 78, 0), MCAPI_SUCCESS);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_int_equal((uintptr_t)result, MCAPI_SUCCESS);
}

/* Nothing is left of a system that is refused. */
static void
twice_is_refused(void **state)
{
    char text[512];
    (void)state;
    (void)snprintf(text, sizeof text, BEGIN ITEM ITEM, DOMAIN, PORT, NODE, DOMAIN, PORT, NODE,
                   DOMAIN);
    assert_int_equal(system_open(text), MEDLEY_ERR_ARGUMENT);
    (void)snprintf(text, sizeof text, BEGIN ITEM ITEM ITEM, DOMAIN, PORT, NODE, DOMAIN, PORT, OTHER,
                   DOMAIN, PORT + 1, NODE, DOMAIN);
    assert_int_equal(system_open(text), MEDLEY_OK);
    assert_int_equal(med_system_close(), MEDLEY_OK);
}

static bool
is_expected(const med_endpoint_name *name, uint32_t *index)
{
    med_endpoint_place place;
    uint32_t life;
    return med_endpoint_expected_find(med_self_get()->system, name, &place, index, &life);
}

/* These two have one hash: whichever is made first leaves the other alone, as when it goes. */
static void
names_of_one_hash(void **state)
{
    static const med_endpoint_name names[] = {{DOMAIN, NODE, 6}, {DOMAIN, OTHER, 732007929}};
    uint32_t index[2];
    char text[512];
    for (unsigned first = 0; first < 2; first++) {
        (void)snprintf(text, sizeof text, BEGIN ITEM ITEM, DOMAIN, names[0].port, names[0].node,
                       DOMAIN, names[1].port, names[1].node, DOMAIN);
        assert_int_equal(system_open(text), MEDLEY_OK);
        exchange_begin(names[first].node);
        med_system *system = med_self_get()->system;
        assert_int_equal(atomic32_load_relaxed(&system->header->expected_keys), 2);
        assert_true(is_expected(&names[0], &index[0]));
        assert_true(is_expected(&names[1], &index[1]));
        assert_int_not_equal(index[0], index[1]);
        mcapi_endpoint_t own = endpoint_make(names[first].port);
        assert_false(is_expected(&names[first], &index[first]));
        assert_true(is_expected(&names[!first], &index[!first]));
        endpoint_delete(own);
        assert_true(is_expected(&names[first], &index[first]));
        assert_true(is_expected(&names[!first], &index[!first]));
        assert_int_not_equal(index[0], index[1]);
        (void)expecting_down(state);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_place_is_kept, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(its_node_goes, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(who_is_late_replaces_nothing, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(a_death_is_told, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(nobody_finds_one, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(who_waits_gets_it, expecting_up, expecting_down),
        cmocka_unit_test(twice_is_refused),
        cmocka_unit_test(names_of_one_hash),
    };
    test_system_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
