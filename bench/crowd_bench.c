/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MCAPI's messages of 24 bytes otherwise placed: between processes, on one processor, from several
 * senders to one endpoint, over the locked exchange; and what endpoints and channels take of
 * memory.
 *
 * A run lasts a given time, and the rate is what the receiver took in it. Every restart has a
 * system of its own, which only children of this process are in: one for all threads, or one each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "bench.h"
#include "bench_system.h"
#include "exchange_nodes.h"
#include "mcapi/exchange.h"
#include "medley/medley.h"
#include "mrapi/limits.h"
#include "mrapi/partition.h"
#include "port/port.h"

#define RECEIVER 1
#define FIRST_SENDER 2
#define SENDERS_MAX 4
#define DURATION_NS 250000000u
#define LOOKS_PER_CLOCK 256
/* The number of each sender's last one. */
#define LAST UINT64_MAX

typedef struct message {
    uint64_t sender, number, sum;
} message;

typedef struct flow_case {
    uint32_t senders;
    bool one_processor;
    bool processes; /* each of them one; else all are threads of one */
    bool locked;    /* MEDLEY_EXCHANGE */
    bool requests;  /* each call asks, and its request is waited for */
} flow_case;

/* The receiver's are its own until all have ended. */
typedef struct flow {
    flow_case c;
    uint64_t duration_ns;
    uint64_t taken_ns;
    uint64_t taken[SENDERS_MAX];
    uint64_t next[SENDERS_MAX];
    uint32_t ended;
    bool received_well;
    _Alignas(128) bool sent_well[SENDERS_MAX];
    _Alignas(128) atomic32 stop;
} flow;

typedef struct side {
    flow *f;
    uint32_t number; /* of the sender; of the receiver, how many there are */
} side;

/* ---- The two sides --------------------------------------------------------------------------- */

static bool
request_ends(mcapi_request_t request, size_t *size, mcapi_status_t *status)
{
    return *status == MCAPI_SUCCESS &&
           mcapi_wait(&request, size, EXCHANGE_TIMEOUT_US, status) == MCAPI_TRUE;
}

static bool
message_send(const side *s, mcapi_endpoint_t from, mcapi_endpoint_t to, uint64_t number)
{
    const message m = {s->number, number, s->number + number};
    mcapi_status_t status;
    if (s->f->c.requests) {
        mcapi_request_t request;
        size_t size;
        mcapi_msg_send_i(from, to, &m, sizeof m, 0, &request, &status);
        return request_ends(request, &size, &status) && status == MCAPI_SUCCESS;
    }
    mcapi_msg_send(from, to, &m, sizeof m, 0, &status);
    return status == MCAPI_SUCCESS;
}

static void
sends(void *argument)
{
    const side *s = argument;
    flow *f = s->f;
    mcapi_endpoint_t own, to;
    bool good = exchange_node_begin(FIRST_SENDER + s->number) &&
                exchange_endpoints_find(RECEIVER, &own, &to);
    /* Relaxed: ends the loop only. */
    for (uint64_t i = 0; good && !atomic32_load_relaxed(&f->stop); i++) {
        good = message_send(s, own, to, i);
    }
    f->sent_well[s->number] = good && message_send(s, own, to, LAST);
    exchange_node_end();
}

static bool
message_receive(const flow *f, mcapi_endpoint_t at, message *m)
{
    mcapi_status_t status;
    size_t size = 0;
    if (f->c.requests) {
        mcapi_request_t request;
        mcapi_msg_recv_i(at, m, sizeof *m, &request, &status);
        return request_ends(request, &size, &status) && status == MCAPI_SUCCESS &&
               size == sizeof *m;
    }
    mcapi_msg_recv(at, m, sizeof *m, &size, &status);
    return status == MCAPI_SUCCESS && size == sizeof *m;
}

static bool
message_take(flow *f, mcapi_endpoint_t at)
{
    message m;
    if (!message_receive(f, at, &m) || m.sender >= f->c.senders || m.sum != m.sender + m.number) {
        return false;
    }
    if (m.number == LAST) {
        f->ended++;
        return true;
    }
    return m.number == f->next[m.sender]++;
}

/* Counts until the time is over, then takes what is still under way. */
static void
receives(void *argument)
{
    const side *s = argument;
    flow *f = s->f;
    mcapi_status_t status;
    bool good = exchange_node_begin(RECEIVER);
    mcapi_endpoint_t own = mcapi_endpoint_create(EXCHANGE_PORT, &status);
    uint64_t begin_ns = 0;
    good = good && status == MCAPI_SUCCESS && message_take(f, own);
    begin_ns = med_port_clock_ns();
    for (uint32_t i = 1; good && f->ended < f->c.senders; i++) {
        good = message_take(f, own);
        uint64_t now_ns = i % LOOKS_PER_CLOCK == 0 && !f->taken_ns ? med_port_clock_ns() : 0;
        if (now_ns && now_ns - begin_ns >= f->duration_ns) {
            f->taken_ns = now_ns - begin_ns;
            memcpy(f->taken, f->next, sizeof f->taken);
            atomic32_store_relaxed(&f->stop, 1); /* relaxed: ends loops only */
        }
    }
    f->received_well = good;
    exchange_node_end();
}

/* ---- Children -------------------------------------------------------------------------------- */

static void
child_run(const bench *b, const flow *f, const bench_thread *threads, uint32_t count)
{
    if (f->c.locked) {
        (void)setenv("MEDLEY_EXCHANGE", "locked", 1);
    }
    bool good = medley_system_open(bench_system_name()) == MEDLEY_OK;
    if (good) {
        (void)bench_run(b, threads, count);
        good = medley_system_close() == MEDLEY_OK;
    }
    _exit(good ? 0 : 1);
}

static bool
children_run(const bench *b, const flow *f, const bench_thread *threads, uint32_t count)
{
    uint32_t at_once = f->c.processes ? 1 : count;
    bool good = true;
    (void)fflush(NULL); /* or each would write what is kept back */
    for (uint32_t i = 0; i < count; i += at_once) {
        pid_t pid = fork();
        if (pid == 0) {
            child_run(b, f, threads + i, at_once);
        }
        good = good && pid > 0;
    }
    int status;
    while (wait(&status) > 0) {
        good = good && status == 0;
    }
    return good;
}

static bool
flow_well(const flow *f)
{
    bool good = f->received_well && f->taken_ns;
    for (uint32_t i = 0; i < f->c.senders; i++) {
        good = good && f->sent_well[i];
    }
    return good;
}

/* Who shares a processor sleeps when it has nothing to do. */
static bool
shares_processor(const bench *b, const flow_case *c)
{
    return c->one_processor || b->processor_count <= c->senders;
}

/* values: million a second; the worst sender's share of what would be fair, in percent */
static bool
flow_measure(const bench *b, void *context, double *values)
{
    const flow_case *c = context;
    flow *f = bench_map(sizeof *f);
    side sides[SENDERS_MAX + 1];
    bench_thread threads[SENDERS_MAX + 1];
    bool shares = shares_processor(b, c);
    f->c = *c;
    f->duration_ns = bench_count(b, DURATION_NS);
    for (uint32_t i = 0; i <= c->senders; i++) {
        bool receiver = i == c->senders;
        sides[i] = (side){f, i};
        threads[i] = (bench_thread){.run = receiver ? receives : sends,
                                    .argument = &sides[i],
                                    .processor = c->one_processor   ? 0
                                                 : receiver         ? 1
                                                 : shares || i == 0 ? 0
                                                                    : i + 1,
                                    .sleeps = c->one_processor || (shares && !receiver)};
    }
    bool good = children_run(b, f, threads, c->senders + 1) && flow_well(f);
    uint64_t all = 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < c->senders; i++) {
        all += f->taken[i];
        least = f->taken[i] < least ? f->taken[i] : least;
    }
    if (good) {
        values[0] = (double)all * 1e3 / (double)f->taken_ns;
        values[1] = (double)least * c->senders * 100 / (double)all;
    }
    bench_unmap(f, sizeof *f);
    return good || bench_failed("medley", "something got lost, or failed");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint32_t
size_with(med_limit which, uint32_t more)
{
    med_limits limits;
    med_layout layout;
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        limits.of[i] = med_limit_infos[i].standard;
    }
    limits.of[which] = med_limit_infos[which].standard + more;
    return med_layout_compute(&limits, &layout) == MEDLEY_OK
               ? layout.size_bytes + med_exchange_memory_bytes(&limits)
               : 0;
}

#define MORE 64u

/* `context`: med_limit. value: what one row more takes, KiB; of MED_LIMIT_COUNT, all */
static bool
memory_measure(const bench *b, void *context, double *values)
{
    med_limit which = *(const med_limit *)context;
    (void)b;
    uint32_t whole = size_with(MED_LIMIT_ENDPOINTS, 0);
    values[0] = which == MED_LIMIT_COUNT ? whole / 1024.0
                                         : (size_with(which, MORE) - whole) / 1024.0 / MORE;
    return whole && values[0] > 0;
}

/* ---- Questions ------------------------------------------------------------------------------- */

#define SETTING "public calls; lane of 1 MiB; every word written and checked"

static void
ask_flows(bench *b, bench_question question, const bench_subject *subjects, uint32_t count)
{
    question.unit = "M/s";
    question.subjects = subjects;
    question.subject_count = count;
    question.value_count = question.value_names[1] ? 2 : 1;
    bench_ask(b, &question);
}

static void
ask_processes(bench *b)
{
    static flow_case processes = {.senders = 1, .processes = true}, threads = {.senders = 1};
    static const bench_subject subjects[] = {{"between processes", flow_measure, &processes},
                                             {"between threads", flow_measure, &threads}};
    static const bench_goal goals[] = {
        BENCH_BESIDE("beside threads, not less", 1, BENCH_AT_LEAST, 0.75),
        BENCH_BESIDE("beside threads, not more", 1, BENCH_AT_MOST, 1.25)};
    ask_flows(b,
              (bench_question){.name = "MCAPI messages, 24 B, processes and threads",
                               .setting = SETTING,
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)},
              subjects, BENCH_COUNT(subjects));
}

static void
ask_requests(bench *b)
{
    static flow_case processes = {.senders = 1, .processes = true, .requests = true};
    static flow_case threads = {.senders = 1, .requests = true};
    static const bench_subject subjects[] = {{"between processes", flow_measure, &processes},
                                             {"between threads", flow_measure, &threads}};
    static const bench_goal goals[] = {
        BENCH_BESIDE("beside threads, not less", 1, BENCH_AT_LEAST, 0.75),
        BENCH_BESIDE("beside threads, not more", 1, BENCH_AT_MOST, 1.25)};
    ask_flows(b,
              (bench_question){.name = "MCAPI messages by requests, 24 B, processes and threads",
                               .setting = SETTING "; each send and receive is waited for",
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)},
              subjects, BENCH_COUNT(subjects));
}

static void
ask_one_processor(bench *b)
{
    static flow_case own = {.senders = 1, .one_processor = true};
    static const bench_subject subjects[] = {{"medley messages", flow_measure, &own}};
    static const bench_goal goals[] = {{.name = "a second", .figure = 10, .factor = 1}};
    ask_flows(b,
              (bench_question){.name = "MCAPI messages, 24 B, both on one processor",
                               .setting = SETTING,
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)},
              subjects, BENCH_COUNT(subjects));
}

static void
ask_locked(bench *b)
{
    static flow_case free = {.senders = 1}, locked = {.senders = 1, .locked = true};
    static flow_case one = {.senders = 1, .locked = true, .one_processor = true};
    static const bench_subject subjects[] = {{"medley, lock-free", flow_measure, &free},
                                             {"medley, locked", flow_measure, &locked},
                                             {"medley, locked, one processor", flow_measure, &one}};
    /* The paper's figure: 25. */
    static const bench_goal goals[] = {BENCH_BESIDE("beside locked", 1, BENCH_AT_LEAST, 25)};
    ask_flows(b,
              (bench_question){.name = "MCAPI messages, 24 B, lock-free and locked",
                               .setting = SETTING,
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)},
              subjects, BENCH_COUNT(subjects));
}

static void
ask_senders(bench *b, uint32_t senders)
{
    char name[64];
    flow_case own = {.senders = senders};
    const bench_subject subjects[] = {{"medley messages", flow_measure, &own}};
    static const bench_goal goals[] = {{.name = "a second, all", .figure = 15, .factor = 1},
                                       {.name = "the worst sender's share of a fair one",
                                        .figure = 100,
                                        .factor = 1,
                                        .value = 1,
                                        .report_only = true}};
    (void)snprintf(name, sizeof name, "MCAPI messages, 24 B, %u senders to one endpoint", senders);
    ask_flows(b,
              (bench_question){.name = name,
                               .setting = shares_processor(b, &own)
                                              ? SETTING "; the senders share one processor, the "
                                                        "receiver has another"
                                              : SETTING "; each thread on its own processor",
                               .value_names = {"all", "worst"},
                               .value_units = {NULL, "%"},
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)},
              subjects, BENCH_COUNT(subjects));
}

static void
ask_memory(bench *b)
{
    static med_limit all = MED_LIMIT_COUNT, endpoint = MED_LIMIT_ENDPOINTS, lane = MED_LIMIT_LANES,
                     buffer = MED_LIMIT_BUFFERS;
    static const bench_subject subjects[] = {{"a system", memory_measure, &all},
                                             {"an endpoint", memory_measure, &endpoint},
                                             {"a channel, or a lane", memory_measure, &lane},
                                             {"a buffer", memory_measure, &buffer}};
    static const bench_goal goals[] = {BENCH_AT_MOST_FIGURE("a system", 0, 2048)};
    const bench_question question = {
        .name = "MCAPI: memory",
        .setting = "standard limits: 64 processes, 64 endpoints, 128 lanes of 4 KiB; what one more "
                   "takes",
        .unit = "KiB",
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
    bench_begin(&b, argc, argv, "crowd_bench", "MCAPI's messages otherwise placed, and its memory");
    (void)bench_system_name(); /* which the children have too */
    ask_memory(&b);
    (void)setenv("MEDLEY_LANE_BYTES", "1048576", 1);
    (void)setenv("MEDLEY_MAX_LANES", "8", 1);
    ask_processes(&b);
    ask_requests(&b);
    ask_one_processor(&b);
    ask_locked(&b);
    ask_senders(&b, 2);
    ask_senders(&b, 4);
    return bench_end(&b);
}
