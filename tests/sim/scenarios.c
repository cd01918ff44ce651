/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All scenarios. */
#include "scenarios.h"

__attribute__((visibility("default"))) const sim_scenario *const sim_scenarios[] = {
    &sim_ring_line,      &sim_ring_packed,  &sim_ring_mpsc,
    &sim_ring_mpmc,      &sim_units,        &sim_rwlock,
    &sim_rwlock_in_time, &sim_wait,         &sim_lock,
    &sim_lock_in_time,   &sim_lock_buried,  &sim_state_cell,
    &sim_bit_set,        &sim_pool,         &sim_trace_ring,
    &sim_mrapi,          &sim_mrapi_mutex,  &sim_mrapi_thread,
    &sim_mrapi_sem,      &sim_mrapi_rwl,    &sim_mrapi_row,
    &sim_event,          &sim_request,      &sim_mrapi_heap,
    &sim_mrapi_shmem,    &sim_mrapi_rmem,   &sim_cache,
    &sim_mrapi_dma,      &sim_table,        &sim_mrapi_shmem_threads,
    &sim_mcapi_message,  &sim_mcapi_packet, NULL,
};
