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

#include "omp/block.h"
#include "omp/face.h"
#include "omp/lock.h"
#include "omp/say.h"

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
#define LOCK(type, name)                                                                           \
    FACE type now_##name##_(med_lock *lock)                                                        \
    {                                                                                              \
        return now_##name(lock);                                                                   \
    }                                                                                              \
    VERSIONS(type, name, med_lock *)                                                               \
    VERSIONS(type, name##_, med_lock *)                                                            \
    VERSION_LLVM(name, name)                                                                       \
    VERSION_LLVM(name##_, name)
/* One that is given a nestable lock; Fortran gives where its address is. */
#define NEST_LOCK(type, name)                                                                      \
    FACE type now_##name##_(med_nest_lock **lock)                                                  \
    {                                                                                              \
        return now_##name(*lock);                                                                  \
    }                                                                                              \
    NEST_LOCK_VERSIONS(type, name)
#define NEST_LOCK_VERSIONS(type, name)                                                             \
    VERSIONS(type, name, med_nest_lock *)                                                          \
    VERSIONS(type, name##_, med_nest_lock **)                                                      \
    VERSION_LLVM(name, name##_)                                                                    \
    VERSION_LLVM(name##_, name##_)

/* ---- Simple locks ---------------------------------------------------------------------------- */

FACE void
now_init_lock(med_lock *lock)
{
    *lock = (med_lock){ATOMIC32_INIT(0)};
}
LOCK(void, init_lock)

FACE void
omp_init_lock_with_hint(med_lock *lock, unsigned hint)
{
    (void)hint;
    now_init_lock(lock);
}

FACE void
omp_init_lock_with_hint_(med_lock *lock, const unsigned *hint)
{
    omp_init_lock_with_hint(lock, *hint);
}
LLVM_BOTH(omp_init_lock_with_hint)

FACE void
now_destroy_lock(med_lock *lock)
{
    (void)lock;
}
LOCK(void, destroy_lock)

FACE void
now_set_lock(med_lock *lock)
{
    med_omp_lock_set(lock, med_member_get());
}
LOCK(void, set_lock)

FACE void
now_unset_lock(med_lock *lock)
{
    med_omp_lock_unset(lock);
}
LOCK(void, unset_lock)

FACE int
now_test_lock(med_lock *lock)
{
    return med_omp_lock_test(lock, med_member_get());
}
LOCK(int, test_lock)

/* ---- Nestable locks -------------------------------------------------------------------------- */

FACE void
now_init_nest_lock(med_nest_lock *lock)
{
    *lock = (med_nest_lock){.count = 0};
}

FACE void
now_init_nest_lock_(med_nest_lock **lock)
{
    *lock = med_block_take(sizeof **lock);
    if (!*lock) {
        med_say_fatal("there is no memory for a lock");
    }
}
NEST_LOCK_VERSIONS(void, init_nest_lock)

#ifndef MED_OMP_LLVM
FACE void
omp_init_nest_lock_with_hint(med_nest_lock *lock, unsigned hint)
{
    (void)hint;
    now_init_nest_lock(lock);
}
#endif

FACE void
omp_init_nest_lock_with_hint_(med_nest_lock **lock, const unsigned *hint)
{
    (void)hint;
    now_init_nest_lock_(lock);
}
VERSION_LLVM(init_nest_lock_with_hint, init_nest_lock_)
LLVM(omp_init_nest_lock_with_hint_)

FACE void
now_destroy_nest_lock(med_nest_lock *lock)
{
    (void)lock;
}

FACE void
now_destroy_nest_lock_(med_nest_lock **lock)
{
    med_block_give(*lock);
    *lock = NULL;
}
NEST_LOCK_VERSIONS(void, destroy_nest_lock)

FACE void
now_set_nest_lock(med_nest_lock *lock)
{
    med_nest_lock_set(lock, med_member_get());
}
NEST_LOCK(void, set_nest_lock)

FACE void
now_unset_nest_lock(med_nest_lock *lock)
{
    med_nest_lock_unset(lock);
}
NEST_LOCK(void, unset_nest_lock)

FACE int
now_test_nest_lock(med_nest_lock *lock)
{
    return (int)med_nest_lock_test(lock, med_member_get());
}
NEST_LOCK(int, test_nest_lock)
