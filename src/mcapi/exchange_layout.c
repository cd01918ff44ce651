/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sizes and places of what MCAPI has in shared memory, for the partition's layout hash. */
#include "mcapi/exchange.h"

#include "mcapi/endpoint.h"
#include "mcapi/lane.h"
#include "mcapi/record.h"
#include "mrapi/partition.h"

static const uint32_t shape[] = {
    sizeof(med_endpoint_row),
    offsetof(med_endpoint_row, row),
    offsetof(med_endpoint_row, settings),
    MED_ENDPOINT_SETTINGS,
    offsetof(med_endpoint_row, gets),
    offsetof(med_endpoint_row, got_by),
    offsetof(med_endpoint_row, channel),
    offsetof(med_endpoint_row, closing),
    MED_ENDPOINT_DIED(1u),
    offsetof(med_endpoint_row, is_kept),
    offsetof(med_endpoint_row, lanes_made),
    offsetof(med_endpoint_row, expected),
    offsetof(med_endpoint_row, expected.domain),
    offsetof(med_endpoint_row, expected.node),
    offsetof(med_endpoint_row, expected.port),
    offsetof(med_endpoint_row, expected.key_low),
    sizeof(med_lane_row),
    offsetof(med_lane_row, row),
    offsetof(med_lane_row, kind),
    offsetof(med_lane_row, side),
    offsetof(med_lane_row, ends),
    MED_LANE_UNTAKEN,
    MED_LANE_LIFE_SHIFT,
    offsetof(med_lane_row, moved),
    sizeof(((med_lane_row *)0)->moved[0]),
    offsetof(med_lane_row, capacity),
    offsetof(med_lane_row, moved[0].count),
    offsetof(med_lane_row, moved[0].bytes),
    offsetof(med_lane_row, moved[0].waits),
    offsetof(med_lane_row, moved[0].retries),
    offsetof(med_lane_row, moved[0].retries_worst),
    offsetof(med_lane_row, moved[0].most),
    offsetof(med_lane_row, moved[0].lost),
    offsetof(med_lane_row, moved[0].index),
    sizeof(med_exchange_head),
    offsetof(med_exchange_head, ready),
    offsetof(med_exchange_head, awaited),
    offsetof(med_exchange_head, scarce),
    offsetof(med_exchange_head, locked),
    offsetof(med_exchange_head, os_lock),
    offsetof(med_exchange_head, lanes_wanted),
    MED_LANE_GRANULE_BYTES,
    sizeof(med_record_header),
    offsetof(med_record_header, bytes),
    offsetof(med_record_header, kind),
    MED_RECORD_LEADS_ON,
    sizeof(med_pool_buffer),
    offsetof(med_pool_buffer, place),
    offsetof(med_pool_buffer, generation),
};

uint32_t
med_exchange_layout_hash(uint32_t hash)
{
    return med_layout_hash_add(hash, shape, sizeof shape / sizeof shape[0]);
}
