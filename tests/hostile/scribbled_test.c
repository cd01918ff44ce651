/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Over the whole partition, while others use objects of all kinds in it. See scribble.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "mrapi/system.h"
#include "scribble.h"
#include "support/partition_file.h"

#define NUMBERS 6
#define LOCK_TIMEOUT_US 500

/* ---- Those who work in it -------------------------------------------------------------------- */

static mrapi_node_t own_number;

static void
come(uint32_t worker)
{
    own_number = worker;
    (void)initialize(own_number);
}

/* Reads only: what is written through a row that lies about its owner's addresses hits the owner,
 * and that is not promised against. */
static void
rmem_once(test_random *random)
{
    static unsigned char memory[256];
    mrapi_status_t status;
    mrapi_request_t request;
    size_t size;
    unsigned char bytes[64];
    mrapi_rmem_atype_t access = (mrapi_rmem_atype_t)random_below(random, 4);
    mrapi_rmem_hndl_t rmem =
        mrapi_rmem_create(random_below(random, NUMBERS), memory, access, NULL, 256, &status);
    if (status != MRAPI_SUCCESS) {
        rmem = mrapi_rmem_get(random_below(random, NUMBERS), access, &status);
    }
    if (random_below(random, 8) == 0) {
        rmem = (rmem & 0xf000ffffu) | random_below(random, 0x1000u) << 16; /* made up */
    }
    access = access == MRAPI_RMEM_ATYPE_ANY ? MRAPI_RMEM_DUMMY : access;
    mrapi_rmem_attach(rmem, access, &status);
    mrapi_rmem_read(rmem, random_below(random, 256), bytes, 0, 8, 8, 8, 8, &status);
    mrapi_rmem_read_i(rmem, 0, bytes, 0, 64, 1, 64, 64, &request, &status);
    if (status == MRAPI_SUCCESS) {
        (void)mrapi_wait(&request, &size, LOCK_TIMEOUT_US, &status);
    }
    mrapi_rmem_synch(rmem, &status);
    if (random_below(random, 2)) {
        mrapi_rmem_detach(rmem, &status);
        mrapi_rmem_delete(rmem, &status);
    }
}

/* What is attached stays where it is until it is detached, whatever the rows say. */
static volatile unsigned char *held;
static mrapi_shmem_hndl_t held_by;

static void
hold_memory(void)
{
    mrapi_status_t status;
    if (held) {
        held[0]++;
        held = NULL;
        mrapi_shmem_detach(held_by, &status);
        mrapi_shmem_delete(held_by, &status);
        return;
    }
    held_by = mrapi_shmem_create(MRAPI_SHMEM_ID_ANY, 4096, NULL, 0, NULL, 0, &status);
    if (status == MRAPI_SUCCESS) {
        held = mrapi_shmem_attach(held_by, &status);
    }
}

static void
work_with_memory(test_random *random)
{
    mrapi_status_t status;
    mrapi_uint_t size;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_get(random_below(random, NUMBERS), &status);
    if (held && (shmem & 0xffffu) == (held_by & 0xffffu)) {
        return; /* a row that lies about its number: the program itself would let go of it */
    }
    switch (random_below(random, 8)) {
    case 0:
        size = random_below(random, 4) ? 4096 : (1u << 20) + 1;
        (void)mrapi_shmem_create(random_below(random, NUMBERS), size, NULL, 0, NULL, 0, &status);
        break;
    case 1:
        mrapi_shmem_delete(shmem, &status);
        break;
    case 2:
        shmem = (shmem & 0xffffu) | random_below(random, 0x8000u) << 16 | 0x80000000u;
        mrapi_shmem_detach(shmem, &status); /* a handle made up */
        mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
        break;
    case 3:
        mrapi_shmem_detach(shmem, &status);
        break;
    case 4:
    case 5:
        hold_memory();
        break;
    default:
        (void)mrapi_shmem_attach(shmem, &status);
        break;
    }
}

static void
work_with_semaphores(test_random *random)
{
    mrapi_status_t status;
    mrapi_sem_hndl_t sem = mrapi_sem_get(random_below(random, NUMBERS), &status);
    switch (random_below(random, 5)) {
    case 0:
        (void)mrapi_sem_create(random_below(random, NUMBERS), NULL, 1 + random_below(random, 4),
                               &status);
        break;
    case 1:
        mrapi_sem_delete(sem, &status);
        break;
    case 2:
        mrapi_sem_unlock(sem, &status);
        break;
    default:
        mrapi_sem_lock(sem, LOCK_TIMEOUT_US, &status);
        break;
    }
}

static void
work_with_rwlocks(test_random *random)
{
    mrapi_status_t status;
    mrapi_rwl_hndl_t rwl = mrapi_rwl_get(random_below(random, NUMBERS), &status);
    mrapi_rwl_mode_t mode = random_below(random, 3) ? MRAPI_RWL_READER : MRAPI_RWL_WRITER;
    switch (random_below(random, 5)) {
    case 0:
        (void)mrapi_rwl_create(random_below(random, NUMBERS), NULL, 1 + random_below(random, 4),
                               &status);
        break;
    case 1:
        mrapi_rwl_delete(rwl, &status);
        break;
    case 2:
        mrapi_rwl_unlock(rwl, mode, &status);
        break;
    default:
        mrapi_rwl_lock(rwl, mode, LOCK_TIMEOUT_US, &status);
        break;
    }
}

/* Whatever comes back is right, if only something comes back. */
static void
work_once(test_random *random)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(random_below(random, NUMBERS), &status);
    if (random_below(random, 8) == 0) {
        work_with_memory(random);
        return;
    }
    if (random_below(random, 8) == 0) {
        work_with_semaphores(random);
        work_with_rwlocks(random);
        return;
    }
    switch (random_below(random, 9)) {
    case 0:
        held = NULL;
        mrapi_finalize(&status);
        come(own_number);
        break;
    case 1:
        (void)mrapi_mutex_create(random_below(random, NUMBERS), NULL, &status);
        break;
    case 2:
        (void)mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
        break;
    case 3:
        mrapi_mutex_delete(mutex, &status);
        break;
    case 4:
        if (mrapi_mutex_trylock(mutex, &key, &status)) {
            mrapi_mutex_unlock(mutex, &key, &status);
        }
        break;
    case 5:
        rmem_once(random);
        break;
    case 6:
        mutex = (mutex & 0xffffu) | random_below(random, 0x8000u) << 16; /* a handle made up */
        mrapi_mutex_lock(mutex, &key, LOCK_TIMEOUT_US, &status);
        break;
    default:
        mrapi_mutex_lock(mutex, &key, LOCK_TIMEOUT_US, &status);
        if (status == MRAPI_SUCCESS) {
            mrapi_mutex_unlock(mutex, &key, &status);
        }
        break;
    }
}

static void
leave(void)
{
    (void)finalize();
}

/* ---- The one who scribbles ------------------------------------------------------------------- */

static struct {
    void *memory;
    size_t bytes;
    size_t spared; /* at the start */
} partition;

/* Every second round spares the header. */
static void
begin(uint32_t round)
{
    struct stat st;
    int fd = open(partition_path(test_system_name()), O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    partition.bytes = (size_t)st.st_size;
    partition.spared = round % 2 ? 0 : sizeof(med_partition_header);
    partition.memory = mmap(NULL, partition.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(partition.memory, MAP_FAILED);
    assert_int_equal(close(fd), 0);
}

static void
scribble(test_random *random)
{
    atomic32 *words = (atomic32 *)(void *)((char *)partition.memory + partition.spared);
    for (int i = 0; i < 4; i++) {
        scribble_word(words, (uint32_t)((partition.bytes - partition.spared) / 4), random);
    }
}

static void
end(void)
{
    (void)munmap(partition.memory, partition.bytes);
}

static void
scribbled_over(void **state)
{
    static const scribble_test test = {.rounds = 40,
                                       .operations = 2000,
                                       .come = come,
                                       .work = work_once,
                                       .leave = leave,
                                       .begin = begin,
                                       .scribble = scribble,
                                       .end = end};
    (void)state;
    scribble_run(&test);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scribbled_over),
    };
    hostile_prepare();
    (void)test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
