/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The function by which a program speaks to a tool (OpenMP 5.0, section 3.8). */
#include "omp/face.h"
#include "omp/ompt_inner.h"
#include "omp/told.h"

/* What omp_control_tool returns; and success is 0. */
#define NO_TOOL (-2)
#define NO_CALLBACK (-1)

FACE int
omp_control_tool(int command, int modifier, void *argument)
{
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    if (!med_ompt_is_on()) {
        return NO_TOOL;
    }
    med_ompt_task *task = med_ompt_current(member);
    ompt_callback_control_tool_t tell =
        (ompt_callback_control_tool_t)med_ompt_callback(ompt_callback_control_tool);
    int result = tell ? tell((uint64_t)command, (uint64_t)modifier, argument, task->called_from)
                      : NO_CALLBACK;
    med_ompt_back(task);
    return result;
}

/* Fortran's, of integers of four bytes or of eight. */
FACE int
omp_control_tool_(const int *command, const int *modifier, void *argument)
{
    return omp_control_tool(*command, *modifier, argument);
}
