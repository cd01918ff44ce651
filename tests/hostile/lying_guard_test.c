/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The locked baseline (mcapi/locked.h), whose locks are written over, or whose holder is stopped or
 * killed: who exchanges gets what he asked for or an error, and does not wait for ever; and once
 * the words are as they were, everything goes on. For that of the machine nobody has to put right
 * what was written over.
 */
#include <mcapi.h>
#include <sys/wait.h>

#include "hostile.h"
#include "mcapi/exchange.h"
#include "mcapi/locked.h"
#include "mrapi/system.h"
#include "support/process.h"

#define HOLDER 2
#define WORKER 3
#define WORKERS 2
/* So many times the longest wait would be more than anybody may be stuck. */
#define TRIES (STUCK_AFTER_S / 4)

/* Of the holder, who lives, and is inside or not. */
static struct holder {
    uint32_t ref;
    uint32_t thread_id;
} * holder;

/* ---- Who exchanges --------------------------------------------------------------------------- */

static mcapi_status_t
come(mcapi_node_t node)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, node, NULL, NULL, &info, &status);
    return status;
}

static mcapi_status_t
send_to_itself(mcapi_endpoint_t own)
{
    mcapi_status_t status;
    mcapi_msg_send(own, own, "word", 4, 0, &status);
    return status;
}

/* Once while the words lie, and once when they are right again; says each time how it went. */
static int
exchanges(test_process *parent, void *argument)
{
    const mcapi_node_t *node = argument;
    mcapi_status_t status;
    (void)alarm(STUCK_AFTER_S);
    child_expect(come(*node) == MCAPI_SUCCESS);
    mcapi_endpoint_t own = mcapi_endpoint_create(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    process_say(parent, 'r');
    while (process_hear(parent) == 's') {
        process_say(parent, send_to_itself(own) == MCAPI_SUCCESS ? 'y' : 'n');
    }
    mcapi_finalize(&status);
    return status != MCAPI_SUCCESS;
}

static char
told(const test_process *worker)
{
    process_say(worker, 's');
    return process_hear(worker);
}

/* ---- Who holds ------------------------------------------------------------------------------- */

static void
holder_up(void)
{
    child_expect(come(HOLDER) == MCAPI_SUCCESS);
    *holder = (struct holder){.ref = med_self_get()->ref, .thread_id = med_port_thread_id()};
}

static int
lives(test_process *parent, void *argument)
{
    (void)argument;
    holder_up();
    process_say(parent, 'r');
    (void)process_hear(parent); /* for ever */
    return 0;
}

static int
is_inside(test_process *parent, void *argument)
{
    (void)argument;
    holder_up();
    child_expect(med_locked_enter(med_self_get(), MED_RWL_WRITE) == MEDLEY_OK);
    process_say(parent, 'r');
    (void)process_hear(parent);
    med_locked_leave(med_self_get(), MED_RWL_WRITE);
    process_say(parent, 'l');
    (void)process_hear(parent); /* for ever */
    return 0;
}

static void
worker_up(test_process *worker, mcapi_node_t node)
{
    process_start(worker, exchanges, &node);
    assert_int_equal(process_hear(worker), 'r');
}

static void
worker_down(test_process *worker)
{
    process_say(worker, 'e');
    assert_int_equal(process_join(worker), 0);
}

static void
begin(test_process *other, int (*body)(test_process *, void *), test_process *worker)
{
    worker_up(worker, WORKER);
    process_start(other, body, NULL);
    assert_int_equal(process_hear(other), 'r');
}

static void
end(test_process *other, test_process *worker)
{
    worker_down(worker);
    process_kill(other);
    (void)process_join(other);
}

/* ---- Words that lie -------------------------------------------------------------------------- */

static med_rwl_row *
guard_row(void)
{
    const med_self *self = med_self_get();
    return (med_rwl_row *)(void *)med_table_row(&self->system->rwls,
                                                med_handle_index(self->exchange->guard));
}

static med_lock *
units(void)
{
    return (med_lock *)(void *)(guard_row() + 1);
}

static atomic32 *
os_word(void)
{
    return &med_self_get()->exchange->exchange->head->os_lock;
}

/* `wrong` stands there while the worker sends. */
static void
send_while(atomic32 *word, uint32_t wrong)
{
    test_process other, worker;
    begin(&other, lives, &worker);
    uint32_t right = atomic32_load_relaxed(word);
    atomic32_store_relaxed(word, wrong);
    char how = told(&worker);
    assert_true(how == 'y' || how == 'n');
    atomic32_store_relaxed(word, right);
    assert_int_equal(told(&worker), 'y');
    end(&other, &worker);
}

/* Of nobody; of who lives, but is none of those who exchange, where there is such a one; of the
 * kernel's own, likewise; also with the bits beside a number that say something. Two at once: one
 * sleeps in the kernel for whoever it is, when the other takes the lock away from him. */
static void
machines_lock_lies(void **state)
{
    static const uint32_t noise[] = {0x3ffffff0u, 1, 2, 0xffffffffu, 0x80000000u, 0x40000000u};
    test_process workers[WORKERS];
    (void)state;
    for (mcapi_node_t i = 0; i < WORKERS; i++) {
        worker_up(&workers[i], WORKER + i);
    }
    for (size_t n = 0; n < sizeof noise / sizeof noise[0]; n++) {
        atomic32_store_relaxed(os_word(), noise[n]);
        for (uint32_t i = 0; i < WORKERS; i++) {
            process_say(&workers[i], 's');
        }
        for (uint32_t i = 0; i < WORKERS; i++) {
            assert_int_equal(process_hear(&workers[i]), 'y');
        }
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        worker_down(&workers[i]);
    }
}

static void
machines_lock_names_one_who_lives(void **state)
{
    test_process other, worker;
    (void)state;
    begin(&other, lives, &worker);
    atomic32_store_relaxed(os_word(), holder->thread_id);
    assert_int_equal(told(&worker), 'y');
    assert_int_equal(told(&worker), 'y');
    end(&other, &worker);
}

static void
guards_row_lies(void **state)
{
    static const uint32_t noise[] = {7, 0xffffffffu, MED_LOCK_DEAD, MED_LOCK_DIED,
                                     MED_RWLOCK_COMING};
    med_rwl_row *row = guard_row();
    (void)state;
    atomic32 *const words[] = {&row->lock.writer.word, &row->lock.sleepers.flag,
                               &row->lock.left.word,   &row->limit,
                               &row->object.row.state, &units()[0].word};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++) {
            send_while(words[w], noise[i]);
        }
    }
}

/* As writer, or as reader: of one who lives nobody takes it away. */
static void
guard_names_one_who_lives(void **state)
{
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        test_process other, worker;
        atomic32 *word = reads ? &units()[0].word : &guard_row()->lock.writer.word;
        begin(&other, lives, &worker);
        atomic32_store_relaxed(word, holder->ref);
        assert_int_equal(told(&worker), 'n');
        atomic32_store_relaxed(word, 0);
        assert_int_equal(told(&worker), 'y');
        end(&other, &worker);
    }
}

/* ---- A holder who does not go on ------------------------------------------------------------- */

/* One who is stopped inside is waited for, but not for ever, nor for as long each time. */
static void
holder_is_stopped(void **state)
{
    test_process other, worker;
    (void)state;
    begin(&other, is_inside, &worker);
    (void)kill(other.pid, SIGSTOP);
    assert_true(process_await_stop(other.pid));
    for (int i = 0; i < TRIES; i++) {
        assert_int_equal(told(&worker), 'n');
    }
    (void)kill(other.pid, SIGCONT);
    process_say(&other, 'g');
    assert_int_equal(process_hear(&other), 'l');
    assert_int_equal(told(&worker), 'y');
    end(&other, &worker);
}

static void
holder_is_killed(void **state)
{
    test_process other, worker;
    (void)state;
    begin(&other, is_inside, &worker);
    process_say(&worker, 's');
    while (!process_sleeps(worker.pid)) {
    }
    process_kill(&other);
    assert_int_equal(process_hear(&worker), 'y');
    assert_int_equal(told(&worker), 'y');
    end(&other, &worker);
}

static int
guard_up(void **state)
{
    (void)state;
    return come(1) != MCAPI_SUCCESS;
}

static int
guard_down(void **state)
{
    mcapi_status_t status;
    (void)state;
    mcapi_finalize(&status);
    return status != MCAPI_SUCCESS;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(machines_lock_lies, guard_up, guard_down),
        cmocka_unit_test_setup_teardown(machines_lock_names_one_who_lives, guard_up, guard_down),
        cmocka_unit_test_setup_teardown(guards_row_lies, guard_up, guard_down),
        cmocka_unit_test_setup_teardown(guard_names_one_who_lives, guard_up, guard_down),
        cmocka_unit_test_setup_teardown(holder_is_stopped, guard_up, guard_down),
        cmocka_unit_test_setup_teardown(holder_is_killed, guard_up, guard_down),
    };
    hostile_prepare();
    (void)setenv("MEDLEY_EXCHANGE", "locked", 1);
    holder = process_shared_memory(sizeof *holder);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
