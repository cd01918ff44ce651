/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values of environment variables, piece by piece. */
#include "omp/value.h"

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char
lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool
is_of_word(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || c == '-';
}

static const char *
behind_blanks(const char *at)
{
    while (is_blank(*at)) {
        at++;
    }
    return at;
}

bool
med_value_end(med_value *value)
{
    return *behind_blanks(value->at) == 0;
}

bool
med_value_mark(med_value *value, char mark)
{
    const char *at = behind_blanks(value->at);
    if (*at != mark) {
        return false;
    }
    value->at = at + 1;
    return true;
}

bool
med_value_is(med_value *value, const char *word)
{
    const char *at = behind_blanks(value->at);
    while (*word && lower(*at) == *word) {
        at++;
        word++;
    }
    if (*word || is_of_word(*at)) {
        return false;
    }
    value->at = at;
    return true;
}

bool
med_value_one_of(med_value *value, const char *const *list, uint32_t count, uint32_t *found)
{
    for (uint32_t i = 0; i < count; i++) {
        if (med_value_is(value, list[i])) {
            *found = i;
            return true;
        }
    }
    return false;
}

bool
med_value_number(med_value *value, uint64_t least, uint64_t most, uint64_t *number)
{
    const char *at = behind_blanks(value->at);
    uint64_t read = 0;
    if (*at == '+') {
        at++;
    }
    const char *first = at;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (read > (UINT64_MAX - digit) / 10) {
            return false;
        }
        read = read * 10 + digit;
    }
    if (at == first || read < least || read > most) {
        return false;
    }
    value->at = at;
    *number = read;
    return true;
}

bool
med_value_truth(med_value *value, bool *truth)
{
    static const char *const list[] = {"false", "true", "0", "1"};
    uint32_t found;
    if (!med_value_one_of(value, list, 4, &found)) {
        return false;
    }
    *truth = found % 2 != 0;
    return true;
}

bool
med_value_size(med_value *value, uint64_t unit_bytes, uint64_t *bytes)
{
    static const char *const units[] = {"b", "k", "m", "g"};
    med_value read = *value;
    uint64_t number;
    uint32_t unit;
    if (!med_value_number(&read, 0, UINT64_MAX, &number)) {
        return false;
    }
    if (med_value_one_of(&read, units, 4, &unit)) {
        unit_bytes = UINT64_C(1) << 10 * unit;
    }
    if (number > UINT64_MAX / unit_bytes) {
        return false;
    }
    *bytes = number * unit_bytes;
    *value = read;
    return true;
}
