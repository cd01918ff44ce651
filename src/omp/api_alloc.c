/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of OpenMP 5.1, section 3.13, about memory; and what gcc calls for the directive and
 * the clause `allocate`. */
#include <stdbool.h>
#include <string.h>

#include "omp/allocator.h"
#include "omp/fortran.h"
#include "omp/team.h"

/* ---- Allocators ------------------------------------------------------------------------------ */

FACE uintptr_t
omp_init_allocator(uintptr_t space, int count, const med_allocator_trait *traits)
{
    return med_allocator_make(space, traits, count > 0 ? (size_t)count : 0);
}

FACE uintptr_t
omp_init_allocator_(const uintptr_t *space, const int *count, const med_allocator_trait *traits)
{
    return omp_init_allocator(*space, *count, traits);
}
LLVM_BOTH(omp_init_allocator)

FACE uintptr_t
omp_init_allocator_8_(const uintptr_t *space,
                      const int64_t *count,
                      const med_allocator_trait *traits)
{
    return omp_init_allocator(*space, med_fortran_int(*count), traits);
}

FACE void
omp_destroy_allocator(uintptr_t allocator)
{
    med_allocator_destroy(allocator);
}

FACE void
omp_destroy_allocator_(const uintptr_t *allocator)
{
    omp_destroy_allocator(*allocator);
}
LLVM_BOTH(omp_destroy_allocator)

FACE void
omp_set_default_allocator(uintptr_t allocator)
{
    med_member_icv(med_member_get())->allocator =
        allocator == MED_ALLOCATOR_NULL ? MED_ALLOCATOR_DEFAULT : allocator;
}

FACE void
omp_set_default_allocator_(const uintptr_t *allocator)
{
    omp_set_default_allocator(*allocator);
}
LLVM_BOTH(omp_set_default_allocator)

FACE uintptr_t
omp_get_default_allocator(void)
{
    return med_member_get()->icv->allocator;
}
ASKS(uintptr_t, get_default_allocator)

/* ---- Memory ---------------------------------------------------------------------------------- */

FACE void *
omp_aligned_alloc(size_t alignment, size_t size_bytes, uintptr_t allocator)
{
    bool is_default = allocator == MED_ALLOCATOR_NULL;
    return med_allocator_take(is_default ? omp_get_default_allocator() : allocator, size_bytes,
                              alignment);
}
LLVM(omp_aligned_alloc)

FACE void *
omp_alloc(size_t size_bytes, uintptr_t allocator)
{
    return omp_aligned_alloc(1, size_bytes, allocator);
}
LLVM(omp_alloc)

FACE void *
omp_aligned_calloc(size_t alignment, size_t count, size_t size_bytes, uintptr_t allocator)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size_bytes, &bytes)) {
        return NULL;
    }
    void *memory = omp_aligned_alloc(alignment, bytes, allocator);
    return memory ? memset(memory, 0, bytes) : NULL;
}
LLVM(omp_aligned_calloc)

FACE void *
omp_calloc(size_t count, size_t size_bytes, uintptr_t allocator)
{
    return omp_aligned_calloc(1, count, size_bytes, allocator);
}
LLVM(omp_calloc)

/* The piece itself tells whose it is. */
FACE void
omp_free(void *memory, uintptr_t allocator)
{
    (void)allocator;
    med_allocator_give(memory);
}
LLVM(omp_free)

FACE void *
omp_realloc(void *memory, size_t size_bytes, uintptr_t allocator, uintptr_t free_allocator)
{
    if (!memory) {
        return omp_alloc(size_bytes, allocator);
    }
    if (size_bytes == 0) {
        omp_free(memory, free_allocator);
        return NULL;
    }
    return med_allocator_move(memory, allocator, size_bytes);
}
LLVM(omp_realloc)

/* ---- Of gcc ---------------------------------------------------------------------------------- */

FACE void *
GOMP_alloc(size_t alignment, size_t size_bytes, uintptr_t allocator)
{
    return omp_aligned_alloc(alignment, size_bytes, allocator);
}
LLVM(GOMP_alloc)

FACE void
GOMP_free(void *memory, uintptr_t allocator)
{
    omp_free(memory, allocator);
}
LLVM(GOMP_free)
