/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expected endpoints, of an image: rows that nobody owns, and that keep a place. They are made
 * before anybody comes; whose one is replaces it by his own (endpoint.c), and when that goes, such
 * a row replaces it: as node_expected.c has it, with the same steps and deaths.
 *
 * An endpoint's name is longer than a key: the key is of owner 0, and one of those that follow the
 * name's hash. A place has its key for good, taken or not, so that no two ever want the same. How
 * many there may be of a hash the header says, so that whoever looks for one looks at all of them:
 * where a neighbour is taken, the one that was looked for may still be there. It is none in most
 * systems, and one in nearly all others; names that were chosen for their hash are refused where
 * they are too many.
 */
#include "mcapi/endpoint.h"

#include "mrapi/image.h"
#include "mrapi/system.h"

_Static_assert(MED_IMAGE_PORT_MAX == MED_ENDPOINT_PORT_ANY_FIRST - 1,
               "all that nobody else chooses");

#define KEYS_MOST 64u

static uint32_t
name_hash(const med_endpoint_name *name)
{
    uint32_t h = name->port * 0x9e3779b1u;
    h = (h ^ h >> 15 ^ name->node) * 0x85ebca77u;
    h = (h ^ h >> 13 ^ name->domain) * 0xc2b2ae3du;
    return h ^ h >> 16;
}

static bool
is_of(const med_system *system, uint32_t index, const med_endpoint_name *name)
{
    const med_endpoint_row *row = med_endpoint_at(system, index);
    /* Relaxed, all: A1 stands before it, in the search. */
    return atomic32_load_relaxed(&row->expected.domain) == name->domain &&
           atomic32_load_relaxed(&row->expected.node) == name->node &&
           atomic32_load_relaxed(&row->expected.port) == name->port;
}

bool
med_endpoint_expected_find(const med_system *system,
                           const med_endpoint_name *name,
                           med_endpoint_place *place,
                           uint32_t *index,
                           uint32_t *generation)
{
    /* Relaxed: published with the system. It may be written over. */
    uint32_t keys = atomic32_load_relaxed(&system->header->expected_keys);
    for (uint32_t n = 0; n < keys && n < KEYS_MOST; n++) {
        *place = (med_endpoint_place){.name = *name, .key_low = name_hash(name) + n};
        med_key key = {.high = 0, .low = place->key_low};
        if (med_table_find(&system->endpoints, key, index, generation) == MEDLEY_OK &&
            is_of(system, *index, name)) {
            return true;
        }
    }
    return false;
}

/* Relaxed, all: published with the row (T1 in table.c). */
static void
place_put(med_endpoint_row *row, const med_endpoint_place *place)
{
    atomic32_store_relaxed(&row->expected.domain, place->name.domain);
    atomic32_store_relaxed(&row->expected.node, place->name.node);
    atomic32_store_relaxed(&row->expected.port, place->name.port);
    atomic32_store_relaxed(&row->expected.key_low, place->key_low);
}

/* `closing` stays: it says of the life before that it died. */
static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)index;
    (void)generation;
    place_put((med_endpoint_row *)(void *)row, context);
}

static med_table_insertion
insertion_of(med_endpoint_place *place)
{
    return (med_table_insertion){
        .key = {.high = 0, .low = place->key_low}, .fill = fill, .context = place};
}

medley_status_t
med_endpoint_expect(med_system *system, uint32_t domain, uint32_t node, uint32_t port)
{
    med_endpoint_place place = {.name = {domain, node, port}};
    for (uint32_t n = 0; n < KEYS_MOST; n++) {
        place.key_low = name_hash(&place.name) + n;
        med_table_insertion insertion = insertion_of(&place);
        medley_status_t status = med_table_insert(&system->endpoints, &insertion);
        if (status == MEDLEY_ERR_EXISTS && !is_of(system, insertion.index, &place.name)) {
            continue;
        }
        /* Relaxed, both: nobody else is there yet. */
        if (status == MEDLEY_OK && atomic32_load_relaxed(&system->header->expected_keys) <= n) {
            atomic32_store_relaxed(&system->header->expected_keys, n + 1);
        }
        return status;
    }
    return MEDLEY_ERR_LIMIT;
}

void
med_endpoint_place_keep(med_endpoint_row *row, const med_endpoint_place *place)
{
    atomic32_store_relaxed(&row->is_kept, place != NULL); /* relaxed: as place_put */
    if (place) {
        place_put(row, place);
    }
}

medley_status_t
med_endpoint_remove(const med_system *system, uint32_t index, uint32_t generation)
{
    const med_endpoint_row *row = med_endpoint_at(system, index);
    /* Relaxed, all: constant while that life is LIVE, and of another nothing is removed. */
    if (!atomic32_load_relaxed(&row->is_kept)) {
        return med_table_remove(&system->endpoints, index, generation);
    }
    med_endpoint_place place = {.name = {.domain = atomic32_load_relaxed(&row->expected.domain),
                                         .node = atomic32_load_relaxed(&row->expected.node),
                                         .port = atomic32_load_relaxed(&row->expected.port)},
                                .key_low = atomic32_load_relaxed(&row->expected.key_low)};
    med_table_insertion again = insertion_of(&place);
    return med_table_remove_for(&system->endpoints, index, generation, &again);
}
