/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of topics between processes: one publishes, each subscriber is a process of its own,
 * with room for 1, 2, 4. The first reads nothing until half was published.
 */
#include "mcapi/exchange.h"
#include "medley/mcapi_ext.h"
#include "support/channel.h"
#include "support/process.h"

#define SUBSCRIBERS 3u
#define SUBSCRIBER 10u /* the first one's node */
#define TOPIC 1
#define VALUE_BYTES 64u

/* What is published, and how. */
typedef struct way {
    unsigned many;
    bool is_state;
    bool may_lose;
    mcapi_timeout_t timeout_us; /* of who publishes */
} way;

static const way waiting = {.many = 5000, .timeout_us = MCAPI_TIMEOUT_INFINITE};
static const way losing = {.many = 20000, .may_lose = true, .timeout_us = MCAPI_TIMEOUT_INFINITE};
static const way in_time = {.many = 200, .timeout_us = 200};
static const way states = {.many = 20000, .is_state = true, .timeout_us = MCAPI_TIMEOUT_INFINITE};

/* Of each subscriber, when it has ended. */
typedef struct outcome {
    unsigned received;
    unsigned lost;
} outcome;

typedef struct part {
    const way *way;
    unsigned index;
    outcome *outcome; /* shared with who publishes */
} part;

/* ---- Endpoints ------------------------------------------------------------------------------- */

static bool
is_set(mcapi_endpoint_t endpoint, mcapi_uint_t attribute, mcapi_uint_t value)
{
    return attribute_set(endpoint, attribute, value) == MCAPI_SUCCESS;
}

/* As both ends must agree on; else false. */
static bool
endpoint_set(mcapi_endpoint_t endpoint, const way *w)
{
    bool well = !w->may_lose ||
                is_set(endpoint, MCAPI_ENDP_ATTR_MEMORY_TYPE, MCAPI_ENDP_ATTR_FAIL_ON_MEM_LIMIT);
    if (w->is_state) {
        well = well && is_set(endpoint, MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, VALUE_BYTES) &&
               is_set(endpoint, MCAPI_ENDP_ATTR_BUFFER_TYPE, MCAPI_ENDP_ATTR_STATE_BUFFER);
    }
    return well;
}

/* ---- A subscriber ---------------------------------------------------------------------------- */

static unsigned
subscriber_up(const part *p)
{
    mcapi_status_t status;
    mcapi_info_t info;
    unsigned receiver;
    mcapi_initialize(DOMAIN, SUBSCRIBER + p->index, NULL, NULL, &info, &status);
    child_expect(status == MCAPI_SUCCESS);
    mcapi_endpoint_t at = mcapi_endpoint_create(1, &status);
    child_expect(status == MCAPI_SUCCESS && endpoint_set(at, p->way));
    if (!p->way->is_state) {
        child_expect(is_set(at, MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, 1u << p->index));
    }
    mcapi_endpoint_t topic =
        mcapi_endpoint_get(DOMAIN, NODE, TOPIC, MCAPI_TIMEOUT_INFINITE, &status);
    medley_mcapi_topic_subscribe(topic, at, &receiver, &status);
    child_expect(status == MCAPI_SUCCESS);
    return receiver;
}

/* A later one each time, until there are no more. */
static int
subscribes(test_process *parent, void *argument)
{
    const part *p = argument;
    mcapi_status_t status;
    unsigned last = 0;
    unsigned receiver = subscriber_up(p);
    process_say(parent, 'r');
    child_expect(p->index != 0 || process_hear(parent) == 'h');
    for (;;) {
        void *packet;
        size_t size;
        mcapi_pktchan_recv(receiver, &packet, &size, &status);
        if (status != MCAPI_SUCCESS) {
            break;
        }
        unsigned number = *(unsigned *)packet;
        child_expect(size == sizeof number && number <= p->way->many);
        child_expect(number > last || (p->way->is_state && number == last));
        p->outcome->received += number != last;
        last = number;
        mcapi_pktchan_release(packet, &status);
        child_expect(status == MCAPI_SUCCESS);
    }
    child_expect(status == MCAPI_ERR_ENDP_DELETED);
    child_expect(!p->way->is_state || last == p->way->many);
    p->outcome->lost = medley_mcapi_topic_lost(receiver, &status);
    child_expect(status == MCAPI_SUCCESS);
    mcapi_finalize(&status);
    return status != MCAPI_SUCCESS;
}

/* ---- Who publishes --------------------------------------------------------------------------- */

/* How many of all were reached, by all that was published. */
static unsigned
publish_all(mcapi_endpoint_t topic, const way *w, const test_process *first)
{
    unsigned reached = 0;
    for (unsigned i = 1; i <= w->many; i++) {
        mcapi_status_t status;
        bool may_time_out = w->timeout_us != MCAPI_TIMEOUT_INFINITE;
        mcapi_uint_t now = medley_mcapi_topic_publish(topic, &i, sizeof i, &status);
        assert_true(status == MCAPI_SUCCESS || (may_time_out && status == MCAPI_TIMEOUT));
        assert_true(w->may_lose || (now == SUBSCRIBERS) == (status == MCAPI_SUCCESS));
        reached += now;
        /* Where who has no room is waited for, he is not left without for long. */
        if (i == (w->may_lose || may_time_out || w->is_state ? w->many / 2 : 1)) {
            process_say(first, 'h');
        }
    }
    return reached;
}

/* Each got or lost every number, and who publishes was told how many got it. */
static void
publish_to_processes(void **state)
{
    const way *w = *state;
    outcome *outcomes = process_shared_memory(SUBSCRIBERS * sizeof *outcomes);
    test_process children[SUBSCRIBERS];
    exchange_begin(NODE);
    mcapi_endpoint_t topic = endpoint_make(TOPIC);
    assert_true(endpoint_set(topic, w));
    timeout_set(topic, w->timeout_us);
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        part p = {.way = w, .index = i, .outcome = &outcomes[i]};
        process_start(&children[i], subscribes, &p);
        assert_int_equal(process_hear(&children[i]), 'r');
    }
    unsigned reached = publish_all(topic, w, &children[0]);
    endpoint_delete(topic);
    unsigned received = 0, lost = 0;
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        assert_int_equal(process_join(&children[i]), 0);
        assert_true(w->is_state || outcomes[i].received + outcomes[i].lost == w->many);
        received += outcomes[i].received;
        lost += outcomes[i].lost;
    }
    bool loses = w->may_lose || w->timeout_us != MCAPI_TIMEOUT_INFINITE;
    assert_int_equal(reached, SUBSCRIBERS * w->many - lost);
    assert_true(w->is_state || reached == received);
    assert_true((outcomes[0].lost != 0) == loses);
    exchange_end();
    (void)munmap(outcomes, SUBSCRIBERS * sizeof *outcomes);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        {"waits_for_each", publish_to_processes, NULL, NULL, (void *)(uintptr_t)&waiting},
        {"loss_is_counted", publish_to_processes, NULL, NULL, (void *)(uintptr_t)&losing},
        {"loss_after_a_while", publish_to_processes, NULL, NULL, (void *)(uintptr_t)&in_time},
        {"all_see_the_newest", publish_to_processes, NULL, NULL, (void *)(uintptr_t)&states},
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
