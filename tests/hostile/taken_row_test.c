/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows in use that the table takes for free ones: two words written over. */
#include "hostile.h"
#include "mrapi/shmem_mapping.h"
#include "mrapi/system.h"

#define SIZE_BYTES 4096u
#define TOO_LARGE_TO_BE_KEPT ((1u << 20) + 1)

/* The table gives it out next. */
static void
row_seems_free(const med_table_view *view, uint32_t index)
{
    med_row *row = med_table_row(view, index);
    uint32_t word = atomic32_load_relaxed(&row->state);
    atomic32_store_relaxed(&row->state, med_row_word(MED_ROW_FREE, med_row_generation_of(word)));
    atomic32_store_relaxed(&view->table->fresh, index);
}

/* Who has it attached keeps it, whoever makes another meanwhile. */
static void
memory_in_use_stays(void **state)
{
    static const uint32_t sizes[] = {SIZE_BYTES, TOO_LARGE_TO_BE_KEPT};
    mrapi_status_t status;
    (void)state;
    const med_table_view *shmems = &med_self_get()->system->shmems;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(1, SIZE_BYTES, NULL, 0, NULL, 0, &status);
    volatile unsigned char *bytes = mrapi_shmem_attach(shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bytes[0] = (unsigned char)(i + 1);
        row_seems_free(shmems, med_handle_index(shmem));
        (void)mrapi_shmem_create(2, sizes[i], NULL, 0, NULL, 0, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_INVALID);
        assert_int_equal(bytes[0], i + 1);
        (void)mrapi_shmem_get(2, &status);
        assert_int_equal(status, MRAPI_ERR_SHM_ID_INVALID);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_in_use_stays, hostile_node_up, hostile_node_down),
    };
    hostile_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
