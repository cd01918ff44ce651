/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is in a system, as JSON: its rows, and what is to be said of it as a whole. */
#ifndef MEDLEY_TOOLS_SNAPSHOT_CONTENTS_H
#define MEDLEY_TOOLS_SNAPSHOT_CONTENTS_H

#include <jansson.h>

#include "mrapi/system.h"

/* From "size_bytes" to "limits", as snapshot_take (snapshot.h). MEDLEY_ERR_NO_MEMORY: nothing was
 * added. */
medley_status_t snapshot_contents_add(const med_system *system, json_t *to);

#endif
