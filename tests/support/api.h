/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For conformance tests of MRAPI: a system, private or named as the test is told, and a node in it;
 * mutexes as they are often wanted. */
#ifndef MEDLEY_TESTS_SUPPORT_API_H
#define MEDLEY_TESTS_SUPPORT_API_H

#include <stdbool.h>
#include <string.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "port/port.h"
#include "support/node.h"
#include "support/system.h"
#include "support/unit.h"

#define NODE 7

static const char *system_name; /* NULL: a private one */

/* With the argument "private" a private system, else a named one. */
static inline bool
system_up(int argc, char **argv)
{
    bool private_system = argc > 1 && strcmp(argv[1], "private") == 0;
    test_system_prepare();
    system_name = private_system ? NULL : test_system_name();
    return medley_system_open(system_name) == MEDLEY_OK;
}

static inline int
node_up(void **state)
{
    mrapi_status_t status;
    mrapi_info_t info;
    (void)state;
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_string_equal(info.mrapi_version, "1.0");
    return 0;
}

static inline int
node_down(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_finalize(&status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return 0;
}

/* The one node leaves, and with it the process, which then comes back. */
static inline void
system_anew(void **state)
{
    (void)node_down(state);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
    assert_int_equal(medley_system_open(system_name), MEDLEY_OK);
    (void)node_up(state);
}

/* Runs `body` on a thread of its own, to its end. */
typedef struct other_thread {
    med_port_thread thread;
    void (*body)(void);
} other_thread;

static inline void *
other_thread_entry(void *argument)
{
    ((other_thread *)argument)->body();
    return NULL;
}

static inline void
on_other_thread(void (*body)(void))
{
    other_thread other = {.body = body};
    assert_int_equal(med_port_thread_start(&other.thread, NULL, other_thread_entry, &other),
                     MEDLEY_OK);
    assert_int_equal(med_port_thread_join(other.thread, NULL), MEDLEY_OK);
}

static inline mrapi_mutex_hndl_t
mutex_with(mrapi_uint_t attribute, mrapi_mutex_id_t number)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_mutex_set_attribute(&attributes, attribute, &yes, sizeof yes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(number, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return mutex;
}

static inline void
delete_mutex(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static inline void
pi_possible_or_refused(void)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    if (med_port_pi_supported()) {
        return;
    }
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(&attributes, MEDLEY_MUTEX_PRIORITY_INHERITANCE, &yes, sizeof yes,
                              &status);
    (void)mrapi_mutex_create(5, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    not_possible_here("no priority-inheritance futexes");
}

/* The call, by a thread that is no node; `status` is its last argument. */
#define GIVES_NOTINIT(call)                                                                        \
    status = MRAPI_SUCCESS;                                                                        \
    (void)(call);                                                                                  \
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT)

#endif
