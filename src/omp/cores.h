/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* On what cores a team runs, as far as its threads are bound: a member's core is that of its
 * place's first processor. */
#ifndef MEDLEY_OMP_CORES_H
#define MEDLEY_OMP_CORES_H

#include <stdbool.h>
#include <stdint.h>

struct med_member;
struct med_settings;

/* Members of the same number share a cache, the largest of their cores'; 0: nothing is known. */
uint32_t med_cores_cache(const struct med_member *member);
/* Likewise: a memory node. */
uint32_t med_cores_memory(const struct med_member *member);

/* Do all places have one cache in common; where its members are not bound, all processors that the
 * calling thread may use? */
bool med_cores_share_cache(const struct med_member *leader);

/* Classes of cores, from 0, the fastest one, on; as MEDLEY_CORE_CLASSES says, or the system. */
uint32_t med_cores_classes(void);
/* That of a member; 0 where it is not bound. */
uint32_t med_cores_class(const struct med_member *member);
/* How fast cores of a class are, beside each other; 0: the system does not say. */
uint32_t med_cores_capacity(uint32_t class);
/* So many there are as MEDLEY_CORE_CLASSES says, or else among the processors that the calling
 * thread may use. While the environment is read. */
uint32_t med_cores_count(const struct med_settings *settings);
/* Are there several, among the processors that the calling thread may use? While the environment
 * is read. */
bool med_cores_are_unlike(const struct med_settings *settings);

#endif
