/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Round trips of MCAPI's messages.
 *
 *   awake    both sides look for what comes, beside the least two processors can do: a line each
 *            way. Nothing sleeps there, so MCAPI's timeout is 0, and a receive is tried again
 *   others   beside what a program would pick instead; all but Open MPI block
 *   asleep   who answers has slept for a while, beside a bare futex
 */
#include <linux/futex.h>
#include <mcapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "bench.h"
#include "bench_system.h"
#include "exchange_nodes.h"
#include "exchange_peers.h"
#include "port/port.h"
#include "ring_trip.h"

#define ASKS 1
#define ANSWERS 2
#define WORDS_MAX (PEER_BYTES_MAX / 8)
#define TRIPS 50000
#define WAKES 400
/* Long enough for the other to be asleep. */
#define ASLEEP_NS 300000u

typedef struct trips_case {
    uint32_t bytes;
    uint64_t count;
    uint64_t pause_ns; /* before each */
    bool polls;        /* receives with a timeout of 0, again and again */
} trips_case;

/* What each side writes stands apart. */
typedef struct trips {
    trips_case c;
    double *ns;
    _Alignas(128) bool asked_well;
    _Alignas(128) bool answered_well;
    _Alignas(128) atomic32 turns[2][32]; /* the bare futexes' */
} trips;

/* ---- MCAPI ----------------------------------------------------------------------------------- */

static bool
message_send(const trips *t, mcapi_endpoint_t from, mcapi_endpoint_t to, uint64_t *message)
{
    mcapi_status_t status;
    mcapi_msg_send(from, to, message, t->c.bytes, 0, &status);
    return status == MCAPI_SUCCESS;
}

static bool
message_receive(const trips *t, mcapi_endpoint_t at, uint64_t *message, uint64_t number)
{
    mcapi_status_t status;
    size_t size;
    do {
        mcapi_msg_recv(at, message, t->c.bytes, &size, &status);
    } while (status == MCAPI_TIMEOUT);
    return status == MCAPI_SUCCESS && size == t->c.bytes && message[0] == number &&
           message[t->c.bytes / 8 - 1] == number;
}

static bool
side_begin(const trips *t, mcapi_node_t node, mcapi_endpoint_t *own, mcapi_endpoint_t *other)
{
    const mcapi_timeout_t at_once = 0;
    mcapi_status_t status = MCAPI_SUCCESS;
    if (!exchange_node_begin(node) ||
        !exchange_endpoints_find(node == ASKS ? ANSWERS : ASKS, own, other)) {
        return false;
    }
    if (t->c.polls) {
        mcapi_endpoint_set_attribute(*own, MCAPI_ENDP_ATTR_TIMEOUT, &at_once, sizeof at_once,
                                     &status);
    }
    return status == MCAPI_SUCCESS;
}

/* The clock is read once in a trip; where there is a pause, once more behind it. */
static uint64_t
pause_before(const trips *t, uint64_t before_ns)
{
    if (!t->c.pause_ns) {
        return before_ns;
    }
    med_port_delay_ns(t->c.pause_ns);
    return med_port_clock_ns();
}

static void
messages_ask(void *argument)
{
    trips *t = argument;
    mcapi_endpoint_t own, other;
    uint64_t message[WORDS_MAX] = {0};
    bool good = side_begin(t, ASKS, &own, &other);
    uint64_t before_ns = med_port_clock_ns();
    for (uint64_t i = 0; good && i < t->c.count; i++) {
        before_ns = pause_before(t, before_ns);
        message[0] = i;
        message[t->c.bytes / 8 - 1] = i;
        good = message_send(t, own, other, message) && message_receive(t, own, message, i);
        uint64_t now_ns = med_port_clock_ns();
        t->ns[i] = (double)(now_ns - before_ns);
        before_ns = now_ns;
    }
    t->asked_well = good;
    exchange_node_end();
}

static void
messages_answer(void *argument)
{
    trips *t = argument;
    mcapi_endpoint_t own, other;
    uint64_t message[WORDS_MAX];
    bool good = side_begin(t, ANSWERS, &own, &other);
    for (uint64_t i = 0; good && i < t->c.count; i++) {
        good = message_receive(t, own, message, i) && message_send(t, own, other, message);
    }
    t->answered_well = good;
    exchange_node_end();
}

static bool
messages_run(const bench *b, trips *t, bool sleeps)
{
    bench_thread threads[] = {{messages_ask, t, 0, sleeps}, {messages_answer, t, 1, sleeps}};
    (void)bench_run(b, threads, 2);
    return (t->asked_well && t->answered_well) ||
           bench_failed("medley", "a message was not what was sent, or a call failed");
}

static trips *
trips_make(const trips_case *c, uint64_t count)
{
    trips *t = bench_map(sizeof *t);
    t->c = *c;
    t->c.count = count;
    t->ns = bench_map(count * sizeof *t->ns);
    return t;
}

static void
trips_free(trips *t)
{
    bench_unmap(t->ns, t->c.count * sizeof *t->ns);
    bench_unmap(t, sizeof *t);
}

/* values: median and p99.9, ns */
static bool
messages_measure(const bench *b, void *context, double *values)
{
    const trips_case *c = context;
    trips *t = trips_make(c, bench_count(b, c->count));
    bool good = messages_run(b, t, false);
    trip_values(t->ns, t->c.count, values);
    trips_free(t);
    return good;
}

/* ---- Asleep ---------------------------------------------------------------------------------- */

static void
futex_receive(atomic32 *turn, uint32_t wanted)
{
    uint32_t seen;
    while ((seen = atomic32_load_acquire(turn)) != wanted) { /* A1 turn <- R1 (futex_send) */
        (void)syscall(SYS_futex, &turn->value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
}

static void
futex_send(atomic32 *turn, uint32_t number)
{
    atomic32_store_release(turn, number); /* R1 turn -> A1 (futex_receive) */
    (void)syscall(SYS_futex, &turn->value, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void
futex_asks(void *argument)
{
    trips *t = argument;
    for (uint32_t i = 1; i <= t->c.count; i++) {
        uint64_t begin_ns = pause_before(t, 0);
        futex_send(t->turns[0], i);
        futex_receive(t->turns[1], i);
        t->ns[i - 1] = (double)(med_port_clock_ns() - begin_ns);
    }
}

static void
futex_answers(void *argument)
{
    trips *t = argument;
    for (uint32_t i = 1; i <= t->c.count; i++) {
        futex_receive(t->turns[0], i);
        futex_send(t->turns[1], i);
    }
}

static bool
futex_run(const bench *b, trips *t, bool sleeps)
{
    bench_thread threads[] = {{futex_asks, t, 0, sleeps}, {futex_answers, t, 1, sleeps}};
    (void)bench_run(b, threads, 2);
    return true;
}

/* `context`: how they run. value: median, us */
static bool
asleep_measure(const bench *b, void *context, double *values)
{
    static const trips_case c = {.bytes = 24, .count = WAKES, .pause_ns = ASLEEP_NS};
    bool (*const *run)(const bench *, trips *, bool) = context;
    trips *t = trips_make(&c, bench_count(b, c.count));
    bool good = (*run)(b, t, true);
    bench_latencies(t->ns, t->c.count, 0);
    values[0] = bench_permille(t->ns, t->c.count, 500) / 1e3;
    trips_free(t);
    return good;
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void
ask_bare(bench *b)
{
    static trips_case own = {.bytes = 24, .count = TRIPS, .polls = true};
    static trip_bare_kind message = TRIP_MESSAGE, in_turn = TRIP_IN_TURN;
    static const bench_subject subjects[] = {
        {"medley messages, polled", messages_measure, &own},
        {"bare, a line each way", trip_bare, &message},
        {"bare, 64 lines each way in turn", trip_bare, &in_turn},
    };
    static const bench_goal goals[] = {BENCH_BESIDE("median", 1, BENCH_AT_MOST, 1.3),
                                       {.name = "p99.9",
                                        .first_peer = 1,
                                        .peer_count = 1,
                                        .direction = BENCH_AT_MOST,
                                        .factor = 3,
                                        .value = 1}};
    const bench_question question = {
        .name = "MCAPI round trip, 24 B, both awake",
        .setting = "public calls; lane of 1 MiB; every message written and checked",
        .unit = "ns",
        .value_names = {"median", "p99.9"},
        .value_count = 2,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(subjects),
        .goals = goals,
        .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

static void
ask_peers(bench *b, uint32_t bytes)
{
    char name[64];
    trips_case polled = {.bytes = bytes, .count = TRIPS / 2, .polls = true};
    trips_case blocking = {.bytes = bytes, .count = TRIPS / 10};
    peer_case peers[PEER_KINDS];
    bench_subject subjects[PEER_KINDS + 2] = {
        {"medley messages, polled", messages_measure, &polled},
        {"medley messages, blocking", messages_measure, &blocking}};
    for (uint32_t i = 0; i < PEER_KINDS; i++) {
        peers[i] = (peer_case){.kind = (peer_kind)i, .bytes = bytes, .count = TRIPS / 50};
        subjects[i + 2] = (bench_subject){peer_name((peer_kind)i), peer_trip, &peers[i]};
    }
    const bench_goal goals[] = {{.name = "polled beside the best, which polls too",
                                 .first_peer = 2,
                                 .peer_count = PEER_KINDS,
                                 .direction = BENCH_AT_MOST,
                                 .factor = 1},
                                {.name = "blocking beside the best that blocks",
                                 .own = 1,
                                 .first_peer = 2,
                                 .peer_count = PEER_MPI,
                                 .direction = BENCH_AT_MOST,
                                 .factor = 1}};
    (void)snprintf(name, sizeof name, "MCAPI round trip, %u B, beside others", bytes);
    const bench_question question = {
        .name = name,
        .setting = "lane of 1 MiB, the peers' as large as they allow; first and last word checked",
        .unit = "ns",
        .value_names = {"median", "p99.9"},
        .value_count = 2,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(subjects),
        .goals = goals,
        .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

static void
ask_asleep(bench *b)
{
    static bool (*own)(const bench *, trips *, bool) = messages_run;
    static bool (*bare)(const bench *, trips *, bool) = futex_run;
    const bench_subject subjects[] = {{"medley messages", asleep_measure, &own},
                                      {"bare futex", asleep_measure, &bare}};
    static const bench_goal goals[] = {BENCH_BESIDE("beside a bare futex", 1, BENCH_AT_MOST, 1.15)};
    const bench_question question = {
        .name = "MCAPI round trip, 24 B, the receiver asleep",
        .setting = "public calls; who answers idle for 300 us before each; median of 400",
        .unit = "us",
        .value_count = 1,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(subjects),
        .goals = goals,
        .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "trip_bench", "Round trips of MCAPI's messages");
    (void)setenv("MEDLEY_LANE_BYTES", "1048576", 1);
    (void)setenv("MEDLEY_MAX_LANES", "8", 1);
    if (!bench_system_open(bench_system_name())) {
        return 1;
    }
    ask_bare(&b);
    ask_peers(&b, 24);
    ask_peers(&b, 256);
    ask_peers(&b, 4096);
    ask_asleep(&b);
    bench_system_close();
    return bench_end(&b);
}
