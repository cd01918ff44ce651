/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a program has the runtime say. */
#include "omp/say.h"

#include <string.h>

#include "base/text.h"
#include "mrapi/heap_lent.h"
#include "port/port.h"

#define LIBRARY "\nlibgomp: "
#define EXIT_OF_ERROR 1

/* A text that is longer than there is memory for is said without it. */
static void
say(const char *before, const char *line, const char *text, size_t length)
{
    size_t before_bytes = strlen(before);
    size_t line_bytes = strlen(line);
    char *whole = med_heap_lend(before_bytes + line_bytes + length + 1);
    if (!whole) {
        med_text short_one = {.length = 0};
        med_text_string(&short_one, before);
        med_text_string(&short_one, line);
        med_port_log(short_one.bytes);
        return;
    }
    memcpy(whole, before, before_bytes);
    memcpy(whole + before_bytes, line, line_bytes);
    if (length) {
        memcpy(whole + before_bytes + line_bytes, text, length);
    }
    whole[before_bytes + line_bytes + length] = 0;
    med_port_log(whole);
    med_heap_take_back(whole);
}

void
med_say_text(const char *line, const char *text, size_t length)
{
    say(LIBRARY, line, text, length);
}

void
med_say(const char *line)
{
    say(LIBRARY, line, NULL, 0);
}

_Noreturn void
med_say_text_fatal(const char *line, const char *text, size_t length)
{
    say(LIBRARY "fatal error: ", line, text, length);
    med_port_program_end(EXIT_OF_ERROR);
}

_Noreturn void
med_say_fatal(const char *line)
{
    med_say_text_fatal(line, NULL, 0);
}
