/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the operating system gives this process, as JSON; and what it says of others. */
#ifndef MEDLEY_TOOLS_SURROUNDINGS_H
#define MEDLEY_TOOLS_SURROUNDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* Where systems lie. */
const char *surroundings_folder(void);

/* "folder", "size_bytes", "free_bytes" (null: cannot be told) of where systems lie. */
json_t *surroundings_shared_memory(void);

/* "private_expedited", "global_expedited": what the sleeper's barrier can use. */
json_t *surroundings_membarrier(void);

/* "virtual": runs under a hypervisor; "emulated": by a program, instruction by instruction. true,
 * false, or null where nothing tells. */
json_t *surroundings_virtual(void);

/* Is the process of that number stopped, by a signal or a debugger? False where nothing tells. */
bool surroundings_process_stopped(uint32_t process_id);
/* Has it begun to end, or ended, and is not waited for yet? Then nothing ends it any more, and
 * others may have seen that it is gone. False where nothing tells. */
bool surroundings_process_ends(uint32_t process_id);

/* Of the memory that is mapped by default. */
json_int_t surroundings_page_bytes(void);

/* "name", "variable", "value" (as a system that starts now would get it), "standard", "largest". */
json_t *surroundings_limits(void);

#endif
