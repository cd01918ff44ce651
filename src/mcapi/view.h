/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Endpoints and lanes as they look from outside, for tools; otherwise as mrapi/view.h. */
#ifndef MEDLEY_MCAPI_VIEW_H
#define MEDLEY_MCAPI_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "mcapi/lane.h"

typedef struct med_view_end {
    bool owner_known; /* a node that is (still) there, or that is expected to make it */
    uint32_t domain;
    uint32_t node;
    uint32_t port;
} med_view_end;

typedef struct med_view_endpoint {
    med_view_end name;
    bool expected; /* nobody's now: the others say nothing */
    bool kept;     /* when it goes, it is expected again */
    bool closing;
    bool connected;
    uint32_t gets; /* by others, less releases */
} med_view_endpoint;

typedef struct med_view_lane {
    med_lane_kind kind;
    uint32_t priority; /* of messages */
    struct {
        med_view_end name;
        bool open;
        bool gone;
        uint64_t count; /* messages, packets, scalars, states that it moved */
        uint64_t bytes;
        uint32_t waits; /* how often it found no room, or nothing, and waited */
    } side[2];
    uint64_t depth;    /* under way; of states 0 */
    uint32_t most;     /* of the ring's elements in use: the most that a side has seen */
    uint32_t capacity; /* the ring's elements: of messages, 32 bytes each; of states, buffers */
    uint32_t retries;  /* of states, by the reader */
    uint32_t retries_worst; /* for one */
    bool is_topic;          /* to a subscriber */
    uint32_t lost;          /* to him */
} med_view_lane;

typedef struct med_view_buffers {
    uint32_t count;
    uint32_t bytes;  /* of each */
    uint32_t in_use; /* by somebody, or under way */
    uint32_t kept;   /* at hand of nodes, who take them next */
} med_view_buffers;

bool
med_view_endpoint_read(const struct med_system *system, uint32_t index, med_view_endpoint *view);
bool med_view_lane_read(const struct med_system *system, uint32_t index, med_view_lane *view);
/* Of the pool. Looks at all of them, in a segment that is mapped for that long. False: nobody has
 * exchanged anything here yet, or it cannot be looked at. */
bool med_view_buffers_read(const struct med_system *system, med_view_buffers *view);

#endif
