/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether there is a terminal to draw on. */
#ifndef MEDLEY_TOOLS_TOP_TERMINAL_H
#define MEDLEY_TOOLS_TOP_TERMINAL_H

/* Why there can be no screen on standard input and output; NULL: there can. */
const char *top_terminal_fault(void);

#endif
