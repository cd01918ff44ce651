/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Everything that can be seen of a system from outside, as `medley ps` looks; and that whatever
 * names a row names one that is there. */
#ifndef MEDLEY_FUZZ_VIEW_ALL_H
#define MEDLEY_FUZZ_VIEW_ALL_H

#include <stdlib.h>

#include "mrapi/view.h"

static inline void
view_nodes(const med_system *system)
{
    uint32_t ref;
    uint32_t domain;
    uint32_t number;
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        med_view_node node;
        bool there = med_view_node_read(system, i, &node);
        (void)med_view_node_name(system, i, &ref, &domain, &number);
        if (there && node.state == MED_VIEW_NODE_WAITING &&
            node.lock_index >= system->tables[node.lock_kind].row_count) {
            abort();
        }
    }
    for (uint32_t i = 0; i < system->limits.domains; i++) {
        (void)med_view_domain_read(system, i, &number);
    }
}

static inline void
view_locks(const med_system *system)
{
    med_view_object object;
    med_view_lock lock;
    med_view_sem sem;
    med_view_rwl rwl;
    for (uint32_t i = 0; i < system->limits.mutexes; i++) {
        (void)med_view_object_read(system, MED_KIND_MUTEX, i, &object);
        (void)med_view_lock_read(system, i, &lock);
    }
    for (uint32_t i = 0; i < system->limits.semaphores; i++) {
        if (med_view_sem_read(system, i, &sem) && sem.limit > system->limits.sharers) {
            abort();
        }
    }
    for (uint32_t i = 0; i < system->limits.rwlocks; i++) {
        if (med_view_rwl_read(system, i, &rwl) && rwl.limit > system->limits.sharers) {
            abort();
        }
    }
}

static inline void
view_memories(const med_system *system)
{
    med_view_rmem rmem;
    med_view_shmem shmem;
    for (uint32_t i = 0; i < system->limits.rmems; i++) {
        if (med_view_rmem_read(system, i, &rmem) &&
            rmem.attachments > system->limits.rmem_attachments) {
            abort();
        }
    }
    for (uint32_t i = 0; i < system->limits.shmems; i++) {
        bool there = med_view_shmem_read(system, i, &shmem);
        for (uint32_t n = 0; there && n < shmem.node_count && n <= system->limits.nodes; n++) {
            (void)med_view_shmem_node(system, i, n);
        }
    }
}

static inline void
view_all(const med_system *system, uint32_t handle)
{
    med_view_system whole;
    med_view_process process;
    med_view_holder holder;
    med_view_limit limit;
    bool known;
    uint32_t number;
    med_view_system_read(system, &whole);
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        (void)med_view_process_read(system, i, &process);
    }
    view_nodes(system);
    view_locks(system);
    view_memories(system);
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        (void)med_view_holder_read(system, (med_kind)k, &holder);
    }
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        med_view_limit_read(system, (med_limit)i, &limit);
    }
    (void)med_view_handle_read(system, handle, &known, &number);
}

#endif
