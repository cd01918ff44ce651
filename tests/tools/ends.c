/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two nodes, one of which waits for a mutex that the other has, and a process that ends without
 * either's having left, or a node that leaves with what it has locked: how a recording shows that.
 *
 *   ends return|exit|kill|finalize
 */
#include <mrapi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUTEX 1

static int told[2]; /* a pipe: the second's thread, before it waits */

static void
must(mrapi_status_t status, const char *what)
{
    char text[MRAPI_MAX_STATUS_SIZE];
    if (status != MRAPI_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, mrapi_display_status(status, text, sizeof text));
        exit(1);
    }
}

static void
node_begin(mrapi_node_t node)
{
    mrapi_parameters_t parameters = {0};
    mrapi_info_t info;
    mrapi_status_t status;
    mrapi_initialize(0, node, parameters, &info, &status);
    must(status, "initialize");
}

static void
lock(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "lock");
}

static void *
wait_for_it(void *nothing)
{
    mrapi_status_t status;
    node_begin(2);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(MUTEX, &status);
    must(status, "get");
    pid_t self = gettid();
    if (write(told[1], &self, sizeof self) != sizeof self)
        exit(1);
    lock(mutex);
    return nothing;
}

/* As the system has it: S, once it sleeps for the mutex. */
static char
state_of(pid_t thread)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        fclose(file);
    }
    return state;
}

static void
second_awaited(void)
{
    pid_t second;
    if (read(told[0], &second, sizeof second) != sizeof second)
        exit(1);
    while (state_of(second) != 'S')
        sched_yield();
}

int
main(int count, char **words)
{
    pthread_t second;
    mrapi_status_t status;
    if (count != 2 || pipe(told) != 0)
        return 2;
    node_begin(1);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(MUTEX, NULL, &status);
    must(status, "create");
    lock(mutex);
    pthread_create(&second, NULL, wait_for_it, NULL);
    second_awaited();
    if (strcmp(words[1], "exit") == 0)
        exit(0);
    if (strcmp(words[1], "kill") == 0)
        raise(SIGKILL);
    if (strcmp(words[1], "finalize") == 0) {
        mrapi_finalize(&status);
        must(status, "finalize");
        pthread_join(second, NULL);
    }
    return 0;
}
