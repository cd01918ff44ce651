/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Doacross loops. What may run together, on one construct: everything, by different members; a row
 * has one writer, who executes its iterations. Blocking: a wait ends when the row's writer has come
 * so far.
 */
#include "omp/doacross.h"

#include "mrapi/heap_lent.h"
#include "omp/say.h"
#include "omp/team.h"

#define LINE_BYTES 64u
#define ROWS_OF_A_LINE 1024u /* up to so many rows each has a line of its own */

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How outer iterations lie in rows; how many rows there are. */
static uint64_t
rows_of(const med_work *work, med_doacross *doacross)
{
    if (work->schedule == &med_schedule_static && work->chunk == 0) {
        doacross->part = work->count / work->members;
        doacross->longer = work->count % work->members;
        return work->members;
    }
    bool is_guided = work->schedule->next == med_schedule_guided.next;
    bool by_chunks = !is_guided && work->chunk > 1;
    doacross->part = by_chunks ? work->chunk : 1;
    return work->count / doacross->part + (work->count % doacross->part != 0);
}

med_doacross *
med_doacross_make(const med_work *work, uint32_t dimensions)
{
    med_doacross form = {.dimensions = dimensions, .count = work->count};
    uint64_t rows = rows_of(work, &form);
    form.row_bytes = rows <= ROWS_OF_A_LINE ? LINE_BYTES : sizeof(atomic_word);
    size_t head = sizeof form + dimensions * sizeof(uint64_t);
    head = (head + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    size_t size_bytes;
    med_doacross *doacross = NULL;
    if (!__builtin_mul_overflow(rows, form.row_bytes, &size_bytes) &&
        !__builtin_add_overflow(size_bytes, head, &size_bytes)) {
        doacross = med_heap_lend(size_bytes);
    }
    if (!doacross) {
        med_say_fatal("there is no memory for the iterations of an ordered loop");
    }
    *doacross = form;
    doacross->rows = (atomic_word *)(void *)((char *)doacross + head);
    return doacross;
}

med_spot
med_doacross_spot(const med_doacross *doacross, uint64_t number)
{
    if (number >= doacross->count) { /* gcc 12 takes `i - 1` of an unsigned i for 2^32 more */
        return (med_spot){.row = MED_ROW_NONE};
    }
    uint64_t in_longer = doacross->longer * (doacross->part + 1);
    uint64_t row = number < in_longer ? number / (doacross->part + 1)
                                      : doacross->longer + (number - in_longer) / doacross->part;
    uint64_t first = row * doacross->part + smaller(row, doacross->longer);
    return (med_spot){.row = (uintptr_t)row, .place = (uintptr_t)(number - first)};
}

static atomic_word *
row_at(const med_doacross *doacross, uintptr_t row)
{
    return (atomic_word *)(void *)((char *)doacross->rows + row * doacross->row_bytes);
}

void
med_doacross_post(med_member *member, const med_spot *spot)
{
    if (spot->row == MED_ROW_NONE) {
        return;
    }
    atomic_word *row = row_at(member->work->doacross, spot->row);
    atomic_word_store_release(row, spot->place); /* R1 posted -> A1 (is_posted) */
    med_wait_wake(&member->team->wait, MED_PORT_SCOPE_PROCESS);
}

typedef struct spot_wait {
    const atomic_word *row;
    uintptr_t place;
} spot_wait;

static bool
is_posted(void *context)
{
    const spot_wait *w = context;
    return atomic_word_load_acquire(w->row) >= w->place; /* A1 posted <- R1 (med_doacross_post) */
}

void
med_doacross_wait(med_member *member, const med_spot *spot)
{
    if (spot->row != MED_ROW_NONE) {
        spot_wait w = {.row = row_at(member->work->doacross, spot->row), .place = spot->place};
        (void)med_work_wait(member, &member->team->wait, is_posted, NULL, &w);
    }
}
