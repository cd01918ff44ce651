/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Systems come from the snapshot that `ps` shows; of threads and processors the kernel tells. A
 * thread is asked for only where its number means the same here as in its own process.
 */
#include "tools/medley/top_look.h"

#include <stdbool.h>

#include "port/port.h"
#include "tools/medley/snapshot.h"
#include "tools/medley/top_kernel.h"

static void
threads_add(json_t *system)
{
    json_t *nodes = json_object_get(system, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        json_t *node = json_array_get(nodes, i);
        const json_t *process = json_object_get(node, "process_here");
        const json_t *thread = json_object_get(node, "thread_here");
        bool known = json_is_integer(process) && json_is_integer(thread);
        (void)json_object_set_new(node, "thread",
                                  known ? top_kernel_thread((uint32_t)json_integer_value(process),
                                                            (uint32_t)json_integer_value(thread))
                                        : json_null());
    }
}

medley_status_t
top_look(const char *system, uint64_t deadline_ns, json_t **look)
{
    json_t *systems = NULL;
    if (system) {
        json_t *one;
        medley_status_t status = snapshot_take_until(system, deadline_ns, &one);
        if (status != MEDLEY_OK) {
            return status;
        }
        systems = json_pack("[o]", one);
    } else if (!(systems = snapshot_all_until(deadline_ns))) {
        return MEDLEY_ERR_SYSTEM;
    }
    for (size_t i = 0; i < json_array_size(systems); i++) {
        threads_add(json_array_get(systems, i));
    }
    *look = json_pack("{s:I, s:o, s:o}", "clock_ns", (json_int_t)med_port_clock_ns(), "processors",
                      top_kernel_processors(), "systems", systems);
    return *look ? MEDLEY_OK : MEDLEY_ERR_NO_MEMORY;
}
