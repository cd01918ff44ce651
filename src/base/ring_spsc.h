/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with one producer and one consumer, in place: reserve, fill, commit; peek, read,
 * release.
 *
 * It lies in shared memory and holds no pointer; each side has a handle of its own in its own
 * memory. Two layouts, chosen when it is made:
 *
 *   line     a slot is one or more whole cache lines, the word behind the element says what it
 *            holds: one line changes hands per element. For latency.
 *   packed   elements lie end to end (those of whole KiB a line apart); each side keeps what it
 *            last saw of the other's counter and looks again only when that is used up, and a
 *            consumer that is close behind looks a moment later. For streaming; at its best from
 *            4096 elements or 256 KiB on.
 *
 * What may run together: one operation of the producer with one of the consumer. Two threads on one
 * side must exclude each other; a side may pass to another thread or process (below).
 *
 *   operation          takes effect (linearisation)              progress
 *   reserve            reading head, or from what it last read   wait-free
 *   commit             line: the store of the slot's word, one   wait-free but for a kernel wake
 *                      element after the other; packed: the
 *                      store of tail, all at once
 *   peek               line: reading the slot's word;            wait-free
 *                      packed: reading tail, or as last read
 *   release            the store of head                         wait-free but for a kernel wake
 *   reserve_until,     as reserve, peek                          blocking
 *   peek_until
 *
 * Death. A side that dies changes nothing any more; the other sees a full or an empty ring. Another
 * thread or process may take its place by attaching: it goes on from the shared words. Committed
 * elements stay; a reservation that was not committed is lost; an element that was peeked and not
 * released is there again. The mark of one that died inside (Table 1, below) stays until then.
 *
 * Stop. A side passes on element after element without a look at anything but `stop` in its end of
 * the ring, the index at which it has something else to do: what it knows to be free or filled is
 * used up; a block of lines that were read is to be dropped; or the other side, before it sleeps,
 * has stored an index there that is behind it (wait.h, call). So the look for sleepers is none of
 * its own: it comes after each publication and takes the place of the one before each element. Who
 * sleeps elsewhere is called all the same (`sleepers`: both sides of MCAPI's scalars), or not (a
 * queue's consumer, who waits at many rings, and MCAPI's other lanes): hand_over and pass, by which
 * his peers go on, leave `stop` alone.
 *
 * Trust. Everything that the other side may write is checked before use: a handle keeps its limits
 * and the shape of the ring privately and masks every index, so that a peer that scribbles gets
 * MEDLEY_ERR_CORRUPT or wrong elements, never an access outside the ring or an unbounded loop.
 * `stop` is believed for 2^28 elements at most.
 *
 * Counters are 32-bit and wrap; a position is counter & (capacity - 1).
 *
 * The four results of lock-free MCAPI's Table 1. FULL and EMPTY: yield, then retry. FULL, the
 * consumer is reading (between peek and release), and EMPTY, the producer is inserting (between
 * reserve and commit): retry at once, a few times. A mark is one relaxed store to a line that the
 * same operation writes anyway, and nothing takes it back: it says "index + 1", which commit or
 * release catches up with. A mark may be seen late; it decides nothing but how to retry.
 *
 * The four states of an entry, lock-free MCAPI's Figure 4, have its names (med_ring_entry): FREE,
 * RESERVED, ALLOCATED, RECEIVED. They are written nowhere: where an entry's index lies among the
 * counters and marks says which it is in. So each step of the figure is the one store that makes it
 * (the marks, R1, R2), and between any two instructions a side may die. Table 1 tells the states of
 * two entries: a full ring's next to be read (ALLOCATED or RECEIVED), an empty one's next to be
 * filled (FREE or RESERVED).
 *
 * Model: the two edges R1/A1, R2/A2 are the whole of the protocol but for `stop`, which is modelled
 * in models/call.pml; ring_stress_test.c drives all of it, under TSan too. Speed: how a slot should
 * be filled is said in ring_element.h.
 */
#ifndef MEDLEY_BASE_RING_SPSC_H
#define MEDLEY_BASE_RING_SPSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/ring_element.h"
#include "base/ring_wait.h"
#include "base/stamp.h"
#include "base/wait.h"
#include "medley/status.h"
#include "port/port.h"

typedef enum med_ring_layout {
    MED_RING_LINE = 1,
    MED_RING_PACKED = 2,
} med_ring_layout;

#define MED_RING_LINE_BYTES 64u

/* Of an entry, from lap to lap: the paper's BUFFER_FREE, and so on. */
typedef enum med_ring_entry {
    MED_RING_ENTRY_FREE,      /* the producer's to reserve */
    MED_RING_ENTRY_RESERVED,  /* he is filling it; of several, the first */
    MED_RING_ENTRY_ALLOCATED, /* it has an element */
    MED_RING_ENTRY_RECEIVED,  /* the consumer is reading it; of several, the first */
} med_ring_entry;

typedef struct med_ring_config {
    med_ring_layout layout;
    uint32_t element_bytes; /* 1 to MED_RING_ELEMENT_MAX */
    uint32_t capacity;      /* elements; a power of two, 1 to MED_RING_CAPACITY_MAX */
    uint32_t first_index;   /* where the counters start: 0, but for tests */
} med_ring_config;

/* ---- In shared memory ------------------------------------------------------------------------ */

/*
 *      0  shape      constant once made
 *    128  producer   written by the producer, but for `data` and `stop`
 *    256  consumer   written by the consumer, but for `space` and `stop`
 *    384  slots      capacity * stride
 *
 * Written by different sides, hence 128 apart: processors fetch lines in pairs. A slot of the line
 * layout is the element, then, aligned, that word, then nothing up to the next line:
 *     index + 1 - capacity   free (as the lap before left it)
 *     index + 1 + 2^31       the producer is inserting
 *     index + 1              filled
 */
typedef struct med_ring_shape {
    med_stamp stamp;
    atomic32 layout;
    atomic32 element_bytes;
    atomic32 stride_bytes; /* from slot to slot */
    atomic32 capacity;
    atomic32 size_bytes; /* of all of it */
} med_ring_shape;

typedef struct med_ring_producer_end {
    atomic32 tail;      /* packed: index after the last committed */
    atomic32 inserting; /* packed: the producer's mark */
    med_wait data;      /* where the consumer sleeps */
    atomic32 stop;      /* written by the consumer, too, before it sleeps */
} med_ring_producer_end;

typedef struct med_ring_consumer_end {
    atomic32 head;    /* index after the last released */
    atomic32 reading; /* the consumer's mark */
    med_wait space;   /* where the producer sleeps */
    atomic32 stop;    /* written by the producer, too, before it sleeps */
} med_ring_consumer_end;

typedef struct med_ring {
    _Alignas(128) med_ring_shape shape;
    _Alignas(128) med_ring_producer_end producer;
    _Alignas(128) med_ring_consumer_end consumer;
} med_ring;

_Static_assert(sizeof(med_ring_shape) == 28, "one layout for all processors");
_Static_assert(sizeof(med_ring) == 384, "one layout for all processors");
_Static_assert(offsetof(med_ring, producer) == 128 && offsetof(med_ring, consumer) == 256, "drawn");

#define MED_RING_KIND MED_STAMP_KIND('S', 'P', 'S', 'C')
#define MED_RING_VERSION 3u
#define MED_RING_INSERTING 0x80000000u

/* ---- Each side's own ------------------------------------------------------------------------- */

/* `end` of a handle, beside the view's pointer to the whole ring: an operation reads it once,
 * before the release behind which all is read anew. */
typedef struct med_ring_view {
    med_ring *ring;
    uint8_t *slots;
    uint32_t mask; /* capacity - 1 */
    uint32_t stride_bytes;
    uint32_t word_offset; /* line: of a slot's word */
    uint32_t blocks;      /* the consumer's: the bits of an index that say which block; or 0 */
    uint32_t element_bytes;
    med_ring_layout layout;
    med_port_scope scope;
} med_ring_view;

typedef struct med_ring_producer {
    med_ring_view view;
    med_ring_producer_end *end; /* the ring's `producer` */
    uint8_t *open;        /* the slots, while the one at `tail` is known to be free; or NULL */
    uint32_t tail;        /* the index to fill next */
    uint32_t limit;       /* the first that may not be filled yet: head, as last seen, + capacity */
    med_wait *sleepers;   /* whom it wakes at a stop: the ring's `data`, or, set by who has the
                             consumer sleep elsewhere and call all the same, where that is */
    med_ring_sleep sleep; /* for reserve_until */
} med_ring_producer;

/* Of a consumer of the packed layout (ring_spsc.c, Distance). */
typedef struct med_ring_pace {
    uint32_t few; /* bytes; less is too little to look again at once */
    uint32_t longest_ns;
    uint32_t moment_ns;   /* how long it waits before it looks again; 0: not at all */
    uint32_t untried;     /* 0: so many looks until a moment is tried */
    uint32_t found_bytes; /* by the last look */
} med_ring_pace;

typedef struct med_ring_consumer {
    med_ring_view view;
    med_ring_consumer_end *end; /* the ring's `consumer` */
    uint8_t *open;        /* packed: the slots, while the one at `head` is known to be filled */
    uint32_t head;        /* the index to read next */
    uint32_t filled;      /* the first index not known to be filled */
    uint32_t undropped;   /* the first index whose lines were not dropped */
    med_wait *sleepers;   /* as the producer's: the ring's `space`, or elsewhere */
    med_ring_pace pace;   /* packed: how it keeps its distance */
    med_ring_sleep sleep; /* for peek_until */
} med_ring_consumer;

/* ---- Making and attaching -------------------------------------------------------------------- */

/* How many bytes the ring takes. MEDLEY_ERR_ARGUMENT when the config is outside its limits or asks
 * for 4 GiB or more. */
medley_status_t med_ring_size(const med_ring_config *config, uint32_t *size_bytes);

/* Makes an empty ring of `memory`, which is aligned to 64 bytes (128 is better) and large enough:
 * else MEDLEY_ERR_ARGUMENT. Nobody may be attached; the caller publishes the memory afterwards. */
medley_status_t med_ring_init(void *memory, size_t memory_bytes, const med_ring_config *config);

/* Takes the producer's or the consumer's side of a ring that somebody made; the caller knows that
 * nobody else has that side, or that he who had it is dead. `scope` says who the other side may be.
 * Who is in a child of fork attaches anew: its barrier is another one (port.h).
 * MEDLEY_ERR_BYTE_ORDER, MEDLEY_ERR_VERSION, or MEDLEY_ERR_CORRUPT when a field disagrees with
 * another or with the memory's size; the handle is then unchanged. */
medley_status_t med_ring_producer_attach(med_ring_producer *producer,
                                         void *memory,
                                         size_t memory_bytes,
                                         med_port_scope scope);
medley_status_t med_ring_consumer_attach(med_ring_consumer *consumer,
                                         void *memory,
                                         size_t memory_bytes,
                                         med_port_scope scope);

/* ---- Slow paths of the inline functions ------------------------------------------------------ */

/* Looks at head. MEDLEY_OK when there is room from `tail` on for one at least, or one of Table 1,
 * or MEDLEY_ERR_CORRUPT. */
medley_status_t med_ring_look_for_space(med_ring_producer *producer, uint32_t tail);
/* Looks for up to `wanted` filled elements. MEDLEY_OK when there is one at least. */
medley_status_t med_ring_look_for_data(med_ring_consumer *consumer, uint32_t wanted);
/* The same, for one that comes next: `open` then says so. */
medley_status_t med_ring_open_space(med_ring_producer *producer);
medley_status_t med_ring_open_data(med_ring_consumer *consumer);
/* Whatever there is to do at `stop`; the next comes so many elements further on, at most. The
 * producer's says what med_wait_wake_misses does. */
bool med_ring_producer_stopped_until(med_ring_producer *producer, uint32_t most);
void med_ring_consumer_stopped_until(med_ring_consumer *consumer, uint32_t most);
bool med_ring_producer_stopped(med_ring_producer *producer);
void med_ring_consumer_stopped(med_ring_consumer *consumer);
/* How many it knows to be free, or filled; none where a `stop` that was scribbled over led beyond
 * them. packed, the latter. */
uint32_t med_ring_known_free(const med_ring_producer *producer);
uint32_t med_ring_known_filled(const med_ring_consumer *consumer);
/* line: publishes `count` slots from `first` on. */
void med_ring_fill_slots(const med_ring_view *view, uint32_t first, uint32_t count);
/* Of a consumer whose view is otherwise complete: its blocks and its pace. */
void med_ring_consumer_tune(med_ring_consumer *consumer);
/* The consumer begins to read at `head` of the ring to which `end` belongs. */
void med_ring_consumer_enter(med_ring_consumer *consumer, uint32_t head);
/* It begins to learn anew. */
void med_ring_pace_restart(med_ring_pace *pace);
/* Drops the lines of the blocks that end from `head` to `next`. */
void med_ring_drop(const med_ring_view *view, uint32_t head, uint32_t next);

static inline void *
med_ring_slot(const med_ring_view *view, uint32_t index)
{
    return view->slots + (size_t)(index & view->mask) * view->stride_bytes;
}

/* The word of a slot of the line layout. */
static inline atomic32 *
med_ring_slot_word(const med_ring_view *view, void *slot)
{
    return (atomic32 *)(void *)((uint8_t *)slot + view->word_offset);
}

/* The same, from the slots in the handle's `open`. */
static inline void *
med_ring_open_slot(const med_ring_view *view, uint8_t *open, uint32_t index)
{
    return open + (size_t)(index & view->mask) * view->stride_bytes;
}

/* After `index` - 1 was published: is there anything to do but to go on? */
static inline bool
med_ring_stops(const atomic32 *stop, uint32_t index)
{
    med_port_barrier_free(); /* else it always stops, and `stopped` has the light half */
    /* Relaxed: it decides only whether to look closer. */
    uint32_t ahead = atomic32_load_relaxed(stop) - index;
    return __builtin_expect(ahead - 1 >= MED_RING_CAPACITY_MAX, 0);
}

static inline uint32_t
med_ring_tail(const med_ring_producer *producer)
{
    return producer->tail;
}

/* packed: hands over the slots before `tail`, and wakes nobody. The producer goes on from the
 * counter in its handle: the one in the ring is for the other side, who might write it. Whoever
 * wakes the consumer elsewhere calls this, and reserves by reserve_many, which needs no `open`. */
static inline void
med_ring_hand_over(med_ring_producer *producer, uint32_t tail)
{
    producer->tail = tail;
    /* R1 slot filled -> A1 (peek, attach) */
    atomic32_store_release(&producer->end->tail, tail);
}

/* Is nothing known to be free from `tail` on? */
static inline bool
med_ring_used_up(const med_ring_producer *producer, uint32_t tail)
{
    return (int32_t)(producer->limit - tail) <= 0;
}

/* The producer is inside reserve and commit. Relaxed, both: a mark publishes nothing. */
static inline void
med_ring_mark(med_ring_producer *producer, med_ring_layout layout, uint32_t tail, void *slot)
{
    if (layout == MED_RING_LINE) {
        atomic32_store_relaxed(med_ring_slot_word(&producer->view, slot),
                               tail + 1 + MED_RING_INSERTING);
    } else {
        atomic32_store_relaxed(&producer->end->inserting, tail + 1);
    }
}

/* As many of `count` from `index` on as lie before the ring's end. */
static inline uint32_t
med_ring_run(const med_ring_view *view, uint32_t index, uint32_t count)
{
    uint32_t to_end = view->mask + 1 - (index & view->mask);
    return count < to_end ? count : to_end;
}

/* ---- The producer ---------------------------------------------------------------------------- */

/* Each operation has a form ending in _as for a caller that knows the layout when it is compiled;
 * the plain form looks it up in the handle (a predictable branch).
 */

/* The next slot to fill, element_bytes long; the same one again until commit or cancel. Aligned to
 * 64 bytes (line), or to the largest power of two that divides element_bytes, at most 64 (packed).
 * MEDLEY_FULL, MEDLEY_FULL_CONSUMER_READING, MEDLEY_ERR_CORRUPT. */
static inline medley_status_t
med_ring_reserve_as(med_ring_producer *producer, med_ring_layout layout, void **slot)
{
    uint32_t tail = med_ring_tail(producer);
    uint8_t *open = producer->open;
    if (__builtin_expect(!open, 0)) {
        medley_status_t status = med_ring_open_space(producer);
        if (status != MEDLEY_OK) {
            return status;
        }
        open = producer->open;
    }
    *slot = med_ring_open_slot(&producer->view, open, tail);
    med_ring_mark(producer, layout, tail, *slot);
    return MEDLEY_OK;
}

/* Commit, but for the look at `stop`. */
static inline void
med_ring_publish_as(med_ring_producer *producer, med_ring_layout layout)
{
    uint32_t tail = med_ring_tail(producer);
    if (layout == MED_RING_LINE) {
        void *slot = med_ring_slot(&producer->view, tail);
        /* R1 slot filled -> A1 (peek, attach) */
        atomic32_store_release(med_ring_slot_word(&producer->view, slot), tail + 1);
        producer->tail = tail + 1;
    } else {
        med_ring_hand_over(producer, tail + 1);
    }
}

/* Hands over the slot that was reserved, and wakes the consumer if it sleeps. */
static inline void
med_ring_commit_as(med_ring_producer *producer, med_ring_layout layout)
{
    const med_ring_producer_end *end = producer->end;
    uint32_t next = med_ring_tail(producer) + 1;
    med_ring_publish_as(producer, layout);
    if (med_ring_stops(&end->stop, next)) {
        (void)med_ring_producer_stopped(producer);
    }
}

/* As reserve, for up to `wanted` (at least 1) slots that lie side by side, stride_bytes apart;
 * `count` of them: fewer than wanted when there is no more room, or before the ring's end. */
static inline medley_status_t
med_ring_reserve_many_as(med_ring_producer *producer,
                         med_ring_layout layout,
                         uint32_t wanted,
                         void **slots,
                         uint32_t *count)
{
    uint32_t tail = med_ring_tail(producer);
    if (producer->limit - tail < wanted || med_ring_used_up(producer, tail)) {
        medley_status_t status = med_ring_look_for_space(producer, tail);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    uint32_t room = producer->limit - tail;
    *slots = med_ring_slot(&producer->view, tail);
    *count = med_ring_run(&producer->view, tail, room < wanted ? room : wanted);
    med_ring_mark(producer, layout, tail, *slots);
    return MEDLEY_OK;
}

/* Hands over the first `count` (at least 1) of the slots that were reserved; the others are free
 * again. */
static inline void
med_ring_commit_many_as(med_ring_producer *producer, med_ring_layout layout, uint32_t count)
{
    const med_ring_producer_end *end = producer->end;
    uint32_t tail = med_ring_tail(producer);
    if (layout == MED_RING_LINE) {
        med_ring_fill_slots(&producer->view, tail, count);
        producer->tail = tail + count;
    } else {
        med_ring_hand_over(producer, tail + count);
    }
    if (med_ring_stops(&end->stop, tail + count)) {
        (void)med_ring_producer_stopped(producer);
    }
}

static inline medley_status_t
med_ring_reserve(med_ring_producer *producer, void **slot)
{
    return med_ring_reserve_as(producer, producer->view.layout, slot);
}

static inline void
med_ring_commit(med_ring_producer *producer)
{
    med_ring_commit_as(producer, producer->view.layout);
}

static inline medley_status_t
med_ring_reserve_many(med_ring_producer *producer, uint32_t wanted, void **slots, uint32_t *count)
{
    return med_ring_reserve_many_as(producer, producer->view.layout, wanted, slots, count);
}

static inline void
med_ring_commit_many(med_ring_producer *producer, uint32_t count)
{
    med_ring_commit_many_as(producer, producer->view.layout, count);
}

/* Gives up what was reserved, if anything. */
void med_ring_reserve_cancel(med_ring_producer *producer);

/* As reserve, but waits for room: MEDLEY_TIMEOUT, MEDLEY_ERR_CORRUPT, or what each_slice said. */
medley_status_t
med_ring_reserve_until(med_ring_producer *producer, uint64_t deadline_ns, void **slot);

/* ---- The consumer ---------------------------------------------------------------------------- */

/* line: what the word of the next slot says when it does not say that it is filled. */
static inline medley_status_t
med_ring_line_unfilled(const med_ring_consumer *consumer, uint32_t word)
{
    uint32_t lead = word - (consumer->head + 1);
    if (lead == 0u - (consumer->view.mask + 1)) {
        return MEDLEY_EMPTY;
    }
    return lead == MED_RING_INSERTING ? MEDLEY_EMPTY_PRODUCER_INSERTING : MEDLEY_ERR_CORRUPT;
}

/* The next element to read; the same one again until release. The consumer may write into it.
 * MEDLEY_EMPTY, MEDLEY_EMPTY_PRODUCER_INSERTING, MEDLEY_ERR_CORRUPT. */
static inline medley_status_t
med_ring_peek_as(med_ring_consumer *consumer, med_ring_layout layout, void **element)
{
    void *next;
    if (layout == MED_RING_LINE) {
        next = med_ring_slot(&consumer->view, consumer->head);
        /* A1 slot filled <- R1 (commit) */
        uint32_t word = atomic32_load_acquire(med_ring_slot_word(&consumer->view, next));
        if (word != consumer->head + 1) {
            return med_ring_line_unfilled(consumer, word);
        }
    } else {
        uint8_t *open = consumer->open;
        if (__builtin_expect(!open, 0)) {
            medley_status_t status = med_ring_open_data(consumer);
            if (status != MEDLEY_OK) {
                return status;
            }
            open = consumer->open;
        }
        next = med_ring_open_slot(&consumer->view, open, consumer->head);
    }
    /* Relaxed: a mark publishes nothing. */
    atomic32_store_relaxed(&consumer->end->reading, consumer->head + 1);
    *element = next;
    return MEDLEY_OK;
}

/* As peek, for up to `wanted` (at least 1) elements that lie side by side, stride_bytes apart;
 * `count` of them. */
static inline medley_status_t
med_ring_peek_many_as(med_ring_consumer *consumer,
                      med_ring_layout layout,
                      uint32_t wanted,
                      void **elements,
                      uint32_t *count)
{
    uint32_t known = consumer->filled - consumer->head;
    if (layout == MED_RING_LINE || known < wanted || known > MED_RING_CAPACITY_MAX) {
        medley_status_t status = med_ring_look_for_data(consumer, wanted);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    /* Relaxed: a mark publishes nothing. */
    atomic32_store_relaxed(&consumer->end->reading, consumer->head + 1);
    uint32_t filled = consumer->filled - consumer->head;
    *elements = med_ring_slot(&consumer->view, consumer->head);
    *count = med_ring_run(&consumer->view, consumer->head, filled < wanted ? filled : wanted);
    return MEDLEY_OK;
}

static inline void
med_ring_hand_back(med_ring_consumer *consumer, uint32_t next)
{
    consumer->head = next;
    /* R2 element read -> A2 (reserve, attach) */
    atomic32_store_release(&consumer->end->head, next);
}

/* Does the consumer end a block with the next `count`, whose lines are dropped then? */
static inline bool
med_ring_drops(const med_ring_consumer *consumer, uint32_t count)
{
    uint32_t next = consumer->head + count;
    return med_port_has_cache_drop() &&
           __builtin_expect(((consumer->head ^ next) & consumer->view.blocks) != 0, 0);
}

/* packed: as release_many, for who wakes the producer elsewhere, and finds by himself how far it is
 * filled. */
static inline void
med_ring_pass(med_ring_consumer *consumer, uint32_t count)
{
    uint32_t next = consumer->head + count;
    if (med_ring_drops(consumer, count)) {
        med_ring_drop(&consumer->view, consumer->head, next);
    }
    med_ring_hand_back(consumer, next);
}

/* Gives the first `count` (at least 1) of the elements that were peeked back to the producer, and
 * wakes it if it sleeps. */
static inline void
med_ring_release_many(med_ring_consumer *consumer, uint32_t count)
{
    const med_ring_consumer_end *end = consumer->end;
    uint32_t next = consumer->head + count;
    med_ring_hand_back(consumer, next);
    if (med_ring_stops(&end->stop, next)) {
        med_ring_consumer_stopped(consumer);
    }
}

static inline medley_status_t
med_ring_peek(med_ring_consumer *consumer, void **element)
{
    return med_ring_peek_as(consumer, consumer->view.layout, element);
}

static inline medley_status_t
med_ring_peek_many(med_ring_consumer *consumer, uint32_t wanted, void **elements, uint32_t *count)
{
    return med_ring_peek_many_as(consumer, consumer->view.layout, wanted, elements, count);
}

static inline void
med_ring_release(med_ring_consumer *consumer)
{
    med_ring_release_many(consumer, 1);
}

/* Leaves what was peeked, if anything, where it is. */
void med_ring_peek_cancel(med_ring_consumer *consumer);

/* As peek, but waits for an element: MEDLEY_TIMEOUT, MEDLEY_ERR_CORRUPT, or what each_slice said.
 */
medley_status_t
med_ring_peek_until(med_ring_consumer *consumer, uint64_t deadline_ns, void **element);

/* In which state the entry at a position (an index, masked) was at some moment of the call; of
 * either side's view. For who looks on: it takes part in nothing. A ring that is written over
 * says anything. */
med_ring_entry med_ring_entry_state(const med_ring_view *view, uint32_t position);

/* How many elements are there to be peeked; looks at every slot of the line layout that is filled.
 * 0 also when the ring is corrupt. */
uint32_t med_ring_ready(med_ring_consumer *consumer);

/* ---- By copy --------------------------------------------------------------------------------- */

/* Copies one element in, of which `bytes` are read: element_bytes, or fewer. A constant here lets
 * the compiler copy from registers what was computed just before. What reserve may return. */
static inline medley_status_t
med_ring_push_as(med_ring_producer *producer,
                 med_ring_layout layout,
                 const void *element,
                 uint32_t bytes)
{
    void *slot;
    medley_status_t status = med_ring_reserve_as(producer, layout, &slot);
    if (status == MEDLEY_OK) {
        med_ring_copy(slot, element, bytes);
        med_ring_commit_as(producer, layout);
    }
    return status;
}

/* Copies one element out, of which `bytes` are written: element_bytes, or fewer. What peek may
 * return. */
static inline medley_status_t
med_ring_pop_as(med_ring_consumer *consumer, med_ring_layout layout, void *element, uint32_t bytes)
{
    void *slot;
    medley_status_t status = med_ring_peek_as(consumer, layout, &slot);
    if (status == MEDLEY_OK) {
        med_ring_copy(element, slot, bytes);
        med_ring_release(consumer);
    }
    return status;
}

/* Copies one whole element in; element_bytes of it are read. */
static inline medley_status_t
med_ring_push(med_ring_producer *producer, const void *element)
{
    return med_ring_push_as(producer, producer->view.layout, element, producer->view.element_bytes);
}

/* Copies one whole element out; element_bytes of it are written. */
static inline medley_status_t
med_ring_pop(med_ring_consumer *consumer, void *element)
{
    return med_ring_pop_as(consumer, consumer->view.layout, element, consumer->view.element_bytes);
}

#endif
