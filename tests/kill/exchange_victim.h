/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Processes that are killed while they exchange with the tester, and what must be left of them.
 *
 *   MEDLEY_TEST_KILLS=n   how many are killed, of each kind (50)
 *   MEDLEY_TEST_SEED=n    when
 */
#ifndef MEDLEY_TESTS_KILL_EXCHANGE_VICTIM_H
#define MEDLEY_TESTS_KILL_EXCHANGE_VICTIM_H

#include "mcapi/exchange.h"
#include "medley/medley.h"
#include "support/exchange.h"
#include "support/packet_channel.h"
#include "support/process.h"
#include "support/random.h"

#define PEER 8
#define PAUSE_MAX_US 3000u

typedef struct diary {
    atomic32 accepted; /* how many sends have succeeded; written by the one who dies */
} diary;

static diary *log_of_victim;
static test_random when;

static inline bool
victims_up(int argc, char **argv)
{
    log_of_victim = process_shared_memory(sizeof *log_of_victim);
    when = test_random_of(1);
    return system_up(argc, argv);
}

static inline uint32_t
kills_wanted(void)
{
    const char *wanted = getenv("MEDLEY_TEST_KILLS");
    return wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 50;
}

/* ---- The victim ------------------------------------------------------------------------------ */

static inline void
victim_begin(void)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, PEER, NULL, NULL, &info, &status);
    child_expect(status == MCAPI_SUCCESS);
}

static inline void
victim_expect_end(mcapi_request_t *request)
{
    mcapi_status_t status;
    size_t size;
    child_expect(mcapi_wait(request, &size, MCAPI_TIMEOUT_INFINITE, &status) == MCAPI_TRUE);
}

/* Its end of a channel of packets to the tester's first endpoint. */
static inline unsigned
victim_sender_open(mcapi_endpoint_t from)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    mcapi_endpoint_t to = mcapi_endpoint_get(DOMAIN, NODE, 1, MCAPI_TIMEOUT_INFINITE, &status);
    mcapi_pktchan_connect_i(from, to, &request, &status);
    victim_expect_end(&request);
    mcapi_pktchan_send_open_i(&sender, from, &request, &status);
    victim_expect_end(&request);
    return sender;
}

/* ---- The tester ------------------------------------------------------------------------------ */

static inline void
victim_start(test_process *victim, int (*body)(test_process *, void *))
{
    atomic32_store_relaxed(&log_of_victim->accepted, 0);
    process_start(victim, body, NULL);
    assert_int_equal(process_hear(victim), 'r');
}

static inline uint64_t
death_of_next(void)
{
    return med_port_clock_ns() + random_below(&when, PAUSE_MAX_US) * 1000u;
}

/* Kills it when its time has come; true from then on. */
static inline bool
killed(const test_process *victim, uint64_t at_ns, bool *done)
{
    if (!*done && med_port_clock_ns() >= at_ns) {
        process_kill(victim);
        *done = true;
    }
    return *done;
}

static inline void
receiver_close(unsigned receiver)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_pktchan_recv_close_i(receiver, &request, &status);
    (void)expect_end(request, MCAPI_SUCCESS);
}

/* Of the buffers, those in use; of the lanes, all. */
static inline void
expect_all_back(void)
{
    const med_self *self = med_self_get();
    med_pool_statistics statistics;
    uint32_t lanes = 0;
    (void)med_process_recover_all(self->system);
    for (uint32_t i = 0; i < self->system->lanes.row_count; i++) {
        uint32_t word = atomic32_load_acquire(&med_table_row(&self->system->lanes, i)->state);
        lanes += med_row_state_of(word) == MED_ROW_LIVE;
    }
    assert_int_equal(lanes, 0);
    med_pool_buffer buffer;
    med_exchange_reclaim(self);
    assert_int_equal(med_exchange_buffer_take(med_self_get(), &buffer), MEDLEY_OK);
    med_pool_statistics_get(&self->exchange->exchange->pool, &statistics);
    assert_int_equal(statistics.in_use, 1);
    assert_int_equal(med_pool_give(&self->exchange->exchange->pool, &self->exchange->cache, buffer),
                     MEDLEY_OK);
}

#endif
