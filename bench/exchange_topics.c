/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Our own side of it: one topic, and an endpoint for each subscriber. */
#include "exchange_topics.h"

#include <medley/mcapi_ext.h>

#include "base/atomic.h"
#include "bench_system.h"
#include "exchange_nodes.h"
#include "port/port.h"

#define PUBLISHER 1
#define SUBSCRIBER 2

typedef struct topic_run {
    uint32_t subscribers;
    uint64_t count;
    bool good[2];
    _Alignas(128) atomic32 ready; /* all have subscribed, or that failed */
    atomic32 done;                /* all is received, or that failed */
} topic_run;

static void
wait_until_set(const atomic32 *word)
{
    while (!atomic32_load_acquire(word)) {
        med_port_cpu_relax();
    }
}

static void
published(void *argument)
{
    topic_run *run = argument;
    mcapi_status_t status;
    uint64_t value[TOPIC_WORDS] = {0};
    bool good = exchange_node_begin(PUBLISHER);
    mcapi_endpoint_t topic = mcapi_endpoint_create(EXCHANGE_PORT, &status);
    wait_until_set(&run->ready);
    for (uint64_t i = 0; good && i < run->count; i++) {
        value[0] = value[TOPIC_WORDS - 1] = i;
        good = medley_mcapi_topic_publish(topic, value, sizeof value, &status) == run->subscribers;
    }
    run->good[0] = good;
    wait_until_set(&run->done);
    exchange_node_end();
}

static bool
subscribe_all(uint32_t count, mcapi_pktchan_recv_hndl_t *receivers)
{
    mcapi_status_t status;
    mcapi_endpoint_t topic =
        mcapi_endpoint_get(BENCH_DOMAIN, PUBLISHER, EXCHANGE_PORT, EXCHANGE_TIMEOUT_US, &status);
    for (uint32_t s = 0; s < count && status == MCAPI_SUCCESS; s++) {
        mcapi_endpoint_t at = mcapi_endpoint_create(EXCHANGE_PORT + s, &status);
        if (status == MCAPI_SUCCESS) {
            medley_mcapi_topic_subscribe(topic, at, &receivers[s], &status);
        }
    }
    return status == MCAPI_SUCCESS;
}

static bool
next_is(mcapi_pktchan_recv_hndl_t receiver, uint64_t number)
{
    mcapi_status_t status;
    void *packet;
    size_t size;
    mcapi_pktchan_recv(receiver, &packet, &size, &status);
    if (status != MCAPI_SUCCESS) {
        return false;
    }
    const uint64_t *value = packet;
    bool same = size == TOPIC_WORDS * sizeof *value && value[0] == number &&
                value[TOPIC_WORDS - 1] == number;
    mcapi_pktchan_release(packet, &status);
    return same && status == MCAPI_SUCCESS;
}

static void
received(void *argument)
{
    topic_run *run = argument;
    mcapi_pktchan_recv_hndl_t receivers[TOPIC_SUBSCRIBERS_MAX];
    bool good = exchange_node_begin(SUBSCRIBER) && subscribe_all(run->subscribers, receivers);
    atomic32_store_release(&run->ready, 1);
    for (uint64_t i = 0; good && i < run->count; i++) {
        for (uint32_t s = 0; good && s < run->subscribers; s++) {
            good = next_is(receivers[s], i);
        }
    }
    run->good[1] = good;
    atomic32_store_release(&run->done, 1);
    exchange_node_end();
}

bool
topic_measure(const bench *b, void *context, double *values)
{
    const topic_case *c = context;
    static topic_run run;
    run = (topic_run){.subscribers = c->subscribers, .count = bench_count(b, c->count)};
    bench_thread threads[] = {{published, &run, 0, false}, {received, &run, 1, false}};
    uint64_t ns = bench_run(b, threads, 2);
    values[0] = (double)run.count * 1e3 / (double)ns;
    return (run.good[0] && run.good[1]) ||
           bench_failed("medley topic", "something got lost, or failed");
}
