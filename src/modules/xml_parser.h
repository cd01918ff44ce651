/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which of its two parsers hwloc reads XML with. Its plugin for libxml reads all of it; where that
 * is missing, or cannot be opened, a parser of its own reads what is written as hwloc writes it.
 */
#ifndef MEDLEY_MODULES_XML_PARSER_H
#define MEDLEY_MODULES_XML_PARSER_H

#include <stdbool.h>

/* Lets hwloc's plugins find hwloc in this process, which they do not where it was opened for a
 * module alone. Before hwloc is first used; for a process that ends soon, since it stays so. */
void xml_parser_offer(void);

/* What may be said of a file that hwloc refused, behind what is wrong: where that parser is
 * missing, how to get it; else nothing. */
const char *xml_parser_advice(void);

#endif
