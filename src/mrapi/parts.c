/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The table of parts. Each step goes through it in its order, and calls those that the program has.
 */
#include "mrapi/parts.h"

#include "mrapi/event.h"
#include "mrapi/heap.h"
#include "mrapi/request.h"
#include "mrapi/resource.h"
#include "mrapi/rmem.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"

MED_PORT_OPTIONAL void med_event_tell_listeners(mrapi_event_t event);
MED_PORT_OPTIONAL void med_heap_fini(med_system *system);
MED_PORT_OPTIONAL void med_heap_leave(med_self *self);
MED_PORT_OPTIONAL medley_status_t med_mappings_init(med_system *system);
MED_PORT_OPTIONAL void med_mappings_fini(med_system *system);
MED_PORT_OPTIONAL void med_shmem_recover_making(med_system *system, uint32_t node_ref);
MED_PORT_OPTIONAL medley_status_t med_rmem_own_make(med_system *system);
MED_PORT_OPTIONAL void med_rmem_own_end(med_system *system);
MED_PORT_OPTIONAL void med_rmem_node_leaves(med_self *self);
MED_PORT_OPTIONAL void med_resources_node_leaves(med_self *self);
MED_PORT_OPTIONAL medley_status_t med_requests_begin(med_system *system);
MED_PORT_OPTIONAL void med_requests_end(med_system *system);
MED_PORT_OPTIONAL void med_requests_node_leaves(med_self *self);
/* Of a floor above: these names are all that this one knows of it. */
MED_PORT_OPTIONAL void med_exchange_end(med_system *system);
MED_PORT_OPTIONAL void med_exchange_node_leaves(med_self *self);

static const med_part parts[] = {
    {.end = med_heap_fini, .node_leaves = med_heap_leave},
    {.begin = med_mappings_init,
     .end = med_mappings_fini,
     .node_recover = med_shmem_recover_making},
    {.begin = med_rmem_own_make, .end = med_rmem_own_end, .node_leaves = med_rmem_node_leaves},
    {.node_leaves = med_resources_node_leaves},
    {.end = med_exchange_end, .node_leaves = med_exchange_node_leaves},
    /* Behind whose operations they are. */
    {.begin = med_requests_begin, .end = med_requests_end, .node_leaves = med_requests_node_leaves},
};

void (*const med_event_teller)(mrapi_event_t event) = med_event_tell_listeners;

#define PART_COUNT (sizeof parts / sizeof parts[0])

medley_status_t
med_parts_begin(med_system *system)
{
    medley_status_t status = MEDLEY_OK;
    for (size_t i = 0; i < PART_COUNT && status == MEDLEY_OK; i++) {
        if (parts[i].begin) {
            status = parts[i].begin(system);
        }
    }
    return status;
}

void
med_parts_end(med_system *system)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (parts[i].end) {
            parts[i].end(system);
        }
    }
}

void
med_parts_node_leaves(med_self *self)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (parts[i].node_leaves) {
            parts[i].node_leaves(self);
        }
    }
}

void
med_parts_node_recover(med_system *system, uint32_t node_ref)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (parts[i].node_recover) {
            parts[i].node_recover(system, node_ref);
        }
    }
}
