/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a machine without an operating system says of itself: its cores. */
#include "port/topology.h"
#include "port/bare/bare.h"
#include "port/port.h"

/* "PU#15": up to two digits, as there are cores. */
static void
name(char text[MED_TOPOLOGY_TEXT_BYTES], uint32_t core)
{
    char *end = text;
    *end++ = 'P';
    *end++ = 'U';
    *end++ = '#';
    if (core >= 10) {
        *end++ = (char)('0' + core / 10);
    }
    *end++ = (char)('0' + core % 10);
    *end = '\0';
}

_Static_assert(MED_BARE_CORES_MAX <= 100, "two digits");

medley_status_t
med_port_topology_read(const med_topology_sink *sink, char *why, size_t why_bytes)
{
    const med_topology_part machine = {.kind = MED_TOPOLOGY_MACHINE, .name = "Machine"};
    uint32_t root;
    (void)why;
    (void)why_bytes;
    if (!sink->add(sink->context, &machine, &root)) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    for (uint32_t core = 0; core < med_bare_core_count(); core++) {
        med_topology_part part = {.kind = MED_TOPOLOGY_PROCESSOR, .parent = root, .id = core};
        uint32_t number;
        name(part.name, core);
        if (!sink->add(sink->context, &part, &number)) {
            return MEDLEY_ERR_NO_MEMORY;
        }
    }
    return MEDLEY_OK;
}
