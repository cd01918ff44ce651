/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a loop of tasks is split: into as many as the program says, or of about as many iterations,
 * or as the face has it where the program says nothing. */
#ifndef MEDLEY_OMP_TASKLOOP_H
#define MEDLEY_OMP_TASKLOOP_H

#include <stdbool.h>
#include <stdint.h>

typedef enum med_taskloop_by {
    MED_TASKLOOP_BY_NOTHING,
    MED_TASKLOOP_BY_GRAIN,
    MED_TASKLOOP_BY_STRICT_GRAIN, /* all tasks but the last one have that */
    MED_TASKLOOP_BY_TASKS,
} med_taskloop_by;

/* So many tasks: `more` of them have one iteration more than `least`, the others that; of a strict
 * grain the last one has `last`, the others all the same. */
typedef struct med_taskloop {
    uint64_t tasks;
    uint64_t least;
    uint64_t more;
    uint64_t last;
} med_taskloop;

static inline med_taskloop
med_taskloop_evenly(uint64_t count, uint64_t tasks)
{
    if (count == 0) {
        return (med_taskloop){.tasks = 0};
    }
    tasks = tasks == 0 ? 1 : tasks < count ? tasks : count;
    return (med_taskloop){tasks, count / tasks, count % tasks, count / tasks};
}

/* A number of 0, which no program may ask for, is as none; a grain of 0 as well. */
static inline med_taskloop
med_taskloop_split(uint64_t count, med_taskloop_by by, uint64_t number, uint64_t tasks_else)
{
    if (number == 0 || by == MED_TASKLOOP_BY_NOTHING) {
        return med_taskloop_evenly(count, tasks_else);
    }
    if (by == MED_TASKLOOP_BY_STRICT_GRAIN) {
        uint64_t rest = count % number;
        return (med_taskloop){count / number + (rest != 0), number, 0, rest ? rest : number};
    }
    return med_taskloop_evenly(count, by == MED_TASKLOOP_BY_TASKS ? number : count / number);
}

/* Of the task of that number, from 0. */
static inline uint64_t
med_taskloop_iterations(const med_taskloop *loop, uint64_t task)
{
    return (task + 1 == loop->tasks ? loop->last : loop->least) + (task < loop->more);
}

#endif
