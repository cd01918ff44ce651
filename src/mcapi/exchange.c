/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Coming and going of nodes that exchange. What may run together: everything, by any nodes of any
 * processes.
 *
 * The shared memory is one of MRAPI's, under a number that users cannot choose: whoever comes first
 * makes it, and its pool with the lanes' lock held, and last says that it is ready: so one who dies
 * at it leaves it unready, and the next begins anew. It stays as long as the system. The process's
 * own part is made and dropped under the system's exchange_lock. Where there are no other
 * processes, that has the shared memory's place too.
 */
#include "mcapi/exchange.h"

#include "base/lock.h"
#include "base/log.h"
#include "mcapi/endpoint.h"
#include "mcapi/lane.h"
#include "mcapi/locked.h"
#include "mrapi/object.h"
#include "mrapi/shmem.h"

#define APART 128u
/* Buffers that a node keeps at hand: with few in all, none. */
#define CACHE_SHARE 32u
/* So many polls go at most from one question, whether it is time to look, to the next; and who asks
 * again after this, or later, polls slowly. */
#define POLLS_MOST 64u
#define SLOW_NS 1000000u

/* ---- Sizes ----------------------------------------------------------------------------------- */

static size_t
apart(size_t bytes)
{
    return (bytes + APART - 1) / APART * APART;
}

/* 0: more than there can be. */
static size_t
pool_bytes(const med_limits *limits)
{
    return apart(med_pool_size(limits->buffers, limits->buffer_bytes));
}

static uint32_t
lane_stride(const med_limits *limits)
{
    return (uint32_t)apart(med_lane_memory_bytes(limits));
}

uint32_t
med_exchange_memory_bytes(const med_limits *limits)
{
    size_t pool = pool_bytes(limits);
    uint64_t all = sizeof(med_exchange_head) + pool + (uint64_t)limits->lanes * lane_stride(limits);
    return pool && all <= UINT32_MAX ? (uint32_t)all : 0;
}

/* ---- The shared memory ----------------------------------------------------------------------- */

static medley_status_t
memory_find(med_self *self, uint32_t bytes, med_handle *memory)
{
    const med_shmem_request request = {.number = MED_EXCHANGE_MEMORY_NUMBER,
                                       .size_bytes = bytes,
                                       .attributes = MED_SHMEM_DOMAIN_SHARED};
    medley_status_t status = med_shmem_get(self, MED_EXCHANGE_MEMORY_NUMBER, memory);
    if (status == MEDLEY_ERR_NOT_FOUND) {
        status = med_shmem_create(self, &request, memory);
        if (status == MEDLEY_ERR_EXISTS) {
            status = med_shmem_get(self, MED_EXCHANGE_MEMORY_NUMBER, memory);
        }
    }
    return status;
}

static void
memory_detach(med_self *self, med_handle memory)
{
    if (med_port_has_processes()) {
        (void)med_shmem_detach(self, memory);
    }
}

/* Without other processes it is no memory of MRAPI's, but part of the process's own: NULL. */
static medley_status_t
memory_attach(med_self *self, med_handle *memory, void **shared)
{
    uint32_t bytes = med_exchange_memory_bytes(&self->system->limits);
    *memory = 0;
    *shared = NULL;
    if (bytes == 0) {
        med_log_error("no exchange in this system: its lanes and buffers would be more than 4 GiB",
                      "lower MEDLEY_MAX_LANES, MEDLEY_LANE_BYTES, MEDLEY_MAX_BUFFERS or "
                      "MEDLEY_BUFFER_BYTES");
        return MEDLEY_ERR_NO_MEMORY;
    }
    if (!med_port_has_processes()) {
        return MEDLEY_OK;
    }
    uint32_t file, offset;
    medley_status_t status = memory_find(self, bytes, memory);
    if (status == MEDLEY_OK) {
        status = med_shmem_attach(self, *memory, shared);
    }
    if (status == MEDLEY_OK && !med_shmem_holds(self->system, *shared, bytes, &file, &offset)) {
        memory_detach(self, *memory);
        status = MEDLEY_ERR_CORRUPT;
    }
    return status;
}

typedef struct ready_context {
    const med_limits *limits;
    med_exchange *exchange;
    unsigned char *pool;
    bool locked;
} ready_context;

/* With the lanes' lock held. */
static medley_status_t
make_ready(void *context)
{
    const ready_context *with = context;
    const med_limits *limits = with->limits;
    size_t bytes = pool_bytes(limits);
    /* Relaxed: the lock orders it, and a death shows all. Of the process's own it never is. */
    if (med_port_has_processes() && atomic32_load_relaxed(&with->exchange->head->ready)) {
        medley_status_t found = med_pool_attach(with->pool, bytes, &with->exchange->pool);
        bool good = with->exchange->pool.slots.capacity == limits->buffers &&
                    with->exchange->pool.buffer_bytes == limits->buffer_bytes;
        return found == MEDLEY_OK && !good ? MEDLEY_ERR_CORRUPT : found;
    }
    medley_status_t status = med_pool_init(with->pool, bytes, limits->buffers, limits->buffer_bytes,
                                           0, &with->exchange->pool);
    with->exchange->head->locked = with->locked;
    atomic_compiler_barrier(); /* before who dies here says it, it is so */
    atomic32_store_relaxed(&with->exchange->head->ready, 1); /* relaxed: as the look at it */
    return status;
}

/* ---- The process's own ----------------------------------------------------------------------- */

typedef struct own_memory {
    size_t endpoints, lanes, nodes, shared, all; /* where each begins, and the end */
} own_memory;

static own_memory
own_layout(const med_limits *limits)
{
    own_memory own;
    own.endpoints = apart(sizeof(med_exchange));
    own.lanes = own.endpoints + apart(limits->endpoints * sizeof(med_endpoint_own));
    own.nodes = own.lanes + apart(limits->lanes * sizeof(med_lane_own));
    own.shared = own.nodes + apart(limits->nodes * sizeof(med_exchange_node));
    own.all = own.shared + (med_port_has_processes() ? 0 : med_exchange_memory_bytes(limits));
    return own;
}

static medley_status_t
own_make(med_system *system, void *shared, bool locked)
{
    const med_limits *limits = &system->limits;
    own_memory own = own_layout(limits);
    void *memory;
    if (own.all < own.shared) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    medley_status_t status = med_port_memory_map(own.all, &memory);
    if (status != MEDLEY_OK) {
        return status;
    }
    unsigned char *at = memory;
    med_exchange *exchange = memory;
    shared = med_port_has_processes() ? shared : at + own.shared;
    unsigned char *pool = (unsigned char *)shared + sizeof(med_exchange_head);
    *exchange = (med_exchange){.head = shared,
                               .lanes = pool + pool_bytes(limits),
                               .lane_stride = lane_stride(limits),
                               .endpoints = (void *)(at + own.endpoints),
                               .lane_ends = (void *)(at + own.lanes),
                               .nodes = (void *)(at + own.nodes)};
    ready_context context = {
        .limits = limits, .exchange = exchange, .pool = pool, .locked = locked};
    status = med_table_hold(&system->lanes, make_ready, &context);
    if (status != MEDLEY_OK) {
        med_port_memory_unmap(memory, own.all);
        return status;
    }
    system->exchange = exchange;
    return MEDLEY_OK;
}

void
med_exchange_end(med_system *system)
{
    if (system->exchange) {
        med_port_memory_unmap(system->exchange, own_layout(&system->limits).all);
        system->exchange = NULL;
    }
}

/* Of this process alone: who has it, is of no account. */
#define SOMEBODY 1u

static medley_status_t
own_lock_until(med_system *system, uint64_t deadline_ns)
{
    if (!med_port_has_threads()) {
        return MEDLEY_OK; /* nobody else could have it */
    }
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = SOMEBODY,
                                .deadline_ns = deadline_ns,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter};
    return med_lock_acquire(&system->exchange_lock, &system->exchange_sleepers, &request);
}

static void
own_lock(med_system *system)
{
    (void)own_lock_until(system, MED_PORT_FOREVER);
}

static void
own_unlock(med_system *system)
{
    if (med_port_has_threads()) {
        med_lock_release(&system->exchange_lock, &system->exchange_sleepers,
                         MED_PORT_SCOPE_PROCESS);
    }
}

/* Buffers came back to the pool: those are woken who wait for one. */
static void
spread_word(const med_system *system, const med_exchange *exchange)
{
    atomic32 *scarce = &exchange->head->scarce;
    if (!med_port_has_threads()) {
        return; /* who waits gives nothing back meanwhile */
    }
    med_port_barrier_light(system->scope); /* F2 given, then flag <-> F1 (raise) */
    /* Relaxed, both: as flag_raise says. */
    if (atomic32_load_relaxed(scarce)) {
        atomic32_store_relaxed(scarce, 0);
        med_node_wake_all(system);
    }
}

uint32_t
med_exchange_take_back(const med_system *system, const med_exchange *exchange, uint32_t owner)
{
    uint32_t count = med_pool_recover(&exchange->pool, owner);
    if (count) {
        spread_word(system, exchange);
    }
    return count;
}

/* ---- Coming and going ------------------------------------------------------------------------ */

/* Do the others exchange as this one wants to? With the lock held. */
static medley_status_t
own_agree(med_system *system, bool locked)
{
    if (!med_port_has_pi() || (system->exchange->head->locked != 0) == locked) {
        return MEDLEY_OK;
    }
    med_locked_report(system, locked);
    if (system->exchange->users == 0) {
        med_exchange_end(system);
    }
    return MEDLEY_ERR_ACCESS;
}

static medley_status_t
own_join(med_self *self, void *shared, med_handle memory)
{
    med_system *system = self->system;
    bool locked = med_port_has_pi() && med_locked_wanted();
    own_lock(system);
    medley_status_t status = system->exchange ? MEDLEY_OK : own_make(system, shared, locked);
    if (status == MEDLEY_OK) {
        status = own_agree(system, locked);
    }
    if (status == MEDLEY_OK) {
        med_exchange *exchange = system->exchange;
        uint32_t share = system->limits.buffers / CACHE_SHARE;
        exchange->users++;
        self->exchange = &exchange->nodes[self->index];
        *self->exchange = (med_exchange_node){.exchange = exchange, .memory = memory};
        med_sends_init(&self->exchange->sends);
        med_pool_cache_init(&self->exchange->cache, self->ref, share);
    }
    own_unlock(system);
    return status;
}

/* What goes at once is not told, and takes no lock. */
static void
at_once_arrange(med_self *self)
{
    if (med_port_is_small()) {
        return; /* nothing does */
    }
    self->exchange->careful = med_is_locked(self) || self->system->trace.shared;
    if (!self->exchange->careful) {
        self->lane_ends = self->exchange->exchange->lane_ends;
        self->lane_end_count = self->system->limits.lanes;
    }
}

medley_status_t
med_exchange_join(med_self *self)
{
    med_handle memory;
    void *shared;
    if (self->exchange) {
        return MEDLEY_ERR_EXISTS;
    }
    medley_status_t status = memory_attach(self, &memory, &shared);
    if (status != MEDLEY_OK) {
        return status;
    }
    status = own_join(self, shared, memory);
    if (status != MEDLEY_OK) {
        memory_detach(self, memory);
        return status;
    }
    if (med_port_has_pi() && self->exchange->exchange->head->locked) {
        status = med_locked_join(self);
    }
    if (status != MEDLEY_OK) {
        med_exchange_leave(self);
    } else {
        at_once_arrange(self);
    }
    return status;
}

void
med_exchange_leave(med_self *self)
{
    med_system *system = self->system;
    med_exchange *exchange = self->exchange->exchange;
    med_handle memory = self->exchange->memory;
    med_pool_cache_flush(&exchange->pool, &self->exchange->cache);
    (void)med_pool_recover(&exchange->pool, self->ref);
    spread_word(system, exchange);
    med_sends_fini(&self->exchange->sends);
    if (!med_port_is_small()) {
        self->lane_end_count = 0;
        self->recent_sender.at_once = MED_SELF_NO_END;
        self->recent_receiver.at_once = MED_SELF_NO_END;
    }
    if (self->exchange->sent) {
        med_port_memory_unmap(self->exchange->sent, med_exchange_sent_bytes(system));
    }
    own_lock(system);
    self->exchange = NULL;
    if (--exchange->users == 0) {
        med_exchange_end(system);
    }
    own_unlock(system);
    memory_detach(self, memory);
}

bool
med_exchange_claim_free(const med_self *self, atomic32 *owner)
{
    uint32_t before = atomic32_load_relaxed(owner); /* relaxed: checked by what follows */
    bool had = before && (before == self->ref || med_node_alive(self->system, before));
    /* Relaxed: what the former owner left is not read. */
    return !had && atomic32_cas_relaxed(owner, &before, self->ref);
}

bool
med_exchange_poll_counted(med_self *self)
{
    med_exchange_node *node = self->exchange;
    if (++node->polls < node->polls_run) {
        return false;
    }
    uint64_t now_ns = med_port_clock_ns();
    bool slow = now_ns - node->polled_ns >= SLOW_NS;
    node->polls_run = slow ? 1 : node->polls_run < POLLS_MOST ? node->polls_run * 2 : POLLS_MOST;
    node->polled_ns = now_ns;
    node->polls = 0;
    return med_object_look_due(self);
}

bool
med_exchange_bury_due(med_self *self)
{
    return med_port_has_processes() && med_object_due(&self->exchange->next_burial_ns) &&
           med_process_recover_all(self->system) != 0;
}

/* The lock keeps the process's part there: its last node may be leaving. Not waited for: this may
 * be part of a recovery by the very thread that holds it, and waits for a table (own_make). */
void
med_exchange_lane_ended(med_system *system, uint32_t lane_index, uint32_t generation)
{
    if (own_lock_until(system, 0) != MEDLEY_OK) {
        return;
    }
    if (system->exchange) {
        uint32_t owner = med_exchange_lane_owner(lane_index, generation);
        (void)med_exchange_take_back(system, system->exchange, owner);
    }
    own_unlock(system);
}

void
med_exchange_node_leaves(med_self *self)
{
    if (self->exchange) {
        med_pending_end_all(self, &self->exchange->gets, MEDLEY_ERR_STALE);
        medley_status_t held = med_locked_enter(self, MED_RWL_WRITE);
        med_endpoints_leave(self);
        if (held == MEDLEY_OK) {
            med_locked_leave(self, MED_RWL_WRITE);
        }
        /* They have ended; those who asked are not told any more. */
        med_requests_leave(&self->system->requests, med_request_maker_exchanging(self->ref));
        med_exchange_leave(self);
    }
}
