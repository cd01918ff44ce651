/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A system of the program's own, its main thread a node in it; for programs that measure MRAPI. */
#ifndef MEDLEY_BENCH_BENCH_SYSTEM_H
#define MEDLEY_BENCH_BENCH_SYSTEM_H

#include <stdbool.h>

#define BENCH_DOMAIN 1

/* "bench-" and the number of the process. */
const char *bench_system_name(void);

/* NULL: private. False when there is none, or no node in it. */
bool bench_system_open(const char *name);
void bench_system_close(void);

#endif
