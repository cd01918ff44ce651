/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading an image. One thread reads one image; nothing here is shared.
 *
 * A text is lines; a line, without its comment, is nothing, or one of these, told apart by how far
 * it is indented and where it stands:
 *
 *   key: value            a word of the top
 *   section:              and what follows belongs to it
 *     limit: number       in `limits`
 *     - key: value        in a list of items: one begins
 *       key: value        and goes on
 *
 * What belongs to `programs` is for `medley run` alone, which reads it with a YAML library: here it
 * is skipped, whatever it is, up to the next word of the top.
 *
 * Each step takes at least one line, and looks at each of its bytes a bounded number of times. Only
 * a list of nodes that does not ascend takes more: n log n comparisons, to see that each is there
 * once.
 */
#include "mrapi/image.h"

#include "mrapi/image_item.h"
#include "mrapi/image_text.h"

#define FORMAT_NUMBER 1u
#define HAS(bit) (1u << (bit))

/* ---- Limits ---------------------------------------------------------------------------------- */

static const char *
without_prefix(const char *word, const char *prefix)
{
    size_t length = 0;
    while (prefix[length] && word[length] == prefix[length]) {
        length++;
    }
    return prefix[length] ? word : word + length;
}

/* MEDLEY_MAX_LANES is a number of lanes, MEDLEY_LANE_BYTES a size. */
void
med_image_limit_name(med_limit which, char name[32])
{
    const char *word = without_prefix(med_limit_infos[which].variable, "MEDLEY_");
    size_t i = 0;
    word = without_prefix(word, "MAX_");
    for (; word[i] && i < 31; i++) {
        char c = word[i];
        name[i] = (char)(c == '_' ? '-' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    name[i] = '\0';
}

static medley_status_t
limit_read(med_image_reader *reader, const med_line *at)
{
    med_word key, value;
    if (!med_word_pair_split(at->text, &key, &value)) {
        return med_image_refuse_word(reader, at->number, MED_WORD_NO_PAIR, at->text,
                                     "want a limit and a number");
    }
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        char name[32];
        med_image_limit_name((med_limit)i, name);
        if (!med_word_is(key, name)) {
            continue;
        }
        if (reader->limits_seen & 1u << i) {
            return med_image_refuse_word(reader, at->number, "second", key,
                                         "want each limit once, take one out");
        }
        reader->limits_seen |= 1u << i;
        uint32_t number;
        if (med_word_number32(value, med_limit_infos[i].largest, &number) && number > 0) {
            reader->image->limits[i] = number;
            return MEDLEY_OK;
        }
        med_text wanted = {.length = 0};
        med_text_string(&wanted, "want a number from 1 to ");
        med_text_number(&wanted, med_limit_infos[i].largest);
        return med_image_refuse_word(reader, at->number, name, value, wanted.bytes);
    }
    return med_image_refuse_word(reader, at->number, "unknown limit", key,
                                 "medley.7 lists them (MEDLEY_MAX_...)");
}
_Static_assert(MED_LIMIT_COUNT <= 32, "a bit for each");

/* ---- The top --------------------------------------------------------------------------------- */

/* Where a reader is, beside in a section; and the bits of what it has seen. */
enum {
    PLACE_LIMITS = MED_IMAGE_SECTION_COUNT,
    PLACE_PROGRAMS,
    PLACE_TOP,
    SEEN_FORMAT,
    SEEN_NAME,
    SEEN_ON_DEATH
};

#define TOP_ADVICE                                                                                 \
    "want name, on-death, limits, domains, nodes, endpoints, mutexes, semaphores, rwlocks, "       \
    "shmems, programs"

static uint32_t
top_key(med_word key)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } others[] = {{"limits", PLACE_LIMITS},
                  {"programs", PLACE_PROGRAMS},
                  {"medley-system", SEEN_FORMAT},
                  {"name", SEEN_NAME},
                  {"on-death", SEEN_ON_DEATH}};
    for (uint32_t i = 0; i < MED_IMAGE_SECTION_COUNT; i++) {
        if (med_word_is(key, med_image_section_name((med_image_section)i))) {
            return i;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (med_word_is(key, others[i].name)) {
            return others[i].bit;
        }
    }
    return PLACE_TOP;
}

static medley_status_t
name_read(med_image_reader *reader, uint32_t number, med_word value)
{
    med_image *image = reader->image;
    size_t i = 0;
    for (; i < value.length && i < MED_PORT_NAME_MAX; i++) {
        image->name[i] = value.at[i];
    }
    image->name[i] = '\0';
    image->name_line = number;
    return i == value.length && med_port_shared_name_valid(image->name)
               ? MEDLEY_OK
               : med_image_refuse_word(reader, number, "name", value,
                                       "a name has 1 to 48 letters, digits, '.', '_', '-'");
}

static medley_status_t
on_death_read(med_image_reader *reader, uint32_t number, med_word value)
{
    bool recover = med_word_is(value, "recover");
    if (!recover && !med_word_is(value, "fail")) {
        return med_image_refuse_word(reader, number, "on-death", value, "want recover or fail");
    }
    reader->image->on_death_said = true;
    reader->image->on_death = recover ? MED_ON_DEATH_RECOVER : MED_ON_DEATH_FAIL;
    return MEDLEY_OK;
}

static medley_status_t
top_value(med_image_reader *reader, uint32_t bit, uint32_t number, med_word value)
{
    uint32_t format;
    switch (bit) {
    case SEEN_NAME:
        return name_read(reader, number, value);
    case SEEN_ON_DEATH:
        return on_death_read(reader, number, value);
    case SEEN_FORMAT:
        return med_word_number32(value, FORMAT_NUMBER, &format) && format == FORMAT_NUMBER
                   ? MEDLEY_OK
                   : med_image_refuse_word(reader, number, "medley-system", value,
                                           "this Medley reads format 1; save the system anew");
    default:
        reader->place = bit;
        return value.length == 0
                   ? MEDLEY_OK
                   : med_image_refuse_word(reader, number, "value behind a section", value,
                                           "begin it on the next line, indented by two");
    }
}

static medley_status_t
top_read(med_image_reader *reader, const med_line *at)
{
    med_word key, value;
    if (!med_word_pair_split(at->text, &key, &value)) {
        return med_image_refuse_word(reader, at->number, MED_WORD_NO_PAIR, at->text, TOP_ADVICE);
    }
    uint32_t bit = top_key(key);
    if (!(reader->seen & HAS(SEEN_FORMAT)) && bit != SEEN_FORMAT) {
        return med_image_refuse_word(reader, at->number, "this is no system's image", med_no_word,
                                     "one begins with 'medley-system: 1'");
    }
    if (bit == PLACE_TOP) {
        return med_image_refuse_word(reader, at->number, "unknown key", key, TOP_ADVICE);
    }
    if (reader->seen & HAS(bit)) {
        return med_image_refuse_word(reader, at->number, "second", key,
                                     "want each once, put them together");
    }
    reader->seen |= HAS(bit);
    reader->place = PLACE_TOP;
    return top_value(reader, bit, at->number, value);
}

/* ---- The whole ------------------------------------------------------------------------------- */

void
med_image_rewind(med_image *image, med_image_reader *reader)
{
    *reader = (med_image_reader){.image = image, .line = 1, .place = PLACE_TOP};
}

static bool
begins_item(const med_line *at)
{
    return at->indent == 2 && at->text.length > 2 && at->text.at[0] == '-' && at->text.at[1] == ' ';
}

medley_status_t
med_image_next(med_image_reader *reader, med_image_item *item)
{
    for (;;) {
        med_line at;
        if (reader->place == PLACE_PROGRAMS) {
            med_lines_skip(reader);
        }
        medley_status_t status = med_line_take(reader, &at);
        if (status != MEDLEY_OK) {
            return status;
        }
        if (at.indent == 0) {
            status = top_read(reader, &at);
        } else if (reader->place == PLACE_LIMITS && at.indent == 2) {
            status = limit_read(reader, &at);
        } else if (reader->place < MED_IMAGE_SECTION_COUNT && begins_item(&at)) {
            return med_image_item_read(reader, &at, item);
        } else {
            status = med_image_refuse_word(
                reader, at.number, "not expected here", at.text,
                "items begin with '- ' indented by two, go on indented by four; limits "
                "are indented by two");
        }
        if (status != MEDLEY_OK) {
            return status;
        }
    }
}

medley_status_t
med_image_open_text(
    const char *path, const char *text, uint32_t length, unsigned *list, med_image *image)
{
    med_image_reader reader;
    med_image_item item;
    medley_status_t status;
    *image = (med_image){.path = path, .text = text, .length = length, .list = list};
    med_image_rewind(image, &reader);
    do {
        status = med_image_next(&reader, &item);
    } while (status == MEDLEY_OK);
    if (status == MEDLEY_EMPTY && !(reader.seen & HAS(SEEN_FORMAT))) {
        status = med_image_refuse_word(&reader, 0, "there is nothing in it", med_no_word,
                                       "an image begins with 'medley-system: 1'");
    }
    return status == MEDLEY_EMPTY ? MEDLEY_OK : status;
}

/* One mapping: the list, then the text. */
#define LIST_BYTES ((size_t)MED_IMAGE_LIST_ROOM * sizeof(unsigned))
#define MAPPING_BYTES (LIST_BYTES + MED_IMAGE_BYTES_MAX)

static const char *
file_why(medley_status_t status, const char *why_absent)
{
    switch (status) {
    case MEDLEY_ERR_NOT_FOUND:
        return why_absent;
    case MEDLEY_ERR_ACCESS:
        return "it may not be read; see its mode";
    case MEDLEY_ERR_LIMIT:
        return "it is larger than 4 MiB; no image is";
    case MEDLEY_ERR_ARGUMENT:
        return "it is not a plain file";
    default:
        return medley_status_text(status);
    }
}

medley_status_t
med_image_open(const char *path, const char *why_absent, med_image *image)
{
    void *memory;
    size_t length;
    *image = (med_image){.path = path};
    medley_status_t status = med_port_memory_map(MAPPING_BYTES, &memory);
    if (status != MEDLEY_OK) {
        return status;
    }
    char *text = (char *)memory + LIST_BYTES;
    status = med_port_file_read(path, text, MED_IMAGE_BYTES_MAX, &length);
    if (status != MEDLEY_OK) {
        (void)med_image_refuse(image, 0, "cannot be read", NULL, 0, file_why(status, why_absent));
    } else {
        status = med_image_open_text(path, text, (uint32_t)length, memory, image);
    }
    if (status != MEDLEY_OK) {
        med_port_memory_unmap(memory, MAPPING_BYTES);
        return status;
    }
    image->mapped = true;
    return MEDLEY_OK;
}

void
med_image_close(med_image *image)
{
    if (image->mapped) {
        med_port_memory_unmap(image->list, MAPPING_BYTES);
        image->mapped = false;
    }
}
