/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The wait object. What may run together:
 *
 *              wake        until
 *   wake       yes         yes
 *   until      yes         yes
 *
 * Why no wake is lost. The sleeper sets the flag (W1), passes a heavy barrier (W2), and looks at
 * the condition (W3). The waker publishes (P1), then looks at the flag (P2). If P2 misses the flag,
 * then P2 came before W1 reached the waker's processor; the heavy barrier W2 makes every running
 * thread pass a full fence after W1, so P1, which precedes P2 in program order, is visible before
 * W3, and the sleeper does not sleep. If P2 sees the flag, the waker moves the word from odd to
 * even, which makes the sleeper's futex call return, or not sleep at all.
 *
 * A waker that looks at a word of its own (`call`) may store there, too: P3 after P2, and then it
 * looks at the flag, P4. The sleeper stores the call (W4) between W1 and W2, and looks after W3
 * whether it stands (W5); if not, again from W4 on. Be W2 the last one, and P1 too late for W3: so
 * P1 and the P2 behind it come after W2, and P2 sees the call; but for a P3 that took it away. Had
 * that come before W2, then W5 would have seen it; so it came after, and so did its P4, which sees
 * the flag. Twice is enough: a P3 that takes the second call away has a P4 after the first W2.
 *
 * Where the wakers pay there is no barrier: both sides change the word, so one of them comes first.
 * If that is the waker (R3), the sleeper (A3, A4) has what was published before it; else the waker
 * sees the flag. A crowd's wakers begin to pay once, behind a barrier (W6).
 *
 * The flag is cleared by the waker, who wakes all; a sleeper that must go on sleeping sets it anew.
 * So nobody counts sleepers, and a sleeper that is killed leaves a flag that the next wake clears.
 *
 * Linearisation of a wake: the compare-and-swap from odd to even. Progress: a wake is lock-free.
 * Death: of a sleeper, nothing; of a waker between P1 and its futex call, the sleepers' slices end.
 * Models: models/wait.pml (a crowd's: CROWD); models/call.pml for a waker with a word of its own.
 */
#include "base/wait.h"

#include "base/beside.h"

/* A wake across processors costs 20 to 44 us in a virtual machine: to spin that long is to pay at
 * most twice the optimum. */
#define SPIN_MAX_NS 50000u
#define SPIN_MIN_NS 2000u
#define SPIN_START_NS 20000u
/* So long the spinner keeps its processor; then it offers it to others, again when it has spun
 * twice as long, and at last so often. Where they took it for longer, the next offer is due. */
#define SPIN_ALONE_NS 3000u
#define SPIN_OFFER_NS 16000u
#define LOOKS_PER_CLOCK 16
/* So often in one wait it gives way to those it waits for, which is no time lost. */
#define GIVES_WAY_MAX 64u
/* On one processor a yield as long as this was a slice of somebody who computes there. So many
 * waits share it at first, and at most. */
#define CROWDED_NS 500000u
#define CROWDED_FIRST 8u
#define CROWDED_LAST 4096u
#define CROWDED_FADES 64u /* so many spins that were enough undo about two thirds */

/* As long as a recovery of few things takes; then long enough to be a sleep. */
#define PAUSES_AWAKE 16
#define PAUSE_NS 500000u

#define CALLS 2 /* are enough: above */

#define SLICE_FIRST_NS 4000000u
#define SLICE_DOUBLES 4u       /* to 64 ms: deaths are noticed so late */
#define SLICE_DOUBLES_LONG 16u /* from there to 262 s */

bool
med_wait_wake_sleepers(med_wait *wait, med_port_scope scope)
{
    /* Relaxed: the compare-and-swap checks it. */
    uint32_t word = atomic32_load_relaxed(&wait->word);
    while (word & MED_WAIT_SLEEPS) {
        /* Relaxed is enough: the condition's own release and acquire carry the data, the kernel
         * orders the futex call. */
        if (atomic32_cas_relaxed(&wait->word, &word, word - MED_WAIT_SLEEPS + MED_WAIT_WOKEN)) {
            return med_port_wake(&wait->word.value, UINT32_MAX, scope) > 0;
        }
    }
    return true;
}

/* What a waker sees who must look closer. */
static const atomic32 somebody_sleeps = {MED_WAIT_SLEEPS};

void
med_waker_begin(med_waker *waker, med_wait *wait, med_port_scope scope)
{
    *waker = (med_waker){.look = &somebody_sleeps, .wait = wait, .scope = scope};
}

bool
med_waker_look_closer(med_waker *waker)
{
    bool misses = med_wait_wake_misses(waker->wait, waker->scope);
    if (med_port_barrier_is_free(waker->scope)) {
        waker->look = &waker->wait->word;
    }
    return misses;
}

static uint64_t
slice_end_ns(uint32_t doubled, uint64_t deadline_ns)
{
    uint64_t end_ns = med_port_clock_ns() + ((uint64_t)SLICE_FIRST_NS << doubled);
    return end_ns < deadline_ns ? end_ns : deadline_ns;
}

static uint32_t
smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint64_t
med_wait_slice_end_ns(uint32_t slice_index, uint64_t deadline_ns)
{
    return slice_end_ns(smaller(slice_index, SLICE_DOUBLES), deadline_ns);
}

static uint64_t
slice_of_request_end_ns(const med_wait_request *request, uint32_t slice)
{
    bool is_long = !med_port_is_small() && request->slices_double;
    uint32_t doubled = is_long && slice ? smaller(SLICE_DOUBLES + slice - 1, SLICE_DOUBLES_LONG)
                                        : smaller(slice, SLICE_DOUBLES);
    return slice_end_ns(doubled, request->deadline_ns);
}

static uint32_t
learned_ns(const med_waiter *waiter)
{
    return waiter->spin_ns ? waiter->spin_ns : SPIN_START_NS;
}

/* On one processor, in ordinary scheduling. Who is new, and may wait this once only, risks no slice
 * of another; from then on it spins as long as another takes to come from his sleep. */
static bool
sleeps_at_once(med_waiter *waiter)
{
    if (waiter->spin_ns == 0) {
        waiter->spin_ns = SPIN_MAX_NS;
        return true;
    }
    if (waiter->crowded > 0) {
        waiter->crowded--;
        return true;
    }
    return false;
}

uint32_t
med_wait_spin_learned_ns(med_waiter *waiter, const med_port_scheduling *scheduling)
{
    if (scheduling->processors != 1) {
        return learned_ns(waiter);
    }
    if (scheduling->real_time) {
        return scheduling->alone ? 0 : SPIN_MIN_NS;
    }
    return sleeps_at_once(waiter) ? 0 : learned_ns(waiter);
}

void
med_wait_learn(med_waiter *waiter, bool slept)
{
    uint32_t spin_ns = learned_ns(waiter);
    if (slept) {
        waiter->spin_ns = spin_ns / 2 > SPIN_MIN_NS ? spin_ns / 2 : SPIN_MIN_NS;
    } else {
        waiter->spin_ns = spin_ns * 2 < SPIN_MAX_NS ? spin_ns * 2 : SPIN_MAX_NS;
        if (waiter->crowded == 0) {
            waiter->crowd -= (waiter->crowd + CROWDED_FADES - 1) / CROWDED_FADES;
        }
    }
}

void
med_wait_learn_yield(med_waiter *waiter, uint64_t lasted_ns)
{
    if (lasted_ns >= CROWDED_NS) {
        uint32_t waits = waiter->crowd * 2 + CROWDED_FIRST;
        waiter->crowd = waits < CROWDED_LAST ? waits : CROWDED_LAST;
        waiter->crowded = waiter->crowd;
        waiter->spin_ns = SPIN_MAX_NS; /* as long as another takes to come from his sleep */
    }
}

void
med_wait_give_way(med_waiter *waiter)
{
    uint64_t start_ns = med_port_clock_ns();
    med_port_yield();
    med_wait_learn_yield(waiter, med_port_clock_ns() - start_ns);
}

/* What is looked at; as in med_wait_request. */
typedef struct watch {
    bool (*condition)(void *context);
    bool (*is_wanted_here)(void *context);
    void *context;
    bool is_of_crowd;  /* those it waits for are more than can run: base/beside.h */
    med_beside beside; /* of one of a crowd */
    bool gave_way;
} watch;

/* A small machine has a thread to each core. */
static bool
is_wanted_here(const watch *watched)
{
    return !med_port_is_small() && watched->is_wanted_here &&
           watched->is_wanted_here(watched->context);
}

static void
give_way(med_waiter *waiter, watch *watched)
{
    if (!med_port_is_small() && watched->is_of_crowd) {
        waiter->crowded = 0;
        watched->gave_way = true;
    }
    med_wait_give_way(waiter);
    if (!med_port_is_small() && watched->is_of_crowd && waiter->crowded > 0) { /* it lasted */
        med_beside_found(watched->beside == MED_BESIDE_TRY);
        watched->beside = MED_BESIDE_OTHERS;
    }
}

/* How a look in vain ends: when the next one is due. True: others may have had the processor. */
static bool
between_looks(med_waiter *waiter, bool only_processor, watch *watched)
{
    bool gives_way = only_processor || is_wanted_here(watched);
    if (gives_way) {
        give_way(waiter, watched);
    } else {
        med_port_cpu_relax();
    }
    return gives_way;
}

/* Since the wait began one has lost a slice, he or another. */
static bool
is_to_sleep(const watch *watched)
{
    return watched->is_of_crowd &&
           (watched->beside == MED_BESIDE_OTHERS ||
            (watched->beside == MED_BESIDE_NOBODY && med_beside_is_known()));
}

/* When, after so long a spin, it offers its processor again: who has nobody beside him would miss
 * what he waits for while he is in the system (16 threads, ordered turns: 0.69 us, so 0.56). */
static uint64_t
next_offer_ns(uint64_t spun_ns)
{
    if (med_port_is_small()) {
        return SPIN_ALONE_NS;
    }
    return spun_ns + (spun_ns < SPIN_OFFER_NS ? spun_ns : SPIN_OFFER_NS);
}

static bool
spin(med_waiter *waiter, const med_port_scheduling *scheduling, uint64_t budget_ns, watch *watched)
{
    bool only_processor = scheduling->processors == 1;
    uint32_t given = 0; /* to those it waits for, on one of several processors */
    /* 0: from the next look at the clock on. A small build has none to give way to. */
    uint64_t start_ns = med_port_is_small() ? med_port_clock_ns() : 0;
    uint64_t alone_ns = SPIN_ALONE_NS;
    for (;;) {
        bool gave_way = false;
        for (int look = 0; look < LOOKS_PER_CLOCK && !gave_way; look++) {
            if (watched->condition(watched->context)) {
                return true;
            }
            gave_way = between_looks(waiter, only_processor, watched);
        }
        if (!med_port_is_small() && is_to_sleep(watched)) {
            return watched->condition(watched->context);
        }
        if (!med_port_is_small() && gave_way && !only_processor && given++ < GIVES_WAY_MAX) {
            start_ns = 0;
            continue;
        }
        uint64_t now_ns = med_port_clock_ns();
        if (!med_port_is_small() && !start_ns) {
            start_ns = now_ns;
        }
        uint64_t spun_ns = now_ns - start_ns;
        if (spun_ns >= budget_ns) {
            return watched->condition(watched->context);
        }
        if (spun_ns >= alone_ns && !only_processor && !scheduling->real_time) {
            alone_ns = next_offer_ns(spun_ns);
            if (med_port_is_small()) {
                med_port_yield();
            } else {
                give_way(waiter, watched);
            }
        }
    }
}

/* On one of several processors: has somebody computed where it gave way, or one of its crowd? Where
 * those it waits for have others, it goes on giving way: two teams of two on two processors are
 * done sooner so (two CG at once: 1.02 of libgomp, and 1.15 when they sleep). */
static bool
is_crowded_out(med_waiter *waiter,
               const med_wait_limits *limits,
               const med_port_scheduling *scheduling,
               watch *watched)
{
    if (med_port_is_small() || scheduling->processors == 1 || scheduling->real_time ||
        (limits && limits->others_apart)) {
        return false;
    }
    if (watched->is_wanted_here) {
        watched->is_of_crowd = true;
        watched->beside = med_beside_look();
        return watched->beside == MED_BESIDE_OTHERS;
    }
    bool is_crowded = waiter->crowded > 0;
    waiter->crowded -= is_crowded;
    return is_crowded;
}

/* It lost no slice. */
static void
tell_of_try(const watch *watched, bool holds)
{
    if (holds && watched->gave_way) {
        med_beside_gone();
    } else {
        med_beside_untold();
    }
}

static bool
spin_if_it_may(med_waiter *waiter, const med_wait_limits *limits, watch *watched)
{
    if (watched->condition(watched->context)) {
        med_wait_learn(waiter, false);
        return true;
    }
    med_port_scheduling scheduling;
    med_wait_scheduling_get(limits, &scheduling);
    if (is_crowded_out(waiter, limits, &scheduling, watched)) {
        return false;
    }
    uint64_t budget_ns = med_wait_spin_budget_ns(waiter, limits, &scheduling);
    if (budget_ns == 0) {
        return false;
    }
    bool holds = spin(waiter, &scheduling, budget_ns, watched);
    med_wait_learn(waiter, !holds);
    if (!med_port_is_small() && watched->beside == MED_BESIDE_TRY) {
        tell_of_try(watched, holds);
    }
    /* It was made to spin so long: was what it had learned too short? */
    if (!med_port_is_small() && holds && budget_ns > SPIN_MAX_NS) {
        waiter->spin_ns = SPIN_MAX_NS;
    }
    return holds;
}

bool
med_wait_spin(med_waiter *waiter, bool (*condition)(void *context), void *context)
{
    return spin_if_it_may(waiter, NULL, &(watch){.condition = condition, .context = context});
}

void
med_wait_pause(uint32_t *pauses)
{
    if (*pauses < PAUSES_AWAKE) {
        ++*pauses;
        med_port_yield();
    } else {
        med_port_delay_ns(PAUSE_NS);
    }
}

static void
call(const med_wait_request *request)
{
    if (request->call) {
        atomic32_store_relaxed(request->call, request->call_value); /* relaxed: W2 orders it. W4 */
    }
}

static bool
is_called(const med_wait_request *request)
{
    /* Relaxed: of what was stored before W2 none is missed. W5 */
    return !request->call || atomic32_load_relaxed(request->call) == request->call_value;
}

/* What the word is with the flag. True: the condition held. */
static bool
announce_to_who_pays(med_wait *wait, const med_wait_request *request, uint32_t *word)
{
    /* A3 what was published <- R3 (wait.h) */
    *word = atomic32_fetch_or_acquire(&wait->word, MED_WAIT_SLEEPS) | MED_WAIT_SLEEPS;
    return request->condition(request->context);
}

/* Likewise; and who waits in step with others has published something, too, before his flag: those
 * who sleep so see it by the flag, those who do not yet by their barrier. */
static bool
announce_to_crowd(med_wait *wait, const med_wait_request *request, uint32_t *word)
{
    /* A4 what was published <- R4, R3 (wait.h); R4 what was published -> A4 */
    *word = atomic32_fetch_or_acq_rel(&wait->word, MED_WAIT_SLEEPS) | MED_WAIT_SLEEPS;
    med_port_barrier_light(request->scope); /* B3 what he has published, then condition <-> W2 */
    return request->condition(request->context);
}

/* The first who sleeps beside others that go on computing has the wakers pay, by a barrier: who
 * has not seen it had published before that, so whoever knows of the barrier has that when he
 * looks. */
static void
crowd_turn(med_wait_crowd *crowd, med_port_scope scope)
{
    uint32_t pays = MED_WAIT_PAYS_SLEEPER;
    /* Relaxed: W6 orders it. */
    if (atomic32_cas_relaxed(&crowd->pays, &pays, MED_WAIT_PAYS_BOTH) &&
        med_port_barrier_heavy(scope)) { /* W6 who pays, then what was published <-> B2 (wait.h) */
        atomic32_store_release(&crowd->pays, MED_WAIT_PAYS_WAKER); /* R5 barrier -> A5 */
    }
}

/* Do the crowd's wakers pay, so that this one need not? */
static bool
is_paid_by_crowd(med_wait_crowd *crowd, med_port_scope scope)
{
    if (med_port_is_small() || !crowd) {
        return false;
    }
    /* Relaxed: it decides only whether to turn. */
    if (atomic32_load_relaxed(&crowd->pays) == MED_WAIT_PAYS_SLEEPER && med_beside_stay()) {
        crowd_turn(crowd, scope);
    }
    return atomic32_load_acquire(&crowd->pays) == MED_WAIT_PAYS_WAKER; /* A5 barrier <- R5 */
}

/* W1 to W5 of the argument above. */
static bool
announce(med_wait *wait, const med_wait_request *request, uint32_t *word)
{
    /* Relaxed: W2 orders it. W1 */
    *word = atomic32_fetch_or_relaxed(&wait->word, MED_WAIT_SLEEPS) | MED_WAIT_SLEEPS;
    for (uint32_t i = 0; i < CALLS; i++) {
        call(request);
        /* W2 flag, then condition <-> B1 (wait.h), B3 */
        (void)med_port_barrier_heavy(request->scope);
        if (request->condition(request->context)) { /* W3 */
            return true;
        }
        if (is_called(request)) {
            break;
        }
    }
    return false;
}

/* Announced by whichever way is the object's. True: the condition held. */
static bool
announce_somehow(med_wait *wait,
                 med_wait_crowd *crowd,
                 const med_wait_request *request,
                 uint32_t *word)
{
    if (!med_port_is_small() && request->wakers_pay) {
        return announce_to_who_pays(wait, request, word);
    }
    if (is_paid_by_crowd(crowd, request->scope)) {
        return announce_to_crowd(wait, request, word);
    }
    return announce(wait, request, word);
}

/* One sleep: says so, looks once more, then the futex call. True when the condition held. */
static bool
sleep_once(med_wait *wait,
           med_wait_crowd *crowd,
           med_waiter *waiter,
           const med_wait_request *request,
           uint64_t end_ns,
           bool *slept)
{
    uint32_t word;
    if (announce_somehow(wait, crowd, request, &word)) {
        return true;
    }
    waiter->sleeps += !*slept;
    *slept = true;
    (void)med_port_wait(&wait->word.value, word, end_ns, request->scope);
    return request->condition(request->context);
}

static bool
is_past(uint64_t deadline_ns)
{
    return deadline_ns == 0 ||
           (deadline_ns != MED_PORT_FOREVER && med_port_clock_ns() >= deadline_ns);
}

static bool
spin_first(med_waiter *waiter, const med_wait_request *request)
{
    watch watched;
    watched.condition = request->condition;
    watched.context = request->context;
    watched.is_wanted_here = request->is_wanted_here;
    if (!med_port_is_small()) {
        watched.is_of_crowd = false;
        watched.beside = MED_BESIDE_NOBODY;
        watched.gave_way = false;
    }
    return spin_if_it_may(waiter, request->limits, &watched);
}

/* `crowd`: NULL; or whose the object is. */
static medley_status_t
wait_until(med_wait *wait,
           med_wait_crowd *crowd,
           med_waiter *waiter,
           const med_wait_request *request)
{
    if (is_past(request->deadline_ns)) {
        return request->condition(request->context) ? MEDLEY_OK : MEDLEY_TIMEOUT;
    }
    if (spin_first(waiter, request)) {
        return MEDLEY_OK;
    }
    bool slept = false;
    for (uint32_t slice = med_port_is_small() ? 0 : request->slices_left_out;; slice++) {
        uint64_t end_ns = slice_of_request_end_ns(request, slice);
        if (sleep_once(wait, crowd, waiter, request, end_ns, &slept)) {
            return MEDLEY_OK;
        }
        waiter->slices++;
        if (request->each_slice) {
            medley_status_t status = request->each_slice(request->context);
            if (status != MEDLEY_OK) {
                return status;
            }
        }
        if (is_past(request->deadline_ns)) {
            return request->condition(request->context) ? MEDLEY_OK : MEDLEY_TIMEOUT;
        }
    }
}

medley_status_t
med_wait_until(med_wait *wait, med_waiter *waiter, const med_wait_request *request)
{
    return wait_until(wait, NULL, waiter, request);
}

medley_status_t
med_wait_crowd_until(med_wait_crowd *crowd, med_waiter *waiter, const med_wait_request *request)
{
    return wait_until(&crowd->wait, med_port_is_small() ? NULL : crowd, waiter, request);
}
