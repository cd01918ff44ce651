/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, and a remote memory. */
#include "footprint.h"

static uint32_t word;
static uint32_t local;

int
main(void)
{
    begin();
    mrapi_rmem_hndl_t rmem =
        mrapi_rmem_create(1, &word, MRAPI_RMEM_DUMMY, NULL, sizeof word, &status);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    mrapi_rmem_write(rmem, 0, &local, 0, sizeof local, 1, sizeof local, sizeof local, &status);
    mrapi_rmem_detach(rmem, &status);
    mrapi_rmem_delete(rmem, &status);
    return end();
}
