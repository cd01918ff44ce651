/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Objects, as a row of a table: table.c says what may run together. What is taken of an object (a
 * lock, a unit) is taken between two looks at its handle: if the object was deleted, and perhaps
 * made anew, between the first look and the compare-and-swap, what was taken is somebody else's
 * and is given back. So a look before and one after replace a lock around the table.
 */
#include "mrapi/object.h"

#include "mrapi/system.h"
#include "mrapi/traced.h"

#define LOOK_INTERVAL_NS 1000000u
#define LOOK_AT_ALL_INTERVAL_NS 100000000u

/* ---- Create and find ------------------------------------------------------------------------- */

typedef struct fill_context {
    const med_object_request *request;
    uint32_t domain;
} fill_context;

/* Relaxed but for the attributes: published with the row (T1 in table.c), or by what `fill` stores
 * last. */
static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    const fill_context *wanted = context;
    med_object *object = (med_object *)(void *)row;
    (void)index;
    (void)generation;
    /* R5 life over -> A5 (attributes_get): who reads them by an old handle sees that it is old. */
    atomic32_store_release(&object->attributes, wanted->request->attributes);
    atomic32_store_relaxed(&object->domain, wanted->domain);
    wanted->request->fill(object, wanted->request->context);
}

medley_status_t
med_object_create(med_self *self,
                  const med_object_request *request,
                  uint32_t *index,
                  uint32_t *generation)
{
    med_system *system = self->system;
    const med_table_view *table = &system->tables[request->kind];
    fill_context context = {.request = request, .domain = self->domain};
    bool any = request->number == MED_OBJECT_ANY;
    med_table_insertion insertion = {
        .key = {.low = any ? MED_OBJECT_USER_MAX + 1 : request->number},
        .any = any,
        .fill = fill,
        .context = &context,
    };
    medley_status_t status = med_table_insert(table, &insertion);
    if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&system->limits, med_kinds[request->kind].limit);
    }
    if (status == MEDLEY_OK) {
        *index = insertion.index;
        *generation = insertion.generation;
        med_traced(system, self->ref, MED_TRACED_CREATED, (uint32_t)request->kind,
                   insertion.key.low);
    }
    return status;
}

medley_status_t
med_object_find(
    med_self *self, med_kind kind, uint32_t number, uint32_t *index, uint32_t *generation)
{
    const med_table_view *table = &self->system->tables[kind];
    med_key key = {.high = 0, .low = number};
    medley_status_t status = med_table_find(table, key, index, generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    const med_object *object = (const med_object *)(void *)med_table_row(table, *index);
    /* Relaxed, both: fixed at creation. */
    bool shared = med_object_attributes(object) & MED_OBJECT_DOMAIN_SHARED;
    return shared || atomic32_load_relaxed(&object->domain) == self->domain ? MEDLEY_OK
                                                                            : MEDLEY_ERR_ACCESS;
}

medley_status_t
med_object_make(med_self *self,
                const med_object_request *request,
                med_handle_kind sort,
                med_handle *handle)
{
    uint32_t index, generation;
    medley_status_t status = med_object_create(self, request, &index, &generation);
    if (status == MEDLEY_OK) {
        *handle = med_handle_make(sort, index, generation);
    }
    return status;
}

medley_status_t
med_object_get(
    med_self *self, med_kind kind, med_handle_kind sort, uint32_t number, med_handle *handle)
{
    uint32_t index, generation;
    medley_status_t status = med_object_find(self, kind, number, &index, &generation);
    if (status == MEDLEY_OK) {
        *handle = med_handle_make(sort, index, generation);
    }
    return status;
}

/* ---- Units ----------------------------------------------------------------------------------- */

uint32_t
med_object_shared_row_bytes(const med_limits *limits)
{
    size_t line_bytes = MED_UNITS_OF_LINE * sizeof(med_lock);
    return (uint32_t)(MED_OBJECT_SHARED_HEAD_BYTES + med_units_lines(limits->sharers) * line_bytes);
}

void
med_object_units_fill(med_object *object, uint32_t sharers)
{
    med_lock *units = med_object_units_at(object);
    for (uint32_t i = 0; i < med_units_lines(sharers) * MED_UNITS_OF_LINE; i++) {
        /* R1 free -> A1 (units.c, units.h): who takes one by an old handle sees the new life. */
        atomic32_store_release(&units[i].word, 0);
    }
}

/* ---- Handles --------------------------------------------------------------------------------- */

medley_status_t
med_object_check(const med_object *object, med_handle handle)
{
    uint32_t word = atomic32_load_acquire(&object->row.state); /* A1 live <- T1 (table.c) */
    if (__builtin_expect(med_handle_is_current(handle, word), 1)) {
        return MEDLEY_OK;
    }
    uint32_t life = med_handle_generation(handle);
    uint32_t row_life = med_row_generation_of(word) & MED_HANDLE_GENERATION;
    /* On its way out, or out and not yet taken by another: its attributes stay so long. */
    bool just_deleted = med_row_state_of(word) != MED_ROW_LIVE &&
                        (row_life == life || row_life == ((life + 1) & MED_HANDLE_GENERATION));
    return just_deleted && (med_object_attributes(object) & MED_OBJECT_ERROR_EXT)
               ? MEDLEY_ERR_NOT_FOUND
               : MEDLEY_ERR_STALE;
}

medley_status_t
med_object_attributes_get(const med_object *object, med_handle handle, uint32_t *attributes)
{
    uint32_t read = atomic32_load_acquire(&object->attributes); /* A5 life over <- R5 (fill) */
    /* They are of this handle's life if it has not ended: A5 came first. */
    medley_status_t status = med_object_check(object, handle);
    if (status == MEDLEY_OK) {
        *attributes = read;
    }
    return status;
}

medley_status_t
med_object_of(const med_table_view *table,
              med_handle handle,
              med_handle_kind sort,
              med_object **object)
{
    uint32_t index = med_handle_index_of_kind(handle, sort);
    if (index >= table->row_count) {
        return MEDLEY_ERR_ARGUMENT;
    }
    *object = (med_object *)(void *)med_table_row(table, index);
    return med_object_check(*object, handle);
}

medley_status_t
med_object_remove(const med_table_view *table, const med_object *object, med_handle handle)
{
    /* Relaxed: looked at again under the table's lock, or by the check. */
    uint32_t word = atomic32_load_relaxed(&object->row.state);
    if (!med_handle_is_current(handle, word)) {
        return med_object_check(object, handle);
    }
    uint32_t number = med_traced_word(&object->row.key_low);
    medley_status_t status =
        med_table_remove(table, med_handle_index(handle), med_row_generation_of(word));
    if (status == MEDLEY_OK) {
        const med_system *system = table->context;
        med_traced_by_caller(system, MED_TRACED_DELETED, (uint32_t)(table - system->tables),
                             number);
    }
    return status;
}

/* ---- Trying and waiting ---------------------------------------------------------------------- */

static bool
due(uint64_t *next_ns, uint64_t interval_ns)
{
    uint64_t now_ns = med_port_clock_ns();
    if (now_ns < *next_ns) {
        return false;
    }
    *next_ns = now_ns + interval_ns;
    return true;
}

bool
med_object_due(uint64_t *next_ns)
{
    return due(next_ns, LOOK_INTERVAL_NS);
}

bool
med_object_look_due(med_self *self)
{
    if (!med_object_due(&self->next_look_ns)) {
        return false;
    }
    /* Who tries several things in turn may find it due at one of them always. */
    if (med_port_has_processes() && due(&self->next_look_at_all_ns, LOOK_AT_ALL_INTERVAL_NS)) {
        (void)med_process_recover_all(self->system);
    }
    return true;
}

uint32_t
med_object_wait_begin(med_self *self, med_handle handle)
{
    atomic32_store_relaxed(&self->row->waiting_for, handle); /* relaxed: for showing */
    med_traced(self->system, self->ref, MED_TRACED_LOCK_WAITS, handle, 0);
    return self->waiter.sleeps;
}

void
med_object_wait_told(med_self *self, uint32_t begun, medley_status_t status, atomic32 *slept)
{
    bool had = status == MEDLEY_OK || status == MEDLEY_ERR_OWNER_DIED;
    /* Relaxed, all: for showing. */
    med_traced(self->system, self->ref, had ? MED_TRACED_LOCK_HAD : MED_TRACED_LOCK_MISSED,
               med_traced_word(&self->row->waiting_for), self->waiter.sleeps - begun);
    if (self->waiter.sleeps != begun) {
        atomic32_store_relaxed(&self->row->sleeps, self->waiter.sleeps);
        (void)atomic32_fetch_add_relaxed(slept, 1);
    }
}

void
med_object_wait_end(med_self *self, uint32_t begun, medley_status_t status, atomic32 *slept)
{
    med_object_wait_told(self, begun, status, slept);
    atomic32_store_relaxed(&self->row->waiting_for, 0); /* relaxed: for showing */
}
