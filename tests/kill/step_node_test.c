/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Killed while it starts a node, joins one, or is one that ends. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "kill/scenario.h"
#include "medley/mrapi_ext.h"
#include "port/port.h"
#include "support/process.h"

static void
op_join(void)
{
    mrapi_status_t status;
    mrapi_thread_join(DOMAIN, THREAD, NULL, &status);
    must(status, "thread_join");
}

static void
op_thread(void)
{
    thread_start(returns_at_once);
    op_join();
}

/* ---- A node that has ended is joined --------------------------------------------------------- */

static atomic32 thread_number;

static void *
tells_its_number(void *argument)
{
    atomic32_store_release(&thread_number, med_port_thread_id());
    return argument;
}

/* So that the join does not sleep. */
static void
child_up_thread_ended(void)
{
    child_up();
    thread_start(tells_its_number);
    uint32_t number;
    do {
        med_port_yield();
        number = atomic32_load_acquire(&thread_number);
    } while (number == 0 || syscall(SYS_tgkill, getpid(), (pid_t)number, 0) == 0);
}

/* ---- A node is joined that ends later -------------------------------------------------------- */

static atomic32 *may_end; /* shared with the tester */

static void *
waits_to_end(void *argument)
{
    while (atomic32_load_acquire(may_end) == 0) {
        (void)med_port_wait(&may_end->value, 0, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED);
    }
    return argument;
}

static void
child_up_thread_waits(void)
{
    child_up();
    thread_start(waits_to_end);
}

static void
thread_stays(void)
{
    atomic32_store_release(may_end, 0);
}

static void
thread_may_end(void)
{
    atomic32_store_release(may_end, 1);
    (void)med_port_wake(&may_end->value, 1, MED_PORT_SCOPE_SHARED);
}

/* ---- A node ends ----------------------------------------------------------------------------- */

static void (*stepped_here)(void);

static void *
runs_stepped(void *argument)
{
    stepped_here();
    return argument;
}

/* All three mutexes are held by the node that ends: whoever comes after it is told. */
static void *
runs_stepped_holding(void *argument)
{
    mrapi_status_t status;
    for (unsigned i = 1; i <= MUTEXES; i++) {
        mrapi_key_t key;
        mrapi_mutex_lock(mrapi_mutex_get(i, &status), &key, MRAPI_TIMEOUT_INFINITE, &status);
        must(status, "the thread's lock");
    }
    return runs_stepped(argument);
}

static void
host_of(void (*stepped)(void), void *(*body)(void *), pthread_attr_t *attributes)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = body, .attr = attributes};
    stepped_here = stepped;
    mrapi_thread_create(DOMAIN, THREAD, &parameters, &status);
    must(status, "thread_create");
    for (;;) {
        (void)pause();
    }
}

static void
in_a_node(void (*stepped)(void))
{
    host_of(stepped, runs_stepped, NULL);
}

static void
in_a_node_holding(void (*stepped)(void))
{
    host_of(stepped, runs_stepped_holding, NULL);
}

static void
in_a_detached_node(void (*stepped)(void))
{
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    host_of(stepped, runs_stepped_holding, &attributes);
}

/* Its thread's end is the operation. (mrapi_thread_exit comes to the same end by way of the C
 * library's unwinder: 13,000 instructions that know nothing of a system.) */
static void
op_nothing(void)
{
}

static const scenario scenarios[] = {
    {.name = "thread", .operation = {.prepare = child_up, .operate = op_thread}},
    {.name = "join", .operation = {.prepare = child_up_thread_ended, .operate = op_join}},
    {.name = "join_waits",
     .operation = {.prepare = child_up_thread_waits, .operate = op_join},
     .before = thread_stays,
     .asleep = thread_may_end},
    {.name = "thread_ends", .operation = {child_up, op_nothing, in_a_node}},
    {.name = "thread_ends_holding",
     .operation = {child_up, op_nothing, in_a_node_holding},
     .holds_all = true},
    {.name = "detached_ends",
     .operation = {child_up, op_nothing, in_a_detached_node},
     .holds_all = true},
};

int
main(int argc, char **argv)
{
    may_end = process_shared_memory(sizeof *may_end);
    return scenarios_main(argc, argv, "node", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
