/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that has hwloc itself, as few have: writes the machine of a description as XML, or says
 * whether hwloc reads a file. usage: hwloc_program FILE [DESCRIPTION] */
#include <hwloc.h>

int
main(int argc, char **argv)
{
    hwloc_topology_t topology;
    if (argc < 2 || argc > 3 || hwloc_topology_init(&topology) != 0) {
        return 2;
    }
    int rc = argc == 3 ? hwloc_topology_set_synthetic(topology, argv[2])
                       : hwloc_topology_set_xml(topology, argv[1]);
    if (rc == 0) {
        rc = hwloc_topology_load(topology);
    }
    if (rc == 0 && argc == 3) {
        rc = hwloc_topology_export_xml(topology, argv[1], 0);
    }
    hwloc_topology_destroy(topology);
    return rc != 0;
}
