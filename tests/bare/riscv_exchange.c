/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one-way topology between two harts: messages, packets, scalars and states from one node to
 * another, numbered, each once and in order; of states, each newer than the last. */
#include "riscv_mcapi.h"

#define COUNT 1000u
#define RECEIVER 0
#define SENDER 1
#define PORTS 4

/* At both nodes. The one of states is made first, so that who finds the others finds it
 * complete. */
enum port {
    STATES,
    PACKETS,
    SCALARS,
    MESSAGES
};

#define LONG_BYTES 200u /* by a buffer */

/* A number, again and again. */
typedef struct load {
    uint32_t words[LONG_BYTES / sizeof(uint32_t)];
} load;

static size_t
length_of(uint32_t number)
{
    return number % 4 == 3 ? LONG_BYTES : 24;
}

static void
fill(load *message, uint32_t number)
{
    for (size_t i = 0; i < length_of(number) / sizeof(uint32_t); i++) {
        message->words[i] = number;
    }
}

static bool
is_number(const load *message, size_t size, uint32_t number)
{
    for (size_t i = 0; i < size / sizeof(uint32_t); i++) {
        if (message->words[i] != number) {
            return false;
        }
    }
    return size == length_of(number);
}

/* ---- Endpoints and ends ---------------------------------------------------------------------- */

static const char *
endpoints_make(mcapi_endpoint_t *endpoints)
{
    mcapi_status_t status;
    mcapi_uint_t state = MCAPI_ENDP_ATTR_STATE_BUFFER;
    for (mcapi_port_t port = STATES; port < PORTS; port++) {
        endpoints[port] = mcapi_endpoint_create(port, &status);
        if (status == MCAPI_SUCCESS && port == STATES) {
            mcapi_endpoint_set_attribute(endpoints[port], MCAPI_ENDP_ATTR_BUFFER_TYPE, &state,
                                         sizeof state, &status);
        }
        if (status != MCAPI_SUCCESS) {
            return "an endpoint is made";
        }
    }
    return NULL;
}

static const char *
take_part(mrapi_node_t self, mcapi_endpoint_t *endpoints)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, self, NULL, NULL, &info, &status);
    return status == MCAPI_SUCCESS ? endpoints_make(endpoints) : "a node takes part";
}

/* ---- The sender ------------------------------------------------------------------------------ */

typedef struct sending {
    mcapi_endpoint_t from[PORTS];
    mcapi_endpoint_t to[PORTS];
    unsigned ends[PORTS];
} sending;

static bool
sender_connects(sending *s)
{
    mcapi_status_t status;
    for (mcapi_port_t port = STATES; port < PORTS; port++) {
        s->to[port] = mcapi_endpoint_get(DOMAIN, RECEIVER, port, MCAPI_TIMEOUT_INFINITE, &status);
    }
    for (mcapi_port_t port = STATES; port < MESSAGES; port++) {
        bool scalars = port == SCALARS;
        if (!connects(scalars ? mcapi_sclchan_connect_i : mcapi_pktchan_connect_i, s->from[port],
                      s->to[port]) ||
            !opens(scalars ? mcapi_sclchan_send_open_i : mcapi_pktchan_send_open_i, s->from[port],
                   &s->ends[port])) {
            return false;
        }
    }
    return true;
}

static bool
send_round(const sending *s, uint32_t number)
{
    load message;
    mcapi_status_t statuses[4];
    fill(&message, number);
    mcapi_msg_send(s->from[MESSAGES], s->to[MESSAGES], &message, length_of(number), number % 2,
                   &statuses[0]);
    mcapi_pktchan_send(s->ends[PACKETS], &message, length_of(number), &statuses[1]);
    mcapi_sclchan_send_uint64(s->ends[SCALARS], (uint64_t)number << 32 | number, &statuses[2]);
    mcapi_pktchan_send(s->ends[STATES], &message, length_of(number), &statuses[3]);
    for (size_t i = 0; i < 4; i++) {
        if (statuses[i] != MCAPI_SUCCESS) {
            return false;
        }
    }
    return true;
}

static const char *
sends(mrapi_node_t self)
{
    sending s;
    mcapi_status_t status;
    const char *broken = take_part(self, s.from);
    if (broken) {
        return broken;
    }
    if (!sender_connects(&s)) {
        return "the sender connects, and opens its ends";
    }
    for (uint32_t number = 0; number < COUNT; number++) {
        if (!send_round(&s, number)) {
            return "all that is sent is accepted";
        }
    }
    if (!closes(mcapi_pktchan_send_close_i, s.ends[PACKETS]) ||
        !closes(mcapi_sclchan_send_close_i, s.ends[SCALARS]) ||
        !closes(mcapi_pktchan_send_close_i, s.ends[STATES])) {
        return "the sender closes its ends";
    }
    /* What it has sent stays there until it is received: the receiver says so. */
    size_t size;
    mcapi_msg_recv(s.from[MESSAGES], &size, sizeof size, &size, &status);
    if (status != MCAPI_SUCCESS) {
        return "the sender is told that all was received";
    }
    mcapi_finalize(&status);
    return status == MCAPI_SUCCESS ? NULL : "the sender leaves";
}

/* ---- The receiver ---------------------------------------------------------------------------- */

typedef struct receiving {
    mcapi_endpoint_t at[PORTS];
    unsigned ends[PORTS];
    uint32_t urgent; /* the next message of each priority */
    uint32_t other;
    uint32_t newest; /* state */
} receiving;

static const char *
receive_message(receiving *r)
{
    load message;
    mcapi_status_t status;
    size_t size;
    mcapi_msg_recv(r->at[MESSAGES], &message, sizeof message, &size, &status);
    uint32_t *next = message.words[0] % 2 ? &r->other : &r->urgent;
    if (status != MCAPI_SUCCESS || !is_number(&message, size, *next)) {
        return "messages of each priority come once, in order and whole";
    }
    *next += 2;
    return NULL;
}

static const char *
receive_packet(const receiving *r, uint32_t number)
{
    void *packet;
    mcapi_status_t status;
    size_t size;
    mcapi_pktchan_recv(r->ends[PACKETS], &packet, &size, &status);
    if (status != MCAPI_SUCCESS || !is_number(packet, size, number)) {
        return "packets come once, in order and whole";
    }
    mcapi_pktchan_release(packet, &status);
    return status == MCAPI_SUCCESS ? NULL : "a packet is given back";
}

static const char *
receive_scalar(const receiving *r, uint32_t number)
{
    mcapi_status_t status;
    uint64_t value = mcapi_sclchan_recv_uint64(r->ends[SCALARS], &status);
    return status == MCAPI_SUCCESS && value == ((uint64_t)number << 32 | number)
               ? NULL
               : "scalars come once and in order";
}

/* The sender had sent the one before `number`. */
static const char *
receive_state(receiving *r, uint32_t number)
{
    load value;
    mcapi_status_t status;
    size_t size;
    medley_mcapi_state_recv(r->ends[STATES], &value, sizeof value, &size, &status);
    if (status == MCAPI_ERR_ENDP_DELETED && r->newest == COUNT - 1) {
        return NULL;
    }
    if (status != MCAPI_SUCCESS || !is_number(&value, size, value.words[0]) ||
        value.words[0] + 1 < number || value.words[0] < r->newest) {
        return "a state is whole, and the newest";
    }
    r->newest = value.words[0];
    return NULL;
}

static const char *
receive_round(receiving *r, uint32_t number)
{
    const char *broken = receive_message(r);
    broken = broken ? broken : receive_packet(r, number);
    broken = broken ? broken : receive_scalar(r, number);
    return broken ? broken : receive_state(r, number);
}

static const char *
all_was_received(const receiving *r)
{
    void *packet;
    mcapi_status_t statuses[3];
    size_t size;
    if (mcapi_msg_available(r->at[MESSAGES], &statuses[0]) != 0) {
        return "no message comes twice";
    }
    mcapi_pktchan_recv(r->ends[PACKETS], &packet, &size, &statuses[1]);
    (void)mcapi_sclchan_recv_uint64(r->ends[SCALARS], &statuses[2]);
    if (statuses[1] != MCAPI_ERR_ENDP_DELETED || statuses[2] != MCAPI_ERR_ENDP_DELETED) {
        return "after the last the receiver is told that the sender is gone";
    }
    return NULL;
}

static const char *
receiver_ends(const receiving *r)
{
    mcapi_status_t status;
    if (!closes(mcapi_pktchan_recv_close_i, r->ends[PACKETS]) ||
        !closes(mcapi_sclchan_recv_close_i, r->ends[SCALARS]) ||
        !closes(mcapi_pktchan_recv_close_i, r->ends[STATES])) {
        return "the receiver closes its ends";
    }
    mcapi_endpoint_t to =
        mcapi_endpoint_get(DOMAIN, SENDER, MESSAGES, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_msg_send(r->at[MESSAGES], to, &status, sizeof status, 0, &status);
    if (status != MCAPI_SUCCESS) {
        return "the receiver tells the sender";
    }
    mcapi_finalize(&status);
    return status == MCAPI_SUCCESS ? NULL : "the receiver leaves";
}

static const char *
receives(mrapi_node_t self)
{
    receiving r = {.other = 1};
    const char *broken = take_part(self, r.at);
    if (broken) {
        return broken;
    }
    if (!opens(mcapi_pktchan_recv_open_i, r.at[PACKETS], &r.ends[PACKETS]) ||
        !opens(mcapi_sclchan_recv_open_i, r.at[SCALARS], &r.ends[SCALARS]) ||
        !opens(mcapi_pktchan_recv_open_i, r.at[STATES], &r.ends[STATES])) {
        return "the receiver opens its ends";
    }
    for (uint32_t number = 0; !broken && number < COUNT; number++) {
        broken = receive_round(&r, number);
    }
    broken = broken ? broken : all_was_received(&r);
    return broken ? broken : receiver_ends(&r);
}

static const char *
sends_or_receives(mrapi_node_t self)
{
    return self == RECEIVER ? receives(self) : sends(self);
}

/* A second time with what the first has given back. */
static const char *
one_way_between_two_harts(void)
{
    const char *broken = on_nodes(2, sends_or_receives);
    return broken ? broken : on_nodes(2, sends_or_receives);
}

const med_port_check exchange_checks[] = {
    {"one way between two harts", one_way_between_two_harts},
};
const uint32_t exchange_check_count = sizeof exchange_checks / sizeof exchange_checks[0];
