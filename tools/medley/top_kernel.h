/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the kernel says of processors and of others' threads. */
#ifndef MEDLEY_TOOLS_TOP_KERNEL_H
#define MEDLEY_TOOLS_TOP_KERNEL_H

#include <stdint.h>

#include <jansson.h>

/* A list, of each that is online: "processor", "busy" and "all", in the kernel's ticks. Empty where
 * nothing tells. */
json_t *top_kernel_processors(void);
/* "state" ("running", "sleeping", "blocked", "stopped", "ended"), "processor" (where it ran last),
 * "used_ns" (of processors' time); null where nothing tells. */
json_t *top_kernel_thread(uint32_t process_id, uint32_t thread_id);

/* The same of a line of /proc/stat; NULL: it is of no processor. */
json_t *top_kernel_processor(const char *line);
/* Of a thread's stat; NULL: it is none. */
json_t *top_kernel_thread_of(const char *stat, uint64_t ticks_per_second);

#endif
