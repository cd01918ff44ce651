/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where a team is bound, on a machine that is not here: to places enough, or too few. */
#include "omp/bind.h"

#include <string.h>

#include "omp/affinity.h"
#include "omp/team.h"
#include "support/unit.h"

#define PLACES 4u
#define MEMBERS 16u

/* ---- The machine ----------------------------------------------------------------------------- */

static med_settings settings;
static med_processor_set places[PLACES];

const med_settings *
med_settings_get(void)
{
    return &settings;
}

void
med_affinity_display(const med_member *member, const char *format, size_t length)
{
    (void)member;
    (void)format;
    (void)length;
}

/* So many places, of so many processors each. */
static void
machine(uint32_t count, uint32_t each)
{
    memset(places, 0, sizeof places);
    for (uint32_t i = 0; i < count * each; i++) {
        med_processor_set_put(&places[i / each], i);
    }
    settings.places = (med_places){.count = count, .list = places};
    med_places_settle(&settings.places);
}

/* ---- Teams ----------------------------------------------------------------------------------- */

static med_icv icv;
static med_member leader;
static med_member them[MEMBERS];
static med_member *members[MEMBERS];
static med_team team;

static bool
is_dense(med_bind bind, uint32_t size)
{
    icv = (med_icv){.bind = bind};
    leader = (med_member){.icv = &icv, .placement = {.count = settings.places.count}};
    team = (med_team){.leader = &leader, .members = members, .size = size};
    for (uint32_t i = 0; i < MEMBERS; i++) {
        members[i] = &them[i];
    }
    med_bind_team(&team, MED_BIND_FALSE);
    return team.is_dense;
}

static void
places_that_are_enough(void **state)
{
    (void)state;
    machine(4, 1);
    assert_int_equal(settings.places.fewest, 1);
    assert_false(is_dense(MED_BIND_CLOSE, 4));
    assert_true(is_dense(MED_BIND_CLOSE, 5));
    assert_false(is_dense(MED_BIND_SPREAD, 2));
    machine(2, 4);
    assert_int_equal(settings.places.fewest, 4);
    assert_false(is_dense(MED_BIND_CLOSE, 8));
    assert_true(is_dense(MED_BIND_CLOSE, 9));
}

static void
one_place_for_all(void **state)
{
    (void)state;
    machine(2, 4);
    assert_false(is_dense(MED_BIND_PRIMARY, 4));
    assert_true(is_dense(MED_BIND_PRIMARY, 5));
}

static void
places_that_share_processors(void **state)
{
    (void)state;
    machine(3, 2);
    places[2] = places[1];
    med_places_settle(&settings.places);
    assert_int_equal(settings.places.fewest, 0);
    assert_true(is_dense(MED_BIND_CLOSE, 2));
}

static void
who_is_not_bound(void **state)
{
    (void)state;
    machine(0, 1);
    assert_false(is_dense(MED_BIND_TRUE, MEMBERS));
}

/* Members' lines are written where something changes, and not else. */
static void
nobody_is_told_twice(void **state)
{
    (void)state;
    machine(4, 1);
    (void)is_dense(MED_BIND_CLOSE, 4);
    them[1].placement.place = 77;
    med_bind_team(&team, MED_BIND_FALSE);
    assert_int_equal(them[1].placement.place, 77);
    leader.placement.place = 2;
    med_bind_team(&team, MED_BIND_FALSE);
    assert_int_equal(them[1].placement.place, 3);
    them[1].placement.place = 77;
    team.size = 3;
    med_bind_team(&team, MED_BIND_FALSE);
    assert_int_equal(them[1].placement.place, 3);
    med_bind_team(&team, MED_BIND_PRIMARY);
    assert_int_equal(them[1].placement.place, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_that_are_enough),       cmocka_unit_test(one_place_for_all),
        cmocka_unit_test(places_that_share_processors), cmocka_unit_test(who_is_not_bound),
        cmocka_unit_test(nobody_is_told_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
