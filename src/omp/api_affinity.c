/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of OpenMP 5.1 about places, and about how threads are bound to them. */
#include <string.h>

#include "omp/affinity.h"
#include "omp/display.h"
#include "omp/fortran.h"
#include "omp/places.h"
#include "omp/team.h"

/* ---- Places ---------------------------------------------------------------------------------- */

FACE int
omp_get_proc_bind(void)
{
    return (int)med_member_get()->icv->bind;
}
ASKS(int, get_proc_bind)

FACE int
omp_get_num_places(void)
{
    return (int)med_settings_get()->places.count;
}
ASKS(int, get_num_places)

/* NULL: there is no such place. */
static const med_processor_set *
place_of(int number)
{
    const med_places *places = &med_settings_get()->places;
    return number >= 0 && (uint32_t)number < places->count ? &places->list[number] : NULL;
}

FACE int
omp_get_place_num_procs(int place)
{
    const med_processor_set *of = place_of(place);
    return of ? (int)med_processor_set_count(of) : 0;
}

FACE int
omp_get_place_num_procs_(const int *place)
{
    return omp_get_place_num_procs(*place);
}
LLVM_BOTH(omp_get_place_num_procs)

FACE int
omp_get_place_num_procs_8_(const int64_t *place)
{
    return omp_get_place_num_procs(med_fortran_int(*place));
}

/* Into a list of numbers of four bytes, or of eight. */
static void
number_put(void *list, bool is_wide, uint32_t at, uint32_t number)
{
    if (is_wide) {
        ((int64_t *)list)[at] = number;
    } else {
        ((int *)list)[at] = (int)number;
    }
}

static void
processors_put(int place, void *numbers, bool is_wide)
{
    const med_processor_set *of = place_of(place);
    uint32_t at = 0;
    if (!of) {
        return;
    }
    MED_PROCESSOR_SET_EACH(i, of) {
        number_put(numbers, is_wide, at++, i);
    }
}

FACE void
omp_get_place_proc_ids(int place, int *numbers)
{
    processors_put(place, numbers, false);
}

FACE void
omp_get_place_proc_ids_(const int *place, int *numbers)
{
    omp_get_place_proc_ids(*place, numbers);
}
LLVM_BOTH(omp_get_place_proc_ids)

FACE void
omp_get_place_proc_ids_8_(const int64_t *place, int64_t *numbers)
{
    processors_put(med_fortran_int(*place), numbers, true);
}

FACE int
omp_get_place_num(void)
{
    const med_member *member = med_member_get();
    return member->placement.count ? (int)member->placement.place : -1;
}
ASKS(int, get_place_num)

FACE int
omp_get_partition_num_places(void)
{
    return (int)med_member_get()->placement.count;
}
ASKS(int, get_partition_num_places)

static void
partition_put(void *numbers, bool is_wide)
{
    const med_placement *placement = &med_member_get()->placement;
    for (uint32_t i = 0; i < placement->count; i++) {
        number_put(numbers, is_wide, i, placement->first + i);
    }
}

FACE void
omp_get_partition_place_nums(int *numbers)
{
    partition_put(numbers, false);
}

FACE void
omp_get_partition_place_nums_(int *numbers)
{
    omp_get_partition_place_nums(numbers);
}
LLVM_BOTH(omp_get_partition_place_nums)

FACE void
omp_get_partition_place_nums_8_(int64_t *numbers)
{
    partition_put(numbers, true);
}

/* ---- How it is shown ------------------------------------------------------------------------- */

FACE void
omp_set_affinity_format(const char *format)
{
    med_affinity_format_set(format, strlen(format));
}

FACE void
omp_set_affinity_format_(const char *format, size_t length)
{
    med_affinity_format_set(format, length);
}
LLVM_BOTH(omp_set_affinity_format)
LLVM_AS(omp_set_affinity_format, ompc_set_affinity_format)

FACE size_t
omp_get_affinity_format(char *text, size_t size_bytes)
{
    const char *format = med_affinity_format();
    size_t length = strlen(format);
    if (size_bytes) {
        size_t fits = length < size_bytes ? length : size_bytes - 1;
        memcpy(text, format, fits);
        text[fits] = 0;
    }
    return length;
}

/* Fortran has no NUL, but blanks up to the end. */
FACE int
omp_get_affinity_format_(char *text, size_t size_bytes)
{
    const char *format = med_affinity_format();
    size_t length = strlen(format);
    memset(text, ' ', size_bytes);
    memcpy(text, format, length < size_bytes ? length : size_bytes);
    return (int)length;
}
LLVM_BOTH(omp_get_affinity_format)
LLVM_AS(omp_get_affinity_format, ompc_get_affinity_format)

FACE void
omp_display_affinity(const char *format)
{
    med_affinity_display(med_member_get(), format, format ? strlen(format) : 0);
}

FACE void
omp_display_affinity_(const char *format, size_t length)
{
    med_affinity_display(med_member_get(), format, length);
}
LLVM_BOTH(omp_display_affinity)
LLVM_AS(omp_display_affinity, ompc_display_affinity)

FACE size_t
omp_capture_affinity(char *text, size_t size_bytes, const char *format)
{
    return med_affinity_capture(med_member_get(), text, size_bytes, format,
                                format ? strlen(format) : 0);
}

FACE int
omp_capture_affinity_(char *text, const char *format, size_t size_bytes, size_t length)
{
    char line[4096];
    size_t whole = med_affinity_capture(med_member_get(), line, sizeof line, format, length);
    size_t there = whole < sizeof line ? whole : sizeof line - 1;
    memset(text, ' ', size_bytes);
    memcpy(text, line, there < size_bytes ? there : size_bytes);
    return (int)whole;
}
LLVM_BOTH(omp_capture_affinity)
LLVM_AS(omp_capture_affinity, ompc_capture_affinity)

/* ---- The environment ------------------------------------------------------------------------- */

FACE void
omp_display_env(int verbose)
{
    med_display_environment(verbose != 0);
}

FACE void
omp_display_env_(const int *verbose)
{
    omp_display_env(*verbose);
}
LLVM_BOTH(omp_display_env)

FACE void
omp_display_env_8_(const int64_t *verbose)
{
    omp_display_env(*verbose != 0);
}
