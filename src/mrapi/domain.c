/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "mrapi/domain.h"

#include "mrapi/system.h"
#include "port/port.h"

static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)index;
    (void)generation;
    (void)context;
    /* Relaxed: published with the row (T1). */
    atomic32_store_relaxed(&((med_domain_row *)(void *)row)->isa, med_port_isa());
}

medley_status_t
med_domain_join(struct med_system *system, uint32_t domain)
{
    uint32_t index, generation;
    med_key key = {.high = 0, .low = domain};
    medley_status_t status = med_table_find(&system->domains, key, &index, &generation);
    if (status == MEDLEY_OK) {
        return MEDLEY_OK;
    }
    med_table_insertion insertion = {.key = key, .fill = fill};
    status = med_table_insert(&system->domains, &insertion);
    if (status == MEDLEY_ERR_LIMIT) {
        med_limits_report(&system->limits, MED_LIMIT_DOMAINS);
    }
    return status == MEDLEY_ERR_EXISTS ? MEDLEY_OK : status;
}
