/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The loop of the paper's section 4. A node has an end of each of its channels; it goes round them,
 * and at each starts what is next, or looks whether what it started has ended: a wait with an
 * immediate timeout. When a whole round brought nothing it yields. It is done when each end has
 * moved its last transaction.
 *
 * Transactions are numbered from 1. The first eight bytes of what is sent are the number (24 bits
 * of it) and the sender's clock (40 bits, about 18 minutes), then comes a pattern of the whole
 * number and the channel. What is shorter is the number alone, as much of it as fits.
 */
#include "tools/medley/stress_node.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mcapi.h"
#include "mrapi/node.h"
#include "port/port.h"
#include "tools/medley/command.h"

#define SETUP_TIMEOUT_US 20000000u
#define CLOCK_BITS 40
#define CLOCK_MASK ((UINT64_C(1) << CLOCK_BITS) - 1)
#define NUMBER_MASK (UINT64_MAX >> CLOCK_BITS)
#define WORD_BYTES sizeof(uint64_t)

typedef enum progress {
    NOT_YET,
    DONE,
    WRONG, /* the record says what */
} progress;

struct kind;

typedef struct end {
    const struct kind *kind;
    const deployment_channel *channel;
    uint32_t index; /* of the channel */
    bool sends;
    bool asked; /* `request` is under way */
    mcapi_request_t request;
    mcapi_endpoint_t own;
    mcapi_endpoint_t peer;
    unsigned handle; /* of a channel that is connected */
    uint32_t next;   /* transaction */
    void *packet;    /* received, not released yet */
    unsigned char *payload;
} end;

typedef struct node {
    const deployment *deployment;
    stress_record *record;
    uint32_t number;
    uint32_t end_count;
    end *ends;
} node;

const char *const stress_state_names[STRESS_STATES] = {
    [STRESS_STARTING] = "starting",     [STRESS_PREPARING] = "preparing",
    [STRESS_CONNECTING] = "connecting", [STRESS_RUNNING] = "running",
    [STRESS_CLOSING] = "closing",       [STRESS_LEAVING] = "leaving",
};

/* ---- Errors ---------------------------------------------------------------------------------- */

static _Thread_local char said[STRESS_ERROR_BYTES / 3 * 2]; /* the library's last lines */
static _Thread_local bool listens;

/* Who wants more than errors has each line as it comes. */
static bool
is_taken(void)
{
    return !med_log_level_reached(MED_LOG_INFO);
}

/* What does not fit behind the others goes in place of them, which are told. */
static bool
hear(const char *line)
{
    const char *words = command_library_words(line);
    if (!listens) {
        return false;
    }
    if (strlen(said) + strlen(words) + 2 >= sizeof said) {
        stress_hear_anew();
    }
    size_t length = strlen(said);
    (void)snprintf(said + length, sizeof said - length, "%s%s", length ? "; " : "", words);
    return is_taken();
}

void
stress_hear(void)
{
    med_log_hear(hear);
    listens = true;
}

void
stress_hear_anew(void)
{
    if (*said && is_taken()) {
        (void)fprintf(stderr, "medley: %s\n", said);
    }
    said[0] = '\0';
    listens = true;
}

void
stress_error_write(char *error, const char *text)
{
    (void)snprintf(error, STRESS_ERROR_BYTES, *said ? "%s (%s)" : "%s", text, said);
}

void
stress_reason_write(char *error, const char *text)
{
    (void)snprintf(error, STRESS_ERROR_BYTES, "%s", *said ? said : text);
}

static bool __attribute__((format(printf, 3, 4)))
wrong(const node *n, const end *e, const char *format, ...)
{
    char text[STRESS_ERROR_BYTES / 3] = "";
    va_list arguments;
    if (e) {
        (void)snprintf(text, sizeof text, "channel %u (%s, %u to %u): ", e->index + 1,
                       deployment_type_names[e->channel->type], e->channel->from, e->channel->to);
    }
    size_t length = strlen(text);
    va_start(arguments, format);
    (void)vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
    stress_error_write(n->record->error, text);
    return false;
}

/* Whether it went well. */
static bool
good(const node *n, const end *e, const char *what, mcapi_status_t status)
{
    char text[MCAPI_MAX_STATUS_SIZE];
    return status == MCAPI_SUCCESS ||
           wrong(n, e, "%s: %s", what, mcapi_display_status(status, text, sizeof text));
}

/* ---- What is sent ---------------------------------------------------------------------------- */

static uint64_t
first_word(uint32_t number)
{
    return med_port_clock_ns() << (64 - CLOCK_BITS) | (number & NUMBER_MASK);
}

static uint64_t
pattern(const end *e, size_t at)
{
    return ((uint64_t)e->next << 32 | e->index) * UINT64_C(0x9e3779b97f4a7c15) + at;
}

static void
payload_fill(const end *e)
{
    size_t size = e->channel->size_bytes;
    uint64_t word = size < WORD_BYTES ? e->next : first_word(e->next);
    memcpy(e->payload, &word, size < WORD_BYTES ? size : WORD_BYTES);
    for (size_t at = WORD_BYTES; at < size; at += WORD_BYTES) {
        word = pattern(e, at);
        memcpy(e->payload + at, &word, size - at < WORD_BYTES ? size - at : WORD_BYTES);
    }
}

/* Numbers that came, where only some of their bits do. */
static bool
number_check(const node *n, const end *e, uint64_t came, uint64_t mask)
{
    return came == (e->next & mask) ||
           wrong(n, e, "transaction %llu came, %llu was expected", (unsigned long long)came,
                 (unsigned long long)(e->next & mask));
}

static bool
word_check(const node *n, const end *e, uint64_t word, size_t size)
{
    if (size < WORD_BYTES) {
        return number_check(n, e, word, (UINT64_C(1) << size * 8) - 1);
    }
    uint64_t sent_at = word >> (64 - CLOCK_BITS);
    histogram_add(&n->record->latency, (med_port_clock_ns() - sent_at) & CLOCK_MASK);
    return number_check(n, e, word & NUMBER_MASK, NUMBER_MASK);
}

static bool
payload_check(const node *n, const end *e, const unsigned char *payload, size_t size)
{
    uint64_t word = 0;
    if (size != e->channel->size_bytes) {
        return wrong(n, e, "transaction %u has %zu bytes", e->next, size);
    }
    memcpy(&word, payload, size < WORD_BYTES ? size : WORD_BYTES);
    if (!word_check(n, e, word, size)) {
        return false;
    }
    for (size_t at = WORD_BYTES; at < size; at += WORD_BYTES) {
        word = pattern(e, at);
        if (memcmp(payload + at, &word, size - at < WORD_BYTES ? size - at : WORD_BYTES) != 0) {
            return wrong(n, e, "the contents of transaction %u are not what was sent", e->next);
        }
    }
    return true;
}

static void
count_add(atomic64 *count, uint64_t more)
{
    /* Relaxed, both: one writer; who reads it shows how far it is. */
    atomic64_store_relaxed(count, atomic64_load_relaxed(count) + more);
}

/* ---- The kinds of channel -------------------------------------------------------------------- */

/* `ask` starts a transaction that `request` follows; what has none does it whole in `move`. */
typedef struct kind {
    void (*connect)(mcapi_endpoint_t from,
                    mcapi_endpoint_t to,
                    mcapi_request_t *,
                    mcapi_status_t *);
    void (*open[2])(unsigned *, mcapi_endpoint_t, mcapi_request_t *, mcapi_status_t *); /* sends? */
    void (*close[2])(unsigned, mcapi_request_t *, mcapi_status_t *);
    void (*ask[2])(end *e, mcapi_status_t *status);
    progress (*received)(const node *n, end *e, size_t size); /* what was asked for is there */
    progress (*move[2])(const node *n, end *e);
} kind;

static void
message_send(end *e, mcapi_status_t *status)
{
    payload_fill(e);
    mcapi_msg_send_i(e->own, e->peer, e->payload, e->channel->size_bytes, e->channel->priority,
                     &e->request, status);
}

static void
message_receive(end *e, mcapi_status_t *status)
{
    mcapi_msg_recv_i(e->own, e->payload, e->channel->size_bytes, &e->request, status);
}

static progress
message_received(const node *n, end *e, size_t size)
{
    return payload_check(n, e, e->payload, size) ? DONE : WRONG;
}

static void
packet_send(end *e, mcapi_status_t *status)
{
    payload_fill(e);
    mcapi_pktchan_send_i(e->handle, e->payload, e->channel->size_bytes, &e->request, status);
}

static void
packet_receive(end *e, mcapi_status_t *status)
{
    mcapi_pktchan_recv_i(e->handle, &e->packet, &e->request, status);
}

static progress
packet_received(const node *n, end *e, size_t size)
{
    mcapi_status_t status;
    bool same = payload_check(n, e, e->packet, size);
    mcapi_pktchan_release(e->packet, &status);
    return same && good(n, e, "giving back a packet", status) ? DONE : WRONG;
}

/* The number of the state that came: at least the last one's. */
static uint32_t
state_number(const end *e)
{
    uint64_t word, last = e->next - 1;
    memcpy(&word, e->packet, sizeof word);
    return (uint32_t)(last + ((word - last) & NUMBER_MASK));
}

/* The newest, which may be what was there before; those between are gone. */
static progress
state_received(const node *n, end *e, size_t size)
{
    uint32_t number = size >= WORD_BYTES ? state_number(e) : e->next;
    if (number >= e->next && number <= e->channel->count) {
        count_add(&n->record->skipped, number - e->next);
        e->next = number;
        return packet_received(n, e, size);
    }
    mcapi_status_t status;
    mcapi_pktchan_release(e->packet, &status);
    if (number > e->channel->count) {
        (void)wrong(n, e, "a state came that is not the last, %u, nor after it", e->next - 1);
        return WRONG;
    }
    return good(n, e, "giving back a state", status) ? NOT_YET : WRONG;
}

static progress
scalar_send(const node *n, end *e)
{
    mcapi_status_t status;
    switch (e->channel->size_bytes) {
    case 1:
        mcapi_sclchan_send_uint8(e->handle, (mcapi_uint8_t)e->next, &status);
        break;
    case 2:
        mcapi_sclchan_send_uint16(e->handle, (mcapi_uint16_t)e->next, &status);
        break;
    case 4:
        mcapi_sclchan_send_uint32(e->handle, e->next, &status);
        break;
    default:
        mcapi_sclchan_send_uint64(e->handle, first_word(e->next), &status);
        break;
    }
    if (status == MCAPI_ERR_MEM_LIMIT) {
        return NOT_YET;
    }
    return good(n, e, "sending", status) ? DONE : WRONG;
}

static progress
scalar_receive(const node *n, end *e)
{
    mcapi_status_t status;
    uint64_t word;
    switch (e->channel->size_bytes) {
    case 1:
        word = mcapi_sclchan_recv_uint8(e->handle, &status);
        break;
    case 2:
        word = mcapi_sclchan_recv_uint16(e->handle, &status);
        break;
    case 4:
        word = mcapi_sclchan_recv_uint32(e->handle, &status);
        break;
    default:
        word = mcapi_sclchan_recv_uint64(e->handle, &status);
        break;
    }
    if (status == MCAPI_TIMEOUT) {
        return NOT_YET;
    }
    bool well = good(n, e, "receiving", status) && word_check(n, e, word, e->channel->size_bytes);
    return well ? DONE : WRONG;
}

/* Asks, unless that is under way, and looks how it goes. */
static progress
request_move(const node *n, end *e)
{
    static const char *const what[] = {"receiving", "sending"};
    mcapi_status_t status = MCAPI_SUCCESS;
    size_t size = 0;
    if (!e->asked) {
        e->kind->ask[e->sends](e, &status);
        if (status != MCAPI_PENDING && !good(n, e, what[e->sends], status)) {
            return WRONG;
        }
        e->asked = true;
    }
    if (!mcapi_wait(&e->request, &size, MCAPI_TIMEOUT_IMMEDIATE, &status) &&
        status == MCAPI_TIMEOUT) {
        return NOT_YET;
    }
    e->asked = false;
    if (status == MCAPI_ERR_MEM_LIMIT) {
        return NOT_YET; /* no buffer for a copy of a state: others have them all */
    }
    if (!good(n, e, what[e->sends], status)) {
        return WRONG;
    }
    return e->sends ? DONE : e->kind->received(n, e, size);
}

static const kind kinds[DEPLOYMENT_TYPES] = {
    [DEPLOYMENT_MESSAGE] = {.ask = {message_receive, message_send},
                            .received = message_received,
                            .move = {request_move, request_move}},
    [DEPLOYMENT_PACKET] = {.connect = mcapi_pktchan_connect_i,
                           .open = {mcapi_pktchan_recv_open_i, mcapi_pktchan_send_open_i},
                           .close = {mcapi_pktchan_recv_close_i, mcapi_pktchan_send_close_i},
                           .ask = {packet_receive, packet_send},
                           .received = packet_received,
                           .move = {request_move, request_move}},
    [DEPLOYMENT_STATE] = {.connect = mcapi_pktchan_connect_i,
                          .open = {mcapi_pktchan_recv_open_i, mcapi_pktchan_send_open_i},
                          .close = {mcapi_pktchan_recv_close_i, mcapi_pktchan_send_close_i},
                          .ask = {packet_receive, packet_send},
                          .received = state_received,
                          .move = {request_move, request_move}},
    [DEPLOYMENT_SCALAR] = {.connect = mcapi_sclchan_connect_i,
                           .open = {mcapi_sclchan_recv_open_i, mcapi_sclchan_send_open_i},
                           .close = {mcapi_sclchan_recv_close_i, mcapi_sclchan_send_close_i},
                           .move = {scalar_receive, scalar_send}},
};

/* ---- Setting up ------------------------------------------------------------------------------ */

static bool
await(const node *n, end *e, const char *what, mcapi_status_t status)
{
    size_t size;
    if (status == MCAPI_SUCCESS || status == MCAPI_PENDING) {
        (void)mcapi_wait(&e->request, &size, SETUP_TIMEOUT_US, &status);
    }
    return good(n, e, what, status);
}

static bool
attribute_set(const node *n, const end *e, mcapi_uint_t attribute, mcapi_uint_t value)
{
    mcapi_status_t status;
    mcapi_endpoint_set_attribute(e->own, attribute, &value, sizeof value, &status);
    return good(n, e, "an endpoint's attribute", status);
}

/* Scalars are not asked for: each call succeeds or fails at once. A state's length is agreed on. */
static bool
attributes_set(const node *n, const end *e)
{
    bool well = true;
    if (e->kind->connect) {
        well = attribute_set(n, e, MCAPI_ENDP_ATTR_PRIORITY, e->channel->priority);
    }
    if (well && e->channel->type == DEPLOYMENT_SCALAR) {
        well = attribute_set(n, e, MCAPI_ENDP_ATTR_MEMORY_TYPE,
                             MCAPI_ENDP_ATTR_LOCAL_MEMORY | MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT) &&
               attribute_set(n, e, MCAPI_ENDP_ATTR_TIMEOUT, 0);
    }
    if (well && e->channel->type == DEPLOYMENT_STATE) {
        well = attribute_set(n, e, MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER) &&
               attribute_set(n, e, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, e->channel->size_bytes);
    }
    return well;
}

/* Each end has a port of its own: two for each channel. */
static mcapi_port_t
port_of(const end *e, bool sends)
{
    return e->index * 2 + sends;
}

static bool
endpoint_make(const node *n, end *e)
{
    mcapi_status_t status;
    e->payload = calloc(1, e->channel->size_bytes);
    if (!e->payload) {
        return wrong(n, e, "no memory");
    }
    e->own = mcapi_endpoint_create(port_of(e, e->sends), &status);
    return good(n, e, "making an endpoint", status) && attributes_set(n, e);
}

/* The sender connects. */
static bool
connect(const node *n, end *e)
{
    mcapi_status_t status;
    uint32_t other = e->sends ? e->channel->to : e->channel->from;
    e->peer =
        mcapi_endpoint_get(STRESS_DOMAIN, other, port_of(e, !e->sends), SETUP_TIMEOUT_US, &status);
    if (!good(n, e, "finding the other endpoint", status)) {
        return false;
    }
    if (!e->sends || !e->kind->connect) {
        return true;
    }
    e->kind->connect(e->own, e->peer, &e->request, &status);
    return await(n, e, "connecting", status);
}

static bool
open(const node *n, end *e)
{
    mcapi_status_t status;
    if (!e->kind->connect) {
        return true;
    }
    e->kind->open[e->sends](&e->handle, e->own, &e->request, &status);
    return await(n, e, "opening", status);
}

/* Where this node has an end. */
static bool
ends_find(node *n)
{
    const deployment *d = n->deployment;
    n->ends = calloc((size_t)d->channel_count, sizeof *n->ends);
    if (!n->ends) {
        return wrong(n, NULL, "no memory");
    }
    for (uint32_t i = 0; i < d->channel_count; i++) {
        const deployment_channel *channel = &d->channels[i];
        if (channel->from == n->number || channel->to == n->number) {
            n->ends[n->end_count++] = (end){.kind = &kinds[channel->type],
                                            .channel = channel,
                                            .index = i,
                                            .sends = channel->from == n->number,
                                            .next = 1};
        }
    }
    return true;
}

static bool
for_each_end(node *n, bool (*act)(const node *n, end *e))
{
    for (uint32_t i = 0; i < n->end_count; i++) {
        if (!act(n, &n->ends[i])) {
            return false;
        }
    }
    return true;
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* One round. False: something went wrong. */
static bool
round_once(const node *n, bool *moved, bool *over)
{
    *moved = false;
    *over = true;
    for (uint32_t i = 0; i < n->end_count; i++) {
        end *e = &n->ends[i];
        if (e->next > e->channel->count) {
            continue;
        }
        *over = false;
        progress p = e->kind->move[e->sends](n, e);
        if (p == WRONG) {
            return false;
        }
        if (p == DONE) {
            count_add(e->sends ? &n->record->sent : &n->record->received, 1);
            e->next++;
            *moved = true;
        } else {
            n->record->retries++;
        }
    }
    return true;
}

static bool
loop(const node *n)
{
    bool moved, over;
    do {
        if (!round_once(n, &moved, &over)) {
            return false;
        }
        if (!moved && !over) {
            n->record->yields++;
            (void)sched_yield();
        }
    } while (!over);
    return true;
}

/* ---- Running down ---------------------------------------------------------------------------- */

static bool
close(const node *n, end *e)
{
    mcapi_status_t status;
    if (!e->kind->connect) {
        return true;
    }
    e->kind->close[e->sends](e->handle, &e->request, &status);
    return await(n, e, "closing", status);
}

static bool
endpoint_delete(const node *n, end *e)
{
    mcapi_status_t status;
    free(e->payload);
    mcapi_endpoint_delete(e->own, &status);
    return good(n, e, "deleting an endpoint", status);
}

static void
state_set(const node *n, stress_state state)
{
    atomic32_store_relaxed(&n->record->state, state); /* relaxed: for showing */
}

static bool
run(node *n, stress_shared *shared)
{
    stress_record *record = n->record;
    state_set(n, STRESS_PREPARING);
    if (!ends_find(n) || !for_each_end(n, endpoint_make)) {
        return false;
    }
    (void)pthread_barrier_wait(&shared->step); /* what is connected cannot be set any more */
    state_set(n, STRESS_CONNECTING);
    if (!for_each_end(n, connect) || !for_each_end(n, open)) {
        return false;
    }
    uint32_t sleeps = med_self_get()->waiter.sleeps;
    (void)pthread_barrier_wait(&shared->step);
    state_set(n, STRESS_RUNNING);
    record->begin_ns = med_port_clock_ns();
    bool well = loop(n);
    record->end_ns = med_port_clock_ns();
    record->wake_ups = med_self_get()->waiter.sleeps - sleeps;
    if (!well) {
        return false;
    }
    state_set(n, STRESS_CLOSING);
    return for_each_end(n, close) && for_each_end(n, endpoint_delete);
}

/* ---- Processors ------------------------------------------------------------------------------ */

/* The processor that a node goes to, of those that it may be on: there is one at least. */
static size_t
processor_of(uint32_t affinity, uint32_t number, const cpu_set_t *allowed)
{
    uint32_t count = (uint32_t)CPU_COUNT(allowed);
    uint32_t wanted = affinity == DEPLOYMENT_SPREAD ? (number - 1) % count : 0;
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, allowed) && wanted-- == 0) {
            return i;
        }
    }
    return 0;
}

static bool
affinity_set(const node *n)
{
    cpu_set_t allowed, one;
    uint32_t affinity = n->deployment->nodes[n->number].affinity;
    if (affinity == DEPLOYMENT_FREE) {
        return true;
    }
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return wrong(n, NULL, "the processors cannot be asked for");
    }
    size_t processor = processor_of(affinity, n->number, &allowed);
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ||
           wrong(n, NULL, "processor %zu cannot be gone to", processor);
}

bool
stress_node_run(const deployment *d, uint32_t number, stress_shared *shared)
{
    mcapi_status_t status;
    mcapi_info_t info;
    node n = {.deployment = d, .record = &shared->records[number - 1], .number = number};
    stress_hear_anew();
    if (!affinity_set(&n)) {
        return false;
    }
    mcapi_initialize(STRESS_DOMAIN, number, NULL, NULL, &info, &status);
    if (!good(&n, NULL, "mcapi_initialize", status)) {
        return false;
    }
    stress_hear_anew();
    bool well = run(&n, shared);
    free(n.ends);
    if (!well) {
        return false;
    }
    mcapi_finalize(&status);
    state_set(&n, STRESS_LEAVING);
    well = good(&n, NULL, "mcapi_finalize", status);
    if (well) {
        stress_hear_anew();
    }
    return well;
}
