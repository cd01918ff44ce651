/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, a mutex and a semaphore: what they share is paid for once. */
#include "footprint.h"

int
main(void)
{
    begin();
    use_mutex();
    use_semaphore();
    return end();
}
