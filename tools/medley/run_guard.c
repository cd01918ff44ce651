/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Until the programs of a dead command are dead, their system is in use: that is waited for. */
#include "tools/medley/run_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "mrapi/system.h"

#define LOOK_NS 10000000

/* ---- The guard ------------------------------------------------------------------------------- */

/* Nobody's group or terminal, and nobody's output: who reads that sees its end. */
static void
stand_apart(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid();
    (void)prctl(PR_SET_NAME, "medley-guard");
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(nothing, STDOUT_FILENO);
}

/* Is there a word before the end? */
static bool
is_told(int hears)
{
    char word;
    ssize_t got;
    do {
        got = read(hears, &word, sizeof word);
    } while (got < 0 && errno == EINTR);
    return got == sizeof word;
}

/* Who lives in it after that time is none of the command's, or has left it: it goes with him. */
static medley_status_t
remove_when_all_are_dead(const char *system)
{
    char why[MED_PORT_WHY_BYTES];
    uint64_t deadline_ns = med_system_deadline_ns();
    medley_status_t status;
    while ((status = med_system_remove(system, deadline_ns, why)) == MEDLEY_BUSY &&
           med_port_clock_ns() < deadline_ns) {
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return status;
}

static void
guard_it(const med_command *command, const char *system, int hears)
{
    stand_apart();
    if (is_told(hears)) {
        return;
    }
    med_log_level_set(MED_LOG_QUIET);
    medley_status_t status = remove_when_all_are_dead(system);
    if (status == MEDLEY_OK || status == MEDLEY_ERR_NOT_FOUND) {
        command_error(command, "was killed; its system '%s' is removed", system);
    } else {
        command_error(command, "was killed; its system '%s' is left: %s", system,
                      medley_status_text(status));
    }
}

/* ---- The command ----------------------------------------------------------------------------- */

bool
run_guard_begin(const med_command *command, const char *system, run_guard *guard)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    guard->process = fork();
    guard->told = ends[1];
    if (guard->process == 0) {
        (void)close(ends[1]);
        guard_it(command, system, ends[0]);
        _exit(EXIT_SUCCESS);
    }
    (void)close(ends[0]);
    if (guard->process < 0) {
        (void)close(ends[1]);
    }
    return guard->process > 0;
}

/* It may have been killed itself. */
void
run_guard_end(const run_guard *guard)
{
    (void)!write(guard->told, "", 1);
    (void)close(guard->told);
    (void)waitpid(guard->process, NULL, 0);
}
