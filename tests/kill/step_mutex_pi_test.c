/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Killed while it locks, unlocks or deletes a mutex with priority inheritance, which the kernel
 * knows of. Whose holder died comes free, and the next one is told; or, with
 * MEDLEY_MUTEX_ON_DEATH=fail, nobody may have it. */
#include "kill/scenario.h"

#define WITH_PI(...)                                                                               \
    {                                                                                              \
        .attribute = MEDLEY_MUTEX_PRIORITY_INHERITANCE, __VA_ARGS__                                \
    }

static const scenario scenarios[] = {
    WITH_PI(.name = "pi_lock", .operation = {.prepare = child_up_first, .operate = op_lock}),
    WITH_PI(.name = "pi_unlock", .operation = {.prepare = child_locks_first, .operate = op_unlock}),
    WITH_PI(.name = "pi_lock_in_vain",
            .operation = {.prepare = child_up_first, .operate = op_lock_in_vain},
            .before = tester_locks),
    WITH_PI(.name = "pi_lock_handed",
            .operation = {.prepare = child_up_first, .operate = op_lock},
            .before = tester_locks,
            .asleep = tester_unlocks),
    WITH_PI(.name = "pi_delete", .operation = {.prepare = child_up_first, .operate = op_delete}),
    WITH_PI(.name = "pi_delete_held",
            .operation = {.prepare = child_locks_first, .operate = op_delete}),
    WITH_PI(.name = "pi_recover",
            .operation = {.prepare = child_up, .operate = op_recover},
            .holds_all = true,
            .before = victim_dies),
    WITH_PI(.name = "pi_finalize_holding",
            .operation = {.prepare = child_locks_all, .operate = node_down},
            .holds_all = true),
    WITH_PI(.name = "pi_fail_lock",
            .operation = {.prepare = child_up_first, .operate = op_lock},
            .fail = true),
    WITH_PI(.name = "pi_fail_unlock",
            .operation = {.prepare = child_locks_first, .operate = op_unlock},
            .fail = true),
    WITH_PI(.name = "pi_fail_delete",
            .operation = {.prepare = child_locks_first, .operate = op_delete},
            .fail = true),
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "pi", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
