/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A process apart: a pipe and fork. The child drops the program's signal handlers, writes no core
 * and nothing to standard error, and is ended by an alarm.
 */
#include "modules/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program's handlers are not for this process; what it dies of, or says, is nobody's news. */
static void
become_plain(unsigned patience_s)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGPIPE};
    const struct rlimit none = {0, 0};
    sigset_t all;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        (void)signal(numbers[i], SIG_DFL);
    }
    (void)sigemptyset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)setrlimit(RLIMIT_CORE, &none);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)dup2(nowhere, STDERR_FILENO);
    (void)alarm(patience_s);
}

pid_t
child_begin(int *fd, unsigned patience_s)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
        return -1;
    }
    pid_t pid = fork();
    int error = errno;
    if (pid == 0) {
        become_plain(patience_s);
    }
    (void)close(fds[pid == 0 ? 0 : 1]);
    *fd = fds[pid == 0 ? 1 : 0];
    if (pid < 0) {
        (void)close(*fd);
        errno = error;
    }
    return pid;
}

int
child_end(pid_t pid, int fd)
{
    int status;
    pid_t ended;
    (void)close(fd);
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
    }
    if (ended != pid) {
        return CHILD_LOST;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
