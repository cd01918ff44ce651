/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of hostility share: a system of their own, and an alarm that ends who hangs. */
#ifndef MEDLEY_TESTS_HOSTILE_HOSTILE_H
#define MEDLEY_TESTS_HOSTILE_HOSTILE_H

#include <signal.h>
#include <unistd.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "support/node.h"
#include "support/system.h"
#include "support/unit.h"

#define STUCK_AFTER_S 60

static inline void
hostile_prepare(void)
{
    test_system_prepare();
    (void)alarm(2 * STUCK_AFTER_S);
}

/* Setup and teardown: the tester is node 1. */
static inline int
hostile_node_up(void **state)
{
    (void)state;
    return initialize(1) != MRAPI_SUCCESS;
}

static inline int
hostile_node_down(void **state)
{
    (void)state;
    return finalize() != MRAPI_SUCCESS;
}

#endif
