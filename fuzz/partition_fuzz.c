/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The door: which bytes are a partition? Nothing beyond the given size is looked at, and what is
 * accepted fits into it; and a sound one is. */
#include "fuzz.h"
#include "mrapi/partition.h"

#define SIZE_MAX_BYTES 65536u
#define LIMIT_MAX 16u

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input input = {.bytes = bytes, .left = size};
    med_limits limits;
    med_layout layout;
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        limits.of[i] = 1 + fuzz_below(&input, LIMIT_MAX);
    }
    if (med_layout_compute(&limits, &layout) != MEDLEY_OK || layout.size_bytes > SIZE_MAX_BYTES) {
        abort();
    }
    size_t given = fuzz_take(&input, 1) & 1 ? layout.size_bytes : 1 + fuzz_below(&input, 4096);
    void *memory = fuzz_memory(layout.size_bytes);
    void *sound = fuzz_memory(layout.size_bytes);
    med_partition_init(memory, &limits, &layout, MED_ON_DEATH_RECOVER, "fuzz");
    memcpy(sound, memory, layout.size_bytes);
    if (fuzz_take(&input, 1) & 1) {
        fuzz_scribble(&input, memory, sizeof(med_partition_header));
    } else {
        fuzz_replace(&input, memory, layout.size_bytes);
    }
    void *seen = fuzz_memory(given);
    memcpy(seen, memory, given < layout.size_bytes ? given : layout.size_bytes);
    med_layout found;
    bool untouched = given == layout.size_bytes && memcmp(seen, sound, given) == 0;
    bool accepted = med_partition_check(seen, given, &limits, &found) == MEDLEY_OK;
    if (accepted ? found.size_bytes > given || !med_limits_valid(&limits) : untouched) {
        abort();
    }
    free(seen);
    free(sound);
    free(memory);
    return 0;
}
