/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds a line of text in a fixed buffer, for messages: no allocation, no libc. What does not fit
 * is cut off; the text always ends with a NUL. */
#ifndef MEDLEY_BASE_TEXT_H
#define MEDLEY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/inner.h"

#define MED_TEXT_BYTES 256

typedef struct med_text {
    char bytes[MED_TEXT_BYTES];
    size_t length;
} med_text;

/* A zeroed med_text is empty. */
MED_INNER void med_text_string(med_text *text, const char *string);
MED_INNER void med_text_number(med_text *text, uint64_t number);
/* "1 node", "2 nodes", "1 byte in a lane": `things` is the plural. */
MED_INNER void med_text_count(med_text *text, uint64_t number, const char *things);

/* Copies at most `size - 1` characters and a NUL, and zeroes the rest: for names in shared rows. */
void med_text_copy(char *target, size_t size, const char *source);
/* Equal, looking at no more than `size` characters of either. */
bool med_text_equal(const char *a, const char *b, size_t size);

#endif
