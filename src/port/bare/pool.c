/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pieces of a memory. What is free lies in a list, in the order of addresses; each piece of it says
 * in its first bytes how long it is, and neighbours are joined. The first that is long enough gives
 * its end.
 *
 * What may run together: everything but interrupt handlers, by a lock that spins: the list is as
 * short as the memory is whole. Death: cores do not die.
 */
#include "port/bare/pool.h"

#include <string.h>

#include "port/port.h"

#define ALIGNMENT 64u

static void
list_take(med_bare_pool *pool)
{
    while (__atomic_exchange_n(&pool->taken, 1, __ATOMIC_ACQUIRE)) { /* M1 list whole <- M1 */
        med_port_cpu_relax();
    }
}

static void
list_give(med_bare_pool *pool)
{
    med_port_store_n(&pool->taken, 0, __ATOMIC_RELEASE); /* M1 list whole -> M1 (list_take) */
}

static size_t
rounded(size_t size_bytes)
{
    return size_bytes ? (size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1) : ALIGNMENT;
}

static void *
cut(med_bare_pool *pool, size_t bytes)
{
    for (med_bare_piece *before = &pool->first; before->next; before = before->next) {
        med_bare_piece *whole = before->next;
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
ends_at(const med_bare_piece *one, const med_bare_piece *other)
{
    return (uintptr_t)one + one->bytes == (uintptr_t)other;
}

static void
put_back(med_bare_pool *pool, med_bare_piece *returned, size_t bytes)
{
    med_bare_piece *before = &pool->first;
    while (before->next && (uintptr_t)before->next < (uintptr_t)returned) {
        before = before->next;
    }
    *returned = (med_bare_piece){.next = before->next, .bytes = bytes};
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

void *
med_bare_pool_take(med_bare_pool *pool, unsigned char *start, size_t bytes, size_t size_bytes)
{
    if (size_bytes > bytes) {
        return NULL;
    }
    list_take(pool);
    if (!pool->filled) {
        pool->filled = true;
        put_back(pool, (med_bare_piece *)(void *)start, bytes / ALIGNMENT * ALIGNMENT);
    }
    void *found = cut(pool, rounded(size_bytes));
    list_give(pool);
    if (found) {
        memset(found, 0, size_bytes);
    }
    return found;
}

void
med_bare_pool_give(med_bare_pool *pool, void *address, size_t size_bytes)
{
    list_take(pool);
    put_back(pool, address, rounded(size_bytes));
    list_give(pool);
}
