/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lines, words and numbers of an image, none copied: a word is a place in the text. The first thing
 * that is wrong is told, with its line, and ends the reading.
 */
#include "mrapi/image_text.h"

#include "base/log.h"

/* ---- Telling --------------------------------------------------------------------------------- */

#define PATH_SHOWN 96u
#define QUOTE_SHOWN 40u

/* A long path by its end. */
static void
path_append(med_text *text, const char *path)
{
    size_t length = 0;
    while (path[length]) {
        length++;
    }
    if (length > PATH_SHOWN) {
        med_text_string(text, "...");
        path += length - PATH_SHOWN;
    }
    med_text_string(text, path);
}

static void
quote_append(med_text *text, const char *bytes, size_t length)
{
    char shown[QUOTE_SHOWN + 1];
    size_t count = length < QUOTE_SHOWN ? length : QUOTE_SHOWN;
    for (size_t i = 0; i < count; i++) {
        bool printable = bytes[i] >= ' ' && bytes[i] <= '~';
        shown[i] = (char)(printable ? bytes[i] : '?');
    }
    shown[count] = '\0';
    med_text_string(text, " '");
    med_text_string(text, shown);
    med_text_string(text, length > count ? "...'" : "'");
}

medley_status_t
med_image_refuse(med_image *image,
                 uint32_t line_number,
                 const char *what,
                 const char *quoted,
                 size_t quoted_bytes,
                 const char *advice)
{
    med_text text = {.length = 0};
    image->refused = true;
    path_append(&text, image->path);
    if (line_number) {
        med_text_string(&text, ":");
        med_text_number(&text, line_number);
    }
    med_text_string(&text, ": ");
    med_text_string(&text, what);
    if (quoted) {
        quote_append(&text, quoted, quoted_bytes);
    }
    med_text_string(&text, ": ");
    med_text_string(&text, advice);
    med_log(MED_LOG_ERROR, &text);
    return MEDLEY_ERR_ARGUMENT;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

med_word
med_word_trimmed(const char *at, size_t length)
{
    while (length && *at == ' ') {
        at++;
        length--;
    }
    while (length && at[length - 1] == ' ') {
        length--;
    }
    return (med_word){.at = at, .length = length};
}

static void
character_refuse(med_image_reader *reader, uint32_t number, char c)
{
    const char *what = "there is a byte that is no printable ASCII";
    const char *advice = "only comments may have others";
    if (c == '\t') {
        what = "there is a tab";
        advice = "want spaces; only within a comment may tabs stand";
    } else if (c == '\r') {
        what = "there is a carriage return";
        advice = "lines end with a line feed alone";
    }
    (void)med_image_refuse_word(reader, number, what, med_no_word, advice);
}

typedef struct scanned {
    size_t text;  /* bytes before the comment, which begins the line or follows a space */
    size_t whole; /* before the line's end */
} scanned;

/* One look at each of up to `most` bytes, here and in what is behind a '#'. */
static medley_status_t
line_scan(med_image_reader *reader, uint32_t number, const char *at, size_t most, scanned *found)
{
    size_t i = 0;
    for (; i < most && at[i] != '\n'; i++) {
        if (at[i] == '#' && (i == 0 || at[i - 1] == ' ')) {
            break;
        }
        if (at[i] < ' ' || at[i] > '~') {
            character_refuse(reader, number, at[i]);
            return MEDLEY_ERR_ARGUMENT;
        }
    }
    found->text = i;
    while (i < most && at[i] != '\n') {
        i++;
    }
    found->whole = i;
    return MEDLEY_OK;
}

static bool
goes_on(char first)
{
    return first == ' ' || first == '-' || first == '#' || first == '\n';
}

void
med_lines_skip(med_image_reader *reader)
{
    const char *text = reader->image->text;
    uint32_t length = reader->image->length;
    while (reader->at < length && goes_on(text[reader->at])) {
        while (reader->at < length && text[reader->at] != '\n') {
            reader->at++;
        }
        reader->at += reader->at < length;
        reader->line++;
    }
}

medley_status_t
med_line_take(med_image_reader *reader, med_line *taken)
{
    const med_image *image = reader->image;
    while (reader->at < image->length) {
        const char *at = image->text + reader->at;
        uint32_t number = reader->line++;
        scanned found;
        medley_status_t status = line_scan(reader, number, at, image->length - reader->at, &found);
        if (status != MEDLEY_OK) {
            return status;
        }
        uint32_t end = reader->at + (uint32_t)found.whole;
        reader->at = end < image->length ? end + 1 : end;
        med_word text = med_word_trimmed(at, found.text);
        if (text.length) {
            *taken = (med_line){.text = text, .number = number, .indent = (uint32_t)(text.at - at)};
            return MEDLEY_OK;
        }
    }
    return MEDLEY_EMPTY;
}

/* ---- Words ----------------------------------------------------------------------------------- */

bool
med_word_is(med_word given, const char *name)
{
    size_t i = 0;
    for (; i < given.length && name[i]; i++) {
        if (given.at[i] != name[i]) {
            return false;
        }
    }
    return i == given.length && name[i] == '\0';
}

bool
med_word_pair_split(med_word text, med_word *key, med_word *value)
{
    size_t colon = 0;
    while (colon < text.length && text.at[colon] != ':') {
        colon++;
    }
    bool good =
        colon > 0 && colon < text.length && (colon + 1 == text.length || text.at[colon + 1] == ' ');
    if (good) {
        *key = (med_word){.at = text.at, .length = colon};
        *value = med_word_trimmed(text.at + colon + 1, text.length - colon - 1);
    }
    return good;
}

static uint32_t
digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                                  : 16;
}

bool
med_word_number(med_word text, uint32_t base, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;
    bool good = text.length > 0 && (text.length == 1 || text.at[0] != '0' || base == 16);
    for (size_t i = 0; good && i < text.length; i++) {
        uint32_t digit = digit_of(text.at[i]);
        good = digit < base && value <= (most - (digit <= most ? digit : most)) / base;
        value = value * base + digit;
    }
    good = good && value <= most;
    if (good) {
        *number = value;
    }
    return good;
}

bool
med_word_number32(med_word text, uint32_t most, uint32_t *number)
{
    uint64_t wide;
    bool good = med_word_number(text, 10, most, &wide);
    if (good) {
        *number = (uint32_t)wide;
    }
    return good;
}

bool
med_word_list_begin(med_word text, med_word *inside)
{
    bool good = text.length >= 2 && text.at[0] == '[' && text.at[text.length - 1] == ']';
    if (good) {
        *inside = med_word_trimmed(text.at + 1, text.length - 2);
    }
    return good;
}

med_word
med_word_list_take(med_word *left, bool *more)
{
    size_t comma = 0;
    while (comma < left->length && left->at[comma] != ',') {
        comma++;
    }
    med_word first = med_word_trimmed(left->at, comma);
    *more = comma < left->length;
    size_t taken = comma + (*more ? 1 : 0);
    *left = (med_word){.at = left->at + taken, .length = left->length - taken};
    return first;
}
