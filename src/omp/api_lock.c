/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks, as omp.h has them: omp_lock_t is the lock itself, in C and in Fortran; of a nestable one
 * Fortran has an integer that holds its address.
 *
 * Programs of the time before OpenMP 3.0 look for the same names under a version of their own; they
 * mean the same. So do programs with LLVM's omp.h, whose locks have eight bytes, nestable ones too:
 * these are as Fortran's.
 */
#include <stddef.h>
#include <stdint.h>

#include "mrapi/heap_lent.h"
#include "omp/face.h"
#include "omp/say.h"
#include "omp/told.h"

/* A function of this file under its name: in the library that belongs to OMP_3.0, and to OMP_1.0
 * too. */
#ifdef MED_OMP_VERSIONS
#define VERSIONS(type, name, argument)                                                             \
    FACE type first_##name(argument) __attribute__((alias("now_" #name)));                         \
    __asm__(".symver now_" #name ", omp_" #name "@@OMP_3.0");                                      \
    __asm__(".symver first_" #name ", omp_" #name "@OMP_1.0");
#define VERSION_LLVM(name, function)                                                               \
    __asm__(".globl llvm_" #name "\n.set llvm_" #name ", now_" #function "\n.symver llvm_" #name   \
            ", omp_" #name "@VERSION");
#elif defined MED_OMP_LLVM /* linked statically: the names have one meaning, this */
#define VERSION_LLVM(name, function)                                                               \
    __asm__(".globl omp_" #name "\n.set omp_" #name ", now_" #function);
#define VERSIONS(type, name, argument)
#else /* or that of gcc's */
#define VERSION_LLVM(name, function)
#define VERSIONS(type, name, argument)                                                             \
    FACE type omp_##name(argument) __attribute__((alias("now_" #name)));
#endif
/* One that is given a lock: for Fortran, too. */
#define LOCK(type, name, does)                                                                     \
    FACE type now_##name(med_lock *lock)                                                           \
    {                                                                                              \
        does;                                                                                      \
    }                                                                                              \
    FACE type now_##name##_(med_lock *lock)                                                        \
    {                                                                                              \
        does;                                                                                      \
    }                                                                                              \
    VERSIONS(type, name, med_lock *)                                                               \
    VERSIONS(type, name##_, med_lock *)                                                            \
    VERSION_LLVM(name, name)                                                                       \
    VERSION_LLVM(name##_, name)
/* One that is given a nestable lock, at `lock`; Fortran gives where its address is. */
#define NEST_LOCK(type, name, does)                                                                \
    FACE type now_##name(med_nest_lock *lock)                                                      \
    {                                                                                              \
        does;                                                                                      \
    }                                                                                              \
    FACE type now_##name##_(med_nest_lock **place)                                                 \
    {                                                                                              \
        med_nest_lock *lock = *place;                                                              \
        does;                                                                                      \
    }                                                                                              \
    NEST_LOCK_VERSIONS(type, name)
#define NEST_LOCK_VERSIONS(type, name)                                                             \
    VERSIONS(type, name, med_nest_lock *)                                                          \
    VERSIONS(type, name##_, med_nest_lock **)                                                      \
    VERSION_LLVM(name, name##_)                                                                    \
    VERSION_LLVM(name##_, name##_)

/* ---- Simple locks ---------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
init(med_lock *lock, unsigned hint)
{
    *lock = (med_lock){ATOMIC32_INIT(0)};
    MED_CALLED_ONLY(MED_OMPT_LOCK);
    med_ompt_lock_init(lock, hint);
}
LOCK(void, init_lock, init(lock, 0))

FACE void
omp_init_lock_with_hint(med_lock *lock, unsigned hint)
{
    init(lock, hint);
}

FACE void
omp_init_lock_with_hint_(med_lock *lock, const unsigned *hint)
{
    init(lock, *hint);
}
LLVM_BOTH(omp_init_lock_with_hint)

static inline __attribute__((always_inline)) void
destroy(const void *lock, med_ompt_kind kind)
{
    MED_CALLED_ONLY(kind);
    med_ompt_lock_destroy(lock);
}
LOCK(void, destroy_lock, destroy(lock, MED_OMPT_LOCK))

LOCK(void, set_lock, med_told_lock_set(lock, MED_OMPT_LOCK))
LOCK(void, unset_lock, med_told_lock_unset(lock, MED_OMPT_LOCK))
LOCK(int, test_lock, return med_told_lock_test(lock, MED_OMPT_TEST_LOCK))

/* ---- Nestable locks -------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
init_nest(med_nest_lock *lock, unsigned hint)
{
    *lock = (med_nest_lock){.count = 0};
    MED_CALLED_ONLY(MED_OMPT_NEST_LOCK);
    med_ompt_lock_init(lock, hint);
}

/* Where it stands is Fortran's to keep, and ours to find. */
static med_nest_lock *
place_for(med_nest_lock **place)
{
    *place = med_heap_lend(sizeof **place);
    if (!*place) {
        med_say_fatal("there is no memory for a lock");
    }
    return *place;
}

FACE void
now_init_nest_lock(med_nest_lock *lock)
{
    init_nest(lock, 0);
}

FACE void
now_init_nest_lock_(med_nest_lock **place)
{
    init_nest(place_for(place), 0);
}
NEST_LOCK_VERSIONS(void, init_nest_lock)

#ifndef MED_OMP_LLVM
FACE void
omp_init_nest_lock_with_hint(med_nest_lock *lock, unsigned hint)
{
    init_nest(lock, hint);
}
#endif

FACE void
omp_init_nest_lock_with_hint_(med_nest_lock **place, const unsigned *hint)
{
    init_nest(place_for(place), *hint);
}
VERSION_LLVM(init_nest_lock_with_hint, init_nest_lock_)
LLVM(omp_init_nest_lock_with_hint_)

FACE void
now_destroy_nest_lock(med_nest_lock *lock)
{
    destroy(lock, MED_OMPT_NEST_LOCK);
}

FACE void
now_destroy_nest_lock_(med_nest_lock **place)
{
    destroy(*place, MED_OMPT_NEST_LOCK);
    med_heap_take_back(*place);
    *place = NULL;
}
NEST_LOCK_VERSIONS(void, destroy_nest_lock)

NEST_LOCK(void, set_nest_lock, med_told_nest_set(lock, MED_OMPT_NEST_LOCK))
NEST_LOCK(void, unset_nest_lock, med_told_nest_unset(lock))
NEST_LOCK(int, test_nest_lock, return (int)med_told_nest_test(lock, MED_OMPT_TEST_NEST_LOCK))

/* ---- As LLVM's library has them, besides ----------------------------------------------------- */

/* Not what clang calls, but what a program may that asks for its inner names. */
#define KMPC_LOCK(type, name, function, lock_type)                                                 \
    FACE type __kmpc_##name(const void *place, int32_t thread, lock_type *lock)                    \
    {                                                                                              \
        (void)place;                                                                               \
        (void)thread;                                                                              \
        return now_##function(lock);                                                               \
    }
KMPC_LOCK(void, init_lock, init_lock, med_lock)
KMPC_LOCK(void, destroy_lock, destroy_lock, med_lock)
KMPC_LOCK(void, set_lock, set_lock, med_lock)
KMPC_LOCK(void, unset_lock, unset_lock, med_lock)
KMPC_LOCK(int, test_lock, test_lock, med_lock)
KMPC_LOCK(void, init_nest_lock, init_nest_lock_, med_nest_lock *)
KMPC_LOCK(void, destroy_nest_lock, destroy_nest_lock_, med_nest_lock *)
KMPC_LOCK(void, set_nest_lock, set_nest_lock_, med_nest_lock *)
KMPC_LOCK(void, unset_nest_lock, unset_nest_lock_, med_nest_lock *)
KMPC_LOCK(int, test_nest_lock, test_nest_lock_, med_nest_lock *)

FACE void
__kmpc_init_lock_with_hint(const void *place, int32_t thread, med_lock *lock, uintptr_t hint)
{
    (void)place;
    (void)thread;
    init(lock, (unsigned)hint);
}

FACE void
__kmpc_init_nest_lock_with_hint(const void *place,
                                int32_t thread,
                                med_nest_lock **lock,
                                uintptr_t hint)
{
    (void)place;
    (void)thread;
    init_nest(place_for(lock), (unsigned)hint);
}
