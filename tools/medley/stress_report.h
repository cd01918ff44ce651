/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `medley stress` has measured, as a document and as text made of it. */
#ifndef MEDLEY_TOOLS_STRESS_REPORT_H
#define MEDLEY_TOOLS_STRESS_REPORT_H

#include <jansson.h>

#include "tools/medley/deployment.h"
#include "tools/medley/stress_node.h"

/* NULL: no memory. */
json_t *stress_report_make(const deployment *d, const stress_shared *shared);
void stress_report_print(const json_t *report);

#endif
