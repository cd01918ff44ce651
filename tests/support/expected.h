/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expected nodes, whose places only images make, and nobody takes away again: tests do. */
#ifndef MEDLEY_TESTS_SUPPORT_EXPECTED_H
#define MEDLEY_TESTS_SUPPORT_EXPECTED_H

#include "mrapi/node.h"
#include "mrapi/system.h"

/* Is that node expected? Then it is so no more. */
static inline bool
expect_no_more(med_system *system, uint32_t domain, uint32_t node)
{
    uint32_t index, generation;
    med_key key = {.high = domain, .low = node};
    return med_table_find(&system->nodes, key, &index, &generation) == MEDLEY_OK &&
           med_node_is_expected(med_system_node(system, index)) &&
           med_table_remove(&system->nodes, index, generation) == MEDLEY_OK;
}

#endif
