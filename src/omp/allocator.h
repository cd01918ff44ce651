/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory for programs, from allocators with traits (OpenMP 5.1, section 2.13). Memory spaces are
 * the machine's memory: of none of its own it says that it is larger or constant. That of high
 * bandwidth are the memory nodes of which the machine says that they have more than others; where
 * it says so of none, who asks for that alone gets no allocator.
 */
#ifndef MEDLEY_OMP_ALLOCATOR_H
#define MEDLEY_OMP_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/value.h"

/* Handles, as omp.h numbers them: predefined ones up to here, else an allocator's address. */
#define MED_ALLOCATOR_NULL 0u
#define MED_ALLOCATOR_DEFAULT 1u
#define MED_ALLOCATOR_HIGH_BANDWIDTH 4u
#define MED_ALLOCATOR_PREDEFINED 8u

typedef struct med_allocator_trait {
    int key;
    uintptr_t value;
} med_allocator_trait;

/* Of those that are predefined, from the default one on. */
extern const char *const med_allocator_names[MED_ALLOCATOR_PREDEFINED];

/* MED_ALLOCATOR_NULL: there is no such memory, or no such trait. */
uintptr_t
med_allocator_make(uintptr_t space, const med_allocator_trait *traits, size_t trait_count);
void med_allocator_destroy(uintptr_t handle);
/* One that a variable says, to its end; with a memory space in it, it is made at each call.
 * MED_ALLOCATOR_NULL: it says none, or there is no such memory. */
uintptr_t med_allocator_read(med_value *value);

/* NULL, where the fallback says so: there is none. `alignment`: at least, a power of two. */
void *med_allocator_take(uintptr_t handle, size_t size_bytes, size_t alignment);
/* What take gave; may be NULL. */
void med_allocator_give(void *memory);
/* What take gave, with another size, from that allocator (MED_ALLOCATOR_NULL: from the same). NULL:
 * there is none, and what was given stays. */
void *med_allocator_move(void *memory, uintptr_t handle, size_t size_bytes);

#endif
