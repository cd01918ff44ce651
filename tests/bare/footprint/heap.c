/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, and memory that the system's heap gives. */
#include "footprint.h"

int
main(void)
{
    mrapi_shmem_attributes_t attributes;
    begin();
    mrapi_shmem_init_attributes(&attributes, &status);
    attributes.use_malloc = MRAPI_TRUE;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create_malloc(1, 64, &attributes, &status);
    mrapi_shmem_delete(shmem, &status);
    return end();
}
