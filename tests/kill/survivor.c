/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The processes that are killed, each waiting for the tester's word, and the looks at the system
 * that is left: is it whole, and does the next start work?
 */
#include "kill/survivor.h"

#include "support/unit.h"

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/partition_file.h"
#include "support/system.h"

/* ---- Nodes and mutexes ----------------------------------------------------------------------- */

void
node_up(mrapi_node_t node)
{
    child_expect(initialize(node) == MRAPI_SUCCESS);
}

void
node_down(void)
{
    child_expect(finalize() == MRAPI_SUCCESS);
}

mrapi_mutex_hndl_t
mutex_get(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(MUTEX, &status);
    child_expect(status == MRAPI_SUCCESS);
    return mutex;
}

mrapi_mutex_hndl_t
mutex_make_numbered(mrapi_uint_t number, mrapi_uint_t attribute)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&attributes, &status);
    if (attribute) {
        mrapi_mutex_set_attribute(&attributes, attribute, &yes, sizeof yes, &status);
    }
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(number, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return mutex;
}

mrapi_mutex_hndl_t
mutex_make(mrapi_uint_t attribute)
{
    return mutex_make_numbered(MUTEX, attribute);
}

void
mutex_delete(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

/* Takes the mutex and gives it back: 'd' its holder had died, 'o' he had not, 'n' nobody gets it,
 * 't' not in time. */
char
lock_once(mrapi_mutex_hndl_t mutex, mrapi_timeout_t timeout_us)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(mutex, &key, timeout_us, &status);
    if (status != MRAPI_SUCCESS) {
        return status == MRAPI_ERR_MUTEX_NOTVALID ? 'n' : status == MRAPI_TIMEOUT ? 't' : '?';
    }
    char told = medley_lock_owner_died() ? 'd' : 'o';
    mrapi_mutex_unlock(mutex, &key, &status);
    child_expect(status == MRAPI_SUCCESS);
    return told;
}

static int
holder_body(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    node_up(HOLDER);
    mrapi_mutex_lock(mutex_get(), &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'h');
    (void)process_hear(parent); /* until killed */
    return 1;
}

static int
sleeper_body(test_process *parent, void *argument)
{
    node_up(*(const mrapi_node_t *)argument);
    process_say(parent, 'r');
    process_say(parent, lock_once(mutex_get(), MRAPI_TIMEOUT_INFINITE));
    node_down();
    return 0;
}

void
holder_start(test_process *holder)
{
    process_start(holder, holder_body, NULL);
    assert_int_equal(process_hear(holder), 'h');
}

void
sleeper_begin(test_process *sleeper, mrapi_node_t node)
{
    process_start(sleeper, sleeper_body, &node);
    assert_int_equal(process_hear(sleeper), 'r');
}

void
sleeper_start(test_process *sleeper, mrapi_node_t node)
{
    sleeper_begin(sleeper, node);
    while (!process_sleeps(sleeper->pid)) {
        med_port_yield();
    }
}

/* ---- Semaphores and reader/writer locks ------------------------------------------------------ */

void
sharing_make(mrapi_uint_t number)
{
    mrapi_status_t status;
    (void)mrapi_sem_create(number, NULL, 1, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    (void)mrapi_rwl_create(number, NULL, 1, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

void
sharing_delete(mrapi_uint_t number)
{
    mrapi_status_t status;
    mrapi_sem_delete(mrapi_sem_get(number, &status), &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rwl_delete(mrapi_rwl_get(number, &status), &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static mrapi_rwl_mode_t
mode_of(want what)
{
    return what == READ ? MRAPI_RWL_READER : MRAPI_RWL_WRITER;
}

mrapi_status_t
sharing_take(want what, mrapi_uint_t number, mrapi_timeout_t timeout_us)
{
    mrapi_status_t status;
    if (what == UNIT) {
        mrapi_sem_lock(mrapi_sem_get(number, &status), timeout_us, &status);
    } else {
        mrapi_rwl_hndl_t rwl = mrapi_rwl_get(number, &status);
        mrapi_rwl_lock(rwl, mode_of(what), timeout_us, &status);
    }
    return status;
}

static void
sharing_give(want what, mrapi_uint_t number)
{
    mrapi_status_t status;
    if (what == UNIT) {
        mrapi_sem_unlock(mrapi_sem_get(number, &status), &status);
    } else {
        mrapi_rwl_hndl_t rwl = mrapi_rwl_get(number, &status);
        mrapi_rwl_unlock(rwl, mode_of(what), &status);
    }
    child_expect(status == MRAPI_SUCCESS);
}

char
sharing_once(want what, mrapi_uint_t number, mrapi_timeout_t timeout_us)
{
    mrapi_status_t status = sharing_take(what, number, timeout_us);
    if (status != MRAPI_SUCCESS) {
        return status == MRAPI_ERR_RWL_INVALID ? 'n' : status == MRAPI_TIMEOUT ? 't' : '?';
    }
    char told = medley_lock_owner_died() ? 'd' : 'o';
    sharing_give(what, number);
    return told;
}

/* ---- The system ------------------------------------------------------------------------------ */

void
system_is_whole(void)
{
    check_settle(med_self_get()->system);
    assert_int_equal(check_system(med_self_get()->system), 0);
}

static int
survivor_up_with(const char *on_death)
{
    (void)setenv("MEDLEY_MUTEX_ON_DEATH", on_death, 1);
    node_up(SURVIVOR);
    return 0;
}

int
survivor_up(void **state)
{
    (void)state;
    return survivor_up_with("recover");
}

int
survivor_up_fail(void **state)
{
    (void)state;
    return survivor_up_with("fail");
}

int
survivor_down(void **state)
{
    (void)state;
    node_down();
    return partition_exists(test_system_name()); /* the last one removes it */
}

/* ---- Systems --------------------------------------------------------------------------------- */

void
next_start_works(void)
{
    node_up(SURVIVOR);
    mutex_delete(mutex_make(0));
    system_is_whole();
    node_down();
    assert_false(partition_exists(test_system_name()));
}

/* Stays in the section of the name, where everybody who opens it must pass. */
int
section_keeper(test_process *parent, void *argument)
{
    med_port_shared shared;
    (void)argument;
    child_expect(med_port_shared_open_until(test_system_name(), MED_PORT_FOREVER, &shared) ==
                 MEDLEY_OK);
    process_say(parent, 's');
    (void)process_hear(parent);
    med_port_shared_close(&shared);
    return 0;
}
