/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ptrace: stopping at the marker, one instruction or one system call at a time, telling who sleeps
 * from who runs, and the kill.
 */
#include "support/step.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/process.h"

/* ---- Is it possible? ------------------------------------------------------------------------- */

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

static pid_t
thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Of all its threads the caller's alone; a traced one stops, and the tracer keeps the others going.
 */
static void
stop_here(void)
{
    (void)syscall(SYS_tgkill, getpid(), thread_id(), SIGSTOP);
}

static int
await(pid_t thread, int options)
{
    int status = 0;
    pid_t pid;
    do {
        pid = waitpid(thread, &status, options | __WALL);
    } while (pid < 0 && errno == EINTR);
    return pid == thread ? status : -1;
}

static bool
stopped_by(int status, int signal)
{
    return status != -1 && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

const char *
step_impossible(void)
{
    if (UNDER_TSAN) {
        return "the thread sanitizer's own threads cannot be stepped";
    }
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(1);
        }
        stop_here();
        _exit(0);
    }
    int status = await(child, 0);
    bool traced = stopped_by(status, SIGSTOP) &&
                  ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 &&
                  stopped_by(await(child, 0), SIGTRAP);
    if (status == -1 || WIFSTOPPED(status)) {
        step_kill((step_child){.process = child, .thread = child});
    }
    return traced ? NULL : "no ptrace";
}

/* ---- Stepping -------------------------------------------------------------------------------- */

static void
broken(const char *what, int status)
{
    (void)fprintf(stderr, "step: %s (wait status %#x)\n", what, (unsigned)status);
    abort();
}

/* In the child. */
static const step_operation *operation_here;
static int tester_hears;

/* The thread that calls this is the one. */
static void
be_stepped(void)
{
    pid_t self = thread_id();
    /* Traced before it is known: from then on it can be waited for. */
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 ||
        write(tester_hears, &self, sizeof self) != (ssize_t)sizeof self) {
        _exit(98);
    }
    stop_here(); /* the marker */
    operation_here->operate();
    if (!operation_here->host) {
        stop_here(); /* the end */
        _exit(0);
    }
}

static void
child_body(const step_operation *operation, int hears)
{
    operation_here = operation;
    tester_hears = hears;
    (void)alarm(0);
    if (operation->prepare) {
        operation->prepare();
    }
    if (operation->host) {
        operation->host(be_stepped);
    } else {
        be_stepped();
    }
    _exit(97); /* a host stays */
}

step_child
step_start(const step_operation *operation)
{
    int tells[2];
    step_child child = {0};
    if (pipe(tells) != 0) {
        broken("no pipe", errno);
    }
    (void)fflush(NULL);
    child.process = fork();
    if (child.process == 0) {
        (void)close(tells[0]);
        child_body(operation, tells[1]);
    }
    (void)close(tells[1]);
    if (read(tells[0], &child.thread, sizeof child.thread) != (ssize_t)sizeof child.thread) {
        broken("the child did not reach its marker", await(child.process, 0));
    }
    (void)close(tells[0]);
    int status = await(child.thread, 0);
    if (!stopped_by(status, SIGSTOP)) {
        broken("the child did not stop at its marker", status);
    }
    (void)ptrace(PTRACE_SETOPTIONS, child.thread, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
    return child;
}

#define LOOKS_BEFORE_ASKING 8
#define CALL_BIT 0x80 /* a stop at a system call: PTRACE_O_TRACESYSGOOD */

/* The status of its next stop, or -1 once it sleeps. */
static int
await_awake(pid_t thread)
{
    for (unsigned look = 1;; look++) {
        int status = await(thread, WNOHANG);
        if (status != -1) {
            return status;
        }
        if (look % LOOKS_BEFORE_ASKING == 0 && process_sleeps(thread)) {
            return -1;
        }
        (void)sched_yield();
    }
}

/* Where the marker at the end is, or the thread is no more. */
static bool
has_ended(step_child child, int status)
{
    return stopped_by(status, SIGSTOP) ||
           (child.thread != child.process && status != -1 && WIFEXITED(status));
}

static uint64_t
place_of(pid_t thread)
{
    char path[40];
    char line[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/syscall", (long)thread);
    FILE *file = fopen(path, "r");
    if (!file) {
        return 0;
    }
    const char *read = fgets(line, sizeof line, file);
    (void)fclose(file);
    /* Whatever else the line says, the place is its last word. */
    const char *last = read ? strrchr(line, ' ') : NULL;
    return last ? strtoull(last, NULL, 16) : 0;
}

static void
note_place(step_child child, uint32_t at)
{
    if (child.places && at < child.places_max) {
        child.places[at] = place_of(child.thread);
    }
}

/* Goes on to the next stop by way of `request`. Its status, or -1: it sleeps, and stays so. */
static int
go_on(step_child child, int request, void (*asleep)(void), bool may_wake, step_outcome *outcome)
{
    if (ptrace((enum __ptrace_request)request, child.thread, NULL, NULL) != 0) {
        broken("the child is gone", errno);
    }
    bool looks = asleep && !outcome->woken;
    int status = looks ? await_awake(child.thread) : await(child.thread, 0);
    if (status == -1 && looks && may_wake) {
        asleep();
        outcome->woken = true;
        status = await(child.thread, 0);
    }
    return status;
}

step_outcome
step_run(step_child child, uint32_t steps, void (*asleep)(void))
{
    step_outcome outcome = {.steps = 0};
    while (outcome.steps < steps) {
        bool last = outcome.steps + 1 == steps;
        int status = go_on(child, PTRACE_SINGLESTEP, asleep, !last, &outcome);
        if (has_ended(child, status)) {
            outcome.ended = true;
            return outcome;
        }
        outcome.asleep = last && status == -1;
        if (!outcome.asleep && !stopped_by(status, SIGTRAP)) {
            broken("the child ended by itself", status);
        }
        note_place(child, outcome.steps);
        outcome.steps++;
    }
    return outcome;
}

step_outcome
step_calls(step_child child, uint32_t calls, void (*asleep)(void))
{
    step_outcome outcome = {.steps = 0};
    bool inside = false;
    while (outcome.steps < calls) {
        int status = go_on(child, PTRACE_SYSCALL, asleep, true, &outcome);
        if (has_ended(child, status)) {
            outcome.ended = true;
            return outcome;
        }
        if (!stopped_by(status, SIGTRAP | CALL_BIT)) {
            broken("the child ended by itself", status);
        }
        if (inside) {
            note_place(child, outcome.steps);
            outcome.steps++;
        }
        inside = !inside;
    }
    return outcome;
}

void
step_stop(step_child child)
{
    if (ptrace(PTRACE_DETACH, child.thread, NULL, SIGSTOP) != 0 ||
        !stopped_by(await(child.process, WUNTRACED), SIGSTOP)) {
        broken("the child does not stop", errno);
    }
}

static void
await_end(pid_t thread)
{
    int status;
    do {
        status = await(thread, 0);
    } while (status != -1 && WIFSTOPPED(status));
}

void
step_kill(step_child child)
{
    (void)kill(child.process, SIGKILL);
    await_end(child.thread);
    if (child.thread != child.process) {
        await_end(child.process);
    }
}
