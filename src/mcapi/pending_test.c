/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What queues of pending operations cost: how often each operation is tried, as it counts itself.
 * What comes of them, and in which order, says api_pending_test.c.
 */
#include "mcapi/endpoint.h"
#include "mcapi/pending.h"
#include "mrapi/system.h"
#include "support/exchange.h"

#define MANY 64u /* as many as mcapi_wait_any takes */
#define ENDPOINTS 2u

static med_self *self;
static med_endpoint_own *own[ENDPOINTS];
static med_request_handle asked[MANY];
static unsigned tried[MANY];
static bool may[MANY]; /* be done */

static int
up(void **state)
{
    (void)exchange_up(state);
    self = med_self_get();
    for (unsigned i = 0; i < ENDPOINTS; i++) {
        own[i] = med_endpoint_mine(self, endpoint_make(i));
        assert_non_null(own[i]);
    }
    memset(may, 0, sizeof may);
    return 0;
}

static int
down(void **state)
{
    for (unsigned i = 0; i < MANY; i++) {
        (void)med_request_cancel(&self->system->requests, asked[i]);
    }
    return exchange_down(state);
}

static medley_status_t
count_and_try(med_self *caller, med_pending *pending)
{
    assert_ptr_equal(caller, self);
    tried[pending->size]++;
    return may[pending->size] ? MEDLEY_OK : MEDLEY_BUSY;
}

/* Many, by turns at one endpoint and the other; about so many things. */
static void
ask(unsigned things)
{
    for (unsigned i = 0; i < MANY; i++) {
        med_endpoint_own *at = own[i % ENDPOINTS];
        const med_pending one = {
            .attempt = count_and_try, .own = at, .size = i, .numbers = {i % things}};
        assert_int_equal(med_pending_begin(self, &at->sends, &one, &asked[i]), MEDLEY_OK);
    }
    memset(tried, 0, sizeof tried);
}

/* One look. */
static medley_status_t
wait_for_any(size_t count, size_t *which)
{
    med_request_outcome outcome;
    return med_pending_wait_any(self, asked, count, 0, which, &outcome);
}

static void
expect_tried(unsigned things, unsigned times)
{
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(tried[i], i < things ? times : 0);
    }
}

static void
once_a_look(void **state)
{
    size_t which;
    (void)state;
    ask(MANY);
    for (unsigned times = 1; times < 4; times++) {
        assert_int_equal(wait_for_any(MANY, &which), MEDLEY_TIMEOUT);
        expect_tried(MANY, times);
    }
}

/* Whoever of them is waited for, all in front are tried. */
static void
for_one_too(void **state)
{
    size_t which;
    (void)state;
    ask(MANY);
    assert_int_equal(wait_for_any(1, &which), MEDLEY_TIMEOUT);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(tried[i], i % ENDPOINTS == 0); /* of that endpoint */
    }
}

/* Each question is a look of its own, also behind a wait. */
static void
at_each_question(void **state)
{
    size_t which;
    med_request_outcome outcome;
    (void)state;
    ask(MANY);
    assert_int_equal(wait_for_any(MANY, &which), MEDLEY_TIMEOUT);
    memset(tried, 0, sizeof tried);
    for (unsigned times = 1; times < 4; times++) {
        for (unsigned i = 0; i < ENDPOINTS; i++) {
            assert_int_equal(med_request_test(&self->system->requests, asked[i], &outcome),
                             MEDLEY_BUSY);
        }
        expect_tried(MANY, times);
    }
}

static void
not_those_behind(void **state)
{
    size_t which;
    (void)state;
    ask(ENDPOINTS); /* each endpoint's are about the same */
    assert_int_equal(wait_for_any(MANY, &which), MEDLEY_TIMEOUT);
    expect_tried(ENDPOINTS, 1);
}

/* One that is done when another is looked at is found in the same look; the rest go on. */
static void
found_where_it_stands(void **state)
{
    size_t which;
    (void)state;
    ask(MANY);
    may[40] = may[41] = true;
    assert_int_equal(wait_for_any(MANY, &which), MEDLEY_OK);
    assert_int_equal(which, 40);
    asked[40] = asked[0]; /* it is over, and not asked for again */
    assert_int_equal(wait_for_any(MANY, &which), MEDLEY_OK);
    assert_int_equal(which, 41);
    assert_int_equal(tried[41], 1);
    asked[41] = asked[1];
    memset(tried, 0, sizeof tried);
    assert_int_equal(wait_for_any(MANY, &which), MEDLEY_TIMEOUT);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(tried[i], i != 40 && i != 41);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(once_a_look, up, down),
        cmocka_unit_test_setup_teardown(for_one_too, up, down),
        cmocka_unit_test_setup_teardown(at_each_question, up, down),
        cmocka_unit_test_setup_teardown(not_those_behind, up, down),
        cmocka_unit_test_setup_teardown(found_where_it_stands, up, down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
