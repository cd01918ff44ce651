/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Domains: processors that share coherent memory and one instruction set. A row comes with the
 * first node of a domain and stays as long as the system. */
#ifndef MEDLEY_MRAPI_DOMAIN_H
#define MEDLEY_MRAPI_DOMAIN_H

#include "medley/status.h"
#include "mrapi/table.h"

struct med_system;

typedef struct med_domain_row {
    med_row row; /* key: 0, domain number */
    atomic32 isa;
    uint32_t unused[11];
} med_domain_row;
_Static_assert(sizeof(med_domain_row) == 64, "one line");

/* Makes sure that the domain is there. MEDLEY_ERR_LIMIT. */
medley_status_t med_domain_join(struct med_system *system, uint32_t domain);

#endif
