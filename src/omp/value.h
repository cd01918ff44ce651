/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the values of environment variables, piece by piece: blanks between pieces do not count,
 * nor does the case of letters. Each function goes on behind what it has read, and not at all if it
 * is false. */
#ifndef MEDLEY_OMP_VALUE_H
#define MEDLEY_OMP_VALUE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct med_value {
    const char *at;
} med_value;

/* Is there nothing more? */
bool med_value_end(med_value *value);
/* Is this mark next? */
bool med_value_mark(med_value *value, char mark);
/* Is this word next, whole? */
bool med_value_is(med_value *value, const char *word);
bool med_value_one_of(med_value *value, const char *const *list, uint32_t count, uint32_t *found);
/* In decimals, from `least` to `most`. */
bool med_value_number(med_value *value, uint64_t least, uint64_t most, uint64_t *number);
bool med_value_truth(med_value *value, bool *truth);
/* In bytes: a number, and a unit (B, K, M, G), without which it is so many times `unit_bytes`. */
bool med_value_size(med_value *value, uint64_t unit_bytes, uint64_t *bytes);

#endif
