/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "mrapi/limits.h"

const uint32_t med_limits_of_process_built_in = 8;

const med_limits med_limits_built_in = {
    .domains = 1,
    .processes = 1,
    .nodes = 8,
    .mutexes = 8,
    .shmems = 4,
    .rmem_attachments = 8,
    .rmems = 4,
    .semaphores = 4,
    .rwlocks = 4,
    .sharers = 8,
    .endpoints = 8,
    .lanes = 8,
    .lane_bytes = 512,
    .buffers = 8,
    .buffer_bytes = 256,
};
