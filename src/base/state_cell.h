/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The state cell: one value that one writer changes and any number of readers look at; a reader
 * gets the newest whole one. The state message (NBW) of the lock-free MCAPI paper, section 3: the
 * writer never waits, readers write nothing, and a reader that collides tries again, a bounded
 * number of times.
 *
 * Words
 *   value     `value_bytes` bytes; they mean what the writer and the readers agree on
 *   buffers   how many values the cell has room for. The writer goes round: a reader's copy is
 *             spoilt only when the writer begins as many more values while it lasts
 *   record    a value that is shorter than there is room for: of it no more is copied than there is
 *   seat      the writer's place in the cell; taken with an owner, so that a dead writer's can be
 *             given to the next
 *
 * In memory, at a multiple of 64 bytes; no pointers, one layout for 32 and 64 bits:
 *
 *   0        constants                                        med_state_cell_shared
 *   64       counter, seat, wait object
 *   128      the buffers: each its head, and in the same line a value that fits there, else the
 *            value from the next line on
 */
#ifndef MEDLEY_BASE_STATE_CELL_H
#define MEDLEY_BASE_STATE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/stamp.h"
#include "base/wait.h"
#include "medley/status.h"

#define MED_STATE_CELL_VALUE_BYTES_MAX 65536u
#define MED_STATE_CELL_BUFFERS_MIN 2u
#define MED_STATE_CELL_BUFFERS_MAX 1024u

typedef struct med_state_cell_shared {
    med_stamp stamp; /* constant, like the rest of this line */
    atomic32 value_bytes;
    atomic32 buffers;
    uint32_t reserved[12];
    atomic32 counter; /* by the writer: the number of the newest value */
    atomic32 seat;    /* by whoever takes or gives up the seat */
    med_wait news;    /* by readers that sleep, and by the writer who wakes them */
    uint32_t reserved_line[13];
} med_state_cell_shared;
_Static_assert(sizeof(med_state_cell_shared) == 128, "layout in shared memory");
_Static_assert(offsetof(med_state_cell_shared, counter) == 64, "layout in shared memory");

/* What a buffer begins with. */
typedef struct med_state_cell_head {
    atomic32 number; /* of the value that was begun there last */
    atomic32 length; /* of that value, in bytes */
} med_state_cell_head;
_Static_assert(sizeof(med_state_cell_head) == 8, "layout in shared memory");

/* One process's view: private, constant, may be copied. */
typedef struct med_state_cell {
    med_state_cell_shared *shared;
    unsigned char *first; /* buffer */
    uint32_t value_bytes;
    uint32_t stride_bytes; /* from buffer to buffer */
    uint32_t value_at;     /* in a buffer */
    uint32_t buffers;
    uint32_t last; /* the number after which numbers start again at 1 */
    med_port_scope scope;
} med_state_cell;

/* What the cell needs; 0 when there is no such cell. */
size_t med_state_cell_size(uint32_t value_bytes, uint32_t buffers);
/* The longest value of a cell that takes no more room; 0 when there is none. */
uint32_t med_state_cell_value_max(size_t size_bytes, uint32_t buffers);
/* Makes a cell without a value and without a writer. MEDLEY_ERR_ARGUMENT: sizes or alignment. */
medley_status_t med_state_cell_init(void *memory,
                                    size_t size_bytes,
                                    uint32_t value_bytes,
                                    uint32_t buffers,
                                    med_port_scope scope,
                                    med_state_cell *cell);
/* The view of a cell that another made. MEDLEY_ERR_BYTE_ORDER, _VERSION, _CORRUPT; _ARGUMENT when
 * the memory is not aligned. Whatever the memory holds then or later, no call touches anything
 * outside it or fails to return. */
medley_status_t
med_state_cell_attach(void *memory, size_t size_bytes, med_port_scope scope, med_state_cell *cell);

/* ---- The writer ------------------------------------------------------------------------------ */

/* Who has the seat, one thread at a time. All wait-free, but for waking sleepers. */

/* Takes the seat. MEDLEY_BUSY when somebody else has it; MEDLEY_ERR_ARGUMENT for owner 0. */
medley_status_t med_state_cell_open(const med_state_cell *cell, uint32_t owner);
/* MEDLEY_ERR_NOT_OWNER when it is not his. */
medley_status_t med_state_cell_close(const med_state_cell *cell, uint32_t owner);
/* Frees the seat of a writer that will never run again; false when it was not his. Idempotent. What
 * he had not committed nobody has seen, nor will. */
bool med_state_cell_recover(const med_state_cell *cell, uint32_t dead_owner);

/* Publishes a whole value. */
void med_state_cell_write(const med_state_cell *cell, const void *value);

/* In place, piece by piece: begin, put what the value consists of, commit. What is not put is what
 * was in this buffer before: some older value, or zeros. To begin again without a commit starts
 * over. */
typedef struct med_state_cell_draft {
    atomic64 *words;
    uint32_t number; /* of the value to be */
} med_state_cell_draft;
void med_state_cell_begin(const med_state_cell *cell, med_state_cell_draft *draft);
/* MEDLEY_ERR_ARGUMENT, and nothing is put, when it would not lie inside the value. */
medley_status_t med_state_cell_put(const med_state_cell *cell,
                                   const med_state_cell_draft *draft,
                                   uint32_t offset,
                                   const void *bytes,
                                   uint32_t count);
void med_state_cell_commit(const med_state_cell *cell, const med_state_cell_draft *draft);

/* Publishes a record. MEDLEY_ERR_ARGUMENT: longer than the value. */
medley_status_t
med_state_cell_write_record(const med_state_cell *cell, const void *bytes, uint32_t count);

/* ---- What is written at once ----------------------------------------------------------------- */

/* For who wakes the readers himself, and has nothing else to do in between. */

#define MED_STATE_CELL_WORD_BYTES 8u
/* So much goes into the head's line. */
#define MED_STATE_CELL_AT_ONCE_MAX (MED_STAMP_LINE_BYTES - (uint32_t)sizeof(med_state_cell_head))

/* The head of the buffer where the value after `number` lies; whatever the number, one of this
 * cell. */
static inline med_state_cell_head *
med_state_cell_head_after(const med_state_cell *cell, uint32_t number)
{
    size_t at = (size_t)(number % cell->buffers) * cell->stride_bytes;
    return (med_state_cell_head *)(void *)(cell->first + at);
}

static inline atomic64 *
med_state_cell_words_of(const med_state_cell *cell, med_state_cell_head *head)
{
    return (atomic64 *)(void *)((unsigned char *)head + cell->value_at);
}

/* Takes the next buffer for a value of that length. */
static inline med_state_cell_draft
med_state_cell_begin_length(const med_state_cell *cell, uint32_t length)
{
    /* Relaxed: the counter is the writer's own, or a dead one's, which the seat has passed on. */
    uint32_t newest = atomic32_load_relaxed(&cell->shared->counter);
    med_state_cell_head *head = med_state_cell_head_after(cell, newest);
    med_state_cell_draft draft = {.words = med_state_cell_words_of(cell, head),
                                  .number = newest < cell->last ? newest + 1 : 1};
    atomic32_store_relaxed(&head->number, draft.number); /* relaxed: R2 has it before the value */
    atomic32_store_release(&head->length, length);       /* R2 head so far -> A2 (length_of) */
    return draft;
}

static inline void
med_state_cell_publish(const med_state_cell *cell, const med_state_cell_draft *draft)
{
    /* R1 value whole -> A1 (read, has_news) */
    atomic32_store_release(&cell->shared->counter, draft->number);
}

/* Publishes a record of whole words, no more than MED_STATE_CELL_AT_ONCE_MAX bytes and no longer
 * than the value, and wakes nobody. Few stores, so that many values are on their way while a reader
 * has the counter's line. Its number. */
static inline uint32_t
med_state_cell_write_at_once(const med_state_cell *cell, const void *bytes, uint32_t count)
{
    med_state_cell_draft draft = med_state_cell_begin_length(cell, count);
    for (uint32_t i = 0; i < count / MED_STATE_CELL_WORD_BYTES; i++) {
        uint64_t whole;
        __builtin_memcpy(&whole, (const unsigned char *)bytes + (size_t)i * sizeof whole,
                         sizeof whole);
        atomic64_store_release(draft.words + i, whole); /* R2 head so far -> A2 (copy_out) */
    }
    med_state_cell_publish(cell, &draft);
    return draft.number;
}

/* ---- Readers --------------------------------------------------------------------------------- */

/* Any number, anywhere. */

/* Each reader's own, one thread at a time; zeroed at first. */
typedef struct med_state_cell_reader {
    uint32_t number;        /* of the value read last; 0: none yet */
    uint32_t length;        /* of the long record looked at last, as its head said */
    uint32_t retries_worst; /* in one read */
    uint32_t retries;       /* in all, wrapping */
    uint32_t collisions;    /* reads that gave up, wrapping */
    med_waiter waiter;
} med_state_cell_reader;

/* Copies the newest value to `value`, after at most `retries_max` collisions. MEDLEY_EMPTY: none
 * was written yet. MEDLEY_EMPTY_PRODUCER_INSERTING: one collision more; `value` then holds nothing
 * of use. Wait-free. */
medley_status_t med_state_cell_read(const med_state_cell *cell,
                                    med_state_cell_reader *reader,
                                    uint32_t retries_max,
                                    void *value);
/* The same of a record: at most `size` bytes of it; `count` is its length. Also MEDLEY_ERR_CORRUPT:
 * it says that it is longer than it may be. */
medley_status_t med_state_cell_read_record(const med_state_cell *cell,
                                           med_state_cell_reader *reader,
                                           uint32_t retries_max,
                                           void *bytes,
                                           uint32_t size,
                                           uint32_t *count);
/* The number of the newest value; 0: none was written yet. Numbers start again at 1 some day. */
static inline uint32_t
med_state_cell_newest(const med_state_cell *cell)
{
    return atomic32_load_relaxed(&cell->shared->counter); /* relaxed: compared only */
}

/* Blocks until there is a value newer than the one that `reader` read last: MEDLEY_OK. Else
 * MEDLEY_TIMEOUT, or what `each_slice` (may be NULL) ended it with; see med_wait_request. */
medley_status_t med_state_cell_wait_until(const med_state_cell *cell,
                                          med_state_cell_reader *reader,
                                          uint64_t deadline_ns,
                                          medley_status_t (*each_slice)(void *context),
                                          void *context);

#endif
