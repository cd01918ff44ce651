/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A state cell for its tests. */
#ifndef MEDLEY_BASE_STATE_CELL_TEST_H
#define MEDLEY_BASE_STATE_CELL_TEST_H

#include <stdlib.h>

#include "base/state_cell.h"
#include "support/unit.h"

static inline void *
make(uint32_t value_bytes, uint32_t buffers, med_state_cell *cell)
{
    size_t size_bytes = med_state_cell_size(value_bytes, buffers);
    void *memory = aligned_alloc(64, size_bytes);
    assert_non_null(memory);
    assert_int_equal(
        med_state_cell_init(memory, size_bytes, value_bytes, buffers, MED_PORT_SCOPE_PROCESS, cell),
        MEDLEY_OK);
    return memory;
}

/* As if all values before had been written already. */
static inline void
jump_to(const med_state_cell *cell, uint32_t number)
{
    med_state_cell_head *head = med_state_cell_head_after(cell, number - 1);
    atomic32_store_relaxed(&head->number, number);
    atomic32_store_relaxed(&head->length, cell->value_bytes);
    atomic32_store_relaxed(&cell->shared->counter, number);
}

#endif
