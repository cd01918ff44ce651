/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * States. One thread sends, one receives; state_cell.h says why no value is torn.
 *
 *             linearises at                              progress
 *   send      the store of the cell's counter            wait-free, but for a kernel wake
 *   receive   the first look at the counter in the       wait-free: RETRIES_MAX + 1 copies at most,
 *             round that succeeds                        then it is as if there were no value yet
 *
 * A sender that wrote so many values during each of the copies is not waited for with more: who
 * may wait looks again when the next is sent.
 *
 * Death. Of the sender: its last whole value is received once more if it is news, then it is said
 * that the sender is gone. Of the receiver: the sender is told, as watch.h says. Who gets what he
 * had looks at the sender's life now and then.
 */
#include "mcapi/state.h"

#include "mcapi/locked.h"
#include "mcapi/told.h"
#include "mcapi/watch.h"
#include "mrapi/system.h"

/* The copies that a receiver makes in vain before it gives up. */
#define RETRIES_MAX 64u

/* ---- The lane's memory ----------------------------------------------------------------------- */

static uint32_t
buffers_max(const med_limits *limits, uint32_t bytes)
{
    size_t one = med_state_cell_size(bytes, MED_STATE_CELL_BUFFERS_MIN + 1) -
                 med_state_cell_size(bytes, MED_STATE_CELL_BUFFERS_MIN);
    size_t count = (med_lane_memory_bytes(limits) - sizeof(med_state_cell_shared)) / one;
    return count < MED_STATE_CELL_BUFFERS_MAX ? (uint32_t)count : MED_STATE_CELL_BUFFERS_MAX;
}

uint32_t
med_state_memory_init(const med_system *system, void *memory, uint32_t bytes, uint32_t buffers)
{
    bytes = bytes != 0 ? bytes : 1; /* there is no cell of nothing */
    uint32_t most = buffers_max(&system->limits, bytes);
    uint32_t count = buffers < most ? buffers : most;
    count = count > MED_STATE_CELL_BUFFERS_MIN ? count : MED_STATE_CELL_BUFFERS_MIN;
    med_state_cell cell;
    (void)med_state_cell_init(memory, system->exchange->lane_stride, bytes, count, system->scope,
                              &cell);
    return count;
}

medley_status_t
med_state_memory_attach(const med_self *self, void *memory, med_state_cell *cell)
{
    uint32_t stride = self->exchange->exchange->lane_stride;
    medley_status_t status = med_state_cell_attach(memory, stride, self->scope, cell);
    bool good = status == MEDLEY_OK && cell->value_bytes <= self->system->limits.buffer_bytes;
    return good ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

/* ---- Send ------------------------------------------------------------------------------------ */

medley_status_t
med_state_send(med_self *self, med_lane_own *lane, const void *payload, uint32_t bytes)
{
    const med_state_cell *cell = &lane->producer.cell;
    if (med_watch_is_due_after(lane, med_state_cell_newest(cell)) && med_watch_ask(self, lane, 1)) {
        return MEDLEY_ERR_PEER_DIED;
    }
    if (__builtin_expect(med_state_cell_write_record(cell, payload, bytes) != MEDLEY_OK, 0)) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    med_watch_wake(lane);
    return MEDLEY_OK;
}

/* ---- Receive --------------------------------------------------------------------------------- */

/* MEDLEY_OK: there is a value to look at. */
static inline medley_status_t
look(const med_lane_own *lane)
{
    /* Asked first: what it published before is found by the look that follows. */
    bool gone = med_lane_is_gone(lane->consumer.row, MED_LANE_PRODUCER);
    uint32_t newest = med_state_cell_newest(&lane->consumer.cell);
    if (__builtin_expect(gone, 0) && newest == lane->consumer.reader.number) {
        return MEDLEY_ERR_PEER_DIED;
    }
    return __builtin_expect(newest != 0, 1) ? MEDLEY_OK : MEDLEY_EMPTY;
}

/* For showing, in the row; most often there is nothing new. */
static inline void
note_retries(med_lane_own *lane, uint32_t before)
{
    const med_state_cell_reader *reader = &lane->consumer.reader;
    if (__builtin_expect(reader->retries != before, 0)) {
        med_lane_row *row = lane->consumer.row;
        /* Relaxed, both: for showing. */
        atomic32_store_relaxed(&row->moved[MED_LANE_CONSUMER].retries, reader->retries);
        atomic32_store_relaxed(&row->moved[MED_LANE_CONSUMER].retries_worst, reader->retries_worst);
    }
}

/* One look at the cell. */
static inline medley_status_t
copy(med_lane_own *lane, void *target, size_t size, uint32_t *bytes)
{
    med_state_cell_reader *reader = &lane->consumer.reader;
    uint32_t before = reader->retries;
    uint32_t fits = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    medley_status_t status =
        med_state_cell_read_record(&lane->consumer.cell, reader, RETRIES_MAX, target, fits, bytes);
    note_retries(lane, before);
    return status == MEDLEY_EMPTY_PRODUCER_INSERTING ? MEDLEY_EMPTY : status;
}

/* What the look found is no news, or nothing. Does the sender live? */
static medley_status_t
copy_again(med_self *self,
           med_lane_own *lane,
           void *target,
           size_t size,
           uint32_t *bytes,
           medley_status_t status)
{
    if (__builtin_expect(med_lane_is_gone(lane->consumer.row, MED_LANE_PRODUCER), 0)) {
        status = look(lane);
        status = status == MEDLEY_OK ? copy(lane, target, size, bytes) : status;
    }
    if (status != MEDLEY_ERR_PEER_DIED) {
        med_lane_glance_at(self, lane->consumer.row, MED_LANE_PRODUCER);
    }
    return status;
}

/* One try. */
static inline medley_status_t
copy_newest(med_self *self, med_lane_own *lane, void *target, size_t size, uint32_t *bytes)
{
    uint32_t number = lane->consumer.reader.number;
    medley_status_t status = copy(lane, target, size, bytes);
    if (lane->consumer.reader.number == number) {
        status = copy_again(self, lane, target, size, bytes, status);
    }
    if (status == MEDLEY_OK && lane->consumer.reader.number != number) {
        med_told_received(self, lane, lane->consumer.reader.number, *bytes);
    }
    if (__builtin_expect(status == MEDLEY_OK, 1)) {
        med_lane_count(lane->consumer.row, MED_LANE_CONSUMER, *bytes);
    }
    return status;
}

medley_status_t
med_state_receive(med_self *self, med_lane_own *lane, void **buffer, size_t *bytes)
{
    const med_pool *pool = &self->exchange->exchange->pool;
    med_pool_buffer taken;
    uint32_t count = 0;
    medley_status_t status = look(lane);
    if (status == MEDLEY_OK) {
        status = med_exchange_buffer_take(self, &taken);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    void *address = med_pool_address(pool, taken);
    status = copy_newest(self, lane, address, pool->buffer_bytes, &count);
    if (status != MEDLEY_OK) {
        (void)med_exchange_buffer_give(self, taken);
        return status;
    }
    *buffer = address;
    *bytes = count;
    return MEDLEY_OK;
}

/* ---- By handle ------------------------------------------------------------------------------- */

static inline medley_status_t
receiver_of(const med_self *self, med_handle receiver, med_lane_own **lane)
{
    *lane = med_channel_receiver(self, receiver);
    if (__builtin_expect(!*lane, 0)) {
        return MEDLEY_ERR_STALE;
    }
    return __builtin_expect((*lane)->consumer.kind == MED_LANE_STATES, 1) ? MEDLEY_OK
                                                                          : MEDLEY_ERR_ARGUMENT;
}

typedef struct waiting {
    med_self *self;
    med_lane_own *lane;
    void *buffer; /* NULL: it waits for news only */
    size_t size;
    uint32_t bytes;
    medley_status_t status; /* MEDLEY_EMPTY: not yet */
} waiting;

static bool
was_received(void *context)
{
    waiting *w = context;
    if (w->status == MEDLEY_EMPTY) {
        MED_LOCKED(w->self, MED_RWL_READ, w->status,
                   copy_newest(w->self, w->lane, w->buffer, w->size, &w->bytes));
    }
    return w->status != MEDLEY_EMPTY;
}

static bool
has_news(void *context)
{
    waiting *w = context;
    MED_LOCKED(w->self, MED_RWL_READ, w->status, look(w->lane));
    if (w->status == MEDLEY_OK &&
        med_state_cell_newest(&w->lane->consumer.cell) == w->lane->consumer.reader.number) {
        w->status = MEDLEY_EMPTY;
    }
    return w->status != MEDLEY_EMPTY;
}

static medley_status_t
look_at_sender(void *context)
{
    const waiting *w = context;
    med_lane_look_at(w->self->system, w->lane->consumer.row, MED_LANE_PRODUCER);
    med_pending_slice(w->self);
    return MEDLEY_OK;
}

static medley_status_t
wait_for(waiting *w, bool (*condition)(void *context), uint64_t deadline_ns)
{
    const med_wait_request wait = {.condition = condition,
                                   .each_slice = look_at_sender,
                                   .context = w,
                                   .deadline_ns = deadline_ns,
                                   .scope = w->self->scope};
    med_lane_count_wait(w->lane->consumer.row, MED_LANE_CONSUMER);
    uint32_t begun = med_traced_wait_begin(w->self, MED_TRACED_WAIT_RECEIVE,
                                           med_told_lane(w->self, w->lane, MED_LANE_CONSUMER));
    medley_status_t status = med_wait_until(&w->self->row->news, &w->self->waiter, &wait);
    med_traced_wait_end(w->self, MED_TRACED_WAIT_RECEIVE, begun);
    if (status == MEDLEY_TIMEOUT) {
        med_lane_glance_at(w->self, w->lane->consumer.row, MED_LANE_PRODUCER);
    }
    return status == MEDLEY_OK ? w->status : status;
}

/* Others than at once: the exchange is locked, or there is none yet. */
static medley_status_t
receive_wait(med_self *self, med_lane_own *lane, void *buffer, size_t size, uint32_t *bytes)
{
    waiting w = {
        .self = self, .lane = lane, .buffer = buffer, .size = size, .status = MEDLEY_EMPTY};
    bool is_received = med_is_locked(self) && was_received(&w);
    if (!is_received) {
        w.status = wait_for(&w, was_received, med_endpoint_deadline_ns(lane->consumer.endpoint));
    }
    *bytes = w.bytes;
    return w.status;
}

medley_status_t
med_state_receive_copy(
    med_self *self, med_handle receiver, void *buffer, size_t size, size_t *bytes)
{
    med_lane_own *lane;
    uint32_t count = 0;
    medley_status_t status = receiver_of(self, receiver, &lane);
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status;
    }
    status = med_is_locked(self) ? MEDLEY_EMPTY : copy_newest(self, lane, buffer, size, &count);
    if (__builtin_expect(status == MEDLEY_EMPTY, 0)) {
        status = receive_wait(self, lane, buffer, size, &count);
    }
    if (__builtin_expect(status != MEDLEY_OK, 0)) {
        return status;
    }
    *bytes = count < size ? count : size;
    return count > size ? MEDLEY_ERR_LIMIT : MEDLEY_OK;
}

medley_status_t
med_state_await(med_self *self, med_handle receiver, uint64_t deadline_ns)
{
    waiting w = {.self = self, .status = MEDLEY_EMPTY};
    medley_status_t status = receiver_of(self, receiver, &w.lane);
    if (status != MEDLEY_OK) {
        return status;
    }
    return has_news(&w) ? w.status : wait_for(&w, has_news, deadline_ns);
}

medley_status_t
med_state_counts_get(const med_self *self, med_handle receiver, med_state_counts *counts)
{
    med_lane_own *lane;
    medley_status_t status = receiver_of(self, receiver, &lane);
    if (status == MEDLEY_OK) {
        const med_state_cell_reader *reader = &lane->consumer.reader;
        *counts = (med_state_counts){.retries = reader->retries,
                                     .retries_worst = reader->retries_worst,
                                     .collisions = reader->collisions};
    }
    return status;
}
