/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of OpenMP 5.1 about devices, of which there is one, the host; and about teams. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/fortran.h"
#include "omp/target.h"
#include "omp/teams.h"
#include "port/port.h"

/* ---- Devices --------------------------------------------------------------------------------- */

FACE void
omp_set_default_device(int device)
{
    med_member_icv(med_member_get())->device = device < 0 ? 0 : device;
}
GIVEN(set_default_device)

FACE int
omp_get_default_device(void)
{
    return med_member_get()->icv->device;
}
ASKS(int, get_default_device)

FACE int
omp_get_num_devices(void)
{
    return 0;
}

FACE int
omp_get_initial_device(void)
{
    return MED_DEVICE_HOST;
}

FACE int
omp_get_device_num(void)
{
    return MED_DEVICE_HOST;
}

/* Clang's programs are linked with a library of LLVM's where they have regions for other devices:
 * that one knows which there are, and goes by the same three names. A static program has plain
 * names alone, and those are the host's. */
#ifdef MED_OMP_VERSIONS
static int
asked_of_libomptarget(const char *name)
{
    int (*there)(void);
    void *found = med_port_function_find("__tgt_register_lib", name);
    memcpy(&there, &found, sizeof there);
    return there ? there() : MED_DEVICE_HOST;
}

#define BY_LLVMS_NAME(name)                                                                        \
    FACE int med_llvm_##name(void)                                                                 \
    {                                                                                              \
        return asked_of_libomptarget("omp_" #name);                                                \
    }                                                                                              \
    LLVM_IS(med_llvm_##name, omp_##name)                                                           \
    LLVM_IS(med_llvm_##name, omp_##name##_)
#else
#define BY_LLVMS_NAME(name)
#endif
#define ASKS_OF_DEVICES(name)                                                                      \
    FACE int omp_##name##_(void)                                                                   \
    {                                                                                              \
        return omp_##name();                                                                       \
    }                                                                                              \
    BY_LLVMS_NAME(name)
ASKS_OF_DEVICES(get_num_devices)
ASKS_OF_DEVICES(get_initial_device)
ASKS_OF_DEVICES(get_device_num)

FACE int
omp_is_initial_device(void)
{
    return 1;
}
ASKS(int, is_initial_device)

#define REFUSED 22 /* EINVAL */

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool
is_host(int device)
{
    return device == MED_DEVICE_HOST || device == MED_DEVICE_INITIAL ||
           device == MED_DEVICE_FALLBACK;
}

FACE void *
omp_target_alloc(size_t size_bytes, int device)
{
    return is_host(device) && size_bytes ? med_heap_lend(size_bytes) : NULL;
}

FACE void
omp_target_free(void *memory, int device)
{
    if (is_host(device)) {
        med_heap_take_back(memory);
    }
}

FACE int
omp_target_is_present(const void *address, int device)
{
    (void)address;
    return is_host(device);
}

FACE int
omp_target_is_accessible(const void *address, size_t size_bytes, int device)
{
    (void)size_bytes;
    return omp_target_is_present(address, device);
}

FACE void *
omp_get_mapped_ptr(const void *address, int device)
{
    return is_host(device) ? (void *)(uintptr_t)address : NULL;
}

FACE int
omp_target_memcpy(void *target,
                  const void *source,
                  size_t size_bytes,
                  size_t target_offset,
                  size_t source_offset,
                  int target_device,
                  int source_device)
{
    if (!is_host(target_device) || !is_host(source_device)) {
        return REFUSED;
    }
    memcpy((char *)target + target_offset, (const char *)source + source_offset, size_bytes);
    return 0;
}

/* A box of so many dimensions, in two boxes that may be larger. */
typedef struct rectangle {
    size_t element_bytes;
    const size_t *volume;
    const size_t *target_offsets;
    const size_t *source_offsets;
    const size_t *target_dimensions;
    const size_t *source_dimensions;
} rectangle;

/* How far `offset` elements of the first of these dimensions are. */
static bool
distance(const size_t *dimensions, int count, size_t element_bytes, size_t offset, size_t *bytes)
{
    size_t size = element_bytes;
    for (int i = 1; i < count; i++) {
        if (__builtin_mul_overflow(size, dimensions[i], &size)) {
            return false;
        }
    }
    return !__builtin_mul_overflow(size, offset, bytes);
}

/* From dimension `first` on: row by row of the last one. */
static int
rectangle_copy(const rectangle *r, char *target, const char *source, int first, int count)
{
    size_t target_bytes, source_bytes, bytes;
    size_t target_step = 0;
    size_t source_step = 0;
    int left = count - first;
    if (!distance(r->target_dimensions + first, left, r->element_bytes, r->target_offsets[first],
                  &target_bytes) ||
        !distance(r->source_dimensions + first, left, r->element_bytes, r->source_offsets[first],
                  &source_bytes)) {
        return REFUSED;
    }
    target += target_bytes;
    source += source_bytes;
    if (left == 1) {
        if (__builtin_mul_overflow(r->element_bytes, r->volume[first], &bytes)) {
            return REFUSED;
        }
        memcpy(target, source, bytes);
        return 0;
    }
    (void)distance(r->target_dimensions + first, left, r->element_bytes, 1, &target_step);
    (void)distance(r->source_dimensions + first, left, r->element_bytes, 1, &source_step);
    int status = 0;
    for (size_t i = 0; i < r->volume[first] && status == 0; i++) {
        status =
            rectangle_copy(r, target + i * target_step, source + i * source_step, first + 1, count);
    }
    return status;
}

FACE int
omp_target_memcpy_rect(void *target,
                       const void *source,
                       size_t element_bytes,
                       int dimensions,
                       const size_t *volume,
                       const size_t *target_offsets,
                       const size_t *source_offsets,
                       const size_t *target_dimensions,
                       const size_t *source_dimensions,
                       int target_device,
                       int source_device)
{
    if (!target && !source) {
        return INT32_MAX; /* how many dimensions there may be */
    }
    if (!target || !source || !is_host(target_device) || !is_host(source_device) ||
        dimensions < 1) {
        return REFUSED;
    }
    const rectangle r = {.element_bytes = element_bytes,
                         .volume = volume,
                         .target_offsets = target_offsets,
                         .source_offsets = source_offsets,
                         .target_dimensions = target_dimensions,
                         .source_dimensions = source_dimensions};
    return rectangle_copy(&r, target, source, 0, dimensions);
}

/* Of the host's memory there is no second address. */
FACE int
omp_target_associate_ptr(const void *host,
                         const void *device_address,
                         size_t size_bytes,
                         size_t device_offset,
                         int device)
{
    (void)host;
    (void)device_address;
    (void)size_bytes;
    (void)device_offset;
    (void)device;
    return REFUSED;
}

FACE int
omp_target_disassociate_ptr(const void *host, int device)
{
    (void)host;
    (void)device;
    return REFUSED;
}

FACE void *
omp_target_memset(void *memory, int byte, size_t count, int device)
{
    if (is_host(device)) {
        memset(memory, byte, count);
    }
    return memory;
}

/* ---- Teams ----------------------------------------------------------------------------------- */

FACE int
omp_get_num_teams(void)
{
    return (int)med_member_get()->icv->teams;
}
ASKS(int, get_num_teams)

FACE int
omp_get_team_num(void)
{
    return (int)med_member_get()->icv->team_number;
}
ASKS(int, get_team_num)

FACE void
omp_set_num_teams(int teams)
{
    med_teams_max_set(teams > 0 ? (uint32_t)teams : 0);
}
GIVEN(set_num_teams)

FACE int
omp_get_max_teams(void)
{
    return (int)med_teams_max();
}
ASKS(int, get_max_teams)

FACE void
omp_set_teams_thread_limit(int limit)
{
    med_teams_thread_limit_set(limit > 0 ? (uint32_t)limit : 0);
}
GIVEN(set_teams_thread_limit)

FACE int
omp_get_teams_thread_limit(void)
{
    return (int)med_teams_thread_limit();
}
ASKS(int, get_teams_thread_limit)

/* ---- Pause ----------------------------------------------------------------------------------- */

#define PAUSE_SOFT 1
#define PAUSE_HARD 2

FACE int
omp_pause_resource(int kind, int device)
{
    bool is_kind = kind == PAUSE_SOFT || kind == PAUSE_HARD;
    return is_kind && is_host(device) && med_team_rest(med_member_get()) ? 0 : -1;
}

FACE int
omp_pause_resource_(const int *kind, const int *device)
{
    return omp_pause_resource(*kind, *device);
}

/* By LLVM's names the host has the number that libomptarget says. */
#ifdef MED_OMP_VERSIONS
FACE int
med_llvm_pause_resource(int kind, int device)
{
    bool is_here = device == med_llvm_get_initial_device() || device == MED_DEVICE_INITIAL;
    return is_here ? omp_pause_resource(kind, MED_DEVICE_HOST) : -1;
}
LLVM_IS(med_llvm_pause_resource, omp_pause_resource)

FACE int
med_llvm_pause_resource_(const int *kind, const int *device)
{
    return med_llvm_pause_resource(*kind, *device);
}
LLVM_IS(med_llvm_pause_resource_, omp_pause_resource_)
#endif

FACE int
omp_pause_resource_all(int kind)
{
    return omp_pause_resource(kind, MED_DEVICE_HOST);
}

FACE int
omp_pause_resource_all_(const int *kind)
{
    return omp_pause_resource_all(*kind);
}
LLVM_BOTH(omp_pause_resource_all)
LLVM_AS(omp_pause_resource_all, __kmpc_pause_resource)
