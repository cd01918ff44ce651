/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Is what stands in an XML document made of characters that may stand there? All of it UTF-8, of
 * which ASCII is a part, or ISO-8859-1; and in values and between tags '&' only before what it may
 * name. */
#ifndef MEDLEY_MODULES_XML_TEXT_H
#define MEDLEY_MODULES_XML_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Of a whole document; NULL: it is. Else what is wrong, and how far from its beginning. Not `utf8`:
 * ISO-8859-1. */
const char *xml_characters_check(const char *text, size_t length, bool utf8, size_t *at);
/* Is the encoding of that name one of these? */
bool xml_encoding_find(const char *name, size_t length, bool *utf8);
/* Of what begins with '&': does it name a character? Else what is wrong. `defined_elsewhere`: the
 * document points to definitions, which may know any name. */
const char *xml_reference_check(const char *text, size_t length, bool defined_elsewhere);

#endif
