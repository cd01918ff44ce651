/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, and a reader/writer lock. */
#include "footprint.h"

int
main(void)
{
    begin();
    mrapi_rwl_hndl_t rwl = mrapi_rwl_create(1, NULL, 2, &status);
    mrapi_rwl_lock(rwl, MRAPI_RWL_READER, MRAPI_TIMEOUT_INFINITE, &status);
    mrapi_rwl_unlock(rwl, MRAPI_RWL_READER, &status);
    mrapi_rwl_delete(rwl, &status);
    return end();
}
