/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the compiler calls in place of every memory access of the program: the interface of its
 * thread sanitizer, whose library is not linked. So the program is the very source that runs on
 * real machines, and no access can be forgotten.
 *
 * The names are the compiler's; those that begin with __wrap_ the linker's, for what the compiler
 * leaves to the C library.
 */
#include "engine.h"

#include <string.h>

#define HERE ((uintptr_t)__builtin_return_address(0))

static bool
is_both(int order)
{
    return order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* The order that is simulated: what stands there, but for a mutant. Remembers the site. */
static int
order_at(uintptr_t pc, int order)
{
    if (order == __ATOMIC_RELAXED) {
        return order;
    }
    uint32_t site = sim_site_of(pc);
    sim_sites[site] |= (uint8_t)(1u << order);
    switch (sim_weak[site]) {
    case SIM_RELAXED:
        return __ATOMIC_RELAXED;
    case SIM_NO_RELEASE:
        return is_both(order) ? __ATOMIC_ACQUIRE : order;
    case SIM_NO_ACQUIRE:
        return is_both(order) ? __ATOMIC_RELEASE : order;
    case SIM_NOT_TOTAL:
        return order == __ATOMIC_SEQ_CST ? __ATOMIC_ACQ_REL : order;
    default:
        return order;
    }
}

/* ---- Plain accesses -------------------------------------------------------------------------- */

static inline void
plain(const void *address, size_t bytes, sim_access access, uintptr_t pc)
{
    uint32_t place = bytes ? sim_place(address, pc) : SIM_NOWHERE;
    if (place == SIM_NOWHERE) {
        return;
    }
    if (access == SIM_WRITES) {
        sim.pc = pc;
        sim_event();
        sim_history_forget(place, (uint32_t)bytes);
    }
    sim_race_check(place, (uint32_t)bytes, access, pc);
    if (sim_is_cached(place)) {
        sim_cache_access(place, bytes, access == SIM_WRITES);
    }
}

#define PLAIN(n)                                                                                   \
    void __tsan_read##n(void *address);                                                            \
    void __tsan_write##n(void *address);                                                           \
    void __tsan_unaligned_read##n(void *address);                                                  \
    void __tsan_unaligned_write##n(void *address);                                                 \
    void __tsan_read##n(void *address)                                                             \
    {                                                                                              \
        plain(address, n, SIM_READS, HERE);                                                        \
    }                                                                                              \
    void __tsan_write##n(void *address)                                                            \
    {                                                                                              \
        plain(address, n, SIM_WRITES, HERE);                                                       \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *address)                                                   \
    {                                                                                              \
        plain(address, n, SIM_READS, HERE);                                                        \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *address)                                                  \
    {                                                                                              \
        plain(address, n, SIM_WRITES, HERE);                                                       \
    }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_init(void);
void __tsan_read_range(void *address, size_t bytes);
void __tsan_write_range(void *address, size_t bytes);

void
__tsan_init(void)
{
}

void
__tsan_read_range(void *address, size_t bytes)
{
    plain(address, bytes, SIM_READS, HERE);
}

void
__tsan_write_range(void *address, size_t bytes)
{
    plain(address, bytes, SIM_WRITES, HERE);
}

/* ---- Copies: who writes may be killed before each word --------------------------------------- */

#define WORD_BYTES 8u

void *__wrap_memcpy(void *target, const void *source, size_t bytes);
void *__wrap_memmove(void *target, const void *source, size_t bytes);
void *__wrap_memset(void *target, int value, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);

static void
write_words(uint8_t *target, const uint8_t *source, size_t bytes, uintptr_t pc)
{
    for (size_t at = 0; at < bytes; at += WORD_BYTES) {
        size_t here = bytes - at < WORD_BYTES ? bytes - at : WORD_BYTES;
        plain(target + at, here, SIM_WRITES, pc);
        memmove(target + at, source + at, here);
    }
}

/* For a target in the source's upper part. */
static void
write_words_from_the_end(uint8_t *target, const uint8_t *source, size_t bytes, uintptr_t pc)
{
    while (bytes > 0) {
        size_t here = bytes < WORD_BYTES ? bytes : WORD_BYTES;
        bytes -= here;
        plain(target + bytes, here, SIM_WRITES, pc);
        memmove(target + bytes, source + bytes, here);
    }
}

void
sim_plain_copy(void *target, const void *source, size_t bytes, uintptr_t pc)
{
    plain(source, bytes, SIM_READS, pc);
    write_words(target, source, bytes, pc);
}

void *
__wrap_memcpy(void *target, const void *source, size_t bytes)
{
    plain(source, bytes, SIM_READS, HERE);
    if (bytes == 0 || sim_place(target, HERE) == SIM_NOWHERE) {
        return memcpy(target, source, bytes);
    }
    write_words(target, source, bytes, HERE);
    return target;
}

void *
__wrap_memmove(void *target, const void *source, size_t bytes)
{
    plain(source, bytes, SIM_READS, HERE);
    if (bytes == 0 || sim_place(target, HERE) == SIM_NOWHERE) {
        return memmove(target, source, bytes);
    }
    if ((uintptr_t)target - (uintptr_t)source < bytes) {
        write_words_from_the_end(target, source, bytes, HERE);
    } else {
        write_words(target, source, bytes, HERE);
    }
    return target;
}

void *
__wrap_memset(void *target, int value, size_t bytes)
{
    uint8_t word[WORD_BYTES];
    if (bytes == 0 || sim_place(target, HERE) == SIM_NOWHERE) {
        return memset(target, value, bytes);
    }
    memset(word, value, sizeof word);
    for (size_t at = 0; at < bytes; at += WORD_BYTES) {
        size_t here = bytes - at < WORD_BYTES ? bytes - at : WORD_BYTES;
        write_words((uint8_t *)target + at, word, here, HERE);
    }
    return target;
}

int
__wrap_memcmp(const void *a, const void *b, size_t bytes)
{
    plain(a, bytes, SIM_READS, HERE);
    plain(b, bytes, SIM_READS, HERE);
    return memcmp(a, b, bytes);
}

/* ---- Atomic operations ----------------------------------------------------------------------- */

static uint64_t
change_put(uint64_t old, uint64_t operand)
{
    (void)old;
    return operand;
}

static uint64_t
change_add(uint64_t old, uint64_t operand)
{
    return old + operand;
}

static uint64_t
change_sub(uint64_t old, uint64_t operand)
{
    return old - operand;
}

static uint64_t
change_or(uint64_t old, uint64_t operand)
{
    return old | operand;
}

static uint64_t
change_and(uint64_t old, uint64_t operand)
{
    return old & operand;
}

static uint64_t
change_xor(uint64_t old, uint64_t operand)
{
    return old ^ operand;
}

/* On a stack, or in notes: nobody else's, as far as the simulator is concerned. */
static uint64_t
nowhere_change(void *address, uint32_t bytes, sim_change change, uint64_t operand)
{
    uint64_t before = 0;
    memcpy(&before, address, bytes);
    uint64_t after = change(before, operand);
    memcpy(address, &after, bytes);
    return before;
}

static int
operation_begin(uint32_t place, uintptr_t pc, int order)
{
    if (sim_is_cached(place)) {
        sim_fail(SIM_WRONG, "an atomic operation in cached memory", pc, 0);
    }
    sim_point(pc);
    return order_at(pc, order);
}

/* Of a read-modify-write; remembers the site. */
static bool
is_torn(uintptr_t pc)
{
    uint32_t site = sim_site_of(pc);
    sim_sites[site] |= SIM_SITE_OF_CHANGE;
    return sim_weak[site] == SIM_TORN;
}

static int
order_of_load(int order)
{
    return order == __ATOMIC_ACQ_REL   ? __ATOMIC_ACQUIRE
           : order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED
                                       : order;
}

static int
order_of_store(int order)
{
    return order == __ATOMIC_ACQ_REL                                ? __ATOMIC_RELEASE
           : order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ? __ATOMIC_RELAXED
                                                                    : order;
}

static uint64_t
atomic_load(void *address, uint32_t bytes, int order, uintptr_t pc)
{
    uint32_t place = sim_place(address, pc);
    if (place == SIM_NOWHERE) {
        uint64_t value = 0;
        memcpy(&value, address, bytes);
        return value;
    }
    order = operation_begin(place, pc, order);
    return sim_history_load(address, place, bytes, order, pc);
}

static void
atomic_store(void *address, uint32_t bytes, uint64_t value, int order, uintptr_t pc)
{
    uint32_t place = sim_place(address, pc);
    if (place == SIM_NOWHERE) {
        memcpy(address, &value, bytes);
        return;
    }
    order = operation_begin(place, pc, order);
    sim_history_store(address, place, bytes, value, order, pc);
}

static uint64_t
atomic_change(
    void *address, uint32_t bytes, sim_change change, uint64_t operand, int order, uintptr_t pc)
{
    uint32_t place = sim_place(address, pc);
    if (place == SIM_NOWHERE) {
        return nowhere_change(address, bytes, change, operand);
    }
    order = operation_begin(place, pc, order);
    if (is_torn(pc)) {
        uint64_t before = sim_history_load(address, place, bytes, order_of_load(order), pc);
        sim_point(pc);
        uint64_t after = change(before, operand) & UINT64_MAX >> (64 - 8 * bytes);
        sim_history_store(address, place, bytes, after, order_of_store(order), pc);
        return before;
    }
    return sim_history_change(address, place, bytes, change, operand, order, pc);
}

static bool
swap_torn(void *address,
          uint32_t place,
          uint32_t bytes,
          uint64_t *expected,
          uint64_t desired,
          int order,
          uintptr_t pc)
{
    uint64_t seen = sim_history_load(address, place, bytes, order_of_load(order), pc);
    if (seen != *expected) {
        *expected = seen;
        return false;
    }
    sim_point(pc);
    sim_history_store(address, place, bytes, desired, order_of_store(order), pc);
    return true;
}

static bool
atomic_swap(void *address,
            uint32_t bytes,
            uint64_t *expected,
            uint64_t desired,
            int order,
            int failure_order,
            uintptr_t pc)
{
    uint32_t place = sim_place(address, pc);
    if (place == SIM_NOWHERE) {
        uint64_t seen = 0;
        memcpy(&seen, address, bytes);
        bool equal = seen == *expected;
        memcpy(equal ? address : expected, equal ? &desired : &seen, bytes);
        return equal;
    }
    order = operation_begin(place, pc, order);
    if (is_torn(pc)) {
        return swap_torn(address, place, bytes, expected, desired, order, pc);
    }
    return sim_history_swap(address, place, bytes, expected, desired, order,
                            order_at(pc, failure_order), pc);
}

#define CHANGE(bits, name, change)                                                                 \
    uint##bits##_t __tsan_atomic##bits##_##name(void *address, uint##bits##_t operand, int order); \
    uint##bits##_t __tsan_atomic##bits##_##name(void *address, uint##bits##_t operand, int order)  \
    {                                                                                              \
        return (uint##bits##_t)atomic_change(address, (bits) / 8, change, operand, order, HERE);   \
    }

#define SWAP(bits, strength)                                                                       \
    int __tsan_atomic##bits##_compare_exchange_##strength(void *address, uint##bits##_t *expected, \
                                                          uint##bits##_t desired, int order,       \
                                                          int otherwise);                          \
    int __tsan_atomic##bits##_compare_exchange_##strength(                                         \
        void *address, uint##bits##_t *expected, uint##bits##_t desired, int order, int otherwise) \
    {                                                                                              \
        uint64_t wide = *expected;                                                                 \
        bool done = atomic_swap(address, (bits) / 8, &wide, desired, order, otherwise, HERE);      \
        *expected = (uint##bits##_t)wide;                                                          \
        return done;                                                                               \
    }

#define ATOMIC(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(void *address, int order);                           \
    void __tsan_atomic##bits##_store(void *address, uint##bits##_t value, int order);              \
    uint##bits##_t __tsan_atomic##bits##_load(void *address, int order)                            \
    {                                                                                              \
        return (uint##bits##_t)atomic_load(address, (bits) / 8, order, HERE);                      \
    }                                                                                              \
    void __tsan_atomic##bits##_store(void *address, uint##bits##_t value, int order)               \
    {                                                                                              \
        atomic_store(address, (bits) / 8, value, order, HERE);                                     \
    }                                                                                              \
    CHANGE(bits, exchange, change_put)                                                             \
    CHANGE(bits, fetch_add, change_add)                                                            \
    CHANGE(bits, fetch_sub, change_sub)                                                            \
    CHANGE(bits, fetch_or, change_or)                                                              \
    CHANGE(bits, fetch_and, change_and)                                                            \
    CHANGE(bits, fetch_xor, change_xor)                                                            \
    SWAP(bits, strong)                                                                             \
    SWAP(bits, weak)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void
__tsan_atomic_thread_fence(int order)
{
    sim_point(HERE);
    sim_fence(sim.current, order_at(HERE, order));
    sim_trace(SIM_DID_FENCE, 0, 0, HERE);
}

void
__tsan_atomic_signal_fence(int order)
{
    (void)order;
}
