/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Places: read, and made from the machine. */
#include "omp/places.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "port/port.h"

/* ---- Sets ------------------------------------------------------------------------------------ */

/* All numbers so much higher, or lower; false: one of them would be none. */
static bool
place_move(const med_processor_set *place, int64_t by, med_processor_set *moved)
{
    memset(moved, 0, sizeof *moved);
    MED_PROCESSOR_SET_EACH(i, place) {
        int64_t to = (int64_t)i + by;
        if (to < 0 || to >= (int64_t)MED_PROCESSORS_MAX) {
            return false;
        }
        med_processor_set_put(moved, (uint32_t)to);
    }
    return true;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool
places_add(med_places *places, const med_processor_set *place)
{
    uint32_t room = places->count & (places->count - 1) ? 0 : 2 * places->count + 1;
    if (room) { /* full at each power of two */
        med_processor_set *list = med_heap_lend(room * sizeof *list);
        if (!list) {
            return false;
        }
        if (places->count) {
            memcpy(list, places->list, places->count * sizeof *list);
        }
        med_heap_take_back(places->list);
        places->list = list;
    }
    places->list[places->count++] = *place;
    return true;
}

/* The last one that is the same. False: there is none. */
static bool
places_drop(med_places *places, const med_processor_set *place)
{
    for (uint32_t i = places->count; i-- > 0;) {
        if (memcmp(&places->list[i], place, sizeof *place) == 0) {
            places->count--;
            memmove(&places->list[i], &places->list[i + 1],
                    (places->count - i) * sizeof *places->list);
            return true;
        }
    }
    return false;
}

static void
places_give(med_places *places)
{
    med_heap_take_back(places->list);
    *places = (med_places){.count = 0};
}

/* Without the processors that the program may not use, and without places of no others. */
static bool
places_cut(med_places *places)
{
    med_processor_set allowed;
    uint32_t kept = 0;
    med_port_processors_allowed(&allowed);
    for (uint32_t i = 0; i < places->count; i++) {
        if (med_processor_set_cut(&places->list[i], &allowed)) {
            places->list[kept++] = places->list[i];
        }
    }
    places->useless = places->count - kept;
    places->count = kept;
    if (kept == 0) {
        places_give(places);
    }
    return kept != 0;
}

void
med_places_settle(med_places *places)
{
    med_processor_set all = {{0}};
    uint32_t fewest = UINT32_MAX;
    for (uint32_t i = 0; i < places->count; i++) {
        uint32_t count = med_processor_set_count(&places->list[i]);
        fewest = count < fewest ? count : fewest;
        fewest = med_processor_set_join(&all, &places->list[i]) ? fewest : 0;
    }
    places->fewest = fewest;
}

/* ---- From the machine ------------------------------------------------------------------------ */

/* Takes a processor out of those that are left, and all that share something with it. */
static med_processor_set
place_take(med_processor_set *left, uint32_t processor, med_port_shares shares)
{
    med_processor_set place = med_processor_set_of(processor);
    uint32_t first = med_port_processor_first(processor, shares);
    med_processor_set_drop(left, processor);
    MED_PROCESSOR_SET_EACH(i, left) {
        if (med_port_processor_first(i, shares) == first) {
            med_processor_set_put(&place, i);
            med_processor_set_drop(left, i);
        }
    }
    return place;
}

/* One for each set of processors with the same in common, or for each one; of those no more than
 * `most`. */
static bool
places_of(med_places *places, bool shared, med_port_shares shares, uint64_t most)
{
    med_processor_set left;
    med_port_processors_allowed(&left);
    MED_PROCESSOR_SET_EACH(i, &left) {
        if (places->count == most) {
            break;
        }
        med_processor_set place = shared ? place_take(&left, i, shares) : med_processor_set_of(i);
        if (!places_add(places, &place)) {
            return false;
        }
    }
    return places->count > 0;
}

bool
med_places_of_processors(med_places *places)
{
    *places = (med_places){.count = 0};
    return places_of(places, false, MED_PORT_SHARES_CORE, UINT64_MAX);
}

/* False: it is not a name. */
static bool
name_read(med_value *value, med_places *places, bool *good)
{
    static const char *const names[] = {"cores", "ll_caches", "numa_domains", "sockets", "threads"};
    static const med_port_shares shares[] = {MED_PORT_SHARES_CORE, MED_PORT_SHARES_CACHE,
                                             MED_PORT_SHARES_MEMORY, MED_PORT_SHARES_PACKAGE,
                                             MED_PORT_SHARES_CORE};
    uint32_t name;
    uint64_t most = UINT64_MAX;
    if (!med_value_one_of(value, names, 5, &name)) {
        return false;
    }
    *good = !med_value_mark(value, '(') ||
            (med_value_number(value, 1, UINT32_MAX, &most) && med_value_mark(value, ')'));
    *good = *good && med_value_end(value) && places_of(places, name != 4, shares[name], most);
    return true;
}

/* ---- From a list ----------------------------------------------------------------------------- */

static bool
stride_read(med_value *value, int64_t *stride)
{
    uint64_t number;
    bool is_less = med_value_mark(value, '-');
    if (!med_value_number(value, 0, MED_PROCESSORS_MAX, &number)) {
        return false;
    }
    *stride = is_less ? -(int64_t)number : (int64_t)number;
    return true;
}

/* [:length[:stride]] */
static bool
interval_read(med_value *value, uint64_t *length, int64_t *stride)
{
    *length = 1;
    *stride = 1;
    if (!med_value_mark(value, ':')) {
        return true;
    }
    return med_value_number(value, 1, MED_PROCESSORS_MAX, length) &&
           (!med_value_mark(value, ':') || stride_read(value, stride));
}

static bool
number_read(med_value *value, uint32_t *processor)
{
    uint64_t number;
    bool is_one = med_value_number(value, 0, MED_PROCESSORS_MAX - 1, &number);
    *processor = (uint32_t)number;
    return is_one;
}

/* One processor, or an interval of them; put in, or taken out. */
static bool
resource_read(med_value *value, med_processor_set *place)
{
    bool in = !med_value_mark(value, '!');
    uint32_t processor;
    uint64_t length;
    int64_t stride;
    if (!number_read(value, &processor) || !interval_read(value, &length, &stride)) {
        return false;
    }
    for (uint64_t i = 0; i < length; i++) {
        int64_t at = (int64_t)processor + (int64_t)i * stride;
        if (at < 0 || at >= (int64_t)MED_PROCESSORS_MAX) {
            return false;
        }
        (in ? med_processor_set_put : med_processor_set_drop)(place, (uint32_t)at);
    }
    return true;
}

/* {list}, or a number. */
static bool
place_read(med_value *value, med_processor_set *place)
{
    uint32_t processor;
    memset(place, 0, sizeof *place);
    if (!med_value_mark(value, '{')) {
        if (!number_read(value, &processor)) {
            return false;
        }
        med_processor_set_put(place, processor);
        return true;
    }
    do {
        if (!resource_read(value, place)) {
            return false;
        }
    } while (med_value_mark(value, ','));
    return med_value_mark(value, '}');
}

static bool
places_read_some(med_value *value, med_places *places)
{
    med_processor_set place, moved;
    uint64_t length;
    int64_t stride;
    if (med_value_mark(value, '!')) {
        return place_read(value, &place) && places_drop(places, &place);
    }
    if (!place_read(value, &place) || !interval_read(value, &length, &stride)) {
        return false;
    }
    for (uint64_t i = 0; i < length; i++) {
        if (!place_move(&place, (int64_t)i * stride, &moved) || !places_add(places, &moved)) {
            return false;
        }
    }
    return true;
}

bool
med_places_read(med_value *value, med_places *places)
{
    bool good = true;
    *places = (med_places){.count = 0};
    if (!name_read(value, places, &good)) {
        do {
            good = places_read_some(value, places);
        } while (good && med_value_mark(value, ','));
        good = good && med_value_end(value);
    }
    if (!good) {
        places_give(places);
    }
    return good && places_cut(places);
}

/* ---- The plain form -------------------------------------------------------------------------- */

/* first[-last[:stride]] */
static bool
range_read(med_value *value, med_places *places)
{
    uint32_t first, last;
    uint64_t stride = 1;
    if (!number_read(value, &first)) {
        return false;
    }
    last = first;
    if (med_value_mark(value, '-') &&
        (!number_read(value, &last) || last < first ||
         (med_value_mark(value, ':') &&
          !med_value_number(value, 1, MED_PROCESSORS_MAX, &stride)))) {
        return false;
    }
    for (uint64_t i = first; i <= last; i += stride) {
        med_processor_set place = med_processor_set_of((uint32_t)i);
        if (!places_add(places, &place)) {
            return false;
        }
    }
    return true;
}

bool
med_places_read_plain(med_value *value, med_places *places)
{
    bool good = true;
    *places = (med_places){.count = 0};
    do {
        good = range_read(value, places);
        (void)med_value_mark(value, ',');
    } while (good && !med_value_end(value));
    if (!good) {
        places_give(places);
    }
    return good && places_cut(places);
}
