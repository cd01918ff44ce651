/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Places in programs, by their addresses: what a trace tells of them once, and what the files there
 * have for names. */
#ifndef MEDLEY_TOOLS_PLACES_H
#define MEDLEY_TOOLS_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACES_TEXT_BYTES 96u

typedef struct place {
    struct place *next;
    uint32_t process_id;
    uint64_t address;
    char text[PLACES_TEXT_BYTES];
} place;

/* Zeroed: none. */
typedef struct places {
    place *first;
} places;

/* The address, in that process, is so far inside of the file. Where a call returned to is what is
 * meant. False: no memory. */
bool
places_add(places *p, uint32_t process_id, uint64_t address, const char *object, uint64_t inside);
/* "function+0x12", "program+0x1234"; "not known"; lives as long as the places. */
const char *places_text(const places *p, uint32_t process_id, uint64_t address);
void places_forget(places *p);

#endif
