/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes, as hwloc's XML, a machine that we do not have: two memories, four little and four big
 * cores. usage: synthetic_machine FILE */
#include <hwloc.h>

static int
add_kind(hwloc_topology_t topology, const char *processors, int efficiency, const char *type)
{
    char name[] = "CoreType";
    char value[16];
    (void)snprintf(value, sizeof value, "%s", type);
    struct hwloc_info_s info = {.name = name, .value = value};
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int rc = hwloc_bitmap_list_sscanf(set, processors);
    if (rc == 0) {
        rc = hwloc_cpukinds_register(topology, set, efficiency, 1, &info, 0);
    }
    hwloc_bitmap_free(set);
    return rc;
}

int
main(int argc, char **argv)
{
    hwloc_topology_t topology;
    if (argc != 2 || hwloc_topology_init(&topology) != 0) {
        return 2;
    }
    int rc = hwloc_topology_set_synthetic(topology, "package:2 [numa(memory=2147483648)] l2:1(size="
                                                    "4194304) core:4 pu:1");
    if (rc == 0) {
        rc = hwloc_topology_load(topology);
    }
    if (rc == 0) {
        rc = add_kind(topology, "0-3", 0, "little") || add_kind(topology, "4-7", 1, "big") ||
             hwloc_topology_export_xml(topology, argv[1], 0);
    }
    hwloc_topology_destroy(topology);
    return rc != 0;
}
