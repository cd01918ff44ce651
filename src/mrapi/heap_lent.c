/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap memory that is lent to a runtime: whole lines. Before each piece stands where the memory
 * that it was taken from begins, and how large that is. */
#include "mrapi/heap_lent.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/atomic.h"

#define LINE ((size_t)64)

typedef struct lent_head {
    void *taken;
    size_t taken_bytes;
    bool is_pages; /* of its own; else of the port's heap */
} lent_head;
_Static_assert(sizeof(lent_head) <= LINE, "it fits before the first line");

static lent_head *
head_of(const void *lent)
{
    return (lent_head *)(uintptr_t)lent - 1;
}

/* 0: no memory has so many. */
static size_t
bytes_with_head(size_t size_bytes)
{
    return size_bytes < SIZE_MAX - 3 * LINE ? (size_bytes + LINE - 1) / LINE * LINE + 2 * LINE : 0;
}

/* The first line behind the head. */
static void *
place_in(void *taken, size_t taken_bytes, bool is_pages)
{
    uintptr_t at = ((uintptr_t)taken + sizeof(lent_head) + LINE - 1) / LINE * LINE;
    *head_of((void *)at) =
        (lent_head){.taken = taken, .taken_bytes = taken_bytes, .is_pages = is_pages};
    return (void *)at;
}

void *
med_heap_lend(size_t size_bytes)
{
    size_t taken_bytes = bytes_with_head(size_bytes);
    void *taken = taken_bytes ? med_port_heap_take(taken_bytes) : NULL;
    return taken ? memset(place_in(taken, taken_bytes, false), 0, taken_bytes - 2 * LINE) : NULL;
}

static bool
has_several_memories(void)
{
    static atomic32 count;                          /* 0: nobody has asked */
    uint32_t known = atomic32_load_relaxed(&count); /* relaxed: all who ask find the same */
    if (known == 0) {
        known = med_port_memory_nodes(MED_PORT_MEMORY_ALL, NULL, 0);
        atomic32_store_relaxed(&count, known); /* relaxed: likewise */
    }
    return known > 1;
}

void *
med_heap_lend_apart(size_t size_bytes)
{
    size_t taken_bytes = bytes_with_head(size_bytes);
    void *taken;
    bool is_apart = taken_bytes && has_several_memories() &&
                    med_port_memory_map(taken_bytes, &taken) == MEDLEY_OK;
    return is_apart ? place_in(taken, taken_bytes, true) : med_heap_lend(size_bytes);
}

void
med_heap_lent_move(void *lent)
{
    const lent_head *head = head_of(lent);
    if (head->is_pages) {
        (void)med_port_memory_move_here(head->taken, head->taken_bytes);
    }
}

void
med_heap_take_back(void *lent)
{
    if (!lent) {
        return;
    }
    const lent_head *head = head_of(lent);
    if (head->is_pages) {
        med_port_memory_unmap(head->taken, head->taken_bytes);
    } else {
        med_port_heap_give(head->taken, head->taken_bytes);
    }
}
