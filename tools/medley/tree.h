/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The machine as MRAPI's tree of resources. */
#ifndef MEDLEY_TOOLS_TREE_H
#define MEDLEY_TOOLS_TREE_H

#include <jansson.h>

/* Of this machine, or, when `xml` is not NULL, of the one recorded in that file. NULL: it cannot be
 * read; standard error has said why. */
json_t *tree_take(const char *xml);
/* Line by line, what is below further in. */
void tree_print(const json_t *tree);

#endif
