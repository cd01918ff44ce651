/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows, their order, and where the selection goes. */
#include "tools/medley/top_view.h"

#include <string.h>

#include "support/unit.h"
#include "tools/medley/top_rows.h"

static top_view view;

static json_t *
node(int number, int process, int permille, double sent)
{
    return json_pack("{s:i, s:i, s:n, s:i, s:i, s:i, s:s, s:s, s:i, s:f, s:f, s:n}", "domain", 1,
                     "node", number, "name", "process_id", process, "thread_id", process + number,
                     "process_here", process, "state", "running", "thread_state", "sleeping",
                     "used_permille", permille, "sent_per_second", sent, "received_per_second",
                     sent / 2, "waits");
}

/* Of these nodes; takes the reference. */
static void
show(json_t *nodes)
{
    json_t *lock = json_pack("{s:s, s:i, s:s, s:n, s:i, s:i, s:i, s:i, s:n}", "kind", "mutex",
                             "number", 4, "state", "free", "owner", "held", 0, "limit", 1,
                             "waiters", 0, "slept", 0, "slept_per_second");
    json_t *document = json_pack("{s:[{s:s, s:s, s:o, s:[o]}]}", "systems", "name", "demo", "state",
                                 "live", "nodes", nodes, "locks", lock);
    top_view_show(&view, document);
    json_decref(document);
}

/* Nodes 1 to 5, of processes 100 and 200 in turn. */
static int
five_begin(void **state)
{
    (void)state;
    top_view_begin(&view, false);
    top_view_height_set(&view, 3);
    json_t *nodes = json_array();
    for (int i = 1; i <= 5; i++) {
        (void)json_array_append_new(nodes, node(i, i % 2 ? 100 : 200, 100 * i, 10.0 * i));
    }
    show(nodes);
    return 0;
}

static int
five_end(void **state)
{
    (void)state;
    top_view_end(&view);
    return 0;
}

/* The nodes' numbers, from the first row on; 0: a process. */
static void
expect_rows(const char *digits)
{
    size_t count = json_array_size(view.rows);
    assert_int_equal(count, strlen(digits));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(top_integer(json_array_get(view.rows, i), "node"), digits[i] - '0');
    }
}

static void
expect_selected(int number)
{
    assert_int_equal(top_integer(top_view_selected(&view), "node"), number);
}

static void
the_largest_come_first(void **state)
{
    (void)state;
    expect_rows("54321");
    top_view_sort(&view, top_table_column(TOP_NODES, "USE%")); /* again: the other way round */
    expect_rows("12345");
    top_view_sort(&view, top_table_column(TOP_NODES, "PROCESS"));
    expect_rows("24135");                                      /* equal ones as they were */
    top_view_sort(&view, top_table_column(TOP_NODES, "NODE")); /* a name: the first ones first */
    expect_rows("12345");
}

static void
unknown_numbers_are_the_least(void **state)
{
    (void)state;
    json_t *unknown = node(1, 100, 0, 0);
    (void)json_object_set_new(unknown, "used_permille", json_null());
    show(json_pack("[o, o]", unknown, node(2, 100, 0, 0)));
    expect_rows("21");
}

static void
moves_end_at_the_edges(void **state)
{
    (void)state;
    expect_selected(5);
    top_view_move(&view, 1);
    expect_selected(4);
    assert_int_equal(view.first, 0);
    top_view_move(&view, 2);
    expect_selected(2);
    assert_int_equal(view.first, 1); /* three are in sight */
    top_view_move(&view, 1000000000L);
    expect_selected(1);
    assert_int_equal(view.first, 2);
    top_view_move(&view, -3);
    expect_selected(4);
    assert_int_equal(view.first, 1);
    top_view_move(&view, -1000000000L);
    expect_selected(5);
    top_view_height_set(&view, 10);
    assert_int_equal(view.first, 0);
}

static void
the_selection_follows_its_row(void **state)
{
    (void)state;
    top_view_move(&view, 1);
    expect_selected(4);
    show(json_pack("[o, o, o]", node(4, 200, 1, 0), node(5, 100, 500, 0), node(3, 100, 300, 0)));
    expect_rows("534");
    expect_selected(4);
    /* It is gone: what is in its line now. */
    show(json_pack("[o, o]", node(5, 100, 500, 0), node(3, 100, 300, 0)));
    expect_selected(3);
    show(json_array());
    assert_null(top_view_selected(&view));
    top_view_move(&view, 1);
    top_view_tag(&view);
    assert_false(top_view_search(&view, "1", true));
    show(json_pack("[o]", node(3, 100, 300, 0)));
    expect_selected(3);
}

static void
only_what_has_the_word(void **state)
{
    (void)state;
    (void)strcpy(view.filter, "1:3");
    top_view_again(&view);
    expect_rows("3");
    (void)strcpy(view.filter, "SLEEPing");
    top_view_again(&view);
    expect_rows("54321");
    (void)strcpy(view.filter, "nowhere");
    top_view_again(&view);
    expect_rows("");
}

static void
a_search_goes_round(void **state)
{
    (void)state;
    assert_true(top_view_search(&view, " 200 ", true));
    expect_selected(4);
    assert_true(top_view_search(&view, " 200 ", true)); /* as more letters are typed */
    expect_selected(4);
    assert_true(top_view_search(&view, " 200 ", false));
    expect_selected(2);
    assert_true(top_view_search(&view, " 200 ", false));
    expect_selected(4);
    assert_false(top_view_search(&view, "nowhere", false));
    expect_selected(4);
}

static void
a_tree_has_its_processes(void **state)
{
    (void)state;
    top_view_move(&view, 1);
    expect_selected(4);
    view.tree = true;
    top_view_again(&view);
    expect_rows("0531042"); /* 100 with 5, 3, 1; 200 with 4, 2 */
    expect_selected(4);     /* still */
    const json_t *process = json_array_get(view.rows, 0);
    assert_int_equal(top_integer(process, "count"), 3);
    assert_int_equal(top_integer(process, "used_permille"), 500 + 300 + 100);
    assert_int_equal(top_integer(process, "process_here"), 100);
    assert_true(json_real_value(json_object_get(process, "sent_per_second")) == 90);
    char cell[OUTPUT_CELL_BYTES];
    size_t column = top_table_column(TOP_NODES, "NODE");
    top_table_cell(TOP_NODES, column, process, cell);
    assert_string_equal(cell, "3 nodes");
    top_table_cell(TOP_NODES, column, json_array_get(view.rows, 1), cell);
    assert_string_equal(cell, "|- 1:5");
    top_table_cell(TOP_NODES, column, json_array_get(view.rows, 3), cell);
    assert_string_equal(cell, "`- 1:1");
    top_view_move(&view, -1);
    view.tree = false;
    top_view_again(&view); /* its process is in no line now */
    assert_non_null(top_view_selected(&view));
}

static void
tags_stay_with_their_rows(void **state)
{
    (void)state;
    top_view_tag(&view);
    top_view_move(&view, 2);
    top_view_tag(&view);
    top_view_tag(&view); /* no longer */
    show(json_pack("[o, o]", node(3, 100, 900, 0), node(5, 100, 500, 0)));
    assert_false(top_view_is_tagged(&view, json_array_get(view.rows, 0)));
    assert_true(top_view_is_tagged(&view, json_array_get(view.rows, 1)));
    view.tree = true;
    top_view_again(&view);
    assert_true(top_view_is_tagged(&view, json_array_get(view.rows, 2)));
    top_view_untag_all(&view);
    assert_false(top_view_is_tagged(&view, json_array_get(view.rows, 2)));
}

static void
each_table_has_its_order(void **state)
{
    (void)state;
    top_view_sort(&view, top_table_column(TOP_NODES, "NODE"));
    top_view_table_set(&view, TOP_LOCKS);
    assert_int_equal(json_array_size(view.rows), 1);
    assert_string_equal(top_string(top_view_selected(&view), "kind"), "mutex");
    top_view_table_set(&view, TOP_LANES);
    assert_null(top_view_selected(&view));
    top_view_table_set(&view, TOP_NODES);
    expect_rows("12345");
    expect_selected(1);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void
expect_cell(top_table table, const char *title, const char *row, const char *wanted)
{
    char cell[OUTPUT_CELL_BYTES];
    json_t *parsed = json_loads(row, 0, NULL);
    assert_non_null(parsed);
    top_table_cell(table, top_table_column(table, title), parsed, cell);
    json_decref(parsed);
    assert_string_equal(cell, wanted);
}

static void
cells_are_short(void **state)
{
    (void)state;
    expect_cell(TOP_LANES, "SENT/S", "{\"sent_per_second\": 0.0}", "0");
    expect_cell(TOP_LANES, "SENT/S", "{\"sent_per_second\": 12.5}", "12.5");
    expect_cell(TOP_LANES, "SENT/S", "{\"sent_per_second\": 1234.0}", "1234");
    expect_cell(TOP_LANES, "SENT/S", "{\"sent_per_second\": 1234567.0}", "1235k");
    expect_cell(TOP_LANES, "SENT/S", "{\"sent_per_second\": 12345678.0}", "12.3M");
    expect_cell(TOP_LANES, "SENT/S", "{\"sent_per_second\": null}", "-");
    expect_cell(TOP_LANES, "BYTES/S", "{\"bytes_per_second\": 2048.0}", "2 KiB");
    expect_cell(TOP_LANES, "FROM", "{\"from\": {\"domain\": 1, \"node\": 2, \"port\": 3}}",
                "1:2:3");
    expect_cell(TOP_LANES, "FROM", "{\"from\": null}", "-");
    expect_cell(TOP_NODES, "USE%", "{\"used_permille\": 455}", "45.5");
    expect_cell(TOP_NODES, "WAITED", "{\"waited_ns\": 2500000000}", ">2.5 s");
    expect_cell(TOP_NODES, "STATE", "{\"state\": \"dead\", \"thread_state\": \"sleeping\"}",
                "dead");
    expect_cell(TOP_NODES, "STATE",
                "{\"state\": \"waiting\", \"waits\": {\"for\": \"mutex\", \"number\": 4}}",
                "waits: mutex 4");
    expect_cell(TOP_WAITS, "FOR", "{\"for\": \"exchange\", \"endpoints\": []}", "exchange");
    expect_cell(
        TOP_WAITS, "FOR",
        "{\"for\": \"exchange\", \"endpoints\": [{\"domain\": 1, \"node\": 2, \"port\": 3}]}",
        "exchange at 1:2:3");
    expect_cell(TOP_WAITS, "FOR", "{\"for\": \"exchange\", \"endpoints\": [{}, {}]}",
                "exchange at 2 endpoints");
}

#define ON_FIVE(test) cmocka_unit_test_setup_teardown(test, five_begin, five_end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        ON_FIVE(the_largest_come_first),   ON_FIVE(unknown_numbers_are_the_least),
        ON_FIVE(moves_end_at_the_edges),   ON_FIVE(the_selection_follows_its_row),
        ON_FIVE(only_what_has_the_word),   ON_FIVE(a_search_goes_round),
        ON_FIVE(a_tree_has_its_processes), ON_FIVE(tags_stay_with_their_rows),
        ON_FIVE(each_table_has_its_order), cmocka_unit_test(cells_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
