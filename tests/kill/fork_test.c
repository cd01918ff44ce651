/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Birth by fork: the child is a stranger to the systems that its parent is in. */
#include "support/unit.h"

#include "base/atomic.h"
#include "kill/survivor.h"
#include "medley/medley.h"
#include "port/port.h"
#include "support/partition_file.h"
#include "support/system.h"

static int
born_by_fork(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    const mrapi_mutex_hndl_t *mutex = argument;
    (void)mrapi_node_id_get(&status);
    child_expect(status == MRAPI_ERR_NODE_NOTINIT);
    mrapi_mutex_unlock(*mutex, &key, &status);
    child_expect(status == MRAPI_ERR_NODE_NOTINIT);
    child_expect(medley_system_close() == MEDLEY_ERR_NOT_FOUND); /* its parent's open */
    node_up(OTHER);
    (void)mrapi_mutex_trylock(*mutex, &key, &status);
    child_expect(status == MRAPI_ERR_MUTEX_LOCKED);
    process_say(parent, 'u');
    char how = process_hear(parent);
    if (how == 'f') {
        node_down();
    } else if (how == 'e') {
        exit(0);
    }
    return 0; /* by _exit */
}

static void
fork_gives_a_stranger(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    for (const char *how = "fe_"; *how; how++) {
        test_process child;
        process_start(&child, born_by_fork, &mutex);
        assert_int_equal(process_hear(&child), 'u');
        process_say(&child, *how);
        assert_int_equal(process_join(&child), 0);
        assert_int_equal(mrapi_node_id_get(&status), SURVIVOR);
        assert_true(partition_exists(test_system_name()));
        system_is_whole();
    }
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mutex_delete(mutex);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

static int
only_listens(test_process *parent, void *argument)
{
    (void)argument;
    process_say(parent, 'l');
    (void)process_hear(parent);
    return 0;
}

static void
fork_inherits_no_life(void **state)
{
    test_process child;
    (void)state;
    node_up(SURVIVOR);
    process_start(&child, only_listens, NULL);
    assert_int_equal(process_hear(&child), 'l');
    node_down();
    assert_false(partition_exists(test_system_name())); /* nobody lives in it, says everybody */
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
}

static atomic32 opener_thread;

static void *
opens(void *argument)
{
    (void)argument;
    atomic32_store_release(&opener_thread, med_port_thread_id());
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    return NULL;
}

static int
opens_too(test_process *parent, void *argument)
{
    (void)argument;
    (void)alarm(STUCK_AFTER_S / 2);
    process_say(parent, 'o');
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static void
fork_while_another_thread_opens(void **state)
{
    test_process keeper;
    test_process child;
    med_port_thread thread;
    uint32_t id;
    (void)state;
    process_start(&keeper, section_keeper, NULL);
    assert_int_equal(process_hear(&keeper), 's');
    assert_int_equal(med_port_thread_start(&thread, NULL, opens, NULL), MEDLEY_OK);
    do {
        id = atomic32_load_acquire(&opener_thread);
    } while (id == 0 || !process_sleeps((pid_t)id));
    process_start(&child, opens_too, NULL);
    assert_int_equal(process_hear(&child), 'o');
    process_say(&keeper, 'g');
    assert_int_equal(process_join(&keeper), 0);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SURVIVOR(fork_gives_a_stranger),
        cmocka_unit_test(fork_inherits_no_life),
        cmocka_unit_test(fork_while_another_thread_opens),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
