/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Domains. What may run together: everything, by any nodes. Rows come and go, and are counted in,
 * under the table's lock.
 *
 * Who joins a domain is counted before he makes his node. If that comes to nothing he is no longer
 * counted, and the last of them takes the row back; so any number who are refused at once leave
 * nothing behind. If the node comes, he says in the row that it is kept, without the lock: being
 * counted, he keeps it there meanwhile, and stays counted. A row that is kept is never removed:
 * once seen so it need not be looked at again. Who dies in between, or cannot have the lock, leaves
 * it there, for the next.
 */
#include "mrapi/domain.h"

#include "mrapi/system.h"
#include "port/port.h"

static inline med_domain_row *
domain_of(med_row *row)
{
    return (med_domain_row *)(void *)row;
}

/* Relaxed, all: published with the row (T1). */
static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)index;
    (void)generation;
    (void)context;
    atomic32_store_relaxed(&domain_of(row)->isa, med_port_isa());
    atomic32_store_relaxed(&domain_of(row)->kept, 0);
    atomic32_store_relaxed(&domain_of(row)->joining, 1);
}

/* Relaxed: it says of which life it is true, and that one does not end. */
static bool
is_kept(med_row *row, uint32_t generation)
{
    return atomic32_load_relaxed(&domain_of(row)->kept) == med_row_word(MED_ROW_LIVE, generation);
}

/* Relaxed, both: under the lock. */
static medley_status_t
count_in(med_row *row, uint32_t index, void *context)
{
    atomic32 *joining = &domain_of(row)->joining;
    (void)index;
    (void)context;
    atomic32_store_relaxed(joining, atomic32_load_relaxed(joining) + 1);
    return MEDLEY_OK;
}

/* MEDLEY_ERR_STALE: it went before. */
static medley_status_t
join_there(const med_table_view *domains, uint32_t index, uint32_t generation)
{
    return is_kept(med_table_row(domains, index), generation)
               ? MEDLEY_OK
               : med_table_act(domains, index, generation, count_in, NULL);
}

static medley_status_t
find(const med_system *system, uint32_t domain, uint32_t *index, uint32_t *generation)
{
    const med_key key = {.high = 0, .low = domain};
    return med_table_find(&system->domains, key, index, generation);
}

medley_status_t
med_domain_join(struct med_system *system, uint32_t domain)
{
    med_table_insertion insertion = {.key = {.high = 0, .low = domain}, .fill = fill};
    medley_status_t status = MEDLEY_ERR_EXISTS;
    while (status == MEDLEY_ERR_EXISTS || status == MEDLEY_ERR_STALE) {
        uint32_t index, generation;
        status = find(system, domain, &index, &generation);
        status = status == MEDLEY_OK ? join_there(&system->domains, index, generation)
                                     : med_table_insert(&system->domains, &insertion);
    }
    if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&system->limits, MED_LIMIT_DOMAINS);
    }
    return status;
}

void
med_domain_keep(struct med_system *system, uint32_t domain)
{
    uint32_t index, generation;
    if (find(system, domain, &index, &generation) == MEDLEY_OK) {
        med_row *row = med_table_row(&system->domains, index);
        if (!is_kept(row, generation)) {
            /* Relaxed: nothing else is told by it. */
            atomic32_store_relaxed(&domain_of(row)->kept, med_row_word(MED_ROW_LIVE, generation));
        }
    }
}

/* Counts the caller out. Relaxed, all: under the lock. */
static medley_status_t
may_go(med_row *row, uint32_t index, void *context)
{
    atomic32 *joining = &domain_of(row)->joining;
    uint32_t others = atomic32_load_relaxed(joining) - 1;
    (void)index;
    (void)context;
    if (is_kept(row, med_row_generation_of(atomic32_load_relaxed(&row->state)))) {
        return MEDLEY_BUSY;
    }
    atomic32_store_relaxed(joining, others);
    return others ? MEDLEY_BUSY : MEDLEY_OK;
}

void
med_domain_leave(struct med_system *system, uint32_t domain)
{
    uint32_t index, generation;
    if (find(system, domain, &index, &generation) == MEDLEY_OK) {
        (void)med_table_remove_if(&system->domains, index, generation, may_go, NULL);
    }
}
