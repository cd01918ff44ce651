/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the objects of users have in common. All kinds: the numbers under which others find them.
 * Mutexes, semaphores, reader/writer locks: handles that grow stale, attributes, and a domain to
 * which each may be kept.
 */
#ifndef MEDLEY_MRAPI_OBJECT_H
#define MEDLEY_MRAPI_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/units.h"
#include "medley/status.h"
#include "mrapi/handle.h"
#include "mrapi/kinds.h"
#include "mrapi/node.h"
#include "mrapi/table.h"

/* Any number up to here may be chosen by users; those of MED_OBJECT_ANY follow, as many as a table
 * has rows. */
#define MED_OBJECT_USER_MAX 0xefffffffu
#define MED_OBJECT_ANY 0xffffffffu

/* Can one be made under it? */
static inline bool
med_object_number_good(uint32_t number)
{
    return number <= MED_OBJECT_USER_MAX || number == MED_OBJECT_ANY;
}

/* Attributes that mean the same to all kinds; the other bits are each kind's own. */
#define MED_OBJECT_ERROR_EXT 2u     /* a stale handle is told from a wrong one */
#define MED_OBJECT_DOMAIN_SHARED 4u /* other domains may get it */

/* The first bytes of its row. */
typedef struct med_object {
    med_row row;         /* key: 0, number */
    atomic32 attributes; /* fixed at creation */
    atomic32 domain;     /* of its creator; fixed at creation */
} med_object;
_Static_assert(sizeof(med_object) == 24, "objects start alike in every build");

typedef struct med_object_request {
    med_kind kind;
    uint32_t number; /* or MED_OBJECT_ANY */
    uint32_t attributes;
    /* Fills what follows the first bytes. With the table's lock held; a stale handle may still
     * reach the row, so what it tries first is stored last, with a release. */
    void (*fill)(med_object *object, const void *context);
    const void *context;
} med_object_request;

/* MEDLEY_ERR_EXISTS; MEDLEY_ERR_LIMIT, which is reported. */
medley_status_t med_object_create(med_self *self,
                                  const med_object_request *request,
                                  uint32_t *index,
                                  uint32_t *generation);
/* By number. MEDLEY_ERR_NOT_FOUND; MEDLEY_ERR_ACCESS: another domain's, not shared. */
medley_status_t med_object_find(
    med_self *self, med_kind kind, uint32_t number, uint32_t *index, uint32_t *generation);

/* As create and find, with a handle of that sort. */
medley_status_t med_object_make(med_self *self,
                                const med_object_request *request,
                                med_handle_kind sort,
                                med_handle *handle);
medley_status_t med_object_get(
    med_self *self, med_kind kind, med_handle_kind sort, uint32_t number, med_handle *handle);

/* Is the handle still good? Else MEDLEY_ERR_NOT_FOUND: deleted, with ERROR_EXT; MEDLEY_ERR_STALE:
 * deleted without. */
medley_status_t med_object_check(const med_object *object, med_handle handle);
/* The object of a good handle of that sort; of any other MEDLEY_ERR_ARGUMENT, or as above. */
medley_status_t med_object_of(const med_table_view *table,
                              med_handle handle,
                              med_handle_kind sort,
                              med_object **object);
/* Deletes the object if the handle is still good. */
medley_status_t
med_object_remove(const med_table_view *table, const med_object *object, med_handle handle);

/* What the object of a good handle was made with; errors as med_object_check. */
medley_status_t
med_object_attributes_get(const med_object *object, med_handle handle, uint32_t *attributes);

/* Of the object's present life. Relaxed: fixed at creation, here and below. */
static inline uint32_t
med_object_attributes(const med_object *object)
{
    return atomic32_load_relaxed(&object->attributes);
}

/* ---- Hot paths ------------------------------------------------------------------------------- */

static inline med_object *
med_object_at(const med_self_table *table, uint32_t index)
{
    return (med_object *)(void *)(table->rows + (size_t)index * table->row_bytes);
}

/* The object of a handle of that sort that is good at this moment, else NULL; looked at again by
 * those who take something of it. */
static inline med_object *
med_object_good(const med_self_table *table, med_handle handle, med_handle_kind sort)
{
    uint32_t index = med_handle_index_of_kind(handle, sort);
    if (__builtin_expect(index >= table->row_count, 0)) {
        return NULL;
    }
    med_object *object = med_object_at(table, index);
    /* A1 live <- T1 (table.c): what the caller reads next, how many units there are, is of that
     * life and of no earlier one, which may have had more. */
    uint32_t state = atomic32_load_acquire(&object->row.state);
    return __builtin_expect(med_handle_is_current(handle, state), 1) ? object : NULL;
}

/* Before a node first takes something of a chunk of rows. Only the node writes its map. The
 * compiler must not move the store behind the compare-and-swap; that the processor may is of no
 * account, since the map is read after the node's death, when all its stores are done. */
static inline void
med_object_touch(const med_self_table *table, uint32_t index)
{
    uint32_t bit = index / MED_ROWS_PER_TOUCH;
    atomic32 *word = &table->touched[bit / 32];
    /* Relaxed, both: see above. */
    uint32_t bits = atomic32_load_relaxed(word);
    if (__builtin_expect(!(bits & 1u << bit % 32), 0)) {
        atomic32_store_relaxed(word, bits | 1u << bit % 32);
        atomic_compiler_barrier();
    }
}

/* Has the node ever taken something of the chunk that row is in? For its own thread: relaxed. */
static inline bool
med_object_touched(const med_self_table *table, uint32_t index)
{
    uint32_t bit = index / MED_ROWS_PER_TOUCH;
    return atomic32_load_relaxed(&table->touched[bit / 32]) & 1u << bit % 32;
}

/* Who only ever tries must find a holder's death all the same, but need not ask the system each
 * time: is it time to? */
bool med_object_look_due(med_self *self);
/* The same of something else that is asked for again and again. Not before `next_ns`, which is the
 * caller's and then put off. */
bool med_object_due(uint64_t *next_ns);

/* ---- Objects that several nodes have at once ------------------------------------------------- */

/* Their rows begin with a line of the kind's own, and go on with lines for as many units as there
 * may be sharers; an object's limit says how many of them it uses, fixed at creation. */
#define MED_OBJECT_SHARED_HEAD_BYTES 64u
uint32_t med_object_shared_row_bytes(const med_limits *limits);

/* The context of such a kind's `fill`. */
typedef struct med_object_shared {
    uint32_t limit;
    uint32_t sharers;
} med_object_shared;
/* In it: nobody has any. */
void med_object_units_fill(med_object *object, uint32_t sharers);

static inline med_lock *
med_object_units_at(med_object *object)
{
    return (med_lock *)(void *)((unsigned char *)object + MED_OBJECT_SHARED_HEAD_BYTES);
}

/* Never more than `sharers`, whatever the row says. */
static inline med_units
med_object_units(med_object *object, const atomic32 *limit, uint32_t sharers)
{
    uint32_t count = atomic32_load_relaxed(limit); /* relaxed: fixed at creation */
    return (med_units){.words = med_object_units_at(object),
                       .count = count < sharers ? count : sharers,
                       .lines = med_units_lines(sharers)};
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Around a wait: what it waits for is shown, and that it slept is counted, for the object in
 * `slept`; the trace is told. What begin returns is end's, which is given how the wait ended. */
uint32_t med_object_wait_begin(med_self *self, med_handle handle);
void med_object_wait_end(med_self *self, uint32_t begun, medley_status_t status, atomic32 *slept);
/* As end, but what it waits for is shown until the caller says otherwise. */
void med_object_wait_told(med_self *self, uint32_t begun, medley_status_t status, atomic32 *slept);

#endif
