/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sending a copy: who has no buffer yet takes one, and gives it back when it cannot be sent. */
#include "mcapi/buffer.h"

#define KEPT 8u       /* of so many, one */
#define RUN_SHARE 16u /* likewise, of what goes from one look to the next, but for the least run */
#define RUN_LEAST 16u

/* The most that go from one look to the next. */
static uint32_t
run_of(const med_pool *pool)
{
    uint32_t run = pool->slots.capacity / RUN_SHARE;
    return run < RUN_LEAST ? RUN_LEAST : run < MED_BUFFER_SHARE_RUN ? run : MED_BUFFER_SHARE_RUN;
}

/* What may be under way beside what is, as far as is known: half of it at most, so that it is seen
 * again while others take theirs. Each granule passes for a buffer, unless they are counted: a
 * short message is none, and a packet one. Not on from where it is refused anyway. */
static uint32_t
share_now(const med_self *self, const med_lane_own *lane, bool counted)
{
    const med_exchange_node *node = self->exchange;
    const med_pool *pool = &node->exchange->pool;
    const uint32_t run = run_of(pool);
    const uint32_t kept = pool->slots.capacity / KEPT;
    uint32_t under_way = med_lane_in_use(&lane->producer.ring);
    uint32_t enough = kept + under_way + 2 * run;
    uint32_t not_had = node->cache.count + med_bit_set_free(&pool->slots, enough);
    if (counted && lane->producer.kind == MED_LANE_MESSAGES) {
        uint32_t refused = not_had > kept ? not_had - kept : 1;
        under_way = med_record_count_buffers(&lane->producer.ring, refused);
    }
    uint32_t less = kept + under_way;
    uint32_t more = not_had > less ? (not_had - less + 1) / 2 : under_way == 0;
    return more < run ? more : run;
}

medley_status_t
med_buffer_share_look(med_self *self, med_lane_own *lane)
{
    med_ring_producer *ring = &lane->producer.ring;
    /* Rather now than between this look and the next, which would be one look more. */
    if (med_watch_is_due_within(lane, run_of(&self->exchange->exchange->pool)) &&
        med_watch_ask(self, lane, med_record_granules(sizeof(med_pool_buffer)))) {
        return MEDLEY_ERR_PEER_DIED;
    }
    uint32_t share = share_now(self, lane, false);
    medley_status_t status = MEDLEY_OK;
    if (share == 0) { /* how far the receiver is, and what it is, is looked at when it matters */
        status = med_ring_look_for_space(ring, med_ring_tail(ring));
        share = status == MEDLEY_OK ? share_now(self, lane, true) : 0;
    }
    if (share == 0 && status == MEDLEY_OK && med_exchange_reclaim_due(self) > 0) {
        share = share_now(self, lane, true);
    }
    lane->producer.share_end = med_watch_until(lane, med_ring_tail(ring) + share);
    if (status == MEDLEY_ERR_CORRUPT) {
        return status;
    }
    return share ? MEDLEY_OK : MEDLEY_FULL;
}

medley_status_t
med_buffer_send_copy(med_self *self, med_lane_own *lane, const void *payload, uint32_t bytes)
{
    const med_pool *pool = &self->exchange->exchange->pool;
    med_pool_buffer buffer;
    medley_status_t status = med_buffer_share(self, lane);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status;
    }
    if (med_exchange_buffer_take(self, &buffer) != MEDLEY_OK) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    memcpy(med_pool_address(pool, buffer), payload, bytes);
    status = med_buffer_send(self, lane, buffer, bytes);
    if (status != MEDLEY_OK) {
        (void)med_exchange_buffer_give(self, buffer);
    }
    return status;
}
