/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory without an operating system: pieces of one arena. What is free lies in a list, in the
 * order of addresses; each piece of it says in its first bytes how long it is, and neighbours are
 * joined. The first that is long enough gives its end.
 *
 * What may run together: everything but interrupt handlers, by a lock that spins: the list is as
 * short as the arena is whole. Death: cores do not die.
 */
#include <string.h>

#include "port/bare/bare.h"
#include "port/port.h"

#define ALIGNMENT 64u

typedef struct piece {
    struct piece *next;
    size_t bytes; /* a multiple of ALIGNMENT */
} piece;

static piece first; /* guarded by the lock, as is the next: of no bytes, before all others */
static bool arena_in_list;
static uint32_t list_taken;

static void
list_take(void)
{
    while (__atomic_exchange_n(&list_taken, 1, __ATOMIC_ACQUIRE)) { /* M1 list whole <- M1 */
        med_port_cpu_relax();
    }
    if (!arena_in_list) {
        arena_in_list = true;
        first.next = (piece *)(void *)med_bare_arena;
        *first.next = (piece){.bytes = med_bare_arena_bytes / ALIGNMENT * ALIGNMENT};
    }
}

static void
list_give(void)
{
    __atomic_store_n(&list_taken, 0, __ATOMIC_RELEASE); /* M1 list whole -> M1 (list_take) */
}

static size_t
rounded(size_t size_bytes)
{
    return size_bytes ? (size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1) : ALIGNMENT;
}

static void *
cut(size_t bytes)
{
    for (piece *before = &first; before->next; before = before->next) {
        piece *whole = before->next;
        if (whole->bytes == bytes) {
            before->next = whole->next;
            return whole;
        }
        if (whole->bytes > bytes) {
            whole->bytes -= bytes;
            return (unsigned char *)whole + whole->bytes;
        }
    }
    return NULL;
}

static bool
ends_at(const piece *one, const piece *other)
{
    return (uintptr_t)one + one->bytes == (uintptr_t)other;
}

static void
put_back(piece *returned, size_t bytes)
{
    piece *before = &first;
    while (before->next && (uintptr_t)before->next < (uintptr_t)returned) {
        before = before->next;
    }
    *returned = (piece){.next = before->next, .bytes = bytes};
    before->next = returned;
    if (returned->next && ends_at(returned, returned->next)) {
        returned->bytes += returned->next->bytes;
        returned->next = returned->next->next;
    }
    if (ends_at(before, returned)) {
        before->bytes += returned->bytes;
        before->next = returned->next;
    }
}

medley_status_t
med_port_memory_map(size_t size_bytes, void **address)
{
    void *found = NULL;
    if (size_bytes <= med_bare_arena_bytes) {
        list_take();
        found = cut(rounded(size_bytes));
        list_give();
    }
    if (!found) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    memset(found, 0, size_bytes);
    *address = found;
    return MEDLEY_OK;
}

void
med_port_memory_unmap(void *address, size_t size_bytes)
{
    list_take();
    put_back(address, rounded(size_bytes));
    list_give();
}

/* ---- Segments of the one process there is ---------------------------------------------------- */

medley_status_t
med_port_segment_create(med_port_segment *segment)
{
    segment->why[0] = '\0';
    if (segment->beside || segment->place != MED_PORT_PLACE_ANY || segment->wanted) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    return med_port_memory_map(segment->size_bytes, &segment->address);
}

void
med_port_segment_unmap(void *address, uint32_t size_bytes, uint32_t place)
{
    (void)place;
    med_port_memory_unmap(address, size_bytes);
}

void *
med_port_heap_take(size_t size_bytes)
{
    void *block;
    return med_port_memory_map(size_bytes, &block) == MEDLEY_OK ? block : NULL;
}

void
med_port_heap_give(void *block, size_t size_bytes)
{
    med_port_memory_unmap(block, size_bytes);
}
