/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Is a text well-formed XML, of the plain sort that programs write? Tags must close in order and
 * attributes be quoted; entities are not resolved, documents with definitions of their own are
 * refused. Bounded in depth, so that a recursive parser may follow. */
#ifndef MEDLEY_MODULES_XML_CHECK_H
#define MEDLEY_MODULES_XML_CHECK_H

#include <stddef.h>

#define XML_DEPTH_MAX 64

/* NULL: it is. Else what is wrong, and in which line. */
const char *xml_check(const char *text, size_t length, unsigned *line);

#endif
