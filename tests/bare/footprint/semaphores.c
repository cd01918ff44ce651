/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, and a semaphore. */
#include "footprint.h"

int
main(void)
{
    begin();
    use_semaphore();
    return end();
}
