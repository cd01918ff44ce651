/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One transaction of each kind: what is sent, what must come, and how it is asked for. Nothing here
 * waits: what is not there yet is looked for in the next round (stress_node.c).
 */
#include "tools/medley/stress_kind.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "port/port.h"

#define CLOCK_BITS 40
#define CLOCK_MASK ((UINT64_C(1) << CLOCK_BITS) - 1)
#define NUMBER_MASK (UINT64_MAX >> CLOCK_BITS)
#define WORD_BYTES sizeof(uint64_t)

/* ---- What went wrong ------------------------------------------------------------------------- */

bool
stress_wrong(const stress_node *n, const stress_end *e, const char *format, ...)
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

bool
stress_good(const stress_node *n, const stress_end *e, const char *what, mcapi_status_t status)
{
    char text[MCAPI_MAX_STATUS_SIZE];
    return status == MCAPI_SUCCESS ||
           stress_wrong(n, e, "%s: %s", what, mcapi_display_status(status, text, sizeof text));
}

/* ---- What is sent ---------------------------------------------------------------------------- */

static uint64_t
first_word(uint32_t number)
{
    return med_port_clock_ns() << (64 - CLOCK_BITS) | (number & NUMBER_MASK);
}

static uint64_t
pattern(const stress_end *e, size_t at)
{
    return ((uint64_t)e->next << 32 | e->index) * UINT64_C(0x9e3779b97f4a7c15) + at;
}

static void
payload_fill(const stress_end *e)
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
number_check(const stress_node *n, const stress_end *e, uint64_t came, uint64_t mask)
{
    return came == (e->next & mask) ||
           stress_wrong(n, e, "transaction %llu came, %llu was expected", (unsigned long long)came,
                        (unsigned long long)(e->next & mask));
}

static bool
word_check(const stress_node *n, const stress_end *e, uint64_t word, size_t size)
{
    if (size < WORD_BYTES) {
        return number_check(n, e, word, (UINT64_C(1) << size * 8) - 1);
    }
    uint64_t sent_at = word >> (64 - CLOCK_BITS);
    histogram_add(&n->record->latency, (med_port_clock_ns() - sent_at) & CLOCK_MASK);
    return number_check(n, e, word & NUMBER_MASK, NUMBER_MASK);
}

static bool
payload_check(const stress_node *n, const stress_end *e, const unsigned char *payload, size_t size)
{
    uint64_t word = 0;
    if (size != e->channel->size_bytes) {
        return stress_wrong(n, e, "transaction %u has %zu bytes", e->next, size);
    }
    memcpy(&word, payload, size < WORD_BYTES ? size : WORD_BYTES);
    if (!word_check(n, e, word, size)) {
        return false;
    }
    for (size_t at = WORD_BYTES; at < size; at += WORD_BYTES) {
        word = pattern(e, at);
        if (memcmp(payload + at, &word, size - at < WORD_BYTES ? size - at : WORD_BYTES) != 0) {
            return stress_wrong(n, e, "the contents of transaction %u are not what was sent",
                                e->next);
        }
    }
    return true;
}

/* ---- The kinds of channel -------------------------------------------------------------------- */

static void
message_send(stress_end *e, mcapi_status_t *status)
{
    payload_fill(e);
    mcapi_msg_send_i(e->own, e->peer, e->payload, e->channel->size_bytes, e->channel->priority,
                     &e->request, status);
}

static void
message_receive(stress_end *e, mcapi_status_t *status)
{
    mcapi_msg_recv_i(e->own, e->payload, e->channel->size_bytes, &e->request, status);
}

static stress_progress
message_received(const stress_node *n, stress_end *e, size_t size)
{
    return payload_check(n, e, e->payload, size) ? STRESS_DONE : STRESS_WRONG;
}

static void
packet_send(stress_end *e, mcapi_status_t *status)
{
    payload_fill(e);
    mcapi_pktchan_send_i(e->handle, e->payload, e->channel->size_bytes, &e->request, status);
}

static void
packet_receive(stress_end *e, mcapi_status_t *status)
{
    mcapi_pktchan_recv_i(e->handle, &e->packet, &e->request, status);
}

static stress_progress
packet_received(const stress_node *n, stress_end *e, size_t size)
{
    mcapi_status_t status;
    bool same = payload_check(n, e, e->packet, size);
    mcapi_pktchan_release(e->packet, &status);
    return same && stress_good(n, e, "giving back a packet", status) ? STRESS_DONE : STRESS_WRONG;
}

/* The number of the state that came: at least the last one's. */
static uint32_t
state_number(const stress_end *e)
{
    uint64_t word, last = e->next - 1;
    memcpy(&word, e->packet, sizeof word);
    return (uint32_t)(last + ((word - last) & NUMBER_MASK));
}

/* The newest, which may be what was there before; those between are gone. */
static stress_progress
state_received(const stress_node *n, stress_end *e, size_t size)
{
    uint32_t number = size >= WORD_BYTES ? state_number(e) : e->next;
    if (number >= e->next && number <= e->channel->count) {
        stress_count_add(&n->record->skipped, number - e->next);
        e->next = number;
        return packet_received(n, e, size);
    }
    mcapi_status_t status;
    mcapi_pktchan_release(e->packet, &status);
    if (number > e->channel->count) {
        (void)stress_wrong(n, e, "a state came that is not the last, %u, nor after it",
                           e->next - 1);
        return STRESS_WRONG;
    }
    return stress_good(n, e, "giving back a state", status) ? STRESS_NOT_YET : STRESS_WRONG;
}

static stress_progress
scalar_send(const stress_node *n, stress_end *e)
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
        return STRESS_NOT_YET;
    }
    return stress_good(n, e, "sending", status) ? STRESS_DONE : STRESS_WRONG;
}

static stress_progress
scalar_receive(const stress_node *n, stress_end *e)
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
        return STRESS_NOT_YET;
    }
    bool well =
        stress_good(n, e, "receiving", status) && word_check(n, e, word, e->channel->size_bytes);
    return well ? STRESS_DONE : STRESS_WRONG;
}

/* Asks, unless that is under way, and looks how it goes. */
static stress_progress
request_move(const stress_node *n, stress_end *e)
{
    static const char *const what[] = {"receiving", "sending"};
    mcapi_status_t status = MCAPI_SUCCESS;
    size_t size = 0;
    if (!e->asked) {
        e->kind->ask[e->sends](e, &status);
        if (status != MCAPI_PENDING && !stress_good(n, e, what[e->sends], status)) {
            return STRESS_WRONG;
        }
        e->asked = true;
    }
    if (!mcapi_wait(&e->request, &size, MCAPI_TIMEOUT_IMMEDIATE, &status) &&
        status == MCAPI_TIMEOUT) {
        return STRESS_NOT_YET;
    }
    e->asked = false;
    if (status == MCAPI_ERR_MEM_LIMIT) {
        return STRESS_NOT_YET; /* no buffer for a copy of a state: others have them all */
    }
    if (!stress_good(n, e, what[e->sends], status)) {
        return STRESS_WRONG;
    }
    return e->sends ? STRESS_DONE : e->kind->received(n, e, size);
}

const stress_kind stress_kinds[DEPLOYMENT_TYPES] = {
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
