/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The functions of LLVM's omp.h (14 to 19) that begin with kmp_. What they set holds for the
 * regions that the calling task meets from then on; the size of stacks for threads that are started
 * from then on. For Fortran each has a second name, which takes its arguments by address; LLVM's
 * library has some by a third one, which takes them as C does.
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/log.h"
#include "mrapi/heap_lent.h"
#include "omp/allocator.h"
#include "omp/crew.h"
#include "omp/face.h"
#include "omp/places.h"
#include "omp/say.h"
#include "omp/team.h"
#include "omp/waiting.h"

#define GIVEN(type, name)                                                                          \
    FACE void name##_(const type *value)                                                           \
    {                                                                                              \
        name(*value);                                                                              \
    }
#define ASKS(type, name)                                                                           \
    FACE type name##_(void)                                                                        \
    {                                                                                              \
        return name();                                                                             \
    }
#define DOES(name)                                                                                 \
    FACE void name##_(void)                                                                        \
    {                                                                                              \
        name();                                                                                    \
    }

/* ---- Stacks ---------------------------------------------------------------------------------- */

FACE size_t
kmp_get_stacksize_s(void)
{
    size_t bytes = med_crew_stack_bytes();
    return bytes ? bytes : med_port_thread_stack_bytes();
}
ASKS(size_t, kmp_get_stacksize_s)

FACE int
kmp_get_stacksize(void)
{
    size_t bytes = kmp_get_stacksize_s();
    return bytes > INT_MAX ? INT_MAX : (int)bytes;
}
ASKS(int, kmp_get_stacksize)

FACE void
kmp_set_stacksize_s(size_t bytes)
{
    med_crew_stack_set(bytes);
}
GIVEN(size_t, kmp_set_stacksize_s)

FACE void
kmp_set_stacksize(int bytes)
{
    if (bytes > 0) {
        kmp_set_stacksize_s((size_t)bytes);
    }
}
GIVEN(int, kmp_set_stacksize)

/* ---- Waiting --------------------------------------------------------------------------------- */

#define MS_NS UINT64_C(1000000)

/* By the calling thread from now on, and by those of the regions that it meets. */
static void
waits_set(const med_wait_limits *waits)
{
    med_member *member = med_member_get();
    med_member_icv(member)->waits = waits;
    member->waits_fixed = waits;
    member->limits =
        med_waiting_limits(waits, member->is_dense, member->team->size, member->place.come);
    member->place.limits = member->limits;
}

FACE void
kmp_set_blocktime(int time_ms)
{
    uint64_t ms = time_ms > 0 ? (uint64_t)time_ms : 0;
    waits_set(med_waiting_of(time_ms == INT_MAX ? MED_WAITING_FOREVER_NS : ms * MS_NS));
}
GIVEN(int, kmp_set_blocktime)

/* Who learns how long to spin does not do so for a millisecond. */
FACE int
kmp_get_blocktime(void)
{
    const med_wait_limits *waits = med_member_get()->icv->waits;
    uint64_t ms = waits ? waits->most_ns / MS_NS : 0;
    return ms > INT_MAX || med_waiting_is_active(waits) ? INT_MAX : (int)ms;
}
ASKS(int, kmp_get_blocktime)

/* ---- Kinds of library ------------------------------------------------------------------------ */

enum library {
    SERIAL = 1,
    TURNAROUND,
    THROUGHPUT
};

/* One thread to each region; all wait actively; as the environment says. */
FACE void
kmp_set_library(int kind)
{
    const med_icv *initial = &med_settings_get()->initial;
    med_icv *icv = med_member_icv(med_member_get());
    if (kind < SERIAL || kind > THROUGHPUT) {
        return;
    }
    icv->active_levels_max = kind == SERIAL ? 0 : initial->active_levels_max;
    waits_set(kind == TURNAROUND ? med_waiting_of(MED_WAITING_FOREVER_NS) : initial->waits);
}
GIVEN(int, kmp_set_library)

FACE int
kmp_get_library(void)
{
    const med_icv *icv = med_member_get()->icv;
    return icv->active_levels_max == 0         ? SERIAL
           : med_waiting_is_active(icv->waits) ? TURNAROUND
                                               : THROUGHPUT;
}
ASKS(int, kmp_get_library)

FACE void
kmp_set_library_serial(void)
{
    kmp_set_library(SERIAL);
}
DOES(kmp_set_library_serial)

FACE void
kmp_set_library_turnaround(void)
{
    kmp_set_library(TURNAROUND);
}
DOES(kmp_set_library_turnaround)

FACE void
kmp_set_library_throughput(void)
{
    kmp_set_library(THROUGHPUT);
}
DOES(kmp_set_library_throughput)

/* A variable of the environment, as NAME=VALUE; several with bars between them. */
FACE void
kmp_set_defaults(const char *text)
{
    char line[256];
    while (*text) {
        size_t length = 0;
        while (text[length] && text[length] != '|') {
            length++;
        }
        size_t cut = length < sizeof line ? length : sizeof line - 1;
        memcpy(line, text, cut);
        line[cut] = '\0';
        med_settings_change(line, med_member_icv(med_member_get()));
        text += length + (text[length] == '|');
    }
}

FACE void
kmp_set_defaults_(const char *text, int length)
{
    char line[256];
    size_t cut = length < (int)sizeof line ? (size_t)length : sizeof line - 1;
    memcpy(line, text, cut);
    line[cut] = '\0';
    kmp_set_defaults(line);
}

/* A team has the same ring of loops always. */
FACE void
kmp_set_disp_num_buffers(int count)
{
    (void)count;
}
GIVEN(int, kmp_set_disp_num_buffers)

/* Warnings are Medley's: MEDLEY_LOG says which. */
FACE void
kmp_set_warnings_on(void)
{
}
DOES(kmp_set_warnings_on)

FACE void
kmp_set_warnings_off(void)
{
}
DOES(kmp_set_warnings_off)

/* ---- Memory ---------------------------------------------------------------------------------- */

FACE void *
kmp_aligned_malloc(size_t size_bytes, size_t alignment)
{
    return med_allocator_take(MED_ALLOCATOR_DEFAULT, size_bytes, alignment);
}

FACE void *
kmp_malloc(size_t size_bytes)
{
    return kmp_aligned_malloc(size_bytes, 1);
}

FACE void *
kmp_calloc(size_t count, size_t size_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size_bytes, &bytes)) {
        return NULL;
    }
    void *memory = kmp_malloc(bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

FACE void
kmp_free(void *memory)
{
    med_allocator_give(memory);
}

FACE void *
kmp_realloc(void *memory, size_t size_bytes)
{
    if (!memory) {
        return kmp_malloc(size_bytes);
    }
    if (size_bytes == 0) {
        kmp_free(memory);
        return NULL;
    }
    return med_allocator_move(memory, MED_ALLOCATOR_DEFAULT, size_bytes);
}

FACE void *
kmp_aligned_malloc_(const size_t *size_bytes, const size_t *alignment)
{
    return kmp_aligned_malloc(*size_bytes, *alignment);
}

FACE void *
kmp_malloc_(const size_t *size_bytes)
{
    return kmp_malloc(*size_bytes);
}

FACE void *
kmp_calloc_(const size_t *count, const size_t *size_bytes)
{
    return kmp_calloc(*count, *size_bytes);
}

FACE void *
kmp_realloc_(void **memory, const size_t *size_bytes)
{
    return kmp_realloc(*memory, *size_bytes);
}

FACE void
kmp_free_(void **memory)
{
    kmp_free(*memory);
}

/* ---- Processors of a thread ------------------------------------------------------------------ */

/* A mask is a set of processors; the program has its address alone (kmp_affinity_mask_t). */
#define NO_PROCESSOR (-1)

FACE int
kmp_get_affinity_max_proc(void)
{
    med_port_processors processors = {.online = 1};
    (void)med_port_processors_discover(&processors);
    return (int)(processors.online < MED_PROCESSORS_MAX ? processors.online : MED_PROCESSORS_MAX);
}
ASKS(int, kmp_get_affinity_max_proc)

FACE void
kmp_create_affinity_mask(void **mask)
{
    *mask = med_heap_lend(sizeof(med_processor_set));
    if (!*mask) {
        med_say_fatal("there is no memory for a set of processors");
    }
}

FACE void
kmp_destroy_affinity_mask(void **mask)
{
    med_heap_take_back(*mask);
    *mask = NULL;
}

/* 0; or it may run on none of them. */
FACE int
kmp_set_affinity(void **mask)
{
    return med_port_thread_bind(*mask) == MEDLEY_OK ? 0 : NO_PROCESSOR;
}

FACE int
kmp_get_affinity(void **mask)
{
    med_port_processors_allowed(*mask);
    return 0;
}

static bool
is_there(int processor)
{
    return processor >= 0 && processor < kmp_get_affinity_max_proc();
}

FACE int
kmp_set_affinity_mask_proc(int processor, void **mask)
{
    if (!is_there(processor)) {
        return NO_PROCESSOR;
    }
    med_processor_set_put(*mask, (uint32_t)processor);
    return 0;
}

FACE int
kmp_unset_affinity_mask_proc(int processor, void **mask)
{
    if (!is_there(processor)) {
        return NO_PROCESSOR;
    }
    med_processor_set_drop(*mask, (uint32_t)processor);
    return 0;
}

FACE int
kmp_get_affinity_mask_proc(int processor, void **mask)
{
    if (!is_there(processor)) {
        return NO_PROCESSOR;
    }
    return med_processor_set_has(*mask, (uint32_t)processor);
}

#define OF_MASK(type, name)                                                                        \
    FACE type name##_(void **mask)                                                                 \
    {                                                                                              \
        return name(mask);                                                                         \
    }
#define OF_PROCESSOR(name)                                                                         \
    FACE int name##_(const int *processor, void **mask)                                            \
    {                                                                                              \
        return name(*processor, mask);                                                             \
    }
OF_MASK(void, kmp_create_affinity_mask)
OF_MASK(void, kmp_destroy_affinity_mask)
OF_MASK(int, kmp_set_affinity)
OF_MASK(int, kmp_get_affinity)
OF_PROCESSOR(kmp_set_affinity_mask_proc)
OF_PROCESSOR(kmp_unset_affinity_mask_proc)
OF_PROCESSOR(kmp_get_affinity_mask_proc)

/* ---- Third names ----------------------------------------------------------------------------- */

LLVM_AS(kmp_set_stacksize, kmpc_set_stacksize)
LLVM_AS(kmp_set_stacksize_s, kmpc_set_stacksize_s)
LLVM_AS(kmp_set_blocktime, kmpc_set_blocktime)
LLVM_AS(kmp_set_library, kmpc_set_library)
LLVM_AS(kmp_set_defaults, kmpc_set_defaults)
LLVM_AS(kmp_set_disp_num_buffers, kmpc_set_disp_num_buffers)
LLVM_AS(kmp_aligned_malloc, kmpc_aligned_malloc)
LLVM_AS(kmp_malloc, kmpc_malloc)
LLVM_AS(kmp_calloc, kmpc_calloc)
LLVM_AS(kmp_realloc, kmpc_realloc)
LLVM_AS(kmp_free, kmpc_free)
LLVM_AS(kmp_set_affinity_mask_proc, kmpc_set_affinity_mask_proc)
LLVM_AS(kmp_unset_affinity_mask_proc, kmpc_unset_affinity_mask_proc)
LLVM_AS(kmp_get_affinity_mask_proc, kmpc_get_affinity_mask_proc)
