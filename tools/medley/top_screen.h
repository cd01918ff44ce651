/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `top` on a terminal: what is on the screen beside the tables (top_view.h), how it is drawn, and
 * what keys do to it.
 *
 *   BROWSE --/, F3--> SEARCH    a word is typed; the row it is in is selected meanwhile
 *          --\, F4--> FILTER    likewise; only rows that have it are shown
 *          -->, F6--> SORT      a list of columns
 *          --k, F9--> SIGNAL    a list of signals --Enter--> CONFIRM
 *          --h, F1--> HELP
 * Escape leads back from everywhere, and so does the end of each.
 */
#ifndef MEDLEY_TOOLS_TOP_SCREEN_H
#define MEDLEY_TOOLS_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/medley/top_kill.h"
#include "tools/medley/top_view.h"

typedef enum top_mode {
    TOP_BROWSE,
    TOP_SEARCH,
    TOP_FILTER,
    TOP_SORT,
    TOP_SIGNAL,
    TOP_CONFIRM,
    TOP_HELP,
} top_mode;

#define TOP_MESSAGE_BYTES 200u

typedef struct top_screen {
    top_view view;
    top_mode mode;
    const char *system; /* the one that is watched; NULL: all there are */
    double interval_s;
    bool over;                       /* the user wants to leave */
    bool paused;                     /* no looks meanwhile */
    bool hurry;                      /* a look is wanted at once */
    size_t left;                     /* so many columns are out of sight to the left */
    char word[TOP_WORD_BYTES];       /* what is typed */
    char searched[TOP_WORD_BYTES];   /* what F3 looks for again */
    size_t chosen;                   /* the line of a list */
    top_targets targets;             /* of SIGNAL and CONFIRM */
    int signal;                      /* of CONFIRM */
    char message[TOP_MESSAGE_BYTES]; /* instead of the keys, until the next key */
} top_screen;

/* The key as ncurses has it. */
void top_keys_press(top_screen *screen, int key);
/* The whole screen, as it is now. */
void top_draw(top_screen *screen);
/* Once, when there is a screen. */
void top_draw_begin(void);

/* For a system that somebody is just opening or closing: keys wait meanwhile. */
#define TOP_PATIENCE_NS UINT64_C(50000000)

/* Blocks until the user leaves, or a signal ends it, by which the process then ends. The terminal
 * is as it was before. `first` is a look (top_look.h), and taken over. Gives the exit status. */
int top_live(const char *system, double interval_s, json_t *first);

#endif
