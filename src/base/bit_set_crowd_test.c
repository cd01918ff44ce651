/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bit set: many threads at once, and processes that are killed at it. */
#include "base/bit_set_test.h"
#include "port/port.h"
#include "support/process.h"
#include "support/random.h"

/* ---- Many at once ---------------------------------------------------------------------------- */

/* The mark of an entry says who has it; it is set after the taking and cleared before the giving.
 */
enum {
    CAPACITY = 70,
    HAVE = 24,
    ROUNDS = 4000,
    THREADS = 7
};

typedef struct crowd {
    med_bit_set set;
    atomic32 marks[CAPACITY];
    atomic32 doubled;
    atomic32 refused;
    atomic32 steps;
    atomic32 stop;
    atomic32 dead_owner; /* the last one killed, for everybody to recover */
} crowd;

typedef struct member {
    crowd *crowd;
    uint32_t owner;
    test_random random;
    uint32_t held;
    med_bit_set_slot slots[HAVE];
} member;

static void
member_take(member *m)
{
    med_bit_set_slot slot;
    uint32_t start = m->owner % 2 ? MED_BIT_SET_LOWEST : random_word(&m->random);
    if (med_bit_set_take(&m->crowd->set, m->owner, start, &slot) == MEDLEY_OK) {
        if (atomic32_exchange_acq_rel(&m->crowd->marks[slot.index], m->owner) != 0) {
            (void)atomic32_fetch_add_relaxed(&m->crowd->doubled, 1);
        }
        m->slots[m->held++] = slot;
    }
}

static void
member_give(member *m)
{
    uint32_t which = random_below(&m->random, m->held);
    med_bit_set_slot slot = m->slots[which];
    m->slots[which] = m->slots[--m->held];
    if (atomic32_exchange_acq_rel(&m->crowd->marks[slot.index], 0) != m->owner) {
        (void)atomic32_fetch_add_relaxed(&m->crowd->doubled, 1);
    }
    if (med_bit_set_give(&m->crowd->set, slot, m->owner) != MEDLEY_OK ||
        med_bit_set_give(&m->crowd->set, slot, m->owner) != MEDLEY_ERR_STALE) {
        (void)atomic32_fetch_add_relaxed(&m->crowd->refused, 1);
    }
}

static void
member_step(member *m)
{
    bool more = m->held == 0 || (m->held < HAVE && random_below(&m->random, 2));
    if (more) {
        member_take(m);
    } else {
        member_give(m);
    }
    (void)atomic32_fetch_add_relaxed(&m->crowd->steps, 1);
}

static void *
member_run(void *argument)
{
    member *m = argument;
    for (int round = 0; round < ROUNDS; round++) {
        member_step(m);
    }
    while (m->held > 0) {
        member_give(m);
    }
    return NULL;
}

static void
nothing_is_doubled_or_lost_among_threads(void **state)
{
    (void)state;
    static crowd c;
    static member members[THREADS];
    med_port_thread threads[THREADS];
    void *memory = make(CAPACITY, &c.set);
    for (uint32_t i = 0; i < THREADS; i++) {
        members[i] = (member){.crowd = &c, .owner = i + 1, .random = {i * 977 + 1}};
        assert_int_equal(med_port_thread_start(&threads[i], NULL, member_run, &members[i]),
                         MEDLEY_OK);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(med_port_thread_join(threads[i], NULL), MEDLEY_OK);
    }
    assert_int_equal(atomic32_load_relaxed(&c.doubled), 0);
    assert_int_equal(atomic32_load_relaxed(&c.refused), 0);
    assert_int_equal(take_all(&c.set, 99), CAPACITY);
    free(memory);
}

/* ---- Two give one slot back: one succeeds ---------------------------------------------------- */
typedef struct rivals {
    med_bit_set set;
    med_bit_set_slot slot;
    atomic32 round;
    atomic32 done;
    atomic32 won;
} rivals;

enum {
    MATCHES = 30000,
    SPINS = 1000,
    HEADSTARTS = 1000
};

static void
rival_give(rivals *r)
{
    if (med_bit_set_give(&r->set, r->slot, 1) == MEDLEY_OK) {
        (void)atomic32_fetch_add_relaxed(&r->won, 1);
    }
}

/* Until the word holds `value`, staying on the processor for as long as that is likely to help. */
static void
await(const atomic32 *word, uint32_t value)
{
    for (int spins = 0; atomic32_load_acquire(word) != value; spins++) { /* A1 turn <- R1 */
        if (spins > SPINS) {
            med_port_yield();
        }
    }
}

static void *
rival_run(void *argument)
{
    rivals *r = argument;
    for (uint32_t round = 1; round <= MATCHES; round++) {
        await(&r->round, round);
        rival_give(r);
        atomic32_store_release(&r->done, round); /* R1 turn -> A1 (await) */
    }
    return NULL;
}

static void
one_of_two_gives_it_back(void **state)
{
    (void)state;
    static rivals r;
    med_port_thread thread;
    atomic32 headstart = ATOMIC32_INIT(0);
    void *memory = make(3, &r.set);
    assert_int_equal(med_port_thread_start(&thread, NULL, rival_run, &r), MEDLEY_OK);
    for (uint32_t round = 1; round <= MATCHES; round++) {
        r.slot = take_lowest(&r.set, 1);
        atomic32_store_release(&r.round, round); /* R1 turn -> A1 (await) */
        for (uint32_t i = 0; i < round % HEADSTARTS; i++) {
            atomic32_store_relaxed(&headstart, i); /* the other needs a while to see it: meet him */
        }
        rival_give(&r);
        await(&r.done, round);
        assert_int_equal(atomic32_load_relaxed(&r.won), round);
    }
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
    assert_int_equal(take_all(&r.set, 2), 3);
    free(memory);
}

/* ---- Death ----------------------------------------------------------------------------------- */
enum {
    KILLS = 60,
    CHILDREN = 3
};

static int
child_run(test_process *parent, void *argument)
{
    member *m = argument;
    for (uint32_t round = 1; !atomic32_load_relaxed(&m->crowd->stop); round++) {
        if (round % 256 == 0 && getppid() != parent->pid) {
            return 1; /* the test has failed */
        }
        member_step(m);
        if (random_below(&m->random, 16) == 0) {
            (void)med_bit_set_recover(&m->crowd->set, atomic32_load_relaxed(&m->crowd->dead_owner));
        }
    }
    while (m->held > 0) {
        member_give(m);
    }
    return 0;
}

static void
child_start(test_process *child, member *m, crowd *c, uint32_t owner)
{
    *m = (member){.crowd = c, .owner = owner, .random = {owner * 7919}};
    process_start(child, child_run, m);
}

/* The dead one's marks go first: what he has nobody can take before the recovery. */
static void
bury(crowd *c, uint32_t dead_owner)
{
    for (uint32_t i = 0; i < CAPACITY; i++) {
        uint32_t expected = dead_owner;
        (void)atomic32_cas_relaxed(&c->marks[i], &expected, 0);
    }
    atomic32_store_relaxed(&c->dead_owner, dead_owner);
    (void)med_bit_set_recover(&c->set, dead_owner);
}

static void
the_entries_of_the_killed_come_back(void **state)
{
    (void)state;
    crowd *c = process_shared_memory(sizeof *c);
    void *memory = process_shared_memory(med_bit_set_size(CAPACITY));
    assert_int_equal(med_bit_set_init(memory, med_bit_set_size(CAPACITY), CAPACITY, &c->set),
                     MEDLEY_OK);
    test_process children[CHILDREN];
    member members[CHILDREN];
    uint32_t owner = 0;
    test_random random = {12345};
    for (int i = 0; i < CHILDREN; i++) {
        child_start(&children[i], &members[i], c, ++owner);
    }
    for (int kill_index = 0; kill_index < KILLS; kill_index++) {
        uint32_t victim = random_below(&random, CHILDREN);
        uint32_t until = atomic32_load_relaxed(&c->steps) + 50 + random_below(&random, 500);
        while ((int32_t)(atomic32_load_relaxed(&c->steps) - until) < 0) {
            med_port_yield();
        }
        process_kill(&children[victim]);
        bury(c, members[victim].owner);
        assert_int_equal(process_join(&children[victim]), -SIGKILL);
        child_start(&children[victim], &members[victim], c, ++owner);
    }
    atomic32_store_relaxed(&c->stop, 1);
    for (int i = 0; i < CHILDREN; i++) {
        assert_int_equal(process_join(&children[i]), 0);
    }
    assert_int_equal(atomic32_load_relaxed(&c->doubled), 0);
    assert_int_equal(atomic32_load_relaxed(&c->refused), 0);
    check_counts(&c->set, 0, 0, CAPACITY);
    assert_int_equal(take_all(&c->set, 1), CAPACITY);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_doubled_or_lost_among_threads),
        cmocka_unit_test(one_of_two_gives_it_back),
        cmocka_unit_test(the_entries_of_the_killed_come_back),
    };
    return cmocka_run_group_tests_name("bit_set_crowd", tests, NULL, NULL);
}
