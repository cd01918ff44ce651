/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, and a shared memory. */
#include "footprint.h"

int
main(void)
{
    begin();
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(1, 64, NULL, 0, NULL, 0, &status);
    (void)mrapi_shmem_attach(shmem, &status);
    mrapi_shmem_detach(shmem, &status);
    mrapi_shmem_delete(shmem, &status);
    return end();
}
