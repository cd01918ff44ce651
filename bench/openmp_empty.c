/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program with one empty region. Writes how many KiB of it were resident at most. */
#include <stdio.h>

int
main(void)
{
    char line[128];
    long resident_kib = 0;
#pragma omp parallel
    __asm__ volatile("");
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        (void)sscanf(line, "VmHWM: %ld", &resident_kib);
    }
    (void)printf("%ld\n", resident_kib);
    return resident_kib == 0;
}
