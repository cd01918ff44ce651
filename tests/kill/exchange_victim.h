/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Processes that are killed while they exchange with the tester, and what must be left of them.
 *
 *   MEDLEY_TEST_EXCHANGE_KILLS=n   how many are killed, of each kind (50)
 *   MEDLEY_TEST_SEED=n             when
 */
#ifndef MEDLEY_TESTS_KILL_EXCHANGE_VICTIM_H
#define MEDLEY_TESTS_KILL_EXCHANGE_VICTIM_H

#include "mcapi/exchange.h"
#include "medley/medley.h"
#include "support/channel.h"
#include "support/process.h"
#include "support/random.h"

#define PEER 8
#define PAUSE_MAX_US 3000u
#define STUCK_AFTER_US 20000000u

typedef struct diary {
    atomic32 accepted; /* how many sends have succeeded; written by the one who dies */
} diary;

static diary *log_of_victim;
static test_random when;

/* The value of main. */
#define victims_run(argc, argv, tests)                                                             \
    (victims_up(argc, argv)                                                                        \
         ? cmocka_run_group_tests(tests, NULL, NULL) + (medley_system_close() != MEDLEY_OK)        \
         : 1)

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
    const char *wanted = getenv("MEDLEY_TEST_EXCHANGE_KILLS");
    return wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 50;
}

static inline void
nap(uint64_t ns)
{
    uint64_t until = med_port_clock_ns() + ns;
    while (med_port_clock_ns() < until) {
        med_port_delay_ns(ns / 4);
    }
}

/* ---- What is exchanged ----------------------------------------------------------------------- */

#define SHORT_BYTES 24u

/* A message that says its number first, and in each byte behind. */
static inline void
number_write(unsigned char *message, size_t bytes, uint32_t number)
{
    memset(message, (int)(number & 0xff), bytes);
    memcpy(message, &number, sizeof number);
}

static inline bool
number_is(const unsigned char *message, size_t bytes, uint32_t number)
{
    return memcmp(message, &number, sizeof number) == 0 &&
           message[bytes - 1] == (unsigned char)(number & 0xff);
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

/* All is as the tester wants it; then it does nothing, until it is killed. */
static inline int
victim_rests(test_process *parent)
{
    process_say(parent, 'r');
    (void)process_hear(parent);
    return 0;
}

/* So many of its sends have succeeded. */
static inline void
victim_note(uint32_t accepted)
{
    atomic32_store_relaxed(&log_of_victim->accepted, accepted);
}

static inline mcapi_endpoint_t
victim_endpoint_make(void)
{
    mcapi_status_t status;
    mcapi_endpoint_t endpoint = mcapi_endpoint_create(1, &status);
    child_expect(status == MCAPI_SUCCESS);
    return endpoint;
}

/* The tester's first. */
static inline mcapi_endpoint_t
victim_other_endpoint(void)
{
    mcapi_status_t status;
    mcapi_endpoint_t other = mcapi_endpoint_get(DOMAIN, NODE, 1, MCAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MCAPI_SUCCESS);
    return other;
}

static inline unsigned
victim_end_open(const channel_kind *kind,
                mcapi_endpoint_t from,
                mcapi_endpoint_t to,
                mcapi_endpoint_t own)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned end;
    kind->connect(from, to, &request, &status);
    victim_expect_end(&request);
    (own == from ? kind->open_sender : kind->open_receiver)(&end, own, &request, &status);
    victim_expect_end(&request);
    return end;
}

/* Its end of a channel to there. */
static inline unsigned
victim_sender_open(const channel_kind *kind, mcapi_endpoint_t from)
{
    return victim_end_open(kind, from, victim_other_endpoint(), from);
}

/* And of one from there. */
static inline unsigned
victim_receiver_open(const channel_kind *kind, mcapi_endpoint_t at)
{
    return victim_end_open(kind, victim_other_endpoint(), at, at);
}

/* ---- The tester ------------------------------------------------------------------------------ */

typedef struct victim {
    test_process process;
    uint64_t dies_at_ns;
    bool dead;
} victim;

/* On return it has said that it is ready. It lives until its time has come, if it is doomed. */
static inline void
victim_start(victim *v, int (*body)(test_process *, void *))
{
    atomic32_store_relaxed(&log_of_victim->accepted, 0);
    v->dead = false;
    v->dies_at_ns = MED_PORT_FOREVER;
    process_start(&v->process, body, NULL);
    assert_int_equal(process_hear(&v->process), 'r');
}

static inline void
victim_doom(victim *v)
{
    v->dies_at_ns = med_port_clock_ns() + random_below(&when, PAUSE_MAX_US) * 1000u;
}

static inline void
victim_kill(victim *v)
{
    process_kill(&v->process);
    v->dead = true;
}

/* Kills it when its time has come; true from then on. */
static inline bool
victim_is_dead(victim *v)
{
    if (!v->dead && med_port_clock_ns() >= v->dies_at_ns) {
        victim_kill(v);
    }
    return v->dead;
}

/* How many of its sends had succeeded. */
static inline uint32_t
victim_end(victim *v)
{
    assert_true(v->dead);
    (void)process_join(&v->process);
    return atomic32_load_relaxed(&log_of_victim->accepted);
}

/* Who sends to one that is dead. */
static inline void
expect_told(mcapi_status_t status)
{
    assert_int_equal(status, MCAPI_ERR_TRANSMISSION);
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
