/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Base across all harts: threads of the port, the lock, the wait object. */
#include "base/lock.h"
#include "base/wait.h"
#include "riscv.h"

#define ADDS 20000u
#define TURNS 300u /* for each hart */

/* ---- The lock -------------------------------------------------------------------------------- */

static med_lock lock;
static med_lock_sleepers sleepers;
static volatile uint32_t counter; /* guarded by lock */
static atomic32 refused;

static void *
adds_under_lock(void *argument)
{
    med_waiter waiter = {0};
    med_lock_request request = {.owner = *(const uint32_t *)argument + 1,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter};
    for (uint32_t i = 0; i < ADDS; i++) {
        if (med_lock_acquire(&lock, &sleepers, &request) != MEDLEY_OK) {
            (void)atomic32_fetch_add_relaxed(&refused, 1); /* relaxed: read after the joins */
        }
        counter = counter + 1;
        med_lock_release(&lock, &sleepers, MED_PORT_SCOPE_PROCESS);
    }
    return NULL;
}

static const char *
lock_excludes_harts(void)
{
    if (!run_everywhere(adds_under_lock)) {
        return "every hart ran";
    }
    if (atomic32_load_relaxed(&refused)) { /* relaxed: the joins order it */
        return "every acquire succeeded";
    }
    return counter == ADDS * hart_count() ? NULL : "no addition was lost";
}

/* ---- The wait object: a token goes round, everybody waits for his turn ----------------------- */

static med_wait wait;
static atomic32 token;
static atomic32 late;

typedef struct turn {
    uint32_t wanted;
} turn;

static bool
is_my_turn(void *context)
{
    const turn *mine = context;
    return atomic32_load_acquire(&token) == mine->wanted; /* T1 turn over <- T1 */
}

static void *
takes_turns(void *argument)
{
    uint32_t count = hart_count();
    med_waiter waiter = {0};
    for (uint32_t i = 0; i < TURNS; i++) {
        turn mine = {.wanted = i * count + *(const uint32_t *)argument};
        med_wait_request request = {.condition = is_my_turn,
                                    .context = &mine,
                                    .deadline_ns = MED_PORT_FOREVER,
                                    .scope = MED_PORT_SCOPE_PROCESS};
        if (med_wait_until(&wait, &waiter, &request) != MEDLEY_OK) {
            (void)atomic32_fetch_add_relaxed(&late, 1); /* relaxed: read after the joins */
        }
        atomic32_store_release(&token, mine.wanted + 1); /* T1 turn over -> T1 (is_my_turn) */
        med_wait_wake(&wait, MED_PORT_SCOPE_PROCESS);
    }
    return NULL;
}

static const char *
wait_hands_turns_round(void)
{
    if (!run_everywhere(takes_turns)) {
        return "every hart ran";
    }
    if (atomic32_load_relaxed(&late)) { /* relaxed: the joins order it */
        return "every wait succeeded";
    }
    return atomic32_load_relaxed(&token) == TURNS * hart_count() ? NULL : "every turn was taken";
}

static void *
returns(void *argument)
{
    return argument;
}

/* More threads than harts: refused, and the harts come back. */
static const char *
threads_are_limited_by_harts(void)
{
    med_port_thread threads[MED_BARE_CORES_MAX];
    const med_processor_set none = med_processor_set_of(MED_BARE_CORES_MAX);
    const med_port_thread_attributes wrong = {.processors = &none};
    med_port_thread extra;
    for (uint32_t i = 1; i < hart_count(); i++) {
        const med_processor_set hart = med_processor_set_of(i);
        const med_port_thread_attributes there = {.processors = &hart};
        if (med_port_thread_start(&threads[i], &there, returns, NULL) != MEDLEY_OK) {
            return "a thread starts on the hart asked for";
        }
    }
    if (med_port_thread_start(&extra, NULL, returns, NULL) != MEDLEY_ERR_LIMIT) {
        return "no thread without an idle hart";
    }
    for (uint32_t i = 1; i < hart_count(); i++) {
        if (med_port_thread_join(threads[i], NULL) != MEDLEY_OK) {
            return "it is joined";
        }
    }
    return med_port_thread_start(&extra, &wrong, returns, NULL) == MEDLEY_ERR_ARGUMENT
               ? NULL
               : "no thread on a hart that there is not";
}

const med_port_check base_checks[] = {
    {"threads are limited by harts", threads_are_limited_by_harts},
    {"lock excludes harts", lock_excludes_harts},
    {"wait object hands turns round", wait_hands_turns_round},
};
const uint32_t base_check_count = sizeof base_checks / sizeof base_checks[0];
