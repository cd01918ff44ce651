/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that is its own tool: the library finds it there. */
#include <medley/std/omp-tools.h>
#include <stddef.h>
#include <stdio.h>

static int begun;

static int
begin(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)lookup;
    (void)device;
    (void)data;
    begun++;
    return 1;
}

static void
end(ompt_data_t *data)
{
    (void)data;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int version, const char *runtime);

ompt_start_tool_result_t *
ompt_start_tool(unsigned int version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {begin, end, {0}};
    (void)version;
    (void)runtime;
    return &tool;
}

int
main(void)
{
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads++;
    (void)printf("begun %d, threads %d\n", begun, threads);
    return begun != 1 || threads != 2;
}
