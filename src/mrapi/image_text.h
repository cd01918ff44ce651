/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an image is made of below its meaning: lines without comments, pairs of a key and a value,
 * numbers, lists; and how it is told what is wrong with one. For image.c and image_item.c.
 */
#ifndef MEDLEY_MRAPI_IMAGE_TEXT_H
#define MEDLEY_MRAPI_IMAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mrapi/image.h"

typedef struct med_word {
    const char *at;
    size_t length;
} med_word;

typedef struct med_line {
    med_word text; /* without indentation, comment, and spaces behind */
    uint32_t number;
    uint32_t indent;
} med_line;

static const med_word med_no_word = {.at = NULL};

/* As med_image_refuse, of the image that is read. */
static inline medley_status_t
med_image_refuse_word(med_image_reader *reader,
                      uint32_t number,
                      const char *what,
                      med_word quoted,
                      const char *advice)
{
    return med_image_refuse(reader->image, number, what, quoted.at, quoted.length, advice);
}

/* The next line with something on it. MEDLEY_EMPTY: the text is over. MEDLEY_ERR_ARGUMENT: bytes
 * that may not be there, which was told. */
medley_status_t med_line_take(med_image_reader *reader, med_line *taken);

/* Unread, all lines that are indented, items of a list, comments or empty. */
void med_lines_skip(med_image_reader *reader);

/* Without the spaces around it. */
med_word med_word_trimmed(const char *at, size_t length);
bool med_word_is(med_word given, const char *name);
/* "key: value", or "key:" with an empty value. */
bool med_word_pair_split(med_word text, med_word *key, med_word *value);
#define MED_WORD_NO_PAIR "is not 'key: value'"
/* Without sign, spaces or leading zeros: YAML would take those for octal. */
bool med_word_number(med_word text, uint32_t base, uint64_t most, uint64_t *number);
bool med_word_number32(med_word text, uint32_t most, uint32_t *number);
/* Of "[a, b]" the inside. */
bool med_word_list_begin(med_word text, med_word *inside);
/* Takes the first of what is left; empty between commas. */
med_word med_word_list_take(med_word *left, bool *more);

#endif
