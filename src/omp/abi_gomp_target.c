/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What gcc calls for target constructs and teams (GCC 12, libgomp_g.h and gomp-constants.h). The
 * only device is the host, so nothing is mapped: a region's addresses are those of its variables,
 * but for the copies that it has of some.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mrapi/heap_lent.h"
#include "omp/abi_gomp.h"
#include "omp/face.h"
#include "omp/target.h"
#include "omp/teams.h"

/* A variable's kind: how it is mapped, and in the upper half its alignment, as a power of two. */
#define KIND_MASK 0xffu
#define KIND_FIRSTPRIVATE 12u
#define KIND_ALIGNMENT_SHIFT 8

/* Arguments of a region: what, in some the value, else the next argument is it. */
#define ARGUMENT_DEVICE_MASK 0x7fu /* 0: for all devices */
#define ARGUMENT_VALUE_FOLLOWS 0x80u
#define ARGUMENT_WHAT_MASK 0xff00u
#define ARGUMENT_THREAD_LIMIT 0x200u
#define ARGUMENT_VALUE_SHIFT 16

static uint32_t
limit_of(uintptr_t value)
{
    return value > INT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* 0: the region has none. */
static uint32_t
thread_limit_in(void *const *arguments)
{
    uint32_t limit = 0;
    while (arguments && *arguments) {
        uintptr_t what = (uintptr_t)*arguments++;
        bool follows = (what & ARGUMENT_VALUE_FOLLOWS) != 0;
        intptr_t value = follows ? (intptr_t)*arguments++ : (intptr_t)what >> ARGUMENT_VALUE_SHIFT;
        if ((what & ARGUMENT_DEVICE_MASK) == 0 &&
            (what & ARGUMENT_WHAT_MASK) == ARGUMENT_THREAD_LIMIT) {
            limit = limit_of((uintptr_t)value);
        }
    }
    return limit;
}

/* What is not there needs none. */
static bool
is_copied(const void *address, unsigned short kind)
{
    return address && (kind & KIND_MASK) == KIND_FIRSTPRIVATE;
}

/* Those of the region's addresses that are to be of copies: so many, and the copies' block. */
static void *
copies_make(size_t count, void **addresses, const size_t *sizes, const unsigned short *kinds)
{
    uint32_t copies = 0;
    for (size_t i = 0; i < count; i++) {
        copies += is_copied(addresses[i], kinds[i]);
    }
    med_private *privates = copies ? med_heap_lend(copies * sizeof *privates) : NULL;
    uint32_t listed = 0;
    for (size_t i = 0; privates && i < count; i++) {
        if (is_copied(addresses[i], kinds[i])) {
            privates[listed++] =
                (med_private){.address = &addresses[i],
                              .size_bytes = sizes[i],
                              .alignment = (size_t)1 << (kinds[i] >> KIND_ALIGNMENT_SHIFT)};
        }
    }
    void *block = med_target_copies(privates, listed);
    med_heap_take_back(privates);
    return block;
}

/* The construct is executed at once, by who meets it: so what depends on it finds it done. */
static void
wait_for(void **depend)
{
    if (depend) {
        GOMP_taskwait_depend(depend);
    }
}

FACE void
GOMP_target_ext(int device,
                void (*entry)(void *),
                size_t count,
                void **addresses,
                size_t *sizes,
                unsigned short *kinds,
                unsigned flags,
                void **depend,
                void **arguments)
{
    (void)flags;
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    med_target_device_check(member, device);
    void *copies = copies_make(count, addresses, sizes, kinds);
    wait_for(depend);
    med_target_run(member, thread_limit_in(arguments), entry, (void *)addresses);
    med_heap_take_back(copies);
}
LLVM(GOMP_target_ext)

/* As old programs have it. */
FACE void
GOMP_target(int device,
            void (*entry)(void *),
            const void *unused,
            size_t count,
            void **addresses,
            size_t *sizes,
            unsigned char *kinds)
{
    (void)unused;
    (void)count;
    (void)sizes;
    (void)kinds;
    med_member *member = med_member_get();
    med_target_device_check(member, device);
    med_target_run(member, 0, entry, (void *)addresses);
}
LLVM(GOMP_target)

/* ---- Data: where they are they stay ---------------------------------------------------------- */

FACE void
GOMP_target_data_ext(
    int device, size_t count, void **addresses, size_t *sizes, unsigned short *kinds)
{
    (void)count;
    (void)addresses;
    (void)sizes;
    (void)kinds;
    med_target_device_check(med_member_get(), device);
}
LLVM(GOMP_target_data_ext)

FACE void
GOMP_target_data(int device,
                 const void *unused,
                 size_t count,
                 void **addresses,
                 size_t *sizes,
                 unsigned char *kinds)
{
    (void)unused;
    (void)kinds;
    GOMP_target_data_ext(device, count, addresses, sizes, NULL);
}
LLVM(GOMP_target_data)

FACE void
GOMP_target_end_data(void)
{
}
LLVM(GOMP_target_end_data)

FACE void
GOMP_target_update_ext(int device,
                       size_t count,
                       void **addresses,
                       size_t *sizes,
                       unsigned short *kinds,
                       unsigned flags,
                       void **depend)
{
    (void)flags;
    wait_for(depend);
    GOMP_target_data_ext(device, count, addresses, sizes, kinds);
}
LLVM(GOMP_target_update_ext)

FACE void
GOMP_target_update(int device,
                   const void *unused,
                   size_t count,
                   void **addresses,
                   size_t *sizes,
                   unsigned char *kinds)
{
    GOMP_target_data(device, unused, count, addresses, sizes, kinds);
}
LLVM(GOMP_target_update)

FACE void
GOMP_target_enter_exit_data(int device,
                            size_t count,
                            void **addresses,
                            size_t *sizes,
                            unsigned short *kinds,
                            unsigned flags,
                            void **depend)
{
    GOMP_target_update_ext(device, count, addresses, sizes, kinds, flags, depend);
}
LLVM(GOMP_target_enter_exit_data)

/* A device's address of a function of the host, which is the function. */
FACE void *
GOMP_target_map_indirect_ptr(void *function)
{
    return function;
}
LLVM(GOMP_target_map_indirect_ptr)

/* ---- Images for devices: there is none that could take one ----------------------------------- */

FACE void
GOMP_offload_register_ver(unsigned version, const void *table, int kind, const void *image)
{
    (void)version;
    (void)table;
    (void)kind;
    (void)image;
}
LLVM(GOMP_offload_register_ver)

FACE void
GOMP_offload_unregister_ver(unsigned version, const void *table, int kind, const void *image)
{
    GOMP_offload_register_ver(version, table, kind, image);
}
LLVM(GOMP_offload_unregister_ver)

FACE void
GOMP_offload_register(const void *table, int kind, const void *image)
{
    GOMP_offload_register_ver(0, table, kind, image);
}
LLVM(GOMP_offload_register)

FACE void
GOMP_offload_unregister(const void *table, int kind, const void *image)
{
    GOMP_offload_register_ver(0, table, kind, image);
}
LLVM(GOMP_offload_unregister)

/* ---- Teams ----------------------------------------------------------------------------------- */

FACE void
GOMP_teams_reg(
    void (*entry)(void *), void *data, unsigned teams, unsigned thread_limit, unsigned flags)
{
    (void)flags;
    med_teams_run(MED_CALLED(teams), teams, limit_of(thread_limit), entry, data);
}
LLVM(GOMP_teams_reg)

/* In a target region, whose thread goes round as long as this is true. `most` is what the clause
 * allows beside `least`. */
FACE bool
GOMP_teams4(unsigned least, unsigned most, unsigned thread_limit, bool is_first)
{
    (void)most;
    return med_teams_next(med_member_get(), least, limit_of(thread_limit), is_first);
}
LLVM(GOMP_teams4)

FACE void
GOMP_teams(unsigned teams, unsigned thread_limit)
{
    (void)teams;
    (void)med_teams_next(med_member_get(), 1, limit_of(thread_limit), true);
}
LLVM(GOMP_teams)
