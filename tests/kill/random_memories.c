/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared and remote memories, under a few numbers: who uses one may find it gone at any call. */
#include "kill/random_work.h"

#include "support/unit.h"

#include "support/process.h"

#define SMALL_BYTES 20000u
#define LARGE_BYTES ((1u << 20) + 1) /* takes other ways than a small one */
#define REMOTE_BYTES 3000u

static uint32_t
any_number(test_random *random)
{
    return PASSING_FIRST + random_below(random, PASSING);
}

/* ---- Shared memory --------------------------------------------------------------------------- */

void
make_memory(const worker *me, test_random *random)
{
    mrapi_status_t status;
    mrapi_uint_t size =
        random_below(random, 4) ? 1 + random_below(random, SMALL_BYTES) : LARGE_BYTES;
    (void)me;
    (void)mrapi_shmem_create(any_number(random), size, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_SHM_EXISTS);
}

void
use_memory(const worker *me, test_random *random)
{
    mrapi_status_t status;
    (void)me;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_get(any_number(random), &status);
    unsigned char *bytes = mrapi_shmem_attach(shmem, &status);
    if (status != MRAPI_SUCCESS) {
        child_expect(status == MRAPI_ERR_SHM_INVALID); /* there is none, or no longer */
        return;
    }
    bytes[0]++;
    mrapi_shmem_delete(shmem, &status);
    child_expect(status == MRAPI_ERR_SHM_ATTCH); /* by us at least */
    mrapi_shmem_detach(shmem, &status);
    child_expect(status == MRAPI_SUCCESS);
}

void
delete_memory(const worker *me, test_random *random)
{
    mrapi_status_t status;
    (void)me;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_get(any_number(random), &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_shmem_delete(shmem, &status);
        child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_SHM_ATTCH ||
                     status == MRAPI_ERR_SHM_INVALID);
    }
}

/* ---- Remote memory --------------------------------------------------------------------------- */

/* Of each process its own; announced by its first node. */
static unsigned char remote[PASSING][REMOTE_BYTES];

void
make_remote(const worker *me, test_random *random)
{
    mrapi_status_t status;
    uint32_t number = any_number(random);
    mrapi_rmem_atype_t type = (mrapi_rmem_atype_t)random_below(random, MRAPI_RMEM_ATYPE_ANY + 1);
    (void)me;
    (void)mrapi_rmem_create(number, remote[number - PASSING_FIRST], type, NULL, REMOTE_BYTES,
                            &status);
    child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_RMEM_EXISTS ||
                 status == MRAPI_ERR_RMEM_CONFLICT);
}

/* Its owner may be gone, or be killed at any time. */
static void
went_or_gone(mrapi_status_t status)
{
    child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_RMEM_INVALID);
}

static void
use_attached(mrapi_rmem_hndl_t rmem, mrapi_rmem_atype_t type, test_random *random)
{
    mrapi_status_t status;
    mrapi_request_t request;
    size_t size;
    unsigned char bytes[REMOTE_BYTES] = {1};
    mrapi_uint32_t offset = random_below(random, REMOTE_BYTES / 2);
    mrapi_rmem_write(rmem, offset, bytes, 0, 1, REMOTE_BYTES / 4, 2, 1, &status);
    went_or_gone(status);
    mrapi_rmem_read_i(rmem, offset, bytes, 0, REMOTE_BYTES / 2, 1, REMOTE_BYTES, REMOTE_BYTES,
                      &request, &status);
    went_or_gone(status);
    if (status == MRAPI_SUCCESS) {
        (void)mrapi_wait(&request, &size, MRAPI_TIMEOUT_INFINITE, &status);
        went_or_gone(status);
    }
    if (type == MRAPI_RMEM_SWCACHE) {
        mrapi_rmem_flush(rmem, &status);
        went_or_gone(status);
    }
}

/* Where a process may not reach another's memory, what is attached is one's own only. */
void
use_remote(const worker *me, test_random *random)
{
    mrapi_status_t status;
    mrapi_rmem_atype_t type = (mrapi_rmem_atype_t)random_below(random, MRAPI_RMEM_ATYPE_ANY);
    (void)me;
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(any_number(random), type, &status);
    if (status != MRAPI_SUCCESS) {
        child_expect(status == MRAPI_ERR_RMEM_ID_INVALID || status == MRAPI_ERR_RMEM_ATYPE);
        return;
    }
    mrapi_rmem_attach(rmem, type, &status);
    if (status != MRAPI_SUCCESS) {
        child_expect(status == MRAPI_ERR_RMEM_INVALID || status == MRAPI_ERR_RMEM_CONFLICT ||
                     status == MRAPI_ERR_NOT_SUPPORTED);
        return;
    }
    use_attached(rmem, type, random);
    mrapi_rmem_detach(rmem, &status);
    went_or_gone(status);
}

void
delete_remote(const worker *me, test_random *random)
{
    mrapi_status_t status;
    (void)me;
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(any_number(random), MRAPI_RMEM_DUMMY, &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_rmem_delete(rmem, &status);
        child_expect(status == MRAPI_SUCCESS || status == MRAPI_ERR_RMEM_NOTOWNER ||
                     status == MRAPI_ERR_RMEM_ATTACH || status == MRAPI_ERR_RMEM_INVALID);
    }
}

/* ---- At the end ------------------------------------------------------------------------------ */

void
memories_end(void)
{
    for (uint32_t number = PASSING_FIRST; number < PASSING_FIRST + PASSING; number++) {
        mrapi_status_t status;
        mrapi_shmem_hndl_t shmem = mrapi_shmem_get(number, &status);
        if (status == MRAPI_SUCCESS) {
            mrapi_shmem_delete(shmem, &status);
            child_expect(status == MRAPI_SUCCESS);
        }
        (void)mrapi_rmem_get(number, MRAPI_RMEM_DUMMY, &status);
        child_expect(status == MRAPI_ERR_RMEM_ID_INVALID); /* went with its owner */
    }
}
