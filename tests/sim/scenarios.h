/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * All scenarios, each in a file named after its structure. CMakeLists.txt reads the names here.
 *
 * HUNTED: 200 seeds, and its mutants. RARE: what it looks for is met in one seed of thousands;
 * CMakeLists.txt says how many.
 */
#ifndef MEDLEY_TESTS_SIM_SCENARIOS_H
#define MEDLEY_TESTS_SIM_SCENARIOS_H

#include "sim.h"

/* clang-format off */
#define SIM_SCENARIOS(HUNTED, RARE) \
    /* port, base */                \
    HUNTED(cache)                   \
    HUNTED(ring_line)               \
    HUNTED(ring_packed)             \
    HUNTED(ring_answer)             \
    HUNTED(ring_mpsc)               \
    HUNTED(ring_mpmc)               \
    HUNTED(ring_mpmc_heir)          \
    HUNTED(ring_mpmc_late)          \
    HUNTED(units)                   \
    HUNTED(rwlock)                  \
    HUNTED(rwlock_in_time)          \
    HUNTED(wait)                    \
    HUNTED(wait_paid)               \
    HUNTED(wait_crowd)              \
    HUNTED(barrier)                 \
    HUNTED(barrier_groups)          \
    HUNTED(barrier_brought)         \
    HUNTED(barrier_crowd)           \
    HUNTED(lock)                    \
    HUNTED(lock_in_time)            \
    HUNTED(lock_hinted)             \
    HUNTED(lock_buried)             \
    RARE(lock_reborn)               \
    HUNTED(state_cell)              \
    HUNTED(state_cell_record)       \
    HUNTED(bit_set)                 \
    HUNTED(pool)                    \
    HUNTED(recover_twice)           \
    HUNTED(trace_ring)              \
    /* mrapi */                     \
    HUNTED(mrapi)                   \
    HUNTED(mrapi_full)              \
    HUNTED(mrapi_mutex)             \
    HUNTED(mrapi_pi)                \
    HUNTED(mrapi_pi_old)            \
    HUNTED(mrapi_pi_reborn)         \
    HUNTED(mrapi_pi_number)         \
    HUNTED(mrapi_pi_row)            \
    HUNTED(mrapi_pi_scribble)       \
    HUNTED(mrapi_pi_news)           \
    HUNTED(mrapi_pi_grave)          \
    HUNTED(mrapi_pi_living)         \
    HUNTED(mrapi_early)             \
    HUNTED(mrapi_succeed)           \
    HUNTED(mrapi_thread)            \
    HUNTED(mrapi_sem)               \
    HUNTED(mrapi_rwl)               \
    HUNTED(mrapi_rwl_old)           \
    HUNTED(mrapi_leave)             \
    HUNTED(mrapi_row)               \
    HUNTED(mrapi_observe)           \
    HUNTED(mrapi_slow)              \
    HUNTED(mrapi_tree)              \
    HUNTED(event)                   \
    HUNTED(event_own)               \
    HUNTED(request)                 \
    HUNTED(request_queue)           \
    HUNTED(mrapi_heap)              \
    HUNTED(mrapi_heap_returned)     \
    HUNTED(mrapi_shmem)             \
    HUNTED(mrapi_rmem)              \
    HUNTED(mrapi_window)            \
    HUNTED(mrapi_dma)               \
    HUNTED(table)                   \
    HUNTED(table_find)              \
    RARE(mrapi_shmem_threads)       \
    /* mcapi */                     \
    HUNTED(mcapi_message)           \
    HUNTED(mcapi_packet)            \
    HUNTED(mcapi_scalar)            \
    HUNTED(mcapi_topic)             \
    HUNTED(mcapi_row)               \
    HUNTED(mcapi_orphan)            \
    HUNTED(mcapi_turn)              \
    HUNTED(mcapi_reclaim)           \
    HUNTED(mcapi_cancel)            \
    HUNTED(mcapi_heir)              \
    HUNTED(mcapi_lane)              \
    HUNTED(mcapi_left)              \
    HUNTED(mcapi_close)             \
    HUNTED(mcapi_told)              \
    /* omp */                       \
    HUNTED(omp_team)                \
    HUNTED(omp_team_in_groups)      \
    HUNTED(omp_loops)               \
    HUNTED(omp_steal)               \
    HUNTED(omp_sites)               \
    RARE(omp_uneven)                \
    HUNTED(omp_cancel)              \
    HUNTED(omp_cancel_in_groups)    \
    HUNTED(omp_called)              \
    HUNTED(omp_doacross)            \
    HUNTED(omp_ordered)             \
    HUNTED(omp_task_queue)          \
    HUNTED(omp_tasks)               \
    HUNTED(omp_depends)             \
    HUNTED(omp_excludes)            \
    HUNTED(omp_groups)              \
    HUNTED(omp_events)              \
    HUNTED(omp_events_given_up)
/* clang-format on */

#define SIM_SCENARIO_DECLARED(name) extern const sim_scenario sim_##name;
SIM_SCENARIOS(SIM_SCENARIO_DECLARED, SIM_SCENARIO_DECLARED)

/* For the actor's process: others compute beside it, and go on (base/beside.h). */
void sim_others_stay(void);

#endif
