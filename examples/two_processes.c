/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two processes take turns with one mutex. One dies holding it; the other gets it, and is told. */
#define _DEFAULT_SOURCE /* dprintf, kill and usleep, with -std=c17 too */
#include <medley/medley.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int
main(void)
{
    mrapi_node_t me = 1;
    mrapi_info_t info;
    mrapi_key_t key;
    mrapi_status_t status;
    char text[MRAPI_MAX_STATUS_SIZE];
    mrapi_initialize(0, me, 0, &info, &status);
    mrapi_mutex_hndl_t turn = mrapi_mutex_create(7, NULL, &status);
    if (status == MRAPI_SUCCESS && fork() == 0) {
        mrapi_initialize(0, me = 2, 0, &info, &status); /* a node of its own, of the same system */
        turn = mrapi_mutex_get(7, &status);
    }
    for (int count = 1, told = 0; status == MRAPI_SUCCESS && !told; count++) {
        mrapi_mutex_lock(turn, &key, MRAPI_TIMEOUT_INFINITE, &status);
        told = medley_lock_owner_died();
        dprintf(1, "node %u has turn %d%s\n", me, count,
                told ? ": who had it before has died" : "");
        usleep(100000);                                      /* work */
        kill(getpid(), me == 2 && count == 3 ? SIGKILL : 0); /* 0 does nothing */
        mrapi_mutex_unlock(turn, &key, &status);
        usleep(100000); /* other work */
    }
    dprintf(1, "node %u ends: %s\n", me, mrapi_display_status(status, text, sizeof text));
    return status;
}
