/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Remote memory by a copy engine that ends late and out of order, and takes few copies at a time:
 * the port's functions are replaced, for this program (-Wl,--wrap).
 */
#include <stdlib.h>
#include <string.h>

#include "medley/medley.h"
#include "mrapi/rmem.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/system.h"
#include "support/unit.h"

#define ROOM 2
#define BYTES 64u
#define NUMBER 3

/* ---- The engine ------------------------------------------------------------------------------ */

static med_port_copy *under_way[ROOM];
static atomic32 all_over; /* another thread has ended them all */

medley_status_t __wrap_med_port_copy_start(med_port_copy *copy);
bool __wrap_med_port_copy_done(med_port_copy *copy);
medley_status_t __wrap_med_port_copy_wait(med_port_copy *copy);
medley_status_t __real_med_port_copy_start(med_port_copy *copy);

static bool refuses_all;
static bool fails; /* what it ends from now on */

/* An engine need not know how to copy within a buffer. */
static bool
within_itself(const med_port_copy *copy)
{
    uintptr_t target = (uintptr_t)copy->target, source = (uintptr_t)copy->source;
    size_t target_bytes = (copy->rows - 1) * copy->target_stride_bytes + copy->row_bytes;
    size_t source_bytes = (copy->rows - 1) * copy->source_stride_bytes + copy->row_bytes;
    return target < source + source_bytes && source < target + target_bytes;
}

medley_status_t
__wrap_med_port_copy_start(med_port_copy *copy)
{
    assert_false(within_itself(copy));
    for (int i = 0; i < ROOM && !refuses_all; i++) {
        if (!under_way[i]) {
            under_way[i] = copy;
            copy->state = 0;
            return MEDLEY_OK;
        }
    }
    return MEDLEY_BUSY;
}

static void
engine_ends(med_port_copy *copy)
{
    for (int i = 0; i < ROOM; i++) {
        if (under_way[i] == copy) {
            under_way[i] = NULL;
            assert_int_equal(__real_med_port_copy_start(copy), MEDLEY_OK);
        }
    }
}

bool
__wrap_med_port_copy_done(med_port_copy *copy)
{
    return copy->state == 1 || atomic32_load_acquire(&all_over);
}

medley_status_t
__wrap_med_port_copy_wait(med_port_copy *copy)
{
    if (!__wrap_med_port_copy_done(copy)) {
        engine_ends(copy);
    }
    return fails ? MEDLEY_ERR_SYSTEM : MEDLEY_OK;
}

/* ---- The tests ------------------------------------------------------------------------------- */

static unsigned char far[BYTES];
static unsigned char near[BYTES];
static mrapi_rmem_hndl_t rmem;

static int
rmem_up(void **state)
{
    mrapi_status_t status;
    (void)node_up(state);
    atomic32_store_relaxed(&all_over, 0);
    for (uint32_t i = 0; i < BYTES; i++) {
        far[i] = (unsigned char)(i + 1);
        near[i] = 0;
    }
    rmem = mrapi_rmem_create(NUMBER, far, MRAPI_RMEM_DMA, NULL, BYTES, &status);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DMA, &status);
    return status == MRAPI_SUCCESS ? 0 : -1;
}

static mrapi_request_t
read_started(mrapi_uint32_t at)
{
    mrapi_status_t status;
    mrapi_request_t request;
    mrapi_rmem_read_i(rmem, at, near, at, 4, 2, 8, 8, &request, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return request;
}

static void
late_and_out_of_order(void **state)
{
    mrapi_status_t status;
    size_t size;
    (void)state;
    mrapi_request_t requests[ROOM] = {read_started(0), read_started(16)};
    assert_int_equal(mrapi_test(&requests[0], &size, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_INCOMPLETE);
    assert_int_equal(mrapi_wait(&requests[0], &size, 10, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_int_equal(mrapi_wait_any(ROOM, requests, &size, 10, &status), MRAPI_NONE);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_int_equal(near[0], 0);
    engine_ends(under_way[1]);
    assert_int_equal(mrapi_wait_any(ROOM, requests, &size, MRAPI_TIMEOUT_INFINITE, &status), 1);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(size, 8);
    assert_int_equal(near[16], 17);
    assert_int_equal(near[24], 25);
    assert_int_equal(near[0], 0);
    engine_ends(under_way[0]);
    assert_int_equal(mrapi_test(&requests[0], &size, &status), MRAPI_TRUE);
    assert_int_equal(near[0], 1);
    (void)node_down(state);
}

static void
an_engine_that_takes_no_more(void **state)
{
    mrapi_status_t status;
    mrapi_request_t request;
    (void)state;
    for (int i = 0; i < 3 * TEST_REQUESTS; i++) { /* and no request is lost by it */
        refuses_all = true;
        mrapi_rmem_read_i(rmem, 0, near, 0, 4, 1, 4, 4, &request, &status);
        assert_int_equal(status, MRAPI_ERR_RMEM_BLOCKED);
        mrapi_rmem_write_i(rmem, 0, near, 0, 4, 1, 4, 4, &request, &status);
        assert_int_equal(status, MRAPI_ERR_RMEM_BLOCKED);
    }
    refuses_all = false;
    mrapi_rmem_read(rmem, 0, near, 0, 4, 1, 4, 4, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    (void)node_down(state);
}

/* One that waits for its copy has it when it returns. */
static void
waited_for(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_rmem_read(rmem, 0, near, 0, BYTES, 1, BYTES, BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_memory_equal(near, far, BYTES);
    (void)node_down(state);
}

static void
canceled(void **state)
{
    mrapi_status_t status;
    size_t size;
    (void)state;
    mrapi_request_t request = read_started(0);
    mrapi_cancel(&request, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_null(under_way[0]); /* nothing goes on that touches our bytes */
    assert_int_equal(mrapi_test(&request, &size, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_REQUEST_CANCELED);
    assert_int_equal(mrapi_wait(&request, &size, MRAPI_TIMEOUT_INFINITE, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_REQUEST_CANCELED);
    assert_int_equal(mrapi_wait_any(1, &request, &size, MRAPI_TIMEOUT_INFINITE, &status), 0);
    assert_int_equal(status, MRAPI_ERR_REQUEST_CANCELED);
    mrapi_cancel(&request, &status);
    assert_int_equal(status, MRAPI_ERR_REQUEST_CANCELED);
    (void)node_down(state);
}

/* Over is over; that it failed is told, once. */
static void
an_engine_that_fails(void **state)
{
    mrapi_status_t status;
    size_t size;
    (void)state;
    fails = true;
    for (int way = 0; way < 3; way++) {
        mrapi_request_t request = read_started(0);
        engine_ends(under_way[0]);
        bool over = way == 0   ? mrapi_test(&request, &size, &status)
                    : way == 1 ? mrapi_wait(&request, &size, MRAPI_TIMEOUT_INFINITE, &status)
                               : mrapi_wait_any(1, &request, &size, 0, &status) == 0;
        assert_true(over);
        assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
        assert_int_equal(mrapi_test(&request, &size, &status), MRAPI_FALSE);
        assert_int_equal(status, MRAPI_ERR_REQUEST_INVALID);
    }
    mrapi_rmem_read(rmem, 0, near, 0, 4, 1, 4, 4, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
    fails = false;
    (void)node_down(state);
}

/* From and to the remote memory itself, one byte on, and back, in one piece and by rows; what is
 * beside it is the engine's. */
static void
copied_within_itself(void **state)
{
    mrapi_status_t status;
    mrapi_request_t request;
    size_t size;
    (void)state;
    mrapi_rmem_write(rmem, 1, far, 0, BYTES - 1, 1, BYTES, BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_read_i(rmem, 1, far, 0, BYTES - 1, 1, BYTES, BYTES, &request, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(mrapi_wait(&request, &size, 0, &status), MRAPI_TRUE);
    assert_int_equal(size, BYTES - 1);
    for (uint32_t i = 0; i + 1 < BYTES; i++) {
        assert_int_equal(far[i], i + 1);
    }
    mrapi_rmem_read(rmem, 0, far, 2, 4, 8, 8, 8, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    for (uint32_t i = 0; i + 1 < BYTES; i++) {
        assert_int_equal(far[i], i % 8 < 2 || i % 8 > 5 ? i + 1 : i - 1);
    }
    assert_null(under_way[0]);
    mrapi_rmem_read_i(rmem, 0, far + BYTES / 2, 0, BYTES / 2, 1, BYTES, BYTES, &request, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_non_null(under_way[0]);
    engine_ends(under_way[0]);
    assert_memory_equal(far + BYTES / 2, far, BYTES / 2);
    (void)node_down(state);
}

static med_port_thread ender;

static void *
ends_all(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROOM; i++) {
        if (under_way[i]) {
            med_port_copy *copy = under_way[i];
            under_way[i] = NULL;
            med_port_copy done = *copy;
            (void)__real_med_port_copy_start(&done);
        }
    }
    atomic32_store_release(&all_over, 1);
    return NULL;
}

/* What is under way is brought to its end first, and can be asked about afterwards. */
static void
detached_meanwhile(void **state)
{
    mrapi_status_t status;
    size_t size;
    (void)state;
    mrapi_request_t request = read_started(0);
    assert_int_equal(med_port_thread_start(&ender, NULL, ends_all, NULL), MEDLEY_OK);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(med_port_thread_join(ender, NULL), MEDLEY_OK);
    assert_int_equal(near[0], 1);
    assert_int_equal(mrapi_test(&request, &size, &status), MRAPI_TRUE);
    assert_int_equal(status, MRAPI_SUCCESS);
    (void)node_down(state);
}

/* A node that goes takes no copy with it into memory that may be another's. */
static void
gone_meanwhile(void **state)
{
    (void)state;
    (void)read_started(0);
    assert_int_equal(med_port_thread_start(&ender, NULL, ends_all, NULL), MEDLEY_OK);
    (void)node_down(state);
    assert_int_equal(near[0], 1);
    assert_int_equal(med_port_thread_join(ender, NULL), MEDLEY_OK);
    assert_null(under_way[0]);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(late_and_out_of_order, rmem_up),
        cmocka_unit_test_setup(waited_for, rmem_up),
        cmocka_unit_test_setup(canceled, rmem_up),
        cmocka_unit_test_setup(an_engine_that_fails, rmem_up),
        cmocka_unit_test_setup(copied_within_itself, rmem_up),
        cmocka_unit_test_setup(detached_meanwhile, rmem_up),
        cmocka_unit_test_setup(gone_meanwhile, rmem_up),
        cmocka_unit_test_setup(an_engine_that_takes_no_more, rmem_up),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("rmem by a late engine", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
