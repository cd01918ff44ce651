/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The three runtimes, and processes that run on one of them. */
#include "openmp_runtimes.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "openmp_delay.h"

#define ENVIRONMENT_MAX 256

const openmp_runtime openmp_runtimes[OPENMP_RUNTIMES] = {
    {"medley", OPENMP_RUNTIMES_FOLDER "/medley", NULL},
    {"libgomp", OPENMP_RUNTIMES_FOLDER "/libgomp", NULL},
    {"libomp", OPENMP_RUNTIMES_FOLDER "/libomp", NULL},
};
const openmp_runtime openmp_gcc_passive = {"libgomp passive", OPENMP_RUNTIMES_FOLDER "/libgomp",
                                           "OMP_WAIT_POLICY=passive"};

void
openmp_delay_settle(void)
{
    char rounds[24];
    (void)snprintf(rounds, sizeof rounds, "%llu", (unsigned long long)delay_rounds_measure());
    (void)setenv(DELAY_ROUNDS_NAME, rounds, 1);
}

/* This process's environment, but for what says which runtime. */
static void
environment_make(char **made, char *libraries, const openmp_runtime *runtime)
{
    static char setting[64];
    uint32_t count = 0;
    for (char **at = environ; *at && count < ENVIRONMENT_MAX - 3; at++) {
        if (strncmp(*at, "LD_LIBRARY_PATH=", 16) != 0) {
            made[count++] = *at;
        }
    }
    made[count++] = libraries;
    if (runtime->setting) {
        (void)snprintf(setting, sizeof setting, "%s", runtime->setting);
        made[count++] = setting;
    }
    made[count] = NULL;
}

bool
openmp_start(openmp_run *run, const openmp_runtime *runtime, const char *const *arguments)
{
    char path[512], libraries[512];
    char *environment[ENVIRONMENT_MAX];
    int ends[2];
    posix_spawn_file_actions_t actions;
    (void)snprintf(path, sizeof path, OPENMP_PROGRAMS "/%s", arguments[0]);
    (void)snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", runtime->libraries);
    environment_make(environment, libraries, runtime);
    if (pipe2(ends, O_CLOEXEC) != 0 || posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    bool started = posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0 &&
                   posix_spawn(&run->process, path, &actions, NULL,
                               (char *const *)(uintptr_t)arguments, environment) == 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    run->output = fdopen(ends[0], "r");
    return started && run->output;
}

bool
openmp_end(openmp_run *run)
{
    int status = -1;
    (void)fclose(run->output);
    return waitpid(run->process, &status, 0) == run->process && status == 0;
}

bool
openmp_values(const openmp_runtime *runtime,
              const char *program,
              uint32_t threads,
              uint64_t repetitions,
              const char *word,
              double *values,
              uint32_t count)
{
    openmp_run run;
    char numbers[2][24];
    (void)snprintf(numbers[0], sizeof numbers[0], "%u", threads);
    (void)snprintf(numbers[1], sizeof numbers[1], "%llu", (unsigned long long)repetitions);
    if (!openmp_start(&run, runtime,
                      (const char *[]){program, numbers[0], numbers[1], word, NULL})) {
        return false;
    }
    bool read = true;
    for (uint32_t i = 0; i < count && read; i++) {
        read = fscanf(run.output, "%lf", &values[i]) == 1 && values[i] > 0;
    }
    return openmp_end(&run) && read;
}

double
openmp_mean(const double *values, uint32_t count)
{
    double logarithms = 0;
    for (uint32_t i = 0; i < count; i++) {
        logarithms += log(values[i]);
    }
    return exp(logarithms / count);
}
