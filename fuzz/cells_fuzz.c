/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bit sets, pools, state cells and traces that are attached to, and then written over while they
 * are used. */
#include "base/bit_set.h"
#include "base/pool.h"
#include "base/state_cell.h"
#include "base/trace.h"
#include "fuzz.h"

#define OPERATIONS 64
#define OWNER 7u
#define VALUE_MAX 4096u

static void
maybe_scribble(fuzz_input *input, void *memory, size_t size_bytes)
{
    if (fuzz_take(input, 1) & 1) {
        fuzz_scribble(input, memory, size_bytes);
    }
}

static void
bit_set(fuzz_input *input)
{
    uint32_t capacity = 1 + fuzz_below(input, 200);
    size_t size_bytes = med_bit_set_size(capacity);
    void *memory = fuzz_memory(size_bytes);
    med_bit_set set;
    (void)med_bit_set_init(memory, size_bytes, capacity, &set);
    maybe_scribble(input, memory, size_bytes);
    if (med_bit_set_attach(memory, size_bytes, &set) == MEDLEY_OK) {
        for (int i = 0; i < OPERATIONS && input->left; i++) {
            med_bit_set_slot slot = {.index = fuzz_word(input), .generation = fuzz_word(input)};
            maybe_scribble(input, memory, size_bytes);
            (void)med_bit_set_give(&set, slot, OWNER);
            (void)med_bit_set_hand_over(&set, slot, OWNER, OWNER + 1);
            if (med_bit_set_take(&set, OWNER, fuzz_word(input), &slot) == MEDLEY_OK &&
                slot.index >= set.capacity) {
                abort();
            }
        }
        (void)med_bit_set_recover(&set, OWNER);
    }
    free(memory);
}

static void
pool(fuzz_input *input)
{
    uint32_t capacity = 1 + fuzz_below(input, 64);
    uint32_t buffer_bytes = 1 + fuzz_below(input, 200);
    size_t size_bytes = med_pool_size(capacity, buffer_bytes);
    void *memory = fuzz_memory(size_bytes);
    med_pool made;
    med_pool_cache cache;
    (void)med_pool_init(memory, size_bytes, capacity, buffer_bytes, 3, &made);
    maybe_scribble(input, memory, size_bytes);
    if (med_pool_attach(memory, size_bytes, &made) == MEDLEY_OK) {
        med_pool_cache_init(&cache, OWNER, fuzz_below(input, 8));
        for (int i = 0; i < OPERATIONS && input->left; i++) {
            med_pool_buffer buffer = {.place = fuzz_word(input), .generation = fuzz_word(input)};
            maybe_scribble(input, memory, size_bytes);
            (void)med_pool_give(&made, &cache, buffer);
            if (med_pool_take(&made, &cache, &buffer) == MEDLEY_OK) {
                memset(med_pool_address(&made, buffer), i, made.buffer_bytes);
                if (fuzz_take(input, 1) & 1) {
                    (void)med_pool_give(&made, &cache, buffer);
                }
            }
        }
        med_pool_cache_flush(&made, &cache);
        (void)med_pool_recover(&made, OWNER);
    }
    free(memory);
}

static void
state_cell(fuzz_input *input)
{
    uint32_t value_bytes = 1 + fuzz_below(input, 200);
    uint32_t buffers = 2 + fuzz_below(input, 6);
    size_t size_bytes = med_state_cell_size(value_bytes, buffers);
    if (size_bytes == 0) {
        return;
    }
    uint8_t value[VALUE_MAX] = {0};
    void *memory = fuzz_memory(size_bytes);
    med_state_cell cell;
    (void)med_state_cell_init(memory, size_bytes, value_bytes, buffers, MED_PORT_SCOPE_PROCESS,
                              &cell);
    maybe_scribble(input, memory, size_bytes);
    if (med_state_cell_attach(memory, size_bytes, MED_PORT_SCOPE_PROCESS, &cell) == MEDLEY_OK) {
        med_state_cell_reader reader = {.number = 0};
        (void)med_state_cell_open(&cell, OWNER);
        for (int i = 0; i < OPERATIONS && input->left; i++) {
            maybe_scribble(input, memory, size_bytes);
            med_state_cell_write(&cell, value);
            maybe_scribble(input, memory, size_bytes);
            (void)med_state_cell_read(&cell, &reader, 4, value);
        }
        (void)med_state_cell_recover(&cell, OWNER);
    }
    free(memory);
}

static void
trace(fuzz_input *input)
{
    uint32_t lanes = 1 + fuzz_below(input, 4);
    uint32_t records = 1u << fuzz_below(input, 6);
    size_t size_bytes = med_trace_size(lanes, records);
    if (size_bytes == 0) {
        return;
    }
    void *memory = fuzz_memory(size_bytes);
    med_trace made;
    (void)med_trace_init(memory, size_bytes, lanes, records, &made);
    maybe_scribble(input, memory, size_bytes);
    if (med_trace_attach(memory, size_bytes, &made) == MEDLEY_OK) {
        med_trace_cursor cursor;
        med_trace_record record;
        med_trace_enable(&made, true);
        medley_status_t status = med_trace_rewind(&made, fuzz_below(input, 4), &cursor);
        for (int i = 0; i < OPERATIONS && input->left; i++) {
            maybe_scribble(input, memory, size_bytes);
            med_trace_event(&made, fuzz_word(input), 1, 2, 3);
            if (status == MEDLEY_OK && med_trace_read(&made, &cursor, &record) != MEDLEY_OK) {
                med_trace_skip(&cursor);
            }
        }
        (void)med_trace_recover(&made, OWNER);
    }
    free(memory);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const kinds[])(fuzz_input *) = {bit_set, pool, state_cell, trace};
    fuzz_input input = {.bytes = bytes, .left = size};
    kinds[fuzz_below(&input, 4)](&input);
    return 0;
}
