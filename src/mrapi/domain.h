/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Domains: processors that share coherent memory and one instruction set. A row comes with the
 * first node of a domain and stays as long as the system, unless that one came to nothing before
 * another joined. */
#ifndef MEDLEY_MRAPI_DOMAIN_H
#define MEDLEY_MRAPI_DOMAIN_H

#include "medley/status.h"
#include "mrapi/table.h"

struct med_system;

typedef struct med_domain_row {
    med_row row; /* key: 0, domain number */
    atomic32 isa;
    atomic32 kept; /* the state word of the life in which a second one joined: that one stays */
    uint32_t unused[10];
} med_domain_row;
_Static_assert(sizeof(med_domain_row) == 64, "one line");

/* Makes sure that the domain is there. MEDLEY_ERR_LIMIT; MEDLEY_TIMEOUT: another has a table locked
 * and does not go on. */
medley_status_t med_domain_join(struct med_system *system, uint32_t domain);
/* By who joined it for a node that it could not make. */
void med_domain_leave(struct med_system *system, uint32_t domain);

#endif
