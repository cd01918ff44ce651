/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One Cortex-M core: the clock, sleep and notification, the log. There is one thread, main();
 * interrupt handlers may wake it and ring doorbells.
 *
 * The clock is SysTick: it interrupts every millisecond, which also ends a sleep, and its counter
 * gives the rest. A reader may be interrupted by the tick, or, in a handler, keep it pending: it
 * reads again while the number of ticks changes, and counts a pending one.
 */
#include "port/cortex_m/core.h"
#include "port/bare/bare.h"
#include "port/cortex_m/board.h"
#include "port/port.h"

#define SYSTICK ((volatile uint32_t *)0xe000e010)
#define SYSTICK_CONTROL 0
#define SYSTICK_CONTROL_RUN 7u /* counts the core's clock, interrupts */
#define SYSTICK_RELOAD 1
#define SYSTICK_COUNTER 2 /* counts down */
#define INTERRUPT_STATE ((volatile uint32_t *)0xe000ed04)
#define INTERRUPT_STATE_TICK_PENDING (1u << 26)

#define TICK_NS 1000000u /* shifted by SCALE_SHIFT it still fits a word */
#define TICKS_PER_SECOND 1000u
/* A cycle's nanoseconds as a fraction, so that reading the clock divides nothing; rounded down, so
 * that no tick ends before its cycles do. */
#define SCALE_SHIFT 12

void *med_port_self_pointer;

/* Written by the tick alone. */
static volatile uint32_t ticks_low;
static volatile uint32_t ticks_high;

static uint32_t scaled_ns_per_cycle; /* constant once the clock has started */

void
med_cortex_m_tick(void)
{
    uint32_t low = ticks_low + 1;
    ticks_low = low;
    if (low == 0) {
        ticks_high = ticks_high + 1;
    }
}

void
med_cortex_m_clock_start(void)
{
    uint32_t cycles_per_tick = med_board.clock_hz / TICKS_PER_SECOND;
    scaled_ns_per_cycle = (TICK_NS << SCALE_SHIFT) / cycles_per_tick;
    SYSTICK[SYSTICK_RELOAD] = cycles_per_tick - 1;
    SYSTICK[SYSTICK_COUNTER] = 0;
    SYSTICK[SYSTICK_CONTROL] = SYSTICK_CONTROL_RUN;
}

uint64_t
med_port_clock_ns(void)
{
    uint32_t reload = SYSTICK[SYSTICK_RELOAD];
    uint32_t low;
    uint32_t high;
    uint32_t counter;
    uint32_t pending;
    do {
        high = ticks_high;
        low = ticks_low;
        pending = *INTERRUPT_STATE & INTERRUPT_STATE_TICK_PENDING;
        counter = SYSTICK[SYSTICK_COUNTER];
        /* One that came pending between the two reads left a counter that is near its start. */
        if (!pending) {
            pending = *INTERRUPT_STATE & INTERRUPT_STATE_TICK_PENDING && counter > reload / 2;
        }
    } while (low != ticks_low || high != ticks_high);
    uint64_t ticks = ((uint64_t)high << 32 | low) + (pending ? 1 : 0);
    uint32_t cycles = reload - counter;
    return ticks * TICK_NS + ((uint64_t)cycles * scaled_ns_per_cycle >> SCALE_SHIFT);
}

/* ---- What bare.h asks ------------------------------------------------------------------------ */

uint32_t
med_bare_core(void)
{
    return 0;
}

uint32_t
med_bare_core_count(void)
{
    return 1;
}

void **
med_bare_self(void)
{
    return &med_port_self_pointer;
}

/* The event register needs no forgetting: an old event costs one more look. */
void
med_bare_forget_notifications(void)
{
}

/* Events come from handlers (every return from one is one): the tick bounds the sleep. */
void
med_bare_sleep_until_ns(uint64_t deadline_ns)
{
    (void)deadline_ns;
    __asm__ volatile("wfe" ::: "memory");
}

void
med_bare_notify(uint32_t core)
{
    (void)core;
    __asm__ volatile("dsb\n\tsev" ::: "memory");
}

/* ---- Threads: main() is the only one --------------------------------------------------------- */

medley_status_t
med_port_thread_start(med_port_thread *thread,
                      const med_port_thread_attributes *attributes,
                      void *(*entry)(void *),
                      void *argument)
{
    (void)thread;
    (void)attributes;
    (void)entry;
    (void)argument;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_thread_join(med_port_thread thread, void **result)
{
    (void)thread;
    (void)result;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_thread_detach(med_port_thread thread)
{
    (void)thread;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

/* Handlers go on. */
_Noreturn void
med_port_thread_exit(void *result)
{
    (void)result;
    med_bare_self_ends();
    for (;;) {
        __asm__ volatile("wfi");
    }
}

/* ---- The log --------------------------------------------------------------------------------- */

void
med_port_log(const char *line)
{
    if (!med_board.console_put) {
        return;
    }
    for (; *line; line++) {
        med_board.console_put(*line);
    }
    med_board.console_put('\n');
}
