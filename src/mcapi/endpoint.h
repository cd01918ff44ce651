/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Endpoints: rows of the registry, found by node and port. docs/design/mcapi.md */
#ifndef MEDLEY_MCAPI_ENDPOINT_H
#define MEDLEY_MCAPI_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "mcapi/lane.h"
#include "mcapi/pending.h"
#include "medley/status.h"
#include "mrapi/handle.h"
#include "mrapi/node.h"

#define MED_ENDPOINT_PORT_ANY UINT32_MAX
/* A memory type says how far away it is, up to the first; the second is a bit of it: a call that
 * would wait for memory or room fails. */
#define MED_ENDPOINT_MEMORY_MOST 2u
#define MED_ENDPOINT_FAIL_ON_MEM_LIMIT 0x00010000u
/* Where the ports that MED_ENDPOINT_PORT_ANY gives begin. */
#define MED_ENDPOINT_PORT_ANY_FIRST 0x40000000u

/* What its owner may set, while it is not connected. */
typedef enum med_endpoint_setting {
    MED_ENDPOINT_MAX_PAYLOAD,
    MED_ENDPOINT_BUFFER_TYPE,
    MED_ENDPOINT_MEMORY_TYPE,
    MED_ENDPOINT_PRIORITIES,
    MED_ENDPOINT_PRIORITY,
    MED_ENDPOINT_RECEIVE_BUFFERS,
    MED_ENDPOINT_TIMEOUT_US,
    MED_ENDPOINT_SETTINGS
} med_endpoint_setting;

typedef struct med_endpoint_row {
    med_row row; /* key: its node (a reference), port; of an expected one, 0 and a hash */
    atomic32 settings[MED_ENDPOINT_SETTINGS]; /* written by the owner */
    atomic32 gets;                            /* how often others got it, less releases */
    atomic32 got_by;                          /* who got it last, a node reference, or 0 */
    atomic32 channel;    /* of which lane it is an end: handle; or 0. By who connects, and it */
    atomic32 closing;    /* not 0: it goes, and no lane is made for it any more. By its owner, who
                         deletes it (1), or, with the table's lock held, by his recovery: stays
                         until the row is another's (MED_ENDPOINT_DIED) */
    atomic32 is_kept;    /* its place is, when it goes: it is expected again; constant while LIVE */
    atomic32 lanes_made; /* how many ever were with it as the receiver, or as a topic; by their
                            makers */
    struct {
        atomic32 domain, node, port;
        atomic32 key_low;
    } expected; /* as which it is, or is when it goes, if its place is kept; constant while LIVE */
    uint32_t unused[11];
} med_endpoint_row;
_Static_assert(sizeof(med_endpoint_row) == 128, "the same in every build");
_Static_assert(offsetof(med_endpoint_row, lanes_made) == 64, "apart");

/* In `closing`: that life's node died. */
#define MED_ENDPOINT_DIED(generation) ((generation) << 16 | 2u)

uint32_t med_endpoint_row_bytes(const med_limits *limits);
medley_status_t med_endpoint_recover_rows(struct med_system *system,
                                          uint32_t first,
                                          uint32_t count,
                                          uint32_t node_ref,
                                          uint32_t thread_id);

/* An endpoint as its node sees it. Its thread's own. */
typedef struct med_endpoint_own {
    /* Apart from another's, beside it in the table. 0: it is no endpoint of this process. Others of
     * the process may look. */
    _Alignas(64) atomic32 handle;
    atomic32 owner; /* node reference; likewise */
    med_endpoint_row *row;
    /* As they were set: the row's are for others, and may be written over. */
    uint32_t settings[MED_ENDPOINT_SETTINGS];
    uint32_t lanes_seen; /* of lanes_made */
    uint32_t run;        /* how many more it takes from the lane it is at before it goes on */
    /* To receive from, by priority: a circle of lanes, and the one where it goes on. */
    med_lane_own *from[MED_LANE_PRIORITIES];
    /* To publish: to whom, and of that which was published last. */
    med_lane_own *subscribers;
    uint32_t subscribers_seen; /* of lanes_made */
    uint32_t published;
    med_pending_queue sends;
    med_pending_queue receives;
    med_pending_queue opens;
} med_endpoint_own;

/* ---- Coming and going ------------------------------------------------------------------------ */

/* MEDLEY_ERR_EXISTS; MEDLEY_ERR_LIMIT, which is reported; MEDLEY_TIMEOUT; MEDLEY_ERR_CORRUPT: the
 * row that it would have had was written over. */
medley_status_t med_endpoint_create(med_self *self, uint32_t port, med_handle *endpoint);
/* Of any node. MEDLEY_ERR_NOT_FOUND: there is none (yet). */
medley_status_t med_endpoint_find(
    const med_self *self, uint32_t domain, uint32_t node, uint32_t port, med_handle *endpoint);
/* Blocks until it is there: MEDLEY_TIMEOUT. */
medley_status_t med_endpoint_await(med_self *self,
                                   uint32_t domain,
                                   uint32_t node,
                                   uint32_t port,
                                   uint64_t deadline_ns,
                                   med_handle *endpoint);
/* The same as a request: then `endpoint` stays where it is until it has ended. MEDLEY_ERR_LIMIT. */
medley_status_t med_endpoint_request(med_self *self,
                                     uint32_t domain,
                                     uint32_t node,
                                     uint32_t port,
                                     unsigned *endpoint,
                                     med_request_handle *request);
/* It was got, or is given back, by the caller. MEDLEY_ERR_STALE. */
medley_status_t med_endpoint_got(const med_self *self, med_handle endpoint, bool got);
/* MEDLEY_ERR_NOT_OWNER; MEDLEY_BUSY: it is an end of a channel; MEDLEY_ERR_STALE; MEDLEY_TIMEOUT:
 * it stays, but what waited at it has ended. */
medley_status_t med_endpoint_delete(med_self *self, med_handle endpoint);
/* All of the caller's. */
void med_endpoints_leave(med_self *self);

/* ---- Which it is ----------------------------------------------------------------------------- */

static inline med_endpoint_row *
med_endpoint_at(const struct med_system *system, uint32_t index)
{
    return (med_endpoint_row *)(void *)med_table_row(&system->endpoints, index);
}

/* Is a row that is LIVE nobody's, but its place kept? */
static inline bool
med_endpoint_is_expected(const med_endpoint_row *row)
{
    /* Relaxed: constant while LIVE. */
    return med_port_has_processes() && atomic32_load_relaxed(&row->row.key_high) == 0;
}

/* The row of a handle. MEDLEY_ERR_ARGUMENT: no handle of an endpoint; MEDLEY_ERR_STALE. */
medley_status_t
med_endpoint_of(const struct med_system *system, med_handle endpoint, med_endpoint_row **row);
/* Its node. MEDLEY_ERR_STALE also when it is going. */
medley_status_t
med_endpoint_owner(const struct med_system *system, med_handle endpoint, uint32_t *node_ref);
/* Of one that is not there: MEDLEY_ERR_PEER_DIED, if its node died, and its row is no other's yet;
 * else MEDLEY_ERR_STALE. */
medley_status_t med_endpoint_why_gone(const struct med_system *system, med_handle endpoint);
/* There may be a lane with it as the receiver that it has not seen. */
void med_endpoint_lane_made(const struct med_system *system, med_handle endpoint);

/* ---- Expected ones (endpoint_expected.c) ----------------------------------------------------- */

/* They are made by med_endpoint_expect (mrapi/image.h), and when one whose place is kept goes. */

typedef struct med_endpoint_name {
    uint32_t domain;
    uint32_t node;
    uint32_t port;
} med_endpoint_name;
/* As which one is expected. */
typedef struct med_endpoint_place {
    med_endpoint_name name;
    uint32_t key_low; /* its own: no other place has it, whether that is taken or not */
} med_endpoint_place;

/* The row that keeps the place of that one. Only a node of that number takes it. */
bool med_endpoint_expected_find(const struct med_system *system,
                                const med_endpoint_name *name,
                                med_endpoint_place *place,
                                uint32_t *index,
                                uint32_t *generation);
/* With the table's lock held: the row's place is kept as that, when it goes; NULL: it is not. */
void med_endpoint_place_keep(med_endpoint_row *row, const med_endpoint_place *place);
/* The row goes; where its place is kept, it is expected there in the same hold of the table's lock.
 * MEDLEY_ERR_STALE; MEDLEY_TIMEOUT. */
medley_status_t
med_endpoint_remove(const struct med_system *system, uint32_t index, uint32_t generation);

/* ---- What it is for (endpoint_settings.c) ---------------------------------------------------- */

/* Of which channel it is an end: the sender's handle of it, or 0. */
med_handle med_endpoint_channel(const struct med_system *system, med_handle endpoint);
/* With the lanes' lock held. */
void
med_endpoint_channel_set(const struct med_system *system, med_handle endpoint, med_handle channel);
/* The caller's own is no end of that channel any more. */
void med_endpoint_channel_clear(const med_endpoint_own *own, med_handle channel);

/* What it is set to; within its limits, whatever the row says. */
uint32_t med_endpoint_setting_get(const struct med_system *system,
                                  const med_endpoint_row *row,
                                  med_endpoint_setting which);

/* The same of one that is there. */
uint32_t med_endpoint_setting_of(const struct med_system *system,
                                 med_handle endpoint,
                                 med_endpoint_setting which);

/* Do the ends of a channel that is to be agree on what the standard says they must? With the lanes'
 * lock held: MEDLEY_ERR_ACCESS; MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT. */
medley_status_t
med_endpoints_agree(const struct med_system *system, med_handle from, med_handle to);

/* By its owner. MEDLEY_ERR_NOT_OWNER; MEDLEY_BUSY: it is connected; MEDLEY_ERR_NOT_SUPPORTED: no
 * such value; MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT; MEDLEY_TIMEOUT. */
medley_status_t
med_endpoint_set(med_self *self, med_handle endpoint, med_endpoint_setting which, uint32_t value);

/* What there is to tell of an endpoint; the parts are of different instants. */
typedef struct med_endpoint_state {
    bool connected;
    bool open; /* this end; as the next two, when it is connected */
    med_lane_side side;
    med_lane_kind kind;
    bool open_pending; /* an open waits for the connection; known of one's own endpoints */
    uint32_t gets;
    uint32_t got_domain; /* who got it last; ~0: nobody who is there */
    uint32_t got_node;
} med_endpoint_state;
medley_status_t
med_endpoint_state_get(const med_self *self, med_handle endpoint, med_endpoint_state *state);

/* When a call that blocks at it, from now on, ends. */
uint64_t med_endpoint_deadline_ns(const med_endpoint_own *own);
/* May such a call wait for memory or room? */
bool med_endpoint_may_wait(const med_endpoint_own *own);

/* Is it an end of a channel, where no message goes? */
static inline bool
med_endpoint_is_connected(const struct med_system *system,
                          const med_endpoint_row *row,
                          med_handle endpoint)
{
    /* Relaxed: it says only which calls are for it. */
    return __builtin_expect(atomic32_load_relaxed(&row->channel) != 0, 0) &&
           med_endpoint_channel(system, endpoint);
}

/* The caller's own endpoint of that handle, or NULL. */
static inline med_endpoint_own *
med_endpoint_mine(const med_self *self, med_handle endpoint)
{
    uint32_t index = med_handle_index_of_kind(endpoint, MED_HANDLE_ENDPOINT);
    if (__builtin_expect(index >= self->tables[MED_KIND_ENDPOINT].row_count, 0)) {
        return NULL;
    }
    med_endpoint_own *own = &self->exchange->exchange->endpoints[index];
    /* Relaxed: written by this very thread, if both are so. */
    bool mine = atomic32_load_relaxed(&own->handle) == endpoint &&
                atomic32_load_relaxed(&own->owner) == self->ref;
    return __builtin_expect(mine, 1) ? own : NULL;
}

/* The same, for messages. MEDLEY_BUSY: it is an end of a channel; MEDLEY_ERR_NOT_OWNER,
 * MEDLEY_ERR_ARGUMENT, MEDLEY_ERR_STALE: it is not the caller's, or none. */
medley_status_t
med_endpoint_for_messages(const med_self *self, med_handle endpoint, med_endpoint_own **own);

#endif
