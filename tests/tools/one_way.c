/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * one_way threads|processes COUNT: two nodes, of which one sends and the other receives COUNT of
 * each kind. Neither ever waits in a call: their endpoints' timeout is 0, and who is told "not yet"
 * asks again. So whatever a scheduler does, both run. Each node writes a line before and after each
 * kind, so that a tracer sees which system calls it made in between.
 */
#include <mcapi.h>
#include <medley/mcapi_ext.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/request_end.h"

#define DOMAIN 1
#define RECEIVER 1
#define SENDER 2
#define BYTES 24

/* Ports of both nodes, in the order in which they are made and used. */
typedef enum kind {
    STATES,
    PACKETS,
    SCALARS,
    MESSAGES,
    KINDS
} kind;

static const char *const names[KINDS] = {"states", "packets", "scalars", "messages"};
static uint32_t wanted;

static void
expect(int condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "one_way: %s\n", what);
        exit(1);
    }
}

static void
mark(const char *which, kind k)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s %s\n", which, names[k]);
    expect(write(STDOUT_FILENO, line, (size_t)length) == length, "a line is written");
}

/* ---- A node ---------------------------------------------------------------------------------- */

typedef struct node {
    mcapi_endpoint_t own[KINDS];
    mcapi_endpoint_t others[KINDS];
    unsigned ends[KINDS];
} node;

static void
begin(node *n, mcapi_node_t number)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_uint_t state = MCAPI_ENDP_ATTR_STATE_BUFFER;
    mcapi_uint_t few = 16; /* of packets: buffers never run out, which would be waited for */
    mcapi_timeout_t timeout = 0;
    mcapi_initialize(DOMAIN, number, NULL, NULL, &info, &status);
    expect(status == MCAPI_SUCCESS, "a node comes");
    for (kind k = STATES; k < KINDS; k++) {
        n->own[k] = mcapi_endpoint_create(k, &status);
        expect(status == MCAPI_SUCCESS, "an endpoint is made");
        mcapi_endpoint_set_attribute(n->own[k], MCAPI_ENDP_ATTR_TIMEOUT, &timeout, sizeof timeout,
                                     &status);
        if (k == STATES) {
            mcapi_endpoint_set_attribute(n->own[k], MCAPI_ENDP_ATTR_BUFFER_TYPE, &state,
                                         sizeof state, &status);
        } else if (k == PACKETS) {
            mcapi_endpoint_set_attribute(n->own[k], MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, &few,
                                         sizeof few, &status);
        }
    }
    for (kind k = STATES; k < KINDS; k++) {
        n->others[k] = mcapi_endpoint_get(DOMAIN, RECEIVER + SENDER - number, k,
                                          MCAPI_TIMEOUT_INFINITE, &status);
    }
    expect(status == MCAPI_SUCCESS, "the other's endpoints are found");
}

static void
finish(void)
{
    mcapi_status_t status;
    mcapi_finalize(&status);
    expect(status == MCAPI_SUCCESS, "a node goes");
}

/* ---- Send ------------------------------------------------------------------------------------ */

static mcapi_status_t
send_one(node *n, kind k, uint32_t number)
{
    mcapi_status_t status;
    uint32_t message[BYTES / sizeof(uint32_t)] = {number};
    switch (k) {
    case MESSAGES:
        mcapi_msg_send(n->own[k], n->others[k], message, BYTES, 0, &status);
        break;
    case SCALARS:
        mcapi_sclchan_send_uint64(n->ends[k], number, &status);
        break;
    default:
        mcapi_pktchan_send(n->ends[k], message, BYTES, &status);
    }
    return status;
}

static void
connect_all(node *n)
{
    mcapi_status_t status;
    mcapi_request_t request;
    for (kind k = STATES; k < MESSAGES; k++) {
        (k == SCALARS ? mcapi_sclchan_connect_i : mcapi_pktchan_connect_i)(n->own[k], n->others[k],
                                                                           &request, &status);
        expect(ends_well(request), "a request ends well");
        (k == SCALARS ? mcapi_sclchan_send_open_i
                      : mcapi_pktchan_send_open_i)(&n->ends[k], n->own[k], &request, &status);
        expect(ends_well(request), "a request ends well");
    }
}

static void *
sends(void *unused)
{
    node n;
    (void)unused;
    begin(&n, SENDER);
    connect_all(&n);
    for (kind k = STATES; k < KINDS; k++) {
        mark("begin", k);
        for (uint32_t i = 1; i <= wanted; i++) {
            mcapi_status_t status;
            do {
                status = send_one(&n, k, i);
            } while (status == MCAPI_TIMEOUT);
            expect(status == MCAPI_SUCCESS, "it is sent");
        }
        mark("end", k);
    }
    /* What was sent stays there; the receiver goes first, so that it is all received here. */
    for (mcapi_status_t status = MCAPI_TIMEOUT; status != MCAPI_ERR_TRANSMISSION;) {
        status = send_one(&n, SCALARS, 0);
    }
    finish();
    return NULL;
}

/* ---- Receive --------------------------------------------------------------------------------- */

static mcapi_status_t
receive_one(node *n, kind k, uint32_t *number)
{
    mcapi_status_t status;
    uint32_t message[BYTES / sizeof(uint32_t)];
    size_t size;
    void *packet;
    switch (k) {
    case MESSAGES:
        mcapi_msg_recv(n->own[k], message, BYTES, &size, &status);
        break;
    case SCALARS:
        message[0] = (uint32_t)mcapi_sclchan_recv_uint64(n->ends[k], &status);
        break;
    case PACKETS:
        mcapi_pktchan_recv(n->ends[k], &packet, &size, &status);
        if (status == MCAPI_SUCCESS) {
            memcpy(message, packet, BYTES);
            mcapi_pktchan_release(packet, &status);
        }
        break;
    default:
        medley_mcapi_state_recv(n->ends[k], message, BYTES, &size, &status);
    }
    *number = message[0];
    return status;
}

static void *
receives(void *unused)
{
    node n;
    mcapi_status_t status;
    mcapi_request_t request;
    (void)unused;
    begin(&n, RECEIVER);
    for (kind k = STATES; k < MESSAGES; k++) {
        (k == SCALARS ? mcapi_sclchan_recv_open_i : mcapi_pktchan_recv_open_i)(&n.ends[k], n.own[k],
                                                                               &request, &status);
        expect(ends_well(request), "a request ends well");
    }
    for (kind k = STATES; k < KINDS; k++) {
        mark("begin", k);
        for (uint32_t last = 0; last < wanted;) {
            uint32_t number;
            status = receive_one(&n, k, &number);
            expect(status == MCAPI_SUCCESS || status == MCAPI_TIMEOUT, "it is received");
            if (status == MCAPI_SUCCESS) {
                expect(k == STATES ? number >= last : number == last + 1, "in order");
                last = number;
            }
        }
        mark("end", k);
    }
    finish();
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    int status = 0;
    expect(argc == 3, "usage: one_way threads|processes COUNT");
    wanted = (uint32_t)strtoul(argv[2], NULL, 10);
    if (strcmp(argv[1], "threads") == 0) {
        expect(pthread_create(&thread, NULL, sends, NULL) == 0, "a thread starts");
        (void)receives(NULL);
        return pthread_join(thread, NULL);
    }
    pid_t child = fork();
    if (child == 0) {
        (void)sends(NULL);
        return 0;
    }
    (void)receives(NULL);
    expect(waitpid(child, &status, 0) == child, "the sender ends");
    return status;
}
