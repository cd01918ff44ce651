/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two processes exchange by MCAPI: a message, packets filled in place, a state, and an answer. */
#include <medley/mcapi_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAIL,
    LINES,
    PROGRESS
}; /* ports */

static mcapi_status_t status;

static void
must(const char *what)
{
    char text[MCAPI_MAX_STATUS_SIZE];
    if (status != MCAPI_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, mcapi_display_status(status, text, sizeof text));
        exit(1);
    }
}

/* What ends later is a request; here it is waited for at once. */
static void
wait_for(mcapi_request_t request, const char *what)
{
    size_t size;
    must(what);
    mcapi_wait(&request, &size, 10 * 1000 * 1000, &status);
    must(what);
}

static mcapi_endpoint_t
endpoint(mcapi_port_t port)
{
    mcapi_timeout_t patience = 10 * 1000 * 1000; /* microseconds */
    mcapi_endp_attr_buffer_type_t newest_only = MCAPI_ENDP_ATTR_STATE_BUFFER;
    mcapi_endpoint_t made = mcapi_endpoint_create(port, &status);
    must("endpoint");
    mcapi_endpoint_set_attribute(made, MCAPI_ENDP_ATTR_TIMEOUT, &patience, sizeof patience,
                                 &status);
    must("timeout");
    if (port == PROGRESS)
        mcapi_endpoint_set_attribute(made, MCAPI_ENDP_ATTR_BUFFER_TYPE, &newest_only,
                                     sizeof newest_only, &status);
    must("buffer type");
    return made;
}

/* An open channel from the caller's endpoint to node 2's. */
static mcapi_pktchan_send_hndl_t
channel(mcapi_port_t port)
{
    mcapi_request_t request;
    mcapi_pktchan_send_hndl_t handle;
    mcapi_endpoint_t from = endpoint(port), to = mcapi_endpoint_get(0, 2, port, 0, &status);
    must("get");
    mcapi_pktchan_connect_i(from, to, &request, &status);
    wait_for(request, "connect");
    mcapi_pktchan_send_open_i(&handle, from, &request, &status);
    wait_for(request, "open");
    return handle;
}

static void
sender(void)
{
    mcapi_endpoint_t mail = endpoint(MAIL);
    mcapi_endpoint_t to = mcapi_endpoint_get(0, 2, MAIL, 10 * 1000 * 1000, &status);
    must("get"); /* node 2 makes this one last, so the others are there */
    mcapi_pktchan_send_hndl_t lines = channel(LINES), progress = channel(PROGRESS);
    mcapi_msg_send(mail, to, "three lines", 12, 0, &status); /* 0: the most urgent */
    must("message");
    for (int line = 1; line <= 3; line++) {
        char *buffer = medley_mcapi_pktchan_take(lines, &status);
        must("take");
        size_t size = (size_t)sprintf(buffer, "line %d, never copied", line) + 1;
        medley_mcapi_pktchan_send_taken(lines, buffer, size, &status); /* from now on node 2's */
        must("packet");
        mcapi_pktchan_send(progress, &line, sizeof line, &status); /* never waits */
        must("state");
    }
    mcapi_request_t request;
    mcapi_pktchan_send_close_i(lines, &request, &status);
    wait_for(request, "close");
    char answer[64];
    size_t size;
    mcapi_msg_recv(mail, answer, sizeof answer, &size, &status);
    must("answer");
    printf("node 1: \"%s\"\n", answer);
}

static void
receiver(void)
{
    mcapi_request_t request;
    mcapi_pktchan_recv_hndl_t lines, progress;
    mcapi_endpoint_t line_end = endpoint(LINES), progress_end = endpoint(PROGRESS);
    mcapi_endpoint_t mail = endpoint(MAIL);
    mcapi_pktchan_recv_open_i(&lines, line_end, &request, &status);
    wait_for(request, "open"); /* until it is connected */
    mcapi_pktchan_recv_open_i(&progress, progress_end, &request, &status);
    wait_for(request, "open");
    char text[64];
    size_t size;
    mcapi_msg_recv(mail, text, sizeof text, &size, &status);
    must("message");
    printf("node 2: \"%s\"\n", text);
    for (;;) {
        void *line;
        mcapi_pktchan_recv(lines, &line, &size, &status);
        if (status == MCAPI_ERR_ENDP_DELETED)
            break; /* node 1 has closed, or died, and all is received */
        must("packet");
        printf("node 2: \"%s\"\n", (char *)line);
        mcapi_pktchan_release(line, &status);
    }
    int newest;
    medley_mcapi_state_recv(progress, &newest, sizeof newest, &size, &status);
    must("state");
    printf("node 2: the newest of all states is %d\n", newest);
    mcapi_endpoint_t to = mcapi_endpoint_get(0, 1, MAIL, 0, &status);
    must("get");
    mcapi_msg_send(mail, to, "thank you", 10, 0, &status);
    must("answer");
}

int
main(void)
{
    mcapi_info_t info;
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 1;
    }
    mcapi_initialize(0, child > 0 ? 1 : 2, NULL, NULL, &info, &status);
    must("initialize");
    child > 0 ? sender() : receiver();
    int end = 0;
    if (child > 0)
        waitpid(child, &end, 0);
    mcapi_finalize(&status);
    return status != MCAPI_SUCCESS || end != 0;
}
