/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Waiting on a word without an operating system. Each core has an entry that says on which word it
 * sleeps. What may run together: everything; an interrupt handler may wake and ring, not wait.
 *
 * The sleeper writes its entry, then looks at the word. The waker has changed the word, and looks
 * at the entries: a full fence on either side (B1, B2), so that one of them sees the other. The
 * waker takes the entry away by compare-and-swap and notifies the core; the sleeper, leaving for
 * another reason, takes it away itself, and if it is too late it was woken: a wake is never spent
 * on somebody who says that he timed out. A notification may come when its sleep is long over, and
 * ends another for no reason.
 *
 * Linearisation: of a wake, the compare-and-swap that empties an entry. Progress: a wake is
 * wait-free, in the number of cores. Death: cores do not die. Model: none; tests/bare runs it.
 */
#include "port/bare/bare.h"
#include "port/port.h"

static const uint32_t *sleeps_on[MED_BARE_CORES_MAX];

/* True for one caller only. Relaxed: whoever waited looks at his word anew, and that carries the
 * data. */
static bool
entry_take(uint32_t core, const uint32_t *word)
{
    const uint32_t *expected = word;
    return __atomic_compare_exchange_n(&sleeps_on[core], &expected, NULL, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

/* Relaxed: as entry_take; B1 orders the looks at the entry and at the word. */
medley_status_t
med_port_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns, med_port_scope scope)
{
    uint32_t core = med_bare_core();
    medley_status_t status = MEDLEY_OK;
    (void)scope;
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != expected) {
        return MEDLEY_OK;
    }
    med_port_store_n(&sleeps_on[core], word, __ATOMIC_RELAXED);
    for (;;) {
        med_bare_forget_notifications();
        /* B1 entry, then word <-> B2 (wake) */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&sleeps_on[core], __ATOMIC_RELAXED) == NULL) {
            return MEDLEY_OK;
        }
        if (__atomic_load_n(word, __ATOMIC_RELAXED) != expected) {
            break;
        }
        if (med_port_clock_ns() >= deadline_ns) {
            status = MEDLEY_TIMEOUT;
            break;
        }
        med_bare_sleep_until_ns(deadline_ns);
    }
    return entry_take(core, word) ? status : MEDLEY_OK;
}

uint32_t
med_port_wake(const uint32_t *word, uint32_t count, med_port_scope scope)
{
    uint32_t woken = 0;
    (void)scope;
    /* B2 word, then entries <-> B1 (wait) */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (uint32_t core = 0; core < MED_BARE_CORES_MAX && woken < count; core++) {
        /* Relaxed: a look; entry_take decides. */
        if (__atomic_load_n(&sleeps_on[core], __ATOMIC_RELAXED) == word && entry_take(core, word)) {
            med_bare_notify(core);
            woken++;
        }
    }
    return woken;
}

/* ---- The asymmetric fence: the light half is bare_inline.h's --------------------------------- */

bool
med_port_barrier_heavy(med_port_scope scope)
{
    (void)scope;
    /* B3 who sleeps, then what is published <-> B4 (light, bare_inline.h) */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return true;
}

void
med_port_barrier_prepare(med_port_scope scope)
{
    (void)scope;
}

/* ---- Doorbells ------------------------------------------------------------------------------- */

#define DOORBELLS 16

static struct {
    uint32_t used;
    uint32_t rings; /* not yet heard */
} doorbells[DOORBELLS];

static bool
doorbell_is_valid(med_port_doorbell bell)
{
    /* Relaxed: who uses a bell has it from whoever made it. */
    return bell.handle >= 0 && bell.handle < DOORBELLS &&
           __atomic_load_n(&doorbells[bell.handle].used, __ATOMIC_RELAXED);
}

medley_status_t
med_port_doorbell_create(med_port_doorbell *bell)
{
    for (intptr_t i = 0; i < DOORBELLS; i++) {
        /* A2 silent <- R2 (destroy) */
        if (!__atomic_exchange_n(&doorbells[i].used, 1, __ATOMIC_ACQUIRE)) {
            bell->handle = i;
            return MEDLEY_OK;
        }
    }
    return MEDLEY_ERR_LIMIT;
}

void
med_port_doorbell_destroy(med_port_doorbell *bell)
{
    if (doorbell_is_valid(*bell)) {
        med_port_store_n(&doorbells[bell->handle].rings, 0, __ATOMIC_RELAXED); /* relaxed: R2 */
        /* R2 silent -> A2 (create) */
        med_port_store_n(&doorbells[bell->handle].used, 0, __ATOMIC_RELEASE);
    }
    bell->handle = -1;
}

medley_status_t
med_port_doorbell_ring(med_port_doorbell bell)
{
    if (!doorbell_is_valid(bell)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    uint32_t *rings = &doorbells[bell.handle].rings;
    (void)__atomic_fetch_add(rings, 1, __ATOMIC_RELEASE); /* R1 rung -> A1 (wait) */
    (void)med_port_wake(rings, UINT32_MAX, MED_PORT_SCOPE_PROCESS);
    return MEDLEY_OK;
}

medley_status_t
med_port_doorbell_wait(med_port_doorbell bell, uint64_t deadline_ns, uint64_t *count)
{
    if (!doorbell_is_valid(bell)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    uint32_t *rings = &doorbells[bell.handle].rings;
    for (;;) {
        uint32_t heard = __atomic_exchange_n(rings, 0, __ATOMIC_ACQUIRE); /* A1 rung <- R1 (ring) */
        if (heard) {
            if (count) {
                *count = heard;
            }
            return MEDLEY_OK;
        }
        if (med_port_wait(rings, 0, deadline_ns, MED_PORT_SCOPE_PROCESS) == MEDLEY_TIMEOUT) {
            return MEDLEY_TIMEOUT;
        }
    }
}
