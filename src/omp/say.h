/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a program has the runtime say, by directives, calls or variables: to standard error, always,
 * under the name of the library that stands there. What Medley has to say itself is base/log.h. */
#ifndef MEDLEY_OMP_SAY_H
#define MEDLEY_OMP_SAY_H

#include <stddef.h>

/* "libgomp: <line>", behind an empty one */
void med_say(const char *line);
/* The same as "fatal error", and the end of the program. */
_Noreturn void med_say_fatal(const char *line);
/* Behind `line`, of which it may be a part only: so many bytes of a text of any length. */
void med_say_text(const char *line, const char *text, size_t length);
_Noreturn void med_say_text_fatal(const char *line, const char *text, size_t length);

#endif
