/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Appends to a text of fixed size, and cuts off what does not fit; and strings in fields. */
#include "base/text.h"

/* No more of it than `most` letters. */
static void
append(med_text *text, const char *string, size_t most)
{
    while (most-- && *string && text->length < MED_TEXT_BYTES - 1) {
        text->bytes[text->length++] = *string++;
    }
    text->bytes[text->length] = '\0';
}

void
med_text_string(med_text *text, const char *string)
{
    append(text, string, SIZE_MAX);
}

void
med_text_number(med_text *text, uint64_t number)
{
    char digits[24];
    char *p = digits + sizeof digits;
    *--p = '\0';
    do {
        *--p = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    med_text_string(text, p);
}

/* ---- One of many ----------------------------------------------------------------------------- */

/* Whether `end` letters of `things` end so. */
static bool
ends_with(const char *things, size_t end, const char *ending, size_t length)
{
    return end >= length && med_text_equal(things + end - length, ending, length);
}

/* Where the counted word ends: "bytes" in "bytes in a lane", else the last one. */
static size_t
word_end(const char *things)
{
    size_t end = 0;
    while (things[end] && !med_text_equal(things + end, " in ", 4) &&
           !med_text_equal(things + end, " of ", 4)) {
        end++;
    }
    return end;
}

/* As far as English goes here: memories, processes, mutexes, nodes. */
static void
singular(med_text *text, const char *things)
{
    size_t end = word_end(things), keep = end;
    const char *ending = "";
    if (ends_with(things, end, "ies", 3)) {
        keep = end - 3;
        ending = "y";
    } else if (ends_with(things, end, "sses", 4) || ends_with(things, end, "xes", 3)) {
        keep = end - 2;
    } else if (ends_with(things, end, "s", 1)) {
        keep = end - 1;
    }
    append(text, things, keep);
    med_text_string(text, ending);
    med_text_string(text, things + end);
}

void
med_text_count(med_text *text, uint64_t number, const char *things)
{
    med_text_number(text, number);
    med_text_string(text, " ");
    if (number == 1) {
        singular(text, things);
    } else {
        med_text_string(text, things);
    }
}

/* ---- Strings in fields ----------------------------------------------------------------------- */

void
med_text_copy(char *target, size_t size, const char *source)
{
    size_t i = 0;
    for (; i + 1 < size && source[i]; i++) {
        target[i] = source[i];
    }
    for (; i < size; i++) {
        target[i] = '\0';
    }
}

bool
med_text_equal(const char *a, const char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (a[i] != b[i]) {
            return false;
        }
        if (a[i] == '\0') {
            return true;
        }
    }
    return true;
}
