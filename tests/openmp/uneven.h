/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs on two processors that the environment says to be unlike: each in a child, since the
 * environment is read once. */
#ifndef MEDLEY_TESTS_OPENMP_UNEVEN_H
#define MEDLEY_TESTS_OPENMP_UNEVEN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct variable {
    const char *name;
    const char *value;
} variable;

static const variable always[] = {{"MEDLEY_CORE_CLASSES", "{0},{1}"}, {"OMP_PLACES", "{0},{1}"}};

/* True: so did the child find it. */
static inline bool
with(const variable *variables, uint32_t count, bool (*holds)(void))
{
    pid_t child = fork();
    if (child == 0) {
        for (uint32_t i = 0; i < sizeof always / sizeof always[0]; i++) {
            (void)setenv(always[i].name, always[i].value, 1);
        }
        for (uint32_t i = 0; i < count; i++) {
            (void)setenv(variables[i].name, variables[i].value, 1);
        }
        (void)alarm(60);
        _exit(holds() ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

#define WITH(variables, holds) with(variables, sizeof(variables) / sizeof(variables)[0], holds)

/* False: and it has said why. */
static inline bool
uneven_is_possible(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_ISSET(0, &set) && CPU_ISSET(1, &set)) {
        return true;
    }
    (void)printf("not possible here: processors 0 and 1 may not both be used\n");
    return false;
}

#endif
