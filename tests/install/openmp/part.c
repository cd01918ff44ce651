/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A part of a program: PART is its name, and there is one of each compiler. */
#include <omp.h>

#ifdef __cplusplus
extern "C"
#endif
    void
    note(int number);
#ifdef __cplusplus
extern "C"
#endif
    void
    PART(void);

void
PART(void)
{
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 4; i++) {
#pragma omp task
            (void)omp_get_thread_num();
        }
        note(omp_get_thread_num());
    }
}
