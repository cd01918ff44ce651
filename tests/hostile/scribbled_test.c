/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A peer that writes random bytes over a system while others work in it. Everybody gets errors;
 * nobody crashes, nobody waits for ever: each process here dies by its alarm if it does, and the
 * test fails.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "hostile.h"
#include "mrapi/system.h"
#include "support/partition_file.h"
#include "support/process.h"
#include "support/random.h"

#define WORKERS 3
#define ROUNDS 40
#define OPERATIONS 2000
#define NUMBERS 6
#define LOCK_TIMEOUT_US 500

/* ---- Those who work in it -------------------------------------------------------------------- */

typedef struct round_state {
    uint32_t number;
    uint32_t worker;
} round_state;

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
work_once(test_random *random, uint32_t worker)
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
        (void)initialize(worker);
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

static int
works_among_ruins(test_process *parent, void *argument)
{
    mrapi_status_t status;
    const round_state *round = argument;
    test_random random = test_random_of((uint64_t)round->number << 8 | round->worker);
    (void)alarm(STUCK_AFTER_S);
    (void)signal(SIGSEGV, SIG_DFL); /* the test framework's handlers are the tester's */
    (void)signal(SIGBUS, SIG_DFL);
    (void)signal(SIGFPE, SIG_DFL);
    (void)initialize(round->worker);
    process_say(parent, 'u');
    (void)process_hear(parent);
    for (int i = 0; i < OPERATIONS; i++) {
        work_once(&random, round->worker);
    }
    process_say(parent, 'd');
    if (process_hear(parent) == 'f') {
        mrapi_finalize(&status);
    }
    exit(0);
}

/* ---- The one who scribbles ------------------------------------------------------------------- */

/* Four bytes somewhere: noise, a small number, a bit changed, or what stands somewhere else. */
static void
scribble(atomic32 *words, uint32_t count, test_random *random)
{
    uint32_t at = random_below(random, count);
    uint32_t word = atomic32_load_relaxed(&words[at]);
    switch (random_below(random, 4)) {
    case 0:
        word = random_below(random, 0x7fffffffu) << 1 | random_below(random, 2);
        break;
    case 1:
        word = random_below(random, 70);
        break;
    case 2:
        word ^= 1u << random_below(random, 32);
        break;
    default:
        word = atomic32_load_relaxed(&words[random_below(random, count)]);
        break;
    }
    atomic32_store_relaxed(&words[at], word);
}

/* Until all of them have done their work. */
static void
scribble_until_done(test_process workers[WORKERS], uint32_t round)
{
    struct stat st;
    test_random random = test_random_of(~(uint64_t)round);
    int fd = open(partition_path(test_system_name()), O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    uint32_t count = (uint32_t)(st.st_size / 4);
    atomic32 *words = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(words, MAP_FAILED);
    assert_int_equal(close(fd), 0);
    uint32_t first = round % 2 ? 0 : sizeof(med_partition_header) / 4;
    for (uint32_t done = 0; done < WORKERS; done++) {
        while (fcntl(workers[done].in, F_SETFL, O_NONBLOCK), process_hear(&workers[done]) != 'd') {
            int status;
            if (waitpid(workers[done].pid, &status, WNOHANG) != 0) {
                fail_msg("worker %u ended with %#x in round %u", done, (unsigned)status, round);
            }
            for (int i = 0; i < 4; i++) {
                scribble(words + first, count - first, &random);
            }
            med_port_delay_ns(20000);
        }
        (void)fcntl(workers[done].in, F_SETFL, 0);
    }
    (void)munmap(words, (size_t)st.st_size);
}

static void
scribbled_over(void **state)
{
    test_process workers[WORKERS];
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < WORKERS; i++) {
            round_state work = {.number = round, .worker = i};
            process_start(&workers[i], works_among_ruins, &work);
            assert_int_equal(process_hear(&workers[i]), 'u');
        }
        for (uint32_t i = 0; i < WORKERS; i++) {
            process_say(&workers[i], 'w');
        }
        scribble_until_done(workers, round);
        for (uint32_t i = 0; i < WORKERS; i++) {
            process_say(&workers[i], i % 2 ? 'f' : 'e');
            assert_int_equal(process_join(&workers[i]), 0);
        }
        /* Nobody lives in it: whatever is left is no obstacle. */
        assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
        assert_int_equal(medley_system_close(), MEDLEY_OK);
    }
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
