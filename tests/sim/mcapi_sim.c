/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Messages and packets between processes: what was accepted is received by a receiver that lives,
 * once, whole and in order; who sends to a dead one is told; nobody waits for ever; and buffers
 * come back from whoever died wherever.
 *
 * Actors: the receiver, and two others, of which one of the three may die. For messages both send,
 * short ones, such as leave a rest at the ring's end, and such as go by a buffer. For packets one
 * sends, by two buffers, of which the receiver keeps up to both; the third connects the two, and
 * who finds it dead does it himself.
 */
#include <string.h>

#include "mcapi.h"
#include "mcapi/exchange.h"
#include "mcapi_actor.h"
#include "mrapi/process.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define DOMAIN 1u
#define ACTORS 3u
#define RECEIVER 0u
#define SENDER 1u
#define CONNECTOR 2u
#define PORT 5u
#define WAIT_US 1000u

#define MESSAGES 7u
#define PACKETS 5u
#define BUFFERS 2u
#define BYTES_MAX 100u

typedef struct notes {
    uint32_t accepted[ACTORS];
    mcapi_endpoint_t receiver; /* the handle, known to all without any order */
} notes;

/* Eight granules: a record has at most two, and of those sent the fifth finds one left. */
static const sim_variable environment[] = {
    {"MEDLEY_MAX_ENDPOINTS", "3"}, {"MEDLEY_MAX_LANES", "2"},      {"MEDLEY_LANE_BYTES", "256"},
    {"MEDLEY_MAX_BUFFERS", "2"},   {"MEDLEY_BUFFER_BYTES", "128"}, MRAPI_VARIABLES};

/* ---- What is sent ---------------------------------------------------------------------------- */

static uint32_t
length_of(uint32_t number)
{
    static const uint32_t lengths[] = {40, 56, BYTES_MAX, 36, 48, 12, 24};
    return lengths[number % (sizeof lengths / sizeof lengths[0])];
}

typedef struct content {
    uint32_t from;
    uint32_t number;
    unsigned char rest[BYTES_MAX - 8];
} content;

static void
content_fill(content *c, uint32_t from, uint32_t number)
{
    memset(c, (int)(number + from), sizeof *c);
    c->from = from;
    c->number = number;
}

static bool
content_is(const content *c, size_t bytes, uint32_t from, uint32_t number)
{
    return c->from == from && c->number == number && bytes == length_of(number) &&
           ((const unsigned char *)c)[bytes - 1] == (unsigned char)(number + from);
}

/* ---- Coming and going ------------------------------------------------------------------------ */

/* With its endpoint. */
static mcapi_endpoint_t
come(const sim_actor *actor)
{
    mcapi_status_t status;
    mcapi_come(actor);
    mcapi_endpoint_t own = mcapi_endpoint_create(PORT, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    return own;
}

/* False: its node is gone. */
static bool
endpoint_get(uint32_t actor, mcapi_endpoint_t *endpoint)
{
    for (;;) {
        mcapi_status_t status;
        *endpoint = mcapi_endpoint_get(DOMAIN, actor + 1, PORT, WAIT_US, &status);
        if (status == MCAPI_SUCCESS) {
            return true;
        }
        SIM_CHECK(status == MCAPI_TIMEOUT);
        if (sim_has_ended(actor)) {
            return false;
        }
    }
}

static void
timeout_set(mcapi_endpoint_t endpoint)
{
    mcapi_status_t status;
    mcapi_timeout_t timeout = WAIT_US;
    mcapi_endpoint_set_attribute(endpoint, MCAPI_ENDP_ATTR_TIMEOUT, &timeout, sizeof timeout,
                                 &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

static void
await_others(void)
{
    const med_self *self = med_self_get();
    for (uint32_t i = 0; i < ACTORS; i++) {
        (void)(i + 1 != self->node && sim_join(i));
    }
    (void)med_process_recover_all(self->system);
}

/* With the others gone, and their lanes left: all buffers can be had. */
static void
expect_buffers(void)
{
    med_self *self = med_self_get();
    (void)med_exchange_reclaim(self);
    med_pool_buffer buffer;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        const med_exchange_node *node = self->exchange;
        SIM_CHECK(med_pool_take(&node->exchange->pool, &self->exchange->cache, &buffer) ==
                  MEDLEY_OK);
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Not of one who has died: if nobody else was there, this is another system, and the handle is
 * another's, who waits for nothing. */
static bool
told(const notes *n, mcapi_endpoint_t *receiver)
{
    *receiver = n->receiver;
    return n->receiver && !sim_is_dead(RECEIVER) && sim_random(2) == 0;
}

static void
send_messages(const sim_actor *actor, mcapi_endpoint_t own)
{
    notes *n = actor->notes;
    mcapi_endpoint_t to;
    mcapi_status_t status = MCAPI_SUCCESS;
    if (!told(n, &to) && !endpoint_get(RECEIVER, &to)) {
        return;
    }
    for (uint32_t number = 0; number < MESSAGES && status == MCAPI_SUCCESS; number++) {
        content c;
        content_fill(&c, actor->index, number);
        mcapi_msg_send(own, to, &c, length_of(number), 0, &status);
        if (status == MCAPI_ERR_ENDP_INVALID && endpoint_get(RECEIVER, &to)) {
            mcapi_msg_send(own, to, &c, length_of(number), 0, &status); /* told too early */
        }
        n->accepted[actor->index] += status == MCAPI_SUCCESS;
    }
    SIM_CHECK(status == MCAPI_SUCCESS || sim_is_dead(RECEIVER));
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_TRANSMISSION ||
              status == MCAPI_ERR_ENDP_INVALID);
}

/* False: nothing came in time, which goes on while others are at work. Who sleeps sleeps on, unless
 * somebody died: a wake that is lost is found. */
static bool
receive_message(mcapi_endpoint_t own, uint32_t next[ACTORS])
{
    content c;
    size_t bytes;
    mcapi_status_t status;
    mcapi_msg_recv(own, &c, sizeof c, &bytes, &status);
    if (status == MCAPI_TIMEOUT) {
        return false;
    }
    SIM_CHECK(status == MCAPI_SUCCESS && (c.from == SENDER || c.from == CONNECTOR));
    SIM_CHECK(content_is(&c, bytes, c.from, next[c.from]));
    next[c.from]++;
    return true;
}

static bool
is_awaited(const uint32_t next[ACTORS], uint32_t from)
{
    return next[from] < MESSAGES && !sim_is_dead(from);
}

static void
receive_messages(const sim_actor *actor, mcapi_endpoint_t own)
{
    const notes *n = actor->notes;
    uint32_t next[ACTORS] = {0};
    timeout_set(own);
    while (is_awaited(next, SENDER) || is_awaited(next, CONNECTOR)) {
        (void)receive_message(own, next);
    }
    mcapi_status_t status;
    while (mcapi_msg_available(own, &status) != 0) {
        SIM_CHECK(receive_message(own, next));
    }
    for (uint32_t i = SENDER; i < ACTORS; i++) {
        /* The last may have come before its sender counts it; dead, he never does. */
        SIM_CHECK(next[i] == n->accepted[i] || next[i] == n->accepted[i] + 1);
    }
    await_others();
    SIM_CHECK(mcapi_msg_available(own, &status) == 0); /* and leaves the lanes of the dead */
    expect_buffers();
}

static void
act_messages(const sim_actor *actor)
{
    mcapi_endpoint_t own = come(actor);
    if (actor->index == RECEIVER) {
        ((notes *)actor->notes)->receiver = own;
        receive_messages(actor, own);
    } else {
        send_messages(actor, own);
    }
    mcapi_go();
}

const sim_scenario sim_mcapi_message = {
    .name = "mcapi_message",
    .covers = "record message_receive message_send endpoint endpoint_settings exchange lane",
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 7,
    .long_lived = true,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act_messages,
    .environment = environment,
};

/* ---- Packets --------------------------------------------------------------------------------- */

static void
connect(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_request_t request;
    mcapi_status_t status;
    mcapi_pktchan_connect_i(from, to, &request, &status);
    if (status == MCAPI_SUCCESS) {
        size_t size;
        SIM_CHECK(mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status) &&
                  status == MCAPI_SUCCESS);
    }
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_CHAN_CONNECTED ||
              status == MCAPI_ERR_ENDP_INVALID);
}

/* Waits for it. False: the other end is gone. */
static bool
opened(mcapi_request_t request, uint32_t other, mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    for (;;) {
        size_t size;
        mcapi_status_t status;
        if (mcapi_wait(&request, &size, WAIT_US, &status)) {
            SIM_CHECK(status == MCAPI_SUCCESS);
            return true;
        }
        SIM_CHECK(status == MCAPI_TIMEOUT);
        if (sim_is_dead(CONNECTOR)) {
            connect(from, to);
        }
        if (sim_has_ended(other)) {
            mcapi_cancel(&request, &status);
            return status != MCAPI_SUCCESS;
        }
    }
}

static void
send_packets(const sim_actor *actor, mcapi_endpoint_t own)
{
    notes *n = actor->notes;
    mcapi_endpoint_t to;
    mcapi_request_t request;
    mcapi_status_t status;
    unsigned channel;
    if (!endpoint_get(RECEIVER, &to)) {
        return;
    }
    mcapi_pktchan_send_open_i(&channel, own, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    if (!opened(request, RECEIVER, own, to)) {
        return;
    }
    for (uint32_t number = 0; number < PACKETS && status == MCAPI_SUCCESS; number++) {
        content c;
        content_fill(&c, SENDER, number);
        mcapi_pktchan_send(channel, &c, length_of(number), &status);
        n->accepted[SENDER] += status == MCAPI_SUCCESS;
    }
    SIM_CHECK(status == MCAPI_SUCCESS || sim_is_dead(RECEIVER));
    if (sim_random(2) == 0) {
        mcapi_pktchan_send_close_i(channel, &request, &status);
        SIM_CHECK(status == MCAPI_SUCCESS);
    }
}

typedef struct kept {
    content *packets[BUFFERS];
    uint32_t count;
} kept;

/* Gives back one that it keeps, any. */
static void
give_one(kept *k)
{
    mcapi_status_t status;
    uint32_t which = sim_random(k->count);
    mcapi_pktchan_release(k->packets[which], &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    k->packets[which] = k->packets[--k->count];
}

static void
receive_packets(const sim_actor *actor, mcapi_endpoint_t own)
{
    const notes *n = actor->notes;
    mcapi_endpoint_t from;
    mcapi_request_t request;
    mcapi_status_t status;
    unsigned channel;
    uint32_t next = 0;
    kept k = {.count = 0};
    mcapi_pktchan_recv_open_i(&channel, own, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    if (!endpoint_get(SENDER, &from) || !opened(request, SENDER, from, own)) {
        return;
    }
    for (;;) {
        void *packet;
        size_t bytes;
        if (k.count == BUFFERS || (k.count && sim_random(2) == 0)) {
            give_one(&k);
        }
        mcapi_pktchan_recv(channel, &packet, &bytes, &status);
        if (status == MCAPI_ERR_ENDP_DELETED) {
            break;
        }
        SIM_CHECK(status == MCAPI_SUCCESS && content_is(packet, bytes, SENDER, next));
        next++;
        k.packets[k.count++] = packet;
    }
    SIM_CHECK(next == n->accepted[SENDER] || (sim_is_dead(SENDER) && next > n->accepted[SENDER]));
    while (k.count) {
        give_one(&k);
    }
    mcapi_pktchan_recv_close_i(channel, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    await_others();
    expect_buffers();
}

static void
connect_both(void)
{
    mcapi_endpoint_t from, to;
    if (endpoint_get(SENDER, &from) && endpoint_get(RECEIVER, &to)) {
        connect(from, to);
    }
}

static void
act_packets(const sim_actor *actor)
{
    mcapi_endpoint_t own = come(actor);
    if (actor->index == RECEIVER) {
        receive_packets(actor, own);
    } else if (actor->index == SENDER) {
        send_packets(actor, own);
    } else {
        connect_both();
    }
    mcapi_go();
}

const sim_scenario sim_mcapi_packet = {
    .name = "mcapi_packet",
    .covers = "buffer packet channel lane",
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 7,
    .long_lived = true,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act_packets,
    .environment = environment,
};
