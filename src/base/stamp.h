/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The stamp: the first eight bytes of a structure that lies in shared memory. It says what the
 * structure is, in which version of its layout, and by its own byte order which byte order the rest
 * has. Whoever attaches to memory that somebody else made checks the stamp before anything else.
 *
 * Written once, by the creator; nobody attaches before the creator has published the memory by
 * means of his own (a registry row, a file lock), so the accesses here carry no order.
 */
#ifndef MEDLEY_BASE_STAMP_H
#define MEDLEY_BASE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "medley/status.h"

typedef struct med_stamp {
    atomic32 kind; /* four letters, as a number */
    atomic32 version;
} med_stamp;
_Static_assert(sizeof(med_stamp) == 8, "layout in shared memory");

/* Four letters that do not read the same backwards. */
#define MED_STAMP_KIND(a, b, c, d)                                                                 \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/* What stands in shared memory begins at a line of its own, and keeps its writers' words apart. */
#define MED_STAMP_LINE_BYTES 64u

static inline void
med_stamp_write(med_stamp *stamp, uint32_t kind, uint32_t version)
{
    /* Relaxed, both: the creator publishes the whole structure afterwards. */
    atomic32_store_relaxed(&stamp->version, version);
    atomic32_store_relaxed(&stamp->kind, kind);
}

/* MEDLEY_ERR_BYTE_ORDER, MEDLEY_ERR_VERSION; MEDLEY_ERR_CORRUPT when it is something else. */
static inline medley_status_t
med_stamp_check(const med_stamp *stamp, uint32_t kind, uint32_t version)
{
    /* Relaxed, both: the structure was published before. */
    uint32_t kind_seen = atomic32_load_relaxed(&stamp->kind);
    if (kind_seen == __builtin_bswap32(kind)) {
        return MEDLEY_ERR_BYTE_ORDER;
    }
    if (kind_seen != kind) {
        return MEDLEY_ERR_CORRUPT;
    }
    return atomic32_load_relaxed(&stamp->version) == version ? MEDLEY_OK : MEDLEY_ERR_VERSION;
}

/* Memory for a structure: there, and on a line. */
static inline bool
med_stamp_fits(const void *memory, uint64_t size_bytes, uint64_t needed_bytes)
{
    return memory && (uintptr_t)memory % MED_STAMP_LINE_BYTES == 0 && size_bytes >= needed_bytes;
}

/* What comes before anything else of the structure is read: is the memory there, on a line, with
 * room for the structure's fixed part, at whose beginning the stamp is, and the stamp right?
 * MEDLEY_ERR_ARGUMENT when there is no such memory; else as med_stamp_check. */
static inline medley_status_t
med_stamp_attach(
    const void *memory, uint64_t size_bytes, uint64_t fixed_bytes, uint32_t kind, uint32_t version)
{
    if (!med_stamp_fits(memory, size_bytes, 0)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    return size_bytes < fixed_bytes ? MEDLEY_ERR_CORRUPT : med_stamp_check(memory, kind, version);
}

static inline uint64_t
med_stamp_round_up(uint64_t bytes)
{
    return (bytes + MED_STAMP_LINE_BYTES - 1) / MED_STAMP_LINE_BYTES * MED_STAMP_LINE_BYTES;
}

#endif
