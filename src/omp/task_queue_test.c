/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A queue that outlives any number of steals: its numbers go round, its owner's marks do not. */
#include "omp/task_queue.h"

#include "support/unit.h"

#define AROUND 32u /* so many before and behind */

static med_task_queue queue;
static med_task ancestor;
static med_task tasks[2];

static const med_bound all = {.ancestor = NULL};

/* As that many steals of its last task, and takes of it, leave it. */
static void
begin_behind(uint32_t steals)
{
    queue = (med_task_queue){.top_seen = 0};
    atomic32_store_relaxed(&queue.top, steals);
    atomic32_store_relaxed(&queue.bottom, steals);
    med_task_queue_begin(&queue);
}

static const uint32_t turns[] = {0, 0x80000000u, 0xffffffffu};

/* Each one is made and waited for by a task that began before all of them. */
static void
what_came_later_may_be_taken(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < sizeof turns / sizeof turns[0]; turn++) {
        begin_behind(turns[turn] - AROUND);
        const med_bound bound = {.ancestor = &ancestor, .mark = 0};
        for (uint32_t i = 0; i < 2 * AROUND; i++) {
            assert_true(med_task_queue_push(&queue, &tasks[0]));
            assert_ptr_equal(med_task_queue_take(&queue, &bound), &tasks[0]);
            assert_null(med_task_queue_take(&queue, &bound));
        }
    }
}

/* By thieves as well, which the owner hears of late. */
static void
what_was_there_before_may_not(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < sizeof turns / sizeof turns[0]; turn++) {
        begin_behind(turns[turn] - AROUND);
        for (uint32_t i = 0; i < 2 * AROUND; i++) {
            assert_true(med_task_queue_push(&queue, &tasks[0]));
            const med_bound bound = {.ancestor = &ancestor, .mark = med_task_queue_mark(&queue)};
            assert_null(med_task_queue_take(&queue, &bound));
            assert_true(med_task_queue_push(&queue, &tasks[1]));
            assert_ptr_equal(med_task_queue_take(&queue, &bound), &tasks[1]);
            assert_null(med_task_queue_take(&queue, &bound));
            assert_ptr_equal(med_task_queue_steal(&queue, &all), &tasks[0]);
            if (i % 8 == 0) {
                med_task_queue_begin(&queue);
            }
            assert_true(med_task_queue_push(&queue, &tasks[1]));
            assert_ptr_equal(med_task_queue_take(&queue, &bound), &tasks[1]);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_later_may_be_taken),
        cmocka_unit_test(what_was_there_before_may_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
