/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Appends to a text of fixed size, and cuts off what does not fit; and strings in fields. */
#include "base/text.h"

void
med_text_string(med_text *text, const char *string)
{
    while (*string && text->length < MED_TEXT_BYTES - 1) {
        text->bytes[text->length++] = *string++;
    }
    text->bytes[text->length] = '\0';
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
