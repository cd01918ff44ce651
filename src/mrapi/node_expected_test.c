/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nodes that an image expects: in a system of two nodes, of which one is the tester and the other
 * expected, nobody else comes in, whoever was there and however he went.
 */
#include "mrapi/node_life.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/expected.h"
#include "support/process.h"

#define OTHER 8
#define STRANGER 9

static med_system *
here(void)
{
    return med_self_get()->system;
}

static int
expecting_up(void **state)
{
    (void)node_up(state);
    return med_node_expect(here(), DOMAIN, OTHER) == MEDLEY_OK ? 0 : -1;
}

static int
expecting_down(void **state)
{
    assert_true(expect_no_more(here(), DOMAIN, OTHER));
    return node_down(state);
}

/* Without a thread of its own. */
static medley_status_t
come(mrapi_node_t node, med_self **self)
{
    const med_node_request request = {.domain = DOMAIN, .node = node, .quiet = true};
    return med_node_register(here(), &request, self);
}

static void
go(const med_self *self)
{
    assert_int_equal(med_node_row_leave(self->system, self->index, self->generation), MEDLEY_OK);
    med_system_release(self->system);
}

static void
the_place_is_kept(void)
{
    med_self *nobody;
    assert_int_equal(come(STRANGER, &nobody), MEDLEY_ERR_LIMIT);
    assert_int_equal(come(MED_NODE_ANY, &nobody), MEDLEY_ERR_LIMIT);
    assert_false(med_node_is_there(here(), DOMAIN, OTHER));
}

static void
who_leaves_leaves_it_kept(void **state)
{
    med_self *other, *second;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        the_place_is_kept();
        assert_int_equal(come(OTHER, &other), MEDLEY_OK);
        assert_true(med_node_is_there(here(), DOMAIN, OTHER));
        assert_int_equal(come(OTHER, &second), MEDLEY_ERR_EXISTS);
        go(other);
    }
    the_place_is_kept();
}

static void *
ends_at_once(void *argument)
{
    return argument;
}

static void
who_is_joined_leaves_it_kept(void **state)
{
    mrapi_thread_parameters_t parameters = {.start_routine = ends_at_once};
    mrapi_status_t status;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        mrapi_thread_create(DOMAIN, OTHER, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_thread_join(DOMAIN, OTHER, NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        the_place_is_kept();
        mrapi_thread_join(DOMAIN, OTHER, NULL, &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    }
}

static int
comes_and_waits(test_process *parent, void *argument)
{
    (void)argument;
    child_expect(initialize(OTHER) == MRAPI_SUCCESS);
    process_say(parent, 'r');
    (void)process_hear(parent);
    return 0;
}

/* Who wants the last row finds him dead, and the place kept. */
static void
who_dies_leaves_it_kept(void **state)
{
    test_process child;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        process_start(&child, comes_and_waits, NULL);
        assert_int_equal(process_hear(&child), 'r');
        process_kill(&child);
        the_place_is_kept();
        assert_int_equal(process_join(&child), -SIGKILL);
    }
}

/* A slower recoverer, who has an earlier life in hand, changes nothing. */
static void
who_is_late_replaces_nothing(void **state)
{
    med_self *other;
    (void)state;
    assert_int_equal(come(OTHER, &other), MEDLEY_OK);
    uint32_t index = other->index, life = other->generation;
    go(other);
    assert_int_equal(med_node_remove(here(), index, life), MEDLEY_ERR_STALE);
    the_place_is_kept();
    assert_int_equal(come(OTHER, &other), MEDLEY_OK);
    assert_int_equal(other->index, index);
    assert_int_equal(med_node_remove(here(), index, life), MEDLEY_ERR_STALE);
    assert_true(med_node_is_there(here(), DOMAIN, OTHER));
    go(other);
}

/* Nobody expected it. */
static void
another_place_is_not_kept(void **state)
{
    med_self *other;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(come(OTHER + i, &other), MEDLEY_OK);
        assert_int_equal(atomic32_load_relaxed(&other->row->is_kept), 0);
        go(other);
        assert_false(expect_no_more(here(), DOMAIN, OTHER + i));
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_leaves_leaves_it_kept, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(who_is_joined_leaves_it_kept, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(who_dies_leaves_it_kept, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(who_is_late_replaces_nothing, expecting_up, expecting_down),
        cmocka_unit_test_setup_teardown(another_place_is_not_kept, node_up, node_down),
    };
    (void)setenv("MEDLEY_MAX_NODES", "2", 1);
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
