/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every function of MRAPI and MCAPI, and every one that Medley adds: the linker is told to keep
 * them. */
#include "footprint.h"

int
main(void)
{
    begin();
    return end();
}
