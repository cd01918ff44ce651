/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "exchange.h"

int
main(void)
{
    begin();
    use_messages();
    use_scalars();
    return end();
}
