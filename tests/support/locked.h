/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory that stays where it is: how much of it the process has, and who may have none. */
#ifndef MEDLEY_TESTS_SUPPORT_LOCKED_H
#define MEDLEY_TESTS_SUPPORT_LOCKED_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of this process, in KiB. */
static inline long
locked_kib(void)
{
    char line[128];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        (void)sscanf(line, "VmLck: %ld", &kib);
    }
    if (file) {
        (void)fclose(file);
    }
    return kib;
}

/* This process may lock none from now on, as another user than root, for whom there is no limit.
 * False: it cannot become one. */
static inline bool
locked_forbid(void)
{
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_MEMLOCK, &none) == 0 && (geteuid() != 0 || setuid(65534) == 0);
}

#endif
