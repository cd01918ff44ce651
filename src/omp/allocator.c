/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Allocators. Before each piece of memory stands where it comes from. A pool is a number of bytes
 * that an allocator may have given at once: counted, and nothing is ordered by it.
 *
 * Most pieces are of the heap. Those that are to lie somewhere, or to stay in memory, are pages of
 * their own, which nobody has touched before.
 */
#include "omp/allocator.h"

#include <string.h>

#include "base/atomic.h"
#include "mrapi/heap_lent.h"
#include "omp/once.h"
#include "omp/say.h"
#include "port/port.h"

const char *const med_allocator_names[MED_ALLOCATOR_PREDEFINED] = {
    "omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc",
    "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc",   "omp_cgroup_mem_alloc",
    "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};

/* As omp.h numbers them. */
enum {
    SPACE_HIGH_BANDWIDTH = 3,
    SPACE_LAST = 4,
    SPACE_PINNED = 200 /* gcc's own, from gcc 15 on */
};
#define PREDEFINED_PINNED 200u
enum {
    KEY_SYNC_HINT = 1,
    KEY_ALIGNMENT,
    KEY_ACCESS,
    KEY_POOL_SIZE,
    KEY_FALLBACK,
    KEY_FALLBACK_DATA,
    KEY_PINNED,
    KEY_PARTITION
};
enum {
    VALUE_FALSE = 0,
    VALUE_TRUE = 1,
    VALUE_CONTENDED = 3,
    VALUE_PRIVATE = 6,
    VALUE_ALL = 7,
    VALUE_CGROUP = 10,
    VALUE_DEFAULT_FALLBACK = 11,
    VALUE_NULL_FALLBACK,
    VALUE_ABORT_FALLBACK,
    VALUE_ALLOCATOR_FALLBACK,
    VALUE_ENVIRONMENT = 15,
    VALUE_NEAREST,
    VALUE_BLOCKED,
    VALUE_INTERLEAVED
};
#define VALUE_DEFAULT UINTPTR_MAX

typedef struct allocator {
    size_t alignment;
    uintptr_t pool_bytes; /* 0: without end */
    uintptr_t fallback;
    uintptr_t fallback_handle;
    uintptr_t partition;
    bool is_pinned;
    bool is_fast;      /* of the memory space of high bandwidth */
    atomic_word given; /* of the pool */
} allocator;

/* Before each piece. */
typedef struct piece {
    void *taken; /* of the heap, or pages; so much: */
    size_t taken_bytes;
    bool is_pages;
    size_t size_bytes;
    uintptr_t handle;
} piece;

#define ALIGNMENT_LEAST                                                                            \
    (_Alignof(piece) > _Alignof(max_align_t) ? _Alignof(piece) : _Alignof(max_align_t))

/* Compilers have predefined ones beyond OpenMP's, each with a number (LLVM 100 to 102, gcc 200): no
 * allocator lies so low. */
#define PREDEFINED_BELOW 4096u

/* NULL: a predefined one. */
static allocator *
allocator_of(uintptr_t handle)
{
    return handle >= PREDEFINED_BELOW ? (allocator *)handle : NULL;
}

/* ---- Which memory ---------------------------------------------------------------------------- */

#define NODES_MOST 1024u /* of one piece's: as the port has them */

typedef struct kind_known {
    med_once once;
    uint32_t count;
    uint32_t nodes[NODES_MOST];
} kind_known;

/* As it was when somebody asked first: that reads files. */
static const kind_known *
kind_get(med_port_memory_kind kind)
{
    static kind_known kinds[MED_PORT_MEMORY_HIGH_BANDWIDTH + 1];
    kind_known *known = &kinds[kind];
    if (med_once_begin(&known->once)) {
        uint32_t count = med_port_memory_nodes(kind, known->nodes, NODES_MOST);
        known->count = count < NODES_MOST ? count : NODES_MOST;
        med_once_end(&known->once);
    }
    return known;
}

/* On which memory nodes its pages are to lie; NULL: wherever they come to lie. One way is as any
 * other where there is one memory. */
static const kind_known *
nodes_of(const allocator *from)
{
    const kind_known *known = NULL;
    if (from->is_fast) {
        known = kind_get(MED_PORT_MEMORY_HIGH_BANDWIDTH);
        return known->count > 0 ? known : NULL;
    }
    if (from->partition != VALUE_ENVIRONMENT) {
        known = kind_get(MED_PORT_MEMORY_ALL);
    }
    return known && known->count > 1 ? known : NULL;
}

/* ---- Traits ---------------------------------------------------------------------------------- */

static bool
is_power_of_two(uintptr_t value)
{
    return value && (value & (value - 1)) == 0;
}

static bool
is_between(uintptr_t value, uintptr_t first, uintptr_t last)
{
    return value >= first && value <= last;
}

/* False: there is no such trait, or it cannot be had. */
static bool
trait_take(allocator *made, int key, uintptr_t value)
{
    bool is_default = value == VALUE_DEFAULT;
    switch (key) {
    case KEY_SYNC_HINT:
        return is_default || is_between(value, VALUE_CONTENDED, VALUE_PRIVATE);
    case KEY_ALIGNMENT:
        made->alignment = is_default ? 1 : value;
        return is_power_of_two(made->alignment);
    case KEY_ACCESS:
        return is_default || is_between(value, VALUE_ALL, VALUE_CGROUP);
    case KEY_POOL_SIZE:
        made->pool_bytes = is_default ? 0 : value;
        return value != 0;
    case KEY_FALLBACK:
        made->fallback = is_default ? VALUE_DEFAULT_FALLBACK : value;
        return is_between(made->fallback, VALUE_DEFAULT_FALLBACK, VALUE_ALLOCATOR_FALLBACK);
    case KEY_FALLBACK_DATA:
        made->fallback_handle = value;
        return true;
    case KEY_PINNED:
        made->is_pinned = value == VALUE_TRUE;
        return is_default || is_between(value, VALUE_FALSE, VALUE_TRUE);
    case KEY_PARTITION:
        made->partition = is_default ? VALUE_ENVIRONMENT : value;
        return is_between(made->partition, VALUE_ENVIRONMENT, VALUE_INTERLEAVED);
    default:
        return false;
    }
}

uintptr_t
med_allocator_make(uintptr_t space, const med_allocator_trait *traits, size_t trait_count)
{
    allocator made = {.alignment = 1,
                      .fallback = VALUE_DEFAULT_FALLBACK,
                      .partition = VALUE_ENVIRONMENT,
                      .is_pinned = space == SPACE_PINNED,
                      .is_fast = space == SPACE_HIGH_BANDWIDTH};
    if ((space > SPACE_LAST && space != SPACE_PINNED) || (made.is_fast && !nodes_of(&made))) {
        return MED_ALLOCATOR_NULL;
    }
    for (size_t i = 0; i < trait_count; i++) {
        if (!trait_take(&made, traits[i].key, traits[i].value)) {
            return MED_ALLOCATOR_NULL;
        }
    }
    allocator *kept = med_heap_lend(sizeof *kept);
    if (kept) {
        *kept = made;
    }
    return (uintptr_t)kept;
}

void
med_allocator_destroy(uintptr_t handle)
{
    med_heap_take_back(allocator_of(handle));
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static piece *
piece_of(const void *memory)
{
    return (piece *)(uintptr_t)memory - 1;
}

static bool
pool_take(allocator *from, size_t size_bytes)
{
    if (!from || from->pool_bytes == 0) {
        return true;
    }
    /* Relaxed, both: a number. */
    uintptr_t given = atomic_word_load_relaxed(&from->given);
    do {
        if (size_bytes > from->pool_bytes - given) {
            return false;
        }
    } while (!atomic_word_cas_relaxed(&from->given, &given, given + size_bytes));
    return true;
}

static void
pool_give(allocator *from, size_t size_bytes)
{
    if (from && from->pool_bytes) {
        /* Relaxed: a number. */
        (void)atomic_word_fetch_add_relaxed(&from->given, (uintptr_t)0 - size_bytes);
    }
}

/* Whose memory lies as it comes. A fast one that is predefined is no less than the default one
 * where the machine has no fast memory. */
static const allocator plain = {.alignment = 1, .partition = VALUE_ENVIRONMENT};
static const allocator plain_fast = {
    .alignment = 1, .partition = VALUE_ENVIRONMENT, .is_fast = true};

static const allocator plain_pinned = {
    .alignment = 1, .partition = VALUE_ENVIRONMENT, .is_pinned = true};

static const allocator *
wishes_of(uintptr_t handle)
{
    const allocator *from = allocator_of(handle);
    return from                                     ? from
           : handle == MED_ALLOCATOR_HIGH_BANDWIDTH ? &plain_fast
           : handle == PREDEFINED_PINNED            ? &plain_pinned
                                                    : &plain;
}

static med_port_spread
spread_of(const allocator *from)
{
    return from->partition == VALUE_BLOCKED       ? MED_PORT_SPREAD_BLOCKED
           : from->partition == VALUE_INTERLEAVED ? MED_PORT_SPREAD_INTERLEAVED
                                                  : MED_PORT_SPREAD_NEAREST;
}

/* NULL: there are no more, or none that stay. On which nodes they lie is a wish: where the machine
 * cannot do it, they lie elsewhere. */
static void *
pages_take(const allocator *from, size_t size_bytes, const kind_known *on)
{
    void *pages;
    if (med_port_memory_map(size_bytes, &pages) != MEDLEY_OK) {
        return NULL;
    }
    if (on) {
        (void)med_port_memory_spread(pages, size_bytes, spread_of(from), on->nodes, on->count);
    }
    if (from->is_pinned && med_port_memory_pin(pages, size_bytes) != MEDLEY_OK) {
        med_port_memory_unmap(pages, size_bytes);
        return NULL;
    }
    return pages;
}

/* NULL: there is no more. */
static void *
piece_make(uintptr_t handle, size_t size_bytes, size_t alignment)
{
    const allocator *from = wishes_of(handle);
    size_t taken_bytes;
    alignment = from->alignment > alignment ? from->alignment : alignment;
    alignment = alignment > ALIGNMENT_LEAST ? alignment : ALIGNMENT_LEAST;
    if (__builtin_add_overflow(size_bytes, sizeof(piece) + alignment, &taken_bytes)) {
        return NULL;
    }
    const kind_known *on = nodes_of(from);
    bool is_pages = on || from->is_pinned;
    void *taken = is_pages ? pages_take(from, taken_bytes, on) : med_port_heap_take(taken_bytes);
    if (!taken) {
        return NULL;
    }
    uintptr_t at = ((uintptr_t)taken + sizeof(piece) + alignment - 1) & ~(alignment - 1);
    *piece_of((void *)at) = (piece){.taken = taken,
                                    .taken_bytes = taken_bytes,
                                    .is_pages = is_pages,
                                    .size_bytes = size_bytes,
                                    .handle = handle};
    return (void *)at;
}

static void
piece_give(const piece *given)
{
    if (given->is_pages) {
        med_port_memory_unmap(given->taken, given->taken_bytes);
    } else {
        med_port_heap_give(given->taken, given->taken_bytes);
    }
}

/* Of one allocator alone. */
static void *
take_of(uintptr_t handle, size_t size_bytes, size_t alignment)
{
    allocator *from = allocator_of(handle);
    if (!pool_take(from, size_bytes)) {
        return NULL;
    }
    void *memory = piece_make(handle, size_bytes, alignment);
    if (!memory) {
        pool_give(from, size_bytes);
    }
    return memory;
}

/* What is predefined has the default one behind it (OpenMP 5.1, table 2.10); but gcc's pinned
 * memory is pinned, or none. */
static uintptr_t
predefined_fallback(uintptr_t handle)
{
    return handle == MED_ALLOCATOR_DEFAULT || handle == PREDEFINED_PINNED ? VALUE_NULL_FALLBACK
                                                                          : VALUE_DEFAULT_FALLBACK;
}

/* Who is asked next; MED_ALLOCATOR_NULL: nobody. */
static uintptr_t
fallback_of(uintptr_t handle)
{
    const allocator *from = allocator_of(handle);
    uintptr_t fallback = from ? from->fallback : predefined_fallback(handle);
    if (fallback == VALUE_ABORT_FALLBACK) {
        med_say_fatal("an allocator has no more memory, and is not to go on without");
    }
    return fallback == VALUE_ALLOCATOR_FALLBACK ? from->fallback_handle
           : fallback == VALUE_DEFAULT_FALLBACK ? MED_ALLOCATOR_DEFAULT
                                                : MED_ALLOCATOR_NULL;
}

void *
med_allocator_take(uintptr_t handle, size_t size_bytes, size_t alignment)
{
    void *memory = NULL;
    if (size_bytes == 0 || !is_power_of_two(alignment)) {
        return NULL;
    }
    while (handle != MED_ALLOCATOR_NULL && !memory) {
        memory = take_of(handle, size_bytes, alignment);
        handle = memory ? handle : fallback_of(handle);
    }
    return memory;
}

void
med_allocator_give(void *memory)
{
    if (memory) {
        const piece *given = piece_of(memory);
        pool_give(allocator_of(given->handle), given->size_bytes);
        piece_give(given);
    }
}

/* Within one allocator only the difference counts for its pool. NULL: as it was. */
static void *
resize(void *memory, size_t size_bytes)
{
    const piece old = *piece_of(memory);
    allocator *from = allocator_of(old.handle);
    bool grows = size_bytes > old.size_bytes;
    if (grows && !pool_take(from, size_bytes - old.size_bytes)) {
        return NULL;
    }
    void *moved = piece_make(old.handle, size_bytes, 1);
    if (!moved) {
        pool_give(from, grows ? size_bytes - old.size_bytes : 0);
        return NULL;
    }
    pool_give(from, grows ? 0 : old.size_bytes - size_bytes);
    memcpy(moved, memory, grows ? old.size_bytes : size_bytes);
    piece_give(&old);
    return moved;
}

void *
med_allocator_move(void *memory, uintptr_t handle, size_t size_bytes)
{
    const piece *old = piece_of(memory);
    bool is_same = handle == MED_ALLOCATOR_NULL || handle == old->handle;
    void *moved = is_same ? resize(memory, size_bytes) : NULL;
    if (!moved) {
        moved = med_allocator_take(is_same ? old->handle : handle, size_bytes, 1);
        if (moved) {
            memcpy(moved, memory, old->size_bytes < size_bytes ? old->size_bytes : size_bytes);
            med_allocator_give(memory);
        }
    }
    return moved;
}
