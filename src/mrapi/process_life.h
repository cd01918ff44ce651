/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What process.c and process_recover.c have of each other. */
#ifndef MEDLEY_MRAPI_PROCESS_LIFE_H
#define MEDLEY_MRAPI_PROCESS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "medley/status.h"
#include "mrapi/process.h"

/* Does somebody else hold the slot, or is it our own? Who has lost it lives as well. */
bool med_process_slot_held(const struct med_system *system, uint32_t index);
/* Is the one that claimed the recovery, as the row's word says, still at it? Not when he is dead,
 * nor when he is so long at it that he must have been stopped. */
bool med_process_recoverer_at_it(struct med_system *system, uint32_t index, uint32_t word);
/* What the row's process held, in this generation or before, comes free. For who has claimed the
 * recovery. MEDLEY_TIMEOUT: not all of it. */
medley_status_t
med_process_clean_up(struct med_system *system, uint32_t index, uint32_t generation);

#endif
