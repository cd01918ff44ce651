/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A system made of an image: by its first process, in the section of its name, so that nobody joins
 * before all of it is there. Whatever fails, the system goes as a whole; dying on the way leaves
 * what any dead process leaves, a file that the next start replaces.
 *
 * Objects are made as any node makes them, by a stand-in: a node without a thread that is gone
 * before the expected nodes come, so that they may be as many as the limit says. Domains come
 * first, since all others name theirs.
 */
#include "base/log.h"
#include "mrapi/domain.h"
#include "mrapi/image.h"
#include "mrapi/mutex.h"
#include "mrapi/rwl.h"
#include "mrapi/sem.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"

/* ---- Limits ---------------------------------------------------------------------------------- */

void
med_image_limits(const med_image *image, med_limits *limits)
{
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        if (image->limits[i]) {
            limits->of[i] = image->limits[i];
        }
    }
}

static const med_limit limit_of[MED_IMAGE_SECTION_COUNT] = {
    [MED_IMAGE_DOMAINS] = MED_LIMIT_DOMAINS,       [MED_IMAGE_NODES] = MED_LIMIT_NODES,
    [MED_IMAGE_ENDPOINTS] = MED_LIMIT_ENDPOINTS,   [MED_IMAGE_MUTEXES] = MED_LIMIT_MUTEXES,
    [MED_IMAGE_SEMAPHORES] = MED_LIMIT_SEMAPHORES, [MED_IMAGE_RWLOCKS] = MED_LIMIT_RWLOCKS,
    [MED_IMAGE_SHMEMS] = MED_LIMIT_SHMEMS,
};

static medley_status_t
limit_refuse(med_image *image, uint32_t line, const med_limits *limits, med_limit which)
{
    char name[32];
    med_text advice = {.length = 0};
    med_image_limit_name(which, name);
    med_text_string(&advice, "raise '");
    med_text_string(&advice, name);
    med_text_string(&advice, "' in 'limits'");
    med_text what = {.length = 0};
    med_text_string(&what, "more than the limit of ");
    med_text_count(&what, limits->of[which], name);
    return med_image_refuse(image, line, what.bytes, NULL, 0, advice.bytes);
}

medley_status_t
med_image_check(med_image *image, const med_limits *limits)
{
    uint32_t counts[MED_IMAGE_SECTION_COUNT] = {0};
    med_image_reader reader;
    med_image_item item;
    medley_status_t status;
    med_image_rewind(image, &reader);
    while ((status = med_image_next(&reader, &item)) == MEDLEY_OK) {
        med_limit which = limit_of[item.section];
        if (++counts[item.section] > limits->of[which]) {
            return limit_refuse(image, item.line, limits, which);
        }
        if (item.limit > limits->sharers) {
            return limit_refuse(image, item.line, limits, MED_LIMIT_SHARERS);
        }
        if (item.node_count > limits->nodes) {
            return limit_refuse(image, item.line, limits, MED_LIMIT_NODES);
        }
    }
    return status == MEDLEY_EMPTY ? MEDLEY_OK : status;
}

/* ---- Items ----------------------------------------------------------------------------------- */

typedef struct making {
    med_system *system;
    med_image *image;
    med_self *stand_in; /* NULL until an object needs it */
} making;

static bool
domain_there(const making *m, uint32_t number)
{
    uint32_t index, generation;
    med_key key = {.high = 0, .low = number};
    return med_table_find(&m->system->domains, key, &index, &generation) == MEDLEY_OK;
}

static medley_status_t
domain_make(making *m, const med_image_item *item)
{
    return domain_there(m, item->number) ? MEDLEY_ERR_EXISTS
                                         : med_domain_join(m->system, item->number);
}

static medley_status_t
shmem_make(making *m, const med_image_item *item, med_handle *handle)
{
    med_shmem_request request = {.number = item->number,
                                 .size_bytes = item->size_bytes,
                                 .attributes = item->attributes,
                                 .place = item->place,
                                 .place_index = item->place_index,
                                 .address = item->address,
                                 .nodes = m->image->list,
                                 .node_count = item->node_count};
    return med_shmem_create(m->stand_in, &request, handle);
}

static medley_status_t
object_make(making *m, const med_image_item *item)
{
    med_handle handle;
    medley_status_t status = MEDLEY_OK;
    if (!m->stand_in) {
        med_node_request request = {.domain = item->domain, .node = MED_NODE_ANY};
        status = med_node_place(m->system, &request, &m->stand_in);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    m->stand_in->domain = item->domain; /* the creator's, of what it makes */
    switch (item->section) {
    case MED_IMAGE_MUTEXES:
        return med_mutex_create(m->stand_in, item->number, item->attributes, &handle);
    case MED_IMAGE_SEMAPHORES:
        return med_sem_create(m->stand_in, item->number, item->attributes, item->limit, &handle);
    case MED_IMAGE_RWLOCKS:
        return med_rwl_create(m->stand_in, item->number, item->attributes, item->limit, &handle);
    default:
        return shmem_make(m, item, &handle);
    }
}

/* The line that made what stands in the way. */
static uint32_t
line_of_first(med_image *image, const med_image_item *second)
{
    med_image_reader reader;
    med_image_item item;
    med_image_rewind(image, &reader);
    while (med_image_next(&reader, &item) == MEDLEY_OK) {
        bool in_domain = item.section == MED_IMAGE_NODES || item.section == MED_IMAGE_ENDPOINTS;
        bool same = item.section == second->section && item.number == second->number &&
                    item.node == second->node && (!in_domain || item.domain == second->domain);
        if (same) {
            return item.line;
        }
    }
    return second->line;
}

static medley_status_t
failed(const making *m, const med_image_item *item, medley_status_t status)
{
    med_text what = {.length = 0};
    med_text advice = {.length = 0};
    if (status == MEDLEY_ERR_EXISTS) {
        med_text_string(&what, item->section == MED_IMAGE_ENDPOINTS ? "port " : "number ");
        med_text_number(&what, item->number);
        med_text_string(&what, " is there already");
        med_text_string(&advice, "line ");
        med_text_number(&advice, line_of_first(m->image, item));
        med_text_string(&advice, " has it; choose another");
    } else {
        med_text_string(&what, "this cannot be made");
        med_text_string(&advice, medley_status_text(status));
    }
    return med_image_refuse(m->image, item->line, what.bytes, NULL, 0, advice.bytes);
}

static medley_status_t
item_make(making *m, const med_image_item *item)
{
    medley_status_t status;
    if (item->section != MED_IMAGE_DOMAINS && !domain_there(m, item->domain)) {
        med_text what = {.length = 0};
        med_text_string(&what, "domain ");
        med_text_number(&what, item->domain);
        med_text_string(&what, " is not there");
        return med_image_refuse(m->image, item->line, what.bytes, NULL, 0, "add it to 'domains'");
    }
    switch (item->section) {
    case MED_IMAGE_DOMAINS:
        status = domain_make(m, item);
        break;
    case MED_IMAGE_NODES:
        status = med_node_expect(m->system, item->domain, item->number);
        break;
    case MED_IMAGE_ENDPOINTS:
        status = med_endpoint_expect(m->system, item->domain, item->node, item->number);
        break;
    default:
        status = object_make(m, item);
        break;
    }
    return status == MEDLEY_OK ? status : failed(m, item, status);
}

static medley_status_t
pass(making *m, bool (*wanted)(med_image_section section))
{
    med_image_reader reader;
    med_image_item item;
    medley_status_t status;
    med_image_rewind(m->image, &reader);
    while ((status = med_image_next(&reader, &item)) == MEDLEY_OK) {
        if (m->image->ended && m->image->ended()) {
            return MEDLEY_ERR_CANCELED;
        }
        if (wanted(item.section)) {
            status = item_make(m, &item);
        }
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    return status == MEDLEY_EMPTY ? MEDLEY_OK : status;
}

static bool
is_domain(med_image_section section)
{
    return section == MED_IMAGE_DOMAINS;
}

static bool
is_node(med_image_section section)
{
    return section == MED_IMAGE_NODES;
}

static bool
is_object(med_image_section section)
{
    return !is_domain(section) && !is_node(section);
}

medley_status_t
med_image_apply(med_system *system, med_image *image)
{
    making m = {.system = system, .image = image};
    medley_status_t status = pass(&m, is_domain);
    if (status == MEDLEY_OK) {
        status = pass(&m, is_object);
    }
    if (m.stand_in) {
        med_node_recover(system, m.stand_in->index, m.stand_in->generation);
    }
    return status == MEDLEY_OK ? pass(&m, is_node) : status;
}

/* ---- The variable ---------------------------------------------------------------------------- */

static size_t
name_length(const char *name)
{
    size_t length = 0;
    while (name[length]) {
        length++;
    }
    return length;
}

medley_status_t
med_image_open_environment(const char *name, med_image *image)
{
    const char *path = med_port_environment("MEDLEY_SYSTEM_IMAGE");
    if (!path || !*path) {
        return MEDLEY_EMPTY;
    }
    medley_status_t status =
        med_image_open(path, "there is no such file; see MEDLEY_SYSTEM_IMAGE", image);
    if (status == MEDLEY_OK && image->name[0] &&
        !med_text_equal(image->name, name, sizeof image->name)) {
        med_text advice = {.length = 0};
        med_text_string(&advice, "set MEDLEY_SYSTEM to it, or take it out: this system is '");
        med_text_string(&advice, name);
        med_text_string(&advice, "'");
        status = med_image_refuse(image, image->name_line, "another system's name", image->name,
                                  name_length(image->name), advice.bytes);
        med_image_close(image);
    }
    return status;
}
