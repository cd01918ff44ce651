/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Is a text well-formed XML, of the plain sort that programs write? Tags must close in order,
 * attributes be quoted and each there once, characters be UTF-8, or ISO-8859-1 where the document
 * says so, and '&' name one; other encodings, in which another reader might find other tags, and
 * documents with definitions of their own are refused. Of letters beyond ASCII in names, any will
 * do. Bounded in depth, so that a recursive parser may follow. */
#ifndef MEDLEY_MODULES_XML_CHECK_H
#define MEDLEY_MODULES_XML_CHECK_H

#include <stddef.h>

#define XML_DEPTH_MAX 64
#define XML_ATTRIBUTES_MAX 64 /* of one tag */

/* Part of the text. */
typedef struct xml_span {
    const char *start;
    size_t length;
} xml_span;

/* Is told of each tag as it is met: its name, its attributes, that these were all, and that it is
 * closed. Each says what is wrong with that, or NULL. */
typedef struct xml_reader {
    const char *(*begin)(void *context, xml_span name, unsigned line);
    const char *(*attribute)(void *context, xml_span name, xml_span value);
    const char *(*begun)(void *context);
    const char *(*end)(void *context);
    void *context;
} xml_reader;

/* NULL: it is. Else what is wrong, and in which line: of a tag as a whole, where it begins.
 * `reader` may be NULL. */
const char *xml_check(const char *text, size_t length, const xml_reader *reader, unsigned *line);

#endif
