/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The wait object: how any thread of Medley waits for anything.
 *
 * It has four bytes and may lie in a partition. Whoever changes what others wait for publishes the
 * change (a release store) and then calls med_wait_wake: a plain load and a branch when nobody
 * sleeps. Whoever waits calls med_wait_until: it spins, then sleeps; the price of being seen is
 * paid by the sleeper (a heavy barrier), never by the waker.
 *
 * Any number of threads may wait on one object, for different conditions: a wake wakes all of them.
 * A thread that dies asleep leaves nothing behind but, at most, one needless wake. A wake that is
 * missed (its waker died between publishing and waking, say) costs one slice, not a hang.
 *
 * docs/design/wait.md argues it; models/wait.pml checks it.
 */
#ifndef MEDLEY_BASE_WAIT_H
#define MEDLEY_BASE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "medley/status.h"
#include "port/port.h"

/* bit 0: somebody sleeps, or is about to
 * bits 1 to 31: how often it was woken, modulo 2^31 */
typedef struct med_wait {
    atomic32 word;
} med_wait;

#define MED_WAIT_SLEEPS 1u
#define MED_WAIT_WOKEN 2u

/* The same for a crowd, of more threads than can run at once. When others compute beside it
 * (base/beside.h) each wait is a sleep, and a heavy barrier for each costs all more than a locked
 * instruction for each wake. So the wakers pay from then on, for good. */
typedef struct med_wait_crowd {
    med_wait wait;
    atomic32 pays; /* med_wait_pays */
} med_wait_crowd;

typedef enum med_wait_pays {
    MED_WAIT_PAYS_SLEEPER,
    MED_WAIT_PAYS_BOTH, /* who wakes begins to */
    MED_WAIT_PAYS_WAKER,
} med_wait_pays;

/* How long one is to spin, whatever he learned. On one processor nobody is made to spin, but where
 * those he waits for are known to have others: each of a team may be bound to one of his own. */
typedef struct med_wait_limits {
    uint64_t least_ns;
    uint64_t most_ns;
    bool others_apart;
} med_wait_limits;

/* One per thread that waits; private to that thread. What it learned, and what it did. */
typedef struct med_waiter {
    uint32_t spin_ns; /* how long it spins before it sleeps; adapts */
    uint32_t crowded; /* on one processor: so many waits to come sleep at once */
    uint32_t crowd;   /* how many they were after the last slice lost; fades */
    uint32_t sleeps;  /* waits that were not over before it had slept; wrapping */
    uint32_t slices;  /* sleeps that ended without a wake */
} med_waiter;

/* A zeroed med_waiter is ready for use; so is a zeroed med_wait. */

typedef struct med_wait_request {
    /* True when there is nothing more to wait for. Called often; must not block. */
    bool (*condition)(void *context);
    /* Called after every slice slept, may be NULL. Anything but MEDLEY_OK ends the wait with it:
     * here the owner of a protocol looks whether its peers live. */
    medley_status_t (*each_slice)(void *context);
    /* NULL; or: is one who is waited for to run on this very processor? Called at each look of the
     * spin; if so the waiter gives way. */
    bool (*is_wanted_here)(void *context);
    void *context;
    /* NULL; or the word at which he looks, and not at the object, who makes the condition hold:
     * `call_value` there makes him look closer, however far he goes on. He may store there himself
     * when he has looked closer, and looks at the object afterwards, by med_wait_wake. */
    atomic32 *call;
    uint32_t call_value;
    const med_wait_limits *limits; /* NULL: what the waiter learned decides */
    /* Nobody looks for deaths in these slices: behind one of 4 ms, for who has something else to
     * look at in waits that are short, they begin with 64 ms, and go on doubling, since thousands
     * who wait for long would keep the processors busy with looking. Of these slices he leaves out
     * so many, the short one first. */
    bool slices_double;
    uint32_t slices_left_out;
    /* Whoever makes the condition hold wakes by med_wait_wake_paid: where sleeps are as frequent as
     * wakes, so that a heavy barrier for each would cost all more than a locked instruction. */
    bool wakers_pay;
    uint64_t deadline_ns; /* MED_PORT_FOREVER: never; 0 or the past: one look */
    med_port_scope scope;
} med_wait_request;

/* Blocks until the condition holds (MEDLEY_OK), the deadline passes (MEDLEY_TIMEOUT), or each_slice
 * ends it. The condition is looked at once more before MEDLEY_TIMEOUT. */
MED_INNER medley_status_t med_wait_until(med_wait *wait,
                                         med_waiter *waiter,
                                         const med_wait_request *request);

/* Whether it reached anybody; also true when another wakes them just now. */
MED_INNER bool med_wait_wake_sleepers(med_wait *wait, med_port_scope scope);

/* After publishing. Wakes everybody who waits. Whether somebody was said to sleep, and nobody did:
 * he died asleep; or he had not come to it yet, or looks on. */
static inline bool
med_wait_wake_misses(med_wait *wait, med_port_scope scope)
{
    med_port_barrier_light(scope); /* B1 what was published, then flag <-> W2 (wait.c) */
    /* Relaxed: it decides only whether to look closer. */
    return __builtin_expect((atomic32_load_relaxed(&wait->word) & MED_WAIT_SLEEPS) != 0, 0) &&
           !med_wait_wake_sleepers(wait, scope);
}

/* The same for who need not know. */
static inline void
med_wait_wake(med_wait *wait, med_port_scope scope)
{
    (void)med_wait_wake_misses(wait, scope);
}

/* The same for sleepers whose wakers pay, and only for those. */
static inline void
med_wait_wake_paid(med_wait *wait, med_port_scope scope)
{
    /* R3 what was published -> A3 (announce_to_who_pays, wait.c), A4 (announce_to_crowd, wait.c) */
    if (atomic32_fetch_or_release(&wait->word, 0) & MED_WAIT_SLEEPS) {
        (void)med_wait_wake_sleepers(wait, scope);
    }
}

/* Of a crowd: as med_wait_until and med_wait_wake. */
MED_INNER medley_status_t med_wait_crowd_until(med_wait_crowd *crowd,
                                               med_waiter *waiter,
                                               const med_wait_request *request);

static inline void
med_wait_crowd_wake(med_wait_crowd *crowd, med_port_scope scope)
{
    med_port_barrier_light(scope); /* B2 what was published, then who pays <-> W6 (wait.c) */
    /* Relaxed: who does not see it has published before W6. */
    if (__builtin_expect(atomic32_load_relaxed(&crowd->pays) != MED_WAIT_PAYS_SLEEPER, 0)) {
        med_wait_wake_paid(&crowd->wait, scope);
    } else if (__builtin_expect(
                   /* Relaxed: it decides only whether to look closer. */
                   (atomic32_load_relaxed(&crowd->wait.word) & MED_WAIT_SLEEPS) != 0, 0)) {
        (void)med_wait_wake_sleepers(&crowd->wait, scope);
    }
}

/* ---- For who wakes often --------------------------------------------------------------------- */

/* Looks at one word, where med_wait_wake looks at three. Private to one thread; in a child of fork
 * it is begun anew. */
typedef struct med_waker {
    const atomic32 *look; /* the wait object; or a word that says that somebody sleeps, as long as
                           * the light half of the barrier costs something */
    med_wait *wait;
    med_port_scope scope;
} med_waker;

void med_waker_begin(med_waker *waker, med_wait *wait, med_port_scope scope);
/* As med_wait_wake_misses. */
bool med_waker_look_closer(med_waker *waker);

/* Does somebody sleep, perhaps? */
static inline bool
med_waker_is_due(const med_waker *waker)
{
    med_port_barrier_free(); /* else med_waker_look_closer has the light half */
    /* Relaxed: it decides only whether to look closer. */
    return __builtin_expect((atomic32_load_relaxed(waker->look) & MED_WAIT_SLEEPS) != 0, 0);
}

/* As med_wait_wake. */
static inline void
med_waker_wake(med_waker *waker)
{
    if (med_waker_is_due(waker)) {
        (void)med_waker_look_closer(waker);
    }
}

/* ---- The spinning half, for locks and barriers that bring their own words -------------------- */

/* One spin phase: returns true as soon as `condition` holds, false when it is time to sleep. Knows
 * when spinning gives way to others (one processor), and to be brief (in real time there). */
bool med_wait_spin(med_waiter *waiter, bool (*condition)(void *context), void *context);
/* How long it may spin in the wait that begins now. Not long in real time on one processor: whom it
 * waits for may need this very processor. But he may run on another, and then a sleep costs many
 * times as much. 0, sleep at once: in real time where there is no other; else on one processor when
 * the waiter is new, or others compute there. */
uint32_t med_wait_spin_learned_ns(med_waiter *waiter, const med_port_scheduling *scheduling);

/* How the calling thread is scheduled, seen by who waits within such limits. */
static inline void
med_wait_scheduling_get(const med_wait_limits *limits, med_port_scheduling *scheduling)
{
    med_port_scheduling_get(scheduling);
    if (!med_port_is_small() && limits && limits->others_apart && scheduling->processors == 1) {
        scheduling->processors = 2; /* its own, and theirs */
        scheduling->alone = false;
    }
}

/* The same within the limits, if there are any; in a small build there are none. */
static inline uint64_t
med_wait_spin_budget_ns(med_waiter *waiter,
                        const med_wait_limits *limits,
                        const med_port_scheduling *scheduling)
{
    uint64_t budget_ns = med_wait_spin_learned_ns(waiter, scheduling);
    if (med_port_is_small() || !limits) {
        return budget_ns;
    }
    if (scheduling->processors != 1 && budget_ns < limits->least_ns) {
        budget_ns = limits->least_ns;
    }
    return budget_ns < limits->most_ns ? budget_ns : limits->most_ns;
}

/* What the spin taught: it was long enough, or the thread had to sleep all the same. */
void med_wait_learn(med_waiter *waiter, bool slept);
/* Between two looks on one processor: whom it waits for may run there. */
void med_wait_give_way(med_waiter *waiter);
/* What a yield taught: when it lasted, somebody else computes here. To give way to him costs a
 * whole slice of his, while a wake preempts him: so waits to come sleep at once, the more the more
 * often that happened; then it tries again. */
void med_wait_learn_yield(med_waiter *waiter, uint64_t lasted_ns);
/* Between two looks at what changes soon and wakes nobody: gives way, then sleeps, since who is to
 * change it may have a lower priority and no other processor. `pauses` counts them, from 0. */
MED_INNER void med_wait_pause(uint32_t *pauses);
/* When the next slice ends: `slice_index` counts the slices of this wait from 0. */
uint64_t med_wait_slice_end_ns(uint32_t slice_index, uint64_t deadline_ns);

#endif
