/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the processes of a scenario do, but for the tester: the child, and the victim. */
#include <signal.h>

#include "kill/scenario.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "support/node.h"
#include "support/process.h"
#include "support/system.h"

#define TIMEOUT_SHORT_US 1000

/* Of the process that runs this. */
static mrapi_mutex_hndl_t mine;
static mrapi_key_t key, key_inner;

/* ---- Coming and going ------------------------------------------------------------------------ */

void
node_up(mrapi_node_t node)
{
    must(initialize(node), "initialize");
}

void
node_down(void)
{
    must(finalize(), "finalize");
}

void
child_up(void)
{
    node_up(CHILD);
}

void
child_attached(void)
{
    if (medley_system_open(test_system_name()) != MEDLEY_OK) {
        must(MRAPI_ERR_NODE_INITFAILED, "system_open");
    }
}

void
child_attached_up(void)
{
    child_attached();
    child_up();
}

/* ---- Mutexes --------------------------------------------------------------------------------- */

void
child_up_first(void)
{
    mrapi_status_t status;
    child_up();
    mine = mrapi_mutex_get(1, &status);
    must(status, "get");
}

void
op_lock(void)
{
    mrapi_status_t status;
    mrapi_mutex_lock(mine, &key, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "lock");
}

void
op_unlock(void)
{
    mrapi_status_t status;
    mrapi_mutex_unlock(mine, &key, &status);
    must(status, "unlock");
}

void
child_locks_first(void)
{
    child_up_first();
    op_lock();
}

static void
all_locked(void)
{
    mrapi_status_t status;
    for (unsigned i = 1; i <= MUTEXES; i++) {
        mrapi_mutex_lock(mrapi_mutex_get(i, &status), &key, MRAPI_TIMEOUT_INFINITE, &status);
        must(status, "lock of all");
    }
}

void
child_locks_all(void)
{
    child_up();
    all_locked();
}

void
op_lock_in_vain(void)
{
    mrapi_status_t status;
    mrapi_mutex_lock(mine, &key, TIMEOUT_SHORT_US, &status);
    if (status != MRAPI_TIMEOUT) {
        must(status == MRAPI_SUCCESS ? MRAPI_ERR_MUTEX_LOCKED : status, "lock in vain");
    }
}

void
op_recursive(void)
{
    mrapi_status_t status;
    op_lock();
    mrapi_mutex_lock(mine, &key_inner, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "lock again");
    mrapi_mutex_unlock(mine, &key_inner, &status);
    must(status, "unlock once");
    op_unlock();
}

void
op_delete(void)
{
    mrapi_status_t status;
    mrapi_mutex_delete(mine, &status);
    must(status, "delete");
}

/* ---- Threads --------------------------------------------------------------------------------- */

void
thread_start(void *(*body)(void *))
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = body};
    mrapi_thread_create(DOMAIN, THREAD, &parameters, &status);
    must(status, "thread_create");
}

void *
returns_at_once(void *argument)
{
    return argument;
}

/* ---- The victim ------------------------------------------------------------------------------ */

static void
dies_here(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)row;
    (void)index;
    (void)generation;
    (void)context;
    (void)raise(SIGKILL);
}

static int
victim_body(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    node_up(VICTIM);
    all_locked();
    med_system *system = med_self_get()->system;
    (void)med_lock_try(&system->domains.table->lock, system->process_ref);
    (void)med_lock_try(&system->nodes.table->lock, system->process_ref);
    med_table_insertion insertion = {.key = {.low = MUTEXES + 1}, .fill = dies_here};
    (void)med_table_insert(&system->mutexes, &insertion);
    return 1;
}

void
victim_dies(void)
{
    test_process victim;
    process_start(&victim, victim_body, NULL);
    if (process_join(&victim) != -SIGKILL) {
        must(MRAPI_ERR_NODE_INVALID, "the victim");
    }
}

void
op_recover(void)
{
    (void)med_process_recover_all(med_self_get()->system);
}
