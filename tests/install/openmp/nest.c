/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A part of a program, as PART, whose nestable locks have the size that its compiler's omp.h says.
 * 0: what stands behind one is what it was. With OTHER, the program, which has that part too. */
#include <omp.h>

#define BEHIND 77

int PART(void);

int
PART(void)
{
    struct {
        omp_nest_lock_t lock;
        long behind;
    } both = {.behind = BEHIND};
    omp_init_nest_lock(&both.lock);
    omp_set_nest_lock(&both.lock);
    int times = omp_test_nest_lock(&both.lock);
    omp_unset_nest_lock(&both.lock);
    omp_unset_nest_lock(&both.lock);
    omp_destroy_nest_lock(&both.lock);
    return both.behind != BEHIND || times != 2;
}

#ifdef OTHER
int OTHER(void);

int
main(void)
{
    return PART() || OTHER();
}
#endif
