/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory for what teams share: zeroed, and no line of it in common with anything else. */
#ifndef MEDLEY_OMP_BLOCK_H
#define MEDLEY_OMP_BLOCK_H

#include <stddef.h>

/* NULL: there is none. */
void *med_block_take(size_t size_bytes);
/* May be NULL. */
void med_block_give(void *block);

#endif
