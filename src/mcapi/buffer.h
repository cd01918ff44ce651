/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Buffers that go through a lane: from the sender to the lane before their name is published, from
 * the lane to the receiver before it is given back. So each is somebody's at every instant.
 *
 * Each step is a look and a plain store by the only one who may make it: what a node has, only its
 * thread hands on; what a lane has, only its consumer takes; and nobody takes anything back from a
 * node that lives, or from a lane that its consumer has not left. Model: models/buffer.pml.
 *
 * A lane's share. A receiver that does not receive must not keep all buffers of the system in its
 * lane. So a lane with buffers under way gets another only while fewer are under way in it than
 * are free, but for an eighth of the pool, which is for lanes with none under way: these are
 * refused none. So one lane alone has seven sixteenths of the pool, the next that is
 * full half as many, and so on; then, those of the eighth, one each. What is free is looked at once
 * in so many, and is then another's too: so it is about that. Who is refused waits for his own
 * receiver only, who wakes him. Nothing about it is shared: the producer knows what is under way,
 * and what the dead had comes back as ever. He takes it by the ring's indices, as if each granule
 * were a buffer: no fewer. Only before he is refused are those of messages, among which are short
 * ones, counted by their headers: no more steps than the bytes of one such long message are, which
 * is longer than a quarter of the lane.
 */
#ifndef MEDLEY_MCAPI_BUFFER_H
#define MEDLEY_MCAPI_BUFFER_H

#include "mcapi/record.h"

/* The name of the buffer that begins there; zeroed, if none does. By value: what is stored in
 * halves and loaded whole waits for all that was stored before. */
static inline med_pool_buffer
med_buffer_at(const med_pool *pool, const void *address)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)pool->buffers;
    uint32_t index = offset <= UINT32_MAX ? (uint32_t)offset / pool->stride_bytes : UINT32_MAX;
    if (__builtin_expect(index >= pool->slots.capacity, 0) ||
        __builtin_expect(offset != (uintptr_t)index * pool->stride_bytes, 0)) {
        return (med_pool_buffer){0, 0};
    }
    /* Relaxed: while it is the caller's only the caller changes it; else the owner says so. */
    return (med_pool_buffer){.place = pool->tag << 16 | index,
                             .generation =
                                 atomic32_load_relaxed(&pool->slots.entries[index].generation)};
}

static inline bool
med_buffer_is_none(med_pool_buffer buffer)
{
    return buffer.place == 0 && buffer.generation == 0;
}

/* So many go at most from one look at what is free to the next. */
#define MED_BUFFER_SHARE_RUN 256u

/* MEDLEY_FULL; MEDLEY_ERR_PEER_DIED; MEDLEY_ERR_CORRUPT. */
medley_status_t med_buffer_share_look(med_self *self, med_lane_own *lane);

/* May one more buffer go into that lane? Asked for by its producer, who looks at the receiver's
 * life as well when that is due. The distance is that to a place
 * passed long ago, too, so no longer one than there can be counts. */
static inline medley_status_t
med_buffer_share(med_self *self, med_lane_own *lane)
{
    uint32_t left = lane->producer.share_end - med_ring_tail(&lane->producer.ring);
    return __builtin_expect(left - 1 < MED_BUFFER_SHARE_RUN, 1) ? MEDLEY_OK
                                                                : med_buffer_share_look(self, lane);
}

/* Publishes a buffer of the caller's that holds `bytes`. MEDLEY_FULL, and it still is the caller's;
 * MEDLEY_ERR_NOT_OWNER: it is not; MEDLEY_ERR_PEER_DIED: the receiver is gone. */
static inline medley_status_t
med_buffer_send(med_self *self, med_lane_own *lane, med_pool_buffer buffer, uint32_t bytes)
{
    const uint32_t granules = med_record_granules(sizeof buffer);
    unsigned char *slot;
    medley_status_t status = med_buffer_share(self, lane);
    if (__builtin_expect(status == MEDLEY_OK, 1)) {
        status = med_record_reserve(&lane->producer.ring, granules, &slot);
    }
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status == MEDLEY_FULL_CONSUMER_READING ? MEDLEY_FULL : status;
    }
    status = med_pool_hand_over_alone(&self->exchange->exchange->pool, buffer, self->ref,
                                      lane->producer.buffers);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    uint32_t next = med_ring_tail(&lane->producer.ring) + granules;
    uint32_t leads_on = med_record_lead_on(&lane->producer.ring, next);
    memcpy(slot + sizeof(med_record_header), &buffer, sizeof buffer);
    med_record_header_set(slot, MED_RECORD_BUFFER | leads_on, bytes);
    med_record_publish(lane, next);
    return MEDLEY_OK;
}

/* Publishes a copy of `bytes`. MEDLEY_ERR_NO_MEMORY: no buffer is left; the others as above. */
medley_status_t
med_buffer_send_copy(med_self *self, med_lane_own *lane, const void *payload, uint32_t bytes);

/* What will be looked at when the record after one is received, if it is there. */
static inline void
med_buffer_prefetch_next(const med_pool *pool,
                         const med_ring_consumer *ring,
                         const med_record *record)
{
    uint32_t next = ring->head + record->granules;
    if (next - ring->head < ring->filled - ring->head) {
        const unsigned char *slot = med_ring_slot(&ring->view, next);
        uint32_t index;
        memcpy(&index, slot + sizeof(med_record_header), sizeof index);
        index &= 0xffffu;
        if (__builtin_expect(index < pool->slots.capacity, 1)) {
            __builtin_prefetch(&pool->slots.entries[index], 1);
            __builtin_prefetch(pool->buffers + (size_t)index * pool->stride_bytes);
        }
    }
}

/* The buffer of a record: the caller's from now on. MEDLEY_ERR_CORRUPT: there is no such. */
static inline medley_status_t
med_buffer_receive(med_self *self,
                   const med_lane_own *lane,
                   const med_record *record,
                   med_pool_buffer *buffer)
{
    const med_pool *pool = &self->exchange->exchange->pool;
    memcpy(buffer, record->payload, sizeof *buffer);
    bool good =
        record->kind == MED_RECORD_BUFFER && record->bytes <= pool->buffer_bytes &&
        med_pool_hand_over_alone(pool, *buffer, lane->consumer.buffers, self->ref) == MEDLEY_OK;
    return __builtin_expect(good, 1) ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

#endif
