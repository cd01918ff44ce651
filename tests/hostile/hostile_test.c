/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Hostility: files under our name that are not ours, partitions cut short, and a peer that writes
 * random bytes over a system while others work in it. Everybody gets errors; nobody crashes, nobody
 * waits for ever. Each process here dies by its alarm if it does, and its test fails.
 *
 * Then the counters: whatever counts lives and acquisitions goes on across its wrap.
 */
#include "support/unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "support/partition_file.h"
#include "support/process.h"
#include "support/random.h"
#include "support/system.h"

#define DOMAIN 1
#define SOMEBODY_ELSE 65534
#define STUCK_AFTER_S 60
#define WORKERS 3
#define ROUNDS 40
#define OPERATIONS 2000
#define NUMBERS 6
#define LOCK_TIMEOUT_US 500

/* ---- Files that are not ours ----------------------------------------------------------------- */

#define PRECIOUS "what somebody keeps in a file of his own"

static void
file_make(const char *path, mode_t mode)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, PRECIOUS, sizeof PRECIOUS), sizeof PRECIOUS);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

static void
file_untouched(const char *path)
{
    char bytes[sizeof PRECIOUS + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, bytes, sizeof bytes), sizeof PRECIOUS);
    assert_memory_equal(bytes, PRECIOUS, sizeof PRECIOUS);
    assert_int_equal(close(fd), 0);
}

static void
refused(void)
{
    mrapi_status_t status;
    mrapi_info_t info;
    med_system system;
    char why[MED_PORT_WHY_BYTES];
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_ERR_ACCESS);
    mrapi_initialize(DOMAIN, 1, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INITFAILED);
    assert_int_equal(med_system_observe(test_system_name(), MED_PORT_FOREVER, &system),
                     MEDLEY_ERR_ACCESS);
    assert_int_equal(med_system_remove(test_system_name(), MED_PORT_FOREVER, why),
                     MEDLEY_ERR_ACCESS);
}

static void
open_to_others(void **state)
{
    static const mode_t modes[] = {0644, 0660, 0606, 0666, 0700, 04600};
    const char *path = partition_path(test_system_name());
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        file_make(path, modes[i]);
        refused();
        file_untouched(path);
        assert_int_equal(unlink(path), 0);
    }
}

static void
under_other_names_too(void **state)
{
    const char *path = partition_path(test_system_name());
    char target[256];
    (void)state;
    (void)snprintf(target, sizeof target, "%s-target", path);
    file_make(target, 0600);
    assert_int_equal(symlink(target, path), 0);
    refused();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(link(target, path), 0);
    refused();
    file_untouched(target);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(target), 0);
}

static void
no_plain_file(void **state)
{
    const char *path = partition_path(test_system_name());
    (void)state;
    assert_int_equal(mkdir(path, 0600), 0);
    refused();
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused();
    assert_int_equal(unlink(path), 0);
}

static int
as_somebody_else(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    child_expect(setuid(SOMEBODY_ELSE) == 0);
    child_expect(medley_system_open(test_system_name()) == MEDLEY_ERR_ACCESS);
    return 0;
}

static void
of_another_user(void **state)
{
    char path[256];
    test_process child;
    (void)state;
    if (geteuid() != 0) {
        not_possible_here("only root can give a file away");
    }
    (void)snprintf(path, sizeof path, "%s", partition_path(test_system_name()));
    file_make(path, 0600);
    assert_int_equal(chown(path, SOMEBODY_ELSE, (gid_t)-1), 0);
    refused();
    file_untouched(path);
    assert_int_equal(unlink(path), 0);

    /* The other way round: root's file, under the name of a user's system. */
    (void)snprintf(path, sizeof path, "%s", partition_path_of(SOMEBODY_ELSE, test_system_name()));
    file_make(path, 0600);
    process_start(&child, as_somebody_else, NULL);
    assert_int_equal(process_join(&child), 0);
    file_untouched(path);
    assert_int_equal(unlink(path), 0);
}

/* ---- Partitions cut short -------------------------------------------------------------------- */

typedef struct cut {
    off_t size_bytes;
    med_partition_header header;
} cut;

/* Lives in a system whose file is too short for what its header says. */
static int
keeps_alive(test_process *parent, void *argument)
{
    const cut *made = argument;
    med_port_shared shared;
    child_expect(med_port_shared_open_until(test_system_name(), MED_PORT_FOREVER, &shared) ==
                 MEDLEY_OK);
    child_expect(ftruncate((int)shared.handle, made->size_bytes) == 0);
    size_t bytes = sizeof made->header;
    bytes = (size_t)made->size_bytes < bytes ? (size_t)made->size_bytes : bytes;
    child_expect(pwrite((int)shared.handle, &made->header, bytes, 0) == (ssize_t)bytes);
    child_expect(med_port_slot_claim(&shared, 0) == MEDLEY_OK);
    med_port_shared_unlock(&shared);
    process_say(parent, 'k');
    (void)process_hear(parent);
    med_port_shared_remove(&shared);
    med_port_shared_close(&shared);
    return 0;
}

static void
cut_short(void **state)
{
    static med_limits limits;
    med_layout layout;
    med_system system;
    char why[MED_PORT_WHY_BYTES];
    test_process keeper;
    (void)state;
    med_limits_from_environment(&limits);
    assert_int_equal(med_layout_compute(&limits, &layout), MEDLEY_OK);
    void *memory;
    assert_int_equal(med_port_memory_map(layout.size_bytes, &memory), MEDLEY_OK);
    med_partition_init(memory, &limits, &layout, MED_ON_DEATH_RECOVER, test_system_name());
    const off_t sizes[] = {1, 4, 127, 128, 4096, (off_t)layout.size_bytes - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        cut made = {.size_bytes = sizes[i]};
        memcpy(&made.header, memory, sizeof made.header);
        process_start(&keeper, keeps_alive, &made);
        assert_int_equal(process_hear(&keeper), 'k');
        assert_int_equal(medley_system_open(test_system_name()), MEDLEY_ERR_CORRUPT);
        assert_int_equal(med_system_observe(test_system_name(), MED_PORT_FOREVER, &system),
                         MEDLEY_ERR_CORRUPT);
        assert_int_equal(med_system_remove(test_system_name(), MED_PORT_FOREVER, why), MEDLEY_BUSY);
        process_say(&keeper, 'g');
        assert_int_equal(process_join(&keeper), 0);
    }
    med_port_memory_unmap(memory, layout.size_bytes);
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

/* ---- Scribbled over -------------------------------------------------------------------------- */

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

static void
work_with_memory(test_random *random)
{
    mrapi_status_t status;
    mrapi_uint_t size;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_get(random_below(random, NUMBERS), &status);
    switch (random_below(random, 6)) {
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
    mrapi_info_t info;
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
        mrapi_finalize(&status);
        mrapi_initialize(DOMAIN, worker, 0, &info, &status);
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
    mrapi_info_t info;
    const round_state *round = argument;
    test_random random = test_random_of((uint64_t)round->number << 8 | round->worker);
    (void)alarm(STUCK_AFTER_S);
    (void)signal(SIGSEGV, SIG_DFL); /* the test framework's handlers are the tester's */
    (void)signal(SIGBUS, SIG_DFL);
    (void)signal(SIGFPE, SIG_DFL);
    mrapi_initialize(DOMAIN, round->worker, 0, &info, &status);
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

/* ---- Counters across their wrap -------------------------------------------------------------- */

static int
node_up(void **state)
{
    mrapi_status_t status;
    mrapi_info_t info;
    (void)state;
    mrapi_initialize(DOMAIN, 1, 0, &info, &status);
    return status != MRAPI_SUCCESS;
}

static int
node_down(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_finalize(&status);
    return status != MRAPI_SUCCESS;
}

static void
locks_of_nobody(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
    med_mutex_row *row = (med_mutex_row *)(void *)med_table_row(&med_self_get()->system->mutexes,
                                                                med_handle_index(mutex));
    const uint32_t nobodies[] = {med_node_ref(0, 9), med_node_ref(3, 0), med_node_ref(3, 77),
                                 med_node_ref(16000, 1)};
    for (size_t i = 0; i < 2 * (sizeof nobodies / sizeof nobodies[0]); i++) {
        atomic32_store_relaxed(&row->lock.word, nobodies[i / 2]);
        mrapi_timeout_t timeout = i % 2 ? MRAPI_TIMEOUT_INFINITE : MRAPI_TIMEOUT_IMMEDIATE;
        mrapi_mutex_lock(mutex, &key, timeout, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(medley_lock_owner_died(), 1);
        mrapi_mutex_unlock(mutex, &key, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    mrapi_mutex_delete(mutex, &status);
}

/* All rows of a table begin their last lives but a few. */
static void
lives_nearly_over(const med_table_view *view)
{
    atomic32_store_relaxed(&view->table->fresh, view->row_count);
    for (uint32_t i = 0; i < view->row_count; i++) {
        med_row *row = med_table_row(view, i);
        if (med_row_state_of(atomic32_load_relaxed(&row->state)) == MED_ROW_FREE) {
            atomic32_store_relaxed(&row->state, med_row_word(MED_ROW_FREE, 0xfffeu));
        }
    }
    uint32_t nobody = med_process_ref(view->row_count, 0);
    atomic32_store_relaxed(&view->table->lock.word, nobody);
    (void)med_lock_recover(&view->table->lock, &view->table->sleepers, nobody, true, view->scope);
}

static void
row_generations_wrap(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    const med_table_view *mutexes = &med_self_get()->system->mutexes;
    lives_nearly_over(mutexes);
    for (uint32_t i = 0; i < 4 * mutexes->row_count; i++) {
        mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(mrapi_mutex_get(7, &status), mutex);
        mrapi_mutex_lock(mutex, &key, 0, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_mutex_unlock(mutex, &key, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_mutex_delete(mutex, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_mutex_lock(mutex, &key, 0, &status);
        assert_int_equal(status, MRAPI_ERR_MUTEX_INVALID);
    }
}

static void *
holds_and_ends(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(*(const mrapi_mutex_hndl_t *)argument, &key, 0, &status);
    return (void *)(uintptr_t)status;
}

static void
node_generations_wrap(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    const med_table_view *nodes = &med_self_get()->system->nodes;
    lives_nearly_over(nodes);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
    mrapi_thread_parameters_t parameters = {.start_routine = holds_and_ends, .arg = &mutex};
    for (uint32_t i = 0; i < 4 * nodes->row_count; i++) {
        void *result;
        mrapi_thread_create(DOMAIN, 9, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_thread_join(DOMAIN, 9, &result, &status);
        assert_int_equal((uintptr_t)result, MRAPI_SUCCESS);
        mrapi_mutex_lock(mutex, &key, 0, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(medley_lock_owner_died(), 1);
        mrapi_mutex_unlock(mutex, &key, &status);
    }
    mrapi_mutex_delete(mutex, &status);
}

static void
tickets_wrap(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_key_t former = 0;
    (void)state;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
    med_mutex_row *row = (med_mutex_row *)(void *)med_table_row(&med_self_get()->system->mutexes,
                                                                med_handle_index(mutex));
    static const uint32_t before[] = {0x00fffffdu, 0xfffffffdu};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        atomic32_store_relaxed(&row->ticket, before[i]);
        for (int n = 0; n < 6; n++) {
            mrapi_mutex_lock(mutex, &key, 0, &status);
            assert_int_equal(status, MRAPI_SUCCESS);
            assert_int_not_equal(key, former);
            mrapi_mutex_unlock(mutex, &former, &status);
            assert_int_equal(status, MRAPI_ERR_MUTEX_KEY);
            mrapi_mutex_unlock(mutex, &key, &status);
            assert_int_equal(status, MRAPI_SUCCESS);
            former = key;
        }
    }
    mrapi_mutex_delete(mutex, &status);
}

static int
comes_and_goes(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)parent;
    child_expect(node_up(NULL) != 0); /* the number is taken */
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, 2, 0, &info, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_mutex_lock(*(const mrapi_mutex_hndl_t *)argument, &key, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    return 0; /* without a word */
}

static void
process_generations_wrap(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    med_system *system = med_self_get()->system;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(7, NULL, &status);
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        atomic32 *word = &med_system_process(system, i)->state;
        if (med_process_state_of(atomic32_load_relaxed(word)) == MED_PROCESS_FREE) {
            atomic32_store_relaxed(word, med_process_word(MED_PROCESS_FREE, 0, 0xfffeu));
        }
    }
    for (int i = 0; i < 4; i++) {
        test_process child;
        process_start(&child, comes_and_goes, &mutex);
        assert_int_equal(process_join(&child), 0);
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(medley_lock_owner_died(), 1);
        mrapi_mutex_unlock(mutex, &key, &status);
    }
    mrapi_mutex_delete(mutex, &status);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_to_others),
        cmocka_unit_test(under_other_names_too),
        cmocka_unit_test(no_plain_file),
        cmocka_unit_test(of_another_user),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(scribbled_over),
        cmocka_unit_test_setup_teardown(locks_of_nobody, node_up, node_down),
        cmocka_unit_test_setup_teardown(row_generations_wrap, node_up, node_down),
        cmocka_unit_test_setup_teardown(node_generations_wrap, node_up, node_down),
        cmocka_unit_test_setup_teardown(tickets_wrap, node_up, node_down),
        cmocka_unit_test_setup_teardown(process_generations_wrap, node_up, node_down),
    };
    test_system_prepare();
    (void)test_seed();
    (void)alarm(2 * STUCK_AFTER_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
