/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bit set: one user, many, dying ones, and memory that lies. */
#include <stdlib.h>
#include <string.h>

#include "base/bit_set.h"
#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

/* Exactly as much memory as it needs, so that a step outside is seen. */
static void *
make(uint32_t capacity, med_bit_set *set)
{
    size_t size_bytes = med_bit_set_size(capacity);
    void *memory = aligned_alloc(64, size_bytes);
    assert_non_null(memory);
    assert_int_equal(med_bit_set_init(memory, size_bytes, capacity, set), MEDLEY_OK);
    return memory;
}

static med_bit_set_slot
take_lowest(const med_bit_set *set, uint32_t owner)
{
    med_bit_set_slot slot = {0};
    assert_int_equal(med_bit_set_take(set, owner, MED_BIT_SET_LOWEST, &slot), MEDLEY_OK);
    return slot;
}

static void
check_counts(const med_bit_set *set, uint32_t in_use, uint32_t claimed, uint32_t high_water)
{
    med_bit_set_statistics statistics;
    med_bit_set_statistics_get(set, &statistics);
    assert_int_equal(statistics.in_use, in_use);
    assert_int_equal(statistics.claimed, claimed);
    assert_int_equal(statistics.high_water, high_water);
}

/* Takes all there is, so that what was lost is missed. */
static uint32_t
take_all(const med_bit_set *set, uint32_t owner)
{
    med_bit_set_slot slot;
    uint32_t count = 0;
    while (med_bit_set_take(set, owner, MED_BIT_SET_LOWEST, &slot) == MEDLEY_OK) {
        count++;
    }
    return count;
}

static void
wrong_arguments_are_refused(void **state)
{
    (void)state;
    med_bit_set set;
    assert_int_equal(med_bit_set_size(0), 0);
    assert_int_equal(med_bit_set_size(MED_BIT_SET_CAPACITY_MAX + 1), 0);
    unsigned char *memory = make(40, &set);
    size_t size_bytes = med_bit_set_size(40);
    assert_int_equal(med_bit_set_init(memory, size_bytes - 1, 40, &set), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_init(memory + 4, size_bytes, 40, &set), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_init(NULL, size_bytes, 40, &set), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_attach(memory + 4, size_bytes, &set), MEDLEY_ERR_ARGUMENT);
    med_bit_set_slot slot = {0};
    assert_int_equal(med_bit_set_take(&set, 0, 0, &slot), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_ARGUMENT);
    slot = take_lowest(&set, 1);
    assert_int_equal(med_bit_set_give(&set, slot, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_give(&set, (med_bit_set_slot){40, 2}, 1), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_give(&set, (med_bit_set_slot){0, 3}, 1), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_hand_over(&set, slot, 1, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_bit_set_recover(&set, 0), 0);
    check_counts(&set, 1, 0, 1);
    free(memory);
}

static void
takes_the_lowest_until_full(void **state)
{
    (void)state;
    static const uint32_t capacities[] = {1, 31, 32, 33, 1000, MED_BIT_SET_CAPACITY_MAX};
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        med_bit_set set;
        void *memory = make(capacities[i], &set);
        for (uint32_t index = 0; index < capacities[i]; index++) {
            assert_int_equal(take_lowest(&set, 7).index, index);
        }
        med_bit_set_slot slot;
        assert_int_equal(med_bit_set_take(&set, 7, MED_BIT_SET_LOWEST, &slot), MEDLEY_FULL);
        assert_int_equal(med_bit_set_take(&set, 7, capacities[i] / 2, &slot), MEDLEY_FULL);
        check_counts(&set, capacities[i], 0, capacities[i]);
        assert_int_equal(med_bit_set_recover(&set, 8), 0);
        assert_int_equal(med_bit_set_recover(&set, 7), capacities[i]);
        assert_int_equal(med_bit_set_recover(&set, 7), 0);
        assert_int_equal(take_all(&set, 9), capacities[i]);
        free(memory);
    }
}

static void
the_hint_follows_the_holes(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(4096, &set);
    med_bit_set_slot slots[4096];
    for (uint32_t i = 0; i < 4096; i++) {
        slots[i] = take_lowest(&set, 1);
    }
    assert_int_equal(atomic32_load_relaxed(&set.shared->first_free_word), 4095 / 32);
    static const uint32_t holes[] = {4000, 77, 2000, 78, 3};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(med_bit_set_give(&set, slots[holes[i]], 1), MEDLEY_OK);
    }
    static const uint32_t found[] = {3, 77, 78, 2000, 4000};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(take_lowest(&set, 1).index, found[i]);
    }
    check_counts(&set, 4096, 0, 4096);
    /* The hole below counts more than the room above. */
    assert_int_equal(med_bit_set_recover(&set, 1), 4096);
    for (uint32_t i = 0; i < 2000; i++) {
        slots[i] = take_lowest(&set, 1);
    }
    assert_int_equal(med_bit_set_give(&set, slots[5], 1), MEDLEY_OK);
    assert_int_equal(take_lowest(&set, 1).index, 5);
    free(memory);
}

static void
a_start_is_where_the_search_starts(void **state)
{
    (void)state;
    med_bit_set set;
    med_bit_set_slot slot;
    void *memory = make(128, &set);
    for (uint32_t i = 0; i < 128; i++) {
        assert_int_equal(med_bit_set_take(&set, 1, 64, &slot), MEDLEY_OK);
        assert_int_equal(slot.index, (64 + i) % 128);
    }
    free(memory);
}

static void
an_old_slot_is_known(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(3, &set);
    med_bit_set_slot slot = take_lowest(&set, 1);
    assert_int_equal(med_bit_set_give(&set, slot, 2), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_bit_set_check(&set, slot, 1), MEDLEY_OK);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_OK);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_STALE);
    med_bit_set_slot next = take_lowest(&set, 1);
    assert_int_equal(next.index, slot.index);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_STALE);
    assert_int_equal(med_bit_set_check(&set, next, 1), MEDLEY_OK);
    /* Also where the use was ended by a death. */
    assert_int_equal(med_bit_set_recover(&set, 1), 1);
    assert_int_equal(med_bit_set_give(&set, next, 1), MEDLEY_ERR_STALE);
    med_bit_set_slot third = take_lowest(&set, 1);
    assert_int_equal(third.index, next.index);
    assert_int_equal(med_bit_set_give(&set, next, 1), MEDLEY_ERR_STALE);
    check_counts(&set, 1, 0, 1);
    free(memory);
}

static void
an_old_slot_is_known_while_its_entry_is_only_claimed(void **state)
{
    (void)state;
    med_bit_set set;
    uint16_t index;
    void *memory = make(1, &set);
    med_bit_set_slot slot = take_lowest(&set, 1);
    assert_int_equal(med_bit_set_recover(&set, 1), 1);
    assert_int_equal(med_bit_set_claim(&set, 2, 0, &index, 1), 1);
    assert_int_equal(med_bit_set_give(&set, slot, 2), MEDLEY_ERR_STALE);
    check_counts(&set, 0, 1, 1);
    med_bit_set_unclaim(&set, 2, &index, 1);
    check_counts(&set, 0, 0, 1);
    free(memory);
}

static void
generations_wrap_around(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(1, &set);
    atomic32_store_relaxed(&set.entries[0].generation, UINT32_MAX - 4);
    med_bit_set_slot before = {0};
    for (int i = 0; i < 6; i++) {
        med_bit_set_slot slot = take_lowest(&set, 1);
        assert_true(slot.generation != 0 && slot.generation % 2 == 0);
        assert_int_not_equal(slot.generation, before.generation);
        assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_OK);
        assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_STALE);
        before = slot;
    }
    assert_true(before.generation < 16);
    free(memory);
}

static void
a_slot_goes_to_its_next_owner(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(2, &set);
    med_bit_set_slot slot = take_lowest(&set, 1);
    assert_int_equal(med_bit_set_hand_over(&set, slot, 2, 3), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_bit_set_hand_over(&set, slot, 1, 2), MEDLEY_OK);
    assert_int_equal(med_bit_set_give(&set, slot, 1), MEDLEY_ERR_NOT_OWNER);
    assert_int_equal(med_bit_set_recover(&set, 1), 0);
    assert_int_equal(med_bit_set_recover(&set, 2), 1);
    assert_int_equal(med_bit_set_hand_over(&set, slot, 2, 1), MEDLEY_ERR_STALE);
    free(memory);
}

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
    uint32_t random;
    uint32_t held;
    med_bit_set_slot slots[HAVE];
} member;

static uint32_t
next_random(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 8;
}

static void
member_take(member *m)
{
    med_bit_set_slot slot;
    uint32_t start = m->owner % 2 ? MED_BIT_SET_LOWEST : next_random(&m->random);
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
    uint32_t which = next_random(&m->random) % m->held;
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
    bool more = m->held == 0 || (m->held < HAVE && next_random(&m->random) % 2);
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
        members[i] = (member){.crowd = &c, .owner = i + 1, .random = i * 977 + 1};
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
        if (next_random(&m->random) % 16 == 0) {
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
    *m = (member){.crowd = c, .owner = owner, .random = owner * 7919};
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
    uint32_t random = 12345;
    for (int i = 0; i < CHILDREN; i++) {
        child_start(&children[i], &members[i], c, ++owner);
    }
    for (int kill_index = 0; kill_index < KILLS; kill_index++) {
        uint32_t victim = next_random(&random) % CHILDREN;
        uint32_t until = atomic32_load_relaxed(&c->steps) + 50 + next_random(&random) % 500;
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

/* What a death leaves between any two accesses, laid there by hand. */
static void
every_half_done_step_is_recovered(void **state)
{
    (void)state;
    med_bit_set set;
    void *memory = make(4, &set);
    med_bit_set_slot slot = take_lowest(&set, 1);
    /* Put back, and not shown. */
    assert_int_equal(med_bit_set_end(&set, slot, 1), MEDLEY_OK);
    atomic32_store_relaxed(&set.entries[0].owner, 0);
    assert_int_equal(take_lowest(&set, 2).index, 1);
    assert_int_equal(med_bit_set_recover(&set, 1), 0);
    assert_int_equal(take_lowest(&set, 2).index, 0);
    /* Taken, and the bit not cleared; the use not begun. */
    atomic32_store_relaxed(&set.entries[2].owner, 1);
    assert_int_equal(take_lowest(&set, 2).index, 3);
    assert_int_equal(med_bit_set_recover(&set, 1), 1);
    assert_int_equal(take_lowest(&set, 2).index, 2);
    assert_int_equal(med_bit_set_recover(&set, 2), 4);
    assert_int_equal(take_all(&set, 3), 4);
    free(memory);
}

/* ---- Memory that lies ------------------------------------------------------------------------ */
static void
attach_checks_what_it_finds(void **state)
{
    (void)state;
    med_bit_set set;
    med_bit_set other;
    void *memory = make(100, &set);
    size_t size_bytes = med_bit_set_size(100);
    assert_int_equal(med_bit_set_attach(memory, size_bytes, &other), MEDLEY_OK);
    assert_memory_equal(&set, &other, sizeof set);
    assert_int_equal(med_bit_set_attach(memory, size_bytes - 1, &other), MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_bit_set_attach(memory, 64, &other), MEDLEY_ERR_CORRUPT);
    static const uint32_t lies[] = {0, 65537, 101 + 400, UINT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        atomic32_store_relaxed(&set.shared->capacity, lies[i]);
        assert_int_equal(med_bit_set_attach(memory, size_bytes, &other), MEDLEY_ERR_CORRUPT);
    }
    atomic32_store_relaxed(&set.shared->capacity, 100);
    atomic32_store_relaxed(&set.shared->stamp.version, 99);
    assert_int_equal(med_bit_set_attach(memory, size_bytes, &other), MEDLEY_ERR_VERSION);
    uint32_t kind = atomic32_load_relaxed(&set.shared->stamp.kind);
    atomic32_store_relaxed(&set.shared->stamp.kind, __builtin_bswap32(kind));
    assert_int_equal(med_bit_set_attach(memory, size_bytes, &other), MEDLEY_ERR_BYTE_ORDER);
    atomic32_store_relaxed(&set.shared->stamp.kind, kind + 1);
    assert_int_equal(med_bit_set_attach(memory, size_bytes, &other), MEDLEY_ERR_CORRUPT);
    free(memory);
}

static void
scribbled_contents_bound_every_call(void **state)
{
    (void)state;
    med_bit_set set;
    unsigned char *memory = make(100, &set);
    uint32_t random = 1;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 64; i < med_bit_set_size(100); i++) {
            memory[i] = (unsigned char)next_random(&random);
        }
        med_bit_set_slot slot = {.index = next_random(&random)};
        (void)med_bit_set_take(&set, 5, MED_BIT_SET_LOWEST, &slot);
        (void)med_bit_set_give(&set, slot, 5);
        (void)med_bit_set_hand_over(&set, slot, 5, 6);
        (void)med_bit_set_recover(&set, 5);
        (void)take_all(&set, 6);
        uint16_t far = UINT16_MAX;
        med_bit_set_unclaim(&set, 6, &far, 1);
        med_bit_set_statistics statistics;
        med_bit_set_statistics_get(&set, &statistics);
        assert_true(statistics.high_water <= 100 && statistics.in_use <= 100);
    }
    free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(takes_the_lowest_until_full),
        cmocka_unit_test(the_hint_follows_the_holes),
        cmocka_unit_test(a_start_is_where_the_search_starts),
        cmocka_unit_test(an_old_slot_is_known),
        cmocka_unit_test(an_old_slot_is_known_while_its_entry_is_only_claimed),
        cmocka_unit_test(generations_wrap_around),
        cmocka_unit_test(a_slot_goes_to_its_next_owner),
        cmocka_unit_test(the_entries_of_the_killed_come_back),
        cmocka_unit_test(every_half_done_step_is_recovered),
        cmocka_unit_test(attach_checks_what_it_finds),
        cmocka_unit_test(scribbled_contents_bound_every_call),
        cmocka_unit_test(nothing_is_doubled_or_lost_among_threads),
        cmocka_unit_test(one_of_two_gives_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
