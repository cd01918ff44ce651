/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock of a mutex with priority inheritance. For mutex.c and view.c only. */
#ifndef MEDLEY_MRAPI_MUTEX_PI_H
#define MEDLEY_MRAPI_MUTEX_PI_H

#include <stdint.h>

#include "medley/status.h"
#include "mrapi/mutex.h"

bool med_mutex_pi_is_mine(const med_self *self, const med_mutex_row *row);
/* The number of the thread that holds it, or 0. */
uint32_t med_mutex_pi_thread(const med_mutex_row *row);
/* Its holder died, and nobody has had it since. */
bool med_mutex_pi_is_gone(const med_mutex_row *row);
/* Its holder, if he has written down who he is; else 0. For showing. */
uint32_t med_mutex_pi_holder(const struct med_system *system, const med_mutex_row *row);

/* As base's med_lock_acquire. MEDLEY_ERR_NOT_SUPPORTED: its creator's thread numbers mean nothing
 * here (another PID namespace). MEDLEY_ERR_NOT_OWNER: it is held, to be released at once, since
 * its holder died and nobody may have it. When the mutex is deleted meanwhile, any error: the
 * caller looks at the handle again; never had. */
medley_status_t
med_mutex_pi_take(med_self *self, med_mutex_row *row, med_handle handle, uint64_t deadline_ns);
/* By its holder only. */
void med_mutex_pi_release(med_self *self, med_mutex_row *row);

/* When a row is filled, with or without priority inheritance: a new mutex gets the word as a former
 * one left it. */
void med_mutex_pi_fill(med_mutex_row *row, uint32_t space);
/* By its maker, who has just made it: those who still sleep for a former mutex of the row go first,
 * as far as they come before him. May block, up to a second, or until another has had it. */
void med_mutex_pi_settle(med_self *self, med_mutex_row *row, med_handle handle);

/* If the calling thread holds it as that node: releases it as if the node had died. Else false,
 * and nothing is done. */
bool med_mutex_pi_leave(const struct med_system *system, med_mutex_row *row, uint32_t node_ref);
/* Of `count` rows from `first` on, whatever their mutexes are now, those words that the thread of
 * that number held, who is gone, come free. Idempotent; from any PID namespace. MEDLEY_TIMEOUT:
 * somebody has the table of nodes locked and does not go on. */
medley_status_t
med_mutex_pi_bury(struct med_system *system, uint32_t first, uint32_t count, uint32_t thread_id);

#endif
