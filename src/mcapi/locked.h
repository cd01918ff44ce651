/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The locked baseline: MCAPI as the lock-free MCAPI paper found it (its section 2), to measure
 * beside. With MEDLEY_EXCHANGE=locked every look at what nodes share, and every change of it, is
 * made under one reader/writer lock, whose changes one lock of the operating system guards. What
 * lies under it is the same as without. All nodes of a system do so, or none.
 */
#ifndef MEDLEY_MCAPI_LOCKED_H
#define MEDLEY_MCAPI_LOCKED_H

#include <stdbool.h>

#include "mcapi/exchange.h"
#include "medley/status.h"
#include "mrapi/rwl.h"
#include "port/port.h"

/* What MEDLEY_EXCHANGE asks for: "locked", or "lock-free", which is standard. What makes no sense
 * is reported and ignored. */
bool med_locked_wanted(void);
/* Says that this system's nodes exchange otherwise than this one asks for. */
void med_locked_report(const med_system *system, bool wanted);
/* Finds the lock for the caller, who takes part, or makes it. MEDLEY_ERR_NOT_SUPPORTED: the machine
 * has no such lock, which is reported; MEDLEY_ERR_LIMIT, MEDLEY_TIMEOUT as med_rwl_create. */
medley_status_t med_locked_join(med_self *self);

medley_status_t med_locked_enter_slow(med_self *self, med_rwl_mode mode);
void med_locked_leave_slow(med_self *self, med_rwl_mode mode);

/* Never where there are no such locks: there, it costs nothing. */
static inline bool
med_is_locked(const med_self *self)
{
    return med_port_has_pi() && __builtin_expect(self->exchange->guard != 0, 0);
}

/* May a call that could wait try at once, without a queue? In a small build the queue (pending.h)
 * is the only way: it tries at once too, where nothing stands in front. */
static inline bool
med_may_try_at_once(const med_pending_queue *queue)
{
    return !med_port_is_small() && __builtin_expect(!queue->first, 1);
}

/* Around what looks at (read), or changes, what nodes share. Not within another. Nothing at all
 * where the exchange is lock-free. MEDLEY_ERR_CORRUPT: the lock is not to be had any more, or was
 * not for long, which is reported. */
static inline medley_status_t
med_locked_enter(med_self *self, med_rwl_mode mode)
{
    return med_is_locked(self) ? med_locked_enter_slow(self, mode) : MEDLEY_OK;
}

static inline void
med_locked_leave(med_self *self, med_rwl_mode mode)
{
    if (med_is_locked(self)) {
        med_locked_leave_slow(self, mode);
    }
}

/* The same around one call, which gives a status as well; it stands there twice, so that who is not
 * locked asks once. */
#define MED_LOCKED(self, mode, status, call)                                                       \
    do {                                                                                           \
        if (__builtin_expect(!med_is_locked(self), 1)) {                                           \
            (status) = (call);                                                                     \
        } else if (((status) = med_locked_enter_slow(self, mode)) == MEDLEY_OK) {                  \
            (status) = (call);                                                                     \
            med_locked_leave_slow(self, mode);                                                     \
        }                                                                                          \
    } while (0)

#endif
