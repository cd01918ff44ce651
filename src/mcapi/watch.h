/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How who sends learns of his receiver's death though there is room: now and then, before he sends,
 * he asks the clock whether a look at the receiver's life is due, which is system calls, and a
 * recovery if he is dead. Each lane keeps its own time, so that a busy one does not use up the
 * looks of the others.
 *
 * A sender who is slow asks each time, so the first that he sends 100 ms after the last look, or
 * later, finds a death before it is sent. One who is fast asks after so many, in which that time
 * would hardly pass: the number doubles as long as he is. So who was fast and then is slow sends as
 * many more at most. To ask again before anything was sent, as who finds no room does, is not to be
 * fast. Who wakes a receiver and reaches nobody, though he was said to sleep, asks
 * before he sends the next, and a look is due after 10 ms: it was death, or he had just come awake.
 *
 * All of it is the producer's own. Only where there are processes: else nobody dies unnoticed.
 */
#ifndef MEDLEY_MCAPI_WATCH_H
#define MEDLEY_MCAPI_WATCH_H

#include "mcapi/lane.h"

/* Of a lane that was just attached: a look is due. */
void med_watch_begin(med_lane_own *lane);

/* Is it to ask within so many elements, from what it sends next on? */
static inline bool
med_watch_is_due_within(const med_lane_own *lane, uint32_t elements)
{
    uint32_t left = lane->producer.watch.asks_at - med_ring_tail(&lane->producer.ring);
    return med_port_has_processes() && (int32_t)left < (int32_t)elements;
}

/* Is it to ask, before it sends what comes next? */
static inline bool
med_watch_is_due(const med_lane_own *lane)
{
    return __builtin_expect(med_watch_is_due_within(lane, 1), 0);
}

/* Of states, by the number of the newest: is it to ask, before it sends the next? */
static inline bool
med_watch_is_due_after(const med_lane_own *lane, uint32_t newest)
{
    int32_t left = (int32_t)(lane->producer.watch.asks_at - newest);
    return med_port_has_processes() && __builtin_expect(left <= 0, 0);
}

/* Asks, and looks if that is due. `elements` of the ring go next, and perhaps with each; of states
 * 1. Whether the receiver is gone, or dead and not recovered yet. */
bool med_watch_ask(med_self *self, med_lane_own *lane, uint32_t elements);

/* If it is to: whether the receiver is found to be gone. */
static inline bool
med_watch_finds_gone(med_self *self, med_lane_own *lane, uint32_t elements)
{
    return med_watch_is_due(lane) && med_watch_ask(self, lane, elements);
}

/* An index of the ring, or where it is to ask, if that comes first. */
static inline uint32_t
med_watch_until(const med_lane_own *lane, uint32_t index)
{
    uint32_t asks_at = lane->producer.watch.asks_at;
    return med_port_has_processes() && (int32_t)(asks_at - index) < 0 ? asks_at : index;
}

/* A wake reached nobody: it asks before it sends the next, in whatever way (but scalars: scalar.c).
 */
void med_watch_missed(med_lane_own *lane);

/* Wakes the receiver, who perhaps sleeps. */
void med_watch_wake_closer(med_lane_own *lane);

/* Wakes the receiver, if he sleeps. */
static inline void
med_watch_wake(med_lane_own *lane)
{
    if (med_port_has_threads() && med_waker_is_due(&lane->producer.news)) {
        med_watch_wake_closer(lane);
    }
}

#endif
