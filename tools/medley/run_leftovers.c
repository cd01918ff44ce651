/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Children, as /proc shows them: killed and waited for until none comes any more. */
#include "tools/medley/run_leftovers.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void
run_names_remove(pid_t process)
{
    char name[64];
    (void)snprintf(name, sizeof name, "/__KMP_REGISTERED_LIB_%d_%u", (int)process,
                   (unsigned)getuid());
    (void)shm_unlink(name); /* most have none */
}

pid_t *
run_children_read(void)
{
    char path[64];
    unsigned room = 64, count = 0;
    pid_t *list = malloc(room * sizeof *list);
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    int process;
    while (list && file && fscanf(file, "%d", &process) == 1) {
        list[count++] = process;
        if (count == room) {
            pid_t *larger = realloc(list, (room *= 2) * sizeof *list);
            if (!larger) {
                free(list);
            }
            list = larger;
        }
    }
    if (file) {
        (void)fclose(file);
    }
    if (list && file) {
        list[count] = 0;
        return list;
    }
    free(list);
    return NULL;
}

static bool
is_among(const pid_t *list, pid_t process)
{
    while (*list && *list != process) {
        list++;
    }
    return *list != 0;
}

/* How many there were. */
static unsigned
kill_those_there(const pid_t *others)
{
    unsigned killed = 0;
    siginfo_t dead;
    pid_t *list = run_children_read();
    for (const pid_t *at = list; at && *at; at++) {
        if (!is_among(others, *at)) {
            (void)kill(*at, SIGKILL);
            killed++;
        }
    }
    for (const pid_t *at = list; at && *at; at++) {
        if (!is_among(others, *at) && waitid(P_PID, (id_t)*at, &dead, WEXITED | WNOWAIT) == 0) {
            run_names_remove(*at);
            (void)waitpid(*at, NULL, 0);
        }
    }
    free(list);
    return killed;
}

/* Whoever dies leaves what was below him to us. */
void
run_leftovers_kill(const pid_t *others)
{
    while (kill_those_there(others) > 0) {
    }
}
