/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The system of a program that measures MRAPI: bench_system.h. */
#include "bench_system.h"

#include <stdio.h>
#include <unistd.h>

#include "medley/medley.h"

const char *
bench_system_name(void)
{
    static char name[32];
    if (!name[0]) { /* a child of fork uses its parent's */
        (void)snprintf(name, sizeof name, "bench-%ld", (long)getpid());
    }
    return name;
}

bool
bench_system_open(const char *name)
{
    return medley_system_open(name) == MEDLEY_OK &&
           medley_node_adopt(BENCH_DOMAIN, MEDLEY_NODE_ANY, NULL) == MEDLEY_OK;
}

void
bench_system_close(void)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
    (void)medley_system_close();
}
