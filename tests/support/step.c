/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/step.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
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

static void
stop_here(void)
{
    (void)kill(getpid(), SIGSTOP);
}

static int
await(pid_t child, int options)
{
    int status = 0;
    pid_t pid;
    do {
        pid = waitpid(child, &status, options | __WALL);
    } while (pid < 0 && errno == EINTR);
    return pid == child ? status : -1;
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
        step_kill(child);
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

pid_t
step_start(const step_operation *operation)
{
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(0);
        if (operation->prepare) {
            operation->prepare();
        }
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(98);
        }
        stop_here(); /* the marker */
        operation->operate();
        stop_here(); /* the end */
        _exit(0);
    }
    int status = await(child, 0);
    if (!stopped_by(status, SIGSTOP)) {
        broken("the child did not reach its marker", status);
    }
    (void)ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
    return child;
}

#define LOOKS_BEFORE_ASKING 8

/* The status of its next stop, or -1 once it sleeps. */
static int
await_awake(pid_t child)
{
    for (unsigned look = 1;; look++) {
        int status = await(child, WNOHANG);
        if (status != -1) {
            return status;
        }
        if (look % LOOKS_BEFORE_ASKING == 0 && process_sleeps(child)) {
            return -1;
        }
        (void)sched_yield();
    }
}

step_outcome
step_run(pid_t child, uint32_t steps, void (*asleep)(void))
{
    step_outcome outcome = {.steps = 0};
    while (outcome.steps < steps) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
            broken("the child is gone", errno);
        }
        int status = asleep ? await_awake(child) : await(child, 0);
        if (status == -1 && outcome.steps + 1 == steps) {
            outcome.steps++;
            outcome.asleep = true;
            return outcome;
        }
        if (status == -1) {
            asleep();
            asleep = NULL;
            status = await(child, 0);
        }
        if (stopped_by(status, SIGSTOP)) {
            outcome.ended = true;
            return outcome;
        }
        if (!stopped_by(status, SIGTRAP)) {
            broken("the child ended by itself", status);
        }
        outcome.steps++;
    }
    return outcome;
}

void
step_stop(pid_t child)
{
    if (ptrace(PTRACE_DETACH, child, NULL, SIGSTOP) != 0 ||
        !stopped_by(await(child, WUNTRACED), SIGSTOP)) {
        broken("the child does not stop", errno);
    }
}

void
step_kill(pid_t child)
{
    int status;
    (void)kill(child, SIGKILL);
    do {
        status = await(child, 0);
    } while (status != -1 && WIFSTOPPED(status));
}
