/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Requests: what was asked for now and ends later. A fixed table of the process, for whatever has
 * operations that do not block.
 *
 * Words
 *   request     one operation under way, in one place of the table
 *   operations  how that kind of operation is brought forward, and canceled
 *   maker       the node that asked for it, perhaps as a part of it that may leave alone; when that
 *               leaves, its requests go with it
 *   turn        the right to touch what a request holds; one thread's at a time, never for long
 *   handle      generation (bits 12 to 31, never 0) and place (bits 0 to 11): never 0 or ~0
 *
 *   FREE --begin--> RESERVED --start--> VALID --> RECEIVED --> COMPLETED --collected--> FREE
 *                       |                 | \_________________^    ^
 *                       |                 +--cancel--> CANCELED    |
 *                       +--end_at_once-----------------------------+
 *
 * A canceled request stays where it is until its place is needed, so that whoever asks is told.
 *
 * What stands in a queue of its maker's is brought forward by him alone. Another who cancels it
 * only says so: the maker takes it out of the queue when he comes to it, and before its place is
 * had by anybody. docs/design/rmem.md, mcapi.md
 */
#ifndef MEDLEY_MRAPI_REQUEST_H
#define MEDLEY_MRAPI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/wait.h"
#include "medley/status.h"

struct med_self;
struct med_system;

typedef enum med_request_state {
    MED_REQUEST_FREE,      /* anybody's to take */
    MED_REQUEST_RESERVED,  /* its maker fills it; nobody has its handle */
    MED_REQUEST_VALID,     /* under way */
    MED_REQUEST_RECEIVED,  /* under way, and too late to cancel it */
    MED_REQUEST_COMPLETED, /* over; what came of it waits for one who asks */
    MED_REQUEST_CANCELED,
} med_request_state;

/* The standards' own type: on some processors no uint32_t. */
typedef unsigned int med_request_handle;
_Static_assert(sizeof(med_request_handle) == 4, "a word");

typedef struct med_request_outcome {
    medley_status_t status;
    size_t size_bytes; /* moved */
} med_request_outcome;

/* Called by whoever has the turn; none of them blocks for long. `context` is the request's own. */
typedef struct med_request_operations {
    /* One look, or one step. VALID, RECEIVED: not yet; COMPLETED: over, with its outcome. */
    med_request_state (*progress)(void *context, med_request_outcome *outcome);
    /* True: nothing of it goes on, nothing of the caller's is touched any more. False: it cannot be
     * canceled; by its maker, who leaves: it has ended. */
    bool (*cancel)(void *context);
    /* It stands in a queue of its maker's until it is RECEIVED or COMPLETED. Until then the maker
     * alone calls these, and another cancels it whenever the maker is not at it. */
    bool queued;
} med_request_operations;

#define MED_REQUEST_CONTEXT_BYTES 96u

typedef struct med_request {
    atomic32 word;  /* state, turn, generation */
    atomic32 maker; /* whose it is; changes only while it is RESERVED, read by who likes */
    /* Of its maker while it is RESERVED, then of who has the turn: */
    const med_request_operations *operations;
    med_request_outcome outcome;
    _Alignas(16) unsigned char context[MED_REQUEST_CONTEXT_BYTES];
} med_request;

typedef struct med_requests {
    med_request *places;
    uint32_t count;
    uint32_t first;    /* with which places begin that nobody had yet: request_table.c */
    atomic32 next_run; /* where the next maker begins, or one who has been long in a run; a hint */
    med_wait wait;     /* woken when any request is over */
    /* Of queued ones: somebody waits for another's, and sleeps where he sleeps for everything. */
    atomic32 watched;
    const struct med_system *system; /* whose nodes' requests they are; NULL: nobody's */
} med_requests;

#define MED_REQUEST_PLACES_MAX 4095u
#define MED_REQUEST_EXCHANGING 0x80000000u /* no bit of a node's reference */

/* The system's own, for its nodes. */
medley_status_t med_requests_begin(struct med_system *system);
void med_requests_end(struct med_system *system);
void med_requests_node_leaves(struct med_self *self);

/* As many as MEDLEY_MAX_REQUESTS says. A handle of a table that was before is none of this one.
 * MEDLEY_ERR_NO_MEMORY. One table of the process after the other, as the next. */
medley_status_t med_requests_init(med_requests *requests);
/* Nobody uses it any more. */
void med_requests_fini(med_requests *requests);
/* A child of fork leaves its parent's tables where they are: what they told is none of its own. */
void med_requests_forget(void);

/* ---- The maker ------------------------------------------------------------------------------- */

/* The maker of what a node asks for in the exchange, which it may leave alone. */
static inline uint32_t
med_request_maker_exchanging(uint32_t node_ref)
{
    return node_ref | MED_REQUEST_EXCHANGING;
}

/* A place, for `maker`, a node's reference or the like of it; to be followed by one of the next
 * three. `next`, the maker's own, says where he looks; at first 0. MEDLEY_ERR_LIMIT: all are in
 * use, which med_requests_report_limit reports. Lock-free. */
medley_status_t med_request_begin(med_requests *requests,
                                  uint32_t maker,
                                  uint32_t *next,
                                  const med_request_operations *operations,
                                  med_request **request);
void med_requests_report_limit(const med_requests *requests);
/* It is under way: what its operations need stands in its context. */
uint32_t med_request_start(med_requests *requests, med_request *request);
/* It is over already. */
uint32_t
med_request_end_at_once(med_requests *requests, med_request *request, med_request_outcome outcome);
/* There is nothing to ask about. */
void med_request_abandon(med_request *request);
/* The maker makes no more, and nobody collects what he made: it is canceled, and its places are
 * free. Whoever asks is told MEDLEY_ERR_STALE. Blocks as long as a turn is held. */
void med_requests_leave(med_requests *requests, uint32_t maker);

/* ---- The maker of what stands in a queue ----------------------------------------------------- */

/* The request that has that context, or NULL: it is no request's. */
med_request *med_request_of_context(const med_requests *requests, const void *context);
/* Before the maker does anything about one: while he has the turn, nobody cancels it.
 * MEDLEY_ERR_CANCELED: another has; it is to be taken out of the queue, then dropped. Wait-free. */
medley_status_t med_request_turn_take(med_request *request);
/* Not yet: it goes on. */
void med_request_turn_give(med_request *request);
/* It is over, and out of the queue. Whoever waits is woken; nothing of it is touched afterwards. */
void
med_request_turn_end(med_requests *requests, med_request *request, med_request_outcome outcome);
/* Of one that another canceled, and that is out of the queue: its place may be had again. */
void med_request_drop(med_request *request);

/* ---- The engine ------------------------------------------------------------------------------ */

/* For what does not wait to be asked: it is over. MEDLEY_ERR_STALE, MEDLEY_ERR_CANCELED: too late.
 * Wakes who waits. */
medley_status_t
med_request_complete(med_requests *requests, uint32_t handle, med_request_outcome outcome);
/* Brings all that `matches` (by its context) to its end; they stay to be collected. For what they
 * use and is to go. Blocks as long as they take. */
void med_requests_drain(med_requests *requests,
                        const med_request_operations *operations,
                        bool (*matches)(const void *context, const void *wanted),
                        const void *wanted);

/* ---- Who asks: any thread -------------------------------------------------------------------- */

/* MEDLEY_OK: it is over, `outcome` says how, and the handle with it. MEDLEY_BUSY: not yet, as of a
 * queued one of another's until he has done it. MEDLEY_ERR_CANCELED: it was canceled.
 * MEDLEY_ERR_STALE: no such request, or another collected it. Of several who ask, one gets the
 * outcome. Lock-free. */
medley_status_t
med_request_test(med_requests *requests, uint32_t handle, med_request_outcome *outcome);

/* How one waits. */
typedef struct med_request_wait {
    med_wait *place;      /* the table's, or where he is woken by who can bring his to their ends */
    med_port_scope scope; /* of that place */
    med_waiter *waiter;
    uint64_t deadline_ns;
    /* As of med_wait_request: looks whether they live; may be NULL. */
    medley_status_t (*each_slice)(void *context);
    void (*each_look)(void *context); /* before each look at them; may be NULL */
    void *context;
} med_request_wait;

/* Is any of them, as far as can be seen, one that another node made? */
bool med_requests_are_others(const med_requests *requests,
                             uint32_t node_ref,
                             const med_request_handle *handles,
                             size_t count);

/* Blocks until test would say anything but MEDLEY_BUSY of one of them: of the first in the list,
 * `which`. MEDLEY_TIMEOUT. */
medley_status_t med_request_wait_any(med_requests *requests,
                                     const med_request_wait *how,
                                     const med_request_handle *handles,
                                     size_t count,
                                     size_t *which,
                                     med_request_outcome *outcome);
/* Calls it back; who waits is told, and so is its maker. MEDLEY_BUSY: too late, its end is to be
 * collected; MEDLEY_ERR_CANCELED: it was canceled before; MEDLEY_ERR_STALE. */
medley_status_t med_request_cancel(med_requests *requests, uint32_t handle);

#endif
