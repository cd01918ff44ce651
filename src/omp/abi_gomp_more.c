/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Names that came with GCC 14 and 16, for what is not of the host: foreign runtimes, devices by
 * name. So that a program which has them starts; who calls one that we lack is told its name.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "omp/face.h"
#include "omp/known.h"
#include "omp/say.h"
#include "omp/target.h"

#define DEVICE_INVALID (-4) /* omp_invalid_device */
#define HOST_NAME "OMP_INITIAL_DEVICE"

/* ---- Memory that a program has of an allocator, and gives back without a word of it ---------- */

FACE void
GOMP_add_alloc(void *memory)
{
    med_known_put(memory);
}
LLVM(GOMP_add_alloc)

/* Once for each time that it was added. */
FACE bool
GOMP_is_alloc(void *memory)
{
    return med_known_take(memory);
}
LLVM(GOMP_is_alloc)

/* ---- Devices by name ------------------------------------------------------------------------- */

FACE int
omp_get_device_from_uid(const char *name)
{
    return name && strcmp(name, HOST_NAME) == 0 ? MED_DEVICE_HOST : DEVICE_INVALID;
}

FACE const char *
omp_get_uid_from_device(int device)
{
    return device == MED_DEVICE_HOST ? HOST_NAME : NULL;
}

/* ---- Foreign runtimes: there is none --------------------------------------------------------- */

#define NOTHING_IN_IT (-1) /* omp_irc_empty */

static void
answer(int *code)
{
    if (code) {
        *code = NOTHING_IN_IT;
    }
}

FACE int
omp_get_num_interop_properties(const void *interop)
{
    (void)interop;
    return 0;
}
LLVM(omp_get_num_interop_properties)
LLVM_AS(omp_get_num_interop_properties, omp_get_num_interop_properties_)

FACE intptr_t
omp_get_interop_int(const void *interop, int property, int *code)
{
    (void)interop;
    (void)property;
    answer(code);
    return 0;
}
LLVM(omp_get_interop_int)
LLVM_AS(omp_get_interop_int, omp_get_interop_int_)

FACE void *
omp_get_interop_ptr(const void *interop, int property, int *code)
{
    (void)interop;
    (void)property;
    answer(code);
    return NULL;
}
LLVM(omp_get_interop_ptr)
LLVM_AS(omp_get_interop_ptr, omp_get_interop_ptr_)

FACE const char *
omp_get_interop_str(const void *interop, int property, int *code)
{
    return omp_get_interop_ptr(interop, property, code);
}
LLVM(omp_get_interop_str)

FACE const char *
omp_get_interop_name(const void *interop, int property)
{
    return omp_get_interop_ptr(interop, property, NULL);
}
LLVM(omp_get_interop_name)

FACE const char *
omp_get_interop_type_desc(const void *interop, int property)
{
    return omp_get_interop_ptr(interop, property, NULL);
}
LLVM(omp_get_interop_type_desc)

FACE const char *
omp_get_interop_rc_desc(const void *interop, int code)
{
    (void)interop;
    return code == NOTHING_IN_IT ? "there is no foreign runtime" : NULL;
}
LLVM(omp_get_interop_rc_desc)

/* ---- What we lack ---------------------------------------------------------------------------- */

#define LACKS(name)                                                                                \
    FACE void name(void)                                                                           \
    {                                                                                              \
        med_say_fatal(#name " is not there: Medley's OpenMP has no devices but the host");         \
    }
LACKS(GOMP_interop)
LACKS(omp_get_interop_name_)
LACKS(omp_get_interop_rc_desc_)
LACKS(omp_get_interop_str_)
LACKS(omp_get_interop_type_desc_)
LLVM(GOMP_interop)
LLVM(omp_get_interop_name_)
LLVM(omp_get_interop_rc_desc_)
LLVM(omp_get_interop_str_)
LLVM(omp_get_interop_type_desc_)
LACKS(omp_get_device_from_uid_)
LACKS(omp_get_uid_from_device_)
LACKS(omp_get_uid_from_device_8_)
