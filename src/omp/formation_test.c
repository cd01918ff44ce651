/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Formations of teams on a machine that is not here: sixteen places, of which eight share a cache.
 * What the machine and the environment say is the test's. */
#include "omp/formation.h"

#include <stdlib.h>

#include "mrapi/heap_lent.h"
#include "omp/cores.h"
#include "omp/quota.h"
#include "omp/team.h"
#include "omp/team_keep.h"
#include "support/unit.h"

#define SIZE 16u

/* ---- The machine ----------------------------------------------------------------------------- */

static med_settings settings;
static uint32_t blocks;      /* that are taken */
static uint32_t blocks_most; /* so many there are */
static bool one_cache;       /* or two */
static med_member leader;
atomic32 med_quota_now;

const med_settings *
med_settings_get(void)
{
    return &settings;
}

void *
med_heap_lend(size_t size_bytes)
{
    if (blocks == blocks_most) {
        return NULL;
    }
    blocks++;
    return aligned_alloc(64, (size_bytes + 63) / 64 * 64);
}

void
med_heap_take_back(void *block)
{
    blocks -= block != NULL;
    free(block);
}

uint32_t
med_cores_cache(const med_member *member)
{
    return member->placement.count ? 1 + member->placement.place % 2 : 0;
}

uint32_t
med_cores_memory(const med_member *member)
{
    return member->placement.count ? 1 : 0;
}

bool
med_cores_share_cache(const med_member *of)
{
    assert_ptr_equal(of, &leader);
    return one_cache;
}

void
med_team_report_fewer(uint32_t threads, const char *why)
{
    (void)threads;
    (void)why;
}

void
med_task_await_visitors(struct med_team *visited)
{
    (void)visited;
}

/* ---- Teams ----------------------------------------------------------------------------------- */

static med_icv icv;
static med_member them[SIZE];
static med_member *members[SIZE];
static med_team team;

static void
team_begin(void)
{
    settings = (med_settings){.processors = SIZE};
    atomic32_store_relaxed(&med_quota_now, SIZE); /* relaxed: nobody else is here */
    blocks_most = UINT32_MAX;
    icv = (med_icv){.threads = SIZE};
    leader = (med_member){.icv = &icv};
    team = (med_team){.leader = &leader, .members = members, .ready = SIZE};
    for (uint32_t i = 0; i < SIZE; i++) {
        them[i] = (med_member){.number = i, .seat = i};
        members[i] = &them[i];
    }
}

/* As a region's begin has it: so many members, at the places behind their leader's, or at none. */
static void
formed(uint32_t size, bool is_bound)
{
    icv.bind = is_bound ? MED_BIND_CLOSE : MED_BIND_FALSE;
    leader.placement.count = is_bound ? SIZE : 0;
    for (uint32_t i = 0; i < size; i++) {
        them[i].placement = leader.placement;
        them[i].placement.place = (leader.placement.place + i) % SIZE;
    }
    if (team.size != size) {
        team.size = size;
        team.formation = med_formation_of(&team, size);
        assert_non_null(team.formation);
    }
    med_formation_choose(&team);
    assert_int_equal(team.formation->barrier->members, size);
}

static uint32_t
groups_count(void)
{
    const med_barrier *barrier = team.formation->barrier;
    uint32_t count = 0;
    for (uint32_t i = 0; i < barrier->members; i++) {
        count += barrier->lines[i].first == i;
    }
    return count;
}

static void
team_end(void)
{
    med_formations_destroy(&team);
    assert_int_equal(blocks, 0);
}

/* Those of a cache sit side by side, though their places do not lie so. */
static void
by_caches_where_they_are_bound(void **state)
{
    (void)state;
    team_begin();
    formed(SIZE, true);
    assert_int_equal(groups_count(), 2);
    for (uint32_t i = 0; i < SIZE; i++) {
        assert_int_equal(them[i].seat, i / 2 + i % 2 * SIZE / 2);
    }
    team_end();
}

static void
one_cache_is_one_group(void **state)
{
    (void)state;
    one_cache = true;
    team_begin();
    formed(SIZE, false);
    assert_int_equal(groups_count(), 1);
    formed(SIZE, true);
    assert_int_equal(groups_count(), 1);
    assert_false(team.formation->is_in_groups);
    team_end();
    one_cache = false;
}

static void
by_numbers_where_they_are_not(void **state)
{
    (void)state;
    team_begin();
    formed(SIZE, false);
    assert_int_equal(groups_count(), 2);
    for (uint32_t i = 0; i < SIZE; i++) {
        assert_int_equal(them[i].seat, i);
    }
    team_end();
}

/* Who departed may still look at the one before: each is kept, and found again. */
static void
each_way_has_its_own(void **state)
{
    const med_formation *ways[4] = {NULL};
    (void)state;
    team_begin();
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 4; i++) {
            leader.placement.place = i == 2 ? 1 : 0;
            formed(i == 3 ? 12 : SIZE, i > 0);
            assert_true(round == 0 || team.formation == ways[i]);
            ways[i] = team.formation;
            assert_true(i == 0 || ways[i] != ways[i - 1]);
            assert_int_equal(them[1].seat, i == 0 ? 1 : i == 3 ? 6 : 8);
        }
    }
    team_end();
}

/* Of many ways the last ones are kept, and those of members who were told nothing since. */
static void
not_all_are_kept(void **state)
{
    (void)state;
    team_begin();
    formed(SIZE, false);
    med_formation_tell(&team);
    const med_formation *of_all = team.formation;
    med_barrier *barrier = of_all->barrier;
    uint32_t most = 0;
    for (uint32_t round = 0; round < 20 * SIZE; round++) {
        leader.placement.place = round / SIZE % SIZE;
        formed(1 + round % (SIZE - 1), true);
        med_formation_tell(&team);
        const uint32_t *seats = team.formation->seats;
        for (uint32_t i = 0; i < team.size; i++) {
            assert_int_equal(them[i].seat, seats ? seats[i] : i);
        }
        most = blocks > most ? blocks : most;
    }
    assert_in_range(most, 2 * 16, 3 * 17); /* a barrier, seats perhaps, and what tells of them */
    assert_ptr_equal(them[SIZE - 1].departed, barrier);
    formed(SIZE, false);
    assert_ptr_equal(team.formation, of_all);
    team_end();
}

static void
one_group_of_few_and_of_a_crowd(void **state)
{
    (void)state;
    team_begin();
    formed(MED_GROUP_MOST, true);
    assert_int_equal(groups_count(), 1);
    formed(SIZE, true);
    assert_int_equal(groups_count(), 2);
    atomic32_store_relaxed(&med_quota_now, SIZE - 1); /* relaxed: nobody else is here */
    formed(SIZE, true);
    assert_int_equal(groups_count(), 1);
    for (uint32_t i = 0; i < SIZE; i++) {
        assert_int_equal(them[i].seat, i);
    }
    team_end();
}

/* Of a smaller team some were told nothing: all are, once seats are their numbers again. */
static void
nobody_keeps_a_seat(void **state)
{
    (void)state;
    team_begin();
    formed(SIZE, true);
    formed(4, true);
    atomic32_store_relaxed(&med_quota_now, 4); /* relaxed: nobody else is here */
    formed(SIZE, true);
    for (uint32_t i = 0; i < SIZE; i++) {
        assert_int_equal(them[i].seat, i);
    }
    team_end();
}

static void
as_one_was_told(void **state)
{
    (void)state;
    team_begin();
    settings.groups = (med_groups_told){.is_told = true, .count = 1, .sizes = {2}};
    formed(5, true);
    assert_int_equal(groups_count(), 3);
    settings.groups.count = 0;
    formed(SIZE, true);
    assert_int_equal(groups_count(), 1);
    team_end();
}

/* Without memory for groups there are none, and nothing is lost. */
static void
without_memory(void **state)
{
    (void)state;
    for (uint32_t more = 0; more <= 5; more++) {
        team_begin();
        formed(SIZE, false);
        team_end();
        team_begin();
        blocks_most = 2 + more;
        formed(SIZE, false);
        assert_int_equal(groups_count(), more < 5 ? 1 : 2);
        team_end();
    }
}

/* Without memory for any the largest one counts that is there and not too large. */
static void
as_many_as_there_is_one_for(void **state)
{
    (void)state;
    team_begin();
    formed(1, false);
    const med_formation *alone = team.formation;
    formed(4, false);
    const med_formation *four = team.formation;
    blocks_most = blocks;
    assert_ptr_equal(med_formation_of(&team, 3), alone);
    assert_ptr_equal(med_formation_of(&team, 4), four);
    assert_ptr_equal(med_formation_of(&team, SIZE), four);
    team_end();
}

/* But what nobody looks at goes for it. */
static void
memory_of_others_serves(void **state)
{
    (void)state;
    team_begin();
    formed(1, false);
    formed(4, false);
    formed(5, false);
    blocks_most = blocks;
    formed(3, false);
    assert_int_equal(team.formation->size, 3);
    assert_int_equal(blocks, blocks_most);
    med_formation_tell(&team);
    formed(1, false);
    assert_int_equal(med_formation_of(&team, 4)->size, 4); /* in the place of that of five */
    assert_int_equal(med_formation_of(&team, 1)->size, 1);
    team_end();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_caches_where_they_are_bound),
        cmocka_unit_test(one_cache_is_one_group),
        cmocka_unit_test(by_numbers_where_they_are_not),
        cmocka_unit_test(each_way_has_its_own),
        cmocka_unit_test(not_all_are_kept),
        cmocka_unit_test(one_group_of_few_and_of_a_crowd),
        cmocka_unit_test(nobody_keeps_a_seat),
        cmocka_unit_test(as_one_was_told),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(as_many_as_there_is_one_for),
        cmocka_unit_test(memory_of_others_serves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
