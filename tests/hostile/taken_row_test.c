/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows in use of which others say otherwise: a word or two written over. */
#include <pthread.h>

#include "hostile.h"
#include "mrapi/shmem_mapping.h"
#include "mrapi/system.h"
#include "support/process.h"

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

/* The row says that the caller's node has it attached. */
static void
row_seems_attached(mrapi_shmem_hndl_t shmem)
{
    const med_self *self = med_self_get();
    med_shmem_row *row = med_shmem_row_at(self->system, med_handle_index(shmem));
    atomic32 *bits = (atomic32 *)(void *)(row + 1);
    (void)atomic32_fetch_or_relaxed(&bits[self->index / 32], 1u << self->index % 32);
}

typedef struct second_node {
    mrapi_shmem_hndl_t shmem;
    bool detaches; /* else it only leaves */
    mrapi_status_t detached;
    mrapi_status_t left;
} second_node;

/* It has had it attached, so that whoever tidies up after it looks there. */
static void *
second_node_runs(void *argument)
{
    second_node *second = argument;
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, 2, 0, &info, &status);
    (void)mrapi_shmem_attach(second->shmem, &status);
    mrapi_shmem_detach(second->shmem, &status);
    row_seems_attached(second->shmem);
    if (second->detaches) {
        mrapi_shmem_detach(second->shmem, &second->detached);
    }
    mrapi_finalize(&second->left);
    return NULL;
}

static void
memory_of_another_node_stays(bool detaches, mrapi_status_t expected)
{
    mrapi_status_t status;
    pthread_t thread;
    second_node second = {.detaches = detaches, .detached = MRAPI_SUCCESS};
    second.shmem = mrapi_shmem_create(1, SIZE_BYTES, NULL, 0, NULL, 0, &status);
    volatile unsigned char *bytes = mrapi_shmem_attach(second.shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    bytes[0] = 7;
    assert_int_equal(pthread_create(&thread, NULL, second_node_runs, &second), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(second.detached, expected);
    assert_int_equal(second.left, MRAPI_SUCCESS);
    assert_int_equal(bytes[0], 7);
    mrapi_shmem_detach(second.shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_shmem_delete(second.shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
detach_of_what_was_not_attached(void **state)
{
    (void)state;
    memory_of_another_node_stays(true, MRAPI_ERR_SHM_NOTATTACHED);
}

static void
leaving_what_was_not_attached(void **state)
{
    (void)state;
    memory_of_another_node_stays(false, MRAPI_SUCCESS);
}

/* ---- Taken for one that is gone -------------------------------------------------------------- */

static pthread_barrier_t both_there;

/* Has memory in use that no other node of the process has. */
static void *
user_runs(void *argument)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, 2, 0, &info, &status);
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(1, SIZE_BYTES, NULL, 0, NULL, 0, &status);
    volatile unsigned char *bytes = mrapi_shmem_attach(shmem, &status);
    child_expect(status == MRAPI_SUCCESS);
    bytes[0] = 7;
    *(med_node_row **)argument = med_self_get()->row;
    (void)pthread_barrier_wait(&both_there);
    (void)pthread_barrier_wait(&both_there);
    child_expect(bytes[0] == 7);
    return NULL;
}

/* Finishes first what others left undone. */
static void *
newcomer_runs(void *argument)
{
    mrapi_info_t info;
    mrapi_initialize(DOMAIN, 4, 0, &info, argument);
    return NULL;
}

/* Its process died, as did who was about it, and its own process finds that: it knows better. */
static void
process_seems_dead(med_node_row *row)
{
    med_system *system = med_self_get()->system;
    uint32_t nobody = system->limits.processes - 1;
    uint32_t generation = med_process_ref_generation(system->process_ref);
    (void)row;
    atomic32_store_relaxed(&med_system_process(system, system->process_index)->state,
                           med_process_word(MED_PROCESS_RECOVERING, nobody, generation));
    child_expect(!med_process_recover(system, system->process_index));
}

/* It left while a table was locked, as another of its process did. */
static void
node_seems_to_have_left(med_node_row *row)
{
    atomic32_store_relaxed(&row->phase, MED_NODE_LEFT);
    atomic32_store_relaxed(&med_self_get()->system->leaves_undone, 1);
}

static int
node_is_taken_for_gone(test_process *parent, void *argument)
{
    void (**scribble)(med_node_row * row) = argument;
    mrapi_status_t status;
    mrapi_info_t info;
    pthread_t user, newcomer;
    med_node_row *row;
    (void)parent;
    (void)alarm(STUCK_AFTER_S);
    (void)pthread_barrier_init(&both_there, NULL, 2);
    mrapi_initialize(DOMAIN, 3, 0, &info, &status);
    child_expect(status == MRAPI_SUCCESS);
    child_expect(pthread_create(&user, NULL, user_runs, &row) == 0);
    (void)pthread_barrier_wait(&both_there);
    (*scribble)(row);
    child_expect(pthread_create(&newcomer, NULL, newcomer_runs, &status) == 0);
    child_expect(pthread_join(newcomer, NULL) == 0 && status == MRAPI_SUCCESS);
    (void)pthread_barrier_wait(&both_there);
    child_expect(pthread_join(user, NULL) == 0);
    return 0;
}

/* It keeps the memory that it uses. */
static void
memory_of_the_living_stays(void (*scribble)(med_node_row *row))
{
    test_process child;
    process_start(&child, node_is_taken_for_gone, &scribble);
    assert_int_equal(process_join(&child), 0);
}

static void
memory_of_one_in_a_process_that_seems_dead(void **state)
{
    (void)state;
    memory_of_the_living_stays(process_seems_dead);
}

static void
memory_of_one_that_seems_to_have_left(void **state)
{
    (void)state;
    memory_of_the_living_stays(node_seems_to_have_left);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_in_use_stays, hostile_node_up, hostile_node_down),
        cmocka_unit_test_setup_teardown(detach_of_what_was_not_attached, hostile_node_up,
                                        hostile_node_down),
        cmocka_unit_test_setup_teardown(leaving_what_was_not_attached, hostile_node_up,
                                        hostile_node_down),
        cmocka_unit_test_setup_teardown(memory_of_one_in_a_process_that_seems_dead, hostile_node_up,
                                        hostile_node_down),
        cmocka_unit_test_setup_teardown(memory_of_one_that_seems_to_have_left, hostile_node_up,
                                        hostile_node_down),
    };
    hostile_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
