/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Processors on Linux, as far as start-up needs them: the affinity mask and the online mask. The
 * whole topology is hwloc's, above. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "port/linux/linux.h"
#include "port/port.h"

#define MASK_PROCESSORS_FIRST 2048u
#define MASK_PROCESSORS_LAST (1u << 20)

static uint32_t
online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

/* The mask grows until the kernel's fits. 0: it does not tell. */
static uint32_t
allowed_large(void)
{
    for (size_t processors = MASK_PROCESSORS_FIRST; processors <= MASK_PROCESSORS_LAST;
         processors *= 2) {
        cpu_set_t *set = CPU_ALLOC(processors);
        if (!set) {
            return 0;
        }
        size_t size = CPU_ALLOC_SIZE(processors);
        int rc = sched_getaffinity(0, size, set);
        uint32_t count = rc == 0 ? (uint32_t)CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (rc == 0 || errno != EINVAL) {
            return count;
        }
    }
    return 0;
}

uint32_t
med_linux_processors_allowed(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return (uint32_t)CPU_COUNT(&set);
    }
    uint32_t count = errno == EINVAL ? allowed_large() : 0;
    return count ? count : online(); /* a sandbox may refuse to tell */
}

medley_status_t
med_port_processors_discover(med_port_processors *processors)
{
    MED_LINUX_ERRNO_KEPT;
    processors->online = online();
    processors->allowed = med_linux_processors_allowed();
    return MEDLEY_OK;
}
