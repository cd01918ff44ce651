/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sending a copy: who has no buffer yet takes one, and gives it back when it cannot be sent. */
#include "mcapi/buffer.h"

#define KEPT 8u       /* of so many, one */
#define RUN_SHARE 16u /* likewise, of what goes from one look to the next, but for the least run */
#define RUN_LEAST 16u

/* What may be under way beside what is, as far as is known: half of it at most, so that it is seen
 * again while others take theirs. */
static uint32_t
share_now(const med_self *self, const med_lane_own *lane)
{
    const med_exchange_node *node = self->exchange;
    const med_ring_producer *ring = &lane->producer.ring;
    const med_bit_set *slots = &node->exchange->pool.slots;
    uint32_t under_way = ring->view.mask + 1 - (ring->limit - med_ring_tail(ring));
    uint32_t run = slots->capacity / RUN_SHARE;
    run = run < RUN_LEAST ? RUN_LEAST : run < MED_BUFFER_SHARE_RUN ? run : MED_BUFFER_SHARE_RUN;
    uint32_t less = slots->capacity / KEPT + under_way;
    uint32_t not_had = node->cache.count + med_bit_set_free(slots, less + 2 * run);
    uint32_t more = not_had > less ? (not_had - less + 1) / 2 : under_way == 0;
    return more < run ? more : run;
}

medley_status_t
med_buffer_share_look(const med_self *self, med_lane_own *lane)
{
    med_ring_producer *ring = &lane->producer.ring;
    uint32_t share = share_now(self, lane);
    medley_status_t status = MEDLEY_OK;
    if (share == 0) { /* how far the receiver is, is looked at when it matters */
        status = med_ring_look_for_space(ring, med_ring_tail(ring));
        share = status == MEDLEY_OK ? share_now(self, lane) : 0;
    }
    if (share == 0 && status == MEDLEY_OK && med_exchange_reclaim_due(self) > 0) {
        share = share_now(self, lane);
    }
    lane->producer.share_end = med_ring_tail(ring) + share;
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
