/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every function of MRAPI, and every one that Medley adds to it: the linker is told to keep all. */
#include "footprint.h"

int
main(void)
{
    begin();
    return end();
}
