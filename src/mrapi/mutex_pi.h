/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock of a mutex with priority inheritance. For mutex.c only. */
#ifndef MEDLEY_MRAPI_MUTEX_PI_H
#define MEDLEY_MRAPI_MUTEX_PI_H

#include <stdint.h>

#include "medley/status.h"
#include "mrapi/mutex.h"

bool med_mutex_pi_is_mine(const med_self *self, const med_mutex_row *row);
/* The number of the thread that holds it, or 0. */
uint32_t med_mutex_pi_thread(const med_mutex_row *row);

/* As base's med_lock_acquire. MEDLEY_ERR_NOT_SUPPORTED: its creator's thread numbers mean nothing
 * here (another PID namespace). MEDLEY_ERR_NOT_OWNER: it is held, to be given back at once, since
 * its holder died and nobody may have it. */
medley_status_t
med_mutex_pi_take(med_self *self, med_mutex_row *row, med_handle handle, uint64_t deadline_ns);
/* By its holder only. */
void med_mutex_pi_give(med_self *self, med_mutex_row *row);
/* Of a thread that leaves (the caller), or is gone. Idempotent. */
void med_mutex_pi_recover(const struct med_system *system,
                          med_mutex_row *row,
                          uint32_t node_ref,
                          uint32_t thread_id);

#endif
