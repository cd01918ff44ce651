/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A list: a program has few places of which a trace tells. */
#include "tools/medley/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/medley/symbol.h"

static const place *
find(const places *p, uint32_t process_id, uint64_t address)
{
    const place *one = p->first;
    while (one && (one->process_id != process_id || one->address != address)) {
        one = one->next;
    }
    return one;
}

static void
text_make(place *one, const char *object, uint64_t inside)
{
    char name[PLACES_TEXT_BYTES - 24];
    uint64_t beyond;
    if (symbol_find(object, inside, name, sizeof name, &beyond)) {
        (void)snprintf(one->text, sizeof one->text, "%s+0x%" PRIx64, name, beyond);
    } else {
        const char *file = strrchr(object, '/');
        (void)snprintf(one->text, sizeof one->text, "%.60s+0x%" PRIx64, file ? file + 1 : object,
                       inside);
    }
}

bool
places_add(places *p, uint32_t process_id, uint64_t address, const char *object, uint64_t inside)
{
    if (find(p, process_id, address)) {
        return true;
    }
    place *one = malloc(sizeof *one);
    if (one) {
        *one = (place){.next = p->first, .process_id = process_id, .address = address};
        text_make(one, object, inside);
        p->first = one;
    }
    return one != NULL;
}

const char *
places_text(const places *p, uint32_t process_id, uint64_t address)
{
    const place *one = find(p, process_id, address);
    return one ? one->text : "not known";
}

void
places_forget(places *p)
{
    while (p->first) {
        place *next = p->first->next;
        free(p->first);
        p->first = next;
    }
}
