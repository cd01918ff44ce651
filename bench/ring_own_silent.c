/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Our ring without its wake check. */
#include "base/wait.h"

#define med_wait_wake(wait, scope) ((void)(wait), (void)(scope))
#define med_waker_wake(waker) ((void)(waker))
#define med_waker_wake_only(waker, wait) ((void)(waker), (void)(wait))

#include "ring_own_loops.h"

OWN_SYSTEM(
    ring_packed_silent, packed_, "medley packed, no wake check", LAYOUT_PACKED, MED_RING_PACKED)
OWN_SYSTEM(ring_line_silent, line_, "medley line, no wake check", LAYOUT_LINE, MED_RING_LINE)
