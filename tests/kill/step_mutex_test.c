/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Killed while it makes, deletes, locks or unlocks a mutex. Whose holder died comes free, and the
 * next one is told. */
#include "kill/scenario.h"

static void
op_create(void)
{
    mrapi_status_t status;
    (void)mrapi_mutex_create(MUTEXES + 1, NULL, &status);
    must(status, "create");
}

static void
op_create_any(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
    must(status, "create any");
    mrapi_mutex_delete(mutex, &status);
    must(status, "delete any");
}

static const scenario scenarios[] = {
    {.name = "create", .operation = {.prepare = child_up, .operate = op_create}},
    {.name = "create_any", .operation = {.prepare = child_up, .operate = op_create_any}},
    {.name = "delete", .operation = {.prepare = child_up_first, .operate = op_delete}},
    {.name = "delete_held", .operation = {.prepare = child_locks_first, .operate = op_delete}},
    {.name = "lock", .operation = {.prepare = child_up_first, .operate = op_lock}},
    {.name = "lock_in_vain",
     .operation = {.prepare = child_up_first, .operate = op_lock_in_vain},
     .before = tester_locks},
    {.name = "lock_handed",
     .operation = {.prepare = child_up_first, .operate = op_lock},
     .before = tester_locks,
     .asleep = tester_unlocks},
    {.name = "unlock", .operation = {.prepare = child_locks_first, .operate = op_unlock}},
    {.name = "unlock_sleeper",
     .operation = {.prepare = child_locks_first, .operate = op_unlock},
     .sleeper = &sleeps_for_mutex},
    {.name = "recursive",
     .operation = {.prepare = child_up_first, .operate = op_recursive},
     .attribute = MRAPI_MUTEX_RECURSIVE},
    {.name = "recover",
     .operation = {.prepare = child_up, .operate = op_recover},
     .holds_all = true,
     .before = victim_dies},
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "mutex", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
