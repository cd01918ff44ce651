/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Killed while it locks, unlocks or deletes a mutex with priority inheritance, which the kernel
 * knows of, be it that a stranger has the number of the one who held it. Whose holder died comes
 * free, and the next one is told; or, with MEDLEY_MUTEX_ON_DEATH=fail, nobody may have it. */
#include "kill/scenario.h"

#include "mrapi/mutex.h"
#include "mrapi/mutex_pi.h"
#include "mrapi/system.h"
#include "support/process.h"

/* Lives until the tester ends. */
static int
stranger_body(test_process *parent, void *argument)
{
    (void)argument;
    return process_hear(parent);
}

static test_process stranger;

static med_mutex_row *
first_row(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(1, &status);
    return status == MRAPI_SUCCESS ? (med_mutex_row *)(void *)med_table_row(
                                         &med_self_get()->system->mutexes, med_handle_index(mutex))
                                   : NULL;
}

/* A dead holder's number is a stranger's by now, and nobody knows whose it was. */
static void
stranger_has_first(void)
{
    if (stranger.pid == 0) {
        process_start(&stranger, stranger_body, NULL);
    }
    atomic32_store_release(&first_row()->pi_word, (uint32_t)stranger.pid);
}

/* Nobody died whose recovery would find it: if the child did not, the next who wants it does. By
 * turns that is who renews it, or this. */
static void
stranger_is_found(void)
{
    const med_mutex_row *row = first_row();
    if (step_kill_steps() % 3 == 1 && row && med_mutex_pi_thread(row) == (uint32_t)stranger.pid) {
        must(med_mutex_pi_bury(med_self_get()->system, 0, 64, 0) == MEDLEY_OK ? MRAPI_SUCCESS
                                                                              : MRAPI_TIMEOUT,
             "burial");
    }
}

#define WITH_PI(...)                                                                               \
    {                                                                                              \
        .attribute = MEDLEY_MUTEX_PRIORITY_INHERITANCE, __VA_ARGS__                                \
    }

static const scenario scenarios[] = {
    WITH_PI(.name = "pi_lock", .operation = {.prepare = child_up_first, .operate = op_lock}),
    WITH_PI(.name = "pi_unlock", .operation = {.prepare = child_locks_first, .operate = op_unlock}),
    WITH_PI(.name = "pi_unlock_sleeper",
            .operation = {.prepare = child_locks_first, .operate = op_unlock},
            .sleeper = &sleeps_for_mutex),
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
    WITH_PI(.name = "pi_lock_stranger",
            .operation = {.prepare = child_up_first, .operate = op_lock},
            .before = stranger_has_first,
            .after = stranger_is_found),
    WITH_PI(.name = "pi_delete_stranger",
            .operation = {.prepare = child_up_first, .operate = op_delete},
            .before = stranger_has_first,
            .after = stranger_is_found),
    WITH_PI(.name = "pi_fail_lock",
            .operation = {.prepare = child_up_first, .operate = op_lock},
            .fail = true),
    WITH_PI(.name = "pi_fail_unlock",
            .operation = {.prepare = child_locks_first, .operate = op_unlock},
            .fail = true),
    WITH_PI(.name = "pi_fail_unlock_sleeper",
            .operation = {.prepare = child_locks_first, .operate = op_unlock},
            .fail = true,
            .sleeper = &sleeps_for_mutex),
    WITH_PI(.name = "pi_fail_lock_handed",
            .operation = {.prepare = child_up_first, .operate = op_lock},
            .fail = true,
            .before = tester_locks,
            .asleep = tester_unlocks),
    WITH_PI(.name = "pi_fail_delete",
            .operation = {.prepare = child_locks_first, .operate = op_delete},
            .fail = true),
    WITH_PI(.name = "pi_fail_finalize_holding",
            .operation = {.prepare = child_locks_all, .operate = node_down},
            .fail = true,
            .holds_all = true),
    WITH_PI(.name = "pi_fail_recover",
            .operation = {.prepare = child_up, .operate = op_recover},
            .fail = true,
            .holds_all = true,
            .before = victim_dies),
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "pi", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
