/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Topics between processes: who subscribed is offered all that is published afterwards, in order,
 * nothing twice, and from nobody else; what he did not get was counted as lost, of which there is
 * nothing where who publishes waits; and he finds the end of it, though others have his lane by
 * then.
 *
 * Actors: two who publish, each on a topic of his own, until the others have done; and two who
 * subscribe to one or the other, receive some, and close. They have two lanes in all, so that one
 * topic's is soon the other's. One of the four may die.
 */
#include <string.h>

#include "base/atomic.h"
#include "mcapi.h"
#include "medley/mcapi_ext.h"
#include "mrapi_actor.h"
#include "port/port.h"
#include "scenarios.h"

#define DOMAIN 1u
#define ACTORS 4u
#define TOPICS 2u /* actors 0 and 1; the others subscribe */
#define PORT 5u
#define SUBSCRIPTIONS 4u
#define RECEIVED_MAX 3u
#define NOBODY_ELSE 40u /* so many are published, if they do not end before */

enum {
    WAITS = 1,
    LOSES
};

typedef struct notes {
    uint32_t mode;                 /* what all endpoints are set to; 0: not decided yet */
    uint32_t present;              /* bit i: actor i is a node, and does not leave yet */
    uint32_t done;                 /* bit i: actor i needs no topic any more */
    mcapi_endpoint_t told[TOPICS]; /* the handles, known to all without any order */
    uint32_t published[TOPICS];    /* or being published */
    /* Which subscription of each a publisher knew of, and what he published next. */
    uint32_t promised_to[ACTORS], promised[ACTORS];
} notes;

/* In shared memory: which of his subscriptions has returned. By the subscriber. */
typedef struct shared {
    atomic32 subscribed[ACTORS];
} shared;

/* From 1, with its topic as the last digit. */
static uint32_t
subscription_name(uint32_t which, uint32_t topic)
{
    return (which + 1) * TOPICS + topic;
}

typedef struct content {
    uint32_t topic;
    uint32_t number; /* from 1 */
    unsigned char rest[40];
} content;

/* Four packets to a lane. */
static const sim_variable environment[] = {
    {"MEDLEY_MAX_ENDPOINTS", "4"}, {"MEDLEY_MAX_LANES", "2"},     {"MEDLEY_LANE_BYTES", "128"},
    {"MEDLEY_MAX_BUFFERS", "3"},   {"MEDLEY_BUFFER_BYTES", "64"}, MRAPI_VARIABLES};

/* ---- Coming ---------------------------------------------------------------------------------- */

static void
losing_set(mcapi_endpoint_t endpoint)
{
    mcapi_status_t status;
    mcapi_uint_t type = MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT;
    mcapi_endpoint_set_attribute(endpoint, MCAPI_ENDP_ATTR_MEMORY_TYPE, &type, sizeof type,
                                 &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

static bool
somebody_is_present(const notes *n)
{
    for (uint32_t i = 0; i < ACTORS; i++) {
        if ((n->present >> i & 1) && !sim_is_dead(i)) {
            return true;
        }
    }
    return false;
}

/* Again, when another was too long at opening or closing the system. Of one that nobody was in, no
 * handle that was told is of any use. */
static mcapi_endpoint_t
come(const sim_actor *actor)
{
    notes *n = actor->notes;
    mcapi_status_t status;
    mcapi_info_t info;
    n->mode = n->mode ? n->mode : WAITS + sim_random(2);
    do {
        mcapi_initialize(DOMAIN, actor->index + 1, NULL, NULL, &info, &status);
        SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_NODE_INITFAILED);
    } while (status != MCAPI_SUCCESS);
    if (!somebody_is_present(n)) {
        memset(n->told, 0, sizeof n->told);
    }
    n->present |= 1u << actor->index;
    mcapi_endpoint_t own = mcapi_endpoint_create(PORT, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    if (n->mode == LOSES) {
        losing_set(own);
    }
    return own;
}

static bool
others_have_done(const notes *n)
{
    for (uint32_t i = TOPICS; i < ACTORS; i++) {
        if (!(n->done >> i & 1) && !sim_is_dead(i)) {
            return false;
        }
    }
    return true;
}

/* ---- Publishing ------------------------------------------------------------------------------ */

/* To those of whose subscription it knows. */
static void
promise(const sim_actor *actor, uint32_t number)
{
    notes *n = actor->notes;
    const shared *s = actor->memory;
    for (uint32_t i = TOPICS; i < ACTORS; i++) {
        uint32_t name = atomic32_load_acquire(&s->subscribed[i]);
        if (name % TOPICS == actor->index && name > n->promised_to[i]) {
            n->promised_to[i] = name;
            n->promised[i] = number;
        }
    }
}

static void
publish(const sim_actor *actor, mcapi_endpoint_t topic)
{
    notes *n = actor->notes;
    mcapi_status_t status;
    content c = {.topic = actor->index, .number = n->published[actor->index] + 1};
    memset(c.rest, (int)c.number, sizeof c.rest);
    promise(actor, c.number);
    n->published[actor->index] = c.number;
    /* Each subscription once at most: while it waits for room some end, and others begin. */
    SIM_CHECK(medley_mcapi_topic_publish(topic, &c, sizeof c, &status) <=
              (ACTORS - TOPICS) * SUBSCRIPTIONS);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

static void
publish_all(const sim_actor *actor, mcapi_endpoint_t topic)
{
    notes *n = actor->notes;
    mcapi_status_t status;
    n->told[actor->index] = topic;
    while (!others_have_done(n) && n->published[actor->index] < NOBODY_ELSE) {
        publish(actor, topic);
        med_port_yield();
    }
    n->told[actor->index] = 0;
    mcapi_endpoint_delete(topic, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

/* ---- Subscribing ----------------------------------------------------------------------------- */

typedef struct subscription {
    const sim_actor *actor;
    mcapi_pktchan_recv_hndl_t handle;
    uint32_t topic;
    uint32_t name;
    uint32_t got;
    uint32_t last; /* its number; 0: none yet */
} subscription;

static bool
subscribe(subscription *s, mcapi_endpoint_t own)
{
    const notes *n = s->actor->notes;
    mcapi_status_t status;
    if (!n->told[s->topic]) {
        return false;
    }
    medley_mcapi_topic_subscribe(n->told[s->topic], own, &s->handle, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_CHAN_CONNECTED ||
              status == MCAPI_ERR_ENDP_INVALID || status == MCAPI_ERR_MEM_LIMIT ||
              status == MCAPI_ERR_ATTR_INCOMPATIBLE || status == MCAPI_TIMEOUT);
    return status == MCAPI_SUCCESS;
}

/* What came before it, since `first`, he got, or it was lost. */
static void
expect_no_gap(const subscription *s, uint32_t number, uint32_t first)
{
    mcapi_status_t status;
    uint32_t lost = medley_mcapi_topic_lost(s->handle, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    SIM_CHECK(((const notes *)s->actor->notes)->mode == LOSES || lost == 0);
    SIM_CHECK(number <= first + s->got + lost);
}

/* False: it has ended. */
static bool
receive(subscription *s)
{
    const notes *n = s->actor->notes;
    mcapi_status_t status;
    void *packet;
    size_t bytes;
    mcapi_pktchan_recv(s->handle, &packet, &bytes, &status);
    SIM_CHECK(status == MCAPI_SUCCESS || status == MCAPI_ERR_ENDP_DELETED);
    if (status != MCAPI_SUCCESS) {
        SIM_CHECK(sim_is_dead(s->topic) || !n->told[s->topic]);
        return false;
    }
    const content *c = packet;
    SIM_CHECK(bytes == sizeof *c && c->topic == s->topic);
    SIM_CHECK(c->number > s->last && c->number <= n->published[s->topic]);
    SIM_CHECK(c->rest[0] == (unsigned char)c->number &&
              c->rest[sizeof c->rest - 1] == (unsigned char)c->number);
    if (n->promised_to[s->actor->index] == s->name) {
        expect_no_gap(s, c->number, n->promised[s->actor->index]);
    }
    if (n->mode == WAITS) {
        SIM_CHECK(s->last == 0 || c->number == s->last + 1);
    }
    s->last = c->number;
    s->got++;
    mcapi_pktchan_release(packet, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    return true;
}

static void
use(subscription *s)
{
    atomic32 *subscribed = &((shared *)s->actor->memory)->subscribed[s->actor->index];
    mcapi_status_t status;
    mcapi_request_t request;
    size_t bytes;
    atomic32_store_release(subscribed, s->name);
    uint32_t wanted = sim_random(RECEIVED_MAX + 1);
    while (s->got < wanted && receive(s)) {
    }
    mcapi_pktchan_recv_close_i(s->handle, &request, &status);
    SIM_CHECK(status == MCAPI_SUCCESS);
    SIM_CHECK(mcapi_test(&request, &bytes, &status) && status == MCAPI_SUCCESS);
}

static void
subscribe_again_and_again(const sim_actor *actor, mcapi_endpoint_t own)
{
    notes *n = actor->notes;
    for (uint32_t i = 0; i < SUBSCRIPTIONS; i++) {
        subscription s = {.actor = actor, .topic = sim_random(TOPICS)};
        s.name = subscription_name(i, s.topic);
        if (subscribe(&s, own)) {
            use(&s);
        } else {
            med_port_yield();
        }
    }
    n->done |= 1u << actor->index;
}

static void
act(const sim_actor *actor)
{
    mcapi_status_t status;
    mcapi_endpoint_t own = come(actor);
    if (actor->index < TOPICS) {
        publish_all(actor, own);
    } else {
        subscribe_again_and_again(actor, own);
    }
    ((notes *)actor->notes)->present &= ~(1u << actor->index);
    mcapi_finalize(&status);
    SIM_CHECK(status == MCAPI_SUCCESS);
}

const sim_scenario sim_mcapi_topic = {
    .name = "mcapi_topic",
    .covers = "topic med_endpoint_lane_made() end_attach() med_lane_take_up()",
    .sees_late = true,
    .memory_bytes = sizeof(shared),
    .actors = ACTORS,
    .deaths = 1,
    .mortal = 15,
    .long_lived = true,
    .waits_forever = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
