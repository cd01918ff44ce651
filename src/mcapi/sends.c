/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chains of lanes behind a table of heads, which lies in the node until it has many lanes; then in
 * mapped memory, doubled as they grow more. In a small build the chains grow instead.
 */
#include "mcapi/sends.h"

#include "mcapi/lane.h"
#include "port/port.h"

/* The first that is mapped: a page of them. */
#define MAPPED_LEAST 512u
#define COUNT_MAX (1u << 20)

void
med_sends_init(med_sends *sends)
{
    *sends = (med_sends){.heads = sends->few, .mask = MED_SENDS_FEW - 1};
}

void
med_sends_fini(med_sends *sends)
{
    if (!med_port_is_small() && sends->heads != sends->few) {
        med_port_memory_unmap(sends->heads, ((size_t)sends->mask + 1) * sizeof(void *));
    }
    med_sends_init(sends);
}

static struct med_lane_own **
head_of(const med_sends *sends, const med_lane_own *lane)
{
    return &sends->heads[med_sends_place(sends, lane->producer.from, lane->producer.to,
                                         lane->producer.priority)];
}

static void
put(const med_sends *sends, med_lane_own *lane)
{
    med_lane_own **head = head_of(sends, lane);
    lane->producer.next = *head;
    *head = lane;
}

/* Where there is no memory for it, the chains are longer instead. */
static void
grow(med_sends *sends)
{
    uint32_t count = sends->mask + 1;
    med_sends larger = *sends;
    uint32_t wanted = count * 2 < MAPPED_LEAST ? MAPPED_LEAST : count * 2;
    void *memory;
    if (wanted > COUNT_MAX || med_port_memory_map(wanted * sizeof(void *), &memory) != MEDLEY_OK) {
        return;
    }
    larger.heads = memory;
    larger.mask = wanted - 1;
    for (uint32_t i = 0; i < count; i++) {
        for (med_lane_own *lane = sends->heads[i]; lane;) {
            med_lane_own *next = lane->producer.next;
            put(&larger, lane);
            lane = next;
        }
    }
    uint32_t lanes = sends->count;
    med_sends_fini(sends);
    sends->heads = larger.heads;
    sends->mask = larger.mask;
    sends->count = lanes;
}

void
med_sends_add(med_sends *sends, med_lane_own *lane)
{
    if (!med_port_is_small() && sends->count > sends->mask) {
        grow(sends);
    }
    put(sends, lane);
    sends->count++;
}

void
med_sends_remove(med_sends *sends, const med_lane_own *lane)
{
    for (med_lane_own **at = head_of(sends, lane); *at; at = &(*at)->producer.next) {
        if (*at == lane) {
            *at = lane->producer.next;
            sends->count--;
            return;
        }
    }
}
