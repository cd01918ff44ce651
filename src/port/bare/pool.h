/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A memory that is given in pieces: the arena, a board's tightly coupled memory. */
#ifndef MEDLEY_PORT_BARE_POOL_H
#define MEDLEY_PORT_BARE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct med_bare_piece {
    struct med_bare_piece *next;
    size_t bytes; /* a multiple of 64 */
} med_bare_piece;

/* 0 at first; pool.c's own. */
typedef struct med_bare_pool {
    med_bare_piece first; /* of no bytes, before all others; guarded by the lock, as is the next */
    bool filled;
    uint32_t taken; /* the lock */
} med_bare_pool;

/* `size_bytes` of the memory that the pool is of, from `start` on, aligned to 64 bytes, zeroed;
 * NULL: there is no such piece. */
void *
med_bare_pool_take(med_bare_pool *pool, unsigned char *start, size_t bytes, size_t size_bytes);
void med_bare_pool_give(med_bare_pool *pool, void *address, size_t size_bytes);

#endif
