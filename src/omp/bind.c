/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads are bound to places. Each binds itself: its leader tells it where, as all of a region. */
#include "omp/bind.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/affinity.h"
#include "omp/places.h"
#include "omp/team.h"

static uint32_t
smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* `many` things lie in `few` parts, the first ones one longer where it does not come out even:
 * where a part begins, and in which one a thing is. */
static uint32_t
part_begin(uint32_t many, uint32_t few, uint32_t part)
{
    return part * (many / few) + smaller(part, many % few);
}

static uint32_t
part_of(uint32_t many, uint32_t few, uint32_t thing)
{
    uint32_t longer = many % few;
    uint32_t in_longer = longer * (many / few + 1);
    return thing < in_longer ? thing / (many / few + 1)
                             : longer + (thing - in_longer) / (many / few);
}

med_placement
med_bind_place(med_bind bind, const med_placement *leader, uint32_t members, uint32_t number)
{
    uint32_t places = leader->count;
    uint32_t from = leader->place - leader->first;
    med_placement own = *leader;
    if (bind == MED_BIND_PRIMARY || places == 0) {
        return own;
    }
    if (members > places) { /* one behind the other */
        own.place = leader->first + (from + part_of(members, places, number)) % places;
        if (bind == MED_BIND_SPREAD) {
            own.first = own.place;
            own.count = 1;
        }
    } else if (bind == MED_BIND_SPREAD) { /* each gets a part of the places */
        uint32_t part = (part_of(places, members, from) + number) % members;
        own.first = leader->first + part_begin(places, members, part);
        own.count = part_begin(places, members, part + 1) - part_begin(places, members, part);
        own.place = number == 0 ? leader->place : own.first;
    } else {
        own.place = leader->first + (from + number) % places;
    }
    return own;
}

uint32_t
med_bind_next(uint32_t bind, uint32_t wanted, uint32_t level)
{
    const med_settings *settings = med_settings_get();
    if (level < settings->binds_listed) {
        return settings->bind_list[level];
    }
    return wanted ? wanted : bind;
}

static med_bind
bind_of(const med_member *leader, uint32_t wanted)
{
    return (med_bind)(wanted ? wanted : leader->icv->bind);
}

/* More members than processors, at some place? */
static bool
is_dense(med_bind bind, uint32_t places, uint32_t members)
{
    uint64_t fewest = med_settings_get()->places.fewest;
    return places != 0 && members > (bind == MED_BIND_PRIMARY ? fewest : places * fewest);
}

/* Members' lines are left alone where nothing has changed: they would have to be fetched by the
 * leader, and by each of them again. */
void
med_bind_team(med_team *team, uint32_t wanted)
{
    const med_member *leader = team->leader;
    med_bind bind = bind_of(leader, wanted);
    med_placed placed = {.members = team->size, .bind = bind, .leader = leader->placement};
    if (memcmp(&team->placed, &placed, sizeof placed) == 0) {
        return;
    }
    team->placed = placed;
    team->is_dense = is_dense(bind, leader->placement.count, team->size);
    for (uint32_t i = 0; i < team->size; i++) {
        team->members[i]->placement = med_bind_place(bind, &leader->placement, team->size, i);
    }
}

void
med_bind_first(med_member *member, uint32_t members)
{
    const med_member *leader = member->team->leader;
    member->started_with = members;
    if (leader && leader->icv->bind) {
        med_bind bind = bind_of(leader, leader->bind_wanted);
        member->placement = med_bind_place(bind, &leader->placement, members, member->number);
    }
}

const med_processor_set *
med_bind_processors(const med_member *member)
{
    const med_placement *at = &member->placement;
    return at->count ? &med_settings_get()->places.list[at->place] : NULL;
}

static void
bind(med_member *member)
{
    (void)med_port_thread_bind(med_bind_processors(member)); /* else it runs where it may */
    med_heap_lent_move(member);
}

/* Once for each place, and size of the team. */
static void
show(med_member *member)
{
    uint64_t shown = (uint64_t)member->team->size << 32 | member->bound;
    if (member->shown != shown) {
        member->shown = shown;
        med_affinity_display(member, NULL, 0);
    }
}

static void
go(med_member *member)
{
    uint32_t wanted = member->placement.count ? member->placement.place + 1 : 0;
    /* A leader's thread is there already. */
    bool is_there = member->team->leader && !member->thread_of_team;
    if (wanted && member->bound != wanted && !is_there) {
        bind(member);
    }
    member->bound = wanted;
}

void
med_bind_here(med_member *member)
{
    go(member);
    if (member->icv->shown) {
        show(member);
    }
}

void
med_bind_begin(med_member *member)
{
    member->placement = (med_placement){.count = med_settings_get()->places.count};
    go(member);
}
