/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tests of heap memory share: making it, and giving it back. */
#ifndef MEDLEY_MRAPI_API_HEAP_TEST_H
#define MEDLEY_MRAPI_API_HEAP_TEST_H

#include <stddef.h>

#include "mrapi/heap.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/unit.h"

#define KEY 0xdeadbabeu
#define MANY 5000
#define WORKER_FIRST 20
#define OLD_AGE 100000u
#define LARGE 2000000u /* nobody keeps such a block */

static inline void *
made(mrapi_shmem_id_t key, mrapi_uint_t size, mrapi_shmem_hndl_t *heap)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes;
    attributes.use_malloc = MCA_TRUE; /* and nothing else, as in the paper */
    mrapi_shmem_hndl_t handle = mrapi_shmem_create_malloc(key, size, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_non_null(attributes.mem_addr);
    assert_int_equal((uintptr_t)attributes.mem_addr % _Alignof(max_align_t), 0);
    if (heap) {
        *heap = handle;
    }
    return attributes.mem_addr;
}

static inline void
delete_heap(mrapi_shmem_hndl_t heap)
{
    mrapi_status_t status;
    mrapi_shmem_delete(heap, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

#endif
