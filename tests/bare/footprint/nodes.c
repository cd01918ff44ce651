/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node that comes and goes: what every use of MRAPI pays. */
#include "footprint.h"

int
main(void)
{
    begin();
    return end();
}
