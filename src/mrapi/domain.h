/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Domains: processors that share coherent memory and one instruction set. A row comes with the
 * first node of a domain and stays as long as the system, unless all who joined it came to nothing.
 */
#ifndef MEDLEY_MRAPI_DOMAIN_H
#define MEDLEY_MRAPI_DOMAIN_H

#include "medley/status.h"
#include "mrapi/table.h"

struct med_system;

typedef struct med_domain_row {
    med_row row; /* key: 0, domain number */
    atomic32 isa;
    atomic32 kept;    /* the state word of the life in which a node came: that one stays */
    atomic32 joining; /* until then: who joined and did not leave it; under the table's lock */
    uint32_t unused[9];
} med_domain_row;
_Static_assert(sizeof(med_domain_row) == 64, "one line");

/* Makes sure that the domain is there, and stays until the caller leaves it. MEDLEY_ERR_LIMIT;
 * MEDLEY_TIMEOUT: another has a table locked and does not go on. */
medley_status_t med_domain_join(struct med_system *system, uint32_t domain);
/* The node for which it was joined has come. */
void med_domain_keep(struct med_system *system, uint32_t domain);
/* Or has come to nothing. */
void med_domain_leave(struct med_system *system, uint32_t domain);

#endif
