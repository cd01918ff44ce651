/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An atomic operation on a word, and no node. */
#include "footprint.h"

static uint32_t word;

int
main(void)
{
    (void)mrapi_atomic_add(&word, sizeof word, 1, &status);
    return (int)status;
}
