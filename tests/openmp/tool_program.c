/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that knows nothing of tools but omp_control_tool, for tool_life_test. Prints what that
 * returned. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3

extern int omp_control_tool(int command, int modifier, void *argument);

#define CONTROL_END 4

static int came;

static void
region(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp atomic
        came++;
    }
}

/* Another thread than the first one says that the tool is to end. */
static void
region_that_ends_it(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp atomic
        came++;
        if (omp_get_thread_num() == 1) {
            (void)fprintf(stderr, "program: %d\n", omp_control_tool(CONTROL_END, 0, NULL));
        }
#pragma omp barrier
    }
}

static void
child(void)
{
    pid_t pid = fork();
    int status = 1;
    if (pid == 0) {
        region();
        exit(came % THREADS);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        (void)fprintf(stderr, "program: its child failed\n");
    }
}

int
main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "region") == 0) {
            region();
        } else if (strcmp(arguments[i], "end") == 0) {
            (void)fprintf(stderr, "program: %d\n", omp_control_tool(CONTROL_END, 0, NULL));
        } else if (strcmp(arguments[i], "end_within") == 0) {
            region_that_ends_it();
        } else {
            child();
        }
    }
    return came % THREADS;
}
