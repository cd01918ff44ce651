/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one-producer, one-consumer ring: what is not inline. How it works: ring_spsc.h. */
#include "base/ring_spsc.h"

/* ---- The shape ------------------------------------------------------------------------------- */

typedef struct shape {
    uint32_t layout;
    uint32_t element_bytes;
    uint32_t stride_bytes;
    uint32_t capacity;
    uint32_t size_bytes;
} shape;

/* The first lines of elements of such sizes would all fall into the same few sets of the caches. */
#define IN_STEP_BYTES 1024u

static uint32_t
stride_of(uint32_t layout, uint32_t element_bytes)
{
    if (layout == MED_RING_PACKED) {
        bool in_step = element_bytes % IN_STEP_BYTES == 0;
        return in_step ? element_bytes + MED_RING_LINE_BYTES : element_bytes;
    }
    uint32_t used = element_bytes + (uint32_t)sizeof(atomic32);
    return (used + MED_RING_LINE_BYTES - 1) / MED_RING_LINE_BYTES * MED_RING_LINE_BYTES;
}

/* line: where a slot's word is: right behind the element, so that a small one is filled and
 * published in one half of the line. */
static uint32_t
word_offset_of(uint32_t element_bytes)
{
    return (element_bytes + 3) / 4 * 4;
}

/* Completes a shape whose layout, element_bytes and capacity are given; false when there is none.
 */
static bool
shape_complete(shape *s)
{
    if ((s->layout != MED_RING_LINE && s->layout != MED_RING_PACKED) ||
        !med_ring_is_possible(s->element_bytes, s->capacity)) {
        return false;
    }
    s->stride_bytes = stride_of(s->layout, s->element_bytes);
    uint64_t size = sizeof(med_ring) + (uint64_t)s->capacity * s->stride_bytes;
    s->size_bytes = (uint32_t)size;
    return size <= UINT32_MAX;
}

static bool
shape_from_config(const med_ring_config *config, shape *s)
{
    *s = (shape){.layout = (uint32_t)config->layout,
                 .element_bytes = config->element_bytes,
                 .capacity = config->capacity};
    return shape_complete(s);
}

/* ---- Distance -------------------------------------------------------------------------------- */

/* What makes a stream between two cores slow is not that the consumer fetches a line, which takes
 * 3 ns when many are under way, but that the producer, a lap later, must take it away from him
 * before he may write: 7 ns, or 27 between cores that share no cache. So the consumer of a large
 * ring drops the lines that he is done with, block by block; of large elements the beginnings:
 * nobody knows which of their lines were touched, and to drop one that was not costs as much.
 *
 * And he keeps his distance. Close behind the producer he takes the line of tail from him at every
 * element, and his processor, reading ahead, the lines that the producer is about to write; both
 * then crawl. So he lets him get ahead: he waits a moment before he looks again, and a longer one
 * while more comes in it. Whoever gets an answer for each question must not wait: so a moment is
 * only tried once in many looks, and kept while a stream comes in it.
 *
 * 24 B in bursts of 32, 384 KiB, a second: 340 million with neither, 350 with the first, 570 with
 * both; between cores that share no cache 92, 92 and 480. With blocks of 24 lines, not 12: 730.
 *
 * A block is dropped after it was handed back: at a stop, which is where it ends (ring_spsc.h).
 */
#define BLOCK_BYTES 1536u
#define LARGE_BYTES 65536u    /* rings from here on */
#define DROP_BYTES_MOST 2048u /* of an element */
#define MOMENT_FIRST_NS 200u
#define MOMENT_LONGEST_NS 800u
#define MOMENT_LOOKS 64 /* at the clock, at most: it may stand still */
#define STREAM_BYTES_PER_NS(moment_ns) ((moment_ns) / 2)
#define LOOKS_UNTRIED 64u
#define FEW_BYTES 4096u
#define FEW_BYTES_MOST 16384u
#define PARTS 24u /* a few lines are at least so small a part of a ring that is large */

static uint32_t
clamp(uint32_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : value;
}

static uint32_t
blocks_of(uint32_t stride_bytes)
{
    uint32_t block = 1;
    while (block * stride_bytes < BLOCK_BYTES) {
        block *= 2;
    }
    return ~(block - 1);
}

void
med_ring_consumer_tune(med_ring_consumer *consumer)
{
    med_ring_view *view = &consumer->view;
    uint32_t slots_bytes = (view->mask + 1) * view->stride_bytes;
    bool large = slots_bytes >= LARGE_BYTES;
    bool drops = med_port_has_cache_drop() && large && med_port_cache_drops();
    view->blocks = drops ? blocks_of(view->stride_bytes) : 0;
    consumer->pace = (med_ring_pace){
        .few = clamp(slots_bytes / PARTS, FEW_BYTES, FEW_BYTES_MOST),
        .longest_ns = large ? MOMENT_LONGEST_NS : MOMENT_FIRST_NS,
    };
    med_ring_pace_restart(&consumer->pace);
}

void
med_ring_consumer_enter(med_ring_consumer *consumer, uint32_t head)
{
    consumer->head = head;
    consumer->filled = head;
    consumer->undropped = head;
    consumer->open = NULL;
    /* Relaxed: whatever it said, it stops at the next release, as one who sleeps wants it. */
    atomic32_store_relaxed(&consumer->end->stop, head);
}

void
med_ring_pace_restart(med_ring_pace *pace)
{
    pace->moment_ns = 0;
    pace->untried = LOOKS_UNTRIED;
    pace->found_bytes = 0;
}

/* Before a look. */
static void
keep_distance(const med_ring_pace *pace)
{
    if (!pace->moment_ns || pace->found_bytes > pace->few) {
        return;
    }
    uint64_t until_ns = med_port_clock_ns() + pace->moment_ns;
    for (int i = 0; i < MOMENT_LOOKS && med_port_clock_ns() < until_ns; i++) {
        med_port_cpu_relax();
    }
}

/* After it. */
static void
learn_distance(med_ring_pace *pace, uint32_t found_bytes)
{
    pace->found_bytes = found_bytes;
    if (!pace->moment_ns) {
        if (found_bytes && --pace->untried == 0) {
            pace->moment_ns = MOMENT_FIRST_NS;
        }
    } else if (found_bytes < STREAM_BYTES_PER_NS(pace->moment_ns)) {
        med_ring_pace_restart(pace);
    } else if (pace->moment_ns < pace->longest_ns) {
        pace->moment_ns *= 2;
    }
}

/* Of so many elements from `first` on, which do not go round the ring's end; but not the line in
 * which they end: there the next one may begin. */
static void
drop_run(const med_ring_view *view, uint32_t first, uint32_t count)
{
    const uint8_t *from = med_ring_slot(view, first);
    size_t size_bytes = (size_t)count * view->stride_bytes;
    size_t beyond = ((uintptr_t)from + size_bytes) % MED_RING_LINE_BYTES;
    if (size_bytes > beyond) {
        med_port_cache_drop(from, size_bytes - beyond);
    }
}

static void
drop_beginnings(const med_ring_view *view, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        med_port_cache_drop(med_ring_slot(view, first + i), DROP_BYTES_MOST);
    }
}

void
med_ring_drop(const med_ring_view *view, uint32_t head, uint32_t next)
{
    uint32_t first = head & view->blocks;
    uint32_t count = (next & view->blocks) - first;
    if (count > view->mask + 1) {
        return; /* the caller released what there was not */
    }
    if (view->stride_bytes > DROP_BYTES_MOST) {
        drop_beginnings(view, first, count);
        return;
    }
    uint32_t run = med_ring_run(view, first, count);
    drop_run(view, first, run);
    drop_run(view, first + run, count - run);
}

medley_status_t
med_ring_size(const med_ring_config *config, uint32_t *size_bytes)
{
    shape s;
    if (!shape_from_config(config, &s)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    *size_bytes = s.size_bytes;
    return MEDLEY_OK;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void
slots_free(const med_ring_view *view, uint32_t first_index)
{
    uint32_t capacity = view->mask + 1;
    for (uint32_t i = 0; i < capacity; i++) {
        uint32_t index = first_index + i;
        atomic32 *word = med_ring_slot_word(view, med_ring_slot(view, index));
        atomic32_store_relaxed(word, index + 1 - capacity); /* relaxed: as in init */
    }
}

static med_ring_view
view_of(med_ring *ring, const shape *s, med_port_scope scope)
{
    return (med_ring_view){
        .ring = ring,
        .slots = (uint8_t *)ring + sizeof *ring,
        .mask = s->capacity - 1,
        .stride_bytes = s->stride_bytes,
        .word_offset = word_offset_of(s->element_bytes),
        .element_bytes = s->element_bytes,
        .layout = s->layout == MED_RING_LINE ? MED_RING_LINE : MED_RING_PACKED,
        .scope = scope,
    };
}

medley_status_t
med_ring_init(void *memory, size_t memory_bytes, const med_ring_config *config)
{
    shape s;
    if (!shape_from_config(config, &s) || !med_stamp_fits(memory, memory_bytes, s.size_bytes)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    med_ring *ring = memory;
    med_ring_shape *shared = &ring->shape;
    /* All relaxed: the caller publishes the memory. */
    atomic32_store_relaxed(&shared->layout, s.layout);
    atomic32_store_relaxed(&shared->element_bytes, s.element_bytes);
    atomic32_store_relaxed(&shared->stride_bytes, s.stride_bytes);
    atomic32_store_relaxed(&shared->capacity, s.capacity);
    atomic32_store_relaxed(&shared->size_bytes, s.size_bytes);
    atomic32_store_relaxed(&ring->producer.tail, config->first_index);
    atomic32_store_relaxed(&ring->producer.inserting, config->first_index);
    atomic32_store_relaxed(&ring->producer.data.word, 0);
    atomic32_store_relaxed(&ring->producer.stop, config->first_index);
    atomic32_store_relaxed(&ring->consumer.head, config->first_index);
    atomic32_store_relaxed(&ring->consumer.reading, config->first_index);
    atomic32_store_relaxed(&ring->consumer.space.word, 0);
    atomic32_store_relaxed(&ring->consumer.stop, config->first_index);
    if (config->layout == MED_RING_LINE) {
        med_ring_view view = view_of(ring, &s, MED_PORT_SCOPE_PROCESS);
        slots_free(&view, config->first_index);
    }
    med_stamp_write(&shared->stamp, MED_RING_KIND, MED_RING_VERSION);
    return MEDLEY_OK;
}

/* ---- Attaching ------------------------------------------------------------------------------- */

static medley_status_t
view_attach(void *memory, size_t memory_bytes, med_port_scope scope, med_ring_view *view)
{
    medley_status_t status =
        med_stamp_attach(memory, memory_bytes, sizeof(med_ring), MED_RING_KIND, MED_RING_VERSION);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_ring *ring = memory;
    const med_ring_shape *shared = &ring->shape;
    /* All relaxed: constant since the memory was published. Each is read once, and not believed. */
    shape s = {.layout = atomic32_load_relaxed(&shared->layout),
               .element_bytes = atomic32_load_relaxed(&shared->element_bytes),
               .capacity = atomic32_load_relaxed(&shared->capacity)};
    uint32_t stride_bytes = atomic32_load_relaxed(&shared->stride_bytes);
    uint32_t size_bytes = atomic32_load_relaxed(&shared->size_bytes);
    if (!shape_complete(&s) || s.stride_bytes != stride_bytes || s.size_bytes != size_bytes ||
        size_bytes > memory_bytes) {
        return MEDLEY_ERR_CORRUPT;
    }
    *view = view_of(ring, &s, scope);
    return MEDLEY_OK;
}

/* How many slots of the line layout, at most `limit`, are filled from `first` on. */
static uint32_t
slots_filled(const med_ring_view *view, uint32_t first, uint32_t limit)
{
    for (uint32_t i = 0; i < limit; i++) {
        atomic32 *word = med_ring_slot_word(view, med_ring_slot(view, first + i));
        if (atomic32_load_acquire(word) != first + i + 1) { /* A1 slot filled <- R1 (commit) */
            return i;
        }
    }
    return limit;
}

medley_status_t
med_ring_producer_attach(med_ring_producer *producer,
                         void *memory,
                         size_t memory_bytes,
                         med_port_scope scope)
{
    med_ring_producer new = {0};
    medley_status_t status = view_attach(memory, memory_bytes, scope, &new.view);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_ring *ring = new.view.ring;
    uint32_t capacity = new.view.mask + 1;
    /* A2 element read <- R2 (release) */
    uint32_t head = atomic32_load_acquire(&ring->consumer.head);
    if (new.view.layout == MED_RING_LINE) {
        new.tail = head + slots_filled(&new.view, head, capacity);
    } else {
        /* Relaxed: nothing is read of what lies before it. */
        new.tail = atomic32_load_relaxed(&ring->producer.tail);
        if (new.tail - head > capacity) {
            return MEDLEY_ERR_CORRUPT;
        }
    }
    new.limit = head + capacity;
    new.end = &ring->producer;
    new.sleepers = &ring->producer.data;
    atomic32_store_relaxed(&new.end->stop, new.tail); /* relaxed: as consumer_enter does */
    med_ring_reserve_cancel(&new);                    /* the former producer's */
    *producer = new;
    return MEDLEY_OK;
}

medley_status_t
med_ring_consumer_attach(med_ring_consumer *consumer,
                         void *memory,
                         size_t memory_bytes,
                         med_port_scope scope)
{
    med_ring_consumer new = {0};
    medley_status_t status = view_attach(memory, memory_bytes, scope, &new.view);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_ring *ring = new.view.ring;
    /* Relaxed: who attaches knows that the former consumer has done, or is dead, and with it of all
     * that he read and released; else this could be a head of long ago. */
    uint32_t head = atomic32_load_relaxed(&ring->consumer.head);
    /* Relaxed: a hint for this check, A1 comes with peek. */
    uint32_t tail = atomic32_load_relaxed(&ring->producer.tail);
    if (new.view.layout == MED_RING_PACKED && tail - head > new.view.mask + 1) {
        return MEDLEY_ERR_CORRUPT;
    }
    new.end = &ring->consumer;
    new.sleepers = &ring->consumer.space;
    med_ring_consumer_tune(&new);
    med_ring_consumer_enter(&new, head);
    med_ring_peek_cancel(&new); /* the former consumer's */
    *consumer = new;
    return MEDLEY_OK;
}

/* ---- Stops ----------------------------------------------------------------------------------- */

/* This side goes on, and stops at `until`; or at once, as long as its barrier costs something. Then
 * it looks for who called: one who slept, and whose call this store took away, is seen here. What
 * med_wait_wake_misses says. */
static bool
go_on(atomic32 *stop, uint32_t index, uint32_t until, med_wait *sleepers, med_port_scope scope)
{
    /* Relaxed: the barriers order it (wait.c). */
    atomic32_store_relaxed(stop, med_port_barrier_is_free(scope) ? until : index);
    return med_wait_wake_misses(sleepers, scope);
}

uint32_t
med_ring_known_free(const med_ring_producer *producer)
{
    int32_t free = (int32_t)(producer->limit - producer->tail);
    return free > 0 ? (uint32_t)free : 0;
}

bool
med_ring_producer_stopped_until(med_ring_producer *producer, uint32_t most)
{
    uint32_t tail = producer->tail;
    uint32_t free = med_ring_known_free(producer);
    if (free == 0) {
        producer->open = NULL;
    }
    return go_on(&producer->end->stop, tail, tail + (free < most ? free : most), producer->sleepers,
                 producer->view.scope);
}

bool
med_ring_producer_stopped(med_ring_producer *producer)
{
    return med_ring_producer_stopped_until(producer, MED_RING_CAPACITY_MAX);
}

uint32_t
med_ring_known_filled(const med_ring_consumer *consumer)
{
    int32_t filled = (int32_t)(consumer->filled - consumer->head);
    return filled > 0 ? (uint32_t)filled : 0;
}

/* How far the consumer need not stop. */
static uint32_t
consumer_most(const med_ring_consumer *consumer, uint32_t most)
{
    const med_ring_view *view = &consumer->view;
    uint32_t to_block_end = 0 - view->blocks - (consumer->head & ~view->blocks);
    if (view->blocks && to_block_end < most) {
        most = to_block_end;
    }
    if (view->layout == MED_RING_LINE) {
        return most; /* each slot says itself whether it is filled */
    }
    uint32_t filled = med_ring_known_filled(consumer);
    return filled < most ? filled : most;
}

void
med_ring_consumer_stopped_until(med_ring_consumer *consumer, uint32_t most)
{
    const med_ring_view *view = &consumer->view;
    uint32_t head = consumer->head;
    if (((consumer->undropped ^ head) & view->blocks) != 0) {
        med_ring_drop(view, consumer->undropped, head);
    }
    consumer->undropped = head;
    if (med_ring_known_filled(consumer) == 0) {
        consumer->open = NULL;
    }
    (void)go_on(&consumer->end->stop, head, head + consumer_most(consumer, most),
                consumer->sleepers, view->scope);
}

void
med_ring_consumer_stopped(med_ring_consumer *consumer)
{
    med_ring_consumer_stopped_until(consumer, MED_RING_CAPACITY_MAX);
}

/* ---- The states of an entry ------------------------------------------------------------------ */

/* Is `mark`, which says index + 1, ahead of `index`? */
static bool
is_ahead(uint32_t mark, uint32_t index)
{
    return (int32_t)(mark - index) > 0;
}

/* Of one that is filled, by the consumer's mark. */
static med_ring_entry
filled_entry(uint32_t index, uint32_t reading)
{
    return is_ahead(reading, index) ? MED_RING_ENTRY_RECEIVED : MED_RING_ENTRY_ALLOCATED;
}

/* packed: of one that is not, by the producer's. */
static med_ring_entry
unfilled_entry(uint32_t index, uint32_t inserting)
{
    return is_ahead(inserting, index) ? MED_RING_ENTRY_RESERVED : MED_RING_ENTRY_FREE;
}

/* line: by the slot's word. */
static med_ring_entry
unfilled_slot(uint32_t index, uint32_t word)
{
    return word == index + 1 + MED_RING_INSERTING ? MED_RING_ENTRY_RESERVED : MED_RING_ENTRY_FREE;
}

med_ring_entry
med_ring_entry_state(const med_ring_view *view, uint32_t position)
{
    const med_ring *ring = view->ring;
    /* Relaxed, all: nothing is read by them. The head comes first: what is filled behind it then
     * was not read before the call. */
    uint32_t head = atomic32_load_relaxed(&ring->consumer.head);
    uint32_t index = head + ((position - head) & view->mask);
    if (view->layout == MED_RING_LINE) {
        uint32_t word = atomic32_load_relaxed(med_ring_slot_word(view, med_ring_slot(view, index)));
        if (word != index + 1) {
            return unfilled_slot(index, word);
        }
    } else if (!is_ahead(atomic32_load_relaxed(&ring->producer.tail), index)) {
        return unfilled_entry(index, atomic32_load_relaxed(&ring->producer.inserting));
    }
    return filled_entry(index, atomic32_load_relaxed(&ring->consumer.reading));
}

/* ---- The producer ---------------------------------------------------------------------------- */

medley_status_t
med_ring_look_for_space(med_ring_producer *producer, uint32_t tail)
{
    med_ring *ring = producer->view.ring;
    uint32_t capacity = producer->view.mask + 1;
    /* A2 element read <- R2 (release) */
    uint32_t head = atomic32_load_acquire(&ring->consumer.head);
    uint32_t used = tail - head;
    if (used > capacity) {
        return MEDLEY_ERR_CORRUPT;
    }
    producer->limit = head + capacity;
    if (used < capacity) {
        return MEDLEY_OK;
    }
    /* Relaxed: a hint. */
    uint32_t reading = atomic32_load_relaxed(&ring->consumer.reading);
    return filled_entry(head, reading) == MED_RING_ENTRY_RECEIVED ? MEDLEY_FULL_CONSUMER_READING
                                                                  : MEDLEY_FULL;
}

medley_status_t
med_ring_open_space(med_ring_producer *producer)
{
    medley_status_t status = med_ring_look_for_space(producer, producer->tail);
    producer->open = status == MEDLEY_OK ? producer->view.slots : NULL;
    return status;
}

void
med_ring_fill_slots(const med_ring_view *view, uint32_t first, uint32_t count)
{
    for (uint32_t index = first; index != first + count; index++) {
        atomic32 *word = med_ring_slot_word(view, med_ring_slot(view, index));
        atomic32_store_release(word, index + 1); /* R1 slot filled -> A1 (peek, attach) */
    }
}

void
med_ring_reserve_cancel(med_ring_producer *producer)
{
    uint32_t tail = med_ring_tail(producer);
    if (producer->view.layout == MED_RING_PACKED) {
        /* Relaxed: a mark publishes nothing. */
        atomic32_store_relaxed(&producer->end->inserting, tail);
    } else {
        void *slot = med_ring_slot(&producer->view, tail);
        /* R1 slot filled -> A1 (peek): in a full ring the same word is there already, filled in the
         * lap before, perhaps by a producer that died. */
        atomic32_store_release(med_ring_slot_word(&producer->view, slot),
                               tail - producer->view.mask);
    }
}

/* ---- The consumer ---------------------------------------------------------------------------- */

static medley_status_t
look_for_data_packed(med_ring_consumer *consumer)
{
    med_ring *ring = consumer->view.ring;
    keep_distance(&consumer->pace);
    uint32_t tail = atomic32_load_acquire(&ring->producer.tail); /* A1 slot filled <- R1 (commit) */
    uint32_t filled = tail - consumer->head;
    if (filled > consumer->view.mask + 1) {
        return MEDLEY_ERR_CORRUPT;
    }
    learn_distance(&consumer->pace, (tail - consumer->filled) * consumer->view.stride_bytes);
    consumer->filled = tail;
    if (filled) {
        return MEDLEY_OK;
    }
    /* Relaxed: a hint. */
    uint32_t inserting = atomic32_load_relaxed(&ring->producer.inserting);
    return unfilled_entry(tail, inserting) == MED_RING_ENTRY_RESERVED
               ? MEDLEY_EMPTY_PRODUCER_INSERTING
               : MEDLEY_EMPTY;
}

static medley_status_t
look_for_data_line(med_ring_consumer *consumer, uint32_t wanted)
{
    uint32_t capacity = consumer->view.mask + 1;
    uint32_t filled =
        slots_filled(&consumer->view, consumer->head, wanted < capacity ? wanted : capacity);
    consumer->filled = consumer->head + filled;
    if (filled) {
        return MEDLEY_OK;
    }
    void *slot = med_ring_slot(&consumer->view, consumer->head);
    /* Relaxed: a hint; should it be filled by now, the next peek acquires it. */
    uint32_t word = atomic32_load_relaxed(med_ring_slot_word(&consumer->view, slot));
    return word == consumer->head + 1 ? MEDLEY_EMPTY_PRODUCER_INSERTING
                                      : med_ring_line_unfilled(consumer, word);
}

medley_status_t
med_ring_look_for_data(med_ring_consumer *consumer, uint32_t wanted)
{
    return consumer->view.layout == MED_RING_LINE ? look_for_data_line(consumer, wanted)
                                                  : look_for_data_packed(consumer);
}

medley_status_t
med_ring_open_data(med_ring_consumer *consumer)
{
    bool is_used_up = med_ring_known_filled(consumer) == 0;
    medley_status_t status = is_used_up ? look_for_data_packed(consumer) : MEDLEY_OK;
    consumer->open = status == MEDLEY_OK ? consumer->view.slots : NULL;
    return status;
}

void
med_ring_peek_cancel(med_ring_consumer *consumer)
{
    /* Relaxed: a mark publishes nothing. */
    atomic32_store_relaxed(&consumer->end->reading, consumer->head);
}

uint32_t
med_ring_ready(med_ring_consumer *consumer)
{
    medley_status_t status = med_ring_look_for_data(consumer, consumer->view.mask + 1);
    return status == MEDLEY_OK ? consumer->filled - consumer->head : 0;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static medley_status_t
try_reserve(void *producer, void **slot)
{
    return med_ring_reserve(producer, slot);
}

static medley_status_t
try_peek(void *consumer, void **element)
{
    return med_ring_peek(consumer, element);
}

medley_status_t
med_ring_reserve_until(med_ring_producer *producer, uint64_t deadline_ns, void **slot)
{
    const med_ring_view *view = &producer->view;
    med_ring_wait wait = {.attempt = try_reserve,
                          .side = producer,
                          .place = &view->ring->consumer.space,
                          .call = &view->ring->consumer.stop,
                          .call_value = producer->tail - view->mask - 1,
                          .scope = view->scope};
    return med_ring_wait_until(&wait, &producer->sleep, deadline_ns, slot);
}

medley_status_t
med_ring_peek_until(med_ring_consumer *consumer, uint64_t deadline_ns, void **element)
{
    const med_ring_view *view = &consumer->view;
    med_ring_wait wait = {.attempt = try_peek,
                          .side = consumer,
                          .place = &view->ring->producer.data,
                          .call = &view->ring->producer.stop,
                          .call_value = consumer->head,
                          .scope = view->scope};
    return med_ring_wait_until(&wait, &consumer->sleep, deadline_ns, element);
}
