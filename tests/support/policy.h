/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the kernel was told of pages: on which memory nodes they are to lie. */
#ifndef MEDLEY_TESTS_SUPPORT_POLICY_H
#define MEDLEY_TESTS_SUPPORT_POLICY_H

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/unit.h"

/* Of the page there: MPOL_DEFAULT, MPOL_PREFERRED and so on. */
static inline int
policy_at(const void *address)
{
    int policy = -1;
    assert_int_equal(syscall(SYS_get_mempolicy, &policy, NULL, 0, address, MPOL_F_ADDR), 0);
    return policy;
}

#endif
