/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a thread's affinity is shown. */
#include "omp/affinity.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/bind.h"
#include "omp/places.h"
#include "port/port.h"

static char format_set[MED_AFFINITY_FORMAT_BYTES]; /* what the program has set */
static bool is_format_set;

const char *
med_affinity_format(void)
{
    return is_format_set ? format_set : med_settings_get()->affinity_format;
}

void
med_affinity_format_set(const char *format, size_t length)
{
    length = length < sizeof format_set ? length : sizeof format_set - 1;
    memcpy(format_set, format, length);
    format_set[length] = 0;
    is_format_set = true;
}

/* ---- Text ------------------------------------------------------------------------------------ */

typedef struct out {
    char *text;
    size_t size_bytes;
    size_t length; /* of the whole */
} out;

static void
put(out *o, char c)
{
    if (o->length + 1 < o->size_bytes) {
        o->text[o->length] = c;
    }
    o->length++;
}

static void
put_string(out *o, const char *string)
{
    while (*string) {
        put(o, *string++);
    }
}

static void
put_number(out *o, uint64_t number)
{
    char digits[24];
    char *at = digits + sizeof digits - 1;
    *at = 0;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    put_string(o, at);
}

/* "0-3,8" */
static void
put_processors(out *o, const med_processor_set *set)
{
    const char *before = "";
    uint32_t i = med_processor_set_next(set, 0);
    while (i < MED_PROCESSORS_MAX) {
        uint32_t last = i;
        while (last + 1 < MED_PROCESSORS_MAX && med_processor_set_has(set, last + 1)) {
            last++;
        }
        put_string(o, before);
        put_number(o, i);
        if (last > i) {
            put(o, '-');
            put_number(o, last);
        }
        before = ",";
        i = med_processor_set_next(set, last + 1);
    }
}

/* ---- Fields ---------------------------------------------------------------------------------- */

#define WIDTH_LIMIT 4096u
#define LINE_BYTES 256u /* longer ones are lent: a thread's stack may be small */

typedef struct field {
    char letter;
    bool is_number;
    const char *name;
} field;

static const field fields[] = {
    {'t', true, "team_num"},        {'T', true, "num_teams"},   {'L', true, "nesting_level"},
    {'n', true, "thread_num"},      {'N', true, "num_threads"}, {'a', true, "ancestor_tnum"},
    {'H', false, "host"},           {'P', true, "process_id"},  {'i', true, "native_thread_id"},
    {'A', false, "thread_affinity"}};

static void
put_affinity(out *o, const med_member *member)
{
    const med_processor_set *place = member->bound ? med_bind_processors(member) : NULL;
    med_processor_set allowed;
    if (!place) {
        med_port_processors_allowed(&allowed);
        place = &allowed;
    }
    put_processors(o, place);
}

static int64_t
ancestor_of(const med_member *member)
{
    const med_team *team = member->team;
    return team->level == 0 ? -1 : (int64_t)team->leader->number;
}

static int64_t
number_of(const med_member *member, char letter)
{
    switch (letter) {
    case 't':
        return member->icv->team_number;
    case 'T':
        return member->icv->teams;
    case 'L':
        return member->team->level;
    case 'n':
        return member->number;
    case 'N':
        return member->team->size;
    case 'a':
        return ancestor_of(member);
    case 'P':
        return med_port_process_id();
    default:
        return med_port_thread_id();
    }
}

/* Without its sign; true: it is negative. */
static bool
put_value(out *o, const med_member *member, const field *f)
{
    char host[256];
    if (f->is_number) {
        int64_t number = number_of(member, f->letter);
        put_number(o, (uint64_t)(number < 0 ? -number : number));
        return number < 0;
    }
    if (f->letter == 'H') {
        med_port_host_name(host, sizeof host);
        put_string(o, host);
    } else {
        put_affinity(o, member);
    }
    return false;
}

static void
put_times(out *o, char c, size_t times)
{
    while (times-- > 0) {
        put(o, c);
    }
}

/* Of at least that width, to the left or to the right, there perhaps behind zeros. */
static void
put_field(out *o, const med_member *member, const field *f, size_t width, bool to_right, bool zeros)
{
    out unseen = {.text = NULL}; /* it is told how long that is */
    bool is_negative = put_value(&unseen, member, f);
    size_t length = unseen.length + is_negative;
    size_t more = width > length ? width - length : 0;
    bool by_zeros = to_right && zeros && f->is_number;
    put_times(o, ' ', to_right && !by_zeros ? more : 0);
    put_times(o, '-', is_negative);
    put_times(o, '0', by_zeros ? more : 0);
    (void)put_value(o, member, f);
    put_times(o, ' ', to_right ? 0 : more);
}

/* Behind it; NULL: there is no such field. */
static const char *
field_find(const char *at, const char *end, const field **found)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        size_t length = strlen(fields[i].name);
        *found = &fields[i];
        if (at < end && *at == fields[i].letter) {
            return at + 1;
        }
        if (at < end && *at == '{' && (size_t)(end - at) >= length + 2 &&
            memcmp(at + 1, fields[i].name, length) == 0 && at[length + 1] == '}') {
            return at + length + 2;
        }
    }
    return NULL;
}

/* Behind what would be a field, at a letter or a brace. */
static const char *
no_field_end(const char *at, const char *end)
{
    if (*at == '{') {
        while (at < end && *at != '}') {
            at++;
        }
    }
    return at < end ? at + 1 : at;
}

/* At what follows '%'; a field that there is not is shown as undefined. */
static const char *
field_put(out *o, const med_member *member, const char *at, const char *end)
{
    bool zeros = at < end && *at == '0';
    at += zeros;
    bool to_right = at < end && *at == '.';
    at += to_right;
    size_t width = 0;
    while (at < end && *at >= '0' && *at <= '9' && width < WIDTH_LIMIT) {
        width = width * 10 + (size_t)(*at++ - '0');
    }
    const field *found;
    const char *behind = field_find(at, end, &found);
    if (behind) {
        put_field(o, member, found, width, to_right, zeros);
        return behind;
    }
    put_string(o, at < end ? "undefined" : "%");
    return at < end ? no_field_end(at, end) : at;
}

size_t
med_affinity_capture(
    const med_member *member, char *text, size_t size_bytes, const char *format, size_t length)
{
    out o = {.text = text, .size_bytes = size_bytes};
    format = length ? format : med_affinity_format();
    const char *end = format + (length ? length : strlen(format));
    while (format < end) {
        if (*format != '%') {
            put(&o, *format++);
        } else if (format + 1 < end && format[1] == '%') {
            put(&o, '%');
            format += 2;
        } else {
            format = field_put(&o, member, format + 1, end);
        }
    }
    if (size_bytes) {
        text[o.length < size_bytes ? o.length : size_bytes - 1] = 0;
    }
    return o.length;
}

void
med_affinity_display(const med_member *member, const char *format, size_t length)
{
    char short_line[LINE_BYTES];
    size_t size_bytes =
        1 + med_affinity_capture(member, short_line, sizeof short_line, format, length);
    char *line = size_bytes > sizeof short_line ? med_heap_lend(size_bytes) : NULL;
    if (line) {
        (void)med_affinity_capture(member, line, size_bytes, format, length);
    }
    med_port_log(line ? line : short_line);
    med_heap_take_back(line);
}
