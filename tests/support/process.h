/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Child processes of a test. A child runs one function and talks with its parent a byte at a time:
 * so they take turns without sleeping, and whoever listens to a dead one hears 0.
 */
#ifndef MEDLEY_TESTS_SUPPORT_PROCESS_H
#define MEDLEY_TESTS_SUPPORT_PROCESS_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The other side, seen from either. */
typedef struct test_process {
    pid_t pid;
    int in;
    int out;
} test_process;

/* In a child: a false expectation is its end, and its parent's test fails for the exit status. */
#define child_expect(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: child: %s\n", __FILE__, __LINE__, #condition);           \
            _exit(99);                                                                             \
        }                                                                                          \
    } while (0)

static inline void
process_say(const test_process *other, char word)
{
    ssize_t n = write(other->out, &word, 1);
    (void)n; /* nobody listens: the other is gone, and its join tells */
}

static inline char
process_hear(const test_process *other)
{
    char word = 0;
    ssize_t n;
    do {
        n = read(other->in, &word, 1);
    } while (n < 0 && errno == EINTR);
    return n == 1 ? word : 0;
}

/* Runs `body` in a child; what it returns is the exit status. The parent's side goes to `child`. */
static inline void
process_start(test_process *child,
              int (*body)(test_process *parent, void *argument),
              void *argument)
{
    int down[2];
    int up[2];
    if (pipe(down) != 0 || pipe(up) != 0) {
        abort();
    }
    (void)fflush(NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    pid_t pid = fork();
    if (pid < 0) {
        abort();
    }
    if (pid == 0) {
        test_process parent = {.pid = getppid(), .in = down[0], .out = up[1]};
        (void)close(down[1]);
        (void)close(up[0]);
        _exit(body(&parent, argument));
    }
    (void)close(down[0]);
    (void)close(up[1]);
    *child = (test_process){.pid = pid, .in = up[0], .out = down[1]};
}

/* The exit status; minus the signal where one killed it. */
static inline int
process_join(test_process *child)
{
    int status = 0;
    (void)close(child->out);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    (void)close(child->in);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Kills it; on return it is a zombie. To be joined. */
static inline void
process_kill(const test_process *child)
{
    siginfo_t info;
    (void)kill(child->pid, SIGKILL);
    while (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
}

/* Returns when it has stopped itself (SIGSTOP); false when it ended instead. */
static inline bool
process_await_stop(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, WUNTRACED) < 0 && errno == EINTR) {
    }
    return WIFSTOPPED(status);
}

/* Does that process or thread sleep in the kernel, as opposed to being on its way? */
static inline bool
process_sleeps(pid_t pid)
{
    char path[40];
    char line[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    if (!file) {
        return false;
    }
    const char *read = fgets(line, sizeof line, file);
    (void)fclose(file);
    const char *after_name = read ? strrchr(line, ')') : NULL;
    return after_name && after_name[1] == ' ' && after_name[2] == 'S';
}

/* Zeroed memory that children of the caller share with it. */
static inline void *
process_shared_memory(size_t size_bytes)
{
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        abort();
    }
    return p;
}

#endif
