/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program that takes the library for a plug-in: opens it, uses it, closes it, and goes on. What
 * the library has left with the threads and with fork must still be there to be called.
 *
 *   unload LIBRARY
 */
#include <dlfcn.h>
#include <medley/medley.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *library;

/* Becomes a node, closes the library, and ends without finalize. */
static void *
is_a_node(void *argument)
{
    void (*initialize)(mrapi_domain_t, mrapi_node_t, mrapi_parameters_t, mrapi_info_t *,
                       mrapi_status_t *);
    void *symbol = dlsym(library, "mrapi_initialize");
    mrapi_status_t *status = argument;
    mrapi_info_t info;
    memcpy(&initialize, &symbol, sizeof initialize);
    initialize(1, 1, 0, &info, status);
    (void)dlclose(library);
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    mrapi_status_t status = MRAPI_ERR_NODE_INITFAILED;
    int ended;
    library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library || pthread_create(&thread, NULL, is_a_node, &status) != 0 ||
        pthread_join(thread, NULL) != 0) {
        (void)fprintf(stderr, "unload: %s\n", library ? "no thread" : dlerror());
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    int well = child > 0 && waitpid(child, &ended, 0) == child && ended == 0;
    return well && status == MRAPI_SUCCESS ? 0 : 1;
}
