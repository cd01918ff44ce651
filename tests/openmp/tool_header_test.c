/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tool that was built with LLVM's omp-tools.h (of LLVM 16, on 64 bits) and one that was built
 * with ours mean the same: numbers, signatures, and where fields of records lie. */
#include <stdbool.h>

#include "medley/std/omp-tools.h"
#include "support/unit.h"

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef struct number {
    const char *name;
    int64_t ours;
    int64_t theirs;
} number;

#define IS(name, value)                                                                            \
    {                                                                                              \
#name, (uint32_t)(name), (value)                                                           \
    }

/* clang-format off */
static const number numbers[] = {
    IS(ompt_callback_thread_begin, 1), IS(ompt_callback_thread_end, 2),
    IS(ompt_callback_parallel_begin, 3), IS(ompt_callback_parallel_end, 4),
    IS(ompt_callback_task_create, 5), IS(ompt_callback_task_schedule, 6),
    IS(ompt_callback_implicit_task, 7), IS(ompt_callback_target, 8),
    IS(ompt_callback_target_data_op, 9), IS(ompt_callback_target_submit, 10),
    IS(ompt_callback_control_tool, 11), IS(ompt_callback_device_initialize, 12),
    IS(ompt_callback_device_finalize, 13), IS(ompt_callback_device_load, 14),
    IS(ompt_callback_device_unload, 15), IS(ompt_callback_sync_region_wait, 16),
    IS(ompt_callback_mutex_released, 17), IS(ompt_callback_dependences, 18),
    IS(ompt_callback_task_dependence, 19), IS(ompt_callback_work, 20), IS(ompt_callback_masked, 21),
    IS(ompt_callback_target_map, 22), IS(ompt_callback_sync_region, 23),
    IS(ompt_callback_lock_init, 24), IS(ompt_callback_lock_destroy, 25),
    IS(ompt_callback_mutex_acquire, 26), IS(ompt_callback_mutex_acquired, 27),
    IS(ompt_callback_nest_lock, 28), IS(ompt_callback_flush, 29), IS(ompt_callback_cancel, 30),
    IS(ompt_callback_reduction, 31), IS(ompt_callback_dispatch, 32),
    IS(ompt_callback_target_emi, 33), IS(ompt_callback_target_data_op_emi, 34),
    IS(ompt_callback_target_submit_emi, 35), IS(ompt_callback_target_map_emi, 36),
    IS(ompt_callback_error, 37), IS(ompt_record_ompt, 1), IS(ompt_record_native, 2),
    IS(ompt_record_invalid, 3), IS(ompt_record_native_info, 1), IS(ompt_record_native_event, 2),
    IS(ompt_set_error, 0), IS(ompt_set_never, 1), IS(ompt_set_impossible, 2),
    IS(ompt_set_sometimes, 3), IS(ompt_set_sometimes_paired, 4), IS(ompt_set_always, 5),
    IS(ompt_thread_initial, 1), IS(ompt_thread_worker, 2), IS(ompt_thread_other, 3),
    IS(ompt_thread_unknown, 4), IS(ompt_scope_begin, 1), IS(ompt_scope_end, 2),
    IS(ompt_scope_beginend, 3), IS(ompt_dispatch_iteration, 1), IS(ompt_dispatch_section, 2),
    IS(ompt_dispatch_ws_loop_chunk, 3), IS(ompt_dispatch_taskloop_chunk, 4),
    IS(ompt_dispatch_distribute_chunk, 5), IS(ompt_sync_region_barrier_explicit, 3),
    IS(ompt_sync_region_barrier_implementation, 4), IS(ompt_sync_region_taskwait, 5),
    IS(ompt_sync_region_taskgroup, 6), IS(ompt_sync_region_reduction, 7),
    IS(ompt_sync_region_barrier_implicit_workshare, 8),
    IS(ompt_sync_region_barrier_implicit_parallel, 9), IS(ompt_sync_region_barrier_teams, 10),
    IS(ompt_target_data_alloc, 1), IS(ompt_target_data_transfer_to_device, 2),
    IS(ompt_target_data_transfer_from_device, 3), IS(ompt_target_data_delete, 4),
    IS(ompt_target_data_associate, 5), IS(ompt_target_data_disassociate, 6),
    IS(ompt_target_data_alloc_async, 17), IS(ompt_target_data_transfer_to_device_async, 18),
    IS(ompt_target_data_transfer_from_device_async, 19), IS(ompt_target_data_delete_async, 20),
    IS(ompt_work_loop, 1), IS(ompt_work_sections, 2), IS(ompt_work_single_executor, 3),
    IS(ompt_work_single_other, 4), IS(ompt_work_workshare, 5), IS(ompt_work_distribute, 6),
    IS(ompt_work_taskloop, 7), IS(ompt_work_scope, 8), IS(ompt_work_loop_static, 10),
    IS(ompt_work_loop_dynamic, 11), IS(ompt_work_loop_guided, 12), IS(ompt_work_loop_other, 13),
    IS(ompt_mutex_lock, 1), IS(ompt_mutex_test_lock, 2), IS(ompt_mutex_nest_lock, 3),
    IS(ompt_mutex_test_nest_lock, 4), IS(ompt_mutex_critical, 5), IS(ompt_mutex_atomic, 6),
    IS(ompt_mutex_ordered, 7), IS(ompt_native_data_motion_explicit, 1),
    IS(ompt_native_data_motion_implicit, 2), IS(ompt_native_kernel_invocation, 4),
    IS(ompt_native_kernel_execution, 8), IS(ompt_native_driver, 16), IS(ompt_native_runtime, 32),
    IS(ompt_native_overhead, 64), IS(ompt_native_idleness, 128), IS(ompt_task_initial, 1),
    IS(ompt_task_implicit, 2), IS(ompt_task_explicit, 4), IS(ompt_task_target, 8),
    IS(ompt_task_taskwait, 16), IS(ompt_task_undeferred, 0x8000000),
    IS(ompt_task_untied, 0x10000000), IS(ompt_task_final, 0x20000000),
    IS(ompt_task_mergeable, 0x40000000), IS(ompt_task_merged, 0x80000000),
    IS(ompt_task_complete, 1), IS(ompt_task_yield, 2), IS(ompt_task_cancel, 3),
    IS(ompt_task_detach, 4), IS(ompt_task_early_fulfill, 5), IS(ompt_task_late_fulfill, 6),
    IS(ompt_task_switch, 7), IS(ompt_taskwait_complete, 8), IS(ompt_target, 1),
    IS(ompt_target_enter_data, 2), IS(ompt_target_exit_data, 3), IS(ompt_target_update, 4),
    IS(ompt_target_nowait, 9), IS(ompt_target_enter_data_nowait, 10),
    IS(ompt_target_exit_data_nowait, 11), IS(ompt_target_update_nowait, 12),
    IS(ompt_parallel_invoker_program, 1), IS(ompt_parallel_invoker_runtime, 2),
    IS(ompt_parallel_league, 0x40000000), IS(ompt_parallel_team, 0x80000000),
    IS(ompt_target_map_flag_to, 1), IS(ompt_target_map_flag_from, 2),
    IS(ompt_target_map_flag_alloc, 4), IS(ompt_target_map_flag_release, 8),
    IS(ompt_target_map_flag_delete, 16), IS(ompt_target_map_flag_implicit, 32),
    IS(ompt_dependence_type_in, 1), IS(ompt_dependence_type_out, 2),
    IS(ompt_dependence_type_inout, 3), IS(ompt_dependence_type_mutexinoutset, 4),
    IS(ompt_dependence_type_source, 5), IS(ompt_dependence_type_sink, 6),
    IS(ompt_dependence_type_inoutset, 7), IS(ompt_warning, 1), IS(ompt_fatal, 2),
    IS(ompt_cancel_parallel, 1), IS(ompt_cancel_sections, 2), IS(ompt_cancel_loop, 4),
    IS(ompt_cancel_taskgroup, 8), IS(ompt_cancel_activated, 16), IS(ompt_cancel_detected, 32),
    IS(ompt_cancel_discarded_task, 64), IS(ompt_frame_runtime, 0), IS(ompt_frame_application, 1),
    IS(ompt_frame_cfa, 16), IS(ompt_frame_framepointer, 32), IS(ompt_frame_stackaddress, 48),
    IS(ompt_state_work_serial, 0), IS(ompt_state_work_parallel, 1),
    IS(ompt_state_work_reduction, 2), IS(ompt_state_wait_barrier_implicit_parallel, 17),
    IS(ompt_state_wait_barrier_implicit_workshare, 18), IS(ompt_state_wait_barrier_explicit, 20),
    IS(ompt_state_wait_barrier_implementation, 21), IS(ompt_state_wait_barrier_teams, 22),
    IS(ompt_state_wait_taskwait, 32), IS(ompt_state_wait_taskgroup, 33),
    IS(ompt_state_wait_mutex, 64), IS(ompt_state_wait_lock, 65), IS(ompt_state_wait_critical, 66),
    IS(ompt_state_wait_atomic, 67), IS(ompt_state_wait_ordered, 68),
    IS(ompt_state_wait_target, 128), IS(ompt_state_wait_target_map, 129),
    IS(ompt_state_wait_target_update, 130), IS(ompt_state_idle, 0x100),
    IS(ompt_state_overhead, 0x101), IS(ompt_state_undefined, 0x102)};
/* clang-format on */

static void
numbers_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].ours != numbers[i].theirs) {
            fail_msg("%s is not %lld", numbers[i].name, (long long)numbers[i].theirs);
        }
    }
}

/* ---- Signatures ------------------------------------------------------------------------------ */

typedef struct signature {
    const char *name;
    bool is_the_same;
} signature;

#define TAKES(name, result, ...)                                                                   \
    {                                                                                              \
#name, __builtin_types_compatible_p(name, result (*)(__VA_ARGS__))                         \
    }

/* clang-format off */
static const signature signatures[] = {
    TAKES(ompt_callback_thread_begin_t, void, ompt_thread_t, ompt_data_t *),
    TAKES(ompt_callback_thread_end_t, void, ompt_data_t *),
    TAKES(ompt_callback_parallel_begin_t, void, ompt_data_t *, const ompt_frame_t *, ompt_data_t *,
        unsigned int, int, const void *),
    TAKES(ompt_callback_parallel_end_t, void, ompt_data_t *, ompt_data_t *, int, const void *),
    TAKES(ompt_callback_task_create_t, void, ompt_data_t *, const ompt_frame_t *, ompt_data_t *,
        int, int, const void *),
    TAKES(ompt_callback_task_schedule_t, void, ompt_data_t *, ompt_task_status_t, ompt_data_t *),
    TAKES(ompt_callback_implicit_task_t, void, ompt_scope_endpoint_t, ompt_data_t *, ompt_data_t *,
        unsigned int, unsigned int, int),
    TAKES(ompt_callback_control_tool_t, int, uint64_t, uint64_t, void *, const void *),
    TAKES(ompt_callback_sync_region_t, void, ompt_sync_region_t, ompt_scope_endpoint_t, ompt_data_t
        *, ompt_data_t *, const void *),
    TAKES(ompt_callback_mutex_t, void, ompt_mutex_t, ompt_wait_id_t, const void *),
    TAKES(ompt_callback_dependences_t, void, ompt_data_t *, const ompt_dependence_t *, int),
    TAKES(ompt_callback_task_dependence_t, void, ompt_data_t *, ompt_data_t *),
    TAKES(ompt_callback_work_t, void, ompt_work_t, ompt_scope_endpoint_t, ompt_data_t *, ompt_data_t
        *, uint64_t, const void *),
    TAKES(ompt_callback_masked_t, void, ompt_scope_endpoint_t, ompt_data_t *, ompt_data_t *, const
        void *),
    TAKES(ompt_callback_mutex_acquire_t, void, ompt_mutex_t, unsigned int, unsigned int,
        ompt_wait_id_t, const void *),
    TAKES(ompt_callback_nest_lock_t, void, ompt_scope_endpoint_t, ompt_wait_id_t, const void *),
    TAKES(ompt_callback_flush_t, void, ompt_data_t *, const void *),
    TAKES(ompt_callback_cancel_t, void, ompt_data_t *, int, const void *),
    TAKES( ompt_callback_dispatch_t, void, ompt_data_t *, ompt_data_t *, ompt_dispatch_t,
        ompt_data_t),
    TAKES(ompt_callback_error_t, void, ompt_severity_t, const char *, size_t, const void *),
    TAKES(ompt_callback_device_initialize_t, void, int, const char *, ompt_device_t *,
        ompt_function_lookup_t, const char *),
    TAKES(ompt_callback_device_finalize_t, void, int),
    TAKES(ompt_callback_device_load_t, void, int, const char *, int64_t, void *, size_t, void *,
        void *, uint64_t),
    TAKES(ompt_callback_device_unload_t, void, int, uint64_t),
    TAKES(ompt_callback_target_t, void, ompt_target_t, ompt_scope_endpoint_t, int, ompt_data_t *,
        ompt_id_t, const void *),
    TAKES(ompt_callback_target_data_op_t, void, ompt_id_t, ompt_id_t, ompt_target_data_op_t, void *,
        int, void *, int, size_t, const void *),
    TAKES(ompt_callback_target_submit_t, void, ompt_id_t, ompt_id_t, unsigned int),
    TAKES(ompt_callback_target_map_t, void, ompt_id_t, unsigned int, void **, void **, size_t *,
        unsigned int *, const void *),
    TAKES(ompt_callback_target_emi_t, void, ompt_target_t, ompt_scope_endpoint_t, int, ompt_data_t
        *, ompt_data_t *, ompt_data_t *, const void *),
    TAKES(ompt_callback_target_data_op_emi_t, void, ompt_scope_endpoint_t, ompt_data_t *,
        ompt_data_t *, ompt_id_t *, ompt_target_data_op_t, void *, int, void *, int, size_t, const
        void *),
    TAKES(ompt_callback_target_submit_emi_t, void, ompt_scope_endpoint_t, ompt_data_t *, ompt_id_t
        *, unsigned int),
    TAKES(ompt_callback_target_map_emi_t, void, ompt_data_t *, unsigned int, void **, void **,
        size_t *, unsigned int *, const void *),
    TAKES(ompt_get_unique_id_t, uint64_t, void), TAKES(ompt_interface_fn_t, void, void),
    TAKES(ompt_function_lookup_t, ompt_interface_fn_t, const char *),
    TAKES(ompt_callback_t, void, void),
    TAKES(ompt_callback_buffer_request_t, void, int, ompt_buffer_t **, size_t *),
    TAKES(ompt_callback_buffer_complete_t, void, int, ompt_buffer_t *, size_t, ompt_buffer_cursor_t,
        int),
    TAKES(ompt_finalize_t, void, ompt_data_t *),
    TAKES(ompt_initialize_t, int, ompt_function_lookup_t, int, ompt_data_t *),
    TAKES(ompt_enumerate_states_t, int, int, int *, const char **),
    TAKES(ompt_enumerate_mutex_impls_t, int, int, int *, const char **),
    TAKES(ompt_set_callback_t, ompt_set_result_t, ompt_callbacks_t, ompt_callback_t),
    TAKES(ompt_get_callback_t, int, ompt_callbacks_t, ompt_callback_t *),
    TAKES(ompt_get_thread_data_t, ompt_data_t *, void), TAKES(ompt_get_num_procs_t, int, void),
    TAKES(ompt_get_num_places_t, int, void), TAKES(ompt_get_place_proc_ids_t, int, int, int, int *),
    TAKES(ompt_get_place_num_t, int, void), TAKES(ompt_get_partition_place_nums_t, int, int, int *),
    TAKES(ompt_get_proc_id_t, int, void), TAKES(ompt_get_state_t, int, ompt_wait_id_t *),
    TAKES(ompt_get_parallel_info_t, int, int, ompt_data_t **, int *),
    TAKES(ompt_get_task_info_t, int, int, int *, ompt_data_t **, ompt_frame_t **, ompt_data_t **,
        int *),
    TAKES(ompt_get_task_memory_t, int, void **, size_t *, int),
    TAKES(ompt_get_target_info_t, int, uint64_t *, ompt_id_t *, ompt_id_t *),
    TAKES(ompt_get_num_devices_t, int, void), TAKES(ompt_finalize_tool_t, void, void),
    TAKES(ompt_get_device_num_procs_t, int, ompt_device_t *),
    TAKES(ompt_get_device_time_t, ompt_device_time_t, ompt_device_t *),
    TAKES(ompt_translate_time_t, double, ompt_device_t *, ompt_device_time_t),
    TAKES(ompt_set_trace_ompt_t, ompt_set_result_t, ompt_device_t *, unsigned int, unsigned int),
    TAKES(ompt_set_trace_native_t, ompt_set_result_t, ompt_device_t *, int, int),
    TAKES(ompt_start_trace_t, int, ompt_device_t *, ompt_callback_buffer_request_t,
        ompt_callback_buffer_complete_t),
    TAKES(ompt_pause_trace_t, int, ompt_device_t *, int),
    TAKES(ompt_flush_trace_t, int, ompt_device_t *), TAKES(ompt_stop_trace_t, int, ompt_device_t *),
    TAKES(ompt_advance_buffer_cursor_t, int, ompt_device_t *, ompt_buffer_t *, size_t,
        ompt_buffer_cursor_t, ompt_buffer_cursor_t *),
    TAKES(ompt_get_record_type_t, ompt_record_t, ompt_buffer_t *, ompt_buffer_cursor_t),
    TAKES(ompt_get_record_native_t, void *, ompt_buffer_t *, ompt_buffer_cursor_t, ompt_id_t *),
    TAKES(ompt_get_record_abstract_t, ompt_record_abstract_t *, void *),
    TAKES(ompt_get_record_ompt_t, ompt_record_ompt_t *, ompt_buffer_t *, ompt_buffer_cursor_t)};
/* clang-format on */

static void
signatures_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        if (!signatures[i].is_the_same) {
            fail_msg("%s", signatures[i].name);
        }
    }
}

/* ---- Records --------------------------------------------------------------------------------- */

typedef struct field {
    const char *name;
    size_t ours;
    size_t theirs;
} field;

#define SIZE(type, bytes)                                                                          \
    {                                                                                              \
#type, sizeof(type), (bytes)                                                               \
    }
#define AT(type, member, bytes)                                                                    \
    {                                                                                              \
#type "." #member, offsetof(type, member), (bytes)                                         \
    }

/* clang-format off */
static const field fields[] = {
    SIZE(ompt_frame_t, 24), AT(ompt_frame_t, exit_frame, 0), AT(ompt_frame_t, enter_frame, 8),
    AT(ompt_frame_t, exit_frame_flags, 16), AT(ompt_frame_t, enter_frame_flags, 20),
    SIZE(ompt_start_tool_result_t, 24), AT(ompt_start_tool_result_t, initialize, 0),
    AT(ompt_start_tool_result_t, finalize, 8), AT(ompt_start_tool_result_t, tool_data, 16),
    SIZE(ompt_record_abstract_t, 40), AT(ompt_record_abstract_t, rclass, 0),
    AT(ompt_record_abstract_t, type, 8), AT(ompt_record_abstract_t, start_time, 16),
    AT(ompt_record_abstract_t, end_time, 24), AT(ompt_record_abstract_t, hwid, 32),
    SIZE(ompt_dependence_t, 16), AT(ompt_dependence_t, variable, 0),
    AT(ompt_dependence_t, dependence_type, 8), SIZE(ompt_dispatch_chunk_t, 16),
    AT(ompt_dispatch_chunk_t, start, 0), AT(ompt_dispatch_chunk_t, iterations, 8),
    SIZE(ompt_record_thread_begin_t, 4), AT(ompt_record_thread_begin_t, thread_type, 0),
    SIZE(ompt_record_parallel_begin_t, 32),
    AT(ompt_record_parallel_begin_t, encountering_task_id, 0),
    AT(ompt_record_parallel_begin_t, parallel_id, 8),
    AT(ompt_record_parallel_begin_t, requested_parallelism, 16),
    AT(ompt_record_parallel_begin_t, flags, 20), AT(ompt_record_parallel_begin_t, codeptr_ra, 24),
    SIZE(ompt_record_parallel_end_t, 32), AT(ompt_record_parallel_end_t, parallel_id, 0),
    AT(ompt_record_parallel_end_t, encountering_task_id, 8),
    AT(ompt_record_parallel_end_t, flags, 16), AT(ompt_record_parallel_end_t, codeptr_ra, 24),
    SIZE(ompt_record_work_t, 40), AT(ompt_record_work_t, work_type, 0),
    AT(ompt_record_work_t, endpoint, 4), AT(ompt_record_work_t, parallel_id, 8),
    AT(ompt_record_work_t, task_id, 16), AT(ompt_record_work_t, count, 24),
    AT(ompt_record_work_t, codeptr_ra, 32), SIZE(ompt_record_dispatch_t, 32),
    AT(ompt_record_dispatch_t, parallel_id, 0), AT(ompt_record_dispatch_t, task_id, 8),
    AT(ompt_record_dispatch_t, kind, 16), AT(ompt_record_dispatch_t, instance, 24),
    SIZE(ompt_record_task_create_t, 32), AT(ompt_record_task_create_t, encountering_task_id, 0),
    AT(ompt_record_task_create_t, new_task_id, 8), AT(ompt_record_task_create_t, flags, 16),
    AT(ompt_record_task_create_t, has_dependences, 20),
    AT(ompt_record_task_create_t, codeptr_ra, 24), SIZE(ompt_record_dependences_t, 32),
    AT(ompt_record_dependences_t, task_id, 0), AT(ompt_record_dependences_t, dep, 8),
    AT(ompt_record_dependences_t, ndeps, 24), SIZE(ompt_record_task_dependence_t, 16),
    AT(ompt_record_task_dependence_t, src_task_id, 0),
    AT(ompt_record_task_dependence_t, sink_task_id, 8), SIZE(ompt_record_task_schedule_t, 24),
    AT(ompt_record_task_schedule_t, prior_task_id, 0),
    AT(ompt_record_task_schedule_t, prior_task_status, 8),
    AT(ompt_record_task_schedule_t, next_task_id, 16), SIZE(ompt_record_implicit_task_t, 40),
    AT(ompt_record_implicit_task_t, endpoint, 0), AT(ompt_record_implicit_task_t, parallel_id, 8),
    AT(ompt_record_implicit_task_t, task_id, 16),
    AT(ompt_record_implicit_task_t, actual_parallelism, 24),
    AT(ompt_record_implicit_task_t, index, 28), AT(ompt_record_implicit_task_t, flags, 32),
    SIZE(ompt_record_masked_t, 32), AT(ompt_record_masked_t, endpoint, 0),
    AT(ompt_record_masked_t, parallel_id, 8), AT(ompt_record_masked_t, task_id, 16),
    AT(ompt_record_masked_t, codeptr_ra, 24), SIZE(ompt_record_sync_region_t, 32),
    AT(ompt_record_sync_region_t, kind, 0), AT(ompt_record_sync_region_t, endpoint, 4),
    AT(ompt_record_sync_region_t, parallel_id, 8), AT(ompt_record_sync_region_t, task_id, 16),
    AT(ompt_record_sync_region_t, codeptr_ra, 24), SIZE(ompt_record_mutex_acquire_t, 32),
    AT(ompt_record_mutex_acquire_t, kind, 0), AT(ompt_record_mutex_acquire_t, hint, 4),
    AT(ompt_record_mutex_acquire_t, impl, 8), AT(ompt_record_mutex_acquire_t, wait_id, 16),
    AT(ompt_record_mutex_acquire_t, codeptr_ra, 24), SIZE(ompt_record_mutex_t, 24),
    AT(ompt_record_mutex_t, kind, 0), AT(ompt_record_mutex_t, wait_id, 8),
    AT(ompt_record_mutex_t, codeptr_ra, 16), SIZE(ompt_record_nest_lock_t, 24),
    AT(ompt_record_nest_lock_t, endpoint, 0), AT(ompt_record_nest_lock_t, wait_id, 8),
    AT(ompt_record_nest_lock_t, codeptr_ra, 16), SIZE(ompt_record_flush_t, 8),
    AT(ompt_record_flush_t, codeptr_ra, 0), SIZE(ompt_record_cancel_t, 24),
    AT(ompt_record_cancel_t, task_id, 0), AT(ompt_record_cancel_t, flags, 8),
    AT(ompt_record_cancel_t, codeptr_ra, 16), SIZE(ompt_record_target_data_op_t, 72),
    AT(ompt_record_target_data_op_t, host_op_id, 0), AT(ompt_record_target_data_op_t, optype, 8),
    AT(ompt_record_target_data_op_t, src_addr, 16),
    AT(ompt_record_target_data_op_t, src_device_num, 24),
    AT(ompt_record_target_data_op_t, dest_addr, 32),
    AT(ompt_record_target_data_op_t, dest_device_num, 40),
    AT(ompt_record_target_data_op_t, bytes, 48), AT(ompt_record_target_data_op_t, end_time, 56),
    AT(ompt_record_target_data_op_t, codeptr_ra, 64), SIZE(ompt_record_target_t, 40),
    AT(ompt_record_target_t, kind, 0), AT(ompt_record_target_t, endpoint, 4),
    AT(ompt_record_target_t, device_num, 8), AT(ompt_record_target_t, task_id, 16),
    AT(ompt_record_target_t, target_id, 24), AT(ompt_record_target_t, codeptr_ra, 32),
    SIZE(ompt_record_target_map_t, 56), AT(ompt_record_target_map_t, target_id, 0),
    AT(ompt_record_target_map_t, nitems, 8), AT(ompt_record_target_map_t, host_addr, 16),
    AT(ompt_record_target_map_t, device_addr, 24), AT(ompt_record_target_map_t, bytes, 32),
    AT(ompt_record_target_map_t, mapping_flags, 40), AT(ompt_record_target_map_t, codeptr_ra, 48),
    SIZE(ompt_record_target_kernel_t, 24), AT(ompt_record_target_kernel_t, host_op_id, 0),
    AT(ompt_record_target_kernel_t, requested_num_teams, 8),
    AT(ompt_record_target_kernel_t, granted_num_teams, 12),
    AT(ompt_record_target_kernel_t, end_time, 16), SIZE(ompt_record_control_tool_t, 24),
    AT(ompt_record_control_tool_t, command, 0), AT(ompt_record_control_tool_t, modifier, 8),
    AT(ompt_record_control_tool_t, codeptr_ra, 16), SIZE(ompt_record_error_t, 32),
    AT(ompt_record_error_t, severity, 0), AT(ompt_record_error_t, message, 8),
    AT(ompt_record_error_t, length, 16), AT(ompt_record_error_t, codeptr_ra, 24),
    SIZE(ompt_record_ompt_t, 104), AT(ompt_record_ompt_t, type, 0), AT(ompt_record_ompt_t, time, 8),
    AT(ompt_record_ompt_t, thread_id, 16), AT(ompt_record_ompt_t, target_id, 24),
    AT(ompt_record_ompt_t, record, 32)};
/* clang-format on */

static void
records_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && sizeof(void *) == 8; i++) {
        if (fields[i].ours != fields[i].theirs) {
            fail_msg("%s is not %zu", fields[i].name, fields[i].theirs);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_the_same),
                                       cmocka_unit_test(signatures_are_the_same),
                                       cmocka_unit_test(records_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
