/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Processors on Linux, as far as start-up needs them: the affinity mask, the online mask, and what
 * the control group (version 2, or 1) grants. The whole topology is hwloc's, above.
 */
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

/* The mask grows until the kernel's fits. */
static uint32_t
allowed_large(void)
{
    for (size_t processors = MASK_PROCESSORS_FIRST; processors <= MASK_PROCESSORS_LAST;
         processors *= 2) {
        cpu_set_t *set = CPU_ALLOC(processors);
        if (!set) {
            return 1;
        }
        size_t size = CPU_ALLOC_SIZE(processors);
        int rc = sched_getaffinity(0, size, set);
        uint32_t count = rc == 0 ? (uint32_t)CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (rc == 0 || errno != EINVAL) {
            return count ? count : 1;
        }
    }
    return 1;
}

uint32_t
med_linux_processors_allowed(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return (uint32_t)CPU_COUNT(&set);
    }
    return errno == EINVAL ? allowed_large() : 1;
}

/* The first line of a small file; false when there is none. */
static bool
line_read(const char *path, char *line, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t n = read(fd, line, size - 1);
    (void)close(fd);
    if (n <= 0) {
        return false;
    }
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static uint32_t
permille(long long quota, long long period)
{
    return quota > 0 && period > 0 ? (uint32_t)(quota * 1000 / period) : 0;
}

/* cpu.max of one folder: "max 100000" or "150000 100000". */
static uint32_t
quota_v2(const char *folder)
{
    char path[512];
    char line[64];
    (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", folder);
    if (!line_read(path, line, sizeof line) || strncmp(line, "max", 3) == 0) {
        return 0;
    }
    char *end = line;
    long long quota = strtoll(line, &end, 10);
    return permille(quota, strtoll(end, NULL, 10));
}

static uint32_t
quota_v1(void)
{
    char line[64];
    if (!line_read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line, sizeof line)) {
        return 0;
    }
    long long quota = strtoll(line, NULL, 10);
    if (!line_read("/sys/fs/cgroup/cpu/cpu.cfs_period_us", line, sizeof line)) {
        return 0;
    }
    return permille(quota, strtoll(line, NULL, 10));
}

static uint32_t
tighter(uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0) {
        return a + b;
    }
    return a < b ? a : b;
}

/* The tightest limit from the group of this process up to the root. */
static uint32_t
quota_permille(void)
{
    char group[400];
    if (!line_read("/proc/self/cgroup", group, sizeof group) || strncmp(group, "0::", 3) != 0) {
        return quota_v1();
    }
    char *folder = group + 3;
    uint32_t limit = 0;
    while (folder[0]) {
        limit = tighter(limit, quota_v2(strcmp(folder, "/") == 0 ? "" : folder));
        char *last = strrchr(folder, '/');
        if (!last) {
            break;
        }
        *last = '\0';
    }
    return tighter(limit, quota_v2(""));
}

medley_status_t
med_port_processors_discover(med_port_processors *processors)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    processors->online = online > 0 ? (uint32_t)online : 1;
    processors->allowed = med_linux_processors_allowed();
    processors->quota_permille = quota_permille();
    return MEDLEY_OK;
}
