/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MRAPI's remote memory, through the public calls: every function with every kind of
 * wrong argument gives the code that the standard names. Run in a private system and in a named
 * one, as the others (api_rmem_..._test.c).
 */
#include "mrapi/api_rmem_test.h"

/* ---- Making and finding ---------------------------------------------------------------------- */

static mrapi_status_t
create_status(mrapi_rmem_id_t number, const void *mem, int access, mrapi_uint_t size)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmem =
        mrapi_rmem_create(number, mem, (mrapi_rmem_atype_t)access, NULL, size, &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_rmem_delete(rmem, &status);
    } else {
        assert_int_equal(rmem, MRAPI_RETURN_VALUE_INVALID);
    }
    return status;
}

static void
create_wrong(void **state)
{
    (void)state;
    const int plain = MRAPI_RMEM_DUMMY;
    assert_int_equal(create_status(1, far, 42, BYTES), MRAPI_ERR_RMEM_TYPENOTVALID);
    assert_int_equal(create_status(1, far, -1, BYTES), MRAPI_ERR_RMEM_TYPENOTVALID);
    assert_int_equal(create_status(MRAPI_MAX_USER_RMEM_ID + 1, far, plain, BYTES),
                     MRAPI_ERR_RMEM_ID_INVALID);
    assert_int_equal(create_status(1, NULL, plain, BYTES), MRAPI_ERR_PARAMETER);
    assert_int_equal(create_status(1, far, plain, 0), MRAPI_ERR_PARAMETER);
    assert_int_equal(create_status(1, (void *)(UINTPTR_MAX - 5), plain, 10), MRAPI_ERR_PARAMETER);
    mrapi_status_t status;
    mrapi_rmem_attributes_t never = {.set = 0};
    (void)mrapi_rmem_create(1, far, MRAPI_RMEM_DUMMY, &never, BYTES, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_rmem_create(1, far, MRAPI_RMEM_DUMMY, NULL, BYTES, NULL); /* must not crash */
    assert_int_equal(create_status(1, far, plain, BYTES), MRAPI_SUCCESS);
}

static void
numbers_and_overlaps(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_rmem_hndl_t rmem = made(MRAPI_RMEM_DUMMY);
    assert_int_equal(mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status), rmem);
    assert_int_equal(create_status(NUMBER, near, MRAPI_RMEM_DUMMY, 1), MRAPI_ERR_RMEM_EXISTS);
    assert_int_equal(create_status(1, far + BYTES - 1, MRAPI_RMEM_DUMMY, 2),
                     MRAPI_ERR_RMEM_CONFLICT);
    assert_int_equal(create_status(MRAPI_RMEM_ID_ANY, far, MRAPI_RMEM_DUMMY, 1),
                     MRAPI_ERR_RMEM_CONFLICT);
    assert_int_equal(create_status(1, far + BYTES, MRAPI_RMEM_DUMMY, 2), MRAPI_SUCCESS);
    assert_int_equal(create_status(MRAPI_RMEM_ID_ANY, near, MRAPI_RMEM_DUMMY, 1), MRAPI_SUCCESS);
    assert_int_equal(create_status(MRAPI_MAX_USER_RMEM_ID, near + 1, MRAPI_RMEM_DUMMY, 1),
                     MRAPI_SUCCESS);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    (void)mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_ID_INVALID);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
}

static void
as_many_as_the_limit(void **state)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmems[TEST_RMEMS];
    (void)state;
    for (uint32_t i = 0; i < TEST_RMEMS; i++) {
        rmems[i] =
            mrapi_rmem_create(MRAPI_RMEM_ID_ANY, far + i, MRAPI_RMEM_DUMMY, NULL, 1, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    assert_int_equal(create_status(1, near, MRAPI_RMEM_DUMMY, 1), MRAPI_ERR_MEM_LIMIT);
    for (uint32_t i = 0; i < TEST_RMEMS; i++) {
        mrapi_rmem_delete(rmems[i], &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
}

static mrapi_status_t
get_status(int access)
{
    mrapi_status_t status;
    (void)mrapi_rmem_get(NUMBER, (mrapi_rmem_atype_t)access, &status);
    return status;
}

/* A type is strict, unless it is ANY. */
static void
access_types(void **state)
{
    static const int all[] = {MRAPI_RMEM_DMA, MRAPI_RMEM_SWCACHE, MRAPI_RMEM_DUMMY};
    mrapi_status_t status;
    (void)state;
    for (int type = MRAPI_RMEM_DMA; type <= MRAPI_RMEM_ATYPE_ANY; type++) {
        mrapi_rmem_hndl_t rmem = made((mrapi_rmem_atype_t)type);
        for (size_t i = 0; i < 3; i++) {
            bool may = type == MRAPI_RMEM_ATYPE_ANY || type == all[i];
            assert_int_equal(get_status(all[i]), may ? MRAPI_SUCCESS : MRAPI_ERR_RMEM_ATYPE);
            assert_int_equal(attach_status(rmem, all[i]),
                             may ? MRAPI_SUCCESS : MRAPI_ERR_RMEM_ATYPE);
            if (may) {
                assert_int_equal(attach_status(rmem, all[i]), MRAPI_ERR_RMEM_ATTACHED);
                mrapi_rmem_detach(rmem, &status);
                assert_int_equal(status, MRAPI_SUCCESS);
            }
        }
        assert_int_equal(get_status(42), MRAPI_ERR_RMEM_TYPENOTVALID);
        assert_int_equal(attach_status(rmem, 42), MRAPI_ERR_RMEM_TYPENOTVALID);
        assert_int_equal(get_status(MRAPI_RMEM_ATYPE_ANY), MRAPI_ERR_RMEM_ATYPE_NOTVALID);
        assert_int_equal(attach_status(rmem, MRAPI_RMEM_ATYPE_ANY), MRAPI_ERR_RMEM_ATYPE_NOTVALID);
        mrapi_rmem_delete(rmem, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
}

static void
attributes(void **state)
{
    mrapi_status_t status;
    mrapi_rmem_attributes_t record;
    mrapi_boolean_t value = MRAPI_FALSE;
    (void)state;
    mrapi_rmem_init_attributes(&record, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_init_attributes(NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_rmem_attributes_t never = {.set = 0};
    mrapi_rmem_set_attribute(&never, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_rmem_set_attribute(NULL, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_rmem_set_attribute(&record, MRAPI_DOMAIN_SHARED, NULL, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_rmem_set_attribute(&record, MRAPI_MUTEX_RECURSIVE, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_rmem_set_attribute(&record, MRAPI_DOMAIN_SHARED, &value, 4, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_rmem_set_attribute(&record, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_hndl_t rmem =
        mrapi_rmem_create(NUMBER, far, MRAPI_RMEM_DUMMY, &record, BYTES, &status);
    value = MRAPI_TRUE;
    mrapi_rmem_get_attribute(rmem, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(value, MRAPI_FALSE);
    mrapi_rmem_get_attribute(rmem, MRAPI_DOMAIN_SHARED, NULL, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_rmem_get_attribute(rmem, MRAPI_DOMAIN_SHARED, &value, 4, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_rmem_get_attribute(rmem, MRAPI_SHMEM_SIZE, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_rmem_delete(rmem, &status);
    mrapi_rmem_get_attribute(rmem, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
}

/* ---- No status ------------------------------------------------------------------------------- */

/* Nothing is done. */
static void
no_status(void **state)
{
    mrapi_status_t status;
    mrapi_request_t request = 0;
    (void)state;
    mrapi_rmem_hndl_t rmem = made(MRAPI_RMEM_SWCACHE);
    assert_int_equal(mrapi_rmem_get(NUMBER, MRAPI_RMEM_SWCACHE, NULL), MRAPI_RETURN_VALUE_INVALID);
    mrapi_rmem_init_attributes(NULL, NULL);
    mrapi_rmem_set_attribute(NULL, 0, NULL, 0, NULL);
    mrapi_rmem_get_attribute(rmem, 0, NULL, 0, NULL);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_SWCACHE, NULL);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_NOTATTACHED);
    assert_int_equal(attach_status(rmem, MRAPI_RMEM_SWCACHE), MRAPI_SUCCESS);
    mrapi_rmem_detach(rmem, NULL);
    mrapi_rmem_read(rmem, 0, near, 0, 1, 1, 1, 1, NULL);
    mrapi_rmem_read_i(rmem, 0, near, 0, 1, 1, 1, 1, &request, NULL);
    assert_int_equal(near[0], 0xee);
    mrapi_rmem_write(rmem, 0, near, 0, 1, 1, 1, 1, NULL);
    mrapi_rmem_write_i(rmem, 0, near, 0, 1, 1, 1, 1, &request, NULL);
    mrapi_rmem_flush(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS); /* of nothing that was written */
    assert_int_equal(far[0], 0);
    assert_int_equal(request, 0);
    put(rmem, 0, 1);
    mrapi_rmem_flush(rmem, NULL);
    assert_int_equal(far[0], 0);
    mrapi_rmem_synch(rmem, NULL);
    mrapi_rmem_sync(rmem, NULL);
    end(rmem);
    rmem = made(MRAPI_RMEM_DUMMY);
    mrapi_rmem_delete(rmem, NULL);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

/* ---- No node --------------------------------------------------------------------------------- */

static void
no_node(void **state)
{
    mrapi_status_t status;
    size_t size;
    mrapi_request_t request = 1;
    mrapi_rmem_attributes_t record;
    mrapi_boolean_t value = 0;
    (void)state;
    GIVES_NOTINIT(mrapi_rmem_create(1, far, MRAPI_RMEM_DUMMY, NULL, 1, &status));
    GIVES_NOTINIT(mrapi_rmem_get(1, MRAPI_RMEM_DUMMY, &status));
    GIVES_NOTINIT((mrapi_rmem_init_attributes(&record, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_set_attribute(&record, 3, &value, 1, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_get_attribute(1, 3, &value, 1, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_attach(1, MRAPI_RMEM_DUMMY, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_detach(1, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_delete(1, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_read(1, 0, near, 0, 1, 1, 1, 1, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_write(1, 0, near, 0, 1, 1, 1, 1, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_read_i(1, 0, near, 0, 1, 1, 1, 1, &request, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_write_i(1, 0, near, 0, 1, 1, 1, 1, &request, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_flush(1, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_synch(1, &status), 0));
    GIVES_NOTINIT((mrapi_rmem_sync(1, &status), 0));
    GIVES_NOTINIT(mrapi_test(&request, &size, &status));
    GIVES_NOTINIT(mrapi_wait(&request, &size, 0, &status));
    GIVES_NOTINIT(mrapi_wait_any(1, &request, &size, 0, &status));
    GIVES_NOTINIT((mrapi_cancel(&request, &status), 0));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        UP(create_wrong),          UP(numbers_and_overlaps), UP(as_many_as_the_limit),
        UP(access_types),          UP(attributes),           UP(no_status),
        cmocka_unit_test(no_node),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mrapi/rmem", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
