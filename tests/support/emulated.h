/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What emulators of single programs lack, asked of the machine itself. */
#ifndef MEDLEY_TESTS_SUPPORT_EMULATED_H
#define MEDLEY_TESTS_SUPPORT_EMULATED_H

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "support/process.h"
#include "support/unit.h"

#define EMULATED_PAGE 4096

static inline int
emulated_is_mapped(test_process *parent, void *argument)
{
    (void)parent;
    return msync(argument, EMULATED_PAGE, MS_ASYNC) == 0; /* ENOMEM: nothing is mapped there */
}

/* Some take no notice of MADV_DONTFORK. */
static inline bool
machine_can_withhold_mappings(void)
{
    test_process child;
    void *p = mmap(NULL, EMULATED_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    assert_int_equal(madvise(p, EMULATED_PAGE, MADV_DONTFORK), 0);
    process_start(&child, emulated_is_mapped, p);
    int status = process_join(&child);
    (void)munmap(p, EMULATED_PAGE);
    return status == 0;
}

/* Some have no way to another process's memory. */
static inline bool
machine_reaches_other_memory(void)
{
    char from = 1, to = 0;
    const struct iovec near = {.iov_base = &to, .iov_len = 1};
    const struct iovec far = {.iov_base = &from, .iov_len = 1};
    return process_vm_readv(getpid(), &near, 1, &far, 1, 0) == 1;
}

/* Some, and kernels before 5.14, map no page before it is touched. */
static inline bool
machine_populates(void)
{
    unsigned char seen = 0;
    void *p = mmap(NULL, EMULATED_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    bool populates = madvise(p, EMULATED_PAGE, MADV_POPULATE_WRITE) == 0 &&
                     mincore(p, EMULATED_PAGE, &seen) == 0 && (seen & 1);
    (void)munmap(p, EMULATED_PAGE);
    return populates;
}

#define WITHOUT_POPULATING_SKIP()                                                                  \
    do {                                                                                           \
        if (!machine_populates()) {                                                                \
            not_possible_here("no page is mapped before it is touched");                           \
        }                                                                                          \
    } while (0)

#define WITHOUT_WITHHOLDING_SKIP()                                                                 \
    do {                                                                                           \
        if (!machine_can_withhold_mappings()) {                                                    \
            not_possible_here("the emulator lets children inherit every mapping");                 \
        }                                                                                          \
    } while (0)

#define WITHOUT_OTHER_MEMORY_SKIP()                                                                \
    do {                                                                                           \
        if (!machine_reaches_other_memory()) {                                                     \
            not_possible_here("no way to another process's memory");                               \
        }                                                                                          \
    } while (0)

#endif
