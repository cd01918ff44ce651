/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Handles of registry objects: 32 bits that say what kind, which row, and which life of that row.
 *
 *   31..28 kind (never 0)    27..16 generation, modulo 4096    15..0 row */
#ifndef MEDLEY_MRAPI_HANDLE_H
#define MEDLEY_MRAPI_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "mrapi/table.h"

typedef uint32_t med_handle;

typedef enum med_handle_kind {
    MED_HANDLE_MUTEX = 1,
    MED_HANDLE_MUTEX_PI, /* with priority inheritance: tells the fast path off without a look */
    MED_HANDLE_RMEM,
    MED_HANDLE_SEM,
    MED_HANDLE_RWL,
    MED_HANDLE_ENDPOINT,
    MED_HANDLE_SENDER, /* the sending end of a channel: its lane */
    MED_HANDLE_SHMEM = 8,
    MED_HANDLE_HEAP, /* of a process's own table; heap.h says what its bits are */
    MED_HANDLE_RECEIVER,
} med_handle_kind;

/* How much of a row's generation a handle has. */
#define MED_HANDLE_GENERATION 0xfffu

static inline med_handle
med_handle_make(med_handle_kind kind, uint32_t index, uint32_t generation)
{
    return (uint32_t)kind << 28 | (generation & MED_HANDLE_GENERATION) << 16 | index;
}

static inline med_handle_kind
med_handle_kind_of(med_handle handle)
{
    return (med_handle_kind)(handle >> 28);
}

static inline uint32_t
med_handle_index(med_handle handle)
{
    return handle & 0xffffu;
}

static inline uint32_t
med_handle_generation(med_handle handle)
{
    return handle >> 16 & MED_HANDLE_GENERATION;
}

/* The same life of the same row, under another kind. */
static inline med_handle
med_handle_of_kind(med_handle handle, med_handle_kind kind)
{
    return (handle & 0x0fffffffu) | (uint32_t)kind << 28;
}

/* The row of a handle of that kind; of any other, a number larger than any row's. */
static inline uint32_t
med_handle_index_of_kind(med_handle handle, med_handle_kind kind)
{
    return (handle & 0xf000ffffu) - ((uint32_t)kind << 28);
}

/* Does the handle name this life of the row, and is it LIVE? */
static inline bool
med_handle_is_current(med_handle handle, uint32_t row_word)
{
    return (row_word & 0x0fffffffu) == ((handle & 0x0fff0000u) | MED_ROW_LIVE);
}

#endif
