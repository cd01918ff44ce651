/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table by itself: find, insert, remove, generations, repair after a holder's death, concurrency.
 */
#include <stdlib.h>
#include <string.h>

#include "mrapi/table.h"
#include "port/port.h"
#include "support/unit.h"

#define ROWS 24u
#define PROCESS 1u

typedef struct test_row {
    med_row row;
    atomic32 body; /* fill writes the key's low word here */
    uint32_t unused[3];
} test_row;

static med_table_view
table_make(void)
{
    med_table_view view = {.scope = MED_PORT_SCOPE_PROCESS, .process_ref = PROCESS};
    void *memory = NULL;
    assert_int_equal(med_port_memory_map(med_table_size(ROWS, sizeof(test_row)), &memory),
                     MEDLEY_OK);
    med_table_view_init(&view, memory, ROWS, sizeof(test_row));
    med_table_init(&view);
    return view;
}

static void
table_free(const med_table_view *view)
{
    med_port_memory_unmap(view->table, med_table_size(ROWS, sizeof(test_row)));
}

static void
fill(med_row *row, uint32_t index, uint32_t generation, void *context)
{
    (void)index;
    (void)generation;
    atomic32_store_relaxed(&((test_row *)(void *)row)->body, *(const uint32_t *)context);
}

static medley_status_t
insert(const med_table_view *view, uint32_t low, uint32_t *index, uint32_t *generation)
{
    med_table_insertion insertion = {.key = {1, low}, .fill = fill, .context = &low};
    medley_status_t status = med_table_insert(view, &insertion);
    *index = insertion.index;
    *generation = insertion.generation;
    return status;
}

static medley_status_t
find(const med_table_view *view, uint32_t low)
{
    uint32_t index, generation;
    return med_table_find(view, (med_key){1, low}, &index, &generation);
}

static void
insert_find_remove(void **state)
{
    med_table_view view = table_make();
    uint32_t index[ROWS], generation[ROWS], other, other_generation;
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(find(&view, i), MEDLEY_ERR_NOT_FOUND);
        assert_int_equal(insert(&view, i, &index[i], &generation[i]), MEDLEY_OK);
        assert_int_equal(insert(&view, i, &other, &other_generation), MEDLEY_ERR_EXISTS);
        assert_int_equal(other, index[i]);
    }
    assert_int_equal(insert(&view, ROWS, &other, &other_generation), MEDLEY_ERR_LIMIT);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(find(&view, i), MEDLEY_OK);
        assert_int_equal(med_table_remove(&view, index[i], generation[i] + 1), MEDLEY_ERR_STALE);
        assert_int_equal(med_table_remove(&view, index[i], generation[i]), MEDLEY_OK);
        assert_int_equal(med_table_remove(&view, index[i], generation[i]), MEDLEY_ERR_STALE);
        assert_int_equal(find(&view, i), MEDLEY_ERR_NOT_FOUND);
    }
    assert_int_equal(med_table_remove(&view, ROWS, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(atomic32_load_relaxed(&view.table->used), 0);
    assert_int_equal(atomic32_load_relaxed(&view.table->high_water), ROWS);
    table_free(&view);
}

static void
any_key_is_nobody_elses(void **state)
{
    med_table_view view = table_make();
    uint32_t index, generation, body = 0;
    (void)state;
    /* A user sits where the first of the ANY keys would be. */
    assert_int_equal(insert(&view, 100, &index, &generation), MEDLEY_OK);
    assert_int_equal(insert(&view, 101, &index, &generation), MEDLEY_OK);
    for (uint32_t i = 0; i < ROWS - 2; i++) {
        med_table_insertion any = {.key = {1, 100}, .any = true, .fill = fill, .context = &body};
        assert_int_equal(med_table_insert(&view, &any), MEDLEY_OK);
        assert_true(any.key.low > 101);
        assert_int_equal(med_table_find(&view, any.key, &index, &generation), MEDLEY_OK);
        assert_int_equal(index, any.index);
    }
    med_table_insertion any = {.key = {1, 100}, .any = true, .fill = fill, .context = &body};
    assert_int_equal(med_table_insert(&view, &any), MEDLEY_ERR_LIMIT);
    assert_int_equal(any.key.low, 100);
    table_free(&view);
}

/* In a full table: under the same key, or another. What is refused changes nothing; where the one
 * to replace has gone meanwhile, it is an insertion as any, or none. */
static void
one_replaces_another(void **state)
{
    med_table_view view = table_make();
    uint32_t index[ROWS], generation[ROWS], body = 7;
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(insert(&view, i, &index[i], &generation[i]), MEDLEY_OK);
    }
    med_table_insertion same = {.key = {1, 5}, .fill = fill, .context = &body};
    assert_int_equal(med_table_insert(&view, &same), MEDLEY_ERR_EXISTS);
    assert_true(same.index == index[5] && same.generation == generation[5]);
    same.replaces = true;
    assert_int_equal(med_table_insert(&view, &same), MEDLEY_OK);
    assert_true(same.replaces);
    assert_int_equal(find(&view, 5), MEDLEY_OK);
    assert_int_equal(med_table_remove(&view, index[5], generation[5]), MEDLEY_ERR_STALE);
    med_table_insertion other = {.key = {1, 6},
                                 .replaces = true,
                                 .index = same.index,
                                 .generation = same.generation,
                                 .fill = fill,
                                 .context = &body};
    assert_int_equal(med_table_insert(&view, &other), MEDLEY_ERR_EXISTS);
    assert_true(other.index == index[6] && other.generation == generation[6]);
    assert_int_equal(find(&view, 5), MEDLEY_OK);
    other = (med_table_insertion){.key = {1, 100},
                                  .replaces = true,
                                  .index = same.index,
                                  .generation = same.generation,
                                  .fill = fill,
                                  .context = &body};
    med_table_insertion late = other;
    assert_int_equal(med_table_insert(&view, &other), MEDLEY_OK);
    assert_int_equal(find(&view, 5), MEDLEY_ERR_NOT_FOUND);
    assert_int_equal(find(&view, 100), MEDLEY_OK);
    late.key.low = 101;
    assert_int_equal(med_table_insert(&view, &late), MEDLEY_ERR_LIMIT);
    assert_int_equal(med_table_remove(&view, index[0], generation[0]), MEDLEY_OK);
    late.only_replaces = true;
    assert_int_equal(med_table_insert(&view, &late), MEDLEY_ERR_STALE);
    late.only_replaces = false;
    assert_int_equal(med_table_insert(&view, &late), MEDLEY_OK);
    assert_false(late.replaces);
    assert_int_equal(find(&view, 100), MEDLEY_OK);
    assert_int_equal(atomic32_load_relaxed(&view.table->used), ROWS);
    table_free(&view);
}

static void
generations_wrap(void **state)
{
    med_table_view view = table_make();
    uint32_t index, generation;
    (void)state;
    /* Every row just below the wrap. */
    for (uint32_t i = 0; i < ROWS; i++) {
        atomic32_store_relaxed(&med_table_row(&view, i)->state, med_row_word(MED_ROW_FREE, 0xfffe));
    }
    for (uint32_t i = 0; i < ROWS * 4; i++) {
        assert_int_equal(insert(&view, i, &index, &generation), MEDLEY_OK);
        assert_int_equal(generation, (0xfffe + i / ROWS) & 0xffff);
        assert_int_equal(find(&view, i), MEDLEY_OK);
        assert_int_equal(med_table_remove(&view, index, generation), MEDLEY_OK);
    }
    table_free(&view);
}

/* The rows that are passed on the way to the end of the longest chain. */
static uint32_t
longest_chain(const med_table_view *view)
{
    uint32_t longest = 0;
    for (uint32_t chain = 0; chain <= view->hash_mask; chain++) {
        uint32_t length = 0;
        for (uint32_t at = atomic32_load_relaxed(&view->hash[chain]); at; length++) {
            assert_true(at <= ROWS && length < ROWS);
            at = atomic32_load_relaxed(&med_table_row(view, at - 1)->next);
        }
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* However many come and go while the table stays full, no search gets longer; and the hash ends as
 * empty as it began. */
static void
chains_do_not_grow(void **state)
{
    med_table_view view = table_make();
    uint32_t index[ROWS], generation[ROWS];
    (void)state;
    for (uint32_t i = 0; i < 1000 * ROWS; i++) {
        if (i >= ROWS) {
            uint32_t oldest = i % ROWS;
            assert_int_equal(med_table_remove(&view, index[oldest], generation[oldest]), MEDLEY_OK);
        }
        assert_int_equal(insert(&view, i, &index[i % ROWS], &generation[i % ROWS]), MEDLEY_OK);
        assert_in_range(longest_chain(&view), 1, 8);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(med_table_remove(&view, index[i], generation[i]), MEDLEY_OK);
    }
    assert_int_equal(longest_chain(&view), 0);
    table_free(&view);
}

/* Keys that lie in one chain: each goes, from the front, the middle and the end of it. */
static void
one_chain_loses_any(void **state)
{
    med_table_view view = table_make();
    uint32_t low[4], index[4], generation[4], count = 0;
    (void)state;
    for (uint32_t key = 0; count < 4; key++) {
        assert_int_equal(insert(&view, key, &index[count], &generation[count]), MEDLEY_OK);
        low[count] = key;
        if (longest_chain(&view) == count + 1) {
            count++;
        } else {
            assert_int_equal(med_table_remove(&view, index[count], generation[count]), MEDLEY_OK);
        }
    }
    for (uint32_t gone = 0; gone < 4; gone++) {
        assert_int_equal(med_table_remove(&view, index[gone], generation[gone]), MEDLEY_OK);
        assert_int_equal(longest_chain(&view), 3);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(find(&view, low[i]), i == gone ? MEDLEY_ERR_NOT_FOUND : MEDLEY_OK);
        }
        assert_int_equal(insert(&view, low[gone], &index[gone], &generation[gone]), MEDLEY_OK);
    }
    table_free(&view);
}

/* ---- Death of the lock's holder -------------------------------------------------------------- */

static uint32_t removed_rows;

static void
count_removed(const med_table_view *view, med_row *row)
{
    (void)view;
    (void)row;
    removed_rows++;
}

static void
holder_dies(const med_table_view *view)
{
    atomic32_store_relaxed(&view->table->lock.word, 77);
    assert_true(
        med_lock_recover(&view->table->lock, &view->table->sleepers, 77, true, view->scope));
}

static void
repair_undoes_what_was_under_way(void **state)
{
    med_table_view view = table_make();
    uint32_t index[4], generation[4], other, life;
    (void)state;
    view.on_remove = count_removed;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(insert(&view, i, &index[i], &generation[i]), MEDLEY_OK);
    }
    /* 0: died creating it. 1: died removing it. 2: died before it was in its chain. */
    atomic32_store_relaxed(&med_table_row(&view, index[0])->state,
                           med_row_word(MED_ROW_CREATING, generation[0]));
    atomic32_store_relaxed(&med_table_row(&view, index[1])->state,
                           med_row_word(MED_ROW_REMOVING, generation[1]));
    for (uint32_t chain = 0; chain <= view.hash_mask; chain++) {
        if (atomic32_load_relaxed(&view.hash[chain]) == index[2] + 1) {
            atomic32_store_relaxed(&view.hash[chain], 0);
        }
    }
    atomic32_store_relaxed(&view.table->free_head, 3); /* and in the middle of the free list */
    atomic32_store_relaxed(&view.table->free_tail, 0);
    assert_int_equal(find(&view, 2), MEDLEY_ERR_NOT_FOUND);
    holder_dies(&view);
    removed_rows = 0;
    assert_int_equal(insert(&view, 50, &other, &life), MEDLEY_OK);
    assert_int_equal(removed_rows, 2);
    assert_int_equal(find(&view, 0), MEDLEY_ERR_NOT_FOUND);
    assert_int_equal(find(&view, 1), MEDLEY_ERR_NOT_FOUND);
    assert_int_equal(find(&view, 2), MEDLEY_OK);
    assert_int_equal(find(&view, 3), MEDLEY_OK);
    assert_int_equal(atomic32_load_relaxed(&view.table->used), 3);
    for (uint32_t i = 0; i < ROWS - 3; i++) { /* no row was lost */
        assert_int_equal(insert(&view, 100 + i, &other, &life), MEDLEY_OK);
    }
    assert_int_equal(insert(&view, 99, &other, &life), MEDLEY_ERR_LIMIT);
    table_free(&view);
}

static void
scribbled_lists_lead_nowhere(void **state)
{
    med_table_view view = table_make();
    uint32_t index[ROWS], generation[ROWS], other, life;
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(insert(&view, i, &index[i], &generation[i]), MEDLEY_OK);
    }
    assert_int_equal(med_table_remove(&view, index[5], generation[5]), MEDLEY_OK);
    atomic32_store_relaxed(&view.table->free_head, index[7] + 1); /* a row in use */
    assert_int_equal(insert(&view, 200, &other, &life), MEDLEY_OK);
    assert_int_equal(other, index[5]);
    assert_int_equal(find(&view, 7), MEDLEY_OK);
    /* That a row is free is seen though the front says that none is. */
    assert_int_equal(med_table_remove(&view, index[7], generation[7]), MEDLEY_OK);
    atomic32_store_relaxed(&view.table->free_head, 0);
    assert_int_equal(insert(&view, 202, &other, &life), MEDLEY_OK);
    assert_int_equal(other, index[7]);
    atomic32_store_relaxed(&view.table->free_head, 0xdeadbeef);
    assert_int_equal(insert(&view, 201, &other, &life), MEDLEY_ERR_LIMIT);
    table_free(&view);
}

/* Every row is found all the same, and after the next repair by its chain. */
static void
scribbled_chains_are_mended(void **state)
{
    static const uint32_t scribbles[] = {0, 1, 5, ROWS, ROWS + 1, UINT32_MAX};
    uint32_t index[ROWS], generation[ROWS], other, life;
    (void)state;
    for (uint32_t n = 0; n < 2 * sizeof scribbles / sizeof scribbles[0]; n++) {
        med_table_view view = table_make();
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_int_equal(insert(&view, i, &index[i], &generation[i]), MEDLEY_OK);
            atomic32_store_relaxed(&med_table_row(&view, index[i])->next, scribbles[n / 2]);
        }
        for (uint32_t chain = 0; n % 2 && chain <= view.hash_mask; chain++) {
            atomic32_store_relaxed(&view.hash[chain], scribbles[n / 2]);
        }
        for (uint32_t i = 0; i < ROWS && scribbles[n / 2]; i++) {
            assert_int_equal(find(&view, i), MEDLEY_OK);
        }
        holder_dies(&view);
        assert_int_equal(med_table_remove(&view, index[7], generation[7]), MEDLEY_OK);
        assert_in_range(longest_chain(&view), 1, 8);
        assert_int_equal(insert(&view, 7, &other, &life), MEDLEY_OK);
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_int_equal(find(&view, i), MEDLEY_OK);
        }
        table_free(&view);
    }
}

/* Nobody died: who removes a row to which nothing leads mends all. */
static void
a_row_in_no_chain_is_removed(void **state)
{
    med_table_view view = table_make();
    uint32_t index[ROWS], generation[ROWS];
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(insert(&view, i, &index[i], &generation[i]), MEDLEY_OK);
    }
    for (uint32_t chain = 0; chain <= view.hash_mask; chain++) {
        atomic32_store_relaxed(&view.hash[chain], 0);
    }
    assert_int_equal(med_table_remove(&view, index[3], generation[3]), MEDLEY_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(find(&view, i), i == 3 ? MEDLEY_ERR_NOT_FOUND : MEDLEY_OK);
    }
    assert_int_equal(atomic32_load_relaxed(&view.table->used), ROWS - 1);
    table_free(&view);
}

/* ---- Together -------------------------------------------------------------------------------- */

#define WORKERS 4
#define WORK 3000

typedef struct worker {
    med_port_thread thread;
    med_table_view view;
    uint32_t number;
    bool right;
} worker;

/* Comes and goes under keys of its own, and always finds what it inserted, never what it removed.
 */
static void *
work(void *argument)
{
    worker *w = argument;
    w->right = true;
    for (uint32_t i = 0; i < WORK && w->right; i++) {
        uint32_t index, generation, low = w->number * 1000000 + i % 7;
        w->right = insert(&w->view, low, &index, &generation) == MEDLEY_OK &&
                   find(&w->view, low) == MEDLEY_OK &&
                   insert(&w->view, low, &index, &generation) == MEDLEY_ERR_EXISTS &&
                   med_table_remove(&w->view, index, generation) == MEDLEY_OK &&
                   find(&w->view, low) == MEDLEY_ERR_NOT_FOUND;
    }
    return NULL;
}

static void
concurrent_comings_and_goings(void **state)
{
    med_table_view view = table_make();
    worker workers[WORKERS];
    uint32_t index, generation;
    (void)state;
    assert_int_equal(insert(&view, 42, &index, &generation), MEDLEY_OK);
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.view = view, .number = i + 1};
        workers[i].view.process_ref = i + 1; /* as if each were a process */
        assert_int_equal(med_port_thread_start(&workers[i].thread, NULL, work, &workers[i]),
                         MEDLEY_OK);
    }
    for (uint32_t i = 0; i < WORK; i++) {
        assert_int_equal(find(&view, 42), MEDLEY_OK); /* whatever goes on around it */
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        assert_int_equal(med_port_thread_join(workers[i].thread, NULL), MEDLEY_OK);
        assert_true(workers[i].right);
    }
    assert_int_equal(atomic32_load_relaxed(&view.table->used), 1);
    table_free(&view);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insert_find_remove),
        cmocka_unit_test(any_key_is_nobody_elses),
        cmocka_unit_test(one_replaces_another),
        cmocka_unit_test(generations_wrap),
        cmocka_unit_test(chains_do_not_grow),
        cmocka_unit_test(one_chain_loses_any),
        cmocka_unit_test(repair_undoes_what_was_under_way),
        cmocka_unit_test(scribbled_lists_lead_nowhere),
        cmocka_unit_test(scribbled_chains_are_mended),
        cmocka_unit_test(a_row_in_no_chain_is_removed),
        cmocka_unit_test(concurrent_comings_and_goings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
