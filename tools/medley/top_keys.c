/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keys mean what they mean in htop, where that has such a thing. A table of them for browsing; a
 * function for each other mode. */
#include <ctype.h>
#include <curses.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/medley/top_rows.h"
#include "tools/medley/top_screen.h"

#define ESCAPE 27
#define LEFT_STEP 8u
#define LEFT_MOST 320u /* no row is longer, by far */
#define ALL_LINES 1000000000L
#define IS_ENTER(key) ((key) == '\n' || (key) == '\r' || (key) == KEY_ENTER)

/* ---- Browsing -------------------------------------------------------------------------------- */

static void
leave(top_screen *screen)
{
    screen->over = true;
}

static void
pause_or_go_on(top_screen *screen)
{
    screen->paused = !screen->paused;
    screen->hurry = !screen->paused;
}

static void
table_next(top_screen *screen)
{
    top_view_table_set(&screen->view, (screen->view.table + 1) % TOP_TABLES);
    screen->left = 0;
}

static void
table_before(top_screen *screen)
{
    top_view_table_set(&screen->view, (screen->view.table + TOP_TABLES - 1) % TOP_TABLES);
    screen->left = 0;
}

static void
tree_switch(top_screen *screen)
{
    screen->view.tree = !screen->view.tree;
    if (screen->view.table == TOP_NODES) {
        top_view_again(&screen->view);
    } else {
        top_view_table_set(&screen->view, TOP_NODES);
    }
}

static void
tag(top_screen *screen)
{
    top_view_tag(&screen->view);
    top_view_move(&screen->view, 1);
}

static void
untag(top_screen *screen)
{
    top_view_untag_all(&screen->view);
}

/* By the first of these columns that the table has. */
static void
sort_by(top_screen *screen, const char *const *titles)
{
    top_view *view = &screen->view;
    for (; *titles; titles++) {
        size_t column = top_table_column(view->table, *titles);
        if (column < top_tables[view->table].column_count) {
            top_sort *sort = &view->sorts[view->table];
            sort->column = column;
            sort->ascending = !top_tables[view->table].columns[column].right;
            top_view_again(view);
            return;
        }
    }
    (void)snprintf(screen->message, sizeof screen->message, "%s have no such column",
                   top_tables[view->table].title);
}

static void
sort_by_use(top_screen *screen)
{
    sort_by(screen, (const char *const[]){"USE%", "DEPTH", "WAITERS", NULL});
}

static void
sort_by_messages(top_screen *screen)
{
    sort_by(screen, (const char *const[]){"SENT/S", "SLEPT/S", NULL});
}

static void
sort_by_time(top_screen *screen)
{
    sort_by(screen, (const char *const[]){"WAITED", NULL});
}

static void
sort_by_number(top_screen *screen)
{
    sort_by(screen, (const char *const[]){"NODE", "FROM", "ENDPOINT", "NUMBER", NULL});
}

static void
sort_inverted(top_screen *screen)
{
    top_view_sort(&screen->view, screen->view.sorts[screen->view.table].column);
}

static void
mode_set(top_screen *screen, top_mode mode)
{
    screen->mode = mode;
}

static void
help_begin(top_screen *screen)
{
    mode_set(screen, TOP_HELP);
}

static void
search_begin(top_screen *screen)
{
    mode_set(screen, TOP_SEARCH);
    screen->word[0] = '\0';
}

static void
filter_begin(top_screen *screen)
{
    mode_set(screen, TOP_FILTER);
    (void)snprintf(screen->word, sizeof screen->word, "%s", screen->view.filter);
}

static void
sort_begin(top_screen *screen)
{
    mode_set(screen, TOP_SORT);
    screen->chosen = screen->view.sorts[screen->view.table].column;
}

static void
signal_begin(top_screen *screen)
{
    if (top_targets_choose(&screen->view, &screen->targets, screen->message,
                           sizeof screen->message)) {
        mode_set(screen, TOP_SIGNAL);
        screen->chosen = top_signal_first();
        screen->hurry = true; /* for top_targets_check */
    }
}

static void
search_again(top_screen *screen)
{
    if (!screen->searched[0]) {
        search_begin(screen);
    } else if (!top_view_search(&screen->view, screen->searched, false)) {
        (void)snprintf(screen->message, sizeof screen->message, "'%s' is in no line",
                       screen->searched);
    }
}

static void
scroll_left(top_screen *screen)
{
    screen->left -= screen->left >= LEFT_STEP ? LEFT_STEP : screen->left;
}

static void
scroll_right(top_screen *screen)
{
    screen->left += screen->left < LEFT_MOST ? LEFT_STEP : 0;
}

static void
redraw(top_screen *screen)
{
    (void)screen;
    (void)clearok(stdscr, TRUE);
}

static const struct {
    int key;
    void (*act)(top_screen *screen);
} browse_keys[] = {
    {'q', leave},
    {'Q', leave},
    {KEY_F(10), leave},
    {'h', help_begin},
    {'?', help_begin},
    {KEY_F(1), help_begin},
    {'Z', pause_or_go_on},
    {'z', pause_or_go_on},
    {'\t', table_next},
    {KEY_BTAB, table_before},
    {'t', tree_switch},
    {KEY_F(5), tree_switch},
    {'/', search_begin},
    {KEY_F(3), search_begin},
    {'n', search_again},
    {'\\', filter_begin},
    {KEY_F(4), filter_begin},
    {'>', sort_begin},
    {'.', sort_begin},
    {KEY_F(6), sort_begin},
    {'P', sort_by_use},
    {'M', sort_by_messages},
    {'T', sort_by_time},
    {'N', sort_by_number},
    {'I', sort_inverted},
    {'k', signal_begin},
    {KEY_F(9), signal_begin},
    {' ', tag},
    {'U', untag},
    {KEY_LEFT, scroll_left},
    {KEY_RIGHT, scroll_right},
    {'L' - '@', redraw},
};

/* How far that key moves; 0: not at all. */
static long
lines_of(const top_screen *screen, int key)
{
    long page = screen->view.height > 1 ? (long)screen->view.height - 1 : 1;
    switch (key) {
    case KEY_UP:
        return -1;
    case KEY_DOWN:
        return 1;
    case KEY_PPAGE:
        return -page;
    case KEY_NPAGE:
        return page;
    case KEY_HOME:
        return -ALL_LINES;
    case KEY_END:
        return ALL_LINES;
    default:
        return 0;
    }
}

static void
browse(top_screen *screen, int key)
{
    long lines = lines_of(screen, key);
    if (lines != 0) {
        top_view_move(&screen->view, lines);
        return;
    }
    for (size_t i = 0; i < sizeof browse_keys / sizeof browse_keys[0]; i++) {
        if (browse_keys[i].key == key) {
            browse_keys[i].act(screen);
            return;
        }
    }
}

/* ---- A word ---------------------------------------------------------------------------------- */

/* False: the key is none of a word's. */
static bool
word_edit(top_screen *screen, int key)
{
    size_t length = strlen(screen->word);
    if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
        screen->word[length ? length - 1 : 0] = '\0';
    } else if (key >= ' ' && key <= '~' && length + 1 < sizeof screen->word) {
        screen->word[length] = (char)key;
        screen->word[length + 1] = '\0';
    } else {
        return false;
    }
    return true;
}

static void
search_edit(top_screen *screen, int key)
{
    if (key == KEY_F(3)) {
        (void)top_view_search(&screen->view, screen->word, false);
    } else if (word_edit(screen, key)) {
        (void)top_view_search(&screen->view, screen->word, true);
    } else if (IS_ENTER(key) || key == ESCAPE) {
        mode_set(screen, TOP_BROWSE);
        (void)snprintf(screen->searched, sizeof screen->searched, "%s", screen->word);
    }
}

/* Escape shows all again. */
static void
filter_edit(top_screen *screen, int key)
{
    if (word_edit(screen, key) || key == ESCAPE) {
        (void)snprintf(screen->view.filter, sizeof screen->view.filter, "%s",
                       key == ESCAPE ? "" : screen->word);
        top_view_again(&screen->view);
    }
    if (IS_ENTER(key) || key == ESCAPE) {
        mode_set(screen, TOP_BROWSE);
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void
list_move(top_screen *screen, int key, size_t first, size_t count)
{
    long lines = lines_of(screen, key);
    if (lines < 0) {
        size_t most = screen->chosen - first;
        screen->chosen -= (size_t)-lines < most ? (size_t)-lines : most;
    } else {
        size_t most = count - 1 - screen->chosen;
        screen->chosen += (size_t)lines < most ? (size_t)lines : most;
    }
}

static void
sort_choose(top_screen *screen, int key)
{
    top_view *view = &screen->view;
    list_move(screen, key, top_view_first_column(view), top_tables[view->table].column_count);
    if (IS_ENTER(key)) {
        top_view_sort(view, screen->chosen);
    }
    if (IS_ENTER(key) || key == ESCAPE) {
        mode_set(screen, TOP_BROWSE);
    }
}

static void
signal_end(top_screen *screen, const char *message)
{
    top_targets_drop(&screen->targets);
    mode_set(screen, TOP_BROWSE);
    (void)snprintf(screen->message, sizeof screen->message, "%s", message);
}

static void
signal_choose(top_screen *screen, int key)
{
    list_move(screen, key, 0, top_signal_count);
    if (IS_ENTER(key)) {
        screen->signal = top_signals[screen->chosen];
        mode_set(screen, TOP_CONFIRM);
    } else if (key == ESCAPE || key == 'q') {
        signal_end(screen, "no signal was sent");
    }
}

static void
confirm(top_screen *screen, int key)
{
    char said[TOP_MESSAGE_BYTES];
    if (key != 'y' && key != 'Y') {
        signal_end(screen, "no signal was sent");
        return;
    }
    if (top_targets_check(&screen->targets, screen->view.document) == 0) {
        signal_end(screen, "no signal was sent: who was to get it is not there any more");
        return;
    }
    top_targets_signal(&screen->targets, screen->signal, said, sizeof said);
    top_view_untag_all(&screen->view);
    signal_end(screen, said);
    screen->hurry = true;
}

/* ---- All of them ----------------------------------------------------------------------------- */

void
top_keys_press(top_screen *screen, int key)
{
    static void (*const modes[])(top_screen * screen, int key) = {
        [TOP_BROWSE] = browse,    [TOP_SEARCH] = search_edit,   [TOP_FILTER] = filter_edit,
        [TOP_SORT] = sort_choose, [TOP_SIGNAL] = signal_choose, [TOP_CONFIRM] = confirm,
    };
    if (key == KEY_RESIZE) {
        return; /* ncurses has learned the size; what is on the screen is drawn anyway */
    }
    screen->message[0] = '\0';
    if (screen->mode == TOP_HELP) {
        mode_set(screen, TOP_BROWSE); /* any key */
    } else {
        modes[screen->mode](screen, key);
    }
}
