/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two nodes exchange messages and scalars, then a team of three is in regions with tasks: what a
 * recording of it has to have. Packets and states are examples/exchange.c's.
 *
 *   traced MESSAGES SCALARS REGIONS TASKS
 *
 * The second node begins once the first has written "ready" and standard input is at its end.
 */
#include <mcapi.h>
#include <medley/medley.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAIL,
    NUMBERS
}; /* ports */

#define SENDER 1
#define RECEIVER 2
#define PATIENCE_US 20000000

static int messages, scalars, regions, tasks;

static void
must(mcapi_status_t status, const char *what)
{
    char text[MCAPI_MAX_STATUS_SIZE];
    if (status != MCAPI_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, mcapi_display_status(status, text, sizeof text));
        exit(1);
    }
}

static void
wait_for(mcapi_request_t request, const char *what)
{
    mcapi_status_t status;
    size_t size;
    mcapi_wait(&request, &size, PATIENCE_US, &status);
    must(status, what);
}

static void
node_begin(mcapi_node_t node)
{
    mcapi_param_t parameters = {0};
    mcapi_info_t info;
    mcapi_status_t status;
    mcapi_initialize(0, node, NULL, &parameters, &info, &status);
    must(status, "initialize");
}

static mcapi_endpoint_t
endpoint(mcapi_port_t port)
{
    mcapi_status_t status;
    mcapi_endpoint_t made = mcapi_endpoint_create(port, &status);
    must(status, "endpoint");
    return made;
}

static mcapi_endpoint_t
endpoint_of(mcapi_node_t node, mcapi_port_t port)
{
    mcapi_status_t status;
    mcapi_endpoint_t found = mcapi_endpoint_get(0, node, port, PATIENCE_US, &status);
    must(status, "get");
    return found;
}

/* ---- The nodes ------------------------------------------------------------------------------- */

static void *
receive(void *nothing)
{
    mcapi_sclchan_recv_hndl_t channel;
    mcapi_request_t request;
    mcapi_status_t status;
    node_begin(RECEIVER);
    mcapi_endpoint_t numbers = endpoint(NUMBERS), mail = endpoint(MAIL);
    mcapi_sclchan_recv_open_i(&channel, numbers, &request, &status);
    wait_for(request, "open");
    for (int i = 0; i < messages; i++) {
        char letter[8];
        size_t size;
        mcapi_msg_recv(mail, letter, sizeof letter, &size, &status);
        must(status, "receive");
    }
    for (int i = 0; i < scalars; i++) {
        (void)mcapi_sclchan_recv_uint32(channel, &status);
        must(status, "scalar");
    }
    mcapi_finalize(&status);
    return nothing;
}

static void
send_all(void)
{
    mcapi_sclchan_send_hndl_t channel;
    mcapi_request_t request;
    mcapi_status_t status;
    mcapi_endpoint_t numbers = endpoint(NUMBERS), mail = endpoint(MAIL);
    mcapi_sclchan_connect_i(numbers, endpoint_of(RECEIVER, NUMBERS), &request, &status);
    wait_for(request, "connect");
    mcapi_sclchan_send_open_i(&channel, numbers, &request, &status);
    wait_for(request, "open");
    mcapi_endpoint_t to = endpoint_of(RECEIVER, MAIL);
    medley_trace_begin("sends mails, all of them");
    for (int i = 0; i < messages; i++) {
        mcapi_msg_send(mail, to, "letter", 7, 1, &status);
        must(status, "send");
    }
    medley_trace_end();
    medley_trace_mark("halfway");
    for (int i = 0; i < scalars; i++) {
        mcapi_sclchan_send_uint32(channel, (uint32_t)i, &status);
        must(status, "scalar");
    }
}

static __attribute__((noinline)) void
team_works(void)
{
    int done = 0;
    for (int region = 0; region < regions; region++) {
#pragma omp parallel num_threads(3)
#pragma omp single
        for (int i = 0; i < tasks; i++) {
#pragma omp task
#pragma omp atomic
            done++;
        }
    }
    if (done != regions * tasks)
        exit(1);
}

int
main(int count, char **words)
{
    pthread_t second;
    mcapi_status_t status;
    if (count != 5)
        return 2;
    messages = atoi(words[1]);
    scalars = atoi(words[2]);
    regions = atoi(words[3]);
    tasks = atoi(words[4]);
    node_begin(SENDER);
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    pthread_create(&second, NULL, receive, NULL);
    send_all();
    pthread_join(second, NULL);
    team_works();
    mcapi_finalize(&status);
    must(status, "finalize");
    return 0;
}
