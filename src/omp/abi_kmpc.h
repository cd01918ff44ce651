/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files of clang's names have in common. A thread's number, which clang asks for once and
 * hands to most of them, is that of its member's locks; none of them needs it.
 */
#ifndef MEDLEY_OMP_ABI_KMPC_H
#define MEDLEY_OMP_ABI_KMPC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/face.h"
#include "omp/told.h"

/* Where in the program a directive stands, as clang says it. */
typedef struct med_kmpc_place {
    int32_t reserved;
    int32_t flags;
    int32_t more_reserved[2];
    const char *source; /* ";file;function;line;column;;" */
} med_kmpc_place;

/* A construct's lines: a function of two numbers and the addresses of what it uses. */
typedef void (*med_kmpc_lines)(int32_t *thread, int32_t *number, ...);

/* Of its flags. */
#define MED_KMPC_ATOMIC 0x10 /* the compiler has made atomic operations */
#define MED_KMPC_BARRIER_EXPLICIT 0x20
#define MED_KMPC_WORK_SECTIONS 0x400
#define MED_KMPC_WORK_DISTRIBUTE 0x800

#define MED_KMPC_ARGUMENTS 256u

/* With the arguments that it is called with: so many, and room for those that are none. */
typedef struct med_kmpc_call {
    med_kmpc_lines lines;
    uint32_t count;
    uint64_t float_control; /* of who met it */
    void *arguments[MED_KMPC_ARGUMENTS];
} med_kmpc_call;

/* The program ends where there are too many. */
void
med_kmpc_call_fill(med_kmpc_call *call, med_kmpc_lines lines, int32_t count, va_list arguments);
/* Begins a face that has the arguments `count` and `lines`, and addresses behind these. */
#define MED_KMPC_CALL(call)                                                                        \
    med_kmpc_call call;                                                                            \
    va_list call##_arguments;                                                                      \
    va_start(call##_arguments, lines);                                                             \
    med_kmpc_call_fill(&call, lines, count, call##_arguments);                                     \
    va_end(call##_arguments)
/* By the calling thread's member. The argument is a med_kmpc_call. */
void med_kmpc_call_make(void *call);

/* All who compute for a region round and so on as who met it does, and he goes on so behind it: as
 * LLVM's library has it, unlike gcc's, and KMP_INHERIT_FP_CONTROL may say no. */
static inline void
med_kmpc_float_inherit(uint64_t control)
{
    if (control != med_port_float_control() && med_settings_get()->inherits_float_control) {
        med_port_float_control_set(control);
    }
}

/* The loop is the one whose dimensions the member was told. */
void med_kmpc_doacross_begin(med_member *member, med_loop *loop, const med_bounds *bounds);

/* The member was told that its loop, or its region, is cancelled: it goes past what would end the
 * group of tasks that reduces for that, if there is one. */
void med_kmpc_reduction_leave(med_member *member, bool is_region);

/* Of api_alloc.c: clang's names for memory mean the same. */
void *omp_aligned_alloc(size_t alignment, size_t size_bytes, uintptr_t allocator);
void *omp_calloc(size_t count, size_t size_bytes, uintptr_t allocator);
void *omp_realloc(void *memory, size_t size_bytes, uintptr_t allocator, uintptr_t free_allocator);

/* Clang calls one function for those that the program has and those that are its own. */
static inline uint32_t
med_kmpc_barrier_kind(const med_kmpc_place *place)
{
    return place->flags & MED_KMPC_BARRIER_EXPLICIT ? MED_OMPT_BARRIER_EXPLICIT
                                                    : MED_OMPT_BARRIER_IMPLICIT;
}

static inline int32_t
med_kmpc_thread(const med_member *member)
{
    return (int32_t)member->owner;
}

#endif
