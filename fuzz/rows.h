/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hand that writes over the rows of a table. */
#ifndef MEDLEY_FUZZ_ROWS_H
#define MEDLEY_FUZZ_ROWS_H

#include "fuzz.h"
#include "mrapi/table.h"

/* Anywhere, or a row's life: a plausible lie. */
static inline void
rows_scribble(fuzz_input *input, const med_table_view *table)
{
    if (fuzz_take(input, 1) & 1) {
        med_row *row = med_table_row(table, fuzz_below(input, table->row_count));
        med_row_state state = (med_row_state)fuzz_below(input, 4);
        atomic32_store_relaxed(&row->state, med_row_word(state, fuzz_below(input, 4)));
        return;
    }
    fuzz_scribble(input, table->rows, (size_t)table->row_count * table->row_bytes);
}

#endif
