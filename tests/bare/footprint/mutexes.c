/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, and a mutex. */
#include "footprint.h"

int
main(void)
{
    begin();
    use_mutex();
    return end();
}
