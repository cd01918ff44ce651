/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rings that are attached to, and then written over while they are used. */
#include "base/ring_mpmc.h"
#include "base/ring_mpsc.h"
#include "base/ring_spsc.h"
#include "fuzz.h"

#define OPERATIONS 64
#define OWNER 7u
#define ELEMENT_MAX 256u

typedef struct shape {
    uint32_t element_bytes;
    uint32_t capacity;
} shape;

static shape
any_shape(fuzz_input *input)
{
    return (shape){.element_bytes = 1 + fuzz_below(input, 100),
                   .capacity = 1u << fuzz_below(input, 5)};
}

static void
maybe_scribble(fuzz_input *input, void *memory, uint32_t size_bytes)
{
    if (fuzz_take(input, 1) & 1) {
        fuzz_scribble(input, memory, size_bytes);
    }
}

static void
spsc(fuzz_input *input)
{
    shape wanted = any_shape(input);
    med_ring_config config = {.layout = fuzz_take(input, 1) & 1 ? MED_RING_LINE : MED_RING_PACKED,
                              .element_bytes = wanted.element_bytes,
                              .capacity = wanted.capacity};
    uint32_t size_bytes;
    if (med_ring_size(&config, &size_bytes) != MEDLEY_OK) {
        return;
    }
    void *memory = fuzz_memory(size_bytes);
    med_ring_producer producer;
    med_ring_consumer consumer;
    (void)med_ring_init(memory, size_bytes, &config);
    maybe_scribble(input, memory, size_bytes);
    if (med_ring_producer_attach(&producer, memory, size_bytes, MED_PORT_SCOPE_PROCESS) ==
            MEDLEY_OK &&
        med_ring_consumer_attach(&consumer, memory, size_bytes, MED_PORT_SCOPE_PROCESS) ==
            MEDLEY_OK) {
        for (int i = 0; i < OPERATIONS && input->left; i++) {
            void *slot;
            uint32_t count;
            maybe_scribble(input, memory, size_bytes);
            if (med_ring_reserve(&producer, &slot) == MEDLEY_OK) {
                memset(slot, i, producer.view.element_bytes);
                med_ring_commit(&producer);
            }
            if (med_ring_reserve_many(&producer, 3, &slot, &count) == MEDLEY_OK) {
                memset(slot, i, producer.view.element_bytes);
                med_ring_commit_many(&producer, count);
            }
            if (med_ring_peek(&consumer, &slot) == MEDLEY_OK) {
                (void)*(volatile uint8_t *)slot;
                med_ring_release(&consumer);
            }
            if (med_ring_peek_many(&consumer, 3, &slot, &count) == MEDLEY_OK) {
                (void)*(volatile uint8_t *)slot;
                med_ring_release_many(&consumer, count);
            }
        }
    }
    free(memory);
}

static void
mpsc(fuzz_input *input)
{
    shape wanted = any_shape(input);
    med_ring_mpsc_config config = {.element_bytes = wanted.element_bytes,
                                   .capacity = wanted.capacity,
                                   .lanes = 1 + fuzz_below(input, 5)};
    uint32_t size_bytes;
    if (med_ring_mpsc_size(&config, &size_bytes) != MEDLEY_OK) {
        return;
    }
    uint8_t element[ELEMENT_MAX] = {0};
    void *memory = fuzz_memory(size_bytes);
    med_ring_mpsc_view view;
    med_ring_mpsc_producer producer;
    med_ring_mpsc_consumer consumer;
    (void)med_ring_mpsc_init(memory, size_bytes, &config);
    maybe_scribble(input, memory, size_bytes);
    if (med_ring_mpsc_attach(&view, memory, size_bytes, MED_PORT_SCOPE_PROCESS) == MEDLEY_OK &&
        view.element_bytes <= ELEMENT_MAX &&
        med_ring_mpsc_producer_join(&producer, &view, OWNER) == MEDLEY_OK &&
        med_ring_mpsc_consumer_join(&consumer, &view, OWNER + 1) == MEDLEY_OK) {
        for (int i = 0; i < OPERATIONS && input->left; i++) {
            maybe_scribble(input, memory, size_bytes);
            (void)med_ring_mpsc_push(&producer, element);
            (void)med_ring_mpsc_pop(&consumer, element);
        }
        (void)med_ring_mpsc_recover(&view, OWNER);
        (void)med_ring_mpsc_consumer_leave(&consumer);
    }
    free(memory);
}

static void
mpmc(fuzz_input *input)
{
    shape wanted = any_shape(input);
    med_ring_mpmc_config config = {.element_bytes = wanted.element_bytes,
                                   .capacity = wanted.capacity,
                                   .sides = 1 + fuzz_below(input, 5)};
    uint32_t size_bytes;
    if (med_ring_mpmc_size(&config, &size_bytes) != MEDLEY_OK) {
        return;
    }
    uint8_t element[ELEMENT_MAX] = {0};
    void *memory = fuzz_memory(size_bytes);
    med_ring_mpmc_view view;
    med_ring_mpmc_side side;
    (void)med_ring_mpmc_init(memory, size_bytes, &config);
    maybe_scribble(input, memory, size_bytes);
    if (med_ring_mpmc_attach(&view, memory, size_bytes, MED_PORT_SCOPE_PROCESS) == MEDLEY_OK &&
        view.element_bytes <= ELEMENT_MAX && med_ring_mpmc_join(&side, &view, OWNER) == MEDLEY_OK) {
        for (int i = 0; i < OPERATIONS && input->left; i++) {
            maybe_scribble(input, memory, size_bytes);
            (void)med_ring_mpmc_push(&side, element);
            (void)med_ring_mpmc_pop(&side, element);
        }
        (void)med_ring_mpmc_recover(&view, OWNER, NULL);
    }
    free(memory);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const kinds[])(fuzz_input *) = {spsc, mpsc, mpmc};
    fuzz_input input = {.bytes = bytes, .left = size};
    kinds[fuzz_below(&input, 3)](&input);
    return 0;
}
