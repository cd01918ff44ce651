/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node of MCAPI, and messages. */
#include "exchange.h"

int
main(void)
{
    begin();
    use_messages();
    return end();
}
