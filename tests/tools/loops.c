/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program with OpenMP loops, for `medley explain` to look at:
 *
 *   loops ROUNDS          as many invocations of two loops: one of the schedule that OMP_SCHEDULE
 *                         names, in which threads of an odd number have four times the work, and an
 *                         ordered one
 *   loops ROUNDS wait     and one in which each iteration waits for the one before
 *   loops ROUNDS exit N   and ends with that status
 *   loops ROUNDS kill     and kills itself
 *   loops ROUNDS fork     and so does a child of its own
 *   loops none            does without OpenMP
 */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ITERATIONS 4000

static volatile long spent;

static void
work(void)
{
    int steps = omp_get_thread_num() % 2 ? 800 : 200;
    for (int i = 0; i < steps; i++) {
        (void)spent;
    }
}

static void
uneven_loop(void)
{
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < ITERATIONS; i++) {
        work();
    }
}

static void
ordered_loop(void)
{
    long sum = 0;
#pragma omp parallel for schedule(runtime) ordered
    for (int i = 0; i < 100; i++) {
#pragma omp ordered
        sum += i;
    }
    if (sum != 4950) {
        abort();
    }
}

static void
waiting_loop(void)
{
    long sum = 0;
#pragma omp parallel for schedule(static, 2) ordered(1)
    for (int i = 0; i < 100; i++) {
#pragma omp ordered depend(sink : i - 1)
        sum += i;
#pragma omp ordered depend(source)
    }
    if (sum != 4950) {
        abort();
    }
}

static void
loops(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        uneven_loop();
        ordered_loop();
    }
}

int
main(int argc, char **argv)
{
    const char *then = argc > 2 ? argv[2] : "";
    (void)printf("argument %s\n", argc > 1 ? argv[1] : "");
    (void)fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "none") != 0) {
        loops(atoi(argv[1]));
    }
    if (strcmp(then, "wait") == 0) {
        waiting_loop();
    }
    if (strcmp(then, "kill") == 0) {
        (void)raise(SIGKILL);
    }
    if (strcmp(then, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            loops(1);
            return 0;
        }
        int status;
        return waitpid(child, &status, 0) == child ? status : 1;
    }
    return argc > 3 ? atoi(argv[3]) : 0;
}
