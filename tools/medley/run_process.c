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

#define PATH_BYTES 4096

/* ---- OpenMP's libraries ---------------------------------------------------------------------- */

/* Seen from the command: where it is installed, and where it is built. */
static const char *const openmp_folders[] = {RUN_OPENMP_INSTALLED, RUN_OPENMP_BUILT};

static const char *
openmp_folder(void)
{
    static char found[PATH_BYTES];
    char own[PATH_BYTES / 2], path[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (*found || length <= 0) {
        return *found ? found : NULL;
    }
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof openmp_folders / sizeof openmp_folders[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s/libgomp.so.1", own, openmp_folders[i]);
        if (access(path, R_OK) == 0 && realpath(path, found)) {
            (void)snprintf(path, sizeof path, "%s/%s", own, openmp_folders[i]);
            return realpath(path, found);
        }
    }
    *found = '\0';
    return NULL;
}

static const char *
paths_before(void)
{
    static char *before;
    static bool known;
    if (!known) {
        const char *value = getenv("LD_LIBRARY_PATH");
        before = value ? strdup(value) : NULL;
        known = true;
    }
    return before;
}

bool
run_openmp_put(void)
{
    const char *folder = openmp_folder();
    const char *before = paths_before();
    char *paths;
    if (!folder ||
        asprintf(&paths, "%s%s%s", folder, before ? ":" : "", before ? before : "") < 0) {
        return false;
    }
    (void)setenv("LD_LIBRARY_PATH", paths, 1);
    free(paths);
    return true;
}

void
run_openmp_take_away(void)
{
    const char *before = paths_before();
    if (before) {
        (void)setenv("LD_LIBRARY_PATH", before, 1);
    } else {
        (void)unsetenv("LD_LIBRARY_PATH");
    }
}

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
        (void)run_openmp_put();
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
        (void)waitpid(process, NULL, 0);
        return -1;
    }
    return process;
}

/* ---- The end --------------------------------------------------------------------------------- */

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
    pid_t *list = run_children_read();
    for (const pid_t *at = list; at && *at; at++) {
        if (!is_among(others, *at)) {
            (void)kill(*at, SIGKILL);
            killed++;
        }
    }
    for (const pid_t *at = list; at && *at; at++) {
        if (!is_among(others, *at)) {
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
