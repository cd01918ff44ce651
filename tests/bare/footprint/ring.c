/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A ring of many producers, without nodes: what both of its sides need. */
#include "base/ring_mpsc.h"

int main(void);

int
main(void)
{
    static _Alignas(128) uint8_t memory[2048];
    static const med_ring_mpsc_config config = {.element_bytes = 8, .capacity = 8, .lanes = 2};
    med_ring_mpsc_view view;
    med_ring_mpsc_producer producer;
    med_ring_mpsc_consumer consumer;
    void *element;
    (void)med_ring_mpsc_init(memory, sizeof memory, &config);
    (void)med_ring_mpsc_attach(&view, memory, sizeof memory, MED_PORT_SCOPE_PROCESS);
    (void)med_ring_mpsc_producer_join(&producer, &view, 1);
    (void)med_ring_mpsc_consumer_join(&consumer, &view, 1);
    (void)med_ring_mpsc_reserve_until(&producer, MED_PORT_FOREVER, &element);
    med_ring_mpsc_commit(&producer);
    (void)med_ring_mpsc_peek_until(&consumer, MED_PORT_FOREVER, &element);
    med_ring_mpsc_release(&consumer);
    return 0;
}
