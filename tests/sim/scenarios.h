/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All scenarios: one per structure, each in a file named after it. */
#ifndef MEDLEY_TESTS_SIM_SCENARIOS_H
#define MEDLEY_TESTS_SIM_SCENARIOS_H

#include "sim.h"

extern const sim_scenario sim_ring_line;
extern const sim_scenario sim_ring_packed;
extern const sim_scenario sim_ring_answer;
extern const sim_scenario sim_ring_mpsc;
extern const sim_scenario sim_ring_mpmc;
extern const sim_scenario sim_ring_mpmc_heir;
extern const sim_scenario sim_ring_mpmc_late;
extern const sim_scenario sim_units;
extern const sim_scenario sim_rwlock;
extern const sim_scenario sim_rwlock_in_time;
extern const sim_scenario sim_wait;
extern const sim_scenario sim_lock;
extern const sim_scenario sim_lock_in_time;
extern const sim_scenario sim_lock_buried;
extern const sim_scenario sim_lock_reborn;
extern const sim_scenario sim_state_cell;
extern const sim_scenario sim_state_cell_record;
extern const sim_scenario sim_bit_set;
extern const sim_scenario sim_pool;
extern const sim_scenario sim_recover_twice;
extern const sim_scenario sim_trace_ring;
extern const sim_scenario sim_mrapi;
extern const sim_scenario sim_mrapi_full;
extern const sim_scenario sim_mrapi_mutex;
extern const sim_scenario sim_mrapi_pi;
extern const sim_scenario sim_mrapi_pi_old;
extern const sim_scenario sim_mrapi_pi_reborn;
extern const sim_scenario sim_mrapi_pi_number;
extern const sim_scenario sim_mrapi_pi_row;
extern const sim_scenario sim_mrapi_pi_scribble;
extern const sim_scenario sim_mrapi_pi_news;
extern const sim_scenario sim_mrapi_early;
extern const sim_scenario sim_mrapi_succeed;
extern const sim_scenario sim_mrapi_thread;
extern const sim_scenario sim_mrapi_sem;
extern const sim_scenario sim_mrapi_rwl;
extern const sim_scenario sim_mrapi_rwl_old;
extern const sim_scenario sim_mrapi_leave;
extern const sim_scenario sim_mrapi_row;
extern const sim_scenario sim_mrapi_observe;
extern const sim_scenario sim_mrapi_slow;
extern const sim_scenario sim_mrapi_tree;
extern const sim_scenario sim_table;
extern const sim_scenario sim_table_find;
extern const sim_scenario sim_cache;
extern const sim_scenario sim_mrapi_dma;
extern const sim_scenario sim_event;
extern const sim_scenario sim_event_own;
extern const sim_scenario sim_request;
extern const sim_scenario sim_request_queue;
extern const sim_scenario sim_mrapi_heap;
extern const sim_scenario sim_mrapi_heap_returned;
extern const sim_scenario sim_mrapi_shmem;
extern const sim_scenario sim_mrapi_shmem_threads;
extern const sim_scenario sim_mrapi_rmem;
extern const sim_scenario sim_mrapi_window;
extern const sim_scenario sim_mcapi_message;
extern const sim_scenario sim_mcapi_packet;
extern const sim_scenario sim_mcapi_scalar;
extern const sim_scenario sim_mcapi_topic;
extern const sim_scenario sim_mcapi_row;
extern const sim_scenario sim_mcapi_orphan;
extern const sim_scenario sim_mcapi_turn;
extern const sim_scenario sim_mcapi_reclaim;
extern const sim_scenario sim_mcapi_cancel;
extern const sim_scenario sim_mcapi_heir;
extern const sim_scenario sim_mcapi_lane;
extern const sim_scenario sim_mcapi_left;

#endif
