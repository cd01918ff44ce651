/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Between fork and exec; where that goes wrong, the parent learns by a pipe that closes else. */
#include "tools/medley/run_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/medley/run_guard.h"

/* ---- The child ------------------------------------------------------------------------------- */

typedef struct refusal {
    int error;
    char what[64];
} refusal;

static void
setting_number(const char *name, unsigned number)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u", number);
    (void)setenv(name, text, 1);
}

static void
environment_make(const run_start *start)
{
    const run_program *program = start->program;
    if (program->openmp == RUN_OPENMP_MEDLEY) {
        (void)setenv("LD_LIBRARY_PATH", start->openmp_paths, 1);
    }
    for (char **setting = program->environment; setting && *setting; setting++) {
        (void)putenv(*setting);
    }
    (void)setenv("MEDLEY_SYSTEM", start->system, 1);
    (void)setenv("MEDLEY_RUN_PROGRAM", program->name, 1);
    setting_number("MEDLEY_RUN_INDEX", start->index);
    setting_number("MEDLEY_RUN_COUNT", program->count);
    setting_number("MEDLEY_RUN_RESTARTS", start->restarts);
}

/* The processor whose turn it is, of those that may be used. */
static void
processor_pick(const cpu_set_t *may, unsigned index, cpu_set_t *picked)
{
    int turn = (int)(index % (unsigned)CPU_COUNT(may));
    CPU_ZERO(picked);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, may) && turn-- == 0) {
            CPU_SET(i, picked);
        }
    }
}

static bool
bind_to_processors(const run_start *start)
{
    const run_processors *wanted = &start->program->processors;
    cpu_set_t may, picked = wanted->list;
    if (wanted->binding == RUN_BINDING_NONE) {
        return true;
    }
    if (wanted->binding == RUN_BINDING_SPREAD) {
        if (sched_getaffinity(0, sizeof may, &may) != 0) {
            return false;
        }
        processor_pick(&may, start->number, &picked);
    }
    return sched_setaffinity(0, sizeof picked, &picked) == 0;
}

static bool
files_place(const run_start *start)
{
    int input = start->has_input ? STDIN_FILENO : open("/dev/null", O_RDONLY | O_CLOEXEC);
    return input >= 0 && (start->has_input || dup2(input, STDIN_FILENO) >= 0) &&
           (start->output < 0 || dup2(start->output, STDOUT_FILENO) >= 0) &&
           (start->errors < 0 || dup2(start->errors, STDERR_FILENO) >= 0);
}

/* Returns only with what is in the way. */
static const char *
become(const run_start *start, pid_t parent)
{
    const run_program *program = start->program;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_FAILURE);
    }
    run_guard_tell(start->guard, getpid(), true);
    if (!files_place(start)) {
        return "its files";
    }
    if (!bind_to_processors(start)) {
        return "its processors";
    }
    if (program->folder && chdir(program->folder) != 0) {
        return program->folder;
    }
    environment_make(start);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setrlimit(RLIMIT_NOFILE, start->descriptors);
    (void)sigprocmask(SIG_SETMASK, start->signals, NULL);
    (void)execvp(program->words[0], program->words);
    return program->words[0];
}

static void
child(const run_start *start, pid_t parent, int tells)
{
    refusal why = {.error = 0};
    const char *what = become(start, parent);
    why.error = errno;
    (void)snprintf(why.what, sizeof why.what, "%s", what);
    if (write(tells, &why, sizeof why) < 0) {
        _exit(EXIT_FAILURE); /* who would be told is gone, too */
    }
    _exit(EXIT_FAILURE);
}

/* ---- The parent ------------------------------------------------------------------------------ */

static bool
has_become(int told, refusal *why)
{
    ssize_t got;
    do {
        got = read(told, why, sizeof *why);
    } while (got < 0 && errno == EINTR);
    return got == 0;
}

pid_t
run_process_start(const med_command *command, const run_start *start)
{
    int ends[2] = {-1, -1};
    refusal why = {.error = EPIPE};
    const char *name = start->program->name;
    pid_t parent = getpid();
    pid_t process = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (process == 0) {
        child(start, parent, ends[1]);
    }
    if (process < 0) {
        command_error(command, "%s: no process can be started: %s", name, strerror(errno));
        if (ends[0] >= 0) {
            (void)close(ends[0]);
            (void)close(ends[1]);
        }
        return -1;
    }
    (void)setpgid(process, process); /* whoever of both comes first */
    (void)close(ends[1]);
    bool good = has_become(ends[0], &why);
    (void)close(ends[0]);
    if (!good) {
        command_error(command, "%s cannot be started: %s: %s", name, why.what, strerror(why.error));
        run_guard_tell(start->guard, process, false); /* while the number is its own */
        (void)waitpid(process, NULL, 0);
        return -1;
    }
    return process;
}
