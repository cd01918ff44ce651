/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For conformance tests of MRAPI with several nodes: nodes that are threads, and where they are. */
#ifndef MEDLEY_TESTS_SUPPORT_THREADS_H
#define MEDLEY_TESTS_SUPPORT_THREADS_H

#include "base/atomic.h"
#include "medley/mrapi_ext.h"
#include "port/port.h"
#include "support/api.h"
#include "support/unit.h"

/* How far they are, together. */
static atomic32 stage;

static inline void
stage_reach(uint32_t n)
{
    atomic32_store_release(&stage, n);
}

static inline void
stage_await(uint32_t n)
{
    while (atomic32_load_acquire(&stage) != n) {
        med_port_yield();
    }
}

static inline void
start(mrapi_node_t node, void *(*body)(void *))
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = body};
    mrapi_thread_create(DOMAIN, node, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

/* It returned the status that its last call gave. */
static inline void
join(mrapi_node_t node, mrapi_status_t expected)
{
    mrapi_status_t status;
    void *result;
    mrapi_thread_join(DOMAIN, node, &result, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal((uintptr_t)result, expected);
}

#endif
