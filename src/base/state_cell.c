/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The state cell. What may run together:
 *
 *              write       read, wait      open, close, recover
 *   write      no (seat)   yes             yes, by others: they fail, or find the writer dead
 *   read       yes         yes             yes
 *
 * Values are numbered from 1; value k lies in buffer (k - 1) modulo `buffers`. The counter is k
 * once value k is committed. `last` is a multiple of `buffers`, so that after number `last` number
 * 1 comes in its turn round the buffers, and 0 never comes again.
 *
 * Why no reader gets a torn value. A reader loads the counter (A1): all of value k is there, and k
 * is the number in its buffer's head. It copies the buffer. That is next written for value k +
 * buffers, whose number goes into the head before anything else. Should a word of the copy come
 * from that write, then it was loaded with acquire from a store with release (R2 -> A2), before
 * which the writer set the head; so the reader's second look at the head, after the copy, sees that
 * number or a later one, and the copy is thrown away. The second look is at a line that the reader
 * has; the counter's it takes from the writer once. The orders stand on the words because only so
 * can they be said without a fence (and seen by TSan); on x86 they cost nothing, and what is long
 * goes at once; elsewhere a word's copy costs its load-acquire. A reader that is stopped inside one
 * copy for exactly a multiple of `last` (about 2^32) values would not notice.
 *
 * Linearisation: write, the store of k; read, the first load of the counter in the round that
 * succeeds. Progress: wait-free; a read makes at most retries_max + 1 copies.
 * Death: of a writer between begin and commit: the counter stays k, and readers go on getting value
 * k, whose buffer he did not touch; the next writer begins k+1 anew. Of a reader: nothing.
 * Model: models/state_cell.pml, and models/wait.pml for the wait for news.
 */
#include "base/state_cell.h"

#define KIND MED_STAMP_KIND('S', 'T', 'A', 'T')
#define VERSION 3u
#define WORD_BYTES MED_STATE_CELL_WORD_BYTES
#define NUMBER_MAX UINT32_MAX
/* Less goes word by word: a call for it takes longer. */
#define AT_ONCE_BYTES 256u
#define AT_ONCE_MOST 4096u
/* Less is not worth it: 256 bytes take 30 ns instead of 19. */
#define BY_LINES_BYTES 512u

/* Where the value is in its buffer: in the head's line if it fits, else in lines of its own. */
static uint32_t
value_place(uint32_t value_bytes)
{
    uint32_t head = (uint32_t)sizeof(med_state_cell_head);
    return value_bytes <= MED_STAMP_LINE_BYTES - head ? head : MED_STAMP_LINE_BYTES;
}

static uint32_t
stride_of(uint32_t value_bytes)
{
    return (uint32_t)med_stamp_round_up(value_place(value_bytes) + value_bytes);
}

size_t
med_state_cell_size(uint32_t value_bytes, uint32_t buffers)
{
    if (value_bytes == 0 || value_bytes > MED_STATE_CELL_VALUE_BYTES_MAX ||
        buffers < MED_STATE_CELL_BUFFERS_MIN || buffers > MED_STATE_CELL_BUFFERS_MAX) {
        return 0;
    }
    return (size_t)(sizeof(med_state_cell_shared) + (size_t)buffers * stride_of(value_bytes));
}

uint32_t
med_state_cell_value_max(size_t size_bytes, uint32_t buffers)
{
    size_t head = sizeof(med_state_cell_head);
    size_t room = size_bytes > sizeof(med_state_cell_shared) && buffers != 0
                      ? (size_bytes - sizeof(med_state_cell_shared)) / buffers
                      : 0;
    size_t lines = room / MED_STAMP_LINE_BYTES;
    size_t most =
        lines > 1 ? (lines - 1) * MED_STAMP_LINE_BYTES : lines * (MED_STAMP_LINE_BYTES - head);
    return most < MED_STATE_CELL_VALUE_BYTES_MAX ? (uint32_t)most : MED_STATE_CELL_VALUE_BYTES_MAX;
}

static void
view(void *memory,
     uint32_t value_bytes,
     uint32_t buffers,
     med_port_scope scope,
     med_state_cell *cell)
{
    cell->shared = memory;
    cell->first = (unsigned char *)memory + sizeof(med_state_cell_shared);
    cell->value_bytes = value_bytes;
    cell->stride_bytes = stride_of(value_bytes);
    cell->value_at = value_place(value_bytes);
    cell->buffers = buffers;
    cell->last = NUMBER_MAX - NUMBER_MAX % buffers;
    cell->scope = scope;
}

static void
buffer_clear(const med_state_cell *cell, med_state_cell_head *head)
{
    atomic64 *words = med_state_cell_words_of(cell, head);
    /* Relaxed, all: the creator publishes the memory afterwards. */
    atomic32_store_relaxed(&head->number, 0);
    atomic32_store_relaxed(&head->length, 0);
    for (uint32_t i = 0; i < (cell->stride_bytes - cell->value_at) / WORD_BYTES; i++) {
        atomic64_store_relaxed(&words[i], 0);
    }
}

medley_status_t
med_state_cell_init(void *memory,
                    size_t size_bytes,
                    uint32_t value_bytes,
                    uint32_t buffers,
                    med_port_scope scope,
                    med_state_cell *cell)
{
    size_t needed_bytes = med_state_cell_size(value_bytes, buffers);
    if (needed_bytes == 0 || !cell || !med_stamp_fits(memory, size_bytes, needed_bytes)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    view(memory, value_bytes, buffers, scope, cell);
    /* Relaxed, all: the creator publishes the memory afterwards. */
    atomic32_store_relaxed(&cell->shared->value_bytes, value_bytes);
    atomic32_store_relaxed(&cell->shared->buffers, buffers);
    atomic32_store_relaxed(&cell->shared->counter, 0);
    atomic32_store_relaxed(&cell->shared->seat, 0);
    atomic32_store_relaxed(&cell->shared->news.word, 0);
    for (uint32_t i = 0; i < buffers; i++) {
        buffer_clear(cell, med_state_cell_head_after(cell, i));
    }
    med_stamp_write(&cell->shared->stamp, KIND, VERSION);
    return MEDLEY_OK;
}

medley_status_t
med_state_cell_attach(void *memory, size_t size_bytes, med_port_scope scope, med_state_cell *cell)
{
    if (!cell) {
        return MEDLEY_ERR_ARGUMENT;
    }
    const med_state_cell_shared *shared = memory;
    medley_status_t status = med_stamp_attach(memory, size_bytes, sizeof *shared, KIND, VERSION);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed, both: constant since before the memory was published; read once. */
    uint32_t value_bytes = atomic32_load_relaxed(&shared->value_bytes);
    uint32_t buffers = atomic32_load_relaxed(&shared->buffers);
    size_t needed_bytes = med_state_cell_size(value_bytes, buffers);
    if (needed_bytes == 0 || needed_bytes > size_bytes) {
        return MEDLEY_ERR_CORRUPT;
    }
    view(memory, value_bytes, buffers, scope, cell);
    return MEDLEY_OK;
}

/* ---- The writer ------------------------------------------------------------------------------ */

medley_status_t
med_state_cell_open(const med_state_cell *cell, uint32_t owner)
{
    uint32_t expected = 0;
    if (owner == 0) {
        return MEDLEY_ERR_ARGUMENT;
    }
    return atomic32_cas_acquire(&cell->shared->seat, &expected, owner) /* A3 seat left <- R3 */
               ? MEDLEY_OK
               : MEDLEY_BUSY;
}

medley_status_t
med_state_cell_close(const med_state_cell *cell, uint32_t owner)
{
    uint32_t expected = owner;
    if (owner == 0) {
        return MEDLEY_ERR_ARGUMENT;
    }
    return atomic32_cas_release(&cell->shared->seat, &expected, 0) /* R3 seat left -> A3 (open) */
               ? MEDLEY_OK
               : MEDLEY_ERR_NOT_OWNER;
}

bool
med_state_cell_recover(const med_state_cell *cell, uint32_t dead_owner)
{
    uint32_t expected = dead_owner;
    /* R3 seat left -> A3 (open): what the dead one wrote was made visible by his death, and goes on
     * to the next writer. */
    return dead_owner != 0 && atomic32_cas_release(&cell->shared->seat, &expected, 0);
}

/* One word of a value, of which bytes [first, first + count) are given. */
static void
put_part(atomic64 *word, uint32_t first, const unsigned char *bytes, uint32_t count)
{
    uint64_t merged = atomic64_load_relaxed(word); /* relaxed: only the writer changes it */
    for (uint32_t i = 0; i < count; i++) {
        ((unsigned char *)&merged)[first + i] = bytes[i];
    }
    atomic64_store_release(word, merged); /* R2 head so far -> A2 (copy_out) */
}

/* How much of so many bytes is copied at once, not word by word; whole words. */
static uint32_t
at_once(uint32_t count)
{
    bool may = med_port_keeps_order() && !atomic_is_checked() && count >= AT_ONCE_BYTES;
    return may ? count / WORD_BYTES * WORD_BYTES : 0;
}

/* Where the processor keeps the order of loads, and of stores, a copy is as good as one of each
 * word with its acquire, or its release; but for stores that pass by the caches, which the C
 * library has for no copy below 16 KiB, however it is set up. Of pieces that are known to be small
 * the compiler makes a string instruction, which puts them in order with all stores before and
 * after. One that begins on a line takes the lines from the reader whole, without what is in them;
 * to begin there the compiler has to know, else it puts the first word apart. */
static void
copy_in_at_once(atomic64 *to, const unsigned char *from, uint32_t bytes)
{
    bool by_lines = bytes >= BY_LINES_BYTES && (uintptr_t)to % MED_STAMP_LINE_BYTES == 0;
    for (uint32_t done = 0; done < bytes; done += AT_ONCE_MOST) {
        uint32_t left = bytes - done;
        uint32_t piece = left < AT_ONCE_MOST ? left : AT_ONCE_MOST;
        char *place = (char *)to + done;
        atomic_compiler_barrier(); /* others may look at it */
        if (by_lines) {
            __builtin_memcpy(__builtin_assume_aligned(place, MED_STAMP_LINE_BYTES), from + done,
                             piece);
        } else {
            __builtin_memcpy(place, from + done, piece);
        }
    }
    atomic_compiler_barrier();
}

/* A reader's copy is his own, however it is stored. */
static void
copy_out_at_once(unsigned char *to, const atomic64 *from, uint32_t bytes)
{
    atomic_compiler_barrier(); /* others may change it: nothing is known of it */
    __builtin_memcpy(to, from, bytes);
    atomic_compiler_barrier();
}

static inline void
copy_whole(atomic64 *word, const unsigned char *bytes, uint32_t count)
{
    uint32_t many = at_once(count);
    if (many != 0) {
        copy_in_at_once(word, bytes, many); /* each as below */
        word += many / WORD_BYTES;
        bytes += many;
        count -= many;
    }
#pragma GCC unroll 4
    for (; count >= WORD_BYTES; count -= WORD_BYTES, bytes += WORD_BYTES) {
        uint64_t whole;
        __builtin_memcpy(&whole, bytes, WORD_BYTES);
        atomic64_store_release(word++, whole); /* R2 head so far -> A2 (copy_out) */
    }
    if (count != 0) {
        put_part(word, 0, bytes, count);
    }
}

/* A piece. */
static void
copy_in(atomic64 *words, uint32_t offset, const unsigned char *bytes, uint32_t count)
{
    uint32_t first = offset % WORD_BYTES;
    atomic64 *word = words + offset / WORD_BYTES;
    if (first != 0) {
        uint32_t part = WORD_BYTES - first < count ? WORD_BYTES - first : count;
        put_part(word++, first, bytes, part);
        bytes += part;
        count -= part;
    }
    copy_whole(word, bytes, count);
}

static inline void
commit(const med_state_cell *cell, const med_state_cell_draft *draft)
{
    med_state_cell_publish(cell, draft);
    med_wait_wake(&cell->shared->news, cell->scope);
}

void
med_state_cell_begin(const med_state_cell *cell, med_state_cell_draft *draft)
{
    *draft = med_state_cell_begin_length(cell, cell->value_bytes);
}

medley_status_t
med_state_cell_put(const med_state_cell *cell,
                   const med_state_cell_draft *draft,
                   uint32_t offset,
                   const void *bytes,
                   uint32_t count)
{
    if (offset > cell->value_bytes || count > cell->value_bytes - offset) {
        return MEDLEY_ERR_ARGUMENT;
    }
    copy_in(draft->words, offset, bytes, count);
    return MEDLEY_OK;
}

void
med_state_cell_commit(const med_state_cell *cell, const med_state_cell_draft *draft)
{
    commit(cell, draft);
}

medley_status_t
med_state_cell_write_record(const med_state_cell *cell, const void *bytes, uint32_t count)
{
    if (__builtin_expect(count > cell->value_bytes, 0)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    med_state_cell_draft draft = med_state_cell_begin_length(cell, count);
    copy_whole(draft.words, bytes, count);
    commit(cell, &draft);
    return MEDLEY_OK;
}

void
med_state_cell_write(const med_state_cell *cell, const void *value)
{
    (void)med_state_cell_write_record(cell, value, cell->value_bytes);
}

/* ---- Readers --------------------------------------------------------------------------------- */

static inline void
copy_out(const atomic64 *word, unsigned char *bytes, uint32_t count)
{
    uint64_t value;
    uint32_t many = at_once(count);
    if (many != 0) {
        copy_out_at_once(bytes, word, many); /* each as below */
        word += many / WORD_BYTES;
        bytes += many;
        count -= many;
    }
#pragma GCC unroll 4
    for (; count >= WORD_BYTES; count -= WORD_BYTES, bytes += WORD_BYTES) {
        value = atomic64_load_acquire(word++); /* A2 head so far <- R2 (copy_in, put_part) */
        __builtin_memcpy(bytes, &value, WORD_BYTES);
    }
    if (count != 0) {
        value = atomic64_load_acquire(word); /* A2 head so far <- R2 (copy_in, put_part) */
        for (uint32_t i = 0; i < count; i++) {
            bytes[i] = ((unsigned char *)&value)[i];
        }
    }
}

static inline void
count_retries(med_state_cell_reader *reader, uint32_t retries)
{
    reader->retries += retries;
    if (retries > reader->retries_worst) {
        reader->retries_worst = retries;
    }
}

/* What is wanted of a value: all of it, or of a record at most `size` bytes and its length. */
typedef struct wanted {
    unsigned char *bytes;
    uint32_t size;
    bool is_record;
    uint32_t length;
} wanted;

/* Of a record; most often that of the one before. The processor foresees the branch, and a value
 * apart from its head is copied by the length that the reader has: so it is fetched while the head
 * is on its way. */
static inline uint32_t
length_of(const med_state_cell *cell, med_state_cell_reader *reader, med_state_cell_head *head)
{
    uint32_t length = atomic32_load_acquire(&head->length); /* A2 head so far <- R2 (begin) */
    if (cell->value_at == sizeof *head) {
        return length;
    }
    if (__builtin_expect(length != reader->length, 0)) {
        reader->length = length;
    }
    atomic_compiler_barrier(); /* or the compiler takes the head's, which is the same */
    return reader->length;
}

static inline void
copy_wanted(const med_state_cell *cell,
            med_state_cell_reader *reader,
            med_state_cell_head *head,
            wanted *want)
{
    uint32_t length = cell->value_bytes;
    if (want->is_record) {
        want->length = length_of(cell, reader, head);
        length = want->length <= length ? want->length : 0;
    }
    copy_out(med_state_cell_words_of(cell, head), want->bytes,
             length < want->size ? length : want->size);
}

static inline medley_status_t
read_wanted(const med_state_cell *cell,
            med_state_cell_reader *reader,
            uint32_t retries_max,
            wanted *want)
{
    const med_state_cell_shared *shared = cell->shared;
    for (uint32_t retries = 0;; retries++) {
        uint32_t number = atomic32_load_acquire(&shared->counter); /* A1 value whole <- R1 */
        if (number == 0) {
            return MEDLEY_EMPTY;
        }
        med_state_cell_head *head = med_state_cell_head_after(cell, number - 1);
        copy_wanted(cell, reader, head, want);
        /* Relaxed: A2 has put it after whatever the copy saw. */
        if (__builtin_expect(atomic32_load_relaxed(&head->number) == number, 1)) {
            reader->number = number;
            count_retries(reader, retries);
            return MEDLEY_OK;
        }
        if (retries == retries_max) {
            reader->collisions++;
            count_retries(reader, retries);
            return MEDLEY_EMPTY_PRODUCER_INSERTING;
        }
    }
}

medley_status_t
med_state_cell_read(const med_state_cell *cell,
                    med_state_cell_reader *reader,
                    uint32_t retries_max,
                    void *value)
{
    wanted want = {.bytes = value, .size = cell->value_bytes};
    return read_wanted(cell, reader, retries_max, &want);
}

medley_status_t
med_state_cell_read_record(const med_state_cell *cell,
                           med_state_cell_reader *reader,
                           uint32_t retries_max,
                           void *bytes,
                           uint32_t size,
                           uint32_t *count)
{
    wanted want = {.bytes = bytes, .size = size, .is_record = true};
    medley_status_t status = read_wanted(cell, reader, retries_max, &want);
    if (status != MEDLEY_OK) {
        return status;
    }
    *count = want.length;
    return want.length <= cell->value_bytes ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

/* What med_wait_until carries to its callbacks. */
typedef struct news_wait {
    const med_state_cell *cell;
    uint32_t number; /* of the value that is no news */
    medley_status_t (*each_slice)(void *context);
    void *context;
} news_wait;

static bool
has_news(void *context)
{
    const news_wait *wait = context;
    /* A1 value whole <- R1 (commit) */
    uint32_t number = atomic32_load_acquire(&wait->cell->shared->counter);
    return number != wait->number;
}

static medley_status_t
pass_slice_on(void *context)
{
    const news_wait *wait = context;
    return wait->each_slice ? wait->each_slice(wait->context) : MEDLEY_OK;
}

medley_status_t
med_state_cell_wait_until(const med_state_cell *cell,
                          med_state_cell_reader *reader,
                          uint64_t deadline_ns,
                          medley_status_t (*each_slice)(void *context),
                          void *context)
{
    news_wait wait = {
        .cell = cell, .number = reader->number, .each_slice = each_slice, .context = context};
    med_wait_request request = {.condition = has_news,
                                .each_slice = pass_slice_on,
                                .context = &wait,
                                .deadline_ns = deadline_ns,
                                .scope = cell->scope};
    return med_wait_until(&cell->shared->news, &reader->waiter, &request);
}
