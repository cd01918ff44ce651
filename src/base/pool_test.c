/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The buffer pool: one user, many, senders and receivers, dying ones, and memory that lies. */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

enum {
    TAG = 41
};

/* Exactly as much memory as it needs, so that a step outside is seen. */
static void *
make(uint32_t capacity, uint32_t buffer_bytes, med_pool *pool)
{
    size_t size_bytes = med_pool_size(capacity, buffer_bytes);
    void *memory = aligned_alloc(64, size_bytes);
    assert_non_null(memory);
    assert_int_equal(med_pool_init(memory, size_bytes, capacity, buffer_bytes, TAG, pool),
                     MEDLEY_OK);
    return memory;
}

static med_pool_cache
cache_of(uint32_t owner, uint32_t limit)
{
    med_pool_cache cache;
    med_pool_cache_init(&cache, owner, limit);
    return cache;
}

static med_pool_buffer
take(const med_pool *pool, med_pool_cache *cache)
{
    med_pool_buffer buffer = {0};
    assert_int_equal(med_pool_take(pool, cache, &buffer), MEDLEY_OK);
    return buffer;
}

static void
check_counts(const med_pool *pool, uint32_t in_use, uint32_t cached, uint32_t high_water)
{
    med_pool_statistics statistics;
    med_pool_statistics_get(pool, &statistics);
    assert_int_equal(statistics.capacity, pool->slots.capacity);
    assert_int_equal(statistics.in_use, in_use);
    assert_int_equal(statistics.cached, cached);
    assert_int_equal(statistics.high_water, high_water);
}

static uint32_t
take_all(const med_pool *pool, uint32_t owner)
{
    med_pool_cache cache = cache_of(owner, 0);
    med_pool_buffer buffer;
    uint32_t count = 0;
    while (med_pool_take(pool, &cache, &buffer) == MEDLEY_OK) {
        count++;
    }
    return count;
}

static void
wrong_arguments_are_refused(void **state)
{
    (void)state;
    med_pool pool;
    assert_int_equal(med_pool_size(0, 64), 0);
    assert_int_equal(med_pool_size(4, 0), 0);
    assert_int_equal(med_pool_size(65536, 65536), 0);
    assert_int_equal(med_pool_size(2, UINT32_MAX), 0);
    unsigned char *memory = make(4, 100, &pool);
    size_t size_bytes = med_pool_size(4, 100);
    assert_int_equal(med_pool_init(memory, size_bytes - 1, 4, 100, TAG, &pool),
                     MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_pool_init(memory + 8, size_bytes, 4, 100, TAG, &pool),
                     MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_pool_init(memory, size_bytes, 4, 100, 65536, &pool), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_pool_attach(memory + 8, size_bytes, &pool), MEDLEY_ERR_ARGUMENT);
    free(memory);
}

static void
buffers_lie_apart_and_inside(void **state)
{
    (void)state;
    med_pool pool;
    unsigned char *memory = make(5, 100, &pool);
    med_pool_cache cache = cache_of(1, 0);
    for (uint32_t i = 0; i < 5; i++) {
        med_pool_buffer buffer = take(&pool, &cache);
        unsigned char *address = med_pool_address(&pool, buffer);
        assert_int_equal((uintptr_t)address % 64, 0);
        assert_ptr_equal(address, memory + med_pool_offset(&pool, buffer));
        memset(address, (int)i, 100);
        assert_int_equal(med_pool_check(&pool, buffer, 1), MEDLEY_OK);
    }
    med_pool_buffer none;
    assert_int_equal(med_pool_take(&pool, &cache, &none), MEDLEY_FULL);
    check_counts(&pool, 5, 0, 5);
    assert_int_equal(pool.buffers[4 * 128 + 99], 4);
    free(memory);
}

static void
foreign_and_old_handles_are_known(void **state)
{
    (void)state;
    med_pool pool;
    void *memory = make(4, 64, &pool);
    med_pool_cache mine = cache_of(1, 2);
    med_pool_cache other = cache_of(2, 2);
    med_pool_buffer buffer = take(&pool, &mine);
    static const med_pool_buffer foreign[] = {
        {0, 0}, {TAG << 16, 0}, {TAG << 16, 3}, {TAG << 16 | 4, 2}, {(TAG + 1) << 16, 2}};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        assert_int_equal(med_pool_give(&pool, &mine, foreign[i]), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(med_pool_check(&pool, foreign[i], 1), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(med_pool_hand_over(&pool, foreign[i], 1, 2), MEDLEY_ERR_ARGUMENT);
    }
    assert_null(med_pool_address(&pool, foreign[3]));
    assert_null(med_pool_address(&pool, foreign[4]));
    assert_int_equal(med_pool_offset(&pool, foreign[4]), 0);
    assert_int_equal(med_pool_give(&pool, &other, buffer), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_pool_give(&pool, &mine, buffer), MEDLEY_OK);
    assert_int_equal(med_pool_give(&pool, &mine, buffer), MEDLEY_ERR_STALE);
    med_pool_buffer again = take(&pool, &mine);
    assert_int_equal(again.place, buffer.place);
    assert_int_equal(med_pool_give(&pool, &mine, buffer), MEDLEY_ERR_STALE);
    assert_int_equal(med_pool_check(&pool, again, 1), MEDLEY_OK);
    check_counts(&pool, 1, 0, 1);
    free(memory);
}

static void
a_cache_keeps_no_more_than_its_limit(void **state)
{
    (void)state;
    static const uint32_t limits[] = {0, 1, 2, 3, 8, 1000};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        med_pool pool;
        void *memory = make(200, 8, &pool);
        med_pool_cache cache = cache_of(1, limits[i]);
        med_pool_buffer buffers[200];
        uint32_t limit = limits[i] < MED_POOL_CACHE_MAX ? limits[i] : MED_POOL_CACHE_MAX;
        for (uint32_t b = 0; b < 200; b++) {
            buffers[b] = take(&pool, &cache);
            assert_true(cache.count <= limit);
        }
        for (uint32_t b = 0; b < 200; b++) {
            assert_int_equal(med_pool_give(&pool, &cache, buffers[b]), MEDLEY_OK);
            assert_true(cache.count <= limit);
        }
        check_counts(&pool, 0, cache.count, 200);
        med_pool_cache_flush(&pool, &cache);
        check_counts(&pool, 0, 0, 200);
        assert_int_equal(take_all(&pool, 3), 200);
        free(memory);
    }
}

static void
a_dead_owner_leaves_nothing_behind(void **state)
{
    (void)state;
    med_pool pool;
    void *memory = make(20, 8, &pool);
    med_pool_cache dead = cache_of(1, 8);
    med_pool_cache alive = cache_of(2, 8);
    med_pool_buffer lost = take(&pool, &dead);
    med_pool_buffer handed = take(&pool, &dead);
    assert_int_equal(med_pool_hand_over(&pool, handed, 1, 2), MEDLEY_OK);
    check_counts(&pool, 2, 2, 4);
    assert_int_equal(med_pool_recover(&pool, 1), 3);
    assert_int_equal(med_pool_recover(&pool, 1), 0);
    check_counts(&pool, 1, 0, 4);
    assert_int_equal(med_pool_hand_over(&pool, lost, 1, 2), MEDLEY_ERR_STALE);
    assert_int_equal(med_pool_give(&pool, &alive, handed), MEDLEY_OK);
    med_pool_cache_flush(&pool, &alive);
    assert_int_equal(take_all(&pool, 3), 20);
    free(memory);
}

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
    uint32_t random;
    uint32_t held;
    med_pool_buffer buffers[HAVE];
} child;

static uint32_t
next_random(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 8;
}

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
    uint32_t which = next_random(&m->random) % m->held;
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
        if (m->held == 0 || (m->held < HAVE && next_random(&m->random) % 2)) {
            child_take(m, &takes);
        } else {
            child_give(m, &gives);
        }
        if (next_random(&m->random) % 16 == 0) {
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
    *m = (child){.death = d, .number = number, .random = number * 7919};
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
    uint32_t random = 4711;
    for (int i = 0; i < CHILDREN; i++) {
        child_start(&processes[i], &children[i], d, ++number);
    }
    for (int kill_index = 0; kill_index < KILLS; kill_index++) {
        uint32_t victim = next_random(&random) % CHILDREN;
        uint32_t until = atomic32_load_relaxed(&d->steps) + 50 + next_random(&random) % 500;
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

/* ---- Memory that lies ------------------------------------------------------------------------ */
static void
check_lie(void *memory, atomic32 *word, uint32_t lie, medley_status_t wanted)
{
    med_pool pool;
    uint32_t truth = atomic32_load_relaxed(word);
    atomic32_store_relaxed(word, lie);
    assert_int_equal(med_pool_attach(memory, med_pool_size(10, 256), &pool), wanted);
    atomic32_store_relaxed(word, truth);
}

static void
attach_checks_what_it_finds(void **state)
{
    (void)state;
    med_pool pool;
    med_pool other;
    void *memory = make(10, 256, &pool);
    size_t size_bytes = med_pool_size(10, 256);
    assert_int_equal(med_pool_attach(memory, size_bytes, &other), MEDLEY_OK);
    assert_memory_equal(&pool, &other, sizeof pool);
    assert_int_equal(med_pool_attach(memory, size_bytes - 1, &other), MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_pool_attach(memory, 63, &other), MEDLEY_ERR_CORRUPT);
    med_pool_shared *shared = memory;
    uint32_t kind = atomic32_load_relaxed(&shared->stamp.kind);
    check_lie(memory, &shared->stamp.kind, __builtin_bswap32(kind), MEDLEY_ERR_BYTE_ORDER);
    check_lie(memory, &shared->stamp.kind, 0, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->stamp.version, 0, MEDLEY_ERR_VERSION);
    check_lie(memory, &shared->capacity, 0, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->capacity, 9, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->capacity, UINT32_MAX, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->buffer_bytes, 0, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->buffer_bytes, 257, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->buffer_bytes, UINT32_MAX, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->tag, 65536, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &pool.slots.shared->capacity, 11, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &pool.slots.shared->stamp.version, 2, MEDLEY_ERR_VERSION);
    free(memory);
}

static void
scribbled_contents_bound_every_call(void **state)
{
    (void)state;
    med_pool pool;
    unsigned char *memory = make(40, 64, &pool);
    uint32_t random = 1;
    for (uint32_t round = 0; round < 300; round++) {
        med_pool_cache cache = cache_of(5, round % 20);
        for (size_t i = sizeof(med_pool_shared) + 64; i < pool.first_offset; i++) {
            memory[i] = (unsigned char)(next_random(&random) % 3 ? next_random(&random) : 0);
        }
        for (int i = 0; i < 60; i++) {
            med_pool_buffer buffer = {.place = TAG << 16 | next_random(&random) % 64};
            if (med_pool_take(&pool, &cache, &buffer) == MEDLEY_OK) {
                memset(med_pool_address(&pool, buffer), i, 64);
            }
            (void)med_pool_hand_over(&pool, buffer, 5, 6);
            (void)med_pool_give(&pool, &cache, buffer);
        }
        (void)med_pool_recover(&pool, 5);
    }
    free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(buffers_lie_apart_and_inside),
        cmocka_unit_test(foreign_and_old_handles_are_known),
        cmocka_unit_test(a_cache_keeps_no_more_than_its_limit),
        cmocka_unit_test(a_dead_owner_leaves_nothing_behind),
        cmocka_unit_test(the_buffers_of_the_killed_come_back),
        cmocka_unit_test(attach_checks_what_it_finds),
        cmocka_unit_test(scribbled_contents_bound_every_call),
        cmocka_unit_test(buffers_go_round_among_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
