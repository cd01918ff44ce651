/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The door: which bytes are a partition? Nothing beyond the given size is looked at, and what is
 * accepted fits into it. */
#include "fuzz.h"
#include "mrapi/partition.h"

#define SIZE_MAX_BYTES 65536u

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input input = {.bytes = bytes, .left = size};
    med_limits limits = {.domains = 1 + fuzz_below(&input, 4),
                         .processes = 1 + fuzz_below(&input, 8),
                         .nodes = 1 + fuzz_below(&input, 16),
                         .mutexes = 1 + fuzz_below(&input, 16),
                         .shmems = 1 + fuzz_below(&input, 16),
                         .semaphores = 1 + fuzz_below(&input, 4),
                         .rwlocks = 1 + fuzz_below(&input, 4),
                         .sharers = 1 + fuzz_below(&input, 20)};
    med_layout layout;
    if (med_layout_compute(&limits, &layout) != MEDLEY_OK || layout.size_bytes > SIZE_MAX_BYTES) {
        abort();
    }
    size_t given = fuzz_take(&input, 1) & 1 ? layout.size_bytes : 1 + fuzz_below(&input, 4096);
    void *memory = fuzz_memory(layout.size_bytes);
    med_partition_init(memory, &limits, &layout, MED_ON_DEATH_RECOVER, "fuzz");
    if (fuzz_take(&input, 1) & 1) {
        fuzz_scribble(&input, memory, sizeof(med_partition_header));
    } else {
        fuzz_replace(&input, memory, layout.size_bytes);
    }
    void *seen = fuzz_memory(given);
    memcpy(seen, memory, given < layout.size_bytes ? given : layout.size_bytes);
    med_layout found;
    if (med_partition_check(seen, given, &limits, &found) == MEDLEY_OK &&
        (found.size_bytes > given || !med_limits_valid(&limits))) {
        abort();
    }
    free(seen);
    free(memory);
    return 0;
}
