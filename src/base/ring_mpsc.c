/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers: lanes, who has them, and the consumer's round. What goes on inside
 * a lane: ring_spsc.h, R1/A1 and R2/A2.
 *
 * What may run together: everything, but for two threads with one handle.
 *
 *   operation          takes effect (linearisation)              progress
 *   reserve, commit    see ring_spsc.h, packed; commit wakes     wait-free but for a kernel wake
 *                      the consumer of all lanes
 *   peek, release      see ring_spsc.h, packed                   wait-free: a round of the lanes
 *                                                                that are in the map, at most
 *   producer_join      the compare-and-swap of the owner         wait-free; MEDLEY_BUSY depends on
 *                      that is kept                              the consumer alone
 *   producer_leave     the store of owner 0                      wait-free
 *   consumer_join      the compare-and-swap of the consumer      wait-free
 *   recover            its compare-and-swap, lane by lane        wait-free: once around the lanes
 *   reserve_until,     as reserve, peek                          blocking
 *   peek_until
 *
 * Joining. A lane is had by writing its owner over 0. Its tail stands still then, and if what is in
 * it is another's, who might come back for it, it is put back. A producer with leftover of its own
 * in some lane goes there; should another hold that lane for the moment, for the look just
 * described, it is told to come again: the other may have been killed in the middle, but the
 * consumer drains the lane all the same. `former` is written before the first commit, so it is true
 * of every lane that is not drained.
 *
 * The map. Who joins sets the lane's bit, after taking the lane and before the first commit. The
 * consumer clears it when the lane is drained and has no owner, and then looks at both again: if
 * somebody joined before the bit was cleared, R4/A4 shows the owner, or R3/A3 what it left; if
 * after, the bit is set again by him. A consumer that is killed between clearing and looking leaves
 * a bit missing; so who becomes consumer sets all of them.
 *
 * Death. Of a producer, anywhere: its lane has its number until recover; what it committed is
 * delivered, now or later, what it reserved was never visible; the other lanes do not notice. Of
 * the consumer: the next goes on from the heads; an element that was peeked and not released is
 * delivered again. Of one that recovers: whoever recovers next does the rest. Recovery takes one
 * compare-and-swap per lane, from the dead owner's number: it cannot hurt a new owner.
 *
 * Trust. Every view keeps the shape privately, every index is masked by it, each loop is bounded by
 * it. A lane whose counters disagree is emptied by the consumer, with MEDLEY_ERR_CORRUPT.
 *
 * Model: models/mpsc.pml, and models/wait.pml for the sleep.
 */
#include "base/ring_mpsc.h"

/* ---- Lanes and who has them ------------------------------------------------------------------ */

/* By who owns it, or the consumer: exact. By others: a hint, and a lane without owner that looks
 * drained may fill up before they have it. */
static bool
is_drained(const med_ring_mpsc_view *view, uint32_t number)
{
    const med_ring *lane = med_ring_mpsc_lane(view, number);
    /* Relaxed: for the owner, A3 came first; for the consumer, A3 or A4. A head that is old makes
     * the lane look fuller than it is. */
    return atomic32_load_relaxed(&lane->producer.tail) ==
           atomic32_load_relaxed(&lane->consumer.head);
}

static bool
is_former(const med_ring_mpsc_view *view, uint32_t number, uint32_t owner)
{
    /* Relaxed: an owner looks for its own number, which it wrote itself; or A3 came first. */
    return atomic32_load_relaxed(&view->roles[number].former) == owner;
}

static uint32_t
owner_of(const med_ring_mpsc_view *view, uint32_t number)
{
    /* Relaxed: the compare-and-swap that follows checks it. */
    return atomic32_load_relaxed(&view->roles[number].owner);
}

static void
lane_put_back(const med_ring_mpsc_view *view, uint32_t number)
{
    /* R3 lane left -> A3 (take, retire) */
    atomic32_store_release(&view->roles[number].owner, 0);
}

static void
map_set(const med_ring_mpsc_view *view, uint32_t number)
{
    /* R4 lane taken -> A4 (retire) */
    (void)atomic32_fetch_or_release(&view->ring->map[number / 32], 1u << number % 32);
}

/* MEDLEY_OK: lane `number` is `owner`'s and may be written. MEDLEY_BUSY: it is not, for now. */
static medley_status_t
lane_take(med_ring_mpsc_producer *producer,
          const med_ring_mpsc_view *view,
          uint32_t number,
          uint32_t owner)
{
    med_ring_mpsc_role *role = &view->roles[number];
    uint32_t nobody = 0;
    /* A3 lane left <- R3 (leave, recover, put back) */
    if (!atomic32_cas_acquire(&role->owner, &nobody, owner)) {
        return MEDLEY_BUSY;
    }
    if (!is_drained(view, number) && !is_former(view, number, owner)) {
        lane_put_back(view, number);
        return MEDLEY_BUSY;
    }
    med_ring_producer lane;
    medley_status_t status = med_ring_producer_attach(&lane, med_ring_mpsc_lane(view, number),
                                                      view->lane_bytes, view->scope);
    if (status != MEDLEY_OK || lane.view.layout != MED_RING_PACKED ||
        lane.view.mask != view->capacity - 1 || lane.view.element_bytes != view->element_bytes) {
        lane_put_back(view, number);
        return MEDLEY_ERR_CORRUPT;
    }
    /* Relaxed: R1 of the first commit, or R3, comes after. */
    atomic32_store_relaxed(&role->former, owner);
    map_set(view, number);
    *producer = (med_ring_mpsc_producer){.lane = lane, .role = role, .owner = owner};
    med_waker_begin(&producer->waker, &view->ring->data, view->scope);
    return MEDLEY_OK;
}

/* A lane, owned by others or nobody, in which there is leftover of `owner`; or `lanes`. */
static uint32_t
find_own_leftover(const med_ring_mpsc_view *view, uint32_t owner)
{
    for (uint32_t number = 0; number < view->lanes; number++) {
        if (is_former(view, number, owner) && owner_of(view, number) != owner &&
            !is_drained(view, number)) {
            return number;
        }
    }
    return view->lanes;
}

medley_status_t
med_ring_mpsc_producer_join(med_ring_mpsc_producer *producer,
                            const med_ring_mpsc_view *view,
                            uint32_t owner)
{
    if (owner == 0) {
        return MEDLEY_ERR_ARGUMENT;
    }
    uint32_t number = find_own_leftover(view, owner);
    if (number < view->lanes) {
        return lane_take(producer, view, number, owner);
    }
    medley_status_t result = MEDLEY_ERR_LIMIT;
    for (number = 0; number < view->lanes; number++) {
        if (owner_of(view, number) != 0) {
            continue;
        }
        medley_status_t status = MEDLEY_BUSY;
        if (is_drained(view, number)) {
            status = lane_take(producer, view, number, owner);
        } else {
            map_set(view, number); /* it is, but for somebody who scribbles */
        }
        if (status == MEDLEY_OK) {
            return MEDLEY_OK;
        }
        result = result == MEDLEY_BUSY ? MEDLEY_BUSY : status;
    }
    return result;
}

static medley_status_t
role_leave(atomic32 *word, uint32_t owner)
{
    /* R3 lane left -> A3 (take, retire); R5 consumer left -> A5 (consumer_join) */
    return atomic32_cas_release(word, &owner, 0) ? MEDLEY_OK : MEDLEY_ERR_NOT_OWNER;
}

medley_status_t
med_ring_mpsc_producer_leave(med_ring_mpsc_producer *producer)
{
    med_ring_reserve_cancel(&producer->lane);
    return role_leave(&producer->role->owner, producer->owner);
}

static bool
role_recover(atomic32 *word, uint32_t dead_owner)
{
    /* R3 lane left -> A3 (take, retire); R5 consumer left -> A5 (consumer_join): what the dead
     * owner wrote was made visible by its death (the query that found it dead), and goes on to the
     * next owner. */
    return atomic32_cas_release(word, &dead_owner, 0);
}

uint32_t
med_ring_mpsc_recover(const med_ring_mpsc_view *view, uint32_t dead_owner)
{
    if (dead_owner == 0) {
        return 0;
    }
    uint32_t recovered = role_recover(&view->ring->consumer, dead_owner);
    for (uint32_t number = 0; number < view->lanes; number++) {
        recovered += role_recover(&view->roles[number].owner, dead_owner);
    }
    return recovered;
}

/* ---- The consumer ---------------------------------------------------------------------------- */

static uint32_t
map_words(const med_ring_mpsc_view *view)
{
    return (view->lanes + 31) / 32;
}

/* Which bits of word `index` are lanes; others a hostile peer may have set. */
static uint32_t
map_valid(const med_ring_mpsc_view *view, uint32_t index)
{
    uint32_t lanes = view->lanes - index * 32;
    return lanes >= 32 ? UINT32_MAX : (1u << lanes) - 1;
}

/* What the consumer knows of another lane does not hold for this one. */
static void
lane_choose(med_ring_mpsc_consumer *consumer, uint32_t number)
{
    med_ring_consumer *lane = &consumer->lane;
    consumer->number = number;
    lane->view.ring = med_ring_mpsc_lane(&consumer->view, number);
    lane->end = &lane->view.ring->consumer;
    lane->sleepers = &lane->view.ring->consumer.space;
    lane->view.slots = (uint8_t *)lane->view.ring + sizeof(med_ring);
    med_ring_pace_restart(&lane->pace);
}

medley_status_t
med_ring_mpsc_consumer_join(med_ring_mpsc_consumer *consumer,
                            const med_ring_mpsc_view *view,
                            uint32_t owner)
{
    uint32_t nobody = 0;
    if (owner == 0) {
        return MEDLEY_ERR_ARGUMENT;
    }
    /* A5 consumer left <- R5 (leave, recover) */
    if (!atomic32_cas_acquire(&view->ring->consumer, &nobody, owner)) {
        return MEDLEY_BUSY;
    }
    for (uint32_t i = 0; i < map_words(view); i++) {
        /* Relaxed: more bits than needed, never fewer; publishes nothing. */
        (void)atomic32_fetch_or_relaxed(&view->ring->map[i], map_valid(view, i));
    }
    *consumer = (med_ring_mpsc_consumer){
        .lane.view = {.mask = view->capacity - 1,
                      .stride_bytes = view->stride_bytes,
                      .element_bytes = view->element_bytes,
                      .layout = MED_RING_PACKED,
                      .scope = view->scope},
        .view = *view,
        .owner = owner,
    };
    med_ring_consumer_tune(&consumer->lane);
    lane_choose(consumer, view->lanes - 1);
    return MEDLEY_OK;
}

medley_status_t
med_ring_mpsc_consumer_leave(med_ring_mpsc_consumer *consumer)
{
    med_ring_peek_cancel(&consumer->lane);
    return role_leave(&consumer->view.ring->consumer, consumer->owner);
}

/* Its counters make no sense: whatever they say is in it is dropped, so that it can be used again.
 */
static void
lane_empty(med_ring_consumer *lane)
{
    med_ring *ring = lane->view.ring;
    /* Relaxed: nothing of it is read. */
    med_ring_consumer_enter(lane, atomic32_load_relaxed(&ring->producer.tail));
    med_ring_release_many(lane, 0);
}

/* Goes to lane `number` and begins a run there. As med_ring_look_for_data. */
static medley_status_t
lane_enter(med_ring_mpsc_consumer *consumer, uint32_t number)
{
    med_ring_consumer *lane = &consumer->lane;
    if (number != consumer->number) {
        lane_choose(consumer, number);
    }
    /* Relaxed: the consumer's own word; or, of the one before, A5 came first. */
    med_ring_consumer_enter(lane, atomic32_load_relaxed(&lane->end->head));
    medley_status_t status = med_ring_look_for_data(lane, 1); /* A1 slot filled <- R1 (commit) */
    if (status == MEDLEY_ERR_CORRUPT) {
        lane_empty(lane);
    } else if (lane->filled - lane->head > MED_RING_MPSC_RUN_MAX) {
        lane->filled = lane->head + MED_RING_MPSC_RUN_MAX;
    }
    return status;
}

/* The lane has nothing, and as it seems no owner: it leaves the map, unless that has changed. */
static void
lane_retire(const med_ring_mpsc_view *view, uint32_t number)
{
    atomic32 *word = &view->ring->map[number / 32];
    uint32_t bit = 1u << number % 32;
    (void)atomic32_fetch_and_acquire(word, ~bit); /* A4 lane taken <- R4 (take) */
    /* A3 lane left <- R3 (leave, recover): and what was committed before */
    uint32_t owner = atomic32_load_acquire(&view->roles[number].owner);
    if (owner != 0 || !is_drained(view, number)) {
        (void)atomic32_fetch_or_relaxed(word, bit); /* relaxed: publishes nothing */
    }
}

/* The lanes of word `index` that are in the map and in `mask`, one after the other, until one has
 * something. `result` remembers that a producer is inserting. */
static medley_status_t
look_at_word(med_ring_mpsc_consumer *consumer, uint32_t index, uint32_t mask)
{
    const med_ring_mpsc_view *view = &consumer->view;
    /* Relaxed: a lane that is not in it yet has nothing yet (R4 comes before R1). */
    uint32_t bits = atomic32_load_relaxed(&view->ring->map[index]) & mask & map_valid(view, index);
    medley_status_t result = MEDLEY_EMPTY;
    for (; bits != 0; bits &= bits - 1) {
        uint32_t number = index * 32 + (uint32_t)__builtin_ctz(bits);
        medley_status_t status = lane_enter(consumer, number);
        if (status == MEDLEY_OK || status == MEDLEY_ERR_CORRUPT) {
            return status;
        }
        if (owner_of(view, number) == 0) {
            lane_retire(view, number);
        } else if (status == MEDLEY_EMPTY_PRODUCER_INSERTING) {
            result = status;
        }
    }
    return result;
}

medley_status_t
med_ring_mpsc_look(med_ring_mpsc_consumer *consumer)
{
    uint32_t words = map_words(&consumer->view);
    uint32_t first = consumer->number / 32;
    uint32_t behind = UINT32_MAX << consumer->number % 32 << 1; /* the lanes after this one */
    medley_status_t result = MEDLEY_EMPTY;
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t mask = i == 0 ? behind : i == words ? ~behind : UINT32_MAX;
        medley_status_t status = look_at_word(consumer, (first + i) % words, mask);
        if (status == MEDLEY_OK || status == MEDLEY_ERR_CORRUPT) {
            return status;
        }
        result = status == MEDLEY_EMPTY ? result : status;
    }
    return result;
}

static medley_status_t
try_peek(void *consumer, void **element)
{
    return med_ring_mpsc_peek(consumer, element);
}

medley_status_t
med_ring_mpsc_peek_until(med_ring_mpsc_consumer *consumer, uint64_t deadline_ns, void **element)
{
    med_ring_wait wait = {.attempt = try_peek,
                          .side = consumer,
                          .place = &consumer->view.ring->data,
                          .scope = consumer->view.scope};
    return med_ring_wait_until(&wait, &consumer->lane.sleep, deadline_ns, element);
}
