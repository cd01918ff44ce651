/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* nng and ZeroMQ: a pair of sockets within the process, which is the fastest that they have. */
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

#include "exchange_peers.h"

#define NNG_BUFFERS 8192 /* the most that it takes */
#define ADDRESS_BYTES 40

/* Each run has an address of its own. */
static void
address_make(char *address)
{
    static unsigned last;
    (void)snprintf(address, ADDRESS_BYTES, "inproc://medley-bench-%u", ++last);
}

/* ---- nng ------------------------------------------------------------------------------------- */

typedef struct nng_pair {
    nng_socket ends[2];
} nng_pair;

static bool
nng_one_open(peer_run *run)
{
    char address[ADDRESS_BYTES];
    nng_pair *pair = malloc(sizeof *pair);
    run->library = pair;
    address_make(address);
    return pair && nng_pair0_open(&pair->ends[0]) == 0 && nng_pair0_open(&pair->ends[1]) == 0 &&
           nng_socket_set_int(pair->ends[0], NNG_OPT_SENDBUF, NNG_BUFFERS) == 0 &&
           nng_socket_set_int(pair->ends[1], NNG_OPT_RECVBUF, NNG_BUFFERS) == 0 &&
           nng_listen(pair->ends[0], address, NULL, 0) == 0 &&
           nng_dial(pair->ends[1], address, NULL, 0) == 0;
}

static void
nng_one_close(peer_run *run)
{
    nng_pair *pair = run->library;
    (void)nng_close(pair->ends[0]);
    (void)nng_close(pair->ends[1]);
    free(pair);
}

static bool
nng_one_send(peer_run *run, const void *message)
{
    const nng_pair *pair = run->library;
    return nng_send(pair->ends[0], (void *)(uintptr_t)message, run->bytes, 0) == 0;
}

static bool
nng_one_receive(peer_run *run, void *message)
{
    const nng_pair *pair = run->library;
    size_t size = run->bytes;
    return nng_recv(pair->ends[1], message, &size, 0) == 0 && size == run->bytes;
}

const peer peer_nng = {"nng pair, inproc", nng_one_open, nng_one_close, nng_one_send,
                       nng_one_receive};

/* ---- ZeroMQ ---------------------------------------------------------------------------------- */

static bool
zeromq_open(peer_run *run)
{
    char address[ADDRESS_BYTES];
    int most = (int)PEER_ELEMENTS_IN(run->bytes);
    address_make(address);
    run->library = zmq_ctx_new();
    for (int i = 0; run->library && i < 2; i++) {
        run->sockets[i] = zmq_socket(run->library, ZMQ_PAIR);
        if (!run->sockets[i] ||
            zmq_setsockopt(run->sockets[i], ZMQ_SNDHWM, &most, sizeof most) != 0 ||
            zmq_setsockopt(run->sockets[i], ZMQ_RCVHWM, &most, sizeof most) != 0) {
            return false;
        }
    }
    return run->library && zmq_bind(run->sockets[0], address) == 0 &&
           zmq_connect(run->sockets[1], address) == 0;
}

static void
zeromq_close(peer_run *run)
{
    (void)zmq_close(run->sockets[0]);
    (void)zmq_close(run->sockets[1]);
    (void)zmq_ctx_term(run->library);
}

static bool
zeromq_send(peer_run *run, const void *message)
{
    return zmq_send(run->sockets[0], message, run->bytes, 0) == (int)run->bytes;
}

static bool
zeromq_receive(peer_run *run, void *message)
{
    return zmq_recv(run->sockets[1], message, run->bytes, 0) == (int)run->bytes;
}

const peer peer_zeromq = {"ZeroMQ pair, inproc", zeromq_open, zeromq_close, zeromq_send,
                          zeromq_receive};
