/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Until the programs of a dead command are dead, their system is in use: that is waited for. */
#include "tools/medley/run_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "mrapi/system.h"
#include "tools/medley/run_leftovers.h"

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

/* A group that begins; of one that is over, its number below 0; 0: all is put away. */
typedef int32_t word;

typedef struct groups {
    word *list;
    size_t count;
} groups;

/* One for which there is no memory is forgotten. */
static void
groups_put(groups *all, word group)
{
    word *larger = realloc(all->list, (all->count + 1) * sizeof *larger);
    if (larger) {
        all->list = larger;
        larger[all->count++] = group;
    }
}

static void
groups_take_out(groups *all, word group)
{
    for (size_t i = all->count; i-- > 0;) {
        if (all->list[i] == group) {
            all->list[i] = all->list[--all->count];
        }
    }
}

static void
groups_kill(const groups *all)
{
    for (size_t i = 0; i < all->count; i++) {
        (void)kill(-all->list[i], SIGKILL);
    }
}

/* False: at its end. */
static bool
word_hear(int hears, word *heard)
{
    ssize_t got;
    do {
        got = read(hears, heard, sizeof *heard);
    } while (got < 0 && errno == EINTR);
    return got == sizeof *heard;
}

/* Until the command's end. True: before that all was put away. */
static bool
hear(int hears, groups *all)
{
    word heard;
    while (word_hear(hears, &heard)) {
        if (heard == 0) {
            return true;
        }
        if (heard > 0) {
            groups_put(all, heard);
        } else {
            groups_take_out(all, -heard);
        }
    }
    return false;
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
    groups all = {.count = 0};
    stand_apart();
    if (hear(hears, &all)) {
        return;
    }
    groups_kill(&all);
    med_log_level_set(MED_LOG_QUIET);
    medley_status_t status = remove_when_all_are_dead(system);
    for (size_t i = 0; i < all.count; i++) {
        run_names_remove(all.list[i]); /* a group has its first process's number */
    }
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
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK); /* nobody waits for the guard */
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

/* It may have been killed itself, or stopped. */
static void
tell(int told, word said)
{
    (void)!write(told, &said, sizeof said);
}

void
run_guard_tell(int told, pid_t group, bool begins)
{
    tell(told, begins ? group : -group);
}

void
run_guard_end(const run_guard *guard)
{
    tell(guard->told, 0);
    (void)close(guard->told);
    (void)waitpid(guard->process, NULL, 0);
}
