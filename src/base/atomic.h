/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic words, with the memory order in the operation's name. Nothing else above the port uses the
 * compiler's atomics, but for atomic_sized.c.
 *
 * The types are structs, so that a plain access does not compile, over fixed-width words, so that a
 * 32-bit and a 64-bit program agree on their layout in shared memory.
 *
 *   atomic32   the only word on which there is compare-and-swap (Cortex-M4 and RV32 have no wider)
 *   atomic64   single writer, load and store only: counters and times, and what is copied by large
 *              words. On a 32-bit processor it is two words, and a reader may see one of them old:
 *              never what a protocol turns on
 *
 *   atomic_word  as wide as a pointer: counts of one process's own, as far as its processor goes
 *
 * Labels: an acquire and the release that it reads from carry one label, written at both ends:
 *     // R1 slot filled -> A1 (pop)            // A1 slot filled <- R1 (push)
 * A relaxed access says why it is enough. What is sequentially consistent says which two words it
 * stands between: of two sides that each store (by compare-and-swap) one of them and then load the
 * other, at least one sees the other's store. It acquires and releases as well.
 */
#ifndef MEDLEY_BASE_ATOMIC_H
#define MEDLEY_BASE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#include "port/atomic_store.h"

typedef struct atomic32 {
    uint32_t value;
} atomic32;

typedef struct atomic64 {
    _Alignas(8) uint64_t value;
} atomic64;

typedef struct atomic_word {
    uintptr_t value;
} atomic_word;

#define ATOMIC32_INIT(v)                                                                           \
    {                                                                                              \
        (v)                                                                                        \
    }

/* A relaxed load or store of a word that the processor has. A volatile access is all that it needs:
 * one instruction, none of its kind left out, doubled or torn. gcc takes its own relaxed ones for
 * calls that may change any memory, and reads everything anew behind each: a fifth of the rate of a
 * ring. The access is by way of the struct, in which no plain word is: so none is read anew behind
 * a store (a tenth of that rate). Hence what is atomic is a member of such a struct wherever it is
 * accessed. A checker of threads has to be told that the access is atomic. */
#if defined(__SANITIZE_THREAD__)
#define ATOMIC_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATOMIC_CHECKED 1
#endif
#endif
#ifdef ATOMIC_CHECKED
#define ATOMIC_LOAD_RELAXED(a) __atomic_load_n(&(a)->value, __ATOMIC_RELAXED)
#define ATOMIC_STORE_RELAXED(a, v) __atomic_store_n(&(a)->value, v, __ATOMIC_RELAXED)
#else
#define ATOMIC_LOAD_RELAXED(a) (((const volatile __typeof__(*(a)) *)(a))->value)
#define ATOMIC_STORE_RELAXED(a, v) ((void)(((volatile __typeof__(*(a)) *)(a))->value = (v)))
#endif

/* Does a checker of threads, or the simulator, see every access? */
static inline bool
atomic_is_checked(void)
{
#ifdef ATOMIC_CHECKED
    return true;
#else
    return false;
#endif
}

/* ---- atomic32 -------------------------------------------------------------------------------- */

/* A relaxed load or store is one instruction: a call to it takes more room (gcc -Os calls). */
static inline __attribute__((always_inline)) uint32_t
atomic32_load_relaxed(const atomic32 *a)
{
    return ATOMIC_LOAD_RELAXED(a);
}

static inline uint32_t
atomic32_load_acquire(const atomic32 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

static inline uint32_t
atomic32_load_seq_cst(const atomic32 *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_SEQ_CST);
}

static inline __attribute__((always_inline)) void
atomic32_store_relaxed(atomic32 *a, uint32_t v)
{
    if (med_port_stores_by_call()) {
        med_port_store_n(&a->value, v, __ATOMIC_RELAXED);
    } else {
        ATOMIC_STORE_RELAXED(a, v);
    }
}

static inline void
atomic32_store_release(atomic32 *a, uint32_t v)
{
    med_port_store_n(&a->value, v, __ATOMIC_RELEASE);
}

static inline void
atomic32_store_seq_cst(atomic32 *a, uint32_t v)
{
    med_port_store_n(&a->value, v, __ATOMIC_SEQ_CST);
}

static inline uint32_t
atomic32_exchange_acq_rel(atomic32 *a, uint32_t v)
{
    return __atomic_exchange_n(&a->value, v, __ATOMIC_ACQ_REL);
}

/* Compare-and-swap: true when `*expected` was there and `desired` is now; else `*expected` becomes
 * what was there. Strong: fails only when the values differ. A failure is a relaxed load. */
static inline bool
atomic32_cas_relaxed(atomic32 *a, uint32_t *expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

static inline bool
atomic32_cas_acquire(atomic32 *a, uint32_t *expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static inline bool
atomic32_cas_release(atomic32 *a, uint32_t *expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_RELEASE,
                                       __ATOMIC_RELAXED);
}

static inline bool
atomic32_cas_acq_rel(atomic32 *a, uint32_t *expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static inline bool
atomic32_cas_seq_cst(atomic32 *a, uint32_t *expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* The fetch operations return what was there before. */
static inline uint32_t
atomic32_fetch_add_relaxed(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_add(&a->value, v, __ATOMIC_RELAXED);
}

static inline uint32_t
atomic32_fetch_add_release(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_add(&a->value, v, __ATOMIC_RELEASE);
}

static inline uint32_t
atomic32_fetch_add_acq_rel(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_add(&a->value, v, __ATOMIC_ACQ_REL);
}

static inline uint32_t
atomic32_fetch_or_relaxed(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_or(&a->value, v, __ATOMIC_RELAXED);
}

static inline uint32_t
atomic32_fetch_or_acquire(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_or(&a->value, v, __ATOMIC_ACQUIRE);
}

static inline uint32_t
atomic32_fetch_or_release(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_or(&a->value, v, __ATOMIC_RELEASE);
}

static inline uint32_t
atomic32_fetch_or_acq_rel(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_or(&a->value, v, __ATOMIC_ACQ_REL);
}

static inline uint32_t
atomic32_fetch_and_relaxed(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_and(&a->value, v, __ATOMIC_RELAXED);
}

static inline uint32_t
atomic32_fetch_and_acquire(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_and(&a->value, v, __ATOMIC_ACQUIRE);
}

static inline uint32_t
atomic32_fetch_and_release(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_and(&a->value, v, __ATOMIC_RELEASE);
}

static inline uint32_t
atomic32_fetch_and_acq_rel(atomic32 *a, uint32_t v)
{
    return __atomic_fetch_and(&a->value, v, __ATOMIC_ACQ_REL);
}

/* ---- atomic64: one writer; never the word a protocol turns on -------------------------------- */

/* On a 32-bit processor each half has the order. The order is a constant where it is used. */
static inline __attribute__((always_inline)) uint64_t
atomic64_load_in_order(const atomic64 *a, int order)
{
#if __SIZEOF_POINTER__ >= 8
    return order == __ATOMIC_RELAXED ? ATOMIC_LOAD_RELAXED(a) : __atomic_load_n(&a->value, order);
#else
    const uint32_t *half = (const uint32_t *)(const void *)&a->value;
    uint32_t first = __atomic_load_n(&half[0], order);
    uint32_t second = __atomic_load_n(&half[1], order);
    uint32_t both[2] = {first, second};
    uint64_t v;
    __builtin_memcpy(&v, both, sizeof v);
    return v;
#endif
}

static inline __attribute__((always_inline)) void
atomic64_store_in_order(atomic64 *a, uint64_t v, int order)
{
#if __SIZEOF_POINTER__ >= 8
    if (order == __ATOMIC_RELAXED) {
        ATOMIC_STORE_RELAXED(a, v);
    } else {
        __atomic_store_n(&a->value, v, order);
    }
#else
    uint32_t both[2];
    uint32_t *half = (uint32_t *)(void *)&a->value;
    __builtin_memcpy(both, &v, sizeof v);
    __atomic_store_n(&half[0], both[0], order);
    __atomic_store_n(&half[1], both[1], order);
#endif
}

static inline uint64_t
atomic64_load_relaxed(const atomic64 *a)
{
    return atomic64_load_in_order(a, __ATOMIC_RELAXED);
}

static inline void
atomic64_store_relaxed(atomic64 *a, uint64_t v)
{
    atomic64_store_in_order(a, v, __ATOMIC_RELAXED);
}

static inline uint64_t
atomic64_load_acquire(const atomic64 *a)
{
    return atomic64_load_in_order(a, __ATOMIC_ACQUIRE);
}

static inline void
atomic64_store_release(atomic64 *a, uint64_t v)
{
    atomic64_store_in_order(a, v, __ATOMIC_RELEASE);
}

/* ---- atomic_word: never in shared memory, whose layout all widths have ----------------------- */

static inline uintptr_t
atomic_word_load_relaxed(const atomic_word *a)
{
    return ATOMIC_LOAD_RELAXED(a);
}

static inline uintptr_t
atomic_word_load_acquire(const atomic_word *a)
{
    return __atomic_load_n(&a->value, __ATOMIC_ACQUIRE);
}

static inline void
atomic_word_store_relaxed(atomic_word *a, uintptr_t v)
{
    ATOMIC_STORE_RELAXED(a, v);
}

static inline void
atomic_word_store_release(atomic_word *a, uintptr_t v)
{
    __atomic_store_n(&a->value, v, __ATOMIC_RELEASE);
}

static inline uintptr_t
atomic_word_fetch_add_relaxed(atomic_word *a, uintptr_t v)
{
    return __atomic_fetch_add(&a->value, v, __ATOMIC_RELAXED);
}

static inline bool
atomic_word_cas_relaxed(atomic_word *a, uintptr_t *expected, uintptr_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

static inline bool
atomic_word_cas_acquire(atomic_word *a, uintptr_t *expected, uintptr_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static inline bool
atomic_word_cas_release(atomic_word *a, uintptr_t *expected, uintptr_t desired)
{
    return __atomic_compare_exchange_n(&a->value, expected, desired, false, __ATOMIC_RELEASE,
                                       __ATOMIC_RELAXED);
}

static inline uintptr_t
atomic_word_exchange_acquire(atomic_word *a, uintptr_t v)
{
    return __atomic_exchange_n(&a->value, v, __ATOMIC_ACQUIRE);
}

static inline uintptr_t
atomic_word_exchange_acq_rel(atomic_word *a, uintptr_t v)
{
    return __atomic_exchange_n(&a->value, v, __ATOMIC_ACQ_REL);
}

/* ---- Fences ---------------------------------------------------------------------------------- */

/* Orders go on operations. The fence for store-then-load (sleep and wake, doorbell) is the port's:
 * med_port_barrier_light and _heavy. */

/* What a program has by a directive of its own, which may stand between any two of its accesses.
 * Nothing of Medley's needs it. */
static inline void
atomic_fence_seq_cst(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The compiler keeps the order of what stands before and after; the processor may not. Enough for
 * what is read only when the writer is dead. */
static inline void
atomic_compiler_barrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
