/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node of MCAPI, endpoints, and nothing sent. */
#include "exchange.h"

int
main(void)
{
    begin();
    return end();
}
