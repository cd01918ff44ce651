/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stopped instead of killed, with a table of the registry locked: whoever wants to change the table
 * gets a status when his patience ends, and is told whom to continue or to kill. What could not be
 * removed meanwhile goes later, and no mutex stays locked for it.
 */
#include "support/unit.h"

#include <signal.h>

#include "kill/stopped.h"
#include "kill/survivor.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "support/logged.h"
#include "support/node.h"
#include "support/system.h"

#define LEAVER 21
#define LATE 22
#define THREAD 23
#define RWL 24

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void *
ends_at_once(void *argument)
{
    return argument;
}

/* A process that was there before: its nodes can neither come nor quite go. Then it goes on, with
 * the other. */
static int
resident_body(test_process *parent, void *argument)
{
    mrapi_thread_parameters_t parameters = {.start_routine = ends_at_once, .arg = &parameters};
    void *result = NULL;
    mrapi_status_t status;
    child_expect(dup2(fileno(argument), STDERR_FILENO) == STDERR_FILENO);
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    node_up(LEAVER);
    mrapi_thread_create(DOMAIN, THREAD, &parameters, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'u');
    child_expect(process_hear(parent) == 's');
    mrapi_thread_join(DOMAIN, THREAD, &result, &status);
    child_expect(status == MRAPI_ERR_NODE_FINALFAILED && result == &parameters);
    mrapi_thread_create(DOMAIN, LATE, &parameters, &status);
    child_expect(status == MRAPI_ERR_NODE_INITFAILED);
    child_expect(finalize() == MRAPI_ERR_NODE_FINALFAILED);
    child_expect(finalize() == MRAPI_ERR_NODE_NOTINIT);
    child_expect(initialize(LEAVER) == MRAPI_ERR_NODE_INITFAILED);
    process_say(parent, 'v');
    child_expect(process_hear(parent) == 'c');
    node_up(LEAVER); /* both are gone now, and their numbers free */
    mrapi_thread_create(DOMAIN, THREAD, &parameters, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN, THREAD, &result, &status);
    child_expect(status == MRAPI_SUCCESS);
    node_down();
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static void
resident_comes_and_goes_later(void **state)
{
    test_process resident;
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    process_start(&resident, resident_body, file);
    assert_int_equal(process_hear(&resident), 'u');
    one_stops_with(MED_KIND_NODE);
    process_say(&resident, 's');
    assert_int_equal(process_hear(&resident), 'v');
    it_goes_on();
    process_say(&resident, 'c');
    assert_int_equal(process_join(&resident), 0);
    logged_read(file);
    assert_true(log_names_the_stopped("nodes"));
    system_is_whole();
}

/* One that leaves altogether, with a mutex in hand: who waits for that is told at once that its
 * holder is gone, and the number comes free when the table does. */
static int
leaver_body(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    node_up(LEAVER);
    mrapi_mutex_lock(mutex_get(), &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'l');
    child_expect(process_hear(parent) == 's');
    child_expect(finalize() == MRAPI_ERR_NODE_FINALFAILED);
    return 0;
}

static void
who_leaves_is_recovered_later(void **state)
{
    test_process leaver;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    process_start(&leaver, leaver_body, NULL);
    assert_int_equal(process_hear(&leaver), 'l');
    one_stops_with(MED_KIND_NODE);
    process_say(&leaver, 's');
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    assert_int_equal(process_join(&leaver), 0);
    it_goes_on();
    mutex_delete(mutex);
    system_is_whole();
}

/* ---- Death at that time ---------------------------------------------------------------------- */

/* Its mutex comes free; its row, when the table does. */
static void
the_dead_are_recovered_later(void **state)
{
    test_process holder;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    holder_start(&holder);
    one_stops_with(MED_KIND_NODE);
    process_kill(&holder);
    assert_int_equal(lock_once(mutex, MRAPI_TIMEOUT_INFINITE), 'd');
    (void)process_join(&holder);
    it_goes_on();
    mutex_delete(mutex);
    system_is_whole();
}

static mrapi_mutex_hndl_t second;

static void *
second_holder(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(second, &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(argument, 'h');
    (void)process_hear(argument); /* until killed */
    return NULL;
}

/* A mutex for each of its nodes, whose rows come in this order. */
static int
two_hold(test_process *parent, void *argument)
{
    mrapi_thread_parameters_t parameters = {.start_routine = second_holder, .arg = parent};
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    node_up(HOLDER);
    mrapi_mutex_lock(mutex_get(), &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_thread_create(DOMAIN, THREAD, &parameters, &status);
    child_expect(status == MRAPI_SUCCESS);
    for (;;) {
        (void)pause(); /* until killed */
    }
}

static bool
recovers(const test_process *it, const test_process *dead)
{
    const med_system *system = med_self_get()->system;
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        const med_process_row *row = med_system_process(system, i);
        uint32_t word = atomic32_load_acquire(&row->state);
        if (atomic32_load_relaxed(&row->process_id) == (uint32_t)dead->pid &&
            med_process_state_of(word) == MED_PROCESS_RECOVERING) {
            const med_process_row *by = med_system_process(system, med_process_recoverer_of(word));
            return atomic32_load_relaxed(&by->process_id) == (uint32_t)it->pid;
        }
    }
    return false;
}

/* Whoever recovers it is kept by the first node's row; the second's mutex is free by then. */
static void
locks_come_before_rows(void **state)
{
    test_process holder, recoverer;
    mrapi_status_t status;
    (void)state;
    mrapi_mutex_hndl_t first = mutex_make(0);
    second = mrapi_mutex_create(MUTEX + 1, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    process_start(&holder, two_hold, NULL);
    assert_int_equal(process_hear(&holder), 'h');
    sleeper_start(&recoverer, SLEEPER_A);
    one_stops_with(MED_KIND_NODE);
    process_kill(&holder);
    while (!recovers(&recoverer, &holder) || !process_sleeps(recoverer.pid)) {
        med_port_yield();
    }
    assert_int_equal(lock_once(second, 0), 'd');
    it_goes_on();
    assert_int_equal(process_hear(&recoverer), 'd');
    assert_int_equal(process_join(&recoverer), 0);
    assert_int_equal(process_join(&holder), -SIGKILL);
    mutex_delete(first);
    mutex_delete(second);
    system_is_whole();
}

/* ---- Objects --------------------------------------------------------------------------------- */

static int
object_body(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    node_up(LEAVER);
    mrapi_mutex_hndl_t mutex = mutex_get();
    (void)mrapi_mutex_create(MUTEX + 1, NULL, &status);
    child_expect(status == MRAPI_TIMEOUT);
    mrapi_mutex_delete(mutex, &status);
    child_expect(status == MRAPI_TIMEOUT);
    child_expect(lock_once(mutex, 0) == 'o'); /* as it was */
    mrapi_mutex_lock(mutex, &key, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_mutex_delete(mutex, &status);
    child_expect(status == MRAPI_TIMEOUT);
    mrapi_mutex_unlock(mutex, &key, &status); /* still in hand */
    child_expect(status == MRAPI_SUCCESS);
    node_down(); /* that table is free */
    return 0;
}

static void
objects_neither_come_nor_go(void **state)
{
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    one_stops_with(MED_KIND_MUTEX);
    logged_run("error", object_body);
    assert_true(log_names_the_stopped("mutexes"));
    assert_int_equal(lock_once(mutex, 0), 'o');
    process_kill(&stopped); /* instead */
    assert_int_equal(process_join(&stopped), -SIGKILL);
    mutex_delete(mutex);
    system_is_whole();
}

static mrapi_rwl_hndl_t
rwl_get(void)
{
    mrapi_status_t status;
    mrapi_rwl_hndl_t rwl = mrapi_rwl_get(RWL, &status);
    child_expect(status == MRAPI_SUCCESS);
    return rwl;
}

/* Deleted by its writer: in vain, and he has it as before. */
static int
rwl_body(void)
{
    mrapi_status_t status;
    node_up(LEAVER);
    mrapi_rwl_hndl_t rwl = rwl_get();
    mrapi_rwl_lock(rwl, MRAPI_RWL_WRITER, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_rwl_delete(rwl, &status);
    child_expect(status == MRAPI_TIMEOUT);
    mrapi_rwl_unlock(rwl, MRAPI_RWL_WRITER, &status);
    child_expect(status == MRAPI_SUCCESS);
    node_down();
    return 0;
}

static void
a_writer_stays_it(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_rwl_hndl_t rwl = mrapi_rwl_create(RWL, NULL, 2, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    one_stops_with(MED_KIND_RWL);
    logged_run("error", rwl_body);
    it_goes_on();
    mrapi_rwl_delete(rwl, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    system_is_whole();
}

/* ---- All kinds at once ----------------------------------------------------------------------- */

#define NUMBER 7
#define BYTES 64u
#define IMPATIENT_NS 100000000u /* as of each kind after its first five seconds, which others see */

static const med_kind sharing[] = {MED_KIND_SEM, MED_KIND_RWL, MED_KIND_SHMEM,
                                   MED_KIND_RMEM_ATTACHMENT, MED_KIND_RMEM};

/* With all of these tables locked, one in the other. */
static medley_status_t
stops_with_all(void *context)
{
    size_t *held = context;
    med_system *system = med_self_get()->system;
    return *held == sizeof sharing / sizeof sharing[0]
               ? stops(NULL)
               : med_table_hold(&system->tables[sharing[(*held)++]], stops_with_all, held);
}

static int
all_stopped_body(test_process *parent, void *argument)
{
    size_t held = 0;
    (void)argument;
    node_up(STOPPED);
    child_expect(stops_with_all(&held) == MEDLEY_OK);
    process_say(parent, 'c');
    node_down();
    return 0;
}

typedef struct shared_things {
    mrapi_sem_hndl_t sem;
    mrapi_rwl_hndl_t rwl;
    mrapi_shmem_hndl_t shmem;
    mrapi_rmem_hndl_t attached, rmem;
} shared_things;

static unsigned char far[2 * BYTES];

static void
things_make(shared_things *things)
{
    mrapi_status_t status;
    sharing_make(NUMBER);
    things->sem = mrapi_sem_get(NUMBER, &status);
    things->rwl = mrapi_rwl_get(NUMBER, &status);
    things->shmem = mrapi_shmem_create(NUMBER, BYTES, NULL, 0, NULL, 0, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    things->rmem = mrapi_rmem_create(NUMBER, far, MRAPI_RMEM_DUMMY, NULL, BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    things->attached =
        mrapi_rmem_create(NUMBER + 1, far + BYTES, MRAPI_RMEM_SWCACHE, NULL, BYTES, &status);
    mrapi_rmem_attach(things->attached, MRAPI_RMEM_SWCACHE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
nothing_comes(void)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_FALSE};
    (void)mrapi_sem_create(NUMBER + 1, NULL, 1, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    (void)mrapi_rwl_create(NUMBER + 1, NULL, 1, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    (void)mrapi_shmem_create(NUMBER + 1, BYTES, NULL, 0, NULL, 0, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    (void)mrapi_shmem_create_malloc(NUMBER + 1, BYTES, &attributes, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    (void)mrapi_rmem_create(NUMBER + 2, &status, MRAPI_RMEM_DUMMY, NULL, 1, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
}

static void
nothing_goes(const shared_things *things)
{
    mrapi_status_t status;
    mrapi_sem_delete(things->sem, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_rwl_delete(things->rwl, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_shmem_delete(things->shmem, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_rmem_delete(things->rmem, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
}

/* What the caller is attached to stays so, and works. */
static void
nothing_is_attached_or_detached(const shared_things *things)
{
    mrapi_status_t status;
    unsigned char byte = 9;
    assert_null(mrapi_shmem_attach(things->shmem, &status));
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_rmem_attach(things->rmem, MRAPI_RMEM_DUMMY, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_rmem_write(things->attached, 0, &byte, 0, 1, 1, 1, 1, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_detach(things->attached, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_int_equal(far[BYTES], 9);
    byte = 0;
    mrapi_rmem_read(things->attached, 0, &byte, 0, 1, 1, 1, 1, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(byte, 9);
}

static void
things_end(const shared_things *things)
{
    mrapi_status_t status;
    assert_int_equal(sharing_once(UNIT, NUMBER, 0), 'o');
    assert_int_equal(sharing_once(WRITE, NUMBER, 0), 'o');
    sharing_delete(NUMBER);
    assert_non_null(mrapi_shmem_attach(things->shmem, &status));
    mrapi_shmem_detach(things->shmem, &status);
    mrapi_shmem_delete(things->shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_detach(things->attached, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_delete(things->attached, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_delete(things->rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
all_kinds_stay_as_they_are(void **state)
{
    shared_things things;
    (void)state;
    things_make(&things);
    for (size_t i = 0; i < sizeof sharing / sizeof sharing[0]; i++) {
        med_self_get()->system->tables[sharing[i]].patience_ns = IMPATIENT_NS;
    }
    process_start(&stopped, all_stopped_body, NULL);
    assert_true(process_await_stop(stopped.pid));
    nothing_comes();
    nothing_goes(&things);
    nothing_is_attached_or_detached(&things);
    it_goes_on();
    things_end(&things);
    system_is_whole();
}

/* ---- News ------------------------------------------------------------------------------------ */

/* The news of a death is not lost with an attempt at deleting. */
static void
news_of_a_death_stay(void **state)
{
    test_process holder;
    mrapi_status_t status;
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    holder_start(&holder);
    process_kill(&holder);
    one_stops_with(MED_KIND_MUTEX);
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_int_equal(lock_once(mutex, 0), 'd');
    it_goes_on();
    mutex_delete(mutex);
    (void)process_join(&holder);
    system_is_whole();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SURVIVOR(resident_comes_and_goes_later), WITH_SURVIVOR(who_leaves_is_recovered_later),
        WITH_SURVIVOR(the_dead_are_recovered_later),  WITH_SURVIVOR(locks_come_before_rows),
        WITH_SURVIVOR(objects_neither_come_nor_go),   WITH_SURVIVOR(a_writer_stays_it),
        WITH_SURVIVOR(all_kinds_stay_as_they_are),    WITH_SURVIVOR(news_of_a_death_stay),
    };
    test_system_prepare();
    (void)setenv("MEDLEY_LOG", "error", 1);
    (void)alarm(2 * STUCK_AFTER_S);
    return cmocka_run_group_tests_name("stopped table", tests, NULL, NULL);
}
