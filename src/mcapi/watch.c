/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is not on the way of every record: asking, looking, and waking. */
#include "mcapi/watch.h"

/* Ticks of 0.13 ms, which begin anew after 6 days: a look may then come 100 ms late. */
#define TICK_SHIFT 17
#define TICKS(ns) ((uint32_t)((ns) >> TICK_SHIFT))
#define LOOK_TICKS TICKS(100000000u)
#define LOOK_MISSED_TICKS TICKS(10000000u)
/* Who asks again after this, or later, is slow. */
#define SLOW_TICKS TICKS(1000000u)
/* So many go at most from one question to the next. Of scalars, which take 5 ns each, more than
 * most lanes have room for: the look for room that follows a question takes as long as 40 of them.
 */
#define RUN_MAX 64u
#define RUN_MAX_SCALARS 32768u
/* States take 10 ns each, and none is lost by the one behind it. */
#define RUN_MAX_STATES 1024u

/* Where what it sends next goes. Of states, whose numbers begin anew some day, it asks a few later
 * then. */
static uint32_t
next_of(const med_lane_own *lane)
{
    return lane->producer.kind == MED_LANE_STATES ? med_state_cell_newest(&lane->producer.cell)
                                                  : med_ring_tail(&lane->producer.ring);
}

void
med_watch_begin(med_lane_own *lane)
{
    lane->producer.watch = (med_lane_watch){.asks_at = next_of(lane)};
}

static uint32_t
run_max(med_lane_kind kind)
{
    switch (kind) {
    case MED_LANE_SCALARS:
        return RUN_MAX_SCALARS;
    case MED_LANE_STATES:
        return RUN_MAX_STATES;
    case MED_LANE_MESSAGES:
    case MED_LANE_PACKETS:
    default:
        return RUN_MAX;
    }
}

/* So many may go until it asks again. */
static uint32_t
run_of(const med_lane_own *lane, uint32_t now, uint32_t next, uint32_t elements)
{
    const med_lane_watch *watch = &lane->producer.watch;
    uint32_t most = run_max(lane->producer.kind);
    if (watch->run == 0 || now - watch->asked >= SLOW_TICKS) {
        return 1;
    }
    if (watch->asks_at == next + watch->run * elements) {
        return watch->run; /* nothing was sent since */
    }
    return watch->run < most ? watch->run * 2u : most;
}

/* Looks, and recovers the receiver if he is dead. False, though his end is not said to be gone yet,
 * where another is at that: he may be stopped. */
static bool
receiver_lives(med_self *self, const med_lane_row *row)
{
    med_lane_look_at(self->system, row, MED_LANE_CONSUMER);
    /* Relaxed: fixed when it was made. */
    return med_node_alive(self->system, atomic32_load_relaxed(&row->side[MED_LANE_CONSUMER]));
}

bool
med_watch_ask(med_self *self, med_lane_own *lane, uint32_t elements)
{
    med_lane_watch *watch = &lane->producer.watch;
    uint32_t now = TICKS(med_port_clock_ns());
    uint32_t next = next_of(lane);
    uint32_t run = run_of(lane, now, next, elements);
    watch->run = (uint16_t)run;
    watch->asks_at = next + run * elements;
    watch->asked = now;
    if (now - watch->looked >= (watch->missed ? LOOK_MISSED_TICKS : LOOK_TICKS)) {
        if (!receiver_lives(self, lane->producer.row)) {
            watch->asks_at = next; /* and looks then, until the end is gone */
            return true;
        }
        watch->looked = now;
        watch->missed = false;
    }
    return med_lane_is_gone(lane->producer.row, MED_LANE_CONSUMER);
}

void
med_watch_missed(med_lane_own *lane)
{
    uint32_t next = next_of(lane);
    lane->producer.watch.missed = true;
    lane->producer.watch.run = 0;
    lane->producer.watch.asks_at = next;
    lane->producer.at_once_until = next;
    lane->producer.share_end = next;
}

void
med_watch_wake_closer(med_lane_own *lane)
{
    if (med_waker_look_closer(&lane->producer.news) && med_port_has_processes()) {
        med_watch_missed(lane);
    }
}
