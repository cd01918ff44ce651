/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a process of `medley stress` tells when it fails: its own words, and the library's reason,
 * which is heard and kept for that.
 */
#ifndef MEDLEY_TOOLS_STRESS_ERROR_H
#define MEDLEY_TOOLS_STRESS_ERROR_H

#define STRESS_ERROR_BYTES 768u

/* From now on what the library says in a thread that listens, as this one does, is the reason why
 * its next call fails: told with the error, and not besides, unless more than errors is wanted. */
void stress_hear(void);
/* From now on this thread listens. What was said so far was no reason: it is told now. */
void stress_hear_anew(void);
/* Writes an error: `text`, and the reason, if the library gave one. STRESS_ERROR_BYTES large. */
void stress_error_write(char *error, const char *text);
/* Only the reason; `text` where the library gave none. */
void stress_reason_write(char *error, const char *text);

#endif
