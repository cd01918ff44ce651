/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hwloc's plugins are linked to nothing: the linker looks for hwloc's names among what all of the
 * process may see, and a module is opened so that nobody sees what it brings. hwloc tells nobody
 * which parser it has; so it is given a machine that only one of them can read.
 */
#include "modules/xml_parser.h"

#include <dlfcn.h>
#include <stdint.h>

#include <hwloc.h>

void
xml_parser_offer(void)
{
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)hwloc_topology_init, &info) != 0 && info.dli_fname) {
        /* It is there; that it cannot be seen costs a parser, which the advice tells. */
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    }
}

#define SETS                                                                                       \
    " cpuset='0x1' complete_cpuset='0x1' allowed_cpuset='0x1'"                                     \
    " nodeset='0x1' complete_nodeset='0x1' allowed_nodeset='0x1'"

/* hwloc itself writes no such quotes. */
static const char machine[] = "<topology version='2.0'>"
                              "<object type='Machine' os_index='0'" SETS " gp_index='1'>"
                              "<object type='NUMANode' os_index='0'" SETS " gp_index='2'/>"
                              "<object type='PU' os_index='0'" SETS " gp_index='3'/>"
                              "</object></topology>";

static bool
reads_all(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) {
        return false;
    }
    bool read = hwloc_topology_set_xmlbuffer(topology, machine, (int)sizeof machine) == 0 &&
                hwloc_topology_load(topology) == 0;
    hwloc_topology_destroy(topology);
    return read;
}

const char *
xml_parser_advice(void)
{
    return reads_all() ? ""
                       : "; without its plugin for libxml (install libhwloc-plugins) it reads only "
                         "XML as it writes it";
}
