/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Remote memory between nodes: who sees it, who may, and what goes with whom. */
#include "mrapi/api_rmem_test.h"
#include "mrapi/rmem.h"
#include "mrapi/system.h"

static mrapi_rmem_hndl_t shared;

static void
other_node_uses_it(void)
{
    mrapi_status_t status;
    assert_int_equal(initialize(NODE + 1), MRAPI_SUCCESS);
    assert_int_equal(mrapi_rmem_get(NUMBER, MRAPI_RMEM_DMA, &status), shared);
    mrapi_rmem_delete(shared, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_NOTOWNER);
    assert_int_equal(attach_status(shared, MRAPI_RMEM_DUMMY), MRAPI_ERR_RMEM_CONFLICT);
    assert_int_equal(attach_status(shared, MRAPI_RMEM_DMA), MRAPI_SUCCESS);
    put(shared, 5, 123);
    /* ends without a word: its attachment goes with it */
}

static void
between_nodes(void **state)
{
    mrapi_status_t status;
    (void)state;
    shared = made(MRAPI_RMEM_ATYPE_ANY);
    assert_int_equal(attach_status(shared, MRAPI_RMEM_DMA), MRAPI_SUCCESS);
    on_other_thread(other_node_uses_it);
    assert_int_equal(seen(shared, 5), 123);
    mrapi_rmem_detach(shared, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_delete(shared, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
other_node_writes_and_goes(void)
{
    assert_int_equal(initialize(NODE + 1), MRAPI_SUCCESS);
    assert_int_equal(attach_status(shared, MRAPI_RMEM_SWCACHE), MRAPI_SUCCESS);
    put(shared, 5, 123);
    assert_int_not_equal(far[5], 123);
}

/* As if it had detached. */
static void
a_cache_is_sent_by_who_goes(void **state)
{
    mrapi_status_t status;
    (void)state;
    shared = made(MRAPI_RMEM_ATYPE_ANY);
    on_other_thread(other_node_writes_and_goes);
    assert_int_equal(far[5], 123);
    mrapi_rmem_delete(shared, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
other_domain_tries(void)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN + 1, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    (void)mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status);
    assert_int_equal(status, MRAPI_ERR_DOMAIN_NOTSHARED);
    assert_int_equal(attach_status(shared, MRAPI_RMEM_DUMMY), MRAPI_ERR_DOMAIN_NOTSHARED);
}

/* By a handle that was passed on neither. */
static void
another_domain_keeps_out(void **state)
{
    mrapi_status_t status;
    mrapi_rmem_attributes_t record;
    const mrapi_boolean_t no = MRAPI_FALSE;
    (void)state;
    mrapi_rmem_init_attributes(&record, &status);
    mrapi_rmem_set_attribute(&record, MRAPI_DOMAIN_SHARED, &no, sizeof no, &status);
    shared = mrapi_rmem_create(NUMBER, far, MRAPI_RMEM_DUMMY, &record, BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    on_other_thread(other_domain_tries);
    assert_int_equal(attach_status(shared, MRAPI_RMEM_DUMMY), MRAPI_SUCCESS);
    end(shared);
}

static void
other_node_asks_and_goes(void)
{
    mrapi_status_t status;
    mrapi_request_t request;
    assert_int_equal(initialize(NODE + 1), MRAPI_SUCCESS);
    assert_int_equal(attach_status(shared, MRAPI_RMEM_DUMMY), MRAPI_SUCCESS);
    for (uint32_t i = 0; i < TEST_REQUESTS; i++) {
        mrapi_rmem_write_i(shared, i, near, 0, 1, 1, 1, 1, &request, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
}

/* What it asked for and did not fetch takes nothing from those who stay. */
static void
requests_go_with_their_node(void **state)
{
    (void)state;
    shared = attached(MRAPI_RMEM_DUMMY);
    on_other_thread(other_node_asks_and_goes);
    on_other_thread(other_node_asks_and_goes);
    end(shared);
}

static void
other_node_makes_it(void)
{
    assert_int_equal(initialize(NODE + 1), MRAPI_SUCCESS);
    shared = made(MRAPI_RMEM_DUMMY);
}

/* What a node made goes with it; who is attached is told, and comes loose. */
static void
gone_with_its_owner(void **state)
{
    mrapi_status_t status;
    (void)state;
    for (int i = 0; i < 40; i++) {
        on_other_thread(other_node_makes_it);
        refused(shared, (shape){0, 0, 1, 1, 1, 1}, MRAPI_ERR_RMEM_INVALID);
    }
    shared = attached(MRAPI_RMEM_DUMMY); /* the number is free */
    med_self *self = med_self_get();
    med_rmem_recover_rows(self->system, 0, TEST_RMEMS, self->ref, 0); /* as its death would */
    refused(shared, (shape){0, 0, 1, 1, 1, 1}, MRAPI_ERR_RMEM_INVALID);
    mrapi_rmem_detach(shared, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
    assert_int_equal(atomic32_load_relaxed(&self->system->rmem_attachments.table->used), 0);
}

static mrapi_rmem_hndl_t several[TEST_RMEMS];

static void
one_attachment_too_many(void)
{
    assert_int_equal(initialize(NODE + 2), MRAPI_SUCCESS);
    assert_int_equal(attach_status(several[0], MRAPI_RMEM_DUMMY), MRAPI_ERR_MEM_LIMIT);
}

static void
attaches_to_all(void)
{
    mrapi_status_t status;
    assert_int_equal(initialize(NODE + 1), MRAPI_SUCCESS);
    for (uint32_t i = 0; i < TEST_RMEMS; i++) {
        assert_int_equal(attach_status(several[i], MRAPI_RMEM_DUMMY), MRAPI_SUCCESS);
    }
    on_other_thread(one_attachment_too_many);
    mrapi_rmem_detach(several[0], &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(attach_status(several[0], MRAPI_RMEM_DUMMY), MRAPI_SUCCESS);
}

/* Two nodes with all of the memories have as many attachments as there may be. */
static void
as_many_attachments_as_the_limit(void **state)
{
    mrapi_status_t status;
    (void)state;
    for (uint32_t i = 0; i < TEST_RMEMS; i++) {
        several[i] =
            mrapi_rmem_create(MRAPI_RMEM_ID_ANY, far + i, MRAPI_RMEM_DUMMY, NULL, 1, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(attach_status(several[i], MRAPI_RMEM_DUMMY), MRAPI_SUCCESS);
    }
    assert_int_equal(med_self_get()->system->limits.rmem_attachments, 2 * TEST_RMEMS);
    on_other_thread(attaches_to_all);
    for (uint32_t i = 0; i < TEST_RMEMS; i++) {
        end(several[i]);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        UP(between_nodes),
        UP(a_cache_is_sent_by_who_goes),
        UP(another_domain_keeps_out),
        UP(requests_go_with_their_node),
        UP(gone_with_its_owner),
        UP(as_many_attachments_as_the_limit),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mrapi/rmem of several nodes", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
