/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reader/writer lock: who may be inside with whom, deadlines, deaths, a lock that goes. */
#include "base/rwlock.h"

#include <string.h>

#include "port/port.h"
#include "support/unit.h"

#define UNITS 3u
#define THREADS 6u /* on two processors: over-committed */
#define ROUNDS 5000u
#define SCOPE MED_PORT_SCOPE_PROCESS
#define GONE 9u /* an owner who died */

typedef struct place {
    med_rwlock lock;
    med_lock words[UNITS];
} place;

static place shared;
static atomic32 is_gone; /* 1: the lock is no more, for whoever asks */

/* Somebody who wants it. */
typedef struct visitor {
    uint32_t owner;
    uint64_t patience_ns; /* 0: for ever */
    bool tries_once;
    uint32_t unit;
    uint32_t asked;   /* how often whether it is still there */
    uint32_t gone_at; /* when asked so often, it is not */
    bool finds_dead;  /* recovers the one who is gone */
    med_waiter waiter;
    med_rwlock_request request;
} visitor;

static medley_status_t
is_still_there(void *context)
{
    visitor *v = context;
    v->asked++;
    bool gone = (v->gone_at && v->asked >= v->gone_at) || atomic32_load_acquire(&is_gone);
    return gone ? MEDLEY_ERR_NOT_FOUND : MEDLEY_OK;
}

static void
find_dead(void *context)
{
    const visitor *v = context;
    if (!v->finds_dead) {
        return;
    }
    (void)med_rwlock_recover_writer(&shared.lock, GONE, true, SCOPE);
    for (uint32_t i = 0; i < UNITS; i++) {
        (void)med_rwlock_recover_reader(&shared.lock, &shared.words[i], GONE, SCOPE);
    }
}

static const med_rwlock_request *
request_of(visitor *v)
{
    uint64_t forever_or = v->patience_ns ? med_port_clock_ns() + v->patience_ns : MED_PORT_FOREVER;
    v->request = (med_rwlock_request){
        .lock = &shared.lock,
        .units = {.words = shared.words, .count = UNITS, .lines = 1},
        .owner = v->owner,
        .deadline_ns = v->tries_once ? 0 : forever_or,
        .scope = SCOPE,
        .waiter = &v->waiter,
        .still_there = is_still_there,
        .each_slice = find_dead,
        .context = v,
    };
    return &v->request;
}

static medley_status_t
read(visitor *v)
{
    return med_rwlock_read(request_of(v), &v->unit);
}

static medley_status_t
write(visitor *v)
{
    return med_rwlock_write(request_of(v));
}

static void
read_end(const visitor *v)
{
    med_rwlock_read_end(&shared.lock, &shared.words[v->unit], SCOPE);
}

static void
write_end(void)
{
    med_rwlock_write_end(&shared.lock, SCOPE);
}

static visitor
hasty(uint32_t owner)
{
    return (visitor){.owner = owner, .tries_once = true};
}

static uint32_t
word(void)
{
    return atomic32_load_relaxed(&shared.lock.writer.word);
}

static uint32_t
unit_word(uint32_t unit)
{
    return atomic32_load_relaxed(&shared.words[unit].word);
}

static uint32_t
held(void)
{
    med_units units = {.words = shared.words, .count = UNITS, .lines = 1};
    return med_units_held(&units);
}

static int
lock_reset(void **state)
{
    (void)state;
    memset(&shared, 0, sizeof shared);
    atomic32_store_relaxed(&is_gone, 0);
    return 0;
}

/* Nobody is inside, nobody is coming, and nobody is told of a death. */
static int
lock_is_free(void **state)
{
    (void)state;
    return word() == 0 && held() == 0 ? 0 : -1;
}

/* ---- Who with whom --------------------------------------------------------------------------- */

static void
readers_keep_a_writer_out(void **state)
{
    visitor a = hasty(1), b = hasty(2), w = hasty(3);
    (void)state;
    assert_int_equal(read(&a), MEDLEY_OK);
    assert_int_equal(read(&b), MEDLEY_OK);
    assert_int_equal(a.unit, 0);
    assert_int_equal(b.unit, 1);
    assert_int_equal(write(&w), MEDLEY_BUSY);
    assert_int_equal(word(), 0); /* he has given up */
    read_end(&a);
    assert_int_equal(write(&w), MEDLEY_BUSY);
    read_end(&b);
    assert_int_equal(write(&w), MEDLEY_OK);
    write_end();
}

static void
a_writer_keeps_all_out(void **state)
{
    visitor w = hasty(1), r = hasty(2), other = hasty(3);
    (void)state;
    assert_false(med_rwlock_is_writer(&shared.lock, 1));
    assert_int_equal(write(&w), MEDLEY_OK);
    assert_int_equal(word(), 1);
    assert_true(med_rwlock_is_writer(&shared.lock, 1));
    assert_false(med_rwlock_is_writer(&shared.lock, 2));
    r.unit = 2;
    assert_int_equal(read(&r), MEDLEY_BUSY);
    assert_int_equal(r.unit, 2); /* set on success only */
    assert_false(med_rwlock_read_fast(&shared.lock, &shared.words[0], 2, SCOPE));
    assert_int_equal(write(&other), MEDLEY_BUSY);
    assert_int_equal(held(), 0);
    write_end();
    assert_true(med_rwlock_read_fast(&shared.lock, &shared.words[2], 2, SCOPE));
    assert_false(med_rwlock_read_fast(&shared.lock, &shared.words[2], 3, SCOPE)); /* had */
    assert_int_equal(unit_word(2), 2);
    read_end(&r);
}

/* Readers who are inside already get another unit; new ones do not. */
static void
one_who_comes_keeps_new_readers_out(void **state)
{
    visitor inside = hasty(1), late = hasty(2);
    (void)state;
    assert_int_equal(read(&inside), MEDLEY_OK);
    atomic32_store_relaxed(&shared.lock.writer.word, 3 | MED_RWLOCK_COMING);
    assert_int_equal(read(&late), MEDLEY_BUSY);
    assert_false(med_rwlock_read_fast(&shared.lock, &shared.words[1], 2, SCOPE));
    visitor again = inside;
    assert_int_equal(read(&again), MEDLEY_OK);
    assert_int_equal(again.unit, 1);
    assert_int_equal(held(), 2);
    assert_false(med_rwlock_is_writer(&shared.lock, 3)); /* not yet */
    read_end(&again);
    read_end(&inside);
    atomic32_store_relaxed(&shared.lock.writer.word, 0);
}

static void
nobody_waits_for_himself(void **state)
{
    visitor w = hasty(1), r = {.owner = 2};
    (void)state;
    assert_int_equal(write(&w), MEDLEY_OK);
    assert_int_equal(write(&w), MEDLEY_ERR_EXISTS);
    assert_int_equal(read(&w), MEDLEY_ERR_EXISTS);
    write_end();
    for (uint32_t i = 0; i < UNITS; i++) {
        r.unit = UINT32_MAX - i; /* any hint will do */
        assert_int_equal(read(&r), MEDLEY_OK);
        assert_int_equal(r.unit, i);
        assert_int_equal(write(&r), MEDLEY_ERR_EXISTS);
    }
    assert_int_equal(read(&r), MEDLEY_ERR_EXISTS); /* all are his, and he has for ever */
    r.patience_ns = 1000;
    assert_int_equal(read(&r), MEDLEY_TIMEOUT); /* another thread of his may give one back */
    r.tries_once = true;
    assert_int_equal(read(&r), MEDLEY_BUSY);
    for (r.unit = 0; r.unit < UNITS; r.unit++) {
        read_end(&r);
    }
}

static void
deadlines(void **state)
{
    visitor r = hasty(1), w = {.owner = 2, .patience_ns = 1000}, one = {.owner = 3}, none = w;
    (void)state;
    one.patience_ns = 1000;
    assert_int_equal(read(&r), MEDLEY_OK);
    assert_int_equal(write(&w), MEDLEY_TIMEOUT);
    assert_int_equal(word(), 0);
    for (uint32_t i = 1; i < UNITS; i++) {
        assert_int_equal(read(&r), MEDLEY_OK);
    }
    assert_int_equal(read(&one), MEDLEY_TIMEOUT); /* past the word, but no unit */
    one.tries_once = true;
    assert_int_equal(read(&one), MEDLEY_BUSY);
    for (r.unit = 0; r.unit < UNITS; r.unit++) {
        read_end(&r);
    }
    visitor first = hasty(4);
    assert_int_equal(write(&first), MEDLEY_OK);
    one.tries_once = false;
    assert_int_equal(read(&one), MEDLEY_TIMEOUT);
    assert_int_equal(write(&none), MEDLEY_TIMEOUT);
    assert_int_equal(word(), 4);
    write_end();
}

/* ---- It may go at any time ------------------------------------------------------------------- */

static void
taken_by_mistake(void **state)
{
    (void)state;
    atomic32_store_relaxed(&shared.words[1].word, 1);
    med_rwlock_back_out(&shared.lock, &shared.words[1], 2, SCOPE); /* not his */
    assert_int_equal(unit_word(1), 1);
    med_rwlock_back_out(&shared.lock, &shared.words[1], 1, SCOPE);
    assert_int_equal(unit_word(1), 0);
    med_rwlock_back_out(&shared.lock, &shared.words[1], 1, SCOPE);
    assert_int_equal(unit_word(1), 0);
}

/* Before anything is taken, and after: nothing of it stays. */
static void
gone_before_and_after(void **state)
{
    (void)state;
    for (uint32_t at = 1; at <= 2; at++) {
        visitor r = {.owner = 1, .gone_at = at}, w = r, closer = r;
        assert_int_equal(read(&r), MEDLEY_ERR_NOT_FOUND);
        assert_int_equal(r.asked, at);
        assert_int_equal(write(&w), MEDLEY_ERR_NOT_FOUND);
        assert_int_equal(w.asked, at);
        assert_int_equal(med_rwlock_close(request_of(&closer)), MEDLEY_ERR_NOT_FOUND);
        assert_int_equal(held(), 0);
        assert_int_equal(word(), 0);
    }
}

static void
closed_and_reopened(void **state)
{
    visitor me = hasty(1), other = hasty(2);
    (void)state;
    assert_int_equal(read(&me), MEDLEY_OK);
    assert_int_equal(med_rwlock_close(request_of(&other)), MEDLEY_BUSY);
    assert_int_equal(word(), 0);
    assert_int_equal(med_rwlock_close(request_of(&me)), MEDLEY_OK); /* but for himself */
    assert_int_equal(read(&other), MEDLEY_BUSY);
    assert_int_equal(write(&other), MEDLEY_BUSY);
    assert_int_equal(med_rwlock_close(request_of(&other)), MEDLEY_BUSY);
    med_rwlock_reopen(request_of(&other)); /* not his */
    assert_int_equal(word(), 1 | MED_RWLOCK_COMING);
    med_rwlock_reopen(request_of(&me));
    assert_int_equal(word(), 0);
    med_rwlock_reopen(request_of(&me));
    assert_int_equal(unit_word(me.unit), 1);
    read_end(&me);
    assert_int_equal(write(&other), MEDLEY_OK);
    assert_int_equal(med_rwlock_close(request_of(&me)), MEDLEY_BUSY);
    assert_int_equal(med_rwlock_close(request_of(&other)), MEDLEY_OK);
    med_rwlock_reopen(request_of(&other)); /* the writer stays it */
    assert_int_equal(word(), 2);
    write_end();
}

/* ---- Death ----------------------------------------------------------------------------------- */

/* Every reader is told of a writer's death, until a writer has had it. */
static void
a_writers_death_is_told(void **state)
{
    visitor dead = hasty(GONE), r = hasty(1), again = hasty(1), w = hasty(2);
    (void)state;
    assert_int_equal(write(&dead), MEDLEY_OK);
    assert_false(med_rwlock_recover_writer(&shared.lock, 1, true, SCOPE));
    assert_true(med_rwlock_recover_writer(&shared.lock, GONE, true, SCOPE));
    assert_false(med_rwlock_recover_writer(&shared.lock, GONE, true, SCOPE));
    assert_int_equal(word(), MED_LOCK_DIED);
    assert_false(med_rwlock_read_fast(&shared.lock, &shared.words[0], 1, SCOPE));
    assert_int_equal(held(), 0);
    assert_int_equal(read(&r), MEDLEY_ERR_OWNER_DIED);
    assert_int_equal(read(&again), MEDLEY_ERR_OWNER_DIED);
    assert_int_equal(held(), 2);
    assert_int_equal(write(&w), MEDLEY_BUSY);
    assert_int_equal(word(), MED_LOCK_DIED); /* who gives up leaves it to be told */
    read_end(&r);
    read_end(&again);
    assert_int_equal(med_rwlock_close(request_of(&w)), MEDLEY_OK);
    med_rwlock_reopen(request_of(&w));
    assert_int_equal(word(), MED_LOCK_DIED);
    assert_int_equal(write(&w), MEDLEY_ERR_OWNER_DIED);
    write_end();
    assert_int_equal(read(&r), MEDLEY_OK);
    read_end(&r);
}

static void
who_was_coming_changed_nothing(void **state)
{
    (void)state;
    atomic32_store_relaxed(&shared.lock.writer.word, GONE | MED_RWLOCK_COMING);
    assert_true(med_rwlock_recover_writer(&shared.lock, GONE, false, SCOPE));
    assert_int_equal(word(), 0);
    atomic32_store_relaxed(&shared.lock.writer.word, GONE | MED_RWLOCK_COMING | MED_LOCK_DIED);
    assert_true(med_rwlock_recover_writer(&shared.lock, GONE, true, SCOPE));
    assert_int_equal(word(), MED_LOCK_DIED); /* of one before him */
    atomic32_store_relaxed(&shared.lock.writer.word, 0);
}

static void
a_readers_death_is_not_told(void **state)
{
    visitor dead = hasty(GONE), w = hasty(1);
    (void)state;
    assert_int_equal(read(&dead), MEDLEY_OK);
    assert_false(med_rwlock_recover_reader(&shared.lock, &shared.words[0], 1, SCOPE));
    assert_false(med_rwlock_recover_reader(&shared.lock, &shared.words[1], GONE, SCOPE));
    assert_true(med_rwlock_recover_reader(&shared.lock, &shared.words[0], GONE, SCOPE));
    assert_false(med_rwlock_recover_reader(&shared.lock, &shared.words[0], GONE, SCOPE));
    assert_int_equal(write(&w), MEDLEY_OK);
    write_end();
}

static void
of_no_more_use(void **state)
{
    visitor dead = hasty(GONE), r = {.owner = 1}, w = {.owner = 2};
    (void)state;
    assert_int_equal(write(&dead), MEDLEY_OK);
    assert_true(med_rwlock_recover_writer(&shared.lock, GONE, false, SCOPE));
    assert_true(med_lock_is_dead(&shared.lock.writer));
    assert_int_equal(read(&r), MEDLEY_ERR_PEER_DIED);
    assert_int_equal(write(&w), MEDLEY_ERR_PEER_DIED);
    assert_true(med_lock_is_dead(&shared.lock.writer));
    assert_int_equal(held(), 0);
    assert_int_equal(med_rwlock_close(request_of(&w)), MEDLEY_OK);
    med_rwlock_reopen(request_of(&w));
    assert_true(med_lock_is_dead(&shared.lock.writer));
    assert_false(med_rwlock_recover_writer(&shared.lock, GONE, true, SCOPE));
}

/* ---- Those who wait -------------------------------------------------------------------------- */

typedef struct waiting {
    visitor v;
    bool writes;
    med_port_thread thread;
    medley_status_t status;
} waiting;

static void *
wait_and_leave(void *argument)
{
    waiting *w = argument;
    w->status = w->writes ? write(&w->v) : read(&w->v);
    if (w->status == MEDLEY_OK || w->status == MEDLEY_ERR_OWNER_DIED) {
        if (w->writes) {
            write_end();
        } else {
            read_end(&w->v);
        }
    }
    return NULL;
}

static void
wait_begin(waiting *crowd)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        crowd[i].v.owner = i + 1;
        crowd[i].writes = i % 2;
        assert_int_equal(med_port_thread_start(&crowd[i].thread, NULL, wait_and_leave, &crowd[i]),
                         MEDLEY_OK);
    }
}

/* How many came back with that. */
static uint32_t
wait_end(waiting *crowd, medley_status_t status)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(med_port_thread_join(crowd[i].thread, NULL), MEDLEY_OK);
        count += crowd[i].status == status;
    }
    return count;
}

static void
until_somebody_sleeps(void)
{
    while (!atomic32_load_acquire(&shared.lock.sleepers.flag)) {
        med_port_yield();
    }
}

static void
until_a_writer_sleeps(void)
{
    while (!(atomic32_load_acquire(&shared.lock.left.word) & MED_WAIT_SLEEPS)) {
        med_port_yield();
    }
}

/* Who sleeps behind a dead writer finds him, and the first writer is the last who is told. */
static void
sleepers_find_a_dead_writer(void **state)
{
    static waiting crowd[THREADS];
    visitor dead = hasty(GONE);
    (void)state;
    memset(crowd, 0, sizeof crowd);
    assert_int_equal(write(&dead), MEDLEY_OK);
    for (uint32_t i = 0; i < THREADS; i++) {
        crowd[i].v.finds_dead = true;
    }
    wait_begin(crowd);
    uint32_t told = wait_end(crowd, MEDLEY_ERR_OWNER_DIED);
    uint32_t writers_told = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        writers_told += crowd[i].writes && crowd[i].status == MEDLEY_ERR_OWNER_DIED;
        assert_true(crowd[i].status == MEDLEY_OK || crowd[i].status == MEDLEY_ERR_OWNER_DIED);
    }
    assert_int_equal(writers_told, 1);
    assert_in_range(told, 1, 1 + THREADS / 2);
}

/* A writer waits for dead readers, readers for their units. */
static void
sleepers_find_dead_readers(void **state)
{
    static waiting crowd[THREADS];
    visitor dead = hasty(GONE);
    (void)state;
    memset(crowd, 0, sizeof crowd);
    for (uint32_t i = 0; i < UNITS; i++) {
        assert_int_equal(read(&dead), MEDLEY_OK);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        crowd[i].v.finds_dead = true;
    }
    wait_begin(crowd);
    assert_int_equal(wait_end(crowd, MEDLEY_OK), THREADS);
}

/* The count of its wakes goes round while a writer sleeps there. */
static void
the_last_reader_wakes_a_writer(void **state)
{
    static waiting w;
    visitor r = hasty(2);
    (void)state;
    w = (waiting){.v = {.owner = 1}, .writes = true};
    atomic32_store_relaxed(&shared.lock.left.word, ~MED_WAIT_SLEEPS);
    assert_int_equal(read(&r), MEDLEY_OK);
    assert_int_equal(med_port_thread_start(&w.thread, NULL, wait_and_leave, &w), MEDLEY_OK);
    until_a_writer_sleeps();
    assert_int_equal(word(), 1 | MED_RWLOCK_COMING);
    read_end(&r);
    assert_int_equal(med_port_thread_join(w.thread, NULL), MEDLEY_OK);
    assert_int_equal(w.status, MEDLEY_OK);
    assert_int_equal(atomic32_load_relaxed(&shared.lock.left.word) & ~MED_WAIT_SLEEPS, 0);
}

static void
the_end_wakes_all(void **state)
{
    static waiting crowd[THREADS];
    visitor w = hasty(GONE);
    (void)state;
    memset(crowd, 0, sizeof crowd);
    assert_int_equal(write(&w), MEDLEY_OK);
    wait_begin(crowd);
    until_somebody_sleeps();
    atomic32_store_release(&is_gone, 1);
    med_rwlock_wake_all(&shared.lock, SCOPE);
    assert_int_equal(wait_end(crowd, MEDLEY_ERR_NOT_FOUND), THREADS);
    write_end();
}

/* Somebody sleeps, it seems, for the word and for readers to leave. */
static void
asleep_set(void)
{
    atomic32_store_relaxed(&shared.lock.sleepers.flag, 1);
    atomic32_store_relaxed(&shared.lock.left.word, UINT32_MAX);
}

#define WORD_WOKEN 1u
#define LEFT_WOKEN 2u

/* Who was woken since; the count of wakes goes round. */
static uint32_t
woken(void)
{
    uint32_t left = atomic32_load_relaxed(&shared.lock.left.word);
    uint32_t flag = atomic32_load_relaxed(&shared.lock.sleepers.flag);
    assert_true(left == 0 || left == UINT32_MAX);
    asleep_set();
    return (flag == 0 ? WORD_WOKEN : 0) | (left == 0 ? LEFT_WOKEN : 0);
}

static void
who_leaves_wakes(void **state)
{
    visitor r = hasty(1), w = hasty(2);
    (void)state;
    asleep_set();
    assert_int_equal(read(&r), MEDLEY_OK);
    assert_int_equal(woken(), 0);
    assert_int_equal(write(&w), MEDLEY_BUSY);
    assert_int_equal(woken(), WORD_WOKEN);
    read_end(&r);
    assert_int_equal(woken(), LEFT_WOKEN);
    assert_int_equal(read(&r), MEDLEY_OK);
    med_rwlock_back_out(&shared.lock, &shared.words[r.unit], 2, SCOPE);
    assert_int_equal(woken(), 0);
    med_rwlock_back_out(&shared.lock, &shared.words[r.unit], 1, SCOPE);
    assert_int_equal(woken(), LEFT_WOKEN);
    assert_int_equal(read(&r), MEDLEY_OK);
    assert_true(med_rwlock_recover_reader(&shared.lock, &shared.words[r.unit], 1, SCOPE));
    assert_int_equal(woken(), LEFT_WOKEN);
    assert_int_equal(write(&w), MEDLEY_OK);
    assert_int_equal(woken(), 0);
    write_end();
    assert_int_equal(woken(), WORD_WOKEN);
    assert_int_equal(med_rwlock_close(request_of(&w)), MEDLEY_OK);
    med_rwlock_reopen(request_of(&w));
    assert_int_equal(woken(), WORD_WOKEN);
    assert_int_equal(write(&w), MEDLEY_OK);
    assert_true(med_rwlock_recover_writer(&shared.lock, 2, false, SCOPE));
    assert_int_equal(woken(), WORD_WOKEN);
    med_rwlock_wake_all(&shared.lock, SCOPE);
    assert_int_equal(woken(), WORD_WOKEN | LEFT_WOKEN);
}

/* ---- A crowd --------------------------------------------------------------------------------- */

typedef struct worker {
    visitor v;
    med_port_thread thread;
    uint32_t rounds; /* left */
    uint32_t writes;
    bool right;
} worker;

static atomic32 arrived; /* workers start together */
static uint32_t
    guarded[2]; /* alike outside; plain on purpose: TSan sees whether they are guarded */

static bool
look(worker *w)
{
    visitor *v = &w->v;
    if (!med_rwlock_read_fast(&shared.lock, &shared.words[v->unit], v->owner, SCOPE)) {
        medley_status_t status = read(v);
        if (status == MEDLEY_TIMEOUT) {
            return true;
        }
        w->right = status == MEDLEY_OK;
    }
    w->right = w->right && guarded[0] == guarded[1];
    if (w->rounds % 64 == 0) {
        med_port_yield(); /* the others find him inside, and sleep */
    }
    w->right = w->right && guarded[0] == guarded[1];
    read_end(v);
    return w->right;
}

static bool
change(worker *w)
{
    medley_status_t status = write(&w->v);
    if (status == MEDLEY_TIMEOUT) {
        return true;
    }
    w->right = status == MEDLEY_OK && med_rwlock_is_writer(&shared.lock, w->v.owner) &&
               guarded[0] == guarded[1];
    guarded[0]++;
    if (w->rounds % 64 == 0) {
        med_port_yield();
    }
    guarded[1]++;
    w->writes++;
    write_end();
    return w->right;
}

static void *
work(void *argument)
{
    worker *w = argument;
    (void)atomic32_fetch_add_acq_rel(&arrived, 1);
    while (atomic32_load_acquire(&arrived) < THREADS) {
        med_port_yield();
    }
    for (; w->rounds && w->right; w->rounds--) {
        (void)((w->rounds + w->v.owner) % 4 == 0 ? change(w) : look(w));
    }
    return NULL;
}

static void
crowd_work(uint64_t patience_ns)
{
    static worker workers[THREADS];
    uint32_t writes = 0;
    memset(guarded, 0, sizeof guarded);
    atomic32_store_relaxed(&arrived, 0);
    atomic32_store_relaxed(&shared.lock.left.word, ~MED_WAIT_SLEEPS);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.v = {.owner = i + 1, .patience_ns = i % 2 ? patience_ns : 0},
                              .rounds = ROUNDS,
                              .right = true};
        assert_int_equal(med_port_thread_start(&workers[i].thread, NULL, work, &workers[i]),
                         MEDLEY_OK);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(med_port_thread_join(workers[i].thread, NULL), MEDLEY_OK);
        assert_true(workers[i].right);
        writes += workers[i].writes;
    }
    assert_in_range(writes, THREADS / 2 * (ROUNDS / 4), THREADS * (ROUNDS / 4 + 1));
    assert_int_equal(guarded[0], writes);
    assert_int_equal(guarded[1], writes);
}

static void
one_writer_or_readers(void **state)
{
    (void)state;
    crowd_work(0);
}

static void
some_give_up_and_come_back(void **state)
{
    (void)state;
    crowd_work(30000);
}

/* Another takes the unit that is free before whoever saw it, and gives it back when it is looked
 * for again. */
#define FORESTALLER 8u

static medley_status_t
is_forestalled(void *context)
{
    med_lock *unit = &shared.words[UNITS - 1];
    (void)context;
    if (!med_lock_try_fast(unit, FORESTALLER) && med_lock_is_mine(unit, FORESTALLER)) {
        atomic32_store_release(&unit->word, 0);
    }
    return MEDLEY_OK;
}

static void
a_reader_finds_dead_ones_though_forestalled(void **state)
{
    visitor v = {.owner = 1, .patience_ns = 2000000000, .finds_dead = true};
    (void)state;
    for (uint32_t i = 0; i < UNITS - 1; i++) {
        assert_true(med_lock_try_fast(&shared.words[i], GONE));
    }
    (void)request_of(&v);
    v.request.still_there = is_forestalled;
    assert_int_equal(med_rwlock_read(&v.request, &v.unit), MEDLEY_OK);
    med_rwlock_read_end(&shared.lock, &shared.words[v.unit], SCOPE);
    med_rwlock_back_out(&shared.lock, &shared.words[UNITS - 1], FORESTALLER, SCOPE);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, lock_reset, lock_is_free)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(readers_keep_a_writer_out),
        TEST(a_writer_keeps_all_out),
        TEST(one_who_comes_keeps_new_readers_out),
        TEST(nobody_waits_for_himself),
        TEST(deadlines),
        TEST(taken_by_mistake),
        TEST(gone_before_and_after),
        TEST(closed_and_reopened),
        TEST(a_writers_death_is_told),
        TEST(who_was_coming_changed_nothing),
        TEST(a_readers_death_is_not_told),
        cmocka_unit_test_setup(of_no_more_use, lock_reset),
        TEST(sleepers_find_a_dead_writer),
        TEST(sleepers_find_dead_readers),
        TEST(a_reader_finds_dead_ones_though_forestalled),
        TEST(the_last_reader_wakes_a_writer),
        TEST(the_end_wakes_all),
        cmocka_unit_test_setup(who_leaves_wakes, lock_reset),
        TEST(one_writer_or_readers),
        TEST(some_give_up_and_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
