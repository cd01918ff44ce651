/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A machine as a picture (SVG): what lies in what, and how large it is. */
#ifndef MEDLEY_TOOLS_INFO_PICTURE_H
#define MEDLEY_TOOLS_INFO_PICTURE_H

#include <stdbool.h>

#include <jansson.h>

/* Of what `info` shows: "machine", and the one domain of "domains"; `parts` are its
 * (topology_parts.h). Each part is a group whose class is its kind. "-" is standard output. False:
 * errno says why. */
bool info_picture_write(const char *path, const json_t *document, const json_t *parts);

#endif
