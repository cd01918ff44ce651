/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who runs a deployment: processes of this command's, and the nodes in them. */
#ifndef MEDLEY_TOOLS_STRESS_CREW_H
#define MEDLEY_TOOLS_STRESS_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "tools/medley/deployment.h"
#include "tools/medley/stress_node.h"

/* Runs all of it in a system of its own, and shows on a terminal how far it is. On return nobody of
 * it is left, nor is the system. False: what was wrong is told (a node's error, a death, a signal
 * that asked to end); what the records say is then of a part. Who it was that failed is in
 * `failed`, a list of {"node", "process_id", "state", "message"}; "node" null: the process of all
 * that are threads. */
bool stress_crew_run(const med_command *command,
                     const deployment *d,
                     stress_shared *shared,
                     json_t *failed);

/* Memory for it, or NULL. It stays until the command ends. */
stress_shared *stress_shared_make(const deployment *d);
/* Transactions on all channels. */
uint64_t stress_transactions(const deployment *d);

#endif
