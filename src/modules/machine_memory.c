/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A memory's size: what hwloc says, or where it says nothing and there is one memory only, all that
 * the system has.
 */
#include "modules/machine_memory.h"

#include <stdbool.h>
#include <unistd.h>

uint64_t
machine_memory_bytes(hwloc_topology_t topology, hwloc_obj_t memory)
{
    uint64_t size_bytes = memory->attr->numanode.local_memory;
    bool is_all = hwloc_topology_is_thissystem(topology) &&
                  hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) == 1;
    if (size_bytes > 0 || !is_all) {
        return size_bytes;
    }
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}
