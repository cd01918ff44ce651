/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* With MEDLEY_MUTEX_ON_DEATH=fail: killed while it has a mutex, or is about to have or give it.
 * Whose holder died is closed to everybody until it is deleted; any other goes on. */
#include "kill/scenario.h"

static const scenario scenarios[] = {
    {.name = "fail_lock",
     .operation = {.prepare = child_up_first, .operate = op_lock},
     .fail = true},
    {.name = "fail_lock_in_vain",
     .operation = {.prepare = child_up_first, .operate = op_lock_in_vain},
     .fail = true,
     .before = tester_locks},
    {.name = "fail_lock_handed",
     .operation = {.prepare = child_up_first, .operate = op_lock},
     .fail = true,
     .before = tester_locks,
     .asleep = tester_unlocks},
    {.name = "fail_unlock",
     .operation = {.prepare = child_locks_first, .operate = op_unlock},
     .fail = true},
    {.name = "fail_unlock_sleeper",
     .operation = {.prepare = child_locks_first, .operate = op_unlock},
     .fail = true,
     .sleeper = &sleeps_for_mutex},
    {.name = "fail_recursive",
     .operation = {.prepare = child_up_first, .operate = op_recursive},
     .fail = true,
     .attribute = MRAPI_MUTEX_RECURSIVE},
    {.name = "fail_delete",
     .operation = {.prepare = child_up_first, .operate = op_delete},
     .fail = true},
    {.name = "fail_delete_held",
     .operation = {.prepare = child_locks_first, .operate = op_delete},
     .fail = true},
    {.name = "fail_finalize_holding",
     .operation = {.prepare = child_locks_all, .operate = node_down},
     .fail = true,
     .holds_all = true},
    {.name = "fail_recover",
     .operation = {.prepare = child_up, .operate = op_recover},
     .fail = true,
     .holds_all = true,
     .before = victim_dies},
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "fail", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
