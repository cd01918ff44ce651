/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MRAPI's remote memory and requests, through the public calls: every function with
 * every kind of wrong argument gives the code that the standard names, and moves nothing. Run in a
 * private system and in a named one.
 */
#include <stdlib.h>
#include <string.h>

#include "medley/medley.h"
#include "mrapi/rmem.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/system.h"
#include "support/unit.h"

#define NUMBER 0xdeadbabeu
#define BYTES 1000u

static unsigned char far[BYTES + 64];
static unsigned char near[BYTES];

static void
fill(void)
{
    for (uint32_t i = 0; i < sizeof far; i++) {
        far[i] = (unsigned char)(i * 3);
    }
    memset(near, 0xee, sizeof near);
}

static mrapi_rmem_hndl_t
made(mrapi_rmem_atype_t access)
{
    mrapi_status_t status;
    fill();
    mrapi_rmem_hndl_t rmem = mrapi_rmem_create(NUMBER, far, access, NULL, BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return rmem;
}

static mrapi_rmem_hndl_t
attached(mrapi_rmem_atype_t access)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmem = made(access);
    mrapi_rmem_attach(rmem, access, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return rmem;
}

static void
end(mrapi_rmem_hndl_t rmem)
{
    mrapi_status_t status;
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

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

static mrapi_status_t
attach_status(mrapi_rmem_hndl_t rmem, int access)
{
    mrapi_status_t status;
    mrapi_rmem_attach(rmem, (mrapi_rmem_atype_t)access, &status);
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
    mrapi_rmem_delete(rmem, &status);
    mrapi_rmem_get_attribute(rmem, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

typedef struct shape {
    mrapi_uint32_t rmem_offset, local_offset, bytes, strides, rmem_stride, local_stride;
} shape;

static mrapi_status_t
read_status(mrapi_rmem_hndl_t rmem, shape s)
{
    mrapi_status_t status;
    mrapi_rmem_read(rmem, s.rmem_offset, near, s.local_offset, s.bytes, s.strides, s.rmem_stride,
                    s.local_stride, &status);
    return status;
}

static mrapi_status_t
write_status(mrapi_rmem_hndl_t rmem, shape s)
{
    mrapi_status_t status;
    mrapi_rmem_write(rmem, s.rmem_offset, near, s.local_offset, s.bytes, s.strides, s.rmem_stride,
                     s.local_stride, &status);
    return status;
}

static mrapi_status_t
read_i_status(mrapi_rmem_hndl_t rmem, shape s)
{
    mrapi_status_t status;
    mrapi_request_t request;
    mrapi_rmem_read_i(rmem, s.rmem_offset, near, s.local_offset, s.bytes, s.strides, s.rmem_stride,
                      s.local_stride, &request, &status);
    return status;
}

static mrapi_status_t
write_i_status(mrapi_rmem_hndl_t rmem, shape s)
{
    mrapi_status_t status;
    mrapi_request_t request;
    mrapi_rmem_write_i(rmem, s.rmem_offset, near, s.local_offset, s.bytes, s.strides, s.rmem_stride,
                       s.local_stride, &request, &status);
    return status;
}

static mrapi_status_t (*const ways[])(mrapi_rmem_hndl_t rmem, shape s) = {
    read_status, write_status, read_i_status, write_i_status};

/* Every way gives that code, and nothing moved. */
static void
refused(mrapi_rmem_hndl_t rmem, shape s, mrapi_status_t wanted)
{
    fill();
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        assert_int_equal(ways[way](rmem, s), wanted);
    }
    for (uint32_t i = 0; i < sizeof far; i++) {
        assert_int_equal(far[i], (unsigned char)(i * 3));
    }
    for (uint32_t i = 0; i < sizeof near; i++) {
        assert_int_equal(near[i], 0xee);
    }
}

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
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_ATTACH);
    mrapi_rmem_flush(rmem, &status);
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

static unsigned char
seen(mrapi_rmem_hndl_t rmem, mrapi_uint32_t offset)
{
    assert_int_equal(read_status(rmem, (shape){offset, 0, 1, 1, 1, 1}), MRAPI_SUCCESS);
    return near[0];
}

static void
put(mrapi_rmem_hndl_t rmem, mrapi_uint32_t offset, unsigned char value)
{
    near[0] = value;
    assert_int_equal(write_status(rmem, (shape){offset, 0, 1, 1, 1, 1}), MRAPI_SUCCESS);
}

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
    assert_int_equal(write_status(rmem, one), MRAPI_SUCCESS);
    for (uint32_t i = 0; i < TEST_REQUESTS; i++) {
        assert_int_equal(mrapi_wait(&list[i], &size, 0, &status), MRAPI_TRUE);
    }
    end(rmem);
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

/* ---- Another node of the process ------------------------------------------------------------- */

static mrapi_rmem_hndl_t shared;

static void
other_node_uses_it(void)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, NODE + 1, 0, &info, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
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
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, NODE + 1, 0, &info, &status);
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
    mrapi_info_t info;
    mrapi_request_t request;
    mrapi_initialize(DOMAIN, NODE + 1, 0, &info, &status);
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
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, NODE + 1, 0, &info, &status);
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

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(create_wrong, node_up, node_down),
        cmocka_unit_test_setup_teardown(numbers_and_overlaps, node_up, node_down),
        cmocka_unit_test_setup_teardown(as_many_as_the_limit, node_up, node_down),
        cmocka_unit_test_setup_teardown(access_types, node_up, node_down),
        cmocka_unit_test_setup_teardown(attributes, node_up, node_down),
        cmocka_unit_test_setup_teardown(bounds, node_up, node_down),
        cmocka_unit_test_setup_teardown(not_to_be_used, node_up, node_down),
        cmocka_unit_test_setup_teardown(moved, node_up, node_down),
        cmocka_unit_test_setup_teardown(a_cache_moves_when_told, node_up, node_down),
        cmocka_unit_test_setup_teardown(requests, node_up, node_down),
        cmocka_unit_test_setup_teardown(requests_wrong, node_up, node_down),
        cmocka_unit_test_setup_teardown(request_limit, node_up, node_down),
        cmocka_unit_test(no_node),
        cmocka_unit_test_setup_teardown(between_nodes, node_up, node_down),
        cmocka_unit_test_setup_teardown(a_cache_is_sent_by_who_goes, node_up, node_down),
        cmocka_unit_test_setup_teardown(another_domain_keeps_out, node_up, node_down),
        cmocka_unit_test_setup_teardown(requests_go_with_their_node, node_up, node_down),
        cmocka_unit_test_setup_teardown(gone_with_its_owner, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
