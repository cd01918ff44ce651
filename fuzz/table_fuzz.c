/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table of each kind that is written over while it is used. */
#include "fuzz.h"
#include "mrapi/domain.h"
#include "mrapi/mutex.h"
#include "mrapi/table.h"

#define ROWS_MAX 24u
#define PROCESS 1u
#define OPERATIONS 64

static medley_status_t
names_nobody(void *context, uint32_t process_ref)
{
    (void)context;
    return process_ref == 0 ? MEDLEY_OK : MEDLEY_ERR_NOT_FOUND;
}

static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)index;
    (void)generation;
    memset(row + 1, 0xa5, *(const uint32_t *)context - sizeof *row);
}

static void
operate(const med_table_view *view, fuzz_input *input)
{
    uint32_t index = 0;
    uint32_t generation = 0;
    uint32_t row_bytes = view->row_bytes;
    med_key key = {.high = fuzz_below(input, 2), .low = fuzz_below(input, 40)};
    uint32_t what = fuzz_below(input, 4);
    med_table_insertion insertion = {
        .key = key, .any = what == 2, .fill = fill, .context = &row_bytes};
    medley_status_t status;
    switch (what) {
    case 0:
        status = med_table_find(view, key, &index, &generation);
        break;
    case 1:
    case 2:
        status = med_table_insert(view, &insertion);
        index = insertion.index;
        break;
    default:
        (void)med_table_remove(view, fuzz_word(input), fuzz_below(input, 4));
        status = MEDLEY_ERR_NOT_FOUND;
        break;
    }
    if (status == MEDLEY_OK && index >= view->row_count) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const uint32_t row_sizes[] = {sizeof(med_domain_row), sizeof(med_mutex_row), 128};
    fuzz_input input = {.bytes = bytes, .left = size};
    uint32_t row_count = 1 + fuzz_below(&input, ROWS_MAX);
    uint32_t kind = fuzz_below(&input, 3);
    med_table_view view = {
        .scope = MED_PORT_SCOPE_PROCESS, .process_ref = PROCESS, .on_slice = names_nobody};
    size_t size_bytes = med_table_size(row_count, row_sizes[kind]);
    void *memory = fuzz_memory(size_bytes);
    med_table_view_init(&view, memory, row_count, row_sizes[kind]);
    med_table_init(&view);
    view.on_remove = kind == 1 ? med_mutex_row_removed : NULL;
    for (int i = 0; i < OPERATIONS && input.left; i++) {
        if (fuzz_take(&input, 1) & 1) {
            fuzz_scribble(&input, memory, size_bytes);
        }
        operate(&view, &input);
    }
    free(memory);
    return 0;
}
