/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Formations. What may run together: a team's leader, between two regions, with its members at
 * the gate: they look at barriers that they departed from, and at their seats when they are told
 * of a region.
 *
 * A team keeps some formations. One that nobody has been told of last is nobody's: all who were
 * told of a region have come to its end, and whoever was told of another since has left this one
 * behind.
 *
 * How members are placed follows from how many they are, how they are bound, and where their leader
 * is: so these tell whether a formation that was made is right, and nothing is worked out twice.
 */
#include "omp/formation.h"

#include "mrapi/heap_lent.h"
#include "omp/cores.h"
#include "omp/groups.h"
#include "omp/quota.h"
#include "omp/team.h"
#include "omp/team_keep.h"

static bool
is_equal(const med_placement *a, const med_placement *b)
{
    return a->place == b->place && a->first == b->first && a->count == b->count;
}

static bool
is_as(const med_formation *formation, const med_formation *wanted)
{
    return formation->size == wanted->size && formation->is_in_groups == wanted->is_in_groups &&
           formation->bind == wanted->bind && is_equal(&formation->placement, &wanted->placement);
}

/* The first of them, from here on: so those that were not used for longest come last. */
static med_formation *
find(med_team *team, const med_formation *wanted)
{
    med_formation **at = &team->formations;
    while (*at && !is_as(*at, wanted)) {
        at = &(*at)->next;
    }
    med_formation *formation = *at;
    if (formation) {
        *at = formation->next;
        formation->next = team->formations;
        team->formations = formation;
    }
    return formation;
}

static void
destroy(med_formation *formation)
{
    med_heap_take_back((void *)formation->seats);
    med_heap_take_back(formation->barrier);
    med_heap_take_back(formation);
}

/* ---- How many are kept ----------------------------------------------------------------------- */

#define KEPT_MOST 16u

static bool
is_in_use(const med_team *team, const med_formation *formation)
{
    bool is = team->formation == formation || team->told == formation;
    for (uint32_t i = 0; i < team->ready && !is; i++) {
        is = team->members[i]->departed == formation->barrier;
    }
    return is;
}

void
med_formation_tell(med_team *team)
{
    const med_formation *last = team->told;
    for (uint32_t i = 0; last && last != team->formation && i < last->size; i++) {
        team->members[i]->departed = last->barrier;
    }
    team->told = team->formation;
}

static void
drop(med_team *team, med_formation **at)
{
    static const uint32_t nobodys;
    med_formation *dropped = *at;
    *at = dropped->next;
    if (dropped->seats && team->seats == dropped->seats) {
        team->seats = &nobodys; /* others may come to lie there */
    }
    med_task_await_visitors(team);
    destroy(dropped);
}

/* Of those beyond a number the one goes that was not used for longest; but for that of one member,
 * which a team falls back on. False: all are in use. */
static bool
drop_one(med_team *team, uint32_t kept)
{
    med_formation **oldest = NULL;
    uint32_t count = 0;
    for (med_formation **at = &team->formations; *at; at = &(*at)->next) {
        if (++count > kept && (*at)->size > 1 && !is_in_use(team, *at)) {
            oldest = at;
        }
    }
    if (oldest) {
        drop(team, oldest);
    }
    return oldest != NULL;
}

/* ---- Made ------------------------------------------------------------------------------------ */

/* With room for its barrier. NULL: there is no memory. */
static med_formation *
take_memory(size_t barrier_bytes)
{
    med_formation *formation = med_heap_lend(sizeof *formation);
    med_barrier *barrier = med_heap_lend(barrier_bytes);
    if (!formation || !barrier) {
        med_heap_take_back(formation);
        med_heap_take_back(barrier);
        return NULL;
    }
    formation->barrier = barrier;
    return formation;
}

/* As that one; NULL: there is no memory, and none that goes is left. The seats are the formation's
 * from here on. */
static med_formation *
make(med_team *team, const med_formation *wanted, const uint8_t *leads)
{
    size_t barrier_bytes = med_barrier_size(wanted->size, leads);
    while (drop_one(team, KEPT_MOST - 1)) {
    }
    med_formation *formation = take_memory(barrier_bytes);
    while (!formation && drop_one(team, 0)) {
        formation = take_memory(barrier_bytes);
    }
    if (!formation) {
        return NULL;
    }
    med_barrier *barrier = formation->barrier;
    med_barrier_init(barrier, wanted->size, leads, MED_PORT_SCOPE_PROCESS);
    *formation = *wanted;
    formation->barrier = barrier;
    formation->next = team->formations;
    team->formations = formation;
    return formation;
}

static med_formation *
find_or_make(med_team *team, const med_formation *wanted)
{
    med_formation *formation = find(team, wanted);
    return formation ? formation : make(team, wanted, NULL);
}

med_formation *
med_formation_of(med_team *team, uint32_t size)
{
    med_formation wanted = {.size = size};
    med_formation *formation = find_or_make(team, &wanted);
    while (!formation && wanted.size > 1) {
        med_team_report_fewer(--wanted.size, MED_TEAM_NO_MORE);
        formation = find_or_make(team, &wanted);
    }
    return formation;
}

/* ---- In groups ------------------------------------------------------------------------------- */

static uint32_t
group_most(const med_team *team)
{
    return med_cores_share_cache(team->leader) ? MED_GROUP_MOST_OF_CACHE : MED_GROUP_MOST;
}

/* Where threads are not bound, nothing is known of who is near whom. */
static void
groups_fill(med_groups *groups, const med_team *team, uint32_t *caches, uint32_t *memories)
{
    const med_groups_told *told = &med_settings_get()->groups;
    if (told->is_told) {
        med_groups_make_told(groups, told);
        return;
    }
    for (uint32_t i = 0; i < team->size; i++) {
        caches[i] = med_cores_cache(team->members[i]);
        memories[i] = med_cores_memory(team->members[i]);
    }
    med_groups_make(groups, caches, memories);
}

/* The seats, and behind them what is of use while groups are made. NULL: there is no memory. */
static med_formation *
make_in_groups(med_team *team, const med_formation *wanted)
{
    uint32_t size = team->size;
    uint32_t *seats = med_heap_lend(size * sizeof *seats);
    uint32_t *shared = med_heap_lend(2 * sizeof *shared * size);
    uint8_t *leads = med_heap_lend(2 * sizeof *leads * size);
    med_formation *made = NULL;
    if (seats && shared && leads) {
        med_groups groups = {.size = size,
                             .most = group_most(team),
                             .seats = seats,
                             .leads = leads,
                             .begins = leads + size};
        med_formation with_seats = *wanted;
        groups_fill(&groups, team, shared, shared + size);
        with_seats.seats = seats;
        made = make(team, &with_seats, leads);
    }
    if (!made) {
        med_heap_take_back(seats);
    }
    med_heap_take_back(shared);
    med_heap_take_back(leads);
    return made;
}

/* In a crowd a leader that waits to run again holds all of his group up. */
static bool
is_in_groups(const med_team *team)
{
    const med_groups_told *told = &med_settings_get()->groups;
    if (told->is_told) {
        return told->count > 0 && team->size > told->sizes[0];
    }
    return team->size > MED_GROUP_MOST && !team->is_dense && !med_quota_is_crowd(team->size) &&
           team->size > group_most(team); /* the last: it may ask the machine */
}

static med_formation *
make_wanted(med_team *team, const med_formation *wanted)
{
    return wanted->is_in_groups ? make_in_groups(team, wanted) : make(team, wanted, NULL);
}

static void
seats_tell(med_team *team)
{
    const uint32_t *seats = team->formation->seats;
    uint32_t count = seats ? team->size : team->ready;
    for (uint32_t i = 0; i < count; i++) {
        team->members[i]->seat = seats ? seats[i] : i;
    }
    team->seats = seats;
}

void
med_formation_choose(med_team *team)
{
    const med_member *leader = team->leader;
    med_formation wanted = {.size = team->size, .is_in_groups = is_in_groups(team)};
    if (wanted.is_in_groups && leader->icv->bind && leader->placement.count) {
        wanted.bind = leader->bind_wanted ? leader->bind_wanted : leader->icv->bind;
        wanted.placement = leader->placement;
    }
    if (!is_as(team->formation, &wanted)) {
        med_formation *formation = find(team, &wanted);
        formation = formation ? formation : make_wanted(team, &wanted);
        team->formation = formation ? formation : team->formation;
    }
    if (team->formation->seats != team->seats) {
        seats_tell(team);
    }
}

void
med_formations_destroy(med_team *team)
{
    while (team->formations) {
        med_formation *formation = team->formations;
        team->formations = formation->next;
        destroy(formation);
    }
}
