/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The environment's variables (OpenMP 5.0, chapter 6), one by one: each reads a value into the
 * settings. False: it cannot be read, and what it has changed of them counts for nothing. The table
 * in environment.c says which variable is which; some are read elsewhere, with what they are for.
 */
#ifndef MEDLEY_OMP_VARIABLE_H
#define MEDLEY_OMP_VARIABLE_H

#include <stdbool.h>

#include "omp/icv.h"
#include "omp/value.h"

bool med_variable_threads(med_settings *settings, med_value value);
bool med_variable_dynamic(med_settings *settings, med_value value);
bool med_variable_nested(med_settings *settings, med_value value);
bool med_variable_levels(med_settings *settings, med_value value);
bool med_variable_limit(med_settings *settings, med_value value);
bool med_variable_schedule(med_settings *settings, med_value value);
bool med_variable_imposed(med_settings *settings, med_value value);
bool med_variable_stack(med_settings *settings, med_value value);
bool med_variable_stack_in_bytes(med_settings *settings, med_value value);
bool med_variable_teams(med_settings *settings, med_value value);
bool med_variable_teams_limit(med_settings *settings, med_value value);
bool med_variable_device(med_settings *settings, med_value value);
bool med_variable_offload(med_settings *settings, med_value value);
bool med_variable_cancellation(med_settings *settings, med_value value);
bool med_variable_float_control(med_settings *settings, med_value value);
bool med_variable_priority(med_settings *settings, med_value value);
bool med_variable_allocator(med_settings *settings, med_value value);
bool med_variable_show_affinity(med_settings *settings, med_value value);
bool med_variable_format(med_settings *settings, med_value value);
bool med_variable_show_environment(med_settings *settings, med_value value);
bool med_variable_tool(med_settings *settings, med_value value);
bool med_variable_debug(med_settings *settings, med_value value);
bool med_variable_tool_libraries(med_settings *settings, med_value value);
bool med_variable_tool_verbose(med_settings *settings, med_value value);
bool med_variable_explain(med_settings *settings, med_value value);
bool med_variable_bind(med_settings *settings, med_value value);
bool med_variable_places(med_settings *settings, med_value value);
bool med_variable_plain_places(med_settings *settings, med_value value);

#endif
