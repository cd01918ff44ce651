/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node of MCAPI, messages and scalars: what they share is paid for once. */
#include "exchange.h"

int
main(void)
{
    begin();
    use_messages();
    use_scalars();
    return end();
}
