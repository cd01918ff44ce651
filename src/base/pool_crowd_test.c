/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The buffer pool: senders and receivers among threads, and processes that are killed at it. */
#include "base/pool_test.h"
#include "port/port.h"
#include "support/process.h"
#include "support/random.h"

/* ---- Senders and receivers ------------------------------------------------------------------- */

/* In a circle of threads each sends to the next: takes, fills, hands over, passes on; and gives
 * back what it gets, after a look at the contents. Plain accesses: who shares a buffer is found
 * out. */
enum {
    THREADS = 6,
    BUFFERS = 24,
    BUFFER_WORDS = 16,
    MESSAGES = 3000
};

typedef struct mailbox {
    atomic32 full;
    med_pool_buffer buffer;
} mailbox;

typedef struct circle {
    med_pool pool;
    mailbox boxes[THREADS];
    atomic32 wrong;
} circle;

typedef struct sender {
    circle *circle;
    uint32_t number;
    med_pool_cache cache;
    uint32_t sent;
    uint32_t received;
} sender;

static void
expect(circle *c, bool right)
{
    if (!right) {
        (void)atomic32_fetch_add_relaxed(&c->wrong, 1);
    }
}

static void
try_send(sender *s)
{
    circle *c = s->circle;
    uint32_t to = (s->number + 1) % THREADS;
    med_pool_buffer buffer;
    if (s->sent == MESSAGES ||
        atomic32_load_acquire(&c->boxes[to].full) || /* A1 box empty <- R1 (receive) */
        med_pool_take(&c->pool, &s->cache, &buffer) != MEDLEY_OK) {
        return;
    }
    uint32_t *words = med_pool_address(&c->pool, buffer);
    for (uint32_t i = 0; i < BUFFER_WORDS; i++) {
        words[i] = s->sent * THREADS + s->number + i;
    }
    expect(c, med_pool_hand_over(&c->pool, buffer, s->number + 1, to + 1) == MEDLEY_OK);
    c->boxes[to].buffer = buffer;
    atomic32_store_release(&c->boxes[to].full, 1); /* R2 box full -> A2 (receive) */
    s->sent++;
}

static void
try_receive(sender *s)
{
    circle *c = s->circle;
    mailbox *box = &c->boxes[s->number];
    uint32_t from = (s->number + THREADS - 1) % THREADS;
    if (!atomic32_load_acquire(&box->full)) { /* A2 box full <- R2 (send) */
        return;
    }
    med_pool_buffer buffer = box->buffer;
    atomic32_store_release(&box->full, 0); /* R1 box empty -> A1 (send) */
    const uint32_t *words = med_pool_address(&c->pool, buffer);
    for (uint32_t i = 0; i < BUFFER_WORDS; i++) {
        expect(c, words[i] == s->received * THREADS + from + i);
    }
    expect(c, med_pool_give(&c->pool, &s->cache, buffer) == MEDLEY_OK);
    s->received++;
}

static void *
sender_run(void *argument)
{
    sender *s = argument;
    while (s->sent < MESSAGES || s->received < MESSAGES) {
        uint32_t before = s->sent + s->received;
        try_send(s);
        try_receive(s);
        if (before == s->sent + s->received) {
            med_port_yield();
        }
    }
    med_pool_cache_flush(&s->circle->pool, &s->cache);
    return NULL;
}

static void
buffers_go_round_among_threads(void **state)
{
    (void)state;
    static circle c;
    static sender senders[THREADS];
    med_port_thread threads[THREADS];
    void *memory = make(BUFFERS, BUFFER_WORDS * 4, &c.pool);
    for (uint32_t i = 0; i < THREADS; i++) {
        senders[i] = (sender){.circle = &c, .number = i, .cache = cache_of(i + 1, i % 5)};
        assert_int_equal(med_port_thread_start(&threads[i], NULL, sender_run, &senders[i]),
                         MEDLEY_OK);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(med_port_thread_join(threads[i], NULL), MEDLEY_OK);
    }
    assert_int_equal(atomic32_load_relaxed(&c.wrong), 0);
    med_pool_statistics statistics;
    med_pool_statistics_get(&c.pool, &statistics);
    assert_int_equal(statistics.in_use + statistics.cached, 0);
    assert_int_equal(take_all(&c.pool, 99), BUFFERS);
    free(memory);
}

/* ---- Death ----------------------------------------------------------------------------------- */

/* Each child has two owners, so that it can be killed while it hands over. A buffer's first word
 * says which child has it. */
enum {
    KILLS = 40,
    CHILDREN = 3,
    HAVE = 10
};

typedef struct death {
    med_pool pool;
    atomic32 steps;
    atomic32 stop;
    atomic32 doubled;
    atomic32 refused;
    atomic32 dead_child;
    atomic32 marks[BUFFERS];
} death;

typedef struct child {
    death *death;
    uint32_t number;
    test_random random;
    uint32_t held;
    med_pool_buffer buffers[HAVE];
} child;

static void
count_unless(atomic32 *counter, bool right)
{
    if (!right) {
        (void)atomic32_fetch_add_relaxed(counter, 1);
    }
}

static void
child_take(child *m, med_pool_cache *cache)
{
    med_pool_buffer buffer;
    if (med_pool_take(&m->death->pool, cache, &buffer) == MEDLEY_OK) {
        uint32_t had =
            atomic32_exchange_acq_rel(&m->death->marks[buffer.place & 0xffff], m->number);
        count_unless(&m->death->doubled, had == 0);
        count_unless(&m->death->refused, med_pool_hand_over(&m->death->pool, buffer, m->number * 2,
                                                            m->number * 2 + 1) == MEDLEY_OK);
        m->buffers[m->held++] = buffer;
    }
}

static void
child_give(child *m, med_pool_cache *cache)
{
    uint32_t which = random_below(&m->random, m->held);
    med_pool_buffer buffer = m->buffers[which];
    m->buffers[which] = m->buffers[--m->held];
    uint32_t had = atomic32_exchange_acq_rel(&m->death->marks[buffer.place & 0xffff], 0);
    count_unless(&m->death->doubled, had == m->number);
    count_unless(&m->death->refused, med_pool_give(&m->death->pool, cache, buffer) == MEDLEY_OK);
}

static void
recover_child(death *d, uint32_t number)
{
    (void)med_pool_recover(&d->pool, number * 2);
    (void)med_pool_recover(&d->pool, number * 2 + 1);
}

static int
child_run(test_process *parent, void *argument)
{
    child *m = argument;
    death *d = m->death;
    med_pool_cache takes = cache_of(m->number * 2, 4);
    med_pool_cache gives = cache_of(m->number * 2 + 1, 3);
    for (uint32_t round = 1; !atomic32_load_relaxed(&d->stop); round++) {
        if (round % 256 == 0 && getppid() != parent->pid) {
            return 1; /* the test has failed */
        }
        if (m->held == 0 || (m->held < HAVE && random_below(&m->random, 2))) {
            child_take(m, &takes);
        } else {
            child_give(m, &gives);
        }
        if (random_below(&m->random, 16) == 0) {
            recover_child(d, atomic32_load_relaxed(&d->dead_child));
        }
        (void)atomic32_fetch_add_relaxed(&d->steps, 1);
    }
    while (m->held > 0) {
        child_give(m, &gives);
    }
    med_pool_cache_flush(&d->pool, &takes);
    med_pool_cache_flush(&d->pool, &gives);
    return 0;
}

static void
child_start(test_process *process, child *m, death *d, uint32_t number)
{
    *m = (child){.death = d, .number = number, .random = {number * 7919}};
    process_start(process, child_run, m);
}

/* The dead one's marks go first: what he has nobody can take before the recovery. */
static void
bury(death *d, uint32_t number)
{
    for (uint32_t i = 0; i < BUFFERS; i++) {
        uint32_t expected = number;
        (void)atomic32_cas_relaxed(&d->marks[i], &expected, 0);
    }
    atomic32_store_relaxed(&d->dead_child, number);
    recover_child(d, number);
}

static void
the_buffers_of_the_killed_come_back(void **state)
{
    (void)state;
    death *d = process_shared_memory(sizeof *d);
    size_t size_bytes = med_pool_size(BUFFERS, 64);
    void *memory = process_shared_memory(size_bytes);
    assert_int_equal(med_pool_init(memory, size_bytes, BUFFERS, 64, TAG, &d->pool), MEDLEY_OK);
    test_process processes[CHILDREN];
    child children[CHILDREN];
    uint32_t number = 0;
    test_random random = {4711};
    for (int i = 0; i < CHILDREN; i++) {
        child_start(&processes[i], &children[i], d, ++number);
    }
    for (int kill_index = 0; kill_index < KILLS; kill_index++) {
        uint32_t victim = random_below(&random, CHILDREN);
        uint32_t until = atomic32_load_relaxed(&d->steps) + 50 + random_below(&random, 500);
        while ((int32_t)(atomic32_load_relaxed(&d->steps) - until) < 0) {
            med_port_yield();
        }
        process_kill(&processes[victim]);
        bury(d, children[victim].number);
        assert_int_equal(process_join(&processes[victim]), -SIGKILL);
        child_start(&processes[victim], &children[victim], d, ++number);
    }
    atomic32_store_relaxed(&d->stop, 1);
    for (int i = 0; i < CHILDREN; i++) {
        assert_int_equal(process_join(&processes[i]), 0);
    }
    assert_int_equal(atomic32_load_relaxed(&d->doubled), 0);
    assert_int_equal(atomic32_load_relaxed(&d->refused), 0);
    check_counts(&d->pool, 0, 0, BUFFERS);
    assert_int_equal(take_all(&d->pool, 1), BUFFERS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_go_round_among_threads),
        cmocka_unit_test(the_buffers_of_the_killed_come_back),
    };
    return cmocka_run_group_tests_name("pool_crowd", tests, NULL, NULL);
}
