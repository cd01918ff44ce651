/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All of base, mrapi and mcapi, whether or not a program could use it: the linker drops nothing. */
#include "footprint.h"

int
main(void)
{
    begin();
    return end();
}
