/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Apart from the rest of `top`, since term.h has common words for macros. */
#include "tools/medley/top_terminal.h"

#include <curses.h>
#include <stdbool.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

const char *
top_terminal_fault(void)
{
    int found;
    const char *name = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        return "standard input and output are no terminal";
    }
    if (!name || setupterm(name, STDOUT_FILENO, &found) != OK) {
        return "TERM names no terminal that is known here";
    }
    bool can = cursor_address && clear_screen;
    (void)del_curterm(cur_term);
    return can ? NULL : "the terminal that TERM names cannot be drawn on";
}
