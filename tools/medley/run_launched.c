/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launchers are known by the variables that they give each process. */
#include "tools/medley/run_launched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "port/port.h"
#include "tools/medley/run_openmp.h"
#include "tools/medley/run_plan.h"

/* Those that say more come first: Open MPI's processes have PMIx's variables, too, and those of
 * MPICH under Slurm both. A batch script of Slurm's has a rank, but is of no step. */
static const run_launcher launchers[] = {
    {"mpirun", "PMIX_RANK", "PMIX_NAMESPACE", NULL, "OMPI_COMM_WORLD_SIZE"},
    {"srun", "SLURM_PROCID", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"},
    {"mpirun", "PMI_RANK", "PMI_FD", NULL, "PMI_SIZE"},
};

const run_launcher *
run_launched(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        const run_launcher *one = &launchers[i];
        if (getenv(one->rank) && getenv(one->job) && (!one->step || getenv(one->step))) {
            return one;
        }
    }
    return NULL;
}

/* MPICH's launcher names no job; all that it has started have the same parent. */
static void
job_write(const run_launcher *launcher, char *text, size_t size)
{
    if (strcmp(launcher->rank, "PMI_RANK") == 0) {
        (void)snprintf(text, size, "job-%d", (int)getppid());
    } else {
        (void)snprintf(text, size, "job-%s%s%s", getenv(launcher->job), launcher->step ? "." : "",
                       launcher->step ? getenv(launcher->step) : "");
    }
}

/* Of any text a system's name: its end, which differs from job to job, where it is too long. */
static void
name_make(const char *text, char name[MED_PORT_NAME_MAX + 1])
{
    size_t length = strlen(text);
    size_t left_out = length > MED_PORT_NAME_MAX ? length - MED_PORT_NAME_MAX : 0;
    memcpy(name, text + left_out, length - left_out + 1);
    for (char *at = name; *at; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        bool is_digit = *at >= '0' && *at <= '9';
        if (!is_letter && !is_digit && *at != '.' && *at != '-') {
            *at = '_';
        }
    }
}

int
run_join(const med_command *command,
         const run_launcher *launcher,
         const char *name,
         char **words,
         bool openmp)
{
    char job[256], made[MED_PORT_NAME_MAX + 1], program[RUN_NAME_BYTES];
    const char *rank = getenv(launcher->rank);
    const char *count = launcher->count ? getenv(launcher->count) : NULL;
    job_write(launcher, job, sizeof job);
    name_make(job, made);
    const char *paths = openmp ? run_openmp_paths(command) : NULL;
    if (openmp && !paths) {
        return COMMAND_FAILED;
    }
    if (paths) {
        (void)setenv("LD_LIBRARY_PATH", paths, 1);
    }
    (void)setenv("MEDLEY_SYSTEM", name ? name : made, 1);
    run_plan_name(words[0], program);
    (void)setenv("MEDLEY_RUN_PROGRAM", program, 1);
    if (count) {
        (void)setenv("MEDLEY_RUN_COUNT", count, 1);
    }
    (void)setenv("MEDLEY_RUN_INDEX", rank ? rank : "0", 1);
    (void)execvp(words[0], words);
    command_error(command, "%s: %s", words[0], strerror(errno));
    return COMMAND_FAILED;
}
