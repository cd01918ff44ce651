/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MCAPI's exchange through its public calls, beside what a program would pick instead: lock-free
 * rings by copy for scalars; for messages and packets a ring under a mutex and what the operating
 * system has. Every thing that is sent carries its number, and every number is checked.
 */
#include <mcapi.h>
#include <medley/mcapi_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "bench.h"
#include "bench_system.h"
#include "exchange_nodes.h"
#include "exchange_peers.h"
#include "exchange_topics.h"
#include "medley/medley.h"
#include "port/port.h"
#include "ring_bench.h"

#define SENDER 1
#define RECEIVER 2

static bool
request_ends(mcapi_request_t request, mcapi_status_t begun)
{
    mcapi_status_t status;
    size_t size;
    return (begun == MCAPI_SUCCESS || begun == MCAPI_PENDING) &&
           mcapi_wait(&request, &size, EXCHANGE_TIMEOUT_US, &status) == MCAPI_TRUE &&
           status == MCAPI_SUCCESS;
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* What each writes at every step stands apart from what the other looks at. */
typedef struct verdict {
    _Alignas(128) bool good;
} verdict;

typedef struct stream {
    uint32_t bytes;
    uint64_t count;
    verdict sender, receiver;
    /* The receiver is done, and the sender may go. */
    _Alignas(128) atomic32 done;
} stream;

static void
wait_until_done(const stream *s)
{
    while (!atomic32_load_acquire(&s->done)) {
        med_port_cpu_relax();
    }
}

static void
scalars_sent(void *argument)
{
    stream *s = argument;
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle;
    s->sender.good = exchange_node_begin(SENDER) && exchange_endpoints_find(RECEIVER, &own, &other);
    if (s->sender.good) {
        mcapi_sclchan_connect_i(own, other, &request, &status);
        s->sender.good = request_ends(request, status);
        mcapi_sclchan_send_open_i(&handle, own, &request, &status);
        s->sender.good = s->sender.good && request_ends(request, status);
    }
    for (uint64_t i = 0; s->sender.good && i < s->count; i++) {
        mcapi_sclchan_send_uint64(handle, i, &status);
        s->sender.good = status == MCAPI_SUCCESS;
    }
    wait_until_done(s);
    exchange_node_end();
}

static void
scalars_received(void *argument)
{
    stream *s = argument;
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle;
    s->receiver.good =
        exchange_node_begin(RECEIVER) && exchange_endpoints_find(SENDER, &own, &other);
    if (s->receiver.good) {
        mcapi_sclchan_recv_open_i(&handle, own, &request, &status);
        s->receiver.good = request_ends(request, status);
    }
    for (uint64_t i = 0; s->receiver.good && i < s->count; i++) {
        s->receiver.good =
            mcapi_sclchan_recv_uint64(handle, &status) == i && status == MCAPI_SUCCESS;
    }
    atomic32_store_release(&s->done, 1);
    exchange_node_end();
}

static void
messages_sent(void *argument)
{
    stream *s = argument;
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    uint64_t message[512];
    memset(message, 0, sizeof message);
    s->sender.good = exchange_node_begin(SENDER) && exchange_endpoints_find(RECEIVER, &own, &other);
    for (uint64_t i = 0; s->sender.good && i < s->count; i++) {
        message[0] = i;
        message[s->bytes / 8 - 1] = i;
        mcapi_msg_send(own, other, message, s->bytes, 0, &status);
        s->sender.good = status == MCAPI_SUCCESS;
    }
    wait_until_done(s);
    exchange_node_end();
}

static void
messages_received(void *argument)
{
    stream *s = argument;
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    uint64_t message[512];
    size_t size;
    s->receiver.good =
        exchange_node_begin(RECEIVER) && exchange_endpoints_find(SENDER, &own, &other);
    for (uint64_t i = 0; s->receiver.good && i < s->count; i++) {
        mcapi_msg_recv(own, message, sizeof message, &size, &status);
        s->receiver.good = status == MCAPI_SUCCESS && size == s->bytes && message[0] == i &&
                           message[s->bytes / 8 - 1] == i;
    }
    atomic32_store_release(&s->done, 1);
    exchange_node_end();
}

#define MANY 32u

static void
many_messages_sent(void *argument)
{
    stream *s = argument;
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    uint64_t messages[MANY][3] = {{0}};
    s->sender.good = exchange_node_begin(SENDER) && exchange_endpoints_find(RECEIVER, &own, &other);
    for (uint64_t i = 0; s->sender.good && i < s->count; i += MANY) {
        for (uint64_t k = 0; k < MANY; k++) {
            messages[k][0] = messages[k][2] = i + k;
        }
        s->sender.good = medley_mcapi_msg_send_many(own, other, messages, sizeof messages[0], MANY,
                                                    0, &status) == MANY;
    }
    wait_until_done(s);
    exchange_node_end();
}

static void
many_messages_received(void *argument)
{
    stream *s = argument;
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    uint64_t messages[MANY][3];
    size_t sizes[MANY];
    s->receiver.good =
        exchange_node_begin(RECEIVER) && exchange_endpoints_find(SENDER, &own, &other);
    for (uint64_t i = 0; s->receiver.good && i < s->count;) {
        mcapi_uint_t received =
            medley_mcapi_msg_recv_many(own, messages, sizeof messages[0], MANY, sizes, &status);
        bool good = status == MCAPI_SUCCESS;
        for (mcapi_uint_t k = 0; k < received; k++, i++) {
            good = good && sizes[k] == 24 && messages[k][0] == i && messages[k][2] == i;
        }
        s->receiver.good = good;
    }
    atomic32_store_release(&s->done, 1);
    exchange_node_end();
}

#define WHOLE_WORDS 512u
#define WHOLE_COUNT 200000

/* A node with a channel of packets to the other: its end. */
static bool
packets_open(unsigned *handle)
{
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    mcapi_request_t request;
    if (!exchange_node_begin(SENDER) || !exchange_endpoints_find(RECEIVER, &own, &other)) {
        return false;
    }
    mcapi_pktchan_connect_i(own, other, &request, &status);
    bool good = request_ends(request, status);
    mcapi_pktchan_send_open_i(handle, own, &request, &status);
    return good && request_ends(request, status);
}

/* What is written into packet i, and looked at. */
static void
ends_fill(uint64_t *packet, uint32_t bytes, uint64_t i)
{
    packet[0] = i;
    packet[bytes / 8 - 1] = i;
}

static bool
ends_check(const uint64_t *packet, uint32_t bytes, uint64_t i)
{
    return packet[0] == i && packet[bytes / 8 - 1] == i;
}

/* Word k of packet i is i + k, as in the rings. */
static void
whole_fill(uint64_t *packet, uint32_t bytes, uint64_t i)
{
    (void)bytes;
    ring_fill(packet, WHOLE_WORDS, i);
}

static bool
whole_check(const uint64_t *packet, uint32_t bytes, uint64_t i)
{
    (void)bytes;
    return ring_check(packet, WHOLE_WORDS, i) == 0;
}

/* Inlined, so that filling is no call. */
static inline __attribute__((always_inline)) void
send_in_place(stream *s, void (*fill)(uint64_t *packet, uint32_t bytes, uint64_t i))
{
    mcapi_status_t status;
    unsigned handle;
    s->sender.good = packets_open(&handle);
    for (uint64_t i = 0; s->sender.good && i < s->count; i++) {
        uint64_t *packet = medley_mcapi_pktchan_take(handle, &status);
        s->sender.good = status == MCAPI_SUCCESS;
        if (s->sender.good) {
            fill(packet, s->bytes, i);
            medley_mcapi_pktchan_send_taken(handle, packet, s->bytes, &status);
            s->sender.good = status == MCAPI_SUCCESS;
        }
    }
    wait_until_done(s);
    exchange_node_end();
}

static void
packets_sent_in_place(void *argument)
{
    send_in_place(argument, ends_fill);
}

static void
whole_packets_sent(void *argument)
{
    send_in_place(argument, whole_fill);
}

static void
packets_sent(void *argument)
{
    stream *s = argument;
    mcapi_status_t status;
    unsigned handle;
    uint64_t packet[512];
    memset(packet, 0, sizeof packet);
    s->sender.good = packets_open(&handle);
    for (uint64_t i = 0; s->sender.good && i < s->count; i++) {
        ends_fill(packet, s->bytes, i);
        mcapi_pktchan_send(handle, packet, s->bytes, &status);
        s->sender.good = status == MCAPI_SUCCESS;
    }
    wait_until_done(s);
    exchange_node_end();
}

static bool
packets_receive_open(unsigned *handle)
{
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    mcapi_request_t request;
    if (!exchange_node_begin(RECEIVER) || !exchange_endpoints_find(SENDER, &own, &other)) {
        return false;
    }
    mcapi_pktchan_recv_open_i(handle, own, &request, &status);
    return request_ends(request, status);
}

/* Inlined, as the sender's. */
static inline __attribute__((always_inline)) void
receive_packets(stream *s, bool (*check)(const uint64_t *packet, uint32_t bytes, uint64_t i))
{
    mcapi_status_t status;
    unsigned handle;
    void *packet;
    size_t size;
    s->receiver.good = packets_receive_open(&handle);
    for (uint64_t i = 0; s->receiver.good && i < s->count; i++) {
        mcapi_pktchan_recv(handle, &packet, &size, &status);
        s->receiver.good =
            status == MCAPI_SUCCESS && size == s->bytes && check(packet, s->bytes, i);
        mcapi_pktchan_release(packet, &status);
    }
    atomic32_store_release(&s->done, 1);
    exchange_node_end();
}

static void
packets_received(void *argument)
{
    receive_packets(argument, ends_check);
}

static void
whole_packets_received(void *argument)
{
    receive_packets(argument, whole_check);
}

/* ---- States ---------------------------------------------------------------------------------- */

#define STATE_BUFFERS 16u
#define STATE_WORDS_MAX 512u

/* The receiver looks as often as it can until the sender has sent all. */
typedef struct states {
    uint32_t bytes;
    uint64_t count;
    uint64_t looked;
    uint64_t sent_ns; /* how long all took to send */
    verdict sender, receiver;
    _Alignas(128) atomic32 ready; /* the receiver is; the sender may begin */
    atomic32 done;
} states;

static bool
state_ends_find(const states *s,
                mcapi_node_t other,
                mcapi_endpoint_t *own,
                mcapi_endpoint_t *others)
{
    const mcapi_uint_t settings[][2] = {
        {MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, STATE_BUFFERS},
        {MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, s->bytes},
        /* Last: who agrees on all may be connected at once. */
        {MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER},
    };
    mcapi_status_t status;
    *own = mcapi_endpoint_create(EXCHANGE_PORT, &status);
    for (size_t i = 0; i < BENCH_COUNT(settings) && status == MCAPI_SUCCESS; i++) {
        mcapi_endpoint_set_attribute(*own, settings[i][0], &settings[i][1], sizeof settings[i][1],
                                     &status);
    }
    if (status == MCAPI_SUCCESS) {
        *others =
            mcapi_endpoint_get(BENCH_DOMAIN, other, EXCHANGE_PORT, EXCHANGE_TIMEOUT_US, &status);
    }
    return status == MCAPI_SUCCESS;
}

static void
states_sent(void *argument)
{
    states *s = argument;
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle;
    uint64_t value[STATE_WORDS_MAX];
    memset(value, 0, sizeof value);
    s->sender.good = exchange_node_begin(SENDER) && state_ends_find(s, RECEIVER, &own, &other);
    if (s->sender.good) {
        do {
            mcapi_pktchan_connect_i(own, other, &request, &status);
        } while (status == MCAPI_ERR_ATTR_INCOMPATIBLE); /* the other is setting its own */
        s->sender.good = request_ends(request, status);
        mcapi_pktchan_send_open_i(&handle, own, &request, &status);
        s->sender.good = s->sender.good && request_ends(request, status);
    }
    while (s->sender.good && !atomic32_load_acquire(&s->ready)) {
        med_port_cpu_relax();
    }
    uint64_t begin_ns = med_port_clock_ns();
    for (uint64_t i = 1; s->sender.good && i <= s->count; i++) {
        value[0] = i;
        value[s->bytes / 8 - 1] = i;
        mcapi_pktchan_send(handle, value, s->bytes, &status);
        s->sender.good = status == MCAPI_SUCCESS;
    }
    s->sent_ns = med_port_clock_ns() - begin_ns;
    atomic32_store_release(&s->done, 1);
    exchange_node_end();
}

static void
states_received(void *argument)
{
    states *s = argument;
    mcapi_endpoint_t own, other;
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned handle;
    uint64_t value[STATE_WORDS_MAX] = {0};
    uint64_t last = 0, looked = 0;
    size_t size;
    s->receiver.good = exchange_node_begin(RECEIVER) && state_ends_find(s, SENDER, &own, &other);
    if (s->receiver.good) {
        mcapi_pktchan_recv_open_i(&handle, own, &request, &status);
        s->receiver.good = request_ends(request, status);
    }
    atomic32_store_release(&s->ready, 1);
    while (s->receiver.good && last < s->count && !atomic32_load_acquire(&s->done)) {
        medley_mcapi_state_recv(handle, value, sizeof value, &size, &status);
        s->receiver.good = status == MCAPI_SUCCESS && size == s->bytes && value[0] >= last &&
                           value[s->bytes / 8 - 1] == value[0];
        last = value[0];
        looked++;
    }
    s->looked = looked;
    atomic32_store_release(&s->ready, 1);
    exchange_node_end();
}

/* The same with nothing but the copies, torn or not: what the memory can do. */
typedef struct plain_memory {
    atomic32 newest;
    uint32_t apart[31];
    uint64_t buffers[STATE_BUFFERS][STATE_WORDS_MAX];
} plain_memory;
static _Alignas(128) plain_memory plain;

static void
plain_sent(void *argument)
{
    states *s = argument;
    uint64_t value[STATE_WORDS_MAX];
    memset(value, 0, sizeof value);
    while (!atomic32_load_acquire(&s->ready)) {
        med_port_cpu_relax();
    }
    uint64_t begin_ns = med_port_clock_ns();
    for (uint64_t i = 1; i <= s->count; i++) {
        value[0] = i;
        value[s->bytes / 8 - 1] = i;
        memcpy(plain.buffers[i % STATE_BUFFERS], value, s->bytes);
        atomic32_store_release(&plain.newest, (uint32_t)i);
    }
    s->sent_ns = med_port_clock_ns() - begin_ns;
    atomic32_store_release(&s->done, 1);
}

static void
plain_received(void *argument)
{
    states *s = argument;
    uint64_t value[STATE_WORDS_MAX];
    uint64_t looked = 0;
    atomic32_store_release(&s->ready, 1);
    while (!atomic32_load_acquire(&s->done)) {
        uint32_t newest = atomic32_load_acquire(&plain.newest);
        memcpy(value, plain.buffers[newest % STATE_BUFFERS], s->bytes);
        __asm__("" : : "r"(value) : "memory");
        looked++;
    }
    s->looked = looked;
    s->sender.good = s->receiver.good = true;
}

typedef struct states_case {
    void (*send)(void *argument);
    void (*receive)(void *argument);
    uint32_t bytes;
    uint64_t count;
} states_case;

/* values: ns for each that is sent; looks, million a second */
static bool
states_measure(const bench *b, void *context, double *values)
{
    const states_case *c = context;
    static states s;
    s = (states){.bytes = c->bytes, .count = bench_count(b, c->count)};
    bench_thread threads[] = {{c->send, &s, 0, false}, {c->receive, &s, 1, false}};
    (void)bench_run(b, threads, 2);
    values[0] = (double)s.sent_ns / (double)s.count;
    values[1] = (double)s.looked * 1e3 / (double)s.sent_ns;
    return (s.sender.good && s.receiver.good) ||
           bench_failed("states", "torn, older than before, or failed");
}

/* ---- Questions ------------------------------------------------------------------------------- */

typedef struct own_case {
    void (*send)(void *argument);
    void (*receive)(void *argument);
    uint32_t bytes;
    uint64_t count;
} own_case;

/* value: million a second */
static bool
own_measure(const bench *b, void *context, double *values)
{
    const own_case *c = context;
    static stream s;
    s = (stream){.bytes = c->bytes, .count = bench_count(b, c->count)};
    bench_thread threads[] = {{c->send, &s, 0, false}, {c->receive, &s, 1, false}};
    uint64_t ns = bench_run(b, threads, 2);
    values[0] = (double)s.count * 1e3 / (double)ns;
    return (s.sender.good && s.receiver.good) ||
           bench_failed("medley", "something got lost, or failed");
}

/* A lock-free ring, in the same setting as in ring_bench. */
static bool
ring_work_measure(
    const bench *b, const ring_system *system, ring_work work, uint64_t count, double *values)
{
    static ring_run run;
    size_t size_bytes = system->size_bytes(work);
    run = (ring_run){.memory = bench_map(size_bytes),
                     .work = work,
                     .count = bench_count(b, count) / RING_BURST * RING_BURST,
                     .wrong = 1};
    if (!system->make(&run)) {
        return bench_failed(system->name, "the ring could not be made");
    }
    bench_thread threads[] = {{system->produce[work], &run, 0, false},
                              {system->consume[work], &run, 1, false}};
    uint64_t ns = bench_run(b, threads, 2);
    bench_unmap(run.memory, size_bytes);
    values[0] = (double)run.count * 1e3 / (double)ns;
    return run.wrong == 0 || bench_failed(system->name, "wrong content or order");
}

/* By copy. */
static bool
ring_measure(const bench *b, void *context, double *values)
{
    return ring_work_measure(b, context, RING_COPY_8, 4000000, values);
}

static bool
ring_whole_measure(const bench *b, void *context, double *values)
{
    return ring_work_measure(b, context, RING_WHOLE_4K, WHOLE_COUNT, values);
}

static void
ask_scalars(bench *b)
{
    static own_case own = {scalars_sent, scalars_received, 8, 16000000};
    static const bench_subject subjects[] = {
        {"medley scalars", own_measure, &own},
        {"ck_ring", ring_measure, (void *)(uintptr_t)&ring_ck},
        {"DPDK rte_ring", ring_measure, (void *)(uintptr_t)&ring_dpdk},
    };
    static const bench_goal goals[] = {
        {.name = "a second", .figure = 60, .factor = 1},
        {.name = "beside the better ring", .first_peer = 1, .peer_count = 2, .factor = 1.5},
    };
    const bench_question question = {
        .name = "MCAPI scalars, 8 B, one at a time",
        .setting = "public calls; lane of 1 MiB, rings of 512 KiB, by copy; each value checked",
        .unit = "M/s",
        .value_count = 1,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(subjects),
        .goals = goals,
        .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

/* What takes some hundredths of a second. */
static uint64_t
peer_count(peer_kind kind, uint32_t bytes)
{
    uint64_t small = kind == PEER_MUTEX || kind == PEER_MPI ? 500000 : 40000;
    return bytes > 1000 ? small / 5 : small;
}

static void
ask_messages(bench *b, uint32_t bytes, double least)
{
    char name[64];
    own_case own = {messages_sent, messages_received, bytes, bytes > 1000 ? 200000 : 2000000};
    peer_case peers[PEER_KINDS];
    bench_subject subjects[PEER_KINDS + 1] = {{"medley messages", own_measure, &own}};
    for (uint32_t i = 0; i < PEER_KINDS; i++) {
        peers[i] = (peer_case){(peer_kind)i, bytes, peer_count((peer_kind)i, bytes)};
        subjects[i + 1] = (bench_subject){peer_name((peer_kind)i), peer_measure, &peers[i]};
    }
    bench_goal goals[] = {
        {.name = "a second", .figure = least, .factor = 1},
        {.name = "beside a ring under a mutex", .first_peer = 1, .peer_count = 1, .factor = 8},
        {.name = "beside the best of the system's and the libraries",
         .first_peer = 2,
         .peer_count = PEER_KINDS - 1,
         .factor = 1},
    };
    if (least == 0) {
        goals[0] = goals[2];
    }
    (void)snprintf(name, sizeof name, "MCAPI messages, %u B, one at a time", bytes);
    const bench_question question = {
        .name = name,
        .setting = "public calls; lane of 1 MiB, the peers' as large as they allow; first and last "
                   "word checked",
        .unit = "M/s",
        .value_count = 1,
        .subjects = subjects,
        .subject_count = PEER_KINDS + 1,
        .goals = goals,
        .goal_count = least == 0 ? 1 : 3};
    bench_ask(b, &question);
}

static void
ask_many_messages(bench *b)
{
    static own_case own = {many_messages_sent, many_messages_received, 24, 8000000 / MANY * MANY};
    static const bench_subject subjects[] = {{"medley messages", own_measure, &own}};
    static const bench_goal goals[] = {{.name = "a second", .figure = 60, .factor = 1}};
    const bench_question question = {.name = "MCAPI messages, 24 B, 32 in a call",
                                     .setting =
                                         "public calls; lane of 1 MiB; first and last word checked",
                                     .unit = "M/s",
                                     .value_count = 1,
                                     .subjects = subjects,
                                     .subject_count = BENCH_COUNT(subjects),
                                     .goals = goals,
                                     .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

static void
ask_packets(bench *b, uint32_t bytes)
{
    char name[64];
    uint64_t count = bytes > 1000 ? 200000 : 2000000;
    own_case copied = {packets_sent, packets_received, bytes, count};
    own_case in_place = {packets_sent_in_place, packets_received, bytes, 2000000};
    const bench_subject subjects[] = {{"medley, filled in place", own_measure, &in_place},
                                      {"medley, copied in", own_measure, &copied}};
    const bench_goal goals[] = {{.name = "in place, a second", .figure = 20, .factor = 1},
                                {.name = "copied in, a second",
                                 .own = 1,
                                 .figure = 20,
                                 .factor = 1,
                                 .report_only = bytes > 1000}};
    (void)snprintf(name, sizeof name, "MCAPI packets, %u B, one at a time", bytes);
    const bench_question question = {
        .name = name,
        .setting = "public calls; lane of 1 MiB, 1024 buffers of 4 KiB; first and last word "
                   "written and checked",
        .unit = "M/s",
        .value_count = 1,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(subjects),
        .goals = goals,
        .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

/* Beside what the memory can do: the same words written by one processor and checked by the other,
 * with one counter each way. */
static void
ask_whole_packets(bench *b)
{
    static own_case own = {whole_packets_sent, whole_packets_received, WHOLE_WORDS * 8,
                           WHOLE_COUNT};
    static const bench_subject subjects[] = {
        {"medley, filled in place", own_measure, &own},
        {"no ring: one counter per eighth", ring_whole_measure, (void *)(uintptr_t)&ring_bare},
    };
    static const bench_goal goals[] = {{.name = "a second", .figure = 4, .factor = 1}};
    const bench_question question = {
        .name = "MCAPI packets, 4096 B, whole written and read",
        .setting =
            "public calls; lane of 1 MiB, 1024 buffers of 4 KiB, filled in place; bare: 1 MiB; "
            "every word written and checked",
        .unit = "M/s",
        .value_count = 1,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(subjects),
        .goals = goals,
        .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

static void
ask_states(bench *b, uint32_t bytes)
{
    char name[64];
    uint64_t count = bytes > 1000 ? 500000 : 10000000;
    states_case own = {states_sent, states_received, bytes, count};
    states_case bare = {plain_sent, plain_received, bytes, count};
    const bench_subject subjects[] = {{"medley states", states_measure, &own},
                                      {"plain copies, torn", states_measure, &bare}};
    const bench_goal goals[] = {BENCH_BESIDE("send beside a plain copy", 1, BENCH_AT_MOST, 1.3),
                                {.name = "looks a second", .figure = 10, .factor = 1, .value = 1}};
    (void)snprintf(name, sizeof name, "MCAPI states, %u B, both at full speed", bytes);
    const bench_question question = {
        .name = name,
        .setting = "public calls; 16 buffers; each value checked to be whole and no older",
        .unit = "ns",
        .value_names = {"send", "looks"},
        .value_units = {NULL, "M/s"},
        .value_count = 2,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(subjects),
        .goals = goals,
        .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

static void
ask_topics(bench *b, uint32_t subscribers)
{
    char name[64];
    topic_case topic = {subscribers, 500000};
    const bench_subject subjects[] = {
        {"medley topic", topic_measure, &topic},
        {"boost spsc_queue, one each", topic_queues_measure, &topic},
    };
    (void)snprintf(name, sizeof name, "MCAPI topics, 24 B, subscribers: %u", subscribers);
    const bench_question question = {
        .name = name,
        .setting = "public calls; lanes of 1 MiB, 1024 buffers of 4 KiB in all; queues of 16384, "
                   "one process, by copy; one thread receives for all; each value checked",
        .unit = "M/s",
        .value_count = 1,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(subjects)};
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "exchange_bench",
                "MCAPI's messages, packets and scalars beside rings and the system's own");
    (void)setenv("MEDLEY_LANE_BYTES", "1048576", 1);
    (void)setenv("MEDLEY_MAX_LANES", "8", 1);
    (void)setenv("MEDLEY_MAX_BUFFERS", "1024", 1);
    if (!bench_system_open(bench_system_name())) {
        return 1;
    }
    ask_scalars(&b);
    ask_messages(&b, 24, 20);
    ask_messages(&b, 256, 0);
    ask_messages(&b, 4096, 0);
    ask_many_messages(&b);
    ask_packets(&b, 24);
    ask_packets(&b, 4096);
    ask_whole_packets(&b);
    ask_states(&b, 24);
    ask_states(&b, 4096);
    for (uint32_t subscribers = 1; subscribers <= TOPIC_SUBSCRIBERS_MAX; subscribers *= 2) {
        ask_topics(&b, subscribers);
    }
    bench_system_close();
    return bench_end(&b);
}
