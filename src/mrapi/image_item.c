/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The items of an image: which keys each section's have, which of them they must have, and what
 * their values mean.
 */
#include "mrapi/image_item.h"

#include "base/text.h"
#include "mrapi/mutex.h"
#include "mrapi/node.h"
#include "mrapi/object.h"

/* ---- Sections -------------------------------------------------------------------------------- */

enum {
    KEY_NUMBER,
    KEY_DOMAIN,
    KEY_NODE,
    KEY_PORT,
    KEY_ATTRIBUTES,
    KEY_LIMIT,
    KEY_SIZE,
    KEY_RESOURCE,
    KEY_ADDRESS,
    KEY_NODES,
    KEY_COUNT
};

#define HAS(key) (1u << (key))

const med_image_attribute med_image_attributes[] = {
    {MED_MUTEX_RECURSIVE, "recursive"},
    {MED_OBJECT_ERROR_EXT, "error-ext"},
    {MED_OBJECT_DOMAIN_SHARED, "domain-shared"},
    {MED_MUTEX_PRIORITY_INHERITANCE, "priority-inheritance"},
    {0, NULL},
};

#define ATTRIBUTES_OF_ALL (MED_OBJECT_ERROR_EXT | MED_OBJECT_DOMAIN_SHARED)
#define ATTRIBUTES_OF_MUTEXES                                                                      \
    (ATTRIBUTES_OF_ALL | MED_MUTEX_RECURSIVE | MED_MUTEX_PRIORITY_INHERITANCE)

typedef struct section_info {
    const char *name;
    uint32_t keys;
    uint32_t required;
    uint32_t attributes;
    const char *advice; /* which keys there are */
} section_info;

#define NUMBER_AND_DOMAIN (HAS(KEY_NUMBER) | HAS(KEY_DOMAIN))
#define OF_ENDPOINTS (HAS(KEY_PORT) | HAS(KEY_NODE) | HAS(KEY_DOMAIN))
#define OF_OBJECTS (NUMBER_AND_DOMAIN | HAS(KEY_ATTRIBUTES))

static const section_info sections[MED_IMAGE_SECTION_COUNT] = {
    [MED_IMAGE_DOMAINS] = {"domains", HAS(KEY_NUMBER), HAS(KEY_NUMBER), 0, "want number"},
    [MED_IMAGE_NODES] = {"nodes", NUMBER_AND_DOMAIN, NUMBER_AND_DOMAIN, 0,
                         "want number and domain"},
    [MED_IMAGE_ENDPOINTS] = {"endpoints", OF_ENDPOINTS, OF_ENDPOINTS, 0,
                             "want port, node and domain"},
    [MED_IMAGE_MUTEXES] = {"mutexes", OF_OBJECTS, NUMBER_AND_DOMAIN, ATTRIBUTES_OF_MUTEXES,
                           "want number, domain; or attributes"},
    [MED_IMAGE_SEMAPHORES] = {"semaphores", OF_OBJECTS | HAS(KEY_LIMIT),
                              NUMBER_AND_DOMAIN | HAS(KEY_LIMIT), ATTRIBUTES_OF_ALL,
                              "want number, domain, limit; or attributes"},
    [MED_IMAGE_RWLOCKS] = {"rwlocks", OF_OBJECTS | HAS(KEY_LIMIT),
                           NUMBER_AND_DOMAIN | HAS(KEY_LIMIT), ATTRIBUTES_OF_ALL,
                           "want number, domain, limit; or attributes"},
    [MED_IMAGE_SHMEMS] = {"shmems",
                          OF_OBJECTS | HAS(KEY_SIZE) | HAS(KEY_RESOURCE) | HAS(KEY_ADDRESS) |
                              HAS(KEY_NODES),
                          NUMBER_AND_DOMAIN | HAS(KEY_SIZE), ATTRIBUTES_OF_ALL,
                          "want number, domain, size; or resource, address, nodes, attributes"},
};

/* ---- The values of keys ---------------------------------------------------------------------- */

/* Each says what it wants when the value is wrong: false. */
typedef bool value_parse(med_image *image, med_word value, med_image_item *item, med_text *wanted);

static bool
wants(med_text *wanted, const char *what)
{
    med_text_string(wanted, what);
    return false;
}

static bool
wants_most(med_text *wanted, const char *before, uint32_t most, const char *behind)
{
    med_text_string(wanted, before);
    med_text_number(wanted, most);
    return wants(wanted, behind);
}

/* Of objects and nodes, those that others know them by: above are those that the library chooses,
 * which no image has when it is saved. */
static bool
number_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    bool object = item->section != MED_IMAGE_DOMAINS && item->section != MED_IMAGE_NODES;
    bool node = item->section == MED_IMAGE_NODES;
    uint32_t most = object ? MED_OBJECT_USER_MAX
                    : node ? MED_NODE_ANY_FIRST - 1
                           : MED_IMAGE_NUMBER_ANY - 1;
    (void)image;
    return med_word_number32(value, most, &item->number) ||
           wants_most(wanted, "want a number up to ", most, "");
}

static bool
node_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    (void)image;
    return med_word_number32(value, MED_NODE_ANY_FIRST - 1, &item->node) ||
           wants_most(wanted, "want a number up to ", MED_NODE_ANY_FIRST - 1, "");
}

static bool
port_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    (void)image;
    return med_word_number32(value, MED_IMAGE_PORT_MAX, &item->number) ||
           wants_most(wanted, "want a number up to ", MED_IMAGE_PORT_MAX, "");
}

static bool
domain_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    (void)image;
    uint32_t most = MED_IMAGE_NUMBER_ANY - 1;
    return med_word_number32(value, most, &item->domain) ||
           wants_most(wanted, "want a number up to ", most, "");
}

static bool
attributes_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    bool more = true;
    med_word left;
    (void)image;
    item->attributes = 0;
    if (!med_word_list_begin(value, &left)) {
        return wants(wanted, "want a list: [domain-shared], or []");
    }
    for (more = left.length > 0; more;) {
        med_word name = med_word_list_take(&left, &more);
        const med_image_attribute *known = med_image_attributes;
        while (known->name && !med_word_is(name, known->name)) {
            known++;
        }
        if (!(known->bit & sections[item->section].attributes)) {
            return wants(wanted,
                         sections[item->section].attributes == ATTRIBUTES_OF_ALL
                             ? "want error-ext, domain-shared"
                             : "want recursive, error-ext, domain-shared, priority-inheritance");
        }
        if (item->attributes & known->bit) {
            return wants(wanted, "want each attribute once");
        }
        item->attributes |= known->bit;
    }
    return true;
}

static bool
limit_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    (void)image;
    uint32_t most = med_limit_infos[MED_LIMIT_SHARERS].largest;
    return (med_word_number32(value, most, &item->limit) && item->limit > 0) ||
           wants_most(wanted, "want a number from 1 to ", most, "");
}

static bool
size_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    (void)image;
    return (med_word_number32(value, UINT32_MAX, &item->size_bytes) && item->size_bytes > 0) ||
           wants_most(wanted, "want a number of bytes from 1 to ", UINT32_MAX, "");
}

static bool
resource_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    static const struct {
        const char *name;
        med_port_place place;
        bool counted;
    } known[] = {{"any", MED_PORT_PLACE_ANY, false},
                 {"huge-pages", MED_PORT_PLACE_HUGE_PAGES, false},
                 {"numa", MED_PORT_PLACE_NUMA, true},
                 {"tight", MED_PORT_PLACE_TIGHT, true}};
    static const char any_place[] = "want any, huge-pages, numa N, or tight N";
    size_t space = 0;
    (void)image;
    while (space < value.length && value.at[space] != ' ') {
        space++;
    }
    med_word name = {.at = value.at, .length = space};
    med_word index = med_word_trimmed(value.at + space, value.length - space);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (med_word_is(name, known[i].name)) {
            item->place = (uint32_t)known[i].place;
            bool good = known[i].counted ? med_word_number32(index, UINT32_MAX, &item->place_index)
                                         : index.length == 0;
            return good || wants(wanted, any_place);
        }
    }
    return wants(wanted, any_place);
}

static bool
address_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    (void)image;
    bool prefixed = value.length > 2 && value.at[0] == '0' && value.at[1] == 'x';
    med_word digits = {.at = value.at + 2, .length = prefixed ? value.length - 2 : 0};
    bool good = med_word_number(digits, 16, UINT64_MAX, &item->address) && item->address > 0;
    return good || wants(wanted, "want an address as 0x7f0000000000, in small letters");
}

/* Lets the number at `at` sink to where none below it is larger. */
static void
heap_sink(unsigned *heap, uint32_t at, uint32_t count)
{
    for (uint32_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
        if (below + 1 < count && heap[below + 1] > heap[below]) {
            below++;
        }
        if (heap[at] >= heap[below]) {
            return;
        }
        unsigned number = heap[at];
        heap[at] = heap[below];
        heap[below] = number;
        at = below;
    }
}

/* Takes the numbers, at least one, from the largest on: do two that are alike follow each other? */
static bool
any_twice(unsigned *numbers, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;) {
        heap_sink(numbers, i, count);
    }
    while (count > 1) {
        unsigned largest = numbers[0];
        numbers[0] = numbers[--count];
        heap_sink(numbers, 0, count);
        if (numbers[0] == largest) {
            return true;
        }
    }
    return false;
}

/* In the list's other half: the order of the first is what was asked for. */
static bool
list_any_twice(const med_image *image, uint32_t count)
{
    unsigned *copy = image->list + MED_IMAGE_LIST_MAX;
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = image->list[i];
    }
    return any_twice(copy, count);
}

static bool
nodes_value(med_image *image, med_word value, med_image_item *item, med_text *wanted)
{
    bool more = true;
    bool ascends = true;
    med_word left;
    item->node_count = 0;
    if (!med_word_list_begin(value, &left) || left.length == 0) {
        return wants(wanted, "want a list of node numbers: [1, 2]");
    }
    while (more) {
        uint32_t number;
        med_word text = med_word_list_take(&left, &more);
        if (!med_word_number32(text, MED_IMAGE_NUMBER_ANY - 1, &number)) {
            return wants(wanted, "want a list of node numbers: [1, 2]");
        }
        if (item->node_count == MED_IMAGE_LIST_MAX) {
            return wants_most(wanted, "want at most ", MED_IMAGE_LIST_MAX, " nodes");
        }
        ascends = ascends && (item->node_count == 0 || number > image->list[item->node_count - 1]);
        image->list[item->node_count++] = number;
    }
    bool good = ascends || !list_any_twice(image, item->node_count);
    return good || wants(wanted, "want each node once");
}

static const struct {
    const char *name;
    value_parse *parse;
} keys[KEY_COUNT] = {
    [KEY_NUMBER] = {"number", number_value},
    [KEY_DOMAIN] = {"domain", domain_value},
    [KEY_NODE] = {"node", node_value},
    [KEY_PORT] = {"port", port_value},
    [KEY_ATTRIBUTES] = {"attributes", attributes_value},
    [KEY_LIMIT] = {"limit", limit_value},
    [KEY_SIZE] = {"size", size_value},
    [KEY_RESOURCE] = {"resource", resource_value},
    [KEY_ADDRESS] = {"address", address_value},
    [KEY_NODES] = {"nodes", nodes_value},
};

/* ---- Items ----------------------------------------------------------------------------------- */

const char *
med_image_section_name(med_image_section section)
{
    return sections[section].name;
}

static medley_status_t
item_key(
    med_image_reader *reader, uint32_t number, med_word text, uint32_t *given, med_image_item *item)
{
    const section_info *section = &sections[item->section];
    med_word key, value;
    if (!med_word_pair_split(text, &key, &value)) {
        return med_image_refuse_word(reader, number, MED_WORD_NO_PAIR, text, section->advice);
    }
    uint32_t k = 0;
    while (k < KEY_COUNT && !(med_word_is(key, keys[k].name) && (section->keys & HAS(k)))) {
        k++;
    }
    if (k == KEY_COUNT) {
        return med_image_refuse_word(reader, number, "unknown key", key, section->advice);
    }
    if (*given & HAS(k)) {
        return med_image_refuse_word(reader, number, "second", key,
                                     "want each key once, take one out");
    }
    *given |= HAS(k);
    med_text wanted = {.length = 0};
    if (keys[k].parse(reader->image, value, item, &wanted)) {
        return MEDLEY_OK;
    }
    return med_image_refuse_word(reader, number, keys[k].name, value, wanted.bytes);
}

medley_status_t
med_image_item_read(med_image_reader *reader, const med_line *first, med_image_item *item)
{
    *item = (med_image_item){.section = (med_image_section)reader->place,
                             .line = first->number,
                             .attributes = MED_OBJECT_DOMAIN_SHARED,
                             .place = MED_PORT_PLACE_ANY};
    const section_info *section = &sections[item->section];
    uint32_t given = 0;
    med_word text = med_word_trimmed(first->text.at + 2, first->text.length - 2);
    medley_status_t status = item_key(reader, first->number, text, &given, item);
    while (status == MEDLEY_OK) {
        med_image_reader before = *reader;
        med_line next;
        status = med_line_take(reader, &next);
        if (status == MEDLEY_EMPTY || (status == MEDLEY_OK && next.indent != 4)) {
            *reader = before;
            break;
        }
        if (status == MEDLEY_OK) {
            status = item_key(reader, next.number, next.text, &given, item);
        }
    }
    if (status != MEDLEY_OK && status != MEDLEY_EMPTY) {
        return status;
    }
    bool whole = (given & section->required) == section->required;
    return whole ? MEDLEY_OK
                 : med_image_refuse_word(reader, item->line, "a key is missing", med_no_word,
                                         section->advice);
}
