/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Is what stands in an XML document made of characters that may stand there? All of it UTF-8, of
 * which ASCII is a part; and in values and between tags '&' only before what it may name. */
#ifndef MEDLEY_MODULES_XML_TEXT_H
#define MEDLEY_MODULES_XML_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Of a whole document; NULL: it is. Else what is wrong, and how far from its beginning. What says
 * that its encoding is another than UTF-8 is looked through for NUL alone. */
const char *xml_characters_check(const char *text, size_t length, size_t *at);
/* Of what begins with '&': does it name a character? Else what is wrong. `defined_elsewhere`: the
 * document points to definitions, which may know any name. */
const char *xml_reference_check(const char *text, size_t length, bool defined_elsewhere);

#endif
