/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Remote memory moves: where it may, in every way and at once or by request; and nothing else. */
#include "mrapi/api_rmem_test.h"

/* ---- Moving ---------------------------------------------------------------------------------- */

static void
bounds_of(mrapi_rmem_atype_t access)
{
    mrapi_rmem_hndl_t rmem = attached(access);
    static const shape beyond[] = {
        {BYTES, 0, 1, 1, 1, 1},
        {0, 0, BYTES + 1, 1, BYTES + 1, BYTES + 1},
        {BYTES - 1, 0, 2, 1, 2, 2},
        {UINT32_MAX, 0, 1, 1, 1, 1},
        {0, 0, 1, 2, BYTES, 1},
        {0, 0, 1, BYTES + 1, 1, 1},
        {0, 0, 4, UINT32_MAX, 1u << 30, 4},
        {8, 0, 8, 1u << 29, 8, 8},
        {0, 0, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        refused(rmem, beyond[i], MRAPI_ERR_RMEM_BUFF_OVERRUN);
    }
    refused(rmem, (shape){0, 0, 12, 1, 11, 12}, MRAPI_ERR_RMEM_STRIDE);
    refused(rmem, (shape){0, 0, 12, 1, 12, 11}, MRAPI_ERR_RMEM_STRIDE);
    refused(rmem, (shape){0, 0, 12, 3, 0, 12}, MRAPI_ERR_RMEM_STRIDE);
    refused(rmem, (shape){0, 0, 0, 1, 1, 1}, MRAPI_ERR_PARAMETER);
    refused(rmem, (shape){0, 0, 1, 0, 1, 1}, MRAPI_ERR_PARAMETER);
    end(rmem);
}

static void
bounds(void **state)
{
    (void)state;
    bounds_of(MRAPI_RMEM_DUMMY);
    bounds_of(MRAPI_RMEM_DMA);
    bounds_of(MRAPI_RMEM_SWCACHE);
}

static void
not_to_be_used(void **state)
{
    mrapi_status_t status;
    const shape one = {0, 0, 1, 1, 1, 1};
    (void)state;
    mrapi_rmem_hndl_t rmem = made(MRAPI_RMEM_DUMMY);
    refused(rmem, one, MRAPI_ERR_RMEM_NOTATTACHED);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_NOTATTACHED);
    mrapi_rmem_flush(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_NOTATTACHED);
    mrapi_rmem_synch(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_NOTATTACHED);
    mrapi_rmem_sync(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_NOTATTACHED);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_ATTACH);
    mrapi_rmem_flush(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    mrapi_rmem_synch(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    mrapi_rmem_sync(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    mrapi_rmem_write(rmem, 0, NULL, 0, 1, 1, 1, 1, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_rmem_write_i(rmem, 0, near, 0, 1, 1, 1, 1, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    end(rmem);
    const mrapi_rmem_hndl_t wrong[] = {
        rmem, 0, MRAPI_RETURN_VALUE_INVALID, rmem + 1, rmem ^ 1u << 28, rmem ^ 0xffffu};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        refused(wrong[i], one, MRAPI_ERR_RMEM_INVALID);
        assert_int_equal(attach_status(wrong[i], MRAPI_RMEM_DUMMY), MRAPI_ERR_RMEM_INVALID);
        mrapi_rmem_detach(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
        mrapi_rmem_delete(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
        mrapi_rmem_flush(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
        mrapi_rmem_synch(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
        mrapi_rmem_sync(wrong[i], &status);
        assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
    }
}

/* Odd sizes and strides, both ways, in each access type; nothing else is touched. */
static void
moved_in(mrapi_rmem_atype_t access)
{
    static const shape shapes[] = {
        {0, 0, 1, 1, 1, 1},    {3, 5, 130, 1, 130, 130}, {0, 0, BYTES, 1, BYTES, BYTES},
        {1, 2, 3, 100, 9, 4},  {63, 1, 2, 13, 64, 3},    {999, 999, 1, 1, 1, 1},
        {10, 0, 1, 500, 1, 2},
    };
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmem = attached(access);
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        static unsigned char wanted[BYTES];
        const shape s = shapes[k];
        fill();
        if (access == MRAPI_RMEM_SWCACHE) {
            mrapi_rmem_synch(rmem, &status);
        }
        memset(wanted, 0xee, sizeof wanted);
        for (uint32_t i = 0; i < s.strides; i++) {
            memcpy(wanted + s.local_offset + i * s.local_stride,
                   far + s.rmem_offset + i * s.rmem_stride, s.bytes);
        }
        assert_int_equal(read_status(rmem, s), MRAPI_SUCCESS);
        assert_memory_equal(near, wanted, BYTES);
        memcpy(wanted, far, BYTES);
        for (uint32_t i = 0; i < BYTES; i++) {
            near[i] = (unsigned char)(i * 7 + 1);
        }
        for (uint32_t i = 0; i < s.strides; i++) {
            memcpy(wanted + s.rmem_offset + i * s.rmem_stride,
                   near + s.local_offset + i * s.local_stride, s.bytes);
        }
        assert_int_equal(write_status(rmem, s), MRAPI_SUCCESS);
        if (access == MRAPI_RMEM_SWCACHE) {
            mrapi_rmem_flush(rmem, &status);
        }
        assert_memory_equal(far, wanted, BYTES);
        assert_int_equal(far[BYTES], (unsigned char)(BYTES * 3));
    }
    end(rmem);
}

static void
moved(void **state)
{
    (void)state;
    moved_in(MRAPI_RMEM_DUMMY);
    moved_in(MRAPI_RMEM_DMA);
    moved_in(MRAPI_RMEM_SWCACHE);
}

/* ---- Caches ---------------------------------------------------------------------------------- */

static void
a_cache_moves_when_told(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_rmem_hndl_t rmem = attached(MRAPI_RMEM_SWCACHE);
    far[100] = 1;
    assert_int_equal(seen(rmem, 100), 1);
    far[100] = 2; /* by somebody else */
    far[101] = 3;
    assert_int_equal(seen(rmem, 100), 1);
    put(rmem, 102, 9);
    assert_int_equal(seen(rmem, 102), 9);
    assert_int_not_equal(far[102], 9);
    mrapi_rmem_synch(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(seen(rmem, 100), 2);
    assert_int_equal(seen(rmem, 102), 9); /* what is written stays */
    far[103] = 77;
    mrapi_rmem_sync(rmem, &status); /* the same by its other name */
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(seen(rmem, 103), 77);
    mrapi_rmem_flush(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(far[102], 9);
    assert_int_equal(far[101], 3);
    assert_int_equal(far[103], 77); /* the neighbours of what was written are others' */
    put(rmem, 999, 42);
    end(rmem); /* flushes */
    assert_int_equal(far[999], 42);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void
requests(void **state)
{
    mrapi_status_t status;
    size_t size = 0;
    mrapi_request_t list[3];
    (void)state;
    mrapi_rmem_hndl_t rmem = attached(MRAPI_RMEM_DMA);
    for (uint32_t i = 0; i < 3; i++) {
        mrapi_rmem_read_i(rmem, 100 * i, near, 10 * i, 5, 2, 7, 5, &list[i], &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    assert_int_equal(mrapi_test(&list[1], &size, &status), MRAPI_TRUE);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(size, 10);
    assert_int_equal(near[10], far[100]);
    assert_int_equal(mrapi_test(&list[1], &size, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_REQUEST_INVALID);
    assert_int_equal(mrapi_wait(&list[1], &size, MRAPI_TIMEOUT_INFINITE, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_REQUEST_INVALID);
    mrapi_cancel(&list[1], &status);
    assert_int_equal(status, MRAPI_ERR_REQUEST_INVALID);
    assert_int_equal(mrapi_wait_any(3, list, &size, MRAPI_TIMEOUT_INFINITE, &status), 0);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(mrapi_wait(&list[2], &size, 0, &status), MRAPI_TRUE);
    assert_int_equal(status, MRAPI_SUCCESS);
    end(rmem);
}

static void
requests_wrong(void **state)
{
    mrapi_status_t status;
    size_t size;
    mrapi_request_t none = 0;
    (void)state;
    assert_int_equal(mrapi_test(&none, &size, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_REQUEST_INVALID);
    assert_int_equal(mrapi_wait_any(1, &none, &size, 0, &status), 0);
    assert_int_equal(status, MRAPI_ERR_REQUEST_INVALID);
    assert_int_equal(mrapi_wait_any(0, &none, &size, 0, &status), MRAPI_NONE);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_test(NULL, &size, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_test(&none, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_wait(NULL, &size, 0, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    (void)mrapi_wait_any(1, NULL, &size, 0, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_cancel(NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_cancel(&none, NULL); /* must not crash */
    (void)mrapi_test(&none, &size, NULL);
    (void)mrapi_wait(&none, &size, 0, NULL);
    (void)mrapi_wait_any(1, &none, &size, 0, NULL);
}

static void
request_limit(void **state)
{
    mrapi_status_t status;
    size_t size;
    mrapi_request_t list[TEST_REQUESTS];
    (void)state;
    mrapi_rmem_hndl_t rmem = attached(MRAPI_RMEM_DUMMY);
    const shape one = {0, 0, 1, 1, 1, 1};
    for (uint32_t i = 0; i < TEST_REQUESTS; i++) {
        mrapi_rmem_write_i(rmem, i, near, 0, 1, 1, 1, 1, &list[i], &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    assert_int_equal(write_i_status(rmem, one), MRAPI_ERR_REQUEST_LIMIT);
    assert_int_equal(read_i_status(rmem, one), MRAPI_ERR_REQUEST_LIMIT);
    assert_int_equal(write_status(rmem, one), MRAPI_SUCCESS);
    for (uint32_t i = 0; i < TEST_REQUESTS; i++) {
        assert_int_equal(mrapi_wait(&list[i], &size, 0, &status), MRAPI_TRUE);
    }
    end(rmem);
}

#define LIVES 20

/* What was asked for before the process's last node left is nothing to one that comes later. */
static void
requests_of_former_lives(void **state)
{
    mrapi_status_t status;
    mrapi_request_t former[LIVES];
    size_t size;
    for (uint32_t life = 0; life < LIVES; life++) {
        mrapi_rmem_hndl_t rmem = attached(MRAPI_RMEM_DMA);
        mrapi_rmem_read_i(rmem, 0, near, 0, 5, 1, 5, 5, &former[life], &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        for (uint32_t i = 0; i < life; i++) {
            assert_int_equal(mrapi_test(&former[i], &size, &status), MRAPI_FALSE);
            assert_int_equal(status, MRAPI_ERR_REQUEST_INVALID);
            mrapi_cancel(&former[i], &status);
            assert_int_equal(status, MRAPI_ERR_REQUEST_INVALID);
        }
        system_anew(state);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        UP(bounds),   UP(not_to_be_used), UP(moved),         UP(a_cache_moves_when_told),
        UP(requests), UP(requests_wrong), UP(request_limit), UP(requests_of_former_lives),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mrapi/rmem moves", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
