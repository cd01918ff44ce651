/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What becomes of the exchange's buffers when nobody gives them back. Each says by its owner's
 * number whose it is (exchange.h): who finds none looks whether those owners are over, the dead and
 * the lanes that nobody receives by any more, and takes back what they had. What may run together:
 * everything, by any nodes; of two who take back the same, one has each buffer (bit_set.h).
 *
 * Who finds none for all that says so by a flag (`scarce`); who gives one back then gives all that
 * he keeps, and wakes all.
 */
#include "mcapi/exchange.h"

#include "mcapi/lane.h"
#include "mrapi/object.h"

/* ---- Who is over ----------------------------------------------------------------------------- */

/* Generations count up: one that is not reached yet, as far as can be seen, is no old one. The
 * owner of a buffer may be seen before the row that says who he is. */
static bool
is_past(uint32_t generation, uint32_t now, uint32_t mask)
{
    uint32_t distance = (now - generation) & mask;
    return distance != 0 && distance <= mask / 2;
}

static bool
node_is_over(const med_system *system, uint32_t node_ref)
{
    if (med_node_ref_index(node_ref) >= system->limits.nodes) {
        return true;
    }
    const med_row *row = med_table_row(&system->nodes, med_node_ref_index(node_ref));
    uint32_t generation = med_node_ref_generation(node_ref);
    /* Relaxed: compared only. If it is LIVE, the next asks again; if it is past, either it left and
     * took all that it had along, or it died, and a death shows all that it did. */
    uint32_t word = atomic32_load_relaxed(&row->state);
    return word == med_row_word(MED_ROW_LIVE, generation)
               ? !med_node_alive(system, node_ref)
               : is_past(generation, med_row_generation_of(word), 0xffff);
}

/* The row's present life: does its consumer take nothing any more? One who died leaves it now. If
 * the row is of a later life by then, all the more. */
static bool
lane_is_left(med_system *system, const med_lane_row *row)
{
    if (!med_lane_is_gone(row, MED_LANE_CONSUMER)) {
        med_lane_look_at(system, row, MED_LANE_CONSUMER);
    }
    return med_lane_is_gone(row, MED_LANE_CONSUMER);
}

static bool
lane_is_over(med_system *system, uint32_t owner)
{
    uint32_t lane = owner & 0xffffu;
    uint32_t generation = owner >> 16 & 0x7fffu;
    if (lane >= system->lanes.row_count) {
        return true;
    }
    const med_lane_row *row = med_lane_at(system, lane);
    /* A1 live <- T1 (table.c): `ends` is of that life, or of a later one. Of what is just CREATING
     * nothing is known, but soon. What was done to the buffer is seen by its owner's word. */
    uint32_t word = atomic32_load_acquire(&row->row.state);
    uint32_t now = med_row_generation_of(word);
    if (med_row_state_of(word) == MED_ROW_LIVE && (now & 0x7fffu) == generation) {
        return lane_is_left(system, row);
    }
    return med_row_state_of(word) != MED_ROW_CREATING && is_past(generation, now, 0x7fff);
}

/* Is there nobody any more who could take what he owns, or give it back? For good: no number comes
 * again so soon. A node that did not die has left nothing. */
static bool
is_over(med_system *system, uint32_t owner)
{
    if (owner & 0x80000000u) {
        return lane_is_over(system, owner);
    }
    return med_port_has_processes() && owner != MED_BIT_SET_NOBODY && node_is_over(system, owner);
}

/* One pass, and one more for each that is over. */
uint32_t
med_exchange_reclaim(const med_self *self)
{
    const med_exchange *exchange = self->exchange->exchange;
    const med_pool *pool = &exchange->pool;
    uint32_t count = 0, spared = MED_BIT_SET_NOBODY; /* who was just asked after, and is not over */
    for (uint32_t i = 0; i < pool->slots.capacity; i++) {
        /* Relaxed: whose it is, is looked at again by the recovery. */
        uint32_t owner = atomic32_load_relaxed(&pool->slots.entries[i].owner);
        if (owner == spared) {
            continue;
        }
        if (is_over(self->system, owner)) {
            count += med_exchange_take_back(self->system, exchange, owner);
        } else {
            spared = owner;
        }
    }
    return count;
}

uint32_t
med_exchange_reclaim_due(const med_self *self)
{
    return med_object_due(&self->exchange->next_search_ns) ? med_exchange_reclaim(self) : 0;
}

/* ---- None left ------------------------------------------------------------------------------- */

medley_status_t
med_exchange_buffer_search(med_self *self, med_pool_buffer *buffer)
{
    med_exchange_node *node = self->exchange;
    med_exchange_flag_raise(self, &node->exchange->head->scarce);
    (void)med_exchange_reclaim_due(self);
    medley_status_t status = med_pool_take(&node->exchange->pool, &node->cache, buffer);
    return status == MEDLEY_OK ? status : MEDLEY_ERR_NO_MEMORY;
}

void
med_exchange_buffers_spread(med_self *self)
{
    med_exchange_node *node = self->exchange;
    atomic32_store_relaxed(&node->exchange->head->scarce, 0); /* relaxed: as flag_raise says */
    med_pool_cache_flush(&node->exchange->pool, &node->cache);
    med_node_wake_all(self->system);
}
