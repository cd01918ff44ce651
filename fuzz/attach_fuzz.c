/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attaching to a named system, looking at it from outside, and recovering who died in it. What is
 * found there is what a process left that died with something of each kind: kept or cut short,
 * sound or written over, with a trace or without. A child of the harness holds a slot of the file,
 * so that somebody lives in it and it is not made anew; nobody holds the dead one's.
 *
 * A sound one is joined, and what the dead one held comes free. What is written is never a
 * plausible lie about who holds a table or is at a recovery: that nobody can tell, but by waiting.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "small.h"
#include "view_all.h"

#define DOMAIN 1
#define HOLDER (SMALL_PROCESSES - 1) /* its slot */
#define ROUNDS 8

/* The partition of one who died, and where its parts are. */
typedef struct found {
    char *memory;
    med_layout layout;
} found;

static char name[MED_PORT_NAME_MAX + 1];
static found left_behind[2]; /* without a trace; with one */
static int file;

/* ---- What is found --------------------------------------------------------------------------- */

/* Takes something of each kind. */
static void
things_take(void)
{
    static unsigned char memory[256];
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(mrapi_mutex_create(1, NULL, &status), &key, 0, &status);
    mrapi_sem_lock(mrapi_sem_create(1, NULL, 4, &status), 0, &status);
    mrapi_rwl_lock(mrapi_rwl_create(1, NULL, 4, &status), MRAPI_RWL_WRITER, 0, &status);
    (void)mrapi_rmem_create(1, memory, MRAPI_RMEM_ATYPE_DEFAULT, NULL, sizeof memory, &status);
    (void)mrapi_shmem_attach(mrapi_shmem_create(1, 4096, NULL, 0, NULL, 0, &status), &status);
    if (status != MRAPI_SUCCESS) {
        abort();
    }
}

/* As it stands at a moment, which is as if it died then. */
static void
leave_behind(found *what, const char *trace)
{
    mrapi_status_t status;
    (void)setenv("MEDLEY_TRACE", trace, 1);
    if (medley_system_open(name) != MEDLEY_OK || medley_node_adopt(DOMAIN, 1, NULL) != MEDLEY_OK) {
        abort();
    }
    things_take();
    const med_system *system = med_self_get()->system;
    what->layout = system->layout;
    what->memory = fuzz_memory(system->layout.size_bytes);
    memcpy(what->memory, system->header, system->layout.size_bytes);
    mrapi_finalize(&status);
    (void)medley_system_close();
}

/* Ends with the harness. */
static _Noreturn void
hold(int ready, int end)
{
    char byte = 0;
    med_port_shared shared;
    if (med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) != MEDLEY_OK ||
        med_port_slot_claim(&shared, HOLDER) != MEDLEY_OK) {
        _exit(1);
    }
    med_port_shared_unlock(&shared);
    (void)!write(ready, shared.path, sizeof shared.path);
    (void)!read(end, &byte, 1);
    (void)unlink(shared.path);
    _exit(0);
}

static void
begin(void)
{
    int ready[2];
    int end[2];
    char path[MED_PORT_PATH_BYTES];
    (void)snprintf(name, sizeof name, "attach_fuzz.%d", (int)getpid());
    small_limits_set();
    leave_behind(&left_behind[0], "0");
    leave_behind(&left_behind[1], "64");
    if (pipe(ready) != 0 || pipe(end) != 0) {
        abort();
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(end[1]);
        hold(ready[1], end[0]);
    }
    (void)close(ready[1]);
    (void)close(end[0]);
    if (child < 0 || read(ready[0], path, sizeof path) != (ssize_t)sizeof path ||
        (file = open(path, O_RDWR | O_CLOEXEC)) < 0) {
        abort();
    }
}

/* ---- Writing over it ------------------------------------------------------------------------- */

static void
lives_kept_honest(char *memory, const med_layout *layout)
{
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        med_table *table = (med_table *)(void *)(memory + layout->tables[k]);
        uint32_t holder = med_process_ref_index(med_lock_owner(&table->lock));
        if (layout->tables[k] && holder < SMALL_PROCESSES) {
            atomic32_store_relaxed(&table->lock.word, 0);
        }
    }
    med_process_row *rows = (med_process_row *)(void *)(memory + layout->processes);
    for (uint32_t i = 0; i < SMALL_PROCESSES; i++) {
        uint32_t word = atomic32_load_relaxed(&rows[i].state);
        if (med_process_state_of(word) == MED_PROCESS_RECOVERING) {
            uint32_t generation = med_process_generation_of(word);
            word = med_process_word(MED_PROCESS_DEAD, 0, generation);
            atomic32_store_relaxed(&rows[i].state, word);
        }
    }
}

static void
put_there(const char *memory, size_t size_bytes)
{
    if (ftruncate(file, 0) != 0 || pwrite(file, memory, size_bytes, 0) != (ssize_t)size_bytes) {
        abort();
    }
}

/* ---- Using it -------------------------------------------------------------------------------- */

/* All of it lies in the file: what lies behind is other memory, and may be there. */
static void
check_fits(const med_system *system)
{
    if (system->layout.size_bytes > system->shared.size_bytes) {
        abort();
    }
}

static void
look(uint32_t handle)
{
    med_system seen;
    if (med_system_observe(name, 0, &seen) == MEDLEY_OK) {
        check_fits(&seen);
        view_all(&seen, handle);
        med_system_observe_end(&seen);
    }
}

/* What the dead one held is there to be had. */
static void
check_recovered(const med_system *system)
{
    mrapi_status_t status;
    mrapi_key_t key;
    uint32_t word = atomic32_load_relaxed(&system->processes[0].state);
    mrapi_mutex_lock(mrapi_mutex_get(1, &status), &key, 0, &status);
    if (med_process_state_of(word) == MED_PROCESS_DEAD || status != MRAPI_SUCCESS) {
        abort();
    }
}

static void
use(fuzz_input *input, med_system *system, bool sound)
{
    mrapi_status_t status;
    mrapi_key_t key;
    check_fits(system);
    if (sound) {
        check_recovered(system);
    }
    for (int i = 0; i < ROUNDS && input->left && !sound; i++) {
        fuzz_scribble(input, system->header, system->layout.size_bytes);
        lives_kept_honest((char *)(void *)system->header, &system->layout);
        (void)med_process_recover_all(system);
        mrapi_mutex_lock(mrapi_mutex_get(1, &status), &key, 0, &status);
        (void)mrapi_sem_trylock(mrapi_sem_get(1, &status), &status);
        (void)mrapi_rwl_trylock(mrapi_rwl_get(1, &status), MRAPI_RWL_READER, &status);
    }
}

static void
join_and_leave(fuzz_input *input, bool sound)
{
    mrapi_status_t status;
    medley_status_t joined = medley_system_open(name);
    if (joined != MEDLEY_OK) {
        if (sound) {
            abort();
        }
        return;
    }
    if (medley_node_adopt(DOMAIN, 2, NULL) == MEDLEY_OK) {
        use(input, med_self_get()->system, sound);
        mrapi_finalize(&status);
    } else if (sound) {
        abort();
    }
    (void)medley_system_close();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input input = {.bytes = bytes, .left = size};
    if (!name[0]) {
        begin();
    }
    uint32_t how = fuzz_take(&input, 1);
    const found *what = &left_behind[how & 1];
    bool sound = (how & 6) == 6;
    uint32_t size_bytes = what->layout.size_bytes;
    char *memory = fuzz_memory(size_bytes);
    memcpy(memory, what->memory, size_bytes);
    if (!sound) {
        fuzz_scribble(&input, memory, how & 8 ? sizeof(med_partition_header) : size_bytes);
        fuzz_scribble(&input, memory + what->layout.processes,
                      SMALL_PROCESSES * sizeof(med_process_row));
        lives_kept_honest(memory, &what->layout);
    }
    put_there(memory, sound || how & 0xf0 ? size_bytes : fuzz_take(&input, 2) % size_bytes);
    look(fuzz_word(&input));
    join_and_leave(&input, sound);
    free(memory);
    return 0;
}
