/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Liveness: slots of a shared memory, and real processes that are killed. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

#define SLOT_LAST (MED_PORT_SLOT_MAX - 1)

static char name[MED_PORT_NAME_MAX + 1];
static med_port_shared shared;

static int
set_up(void **state)
{
    (void)state;
    (void)snprintf(name, sizeof name, "slots_test.%d", (int)getpid());
    if (med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) != MEDLEY_OK) {
        return -1;
    }
    med_port_shared_unlock(&shared);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    if (med_port_shared_lock_until(&shared, MED_PORT_FOREVER) != MEDLEY_OK) {
        return -1;
    }
    med_port_shared_remove(&shared);
    med_port_shared_close(&shared);
    return 0;
}

/* In a child: the name anew, since it has none of its parent's claims. */
static void
open_in_child(void)
{
    med_port_shared_forget(&shared);
    child_expect(med_port_shared_open_existing_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    med_port_shared_unlock(&shared);
}

/* Claims the slots of a list that ends with UINT32_MAX, then does what it is told. */
static int
claims(test_process *parent, void *argument)
{
    const uint32_t *slots = argument;
    open_in_child();
    for (int i = 0; slots[i] != UINT32_MAX; i++) {
        child_expect(med_port_slot_claim(&shared, slots[i]) == MEDLEY_OK);
    }
    process_say(parent, 'c');
    for (;;) {
        switch (process_hear(parent)) {
        case 'd':
            med_port_slot_drop(&shared, slots[0]);
            process_say(parent, 'd');
            break;
        case 'x':
            med_port_slot_exits(&shared, slots[0]);
            process_say(parent, 'x');
            break;
        case 'c':
            med_port_shared_close(&shared);
            process_say(parent, 'c');
            break;
        default:
            return 0;
        }
    }
}

static test_process
start_claiming(const uint32_t *slots)
{
    test_process child;
    process_start(&child, claims, (void *)(uintptr_t)slots);
    assert_int_equal(process_hear(&child), 'c');
    return child;
}

static void
claim_is_seen_by_others(void **state)
{
    static const uint32_t slots[] = {5, UINT32_MAX};
    (void)state;
    assert_false(med_port_slot_any_held(&shared));
    test_process child = start_claiming(slots);
    assert_true(med_port_slot_held(&shared, 5));
    assert_false(med_port_slot_held(&shared, 4));
    assert_false(med_port_slot_held(&shared, 6));
    assert_true(med_port_slot_any_held(&shared));
    assert_int_equal(med_port_slot_claim(&shared, 5), MEDLEY_BUSY);
    assert_int_equal(med_port_slot_claim(&shared, 6), MEDLEY_OK);
    process_say(&child, 'd');
    assert_int_equal(process_hear(&child), 'd');
    assert_false(med_port_slot_held(&shared, 5));
    assert_false(med_port_slot_any_held(&shared)); /* 6 is my own */
    assert_int_equal(med_port_slot_claim(&shared, 5), MEDLEY_OK);
    assert_int_equal(process_join(&child), 0);
}

static void
who_exits_lives_and_does_not_stay(void **state)
{
    static const uint32_t slots[] = {5, UINT32_MAX};
    (void)state;
    test_process child = start_claiming(slots);
    assert_true(med_port_slot_any_stays(&shared));
    process_say(&child, 'x');
    assert_int_equal(process_hear(&child), 'x');
    assert_false(med_port_slot_any_stays(&shared));
    assert_true(med_port_slot_any_held(&shared));
    assert_true(med_port_slot_held(&shared, 5));
    assert_int_equal(med_port_slot_process(&shared, 5), child.pid);
    assert_true(med_port_slot_lost(&shared, 5, (uint32_t)child.pid)); /* its witness is there */
    assert_int_equal(med_port_slot_claim(&shared, 5), MEDLEY_BUSY);
    assert_int_equal(process_join(&child), 0);
    assert_false(med_port_slot_any_held(&shared));
}

static void
slots_out_of_range_are_refused(void **state)
{
    static const uint32_t slots[] = {SLOT_LAST, 0, UINT32_MAX};
    (void)state;
    assert_int_equal(med_port_slot_claim(&shared, MED_PORT_SLOT_MAX), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_port_slot_claim(&shared, UINT32_MAX), MEDLEY_ERR_ARGUMENT);
    test_process child = start_claiming(slots);
    assert_true(med_port_slot_held(&shared, SLOT_LAST));
    assert_true(med_port_slot_held(&shared, 0));
    assert_false(med_port_slot_held(&shared, MED_PORT_SLOT_MAX));
    assert_int_equal(process_join(&child), 0);
    assert_false(med_port_slot_any_held(&shared));
}

static void
neighbours_stay(void **state)
{
    static const uint32_t slots[] = {11, 10, 12, UINT32_MAX};
    (void)state;
    test_process child = start_claiming(slots);
    process_say(&child, 'd');
    assert_int_equal(process_hear(&child), 'd');
    assert_true(med_port_slot_held(&shared, 10));
    assert_false(med_port_slot_held(&shared, 11));
    assert_true(med_port_slot_held(&shared, 12));
    assert_int_equal(process_join(&child), 0);
}

static void
killed_process_is_dead_as_a_zombie(void **state)
{
    static const uint32_t slots[] = {3, UINT32_MAX};
    (void)state;
    for (int i = 0; i < 20; i++) {
        test_process child = start_claiming(slots);
        assert_true(med_port_slot_held(&shared, 3));
        process_kill(&child);
        assert_false(med_port_slot_held(&shared, 3));
        assert_false(med_port_slot_any_held(&shared));
        assert_int_equal(process_join(&child), -SIGKILL);
    }
}

static void
stopped_process_is_alive(void **state)
{
    static const uint32_t slots[] = {3, UINT32_MAX};
    int status = 0;
    (void)state;
    test_process child = start_claiming(slots);
    assert_int_equal(kill(child.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(child.pid, &status, WUNTRACED), child.pid);
    assert_true(med_port_slot_held(&shared, 3));
    assert_int_equal(kill(child.pid, SIGCONT), 0);
    assert_int_equal(process_join(&child), 0);
}

static void
close_drops_every_slot(void **state)
{
    static const uint32_t slots[] = {1, 2, 70, UINT32_MAX};
    (void)state;
    test_process child = start_claiming(slots);
    process_say(&child, 'c');
    assert_int_equal(process_hear(&child), 'c');
    assert_false(med_port_slot_any_held(&shared));
    assert_int_equal(process_join(&child), 0);
}

/* Leaves a grandchild behind, which forgets nothing and outlives its parent. */
static int
forks_and_dies(test_process *parent, void *argument)
{
    (void)argument;
    open_in_child();
    child_expect(med_port_slot_claim(&shared, 9) == MEDLEY_OK);
    pid_t grandchild = fork();
    child_expect(grandchild >= 0);
    if (grandchild == 0) {
        process_say(parent, 'g');
        (void)process_hear(parent);
        return 0;
    }
    for (;;) {
        (void)pause();
    }
}

static void
grandchild_holds_nothing(void **state)
{
    test_process child;
    (void)state;
    process_start(&child, forks_and_dies, NULL);
    assert_int_equal(process_hear(&child), 'g');
    assert_true(med_port_slot_held(&shared, 9));
    process_kill(&child);
    assert_false(med_port_slot_held(&shared, 9));
    assert_int_equal(process_join(&child), -SIGKILL);
}

/* ---- A program that closes what is not its own ----------------------------------------------- */

static uint32_t losses;

static void
count_loss(const char *lost_name)
{
    losses += strcmp(lost_name, name) == 0;
}

/* Every slot counts as held, and nothing is done to whichever file has the number now. */
static void
everybody_lives(int other)
{
    assert_true(med_port_slot_held(&shared, 3));
    assert_true(med_port_slot_held(&shared, 4));
    assert_true(med_port_slot_any_held(&shared));
    assert_int_equal(med_port_slot_claim(&shared, 5), MEDLEY_ERR_SYSTEM);
    assert_int_equal(med_port_shared_lock_until(&shared, MED_PORT_FOREVER), MEDLEY_ERR_SYSTEM);
    assert_int_equal(med_port_shared_lock_until(&shared, 0), MEDLEY_ERR_SYSTEM);
    assert_int_equal(losses, 1);
    if (other >= 0) {
        med_port_slot_drop(&shared, 3);
        med_port_shared_close(&shared);
        assert_true(fcntl(other, F_GETFD) >= 0);
    }
}

static void
closed_descriptor_is_no_death(void **state)
{
    static const uint32_t slots[] = {3, UINT32_MAX};
    (void)state;
    test_process child = start_claiming(slots);
    med_port_shared_on_lost(count_loss);
    losses = 0;
    int number = (int)shared.handle;
    assert_int_equal(close(number), 0);
    everybody_lives(-1);
    int other = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(other, number);
    everybody_lives(other);
    assert_int_equal(close(other), 0);
    med_port_shared_on_lost(NULL);
    assert_int_equal(med_port_shared_open_existing_until(name, MED_PORT_FOREVER, &shared),
                     MEDLEY_OK);
    assert_true(med_port_slot_held(&shared, 3));
    assert_false(med_port_slot_held(&shared, 4));
    med_port_shared_unlock(&shared);
    assert_int_equal(process_join(&child), 0);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

#define NOT_POSSIBLE 77

/* In a PID namespace of its own, where nobody outside has a number. */
static int
asks_in_a_container(void)
{
    open_in_child();
    child_expect(getpid() == 1);
    child_expect(med_port_slot_held(&shared, 6));
    child_expect(med_port_slot_process(&shared, 6) == 0);
    return 0;
}

static int
becomes_a_container(test_process *parent, void *argument)
{
    int status;
    (void)parent;
    (void)argument;
    if (unshare(CLONE_NEWPID) != 0) {
        return NOT_POSSIBLE;
    }
    pid_t pid = fork();
    if (pid == 0) {
        _exit(asks_in_a_container());
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void
numbers_are_those_of_who_asks(void **state)
{
    static const uint32_t slots[] = {5, UINT32_MAX};
    (void)state;
    test_process child = start_claiming(slots);
    assert_int_equal(med_port_slot_process(&shared, 5), child.pid);
    assert_int_equal(med_port_slot_process(&shared, 4), 0);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(med_port_slot_claim(&shared, 6), MEDLEY_OK);
    process_start(&child, becomes_a_container, NULL);
    int status = process_join(&child);
    if (status == NOT_POSSIBLE) {
        not_possible_here("no PID namespaces of one's own");
    }
    assert_int_equal(status, 0);
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

/* Opens the file and closes it again, as a program may that does not know better. */
static int
lose_and_wait(test_process *parent, void *argument)
{
    static const char nothing = '\0';
    (void)argument;
    open_in_child();
    child_expect(med_port_slot_claim(&shared, 3) == MEDLEY_OK);
    int fd = open(shared.path, O_RDONLY | O_CLOEXEC);
    child_expect(fd >= 0 && close(fd) == 0);
    process_say(parent, 'l');
    return process_hear(parent) != nothing;
}

static void *
look_while_cancelled(void *argument)
{
    const uint32_t *process_id = argument;
    (void)pthread_cancel(pthread_self());
    bool lost = med_port_slot_lost(&shared, 3, *process_id);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return lost ? argument : NULL;
}

/* Who asks whether another lives may have locks in hand. */
static void
look_is_not_cancelled(void **state)
{
    test_process child;
    pthread_t thread;
    void *result = NULL;
    (void)state;
    process_start(&child, lose_and_wait, NULL);
    assert_int_equal(process_hear(&child), 'l');
    uint32_t process_id = (uint32_t)child.pid;
    assert_int_equal(pthread_create(&thread, NULL, look_while_cancelled, &process_id), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &process_id);
    assert_int_equal(process_join(&child), 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(claim_is_seen_by_others),
        CASE(slots_out_of_range_are_refused),
        CASE(who_exits_lives_and_does_not_stay),
        CASE(neighbours_stay),
        CASE(killed_process_is_dead_as_a_zombie),
        CASE(stopped_process_is_alive),
        CASE(close_drops_every_slot),
        CASE(grandchild_holds_nothing),
        CASE(closed_descriptor_is_no_death),
        CASE(look_is_not_cancelled),
        CASE(numbers_are_those_of_who_asks),
    };
    return cmocka_run_group_tests_name("port/linux/slots", tests, NULL, NULL);
}
