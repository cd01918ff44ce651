/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The second names that functions of OpenMP have for Fortran, whose arguments are addresses; and
 * the third, where default integers have eight bytes. */
#ifndef MEDLEY_OMP_FORTRAN_H
#define MEDLEY_OMP_FORTRAN_H

#include <stdint.h>

#include "omp/face.h"

/* The int that is nearest. */
static inline int
med_fortran_int(int64_t value)
{
    return value < INT32_MIN ? INT32_MIN : (int)(value > INT32_MAX ? INT32_MAX : value);
}

/* A function without arguments. */
#define ASKS(type, name)                                                                           \
    FACE type omp_##name##_(void)                                                                  \
    {                                                                                              \
        return omp_##name();                                                                       \
    }                                                                                              \
    LLVM_BOTH(omp_##name)
/* One that is given a number. */
#define GIVEN(name)                                                                                \
    FACE void omp_##name##_(const int *value)                                                      \
    {                                                                                              \
        omp_##name(*value);                                                                        \
    }                                                                                              \
    FACE void omp_##name##_8_(const int64_t *value)                                                \
    {                                                                                              \
        omp_##name(med_fortran_int(*value));                                                       \
    }                                                                                              \
    LLVM_BOTH(omp_##name)
/* One that is asked with a number, which has no answer beyond the numbers of C. */
#define ASKS_OF(name)                                                                              \
    FACE int omp_##name##_(const int *number)                                                      \
    {                                                                                              \
        return omp_##name(*number);                                                                \
    }                                                                                              \
    FACE int omp_##name##_8_(const int64_t *number)                                                \
    {                                                                                              \
        return omp_##name(*number < 0 ? -1 : med_fortran_int(*number));                            \
    }                                                                                              \
    LLVM_BOTH(omp_##name)

#endif
