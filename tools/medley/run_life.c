/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process from its start to its end, and whether it begins anew. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mrapi/process.h"
#include "tools/medley/output.h"
#include "tools/medley/recording.h"
#include "tools/medley/run_guard.h"
#include "tools/medley/run_process.h"
#include "tools/medley/run_watched.h"

#define GRACE_NS (5000 * RUN_MS_NS) /* from the request to end until it is no request any more */
#define SOON_NS (1000 * RUN_MS_NS)  /* who dies before that is not started again at once, */
#define PAUSE_NS (100 * RUN_MS_NS)  /* but after so long, then twice as long, */
#define PAUSE_DOUBLES_MOST 7u       /* and so on: 6.4 s */

void
run_life_signal(const run_child *child, int signal)
{
    if (kill(-child->process, signal) != 0 || signal == SIGKILL) {
        (void)kill(child->process, signal); /* it may have left its group */
    }
}

void
run_life_request_end(run_child *child, int signal, uint64_t now_ns)
{
    run_life_signal(child, signal);
    (void)kill(-child->process, SIGCONT); /* who is stopped would not hear it */
    child->kill_ns = now_ns + GRACE_NS;
}

/* Where it writes: to be read by us, or -1, to what is the command's own. False: it cannot be. */
static bool
output_make(const run_watched *w, run_child *child, unsigned which, int *end)
{
    bool to_errors = which == 1 || w->options->json;
    if (child->program->output == RUN_OUTPUT_PLAIN) {
        *end = to_errors && which == 0 ? STDERR_FILENO : -1;
        return true;
    }
    *end = run_lines_open(&child->lines[which], to_errors ? stderr : stdout, child->whose);
    if (*end < 0) {
        command_error(w->command, "%s cannot be started: what it writes: %s", child->whose,
                      strerror(errno));
    }
    return *end >= 0;
}

void
run_life_start(run_watched *w, run_child *child)
{
    run_start how = {.program = child->program,
                     .index = child->index,
                     .restarts = child->restarts,
                     .system = w->options->system_name,
                     .openmp_paths = w->options->openmp_paths,
                     .number = (unsigned)(child - w->children),
                     .signals = &w->options->before,
                     .descriptors = &w->descriptors,
                     .has_input = w->has_input && child == w->children,
                     .guard = w->options->guard,
                     .output = -1,
                     .errors = -1};
    (void)fflush(NULL);
    bool can_write = output_make(w, child, 0, &how.output) && output_make(w, child, 1, &how.errors);
    child->process = can_write ? run_process_start(w->command, &how) : -1;
    for (int i = 0; i < 2; i++) {
        int end = i ? how.errors : how.output;
        if (end > STDERR_FILENO) {
            (void)close(end);
        }
    }
    if (child->process < 0) {
        child->state = RUN_OVER;
        run_lines_close(&child->lines[0]);
        run_lines_close(&child->lines[1]);
        run_failed(w, RUN_EXIT_NOT_STARTED);
        return;
    }
    child->state = RUN_RUNS;
    child->started_ns = med_port_clock_ns();
    child->kill_ns = RUN_FOREVER;
    child->is_late = false;
    child->due_ns = child->program->time_limit_ms
                        ? child->started_ns + child->program->time_limit_ms * RUN_MS_NS
                        : RUN_FOREVER;
    run_tell(w, "%s is process %d", child->whose, (int)child->process);
    if (w->options->recording) {
        (void)recording_name(w->options->recording, (uint32_t)child->process, child->whose);
    }
}

static void
life_record(const run_watched *w, run_child *child, int status, const struct rusage *used)
{
    bool exited = WIFEXITED(status);
    uint64_t cpu_us = (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
    (void)json_array_append_new(
        child->lives,
        json_pack("{s:i, s:I, s:I, s:o, s:o, s:b, s:I, s:I}", "process_id", (int)child->process,
                  "started_ns", (json_int_t)(child->started_ns - w->began_ns), "lasted_ns",
                  (json_int_t)(med_port_clock_ns() - child->started_ns), "exit_status",
                  output_number(exited, exited ? (uint64_t)WEXITSTATUS(status) : 0), "signal",
                  output_number(!exited, exited ? 0 : (uint64_t)WTERMSIG(status)), "time_over",
                  child->is_late, "cpu_ns", (json_int_t)(cpu_us * 1000), "resident_bytes",
                  (json_int_t)used->ru_maxrss * 1024));
}

/* "ended with 3", "was killed by signal 9 (Killed)" */
static void
end_write(const run_child *child, int status, char *text, size_t size)
{
    if (child->is_late) {
        (void)snprintf(text, size, "took longer than its time limit, %g s",
                       child->program->time_limit_ms / 1e3);
    } else if (WIFSIGNALED(status)) {
        (void)snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    } else {
        (void)snprintf(text, size, "ended with %d", WEXITSTATUS(status));
    }
}

static bool
may_live_again(const run_child *child, int status, bool good)
{
    bool died = WIFSIGNALED(status) && !child->is_late;
    run_restart needed = died    ? RUN_RESTART_ON_DEATH
                         : !good ? RUN_RESTART_ON_FAILURE
                                 : RUN_RESTART_ALWAYS;
    return child->program->restart >= needed && child->restarts < child->program->restarts_most;
}

static void
start_again(run_child *child, const char *how)
{
    uint64_t now_ns = med_port_clock_ns();
    bool was_short = now_ns - child->started_ns < SOON_NS;
    unsigned before =
        child->short_lives < PAUSE_DOUBLES_MOST ? child->short_lives : PAUSE_DOUBLES_MOST;
    child->due_ns = was_short && before ? now_ns + (PAUSE_NS << (before - 1)) : now_ns;
    child->short_lives = was_short ? child->short_lives + 1 : 0;
    child->state = RUN_DUE;
    child->restarts++;
    (void)fprintf(stderr, "medley run: %s (process %d) %s; it is started again, %u of at most %u\n",
                  child->whose, (int)child->process, how, child->restarts,
                  child->program->restarts_most);
}

/* Its group goes with it; and what it was in the system is taken back at once, by us. */
void
run_life_ended(run_watched *w, run_child *child)
{
    int status;
    struct rusage used;
    char how[128];
    run_life_signal(child, SIGKILL);
    run_guard_tell(w->options->guard, child->process, false); /* while the number is its own */
    (void)wait4(child->process, &status, 0, &used);
    (void)med_process_recover_all(w->options->system);
    run_lines_end(&child->lines[0], w->is_told_to_end);
    run_lines_end(&child->lines[1], w->is_told_to_end);
    life_record(w, child, status, &used);
    end_write(child, status, how, sizeof how);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !child->is_late;
    if (!w->is_ending && may_live_again(child, status, good)) {
        start_again(child, how);
        return;
    }
    child->state = RUN_OVER;
    child->good = good;
    run_tell(w, "%s (process %d) %s", child->whose, (int)child->process, how);
    if (!good && !w->is_ending) {
        if (!w->options->tells) {
            command_error(w->command, "%s (process %d) %s", child->whose, (int)child->process, how);
        }
        run_failed(w, child->is_late      ? RUN_EXIT_TIME_LIMIT
                      : WIFEXITED(status) ? WEXITSTATUS(status)
                                          : RUN_EXIT_SIGNAL + WTERMSIG(status));
    }
}
