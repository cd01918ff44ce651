/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Domains. What may run together: everything, by any nodes; whatever is written is so under the
 * table's lock.
 *
 * Who joins a domain that is there says in its row that it is kept, before he makes his node. Who
 * made it, and then no node, takes back only what nobody else relies on. Who dies in between leaves
 * it there, for the next. A row that is kept is never removed: once seen so it need not be looked
 * at again.
 */
#include "mrapi/domain.h"

#include "mrapi/system.h"
#include "port/port.h"

static inline med_domain_row *
domain_of(med_row *row)
{
    return (med_domain_row *)(void *)row;
}

/* Relaxed, both: published with the row (T1). */
static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)index;
    (void)generation;
    (void)context;
    atomic32_store_relaxed(&domain_of(row)->isa, med_port_isa());
    atomic32_store_relaxed(&domain_of(row)->kept, 0);
}

/* Relaxed: it says of which life it is true, and that one does not end. */
static bool
is_kept(med_row *row, uint32_t generation)
{
    return atomic32_load_relaxed(&domain_of(row)->kept) == med_row_word(MED_ROW_LIVE, generation);
}

/* Relaxed, both: under the lock. */
static medley_status_t
keep_locked(med_row *row, uint32_t index, void *context)
{
    (void)index;
    (void)context;
    atomic32_store_relaxed(&domain_of(row)->kept, atomic32_load_relaxed(&row->state));
    return MEDLEY_OK;
}

/* MEDLEY_ERR_STALE: it went before. */
static medley_status_t
keep(const med_table_view *domains, uint32_t index, uint32_t generation)
{
    return is_kept(med_table_row(domains, index), generation)
               ? MEDLEY_OK
               : med_table_act(domains, index, generation, keep_locked, NULL);
}

medley_status_t
med_domain_join(struct med_system *system, uint32_t domain)
{
    const med_table_view *domains = &system->domains;
    med_table_insertion insertion = {.key = {.high = 0, .low = domain}, .fill = fill};
    medley_status_t status = MEDLEY_ERR_EXISTS;
    while (status == MEDLEY_ERR_EXISTS || status == MEDLEY_ERR_STALE) {
        uint32_t index, generation;
        status = med_table_find(domains, insertion.key, &index, &generation);
        status = status == MEDLEY_OK ? keep(domains, index, generation)
                                     : med_table_insert(domains, &insertion);
    }
    if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&system->limits, MED_LIMIT_DOMAINS);
    }
    return status;
}

static medley_status_t
may_go(med_row *row, uint32_t index, void *context)
{
    (void)index;
    (void)context;
    uint32_t word = atomic32_load_relaxed(&row->state); /* relaxed: under the lock */
    return is_kept(row, med_row_generation_of(word)) ? MEDLEY_BUSY : MEDLEY_OK;
}

void
med_domain_leave(struct med_system *system, uint32_t domain)
{
    uint32_t index, generation;
    const med_key key = {.high = 0, .low = domain};
    if (med_table_find(&system->domains, key, &index, &generation) == MEDLEY_OK) {
        /* Where it cannot be removed, it stays, as one whose maker died. */
        (void)med_table_remove_if(&system->domains, index, generation, may_go, NULL);
    }
}
