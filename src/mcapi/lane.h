/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lanes: one ring from a sending endpoint to a receiving one, at one priority. A row of the
 * registry says whose it is; its memory lies in the exchange. docs/design/mcapi.md
 */
#ifndef MEDLEY_MCAPI_LANE_H
#define MEDLEY_MCAPI_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ring_spsc.h"
#include "base/state_cell.h"
#include "mcapi/exchange.h"
#include "medley/status.h"
#include "mrapi/handle.h"

#define MED_LANE_PRIORITIES 4u
/* What a lane of messages or packets counts by: a 24-byte message and its header. */
#define MED_LANE_GRANULE_BYTES 32u

typedef enum med_lane_kind {
    MED_LANE_MESSAGES,
    MED_LANE_PACKETS,
    MED_LANE_SCALARS,
    MED_LANE_STATES,
} med_lane_kind;

/* The paper's two sides. */
typedef enum med_lane_side {
    MED_LANE_PRODUCER,
    MED_LANE_CONSUMER,
} med_lane_side;

/* Of a side, in `ends`. */
#define MED_LANE_OPEN(side) (1u << (side)*2u)
#define MED_LANE_GONE(side) (2u << (side)*2u)
/* In the same: a topic's, which has not taken it up. It ends with its consumer's end alone. */
#define MED_LANE_UNTAKEN 0x10u
/* And the generation of the row whose ends they are. */
#define MED_LANE_LIFE_SHIFT 16u

typedef struct med_lane_row {
    med_row row;        /* key: the receiving endpoint; the sending one, its kind the priority */
    atomic32 kind;      /* med_lane_kind; fixed when it is made, as are the next two */
    atomic32 side[2];   /* whose each is: node references */
    atomic32 ends;      /* MED_LANE_OPEN, _GONE, _UNTAKEN; its life */
    atomic32 capacity;  /* of its ring, or its cell's buffers; for showing */
    uint32_t unused[7]; /* then a line for each side, written by it: */
    struct {
        atomic64 count;         /* what it moved: messages, packets, scalars or states, */
        atomic64 bytes;         /* and how long they were; not of scalars */
        atomic32 waits;         /* how often it found the ring full, or empty, and waited */
        atomic32 retries;       /* of states: how often it copied again; in all, wrapping, */
        atomic32 retries_worst; /* and at most for one */
        atomic32 most;          /* of the ring's elements in use, when it looked */
        atomic32 lost;          /* by a topic: for which there was no room; wrapping */
        atomic32 index;         /* of scalars: the ring's; `count` follows it now and then */
        uint32_t unused[6];
    } moved[2];
} med_lane_row;
_Static_assert(sizeof(med_lane_row) == 192, "the same in every build");

uint32_t med_lane_row_bytes(const med_limits *limits);
/* The kind's recovery: lanes go with their endpoints, so there is nothing to do. */
medley_status_t med_lane_recover_rows(struct med_system *system,
                                      uint32_t first,
                                      uint32_t count,
                                      uint32_t node_ref,
                                      uint32_t thread_id);
/* Of the memory of each lane. */
size_t med_lane_memory_bytes(const med_limits *limits);
/* The longest state there can be. */
uint32_t med_lane_state_bytes_max(const med_limits *limits);

struct med_endpoint_own;
struct med_endpoint_row;

/* Of a lane's producer: when it looks at the receiver's life (watch.h). */
typedef struct med_lane_watch {
    uint32_t asked; /* the clock, last: in watch.c's ticks, wrapping */
    uint32_t looked;
    uint32_t asks_at; /* the index of the ring at which it asks again; of states, the number */
    uint16_t run;     /* so many that was away, last; 0: nothing is known yet */
    bool missed;      /* a wake since it looked reached nobody */
} med_lane_watch;

/* A lane as this process's nodes see it: each half is its side's thread's. Others may look at the
 * first two words. What is used again and again stands here and not in the row, where a bad peer
 * could change it. */
typedef struct med_lane_own {
    struct {
        atomic32 handle; /* of the channel's end, when it is open; else 0 */
        atomic32 owner;  /* node reference; 0: not attached */
        uint32_t life;   /* generation of the row, + 1; 0: not attached */
        med_lane_kind kind;
        med_handle from; /* of messages, whose lanes are found by it: sends.h. So are the next */
        med_handle to;
        uint32_t priority;
        uint32_t published; /* to a subscriber: the topic's number of what it was offered last */
        struct med_lane_own *next; /* and of the topic's subscribers */
        union {
            med_ring_producer ring;
            med_state_cell cell; /* of states */
        };
        med_waker news; /* of the consumer */
        med_lane_row *row;
        uint8_t *widths;      /* of scalars */
        uint32_t buffers;     /* the number that owns what is under way */
        uint32_t share_end;   /* up to there its share of the pool reaches: buffer.h */
        uint32_t payload_max; /* of a channel; set when it is opened, as long as it is connected */
        atomic32 at_once;     /* of scalars: which go by one look (scalar.h) */
        struct med_endpoint_own *endpoint;
        /* Of messages (message_at_once.h): to whom; the length from which on none goes at once; and
         * the index of the ring before which it may. */
        const struct med_endpoint_row *receiver;
        uint32_t at_once_end;
        uint32_t at_once_until;
        med_lane_watch watch;
    } producer;
    _Alignas(128) struct {
        atomic32 handle;
        atomic32 owner;
        uint32_t life;
        med_lane_kind kind;
        union {
            med_ring_consumer ring;
            struct {
                med_state_cell cell;
                med_state_cell_reader reader;
            };
        };
        med_waker news;
        med_lane_row *row;
        atomic32 at_once; /* as the producer's */
        const uint8_t *widths;
        uint32_t buffers;
        uint32_t plain_max; /* of records, as are the next three (record.h): none has more in it; */
        uint32_t headers;   /* so many are still found by their headers; */
        bool leads_on;      /* the last one did; */
        uint8_t patience;   /* so often it looks again for the next (message_at_once.h) */
        struct med_endpoint_own *endpoint;
        struct med_lane_own *next; /* of the same endpoint and priority, in a circle */
    } consumer;
} med_lane_own;
_Static_assert(sizeof(void *) != 8 || sizeof(med_lane_own) == 512,
               "found by a shift: a multiplication costs scalars 3 %");

/* Of what kind the channel is for those who call: states are packets to them. */
static inline med_lane_kind
med_lane_calls(uint32_t kind)
{
    return kind == MED_LANE_STATES ? MED_LANE_PACKETS : (med_lane_kind)kind;
}

/* Looks again of who received a message just now. */
#define MED_LANE_PATIENCE 8u

/* What goes at once by that end from now on; 0: nothing. In a small build nothing ever does. */
static inline void
med_lane_at_once_set(atomic32 *at_once, uint32_t what)
{
    if (!med_port_is_small()) {
        atomic32_store_relaxed(at_once, what); /* relaxed: of the caller's own end */
    }
}

/* What a side counts for showing, it counts where somebody can look on: another process. */

/* One more was moved, by that side, to whose line nobody else comes but who looks on. */
static inline void
med_lane_count_one(med_lane_row *row, med_lane_side side)
{
    if (!med_port_has_processes()) {
        return;
    }
    atomic64 *count = &row->moved[side].count;
    atomic64_store_relaxed(count, atomic64_load_relaxed(count) + 1); /* relaxed: for showing */
}

/* The same, so long. */
static inline void
med_lane_count(med_lane_row *row, med_lane_side side, uint64_t bytes)
{
    if (!med_port_has_processes()) {
        return;
    }
    atomic64 *sum = &row->moved[side].bytes;
    med_lane_count_one(row, side);
    atomic64_store_relaxed(sum, atomic64_load_relaxed(sum) + bytes); /* relaxed: for showing */
}

/* So many at once, so long in all. */
static inline void
med_lane_count_many(med_lane_row *row, med_lane_side side, uint32_t many, uint64_t bytes)
{
    if (!med_port_has_processes()) {
        return;
    }
    atomic64 *count = &row->moved[side].count;
    atomic64 *sum = &row->moved[side].bytes;
    /* Relaxed, all: for showing. */
    atomic64_store_relaxed(count, atomic64_load_relaxed(count) + many);
    atomic64_store_relaxed(sum, atomic64_load_relaxed(sum) + bytes);
}

/* Of scalars: it moved all before that index. */
static inline void
med_lane_note_index(med_lane_row *row, med_lane_side side, uint32_t index)
{
    if (med_port_has_processes()) {
        atomic32_store_relaxed(&row->moved[side].index, index); /* relaxed: for showing */
    }
}

/* The number of scalars that it moved. */
static inline uint64_t
med_lane_count_of_index(const med_lane_row *row, med_lane_side side)
{
    /* Relaxed, both: for showing. The index begins at 0, and is never half round ahead. */
    uint64_t count = atomic64_load_relaxed(&row->moved[side].count);
    int32_t since = (int32_t)(atomic32_load_relaxed(&row->moved[side].index) - (uint32_t)count);
    return count + (uint64_t)(int64_t)since;
}

/* Now and then: the count follows the index. */
static inline void
med_lane_count_by_index(med_lane_row *row, med_lane_side side)
{
    if (med_port_has_processes()) {
        /* Relaxed: for showing. */
        atomic64_store_relaxed(&row->moved[side].count, med_lane_count_of_index(row, side));
    }
}

/* It looked at the other side, and so many elements of the ring are in use. */
static inline void
med_lane_note_use(med_lane_row *row, med_lane_side side, uint32_t elements)
{
    atomic32 *most = &row->moved[side].most;
    /* Relaxed, both: for showing. */
    if (med_port_has_processes() && elements > atomic32_load_relaxed(most)) {
        atomic32_store_relaxed(most, elements);
    }
}

/* So many of the ring's elements are in use, as far as its producer knows. */
static inline uint32_t
med_lane_in_use(const med_ring_producer *ring)
{
    return ring->view.mask + 1 - (ring->limit - med_ring_tail(ring));
}

/* It had to wait. */
static inline void
med_lane_count_wait(med_lane_row *row, med_lane_side side)
{
    atomic32 *waits = &row->moved[side].waits;
    if (med_port_has_processes()) {
        atomic32_store_relaxed(waits, atomic32_load_relaxed(waits) + 1); /* relaxed: for showing */
    }
}

/* The other side's thread, if it sleeps; the same one does not. */
static inline void
med_lane_wake(med_waker *news)
{
    if (med_port_has_threads()) {
        med_waker_wake(news);
    }
}

/* ---- Making ---------------------------------------------------------------------------------- */

typedef struct med_lane_request {
    med_handle from;
    med_handle to;
    uint32_t priority; /* of messages; else MED_LANE_CHANNEL, MED_LANE_TOPIC */
    med_lane_kind kind;
} med_lane_request;

/* In place of a priority: one such lane at most between two endpoints. */
#define MED_LANE_CHANNEL 15u
/* The same: to a subscriber, whose channel it is; what publishes has many such. */
#define MED_LANE_TOPIC 14u

/* The lower half of a lane's key. */
static inline uint32_t
med_lane_key_low(med_handle from, uint32_t priority)
{
    return (from & 0x0fffffffu) | priority << 28;
}

/* Makes the lane, or finds it; packets' are of states where both endpoints say so.
 * MEDLEY_ERR_EXISTS for a channel when one of the endpoints is connected, MEDLEY_ERR_ACCESS when
 * they do not agree. MEDLEY_ERR_STALE: one of them is not there (any more); MEDLEY_ERR_LIMIT, which
 * is reported; MEDLEY_TIMEOUT. */
medley_status_t med_lane_make(med_self *self,
                              const med_lane_request *request,
                              uint32_t *index,
                              uint32_t *generation);

static inline med_lane_row *
med_lane_at(const struct med_system *system, uint32_t index)
{
    return (med_lane_row *)(void *)med_table_row(&system->lanes, index);
}

/* What a side attaches to: a lane that one of the caller's endpoints is an end of. */
typedef struct med_lane_end {
    uint32_t index;
    uint32_t generation;
    med_lane_kind kind;
    struct med_endpoint_own *endpoint;
    med_handle from; /* of a producer of messages, and the next: under which it is found */
    med_handle to;
    uint32_t priority;
} med_lane_end;

/* MEDLEY_ERR_STALE: it has left it before, or there is no such lane; MEDLEY_ERR_CORRUPT: what lies
 * there is no ring, or cell, for that kind. Then it is not attached. */
medley_status_t
med_lane_producer_attach(med_self *self, const med_lane_end *end, med_lane_own **lane);
medley_status_t
med_lane_consumer_attach(med_self *self, const med_lane_end *end, med_lane_own **lane);

/* What publishes takes its end up, before it attaches. False: the subscriber has left, or another
 * life is over, too; there is nothing to leave. */
bool med_lane_take_up(med_lane_row *row, uint32_t generation);

/* ---- Its end --------------------------------------------------------------------------------- */

/* That side uses it no more. Idempotent. Whoever is the second removes the lane: MEDLEY_TIMEOUT, it
 * is not removed yet. The other side is woken. */
medley_status_t
med_lane_leave(struct med_system *system, uint32_t index, uint32_t generation, med_lane_side side);
/* The same of a side that the caller attached to, which it is no more. */
medley_status_t med_lane_end_leave(med_self *self, med_lane_own *lane, med_lane_side side);
/* The caller is attached to no lane of that endpoint any more; it leaves none. */
void med_lanes_detach(med_self *self, const struct med_endpoint_own *endpoint);
/* All sides that are this endpoint's. No lane of it is made any more. MEDLEY_TIMEOUT: not all. */
medley_status_t med_lanes_leave(struct med_system *system, med_handle endpoint);

/* Leaves the caller's lanes whose receivers, or subscribers, are gone; not those of connected
 * channels, which are to be closed. Whether there were any. */
bool med_lanes_give_up(med_self *self);
/* The same, if somebody was refused a lane since. For who sleeps, after each slice. */
void med_lanes_give_up_wanted(med_self *self);

/* Looks at the life of that side's node, and recovers it if it is dead. For who waits for it. A
 * node that ends otherwise says so itself: where there are no processes, there is nothing to do. */
static inline void
med_lane_look_at(struct med_system *system, const med_lane_row *row, med_lane_side side)
{
    if (med_port_has_processes()) {
        (void)med_node_look(system, atomic32_load_relaxed(&row->side[side])); /* relaxed: fixed */
    }
}

/* The same for who does not wait, now and then. */
static inline void
med_lane_glance_at(med_self *self, const med_lane_row *row, med_lane_side side)
{
    if (med_exchange_look_due(self)) {
        med_lane_look_at(self->system, row, side);
    }
}

/* There is no room to send: may its producer wait for some? Who may not glances at the receiver. */
bool med_lane_may_wait(med_self *self, const med_lane_own *lane);

/* Nothing is there to receive, and before that it was asked whether its sender was gone:
 * MEDLEY_ERR_PEER_DIED. Else the caller, who perhaps only asks that, glances at him. */
medley_status_t med_lane_none_available(med_self *self, const med_lane_own *lane, bool gone);

/* Does waiting help? For a buffer as for room: both come back from receivers. */
static inline bool
med_lacks_room(medley_status_t status)
{
    return status == MEDLEY_FULL || status == MEDLEY_ERR_NO_MEMORY;
}

/* A producer's try came to that. MEDLEY_BUSY: it lacks room, and may wait for some. */
static inline medley_status_t
med_lane_busy_or(med_self *self, const med_lane_own *lane, medley_status_t status)
{
    bool waits = __builtin_expect(med_lacks_room(status), 0) && med_lane_may_wait(self, lane);
    return waits ? MEDLEY_BUSY : status;
}

/* Has that side gone? */
static inline bool
med_lane_is_gone(const med_lane_row *row, med_lane_side side)
{
    return atomic32_load_acquire(&row->ends) & MED_LANE_GONE(side); /* G2 <- G1 (lane.c) */
}

#endif
