/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From top to bottom: a meter for each processor, a line for each system, the tables' names, the
 * table's head, its rows, and a line of keys, or of what is typed, or of what is to be said. All is
 * drawn each time; ncurses sends what differs.
 */
#include <curses.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/medley/top_rows.h"
#include "tools/medley/top_screen.h"

#define LINE_BYTES 1024u
#define METER_LEAST 20 /* columns, with its number and its percents */
#define METER_SHORT 11 /* without a bar */
#define SYSTEMS_MOST 3 /* lines for them */
#define LIST_WIDTH 20
#define GAP 2

enum {
    PAIR_HEAD = 1,
    PAIR_SELECTED,
    PAIR_BAR,
    PAIR_TAGGED,
    PAIR_BAD,
};

/* Instead of colours, where there are none. */
static attr_t
look_of(short pair)
{
    bool turned = pair == PAIR_HEAD || pair == PAIR_SELECTED;
    return has_colors() ? (attr_t)COLOR_PAIR(pair) : turned ? A_REVERSE : A_BOLD;
}

static void
look_set(attr_t look)
{
    (void)attrset((int)look);
}

void
top_draw_begin(void)
{
    if (has_colors()) {
        (void)start_color();
        (void)use_default_colors();
        (void)init_pair(PAIR_HEAD, COLOR_BLACK, COLOR_GREEN);
        (void)init_pair(PAIR_SELECTED, COLOR_BLACK, COLOR_CYAN);
        (void)init_pair(PAIR_BAR, COLOR_GREEN, -1);
        (void)init_pair(PAIR_TAGGED, COLOR_YELLOW, -1);
        (void)init_pair(PAIR_BAD, COLOR_RED, -1);
    }
}

/* A line, from that column to the screen's edge. */
static void
line_draw(int y, int x, attr_t look, const char *text)
{
    int width = COLS > x ? COLS - x : 0;
    look_set(look);
    (void)mvprintw(y, x, "%-*.*s", width, width, text);
    look_set(A_NORMAL);
}

static int __attribute__((format(printf, 2, 3))) line_print(int y, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    line_draw(y, 0, A_NORMAL, text);
    return y + 1;
}

/* ---- Processors ------------------------------------------------------------------------------ */

/* "  0[|||||     45.2%]"; the bar is left out where there is no room for it. */
static void
meter_draw(int y, int x, int width, const json_t *row)
{
    const json_t *used = json_object_get(row, "used_permille");
    json_int_t permille = json_integer_value(used);
    char percent[16];
    (void)snprintf(percent, sizeof percent, json_is_integer(used) ? "%.1f%%" : "-",
                   (double)permille / 10);
    if (width < METER_LEAST) {
        (void)mvprintw(y, x, "%3d%*s", (int)top_integer(row, "processor"), METER_SHORT - 4,
                       percent);
        return;
    }
    int room = width - 6; /* between the brackets; a blank is behind them */
    int bar = (int)(permille * room / 1000);
    (void)mvprintw(y, x, "%3d[%*s]", (int)top_integer(row, "processor"), room, percent);
    look_set(look_of(PAIR_BAR));
    for (int i = 0; i < bar && i < room - (int)strlen(percent); i++) {
        (void)mvaddch(y, x + 4 + i, '|');
    }
    look_set(A_NORMAL);
}

/* In as few columns of meters as leave the rest of the screen two thirds. Where not all have a
 * place, it is said how many have none. */
static int
processors_draw(int y, const json_t *processors)
{
    int count = (int)json_array_size(processors);
    int lines_most = LINES / 3 > 1 ? LINES / 3 : 1;
    int columns = COLS >= 2 * METER_LEAST && count > 1 ? 2 : 1;
    while ((count + columns - 1) / columns > lines_most && COLS / (columns + 1) >= METER_SHORT) {
        columns++;
    }
    int lines = (count + columns - 1) / columns;
    lines = lines > lines_most ? lines_most : lines;
    int width = COLS / columns;
    for (int i = 0; i < count && i < lines * columns; i++) {
        meter_draw(y + i % lines, i / lines * width, width, json_array_get(processors, (size_t)i));
    }
    y += lines;
    return count > lines * columns
               ? line_print(y, "and %d more processors", count - lines * columns)
               : y;
}

/* ---- Systems --------------------------------------------------------------------------------- */

static int
system_draw(int y, const json_t *system)
{
    const json_t *buffers = json_object_get(system, "buffers");
    const char *reason = top_string(system, "reason");
    char free_buffers[OUTPUT_CELL_BYTES] = "";
    if (!json_object_get(system, "nodes")) {
        return line_print(y, "%s: %s%s%s", top_string(system, "name"), top_string(system, "state"),
                          *reason ? ": " : "", reason);
    }
    if (json_is_object(buffers)) {
        (void)snprintf(free_buffers, sizeof free_buffers,
                       ", %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " buffers free",
                       top_integer(buffers, "free"), top_integer(buffers, "count"));
    }
    return line_print(
        y, "%s: %s, %s old, %s, %s%s%s", top_string(system, "name"), top_string(system, "state"),
        output_age_text((uint64_t)top_integer(system, "age_ns")),
        output_count_text(json_array_size(json_object_get(system, "processes")), "processes"),
        output_count_text(json_array_size(json_object_get(system, "nodes")), "nodes"), free_buffers,
        json_array_size(json_object_get(system, "stuck")) ? "; STUCK: medley ps" : "");
}

static int
systems_draw(int y, const top_screen *screen)
{
    const json_t *systems = json_object_get(screen->view.document, "systems");
    size_t count = json_array_size(systems);
    if (count == 0 && screen->system) {
        return line_print(y, "%s: ended; it is shown again when there is one of that name",
                          screen->system);
    }
    if (count == 0) {
        return line_print(y, "no systems of this user");
    }
    for (size_t i = 0; i < count && i < SYSTEMS_MOST; i++) {
        y = system_draw(y, json_array_get(systems, i));
    }
    return count > SYSTEMS_MOST ? line_print(y, "and %d more", (int)(count - SYSTEMS_MOST)) : y;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Which tables there are, how long each is, and which one it is. */
static int
tabs_draw(int y, const top_screen *screen)
{
    const json_t *systems = json_object_get(screen->view.document, "systems");
    (void)move(y, 0);
    for (size_t t = 0; t < TOP_TABLES; t++) {
        size_t rows = 0;
        for (size_t i = 0; i < json_array_size(systems); i++) {
            rows += json_array_size(json_object_get(json_array_get(systems, i), top_tables[t].key));
        }
        look_set(t == screen->view.table ? look_of(PAIR_SELECTED) : A_NORMAL);
        (void)printw(" %s %d ", top_tables[t].title, (int)rows);
        look_set(A_NORMAL);
        (void)addch(' ');
    }
    if (screen->view.filter[0]) {
        (void)printw(" only '%s'", screen->view.filter);
    }
    if (screen->paused) {
        (void)printw(" paused");
    }
    return y + 1;
}

typedef struct widths {
    int of[OUTPUT_COLUMNS_MAX];
} widths;

static void
widths_get(const top_view *view, widths *w)
{
    const top_table_info *info = &top_tables[view->table];
    char cell[OUTPUT_CELL_BYTES];
    for (size_t c = 0; c < info->column_count; c++) {
        w->of[c] = (int)strlen(info->columns[c].title);
        for (size_t i = 0; i < json_array_size(view->rows); i++) {
            top_table_cell(view->table, c, json_array_get(view->rows, i), cell);
            w->of[c] = (int)strlen(cell) > w->of[c] ? (int)strlen(cell) : w->of[c];
        }
    }
}

/* NULL: the titles. */
static void
row_write(const top_view *view, const widths *w, const json_t *row, char line[LINE_BYTES])
{
    const top_table_info *info = &top_tables[view->table];
    char cell[OUTPUT_CELL_BYTES];
    size_t length = 0;
    line[0] = '\0';
    for (size_t c = top_view_first_column(view); c < info->column_count; c++) {
        if (row) {
            top_table_cell(view->table, c, row, cell);
        } else {
            (void)snprintf(cell, sizeof cell, "%s", info->columns[c].title);
        }
        length += (size_t)snprintf(line + length, LINE_BYTES - length, "%*s%*s",
                                   info->columns[c].right ? w->of[c] : -w->of[c], cell, GAP, "");
        if (length >= LINE_BYTES) {
            return;
        }
    }
}

static bool
has_list(const top_screen *screen)
{
    return screen->mode == TOP_SORT || screen->mode == TOP_SIGNAL;
}

static const char *
from_column(const char *line, size_t left)
{
    return left < strlen(line) ? line + left : "";
}

static attr_t
row_look(const top_screen *screen, size_t line, const json_t *row)
{
    if (line == screen->view.line) {
        return look_of(PAIR_SELECTED);
    }
    if (top_view_is_tagged(&screen->view, row)) {
        return look_of(PAIR_TAGGED);
    }
    return strcmp(top_string(row, "state"), "dead") == 0 ? look_of(PAIR_BAD) : A_NORMAL;
}

/* Beside a list, if there is one. */
static void
table_draw(int y, int end, top_screen *screen)
{
    int x = has_list(screen) ? LIST_WIDTH : 0;
    char line[LINE_BYTES];
    widths w = {{0}};
    top_view *view = &screen->view;
    const top_sort *sort = &view->sorts[view->table];
    top_view_height_set(view, end > y + 1 ? (size_t)(end - y - 1) : 0);
    widths_get(view, &w);
    row_write(view, &w, NULL, line);
    line_draw(y++, x, look_of(PAIR_HEAD), from_column(line, screen->left));
    for (size_t i = view->first; i < json_array_size(view->rows) && y < end; i++) {
        const json_t *row = json_array_get(view->rows, i);
        row_write(view, &w, row, line);
        line_draw(y++, x, row_look(screen, i, row), from_column(line, screen->left));
    }
    (void)mvprintw(end, 0, "by %s, the %s first%s",
                   top_tables[view->table].columns[sort->column].title,
                   sort->ascending ? "least" : "largest",
                   json_array_size(view->rows) ? "" : ": nothing to show");
}

/* ---- Lists and help -------------------------------------------------------------------------- */

static void
list_line_draw(const top_screen *screen, int y, size_t line, const char *text)
{
    look_set(line == screen->chosen ? look_of(PAIR_SELECTED) : A_NORMAL);
    (void)mvprintw(y, 0, " %-*.*s", LIST_WIDTH - 2, LIST_WIDTH - 2, text);
    look_set(A_NORMAL);
    (void)addch('|');
}

/* To the left of the table; what is chosen is in sight. */
static void
list_draw(const top_screen *screen, int y, int end)
{
    const top_view *view = &screen->view;
    bool sorts = screen->mode == TOP_SORT;
    size_t from = sorts ? top_view_first_column(view) : 0;
    size_t count = sorts ? top_tables[view->table].column_count : top_signal_count;
    size_t room = end > y + 1 ? (size_t)(end - y - 1) : 1;
    size_t first = screen->chosen - from >= room ? screen->chosen + 1 - room : from;
    char text[64];
    look_set(look_of(PAIR_HEAD));
    (void)mvprintw(y++, 0, " %-*s|", LIST_WIDTH - 2, sorts ? "Sort by" : "Send signal");
    look_set(A_NORMAL);
    for (size_t i = first; i < count && y < end; i++) {
        if (sorts) {
            (void)snprintf(text, sizeof text, "%s", top_tables[view->table].columns[i].title);
        } else {
            (void)snprintf(text, sizeof text, "%2d SIG%s", top_signals[i],
                           sigabbrev_np(top_signals[i]));
        }
        list_line_draw(screen, y++, i, text);
    }
}

static const char *const help_lines[] = {
    "medley top: nodes, and what goes between them",
    "",
    "Tab Shift-Tab   next table, the one before",
    "arrows PgUp PgDn Home End   select a line; left and right: what is beyond the edge",
    "F3 /   search; F3 again, n: the next   F4 \\   filter; Esc: all again",
    "F5 t   nodes as a tree of processes    Z   pause, go on",
    "F6 > . sort by a column   I   the other way round",
    "P M T N   sort by use or depth, messages, time waited, number",
    "Space  tag a line   U   untag all",
    "F9 k   send a signal to the process of the line, or of those that are tagged",
    "F10 q  leave",
    "",
    "WAITED: for so long at least; it is known from when it was first seen.",
    "Rates are of the time between two looks. Lanes: messages of one priority, or a",
    "channel's packets, scalars, states, from one endpoint to another; FULL/S, EMPTY/S:",
    "how often the sender found no room, the receiver nothing, and waited.",
};

static void
help_draw(void)
{
    (void)erase();
    for (int i = 0; i < (int)(sizeof help_lines / sizeof help_lines[0]) && i < LINES - 1; i++) {
        (void)mvprintw(i, 0, "%.*s", COLS, help_lines[i]);
    }
    (void)line_print(LINES - 1, "any key: back");
}

/* ---- The last line --------------------------------------------------------------------------- */

static const struct {
    const char *key;
    const char *does;
} bar[] = {
    {"F1", "Help"}, {"Tab", "Next "}, {"F3", "Search"}, {"F4", "Filter"},
    {"F5", "Tree"}, {"F6", "SortBy"}, {"F9", "Kill"},   {"F10", "Quit"},
};

static void
bar_draw(int y)
{
    (void)move(y, 0);
    for (size_t i = 0; i < sizeof bar / sizeof bar[0]; i++) {
        if (getcurx(stdscr) + (int)(strlen(bar[i].key) + strlen(bar[i].does)) >= COLS) {
            return;
        }
        (void)addstr(bar[i].key);
        look_set(look_of(PAIR_SELECTED));
        (void)addstr(bar[i].does);
        look_set(A_NORMAL);
    }
}

static void
last_line_draw(int y, const top_screen *screen)
{
    char whom[OUTPUT_CELL_BYTES];
    switch (screen->mode) {
    case TOP_SEARCH:
        (void)line_print(y, "Search: %s", screen->word);
        break;
    case TOP_FILTER:
        (void)line_print(y, "Filter: %s", screen->word);
        break;
    case TOP_SORT:
    case TOP_SIGNAL:
        (void)line_print(y, "arrows: choose   Enter: take it   Esc: back");
        break;
    case TOP_CONFIRM:
        top_targets_tell(&screen->targets, whom, sizeof whom);
        (void)line_print(y, "Send SIG%s to %s? y: yes   any other key: no",
                         sigabbrev_np(screen->signal), whom);
        break;
    case TOP_BROWSE:
    case TOP_HELP:
    default:
        if (screen->message[0]) {
            (void)line_print(y, "%s", screen->message);
        } else {
            bar_draw(y);
        }
    }
}

void
top_draw(top_screen *screen)
{
    (void)erase();
    if (screen->mode == TOP_HELP) {
        help_draw();
    } else {
        int end = LINES - 2; /* then how it is sorted, and the last line */
        int y = processors_draw(0, json_object_get(screen->view.document, "processors"));
        y = systems_draw(y, screen);
        y = tabs_draw(y, screen);
        table_draw(y, end, screen);
        if (has_list(screen)) {
            list_draw(screen, y, end);
        }
        last_line_draw(LINES - 1, screen);
    }
    (void)refresh();
}
