/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The limits where there is no environment. In a file of their own, so that a program may define
 * others in their place.
 */
#include "mrapi/limits.h"

const uint32_t med_limits_of_process_built_in = 8;

const med_limits med_limits_built_in = {
#define BUILT_IN(field, what, name, variable, standard, largest, built_in) .field = (built_in),
    MED_LIMITS(BUILT_IN)
#undef BUILT_IN
};
