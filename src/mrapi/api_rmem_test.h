/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of remote memory share: one memory, and what can be done with it in every way. */
#ifndef MEDLEY_MRAPI_API_RMEM_TEST_H
#define MEDLEY_MRAPI_API_RMEM_TEST_H

#include <stdlib.h>
#include <string.h>

#include "medley/medley.h"
#include "support/api.h"
#include "support/system.h"
#include "support/unit.h"

#define NUMBER 0xdeadbabeu
#define BYTES 1000u

static unsigned char far[BYTES + 64];
static unsigned char near[BYTES];

static inline void
fill(void)
{
    for (uint32_t i = 0; i < sizeof far; i++) {
        far[i] = (unsigned char)(i * 3);
    }
    memset(near, 0xee, sizeof near);
}

static inline mrapi_rmem_hndl_t
made(mrapi_rmem_atype_t access)
{
    mrapi_status_t status;
    fill();
    mrapi_rmem_hndl_t rmem = mrapi_rmem_create(NUMBER, far, access, NULL, BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return rmem;
}

static inline mrapi_rmem_hndl_t
attached(mrapi_rmem_atype_t access)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmem = made(access);
    mrapi_rmem_attach(rmem, access, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return rmem;
}

static inline void
end(mrapi_rmem_hndl_t rmem)
{
    mrapi_status_t status;
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static inline mrapi_status_t
attach_status(mrapi_rmem_hndl_t rmem, int access)
{
    mrapi_status_t status;
    mrapi_rmem_attach(rmem, (mrapi_rmem_atype_t)access, &status);
    return status;
}

typedef struct shape {
    mrapi_uint32_t rmem_offset, local_offset, bytes, strides, rmem_stride, local_stride;
} shape;

static inline mrapi_status_t
read_status(mrapi_rmem_hndl_t rmem, shape s)
{
    mrapi_status_t status;
    mrapi_rmem_read(rmem, s.rmem_offset, near, s.local_offset, s.bytes, s.strides, s.rmem_stride,
                    s.local_stride, &status);
    return status;
}

static inline mrapi_status_t
write_status(mrapi_rmem_hndl_t rmem, shape s)
{
    mrapi_status_t status;
    mrapi_rmem_write(rmem, s.rmem_offset, near, s.local_offset, s.bytes, s.strides, s.rmem_stride,
                     s.local_stride, &status);
    return status;
}

static inline mrapi_status_t
read_i_status(mrapi_rmem_hndl_t rmem, shape s)
{
    mrapi_status_t status;
    mrapi_request_t request;
    mrapi_rmem_read_i(rmem, s.rmem_offset, near, s.local_offset, s.bytes, s.strides, s.rmem_stride,
                      s.local_stride, &request, &status);
    return status;
}

static inline mrapi_status_t
write_i_status(mrapi_rmem_hndl_t rmem, shape s)
{
    mrapi_status_t status;
    mrapi_request_t request;
    mrapi_rmem_write_i(rmem, s.rmem_offset, near, s.local_offset, s.bytes, s.strides, s.rmem_stride,
                       s.local_stride, &request, &status);
    return status;
}

/* Every way gives that code, and nothing moved. */
static inline void
refused(mrapi_rmem_hndl_t rmem, shape s, mrapi_status_t wanted)
{
    static mrapi_status_t (*const ways[])(mrapi_rmem_hndl_t rmem, shape s) = {
        read_status, write_status, read_i_status, write_i_status};
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

static inline unsigned char
seen(mrapi_rmem_hndl_t rmem, mrapi_uint32_t offset)
{
    assert_int_equal(read_status(rmem, (shape){offset, 0, 1, 1, 1, 1}), MRAPI_SUCCESS);
    return near[0];
}

static inline void
put(mrapi_rmem_hndl_t rmem, mrapi_uint32_t offset, unsigned char value)
{
    near[0] = value;
    assert_int_equal(write_status(rmem, (shape){offset, 0, 1, 1, 1, 1}), MRAPI_SUCCESS);
}

#define UP(test) cmocka_unit_test_setup_teardown(test, node_up, node_down)

#endif
