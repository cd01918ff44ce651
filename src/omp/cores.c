/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cores of places: read from the machine when somebody asks first, and kept. */
#include "omp/cores.h"

#include "mrapi/heap_lent.h"
#include "omp/once.h"
#include "omp/places.h"
#include "omp/schedule/split.h"
#include "omp/team.h"
#include "port/port.h"

typedef struct core {
    uint32_t cache;  /* the first processor that has it, and one more */
    uint32_t memory; /* likewise */
    uint32_t class;
} core;

typedef struct cores {
    uint32_t classes;
    uint32_t ranks[MED_CLASSES_MAX];      /* as the system has them, the highest first */
    uint32_t capacities[MED_CLASSES_MAX]; /* 0: not told */
    core *of_places;                      /* NULL: there is no memory for it, or no place */
    bool places_share;                    /* one cache, all of them */
} cores;

/* ---- Classes --------------------------------------------------------------------------------- */

/* Its class, for which there is a place in the order if it is a new one. Of too many the last. */
static uint32_t
class_by_rank(cores *known, uint32_t processor)
{
    bool is_capacity;
    uint32_t rank = med_port_processor_rank(processor, &is_capacity);
    uint32_t at = 0;
    while (at < known->classes && known->ranks[at] > rank) {
        at++;
    }
    if (at < known->classes && known->ranks[at] == rank) {
        return at;
    }
    if (known->classes == MED_CLASSES_MAX) {
        return MED_CLASSES_MAX - 1;
    }
    for (uint32_t i = known->classes++; i > at; i--) {
        known->ranks[i] = known->ranks[i - 1];
        known->capacities[i] = known->capacities[i - 1];
    }
    known->ranks[at] = rank;
    known->capacities[at] = is_capacity ? rank : 0;
    return at;
}

/* Those that are in none are of the last. */
static uint32_t
class_as_told(const med_places *classes, uint32_t processor)
{
    for (uint32_t i = 0; i < classes->count; i++) {
        if (med_processor_set_has(&classes->list[i], processor)) {
            return i;
        }
    }
    return classes->count - 1;
}

static uint32_t
class_of(cores *known, const med_settings *settings, uint32_t processor)
{
    const med_places *told = &settings->uneven.classes;
    known->classes = told->count ? told->count : known->classes;
    return told->count ? class_as_told(told, processor) : class_by_rank(known, processor);
}

bool
med_cores_are_unlike(const med_settings *settings)
{
    cores known = {.classes = 0};
    uint32_t first = UINT32_MAX;
    med_processor_set all;
    med_port_processors_allowed(&all);
    MED_PROCESSOR_SET_EACH(i, &all) {
        uint32_t class = class_of(&known, settings, i);
        first = first == UINT32_MAX ? class : first;
        if (class != first || known.classes > 1) {
            return known.classes > 1;
        }
    }
    return false;
}

uint32_t
med_cores_count(const med_settings *settings)
{
    cores known = {.classes = 0};
    med_processor_set all;
    med_port_processors_allowed(&all);
    MED_PROCESSOR_SET_EACH(i, &all) {
        (void)class_of(&known, settings, i);
    }
    return known.classes;
}

/* ---- Of places ------------------------------------------------------------------------------- */

/* Twice: a class's number is known when all of them are. */
static void
read_all(cores *known)
{
    const med_settings *settings = med_settings_get();
    const med_places *places = &settings->places;
    known->of_places = places->count ? med_heap_lend(places->count * sizeof(core)) : NULL;
    for (uint32_t round = 0; known->of_places && round < 2; round++) {
        for (uint32_t i = 0; i < places->count; i++) {
            uint32_t processor = med_processor_set_next(&places->list[i], 0);
            core *of_place = &known->of_places[i];
            of_place->class = class_of(known, settings, processor);
            of_place->cache = med_port_processor_first(processor, MED_PORT_SHARES_CACHE) + 1;
            of_place->memory = med_port_processor_first(processor, MED_PORT_SHARES_MEMORY) + 1;
        }
    }
    known->classes += known->classes == 0;
    known->places_share = known->of_places != NULL;
    for (uint32_t i = 0; known->places_share && i < places->count; i++) {
        known->places_share = known->of_places[i].cache == known->of_places[0].cache;
    }
}

static const cores *
cores_get(void)
{
    static med_once once;
    static cores known;
    if (med_once_begin(&once)) {
        read_all(&known);
        med_once_end(&once);
    }
    return &known;
}

static const core *
core_of(const med_member *member)
{
    const core *of_places = member->placement.count ? cores_get()->of_places : NULL;
    return of_places ? &of_places[member->placement.place] : NULL;
}

uint32_t
med_cores_cache(const med_member *member)
{
    const core *own = core_of(member);
    return own ? own->cache : 0;
}

uint32_t
med_cores_memory(const med_member *member)
{
    const core *own = core_of(member);
    return own ? own->memory : 0;
}

static bool
processors_share(void)
{
    med_processor_set all;
    med_port_processors_allowed(&all);
    uint32_t lowest = med_processor_set_next(&all, 0);
    bool share = lowest < MED_PROCESSORS_MAX;
    uint32_t first = share ? med_port_processor_first(lowest, MED_PORT_SHARES_CACHE) : 0;
    MED_PROCESSOR_SET_EACH(i, &all) {
        share = share && med_port_processor_first(i, MED_PORT_SHARES_CACHE) == first;
    }
    return share;
}

bool
med_cores_share_cache(const med_member *leader)
{
    static med_once once;
    static bool share;
    if (leader->placement.count) {
        return cores_get()->places_share;
    }
    if (med_once_begin(&once)) {
        share = processors_share();
        med_once_end(&once);
    }
    return share;
}

uint32_t
med_cores_class(const med_member *member)
{
    const core *own = core_of(member);
    return own ? own->class : 0;
}

uint32_t
med_cores_classes(void)
{
    return cores_get()->classes;
}

uint32_t
med_cores_capacity(uint32_t class)
{
    return cores_get()->capacities[class];
}
