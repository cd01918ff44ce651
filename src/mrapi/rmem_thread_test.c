/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Remote memory of a process whose threads end, its first one too: it is there while any lives. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "medley/medley.h"
#include "port/port.h"
#include "support/emulated.h"
#include "support/node.h"
#include "support/process.h"
#include "support/system.h"
#include "support/unit.h"

#define OWNER 1
#define USER 2
#define NUMBER 5
#define BYTES 1000u

static unsigned char far[BYTES];
static unsigned char near[BYTES];

/* ---- The owner: three threads, the last of which has the memory ------------------------------ */

typedef struct short_lived {
    pid_t number;
    sem_t may_end;
} short_lived;

static short_lived first, second;
static test_process *user_of_it;

static void
begins(short_lived *one)
{
    one->number = gettid();
    child_expect(sem_init(&one->may_end, 0, 0) == 0);
}

static void
waits_to_end(short_lived *one)
{
    while (sem_wait(&one->may_end) != 0) {
    }
}

/* Until its number names no memory any more. Nobody joins it: ThreadSanitizer lets nobody join the
 * first. */
static void
ended(short_lived *one)
{
    char byte;
    const struct iovec local = {.iov_base = &byte, .iov_len = 1};
    const struct iovec remote = {.iov_base = NULL, .iov_len = 1};
    child_expect(sem_post(&one->may_end) == 0);
    while (process_vm_readv(one->number, &local, 1, &remote, 1, 0) < 0 && errno == EFAULT) {
        med_port_yield();
    }
    child_expect(errno == ESRCH);
}

/* Does what it is told: '1' and '2' end those threads, 'c' says what its first byte is. */
static void *
third_runs(void *argument)
{
    mrapi_status_t status;
    child_expect(initialize(OWNER) == MRAPI_SUCCESS);
    (void)mrapi_rmem_create(NUMBER, far, MRAPI_RMEM_DUMMY, NULL, BYTES, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(user_of_it, 'r');
    for (char order; (order = process_hear(user_of_it)) != 0;) {
        if (order != 'c') {
            ended(order == '1' ? &first : &second);
        }
        process_say(user_of_it, (char)far[0]);
    }
    (void)argument;
    _exit(0); /* whoever waits still */
}

static void *
second_runs(void *argument)
{
    pthread_t third;
    begins(&second);
    child_expect(pthread_create(&third, NULL, third_runs, NULL) == 0);
    waits_to_end(&second);
    return argument;
}

static int
owner(test_process *user, void *argument)
{
    pthread_t thread;
    (void)argument;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    user_of_it = user;
    begins(&first);
    child_expect(pthread_create(&thread, NULL, second_runs, NULL) == 0);
    waits_to_end(&first);
    pthread_exit(NULL);
}

/* ---- Who uses it ----------------------------------------------------------------------------- */

static test_process child;

static char
told(char order)
{
    process_say(&child, order);
    return process_hear(&child);
}

static void
is_there(mrapi_rmem_hndl_t rmem, unsigned char value)
{
    mrapi_status_t status;
    near[0] = value;
    mrapi_rmem_write(rmem, 0, near, 0, 1, 1, 1, 1, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(told('c'), value);
    mrapi_rmem_read(rmem, 0, near, 0, BYTES, 1, BYTES, BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(near[0], value);
}

static mrapi_status_t
attached(mrapi_rmem_hndl_t rmem)
{
    mrapi_status_t status;
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    if (status == MRAPI_ERR_NOT_SUPPORTED) {
        not_possible_here("the kernel lets no process into another's memory");
    }
    return status;
}

static void
threads_end(void **state)
{
    mrapi_status_t status;
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    process_start(&child, owner, NULL);
    assert_int_equal(process_hear(&child), 'r');
    child_expect(initialize(USER) == MRAPI_SUCCESS);
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status);
    assert_int_equal(attached(rmem), MRAPI_SUCCESS);
    is_there(rmem, 1);
    (void)told('1');
    is_there(rmem, 2);
    (void)told('2');
    is_there(rmem, 3);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(attached(rmem), MRAPI_SUCCESS);
    is_there(rmem, 4);
    process_kill(&child);
    mrapi_rmem_write(rmem, 0, near, 0, 1, 1, 1, 1, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
}

static int
node_ends(void **state)
{
    mrapi_status_t status;
    (void)state;
    (void)process_join(&child);
    mrapi_finalize(&status);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(threads_end, node_ends)};
    test_system_prepare();
    return cmocka_run_group_tests_name("rmem of threads that end", tests, NULL, NULL);
}
