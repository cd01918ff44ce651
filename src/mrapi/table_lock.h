/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock of a table, for table.c. */
#ifndef MEDLEY_MRAPI_TABLE_LOCK_H
#define MEDLEY_MRAPI_TABLE_LOCK_H

#include "medley/status.h"
#include "mrapi/table.h"

/* MEDLEY_TIMEOUT: the patience ended, and on_stuck was told; MEDLEY_ERR_CORRUPT: somebody scribbled
 * over the lock. On success whatever a dead holder left is repaired. */
medley_status_t med_table_lock(const med_table_view *view);
void med_table_unlock(const med_table_view *view);

#endif
