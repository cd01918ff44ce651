/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cores of places: read from the machine when somebody asks first, and kept. */
#include "omp/cores.h"

#include "omp/block.h"
#include "omp/once.h"
#include "omp/places.h"
#include "omp/team.h"
#include "port/port.h"

typedef struct core {
    uint32_t cache; /* the first processor that has it, and one more */
} core;

static uint32_t
first_processor(const med_place *place)
{
    for (uint32_t i = 0; i < MED_PLACE_WORDS; i++) {
        if (place->bits[i]) {
            return i * 64 + (uint32_t)__builtin_ctzll(place->bits[i]);
        }
    }
    return 0;
}

/* By place; NULL: there is no memory for it, and nothing is known. */
static const core *
cores_get(void)
{
    static med_once once;
    static core *cores;
    if (med_once_begin(&once)) {
        const med_places *places = &med_settings_get()->places;
        cores = med_block_take(places->count * sizeof *cores);
        for (uint32_t i = 0; cores && i < places->count; i++) {
            uint32_t processor = first_processor(&places->list[i]);
            cores[i].cache = med_port_processor_first(processor, MED_PORT_SHARES_CACHE) + 1;
        }
        med_once_end(&once);
    }
    return cores;
}

uint32_t
med_cores_cache(const med_member *member)
{
    const core *cores = member->placement.count ? cores_get() : NULL;
    return cores ? cores[member->placement.place].cache : 0;
}
