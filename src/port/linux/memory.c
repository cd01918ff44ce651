/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Private memory on Linux. */
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "port/linux/linux.h"
#include "port/port.h"

medley_status_t
med_port_memory_map(size_t size_bytes, void **address)
{
    MED_LINUX_ERRNO_KEPT;
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    *address = p;
    return MEDLEY_OK;
}

uint64_t
med_port_memory_left(void)
{
    MED_LINUX_ERRNO_KEPT;
    struct rlimit limit;
    char line[64];
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        !med_linux_line_read("/proc/self/statm", line, sizeof line)) {
        return UINT64_MAX;
    }
    uint64_t mapped = strtoull(line, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    return mapped < limit.rlim_cur ? limit.rlim_cur - mapped : 0;
}

void
med_port_memory_unmap(void *address, size_t size_bytes)
{
    MED_LINUX_ERRNO_KEPT;
    (void)munmap(address, size_bytes);
}

void *
med_port_heap_take(size_t size_bytes)
{
    MED_LINUX_ERRNO_KEPT;
    return malloc(size_bytes);
}

void
med_port_heap_give(void *block, size_t size_bytes)
{
    (void)size_bytes;
    free(block);
}

/* glibc gives a thread 64 MiB of addresses, and where these are not to be had, a page at least for
 * each block. Other libraries have one heap. */
void
med_port_heap_share(void)
{
#ifdef M_ARENA_MAX
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}
