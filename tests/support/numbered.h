/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Elements that say which they are, in every word, so that a torn one is seen. */
#ifndef MEDLEY_TESTS_SUPPORT_NUMBERED_H
#define MEDLEY_TESTS_SUPPORT_NUMBERED_H

#include <stdint.h>

#define NUMBERED_WORDS 6

typedef struct numbered {
    uint32_t words[NUMBERED_WORDS];
} numbered;

static inline numbered
numbered_of(uint32_t number)
{
    numbered element;
    for (uint32_t i = 0; i < NUMBERED_WORDS; i++) {
        element.words[i] = number + i;
    }
    return element;
}

/* Its number, or UINT32_MAX when it is torn. */
static inline uint32_t
number_of(const numbered *element)
{
    for (uint32_t i = 0; i < NUMBERED_WORDS; i++) {
        if (element->words[i] != element->words[0] + i) {
            return UINT32_MAX;
        }
    }
    return element->words[0];
}

#endif
