/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who listens to what: a fixed list of the process. Together may run: listen and tell, by any
 * threads.
 *
 *             linearises at
 *   listen    the store of READY; with frequency 0, the compare-and-swap to EMPTY
 *   tell      for each entry its second look at the state, then the increment of its count
 *
 * An entry that has ended is anybody's to take. So its word has a generation, and what stands in it
 * is read between two looks at the word: what a later life wrote is seen with that life's CLAIMED
 * (K1 -> K2). Who tells while a callback ends may call it once more, and may count once for the
 * entry's next life; who tells while one changes its frequency may pass it by.
 *
 * Two threads that ask for one new callback at once may get two entries, as if each had one of its
 * own. Progress: listen is lock-free; tell, but for the callbacks, is wait-free. Death: the list is
 * the process's and goes with it. A child of fork has its parent's, and its callbacks.
 *
 * What a node causes in a callback is told to nobody: else one who hears of a limit, and tries once
 * more, would call himself for ever.
 */
#include "mrapi/event.h"

#include "base/atomic.h"
#include "base/log.h"
#include "mrapi/node.h"
#include "port/port.h"

#define LISTENERS_MAX 16u
#define STATE_MASK 3u
#define GENERATION_STEP 4u

enum {
    EMPTY,
    CLAIMED, /* being filled by who claimed it */
    READY
};

typedef struct listener {
    atomic32 word; /* state, generation: one more with each CLAIMED */
    atomic32 count;
    /* Of who claimed it; read between two looks at the word: */
    atomic32 frequency; /* never 0 */
    atomic32 event;
    atomic32 callback_low;
    atomic32 callback_high;
} listener;

typedef struct wish {
    mrapi_event_t event;
    uint32_t frequency;
    void (*callback)(mrapi_event_t event);
} wish;

static listener listeners[LISTENERS_MAX];
static atomic32 claimed; /* no entry beyond so many was ever in use */

static uint32_t
listener_count(void)
{
    uint32_t count = atomic32_load_relaxed(&claimed); /* relaxed: each entry has its own state */
    return count < LISTENERS_MAX ? count : LISTENERS_MAX;
}

static bool
claim(listener *l, uint32_t word)
{
    uint32_t next = ((word & ~STATE_MASK) + GENERATION_STEP) | CLAIMED;
    /* Relaxed: nothing is read. */
    return atomic32_cas_relaxed(&l->word, &word, next);
}

/* Of who claimed it. */
static void
fill(listener *l, const wish *wanted)
{
    uint64_t callback = (uintptr_t)wanted->callback;
    uint32_t word = atomic32_load_relaxed(&l->word); /* relaxed: the caller's own */
    atomic32_store_relaxed(&l->count, 0);            /* relaxed: a word that guards nothing */
    /* K1 next life -> K2 (listener_read), each. */
    atomic32_store_release(&l->frequency, wanted->frequency);
    atomic32_store_release(&l->event, wanted->event);
    atomic32_store_release(&l->callback_low, (uint32_t)callback);
    /* K3 next life, as K1 -> K4 (listener_read) */
    atomic32_store_release(&l->callback_high, (uint32_t)(callback >> 32));
    /* R1 entry -> A1 (listener_read) */
    atomic32_store_release(&l->word, (word & ~STATE_MASK) | READY);
}

/* What a READY entry says, if it says so still when that was read. */
static bool
listener_read(const listener *l, uint32_t *word, wish *said)
{
    *word = atomic32_load_acquire(&l->word); /* A1 entry <- R1 (fill) */
    if ((*word & STATE_MASK) != READY) {
        return false;
    }
    /* K2 next life <- K1 (fill), each. */
    said->frequency = atomic32_load_acquire(&l->frequency);
    said->event = (mrapi_event_t)atomic32_load_acquire(&l->event);
    uint64_t callback = atomic32_load_acquire(&l->callback_low);
    /* K4 next life, as K2 <- K3 (fill) */
    callback |= (uint64_t)atomic32_load_acquire(&l->callback_high) << 32;
    said->callback = (void (*)(mrapi_event_t))(uintptr_t)callback;
    return atomic32_load_relaxed(&l->word) == *word; /* relaxed: K2 has put it behind the others */
}

/* To how many it is at least. Relaxed, both: who took the last of them, and all who know that he
 * listens, see no fewer from then on. */
static void
claimed_raise(uint32_t count)
{
    uint32_t before = atomic32_load_relaxed(&claimed);
    while (before < count && !atomic32_cas_relaxed(&claimed, &before, count)) {
    }
}

static medley_status_t
listener_add(const wish *wanted)
{
    for (uint32_t i = 0; i < LISTENERS_MAX; i++) {
        listener *l = &listeners[i];
        uint32_t word = atomic32_load_relaxed(&l->word); /* relaxed: claim checks it */
        if ((word & STATE_MASK) == EMPTY && claim(l, word)) {
            claimed_raise(i + 1);
            fill(l, wanted);
            return MEDLEY_OK;
        }
    }
    med_log_limit("event callbacks in a process", LISTENERS_MAX, NULL, NULL);
    return MEDLEY_ERR_LIMIT;
}

/* Ends an entry, or gives it its new frequency. False: another was quicker. */
static bool
listener_change(listener *l, uint32_t word, const wish *wanted)
{
    if (wanted->frequency == 0) {
        /* Relaxed: nothing is read, and the next life's CLAIMED comes behind it. */
        return atomic32_cas_relaxed(&l->word, &word, (word & ~STATE_MASK) | EMPTY);
    }
    if (!claim(l, word)) {
        return false;
    }
    fill(l, wanted);
    return true;
}

medley_status_t
med_event_listen(mrapi_event_t event, uint32_t frequency, void (*callback)(mrapi_event_t event))
{
    const wish wanted = {.event = event, .frequency = frequency, .callback = callback};
    for (uint32_t i = 0; i < listener_count(); i++) {
        wish said;
        uint32_t word;
        while (listener_read(&listeners[i], &word, &said) && said.event == event &&
               said.callback == callback) {
            if (listener_change(&listeners[i], word, &wanted)) {
                return MEDLEY_OK;
            }
        }
    }
    return frequency ? listener_add(&wanted) : MEDLEY_OK;
}

static void
tell(mrapi_event_t event)
{
    for (uint32_t i = 0; i < listener_count(); i++) {
        listener *l = &listeners[i];
        wish said;
        uint32_t word;
        if (!listener_read(l, &word, &said) || said.event != event) {
            continue;
        }
        /* Relaxed: a word that guards nothing. */
        uint32_t count = atomic32_fetch_add_relaxed(&l->count, 1) + 1;
        if (count % said.frequency == 0) {
            int before = med_port_cancel_hold(); /* the caller may have a lock in hand */
            said.callback(event);
            med_port_cancel_release(before);
        }
    }
}

void
med_event_tell_listeners(mrapi_event_t event)
{
    med_self *self = med_self_get();
    if (!self) { /* where a callback cannot create anything either */
        tell(event);
    } else if (!self->tells) {
        self->tells = true;
        tell(event);
        self->tells = false;
    }
}
