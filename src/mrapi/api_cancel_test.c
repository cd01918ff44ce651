/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * No function is a point at which a thread is cancelled: a node that was cancelled before all that
 * sleeps or takes locks goes through it, and ends at a point of its own; and it has left nothing
 * locked, so that the next does the same. Run in a private system and in a named one.
 */
#include <pthread.h>

#include "base/atomic.h"
#include "support/api.h"
#include "support/process.h"

#define OTHER 8
#define STARTED 9
#define HELD 1 /* the number of what the first node holds */
#define OWN 2
#define WAITED_FOR 3
#define BYTES 256u
#define SOME_US 2000u

#define SUCCEEDS(call)                                                                             \
    (call);                                                                                        \
    child_expect(status == MRAPI_SUCCESS)

/* ---- What a node does ------------------------------------------------------------------------ */

static mrapi_mutex_hndl_t mutex;
static mrapi_sem_hndl_t sem;
static mrapi_rwl_hndl_t rwl;

static void
waits_in_vain(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(mutex, &key, SOME_US, &status);
    child_expect(status == MRAPI_TIMEOUT);
    mrapi_sem_lock(sem, SOME_US, &status);
    child_expect(status == MRAPI_TIMEOUT);
    mrapi_rwl_lock(rwl, MRAPI_RWL_READER, SOME_US, &status);
    child_expect(status == MRAPI_TIMEOUT);
}

static void
has_locks(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t own = SUCCEEDS(mrapi_mutex_create(OWN, NULL, &status));
    SUCCEEDS(mrapi_mutex_lock(own, &key, MRAPI_TIMEOUT_INFINITE, &status));
    SUCCEEDS(mrapi_mutex_unlock(own, &key, &status));
    SUCCEEDS(mrapi_mutex_delete(own, &status));
    mrapi_sem_hndl_t units = SUCCEEDS(mrapi_sem_create(OWN, NULL, 1, &status));
    SUCCEEDS(mrapi_sem_lock(units, MRAPI_TIMEOUT_INFINITE, &status));
    SUCCEEDS(mrapi_sem_unlock(units, &status));
    SUCCEEDS(mrapi_sem_delete(units, &status));
    mrapi_rwl_hndl_t lock = SUCCEEDS(mrapi_rwl_create(OWN, NULL, 4, &status));
    SUCCEEDS(mrapi_rwl_lock(lock, MRAPI_RWL_WRITER, MRAPI_TIMEOUT_INFINITE, &status));
    SUCCEEDS(mrapi_rwl_unlock(lock, MRAPI_RWL_WRITER, &status));
    SUCCEEDS(mrapi_rwl_delete(lock, &status));
}

static void
has_memories(void)
{
    static char far[BYTES];
    char near[BYTES] = "near";
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem = SUCCEEDS(mrapi_shmem_create(OWN, BYTES, NULL, 0, NULL, 0, &status));
    (void)SUCCEEDS(mrapi_shmem_attach(shmem, &status));
    SUCCEEDS(mrapi_shmem_detach(shmem, &status));
    SUCCEEDS(mrapi_shmem_delete(shmem, &status));
    mrapi_rmem_hndl_t rmem =
        SUCCEEDS(mrapi_rmem_create(OWN, far, MRAPI_RMEM_ATYPE_ANY, NULL, BYTES, &status));
    SUCCEEDS(mrapi_rmem_attach(rmem, MRAPI_RMEM_SWCACHE, &status));
    SUCCEEDS(mrapi_rmem_write(rmem, 0, near, 0, BYTES, 1, BYTES, BYTES, &status));
    SUCCEEDS(mrapi_rmem_flush(rmem, &status));
    SUCCEEDS(mrapi_rmem_detach(rmem, &status));
    SUCCEEDS(mrapi_rmem_delete(rmem, &status));
}

static void
hears_and_logs(mrapi_event_t event)
{
    (void)event;
    pthread_testcancel(); /* as any function may that it calls */
}

static void *
ends_at_once(void *argument)
{
    return argument;
}

static void
looks_around(void)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = ends_at_once};
    SUCCEEDS(mrapi_resource_register_callback(MEDLEY_EVENT_NODE_COMES, 1, hears_and_logs, &status));
    SUCCEEDS(mrapi_thread_create(DOMAIN, STARTED, &parameters, &status));
    SUCCEEDS(mrapi_thread_join(DOMAIN, STARTED, NULL, &status));
    mrapi_resource_t *tree = SUCCEEDS(mrapi_resources_get(MRAPI_RSRC_CPU, &status));
    SUCCEEDS(mrapi_resource_tree_free(&tree, &status));
    SUCCEEDS(mrapi_delay(SOME_US, &status));
    SUCCEEDS(mrapi_yield(&status));
}

static void
lives(void)
{
    mrapi_status_t status;
    assert_int_equal(initialize(OTHER), MRAPI_SUCCESS);
    waits_in_vain();
    has_locks();
    has_memories();
    looks_around();
    SUCCEEDS(mrapi_finalize(&status));
}

/* ---- Cancelled before it all ----------------------------------------------------------------- */

static bool lived;

static void *
lives_while_cancelled(void *argument)
{
    (void)pthread_cancel(pthread_self());
    lives();
    lived = true;
    pthread_testcancel();
    return argument;
}

static void *
lives_undisturbed(void *argument)
{
    lives();
    return argument;
}

static void
hold_all(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mutex = SUCCEEDS(mrapi_mutex_create(HELD, NULL, &status));
    SUCCEEDS(mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status));
    sem = SUCCEEDS(mrapi_sem_create(HELD, NULL, 1, &status));
    SUCCEEDS(mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status));
    rwl = SUCCEEDS(mrapi_rwl_create(HELD, NULL, 4, &status));
    SUCCEEDS(mrapi_rwl_lock(rwl, MRAPI_RWL_WRITER, MRAPI_TIMEOUT_INFINITE, &status));
}

static void
cancelled_node_goes_on(void **state)
{
    pthread_t thread;
    void *result;
    (void)state;
    hold_all();
    assert_int_equal(pthread_create(&thread, NULL, lives_while_cancelled, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(lived);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(pthread_create(&thread, NULL, lives_undisturbed, &lived), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &lived);
}

/* ---- Cancelled while it waits ---------------------------------------------------------------- */

static atomic32 waiter_id;
static bool got_it;

static __attribute__((noinline)) void
wait_for_the_mutex(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    assert_int_equal(initialize(OTHER), MRAPI_SUCCESS);
    atomic32_store_release(&waiter_id, med_port_thread_id());
    SUCCEEDS(mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status));
    got_it = true;
}

/* It ends in a frame without variables: a checker of addresses is not told that they go. */
static void *
waits_for_the_mutex(void *argument)
{
    wait_for_the_mutex();
    pthread_testcancel();
    return argument;
}

/* It gets the mutex all the same, and ends as any node that has one does. */
static void
cancelled_waiter_waits_on(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    pthread_t thread;
    void *result;
    uint32_t id;
    (void)state;
    mutex = SUCCEEDS(mrapi_mutex_create(WAITED_FOR, NULL, &status));
    SUCCEEDS(mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status));
    assert_int_equal(pthread_create(&thread, NULL, waits_for_the_mutex, NULL), 0);
    do {
        id = atomic32_load_acquire(&waiter_id);
    } while (id == 0 || !process_sleeps((pid_t)id));
    assert_int_equal(pthread_cancel(thread), 0);
    SUCCEEDS(mrapi_mutex_unlock(mutex, &key, &status));
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(got_it);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    SUCCEEDS(mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status));
    SUCCEEDS(mrapi_mutex_unlock(mutex, &key, &status));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cancelled_node_goes_on, node_up, node_down),
        cmocka_unit_test_setup_teardown(cancelled_waiter_waits_on, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mrapi/api_cancel", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
