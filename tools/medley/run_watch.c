/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One turn: start what may start, wait, see what happened. */
#include "tools/medley/run_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mrapi/process.h"
#include "tools/medley/recording.h"
#include "tools/medley/run_leftovers.h"
#include "tools/medley/run_watched.h"

#define LOOK_NS (10 * RUN_MS_NS) /* between two looks at who is ready, */
#define LINGER_NS (100 * RUN_MS_NS)
#define RECORDED_NS (5 * RUN_MS_NS) /* and at the trace */

void
run_tell(const run_watched *w, const char *format, ...)
{
    va_list arguments;
    if (w->options->tells) {
        va_start(arguments, format);
        (void)fprintf(stderr, "medley run: ");
        (void)vfprintf(stderr, format, arguments);
        (void)fputc('\n', stderr);
        va_end(arguments);
    }
}

/* ---- The end of all -------------------------------------------------------------------------- */

/* Who runs is told to end; who has not begun will not. */
void
run_end_all(run_watched *w, int signal)
{
    uint64_t now_ns = med_port_clock_ns();
    w->is_ending = true;
    for (unsigned i = 0; i < w->child_count; i++) {
        run_child *child = &w->children[i];
        if (child->state == RUN_RUNS) {
            run_life_request_end(child, signal, now_ns);
        } else {
            child->state = RUN_OVER;
        }
    }
}

static void
kill_all(const run_watched *w)
{
    for (unsigned i = 0; i < w->child_count; i++) {
        if (w->children[i].state == RUN_RUNS) {
            run_life_signal(&w->children[i], SIGKILL);
        }
    }
}

/* For good. */
void
run_failed(run_watched *w, int status)
{
    w->status = w->status ? w->status : status;
    if (!w->options->keeps_going && !w->is_ending) {
        run_tell(w, "all are ended");
        run_end_all(w, SIGTERM);
    }
}

/* Who served those that are over, and has been told so by them, may just be ending. */
static void
linger(run_watched *w)
{
    uint64_t now_ns = med_port_clock_ns();
    if (w->linger_ns == 0) {
        w->linger_ns = now_ns + LINGER_NS;
    } else if (now_ns >= w->linger_ns) {
        run_end_all(w, SIGTERM);
    }
}

/* Behind all that could start: who waits in vain never will, and who only serves the others ends
 * when none of them is left. */
static void
settle(run_watched *w)
{
    bool some_left = false;
    for (unsigned i = 0; i < w->child_count; i++) {
        run_child *child = &w->children[i];
        const run_program *before = run_ready_in_vain(w, child);
        if (before) {
            child->state = RUN_OVER;
            command_error(w->command, "%s never starts: %s has ended, and was not ready",
                          child->whose, before->name);
            run_failed(w, RUN_EXIT_NOT_STARTED);
        }
        some_left |= child->state != RUN_OVER && !child->program->background;
    }
    if (!w->is_ending && !some_left) {
        linger(w);
    } else {
        w->linger_ns = 0;
    }
}

/* Who is started may be what others wait for. */
static void
start_who_may(run_watched *w)
{
    bool some_did = true;
    while (some_did && !w->is_ending) {
        some_did = false;
        run_ready_look(w);
        for (unsigned i = 0; i < w->child_count && !w->is_ending; i++) {
            if (run_ready_may_start(w, &w->children[i], med_port_clock_ns())) {
                run_life_start(w, &w->children[i]);
                some_did = true;
            }
        }
    }
}

/* ---- What happens ---------------------------------------------------------------------------- */

static run_child *
child_of(const run_watched *w, pid_t process)
{
    for (unsigned i = 0; i < w->child_count; i++) {
        if (w->children[i].state == RUN_RUNS && w->children[i].process == process) {
            return &w->children[i];
        }
    }
    return NULL;
}

/* Orphans, too: whoever they were of, they are ours now. */
static void
reap(run_watched *w)
{
    siginfo_t info = {.si_pid = 0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        run_child *child = child_of(w, info.si_pid);
        run_names_remove(info.si_pid);
        if (child) {
            run_life_ended(w, child);
        } else {
            (void)waitpid(info.si_pid, NULL, 0);
        }
        info.si_pid = 0;
    }
}

/* The first asks all to end, a second one ends them. */
static void
told_to_end(run_watched *w, int signal)
{
    w->is_told_to_end = true;
    if (w->is_ending) {
        kill_all(w);
        return;
    }
    run_tell(w, "%s: all are ended", strsignal(signal));
    w->status = w->status ? w->status : RUN_EXIT_SIGNAL + signal;
    run_end_all(w, signal);
}

static void
pass_on(const run_watched *w, int signal)
{
    for (unsigned i = 0; i < w->child_count; i++) {
        if (w->children[i].state == RUN_RUNS) {
            run_life_signal(&w->children[i], signal);
        }
    }
    if (signal == SIGTSTP) {
        (void)raise(SIGSTOP); /* until somebody continues it, and so them */
        pass_on(w, SIGCONT);
    }
}

static void
signals_take(run_watched *w)
{
    struct signalfd_siginfo info;
    while (read(w->options->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        switch (info.ssi_signo) {
        case SIGCHLD:
            break;
        case SIGINT:
        case SIGTERM:
        case SIGHUP:
        case SIGQUIT:
            told_to_end(w, (int)info.ssi_signo);
            break;
        default:
            pass_on(w, (int)info.ssi_signo);
        }
    }
    reap(w);
}

static uint64_t
least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int
timeout_ms(const run_watched *w)
{
    uint64_t now_ns = med_port_clock_ns();
    uint64_t next_ns = run_ready_is_looked_for(w) ? now_ns + LOOK_NS : RUN_FOREVER;
    next_ns = w->options->recording ? now_ns + RECORDED_NS : next_ns;
    for (unsigned i = 0; i < w->child_count; i++) {
        const run_child *child = &w->children[i];
        if (child->state == RUN_RUNS) {
            next_ns =
                least(next_ns, least(child->is_late ? RUN_FOREVER : child->due_ns, child->kill_ns));
        } else if (child->state == RUN_DUE) {
            next_ns = least(next_ns, child->due_ns);
        }
    }
    next_ns = w->linger_ns ? least(next_ns, w->linger_ns) : next_ns;
    if (next_ns == RUN_FOREVER) {
        return -1;
    }
    uint64_t left_ms = next_ns > now_ns ? (next_ns - now_ns + RUN_MS_NS - 1) / RUN_MS_NS : 0;
    return left_ms < 60000 ? (int)left_ms : 60000;
}

static void
look_at_the_clock(run_watched *w)
{
    uint64_t now_ns = med_port_clock_ns();
    for (unsigned i = 0; i < w->child_count; i++) {
        run_child *child = &w->children[i];
        if (child->state != RUN_RUNS) {
            continue;
        }
        if (child->kill_ns <= now_ns) {
            run_life_signal(child, SIGKILL);
            child->kill_ns = RUN_FOREVER;
        } else if (child->due_ns <= now_ns && !child->is_late) {
            child->is_late = true;
            run_life_request_end(child, SIGTERM, now_ns);
        }
    }
}

/* Who has no memory for more goes on without: what was recorded is. */
static void
look_at_the_trace(const run_watched *w)
{
    if (w->options->recording && !recording_look(w->options->recording)) {
        command_error(w->command, "no memory for more of the trace");
        w->options->recording->most = w->options->recording->count;
    }
}

/* As who writes to a pipe that nobody reads ends. */
static void
nobody_reads(run_watched *w)
{
    int error = run_lines_error();
    if (error != EPIPE) {
        command_error(w->command, "what programs write cannot be written: %s", strerror(error));
    }
    w->is_told_to_end = true;
    w->status = w->status ? w->status : RUN_EXIT_SIGNAL + SIGPIPE;
    if (!freopen("/dev/null", "w", stdout)) {
        clearerr(stdout);
    }
    if (!w->is_ending) {
        run_end_all(w, SIGTERM);
    }
}

/* What is written first, then who has ended: nothing of his is lost. */
static void
wait_and_see(run_watched *w)
{
    static struct pollfd files[1 + 2 * RUN_PROCESSES_MAX];
    static run_lines *lines[1 + 2 * RUN_PROCESSES_MAX];
    nfds_t count = 1;
    files[0] = (struct pollfd){.fd = w->options->signals, .events = POLLIN};
    for (unsigned i = 0; i < 2 * w->child_count; i++) {
        run_lines *one = &w->children[i / 2].lines[i % 2];
        if (one->from >= 0) {
            lines[count] = one;
            files[count++] = run_lines_poll(one);
        }
    }
    int timeout = timeout_ms(w);
    if (poll(files, count, timeout) < 0) {
        return; /* EINTR: none of the signals is handled */
    }
    for (nfds_t i = 1; i < count; i++) {
        if (files[i].revents) {
            run_lines_take(lines[i]);
        }
    }
    if (files[0].revents) {
        signals_take(w);
    }
    if (ferror(stdout)) {
        nobody_reads(w);
    }
}

static bool
is_over(const run_watched *w)
{
    for (unsigned i = 0; i < w->child_count; i++) {
        if (w->children[i].state != RUN_OVER) {
            return false;
        }
    }
    return true;
}

/* ---- Before and after ------------------------------------------------------------------------ */

/* Those that whoever started us has ignored stay so: nohup, a shell's background. */
static bool
is_ignored(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

bool
run_watch_hear(run_options *options)
{
    static const int all[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP};
    sigset_t taken;
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, nobody's end would be told */
    (void)sigemptyset(&taken);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!is_ignored(all[i])) {
            (void)sigaddset(&taken, all[i]);
        }
    }
    (void)sigprocmask(SIG_BLOCK, &taken, &options->before);
    (void)signal(SIGPIPE, SIG_IGN);
    options->signals = signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
    return options->signals >= 0;
}

/* Two for what each process writes, and some more. */
static void
descriptors_allow(run_watched *w)
{
    (void)getrlimit(RLIMIT_NOFILE, &w->descriptors);
    struct rlimit most = {w->descriptors.rlim_max, w->descriptors.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &most);
}

static bool
children_make(run_watched *w)
{
    for (unsigned i = 0; i < w->plan->program_count; i++) {
        w->child_count += w->plan->programs[i].count;
    }
    /* One more, so that no memory is what NULL says. */
    w->children = calloc(w->child_count + 1u, sizeof *w->children);
    run_child *child = w->children;
    for (unsigned i = 0; w->children && i < w->plan->program_count; i++) {
        const run_program *program = &w->plan->programs[i];
        for (unsigned index = 0; index < program->count; index++, child++) {
            *child = (run_child){.program = program,
                                 .index = index,
                                 .lines = {{.from = -1}, {.from = -1}},
                                 .lives = json_array()};
            (void)snprintf(child->whose, sizeof child->whose, program->count > 1 ? "%s.%u" : "%s",
                           program->name, index);
        }
    }
    return w->children != NULL;
}

static json_t *
report_make(const run_watched *w)
{
    json_t *processes = json_array();
    for (unsigned i = 0; i < w->child_count; i++) {
        const run_child *child = &w->children[i];
        (void)json_array_append_new(
            processes, json_pack("{s:s, s:i, s:b, s:o}", "program", child->program->name, "index",
                                 (int)child->index, "good", child->good, "lives", child->lives));
    }
    return json_pack("{s:s, s:I, s:i, s:o}", "system", w->options->system_name, "lasted_ns",
                     (json_int_t)(med_port_clock_ns() - w->began_ns), "exit_status", w->status,
                     "processes", processes);
}

static void
children_forget(run_watched *w)
{
    for (unsigned i = 0; i < w->child_count; i++) {
        free(w->children[i].lines[0].bytes);
        free(w->children[i].lines[1].bytes);
    }
    free(w->children);
}

int
run_watch(const med_command *command,
          const run_plan *plan,
          const run_options *options,
          json_t **report)
{
    run_watched w = {.command = command,
                     .plan = plan,
                     .options = options,
                     .began_ns = med_port_clock_ns(),
                     .has_input = !isatty(STDIN_FILENO)};
    pid_t *others = run_children_read();
    if (!children_make(&w) || !others) {
        free(w.children);
        free(others);
        command_error(command, "no memory, or no /proc");
        return COMMAND_FAILED;
    }
    descriptors_allow(&w);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    while (!is_over(&w)) {
        start_who_may(&w);
        settle(&w);
        if (!is_over(&w)) {
            wait_and_see(&w);
            look_at_the_clock(&w);
            look_at_the_trace(&w);
        }
    }
    run_leftovers_kill(others);
    free(others);
    (void)med_process_recover_all(options->system);
    *report = report_make(&w);
    children_forget(&w);
    return w.status;
}
