/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tool in a library of its own, for tool_life_test: it counts, and says so when it ends.
 * TOOL_DOES has what else it does. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "medley/std/omp-tools.h"

static atomic32 threads, threads_over, regions, regions_over;
static int ends;
static ompt_set_callback_t set;
static ompt_get_callback_t get;
static ompt_finalize_tool_t finalize_tool;

static bool
does(const char *what)
{
    const char *all = getenv("TOOL_DOES");
    return all && strstr(all, what);
}

static void
say_if(bool holds, const char *what)
{
    if (holds) {
        (void)fprintf(stderr, "tool: %s\n", what);
    }
}

static void
on_thread_begin(ompt_thread_t type, ompt_data_t *data)
{
    (void)type;
    (void)data;
    (void)atomic32_fetch_add_relaxed(&threads, 1);
}

static void
on_thread_end(ompt_data_t *data)
{
    (void)data;
    (void)atomic32_fetch_add_relaxed(&threads_over, 1);
}

/* From its second region on it wants to know no more. */
static void
unregister(void)
{
    ompt_callback_t callback = NULL;
    say_if(!get(ompt_callback_parallel_begin, &callback), "its callback is not there");
    say_if(set(ompt_callback_parallel_begin, NULL) != ompt_set_always, "it cannot be taken back");
    say_if(get(ompt_callback_parallel_begin, &callback), "it is there still");
}

static void
on_parallel_begin(ompt_data_t *task,
                  const ompt_frame_t *frame,
                  ompt_data_t *region,
                  unsigned wanted,
                  int flags,
                  const void *at)
{
    (void)task;
    (void)frame;
    (void)region;
    (void)wanted;
    (void)flags;
    (void)at;
    if (atomic32_fetch_add_relaxed(&regions, 1) == 1 && does("unregisters")) {
        unregister();
    }
}

static void
on_parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *at)
{
    (void)region;
    (void)task;
    (void)flags;
    (void)at;
    (void)atomic32_fetch_add_relaxed(&regions_over, 1);
}

static int
on_control(uint64_t command, uint64_t modifier, void *argument, const void *at)
{
    (void)modifier;
    (void)argument;
    (void)at;
    if (command == 4) { /* omp_control_tool_end */
        finalize_tool();
        say_if(ends == 0, "it has not ended");
    }
    return 7;
}

static int
begin(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)device;
    set = (ompt_set_callback_t)lookup("ompt_set_callback");
    get = (ompt_get_callback_t)lookup("ompt_get_callback");
    finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
    data->value++;
    (void)set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
    if (!does("few")) {
        (void)set(ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end);
        (void)set(ompt_callback_thread_begin, (ompt_callback_t)on_thread_begin);
        (void)set(ompt_callback_thread_end, (ompt_callback_t)on_thread_end);
        (void)set(ompt_callback_control_tool, (ompt_callback_t)on_control);
    }
    return !does("fails");
}

static void
end(ompt_data_t *data)
{
    say_if(data->value != 1, "its data are not what it made of them");
    say_if(++ends > 1, "it ends twice");
    (void)fprintf(stderr, "tool: threads %u, over %u, regions %u, over %u\n",
                  atomic32_load_relaxed(&threads), atomic32_load_relaxed(&threads_over),
                  atomic32_load_relaxed(&regions), atomic32_load_relaxed(&regions_over));
}

ompt_start_tool_result_t *
ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {begin, end, {0}};
    (void)version;
    (void)runtime;
    return IS_TOOL ? &tool : NULL;
}
