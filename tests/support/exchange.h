/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For conformance tests of MCAPI: the calling thread as a node with endpoints, and calls that must
 * succeed. */
#ifndef MEDLEY_TESTS_SUPPORT_EXCHANGE_H
#define MEDLEY_TESTS_SUPPORT_EXCHANGE_H

#include "support/api.h"
#include "support/unit.h"
#include <mcapi.h>

/* The call, whose last argument is `status`: it says that, if it may say anything. */
#define SAYS(expected, call)                                                                       \
    do {                                                                                           \
        if (status) {                                                                              \
            *status = MCAPI_SUCCESS;                                                               \
        }                                                                                          \
        (void)(call);                                                                              \
        assert_true(!status || *status == (expected));                                             \
    } while (0)

static inline void
exchange_begin(mcapi_node_t node)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, node, NULL, NULL, &info, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(info.mcapi_version, MCAPI_VERSION);
}

static inline void
exchange_end(void)
{
    mcapi_status_t status;
    mcapi_finalize(&status);
    assert_int_equal(status, MCAPI_SUCCESS);
}

static inline int
exchange_up(void **state)
{
    (void)state;
    exchange_begin(NODE);
    return 0;
}

static inline int
exchange_down(void **state)
{
    (void)state;
    exchange_end();
    return 0;
}

static inline mcapi_endpoint_t
endpoint_make(mcapi_port_t port)
{
    mcapi_status_t status;
    mcapi_endpoint_t endpoint = mcapi_endpoint_create(port, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return endpoint;
}

static inline mcapi_endpoint_t
endpoint_of(mcapi_node_t node, mcapi_port_t port)
{
    mcapi_status_t status;
    mcapi_endpoint_t endpoint =
        mcapi_endpoint_get(DOMAIN, node, port, MCAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    return endpoint;
}

static inline void
endpoint_delete(mcapi_endpoint_t endpoint)
{
    mcapi_status_t status;
    mcapi_endpoint_delete(endpoint, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
}

/* Of a word. */
static inline mcapi_status_t
attribute_set(mcapi_endpoint_t endpoint, mcapi_uint_t attribute, mcapi_uint_t value)
{
    mcapi_status_t status;
    mcapi_endpoint_set_attribute(endpoint, attribute, &value, sizeof value, &status);
    return status;
}

static inline void
timeout_set(mcapi_endpoint_t endpoint, mcapi_timeout_t microseconds)
{
    assert_int_equal(attribute_set(endpoint, MCAPI_ENDP_ATTR_TIMEOUT, microseconds), MCAPI_SUCCESS);
}

static inline mcapi_status_t
send_number(mcapi_endpoint_t from, mcapi_endpoint_t to, unsigned number, mcapi_priority_t priority)
{
    mcapi_status_t status;
    mcapi_msg_send(from, to, &number, sizeof number, priority, &status);
    return status;
}

/* What comes next is that number. */
static inline void
expect_number(mcapi_endpoint_t at, unsigned expected)
{
    mcapi_status_t status;
    unsigned number = ~expected;
    size_t size;
    mcapi_msg_recv(at, &number, sizeof number, &size, &status);
    assert_int_equal(status, MCAPI_SUCCESS);
    assert_int_equal(size, sizeof number);
    assert_int_equal(number, expected);
}

/* A request that ends with that status. */
static inline size_t
expect_end(mcapi_request_t request, mcapi_status_t expected)
{
    mcapi_status_t status;
    size_t size = 0;
    assert_int_equal(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status), MCAPI_TRUE);
    assert_int_equal(status, expected);
    return size;
}

#endif
