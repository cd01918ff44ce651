/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* On what cores a team runs, as far as its threads are bound: a member's core is that of its
 * place's first processor. */
#ifndef MEDLEY_OMP_CORES_H
#define MEDLEY_OMP_CORES_H

#include <stdint.h>

struct med_member;

/* Members of the same number share a cache, the largest of their cores'; 0: nothing is known. */
uint32_t med_cores_cache(const struct med_member *member);

#endif
