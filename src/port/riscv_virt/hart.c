/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Harts: boot, threads (a function handed to an idle hart), sleep and notification, the clock.
 *
 * States of a hart, and who changes them:
 *   ABSENT   -> IDLE       the hart, when it has booted
 *   IDLE     -> CLAIMED    thread start, by compare-and-swap
 *   CLAIMED  -> GIVEN      thread start; the hart runs the function
 *   GIVEN    -> DETACHED   detach
 *   GIVEN    -> ENDED      the hart, when the function has ended
 *   DETACHED -> IDLE       the same
 *   ENDED    -> IDLE       join, detach
 *
 * Interrupts stay disabled in mstatus: they only end a wfi. An image with handlers brings a vector
 * of its own, and enables them.
 *
 * What may run together: everything, but of one thread join and detach. Linearisation: of a start
 * IDLE to CLAIMED, of a join ENDED to IDLE, of a detach its compare-and-swap. Progress: wait-free,
 * but for join, which blocks. Death: harts do not die. Model: none; tests/bare runs it.
 */
#include "port/bare/bare.h"
#include "port/port.h"
#include "port/riscv_virt/virt.h"

#define CLINT 0x2000000u
#define MSIP ((volatile uint32_t *)CLINT) /* one word per hart */
/* The low word first; one such for each hart. */
#define MTIMECMP ((volatile uint32_t *)(CLINT + 0x4000u))
#define MTIME ((const volatile uint32_t *)(CLINT + 0xbff8u)) /* two words as well; 10 MHz */
#define NS_PER_TICK 100u

#define MIE_SOFTWARE 0x8u
#define MIE_TIMER 0x80u

#define BOOT_PATIENCE_NS 1000000000u
#define STACK_BYTES ((size_t)1 << MED_VIRT_STACK_SHIFT)

enum hart_state {
    HART_ABSENT,
    HART_IDLE,
    HART_CLAIMED,
    HART_GIVEN,
    HART_DETACHED,
    HART_ENDED,
};

med_virt_hart med_virt_harts[MED_BARE_CORES_MAX];

static uint32_t hart_count = 1; /* changed by hart 0 alone, before main */

static med_virt_hart *
this_hart(void)
{
    med_virt_hart *hart;
    __asm__("mv %0, tp" : "=r"(hart));
    return hart;
}

/* ---- What bare.h asks ------------------------------------------------------------------------ */

uint32_t
med_bare_core(void)
{
    return this_hart()->number;
}

uint32_t
med_bare_core_count(void)
{
    return hart_count;
}

void **
med_bare_self(void)
{
    return &this_hart()->self;
}

void
med_bare_forget_notifications(void)
{
    MSIP[med_bare_core()] = 0;
    /* N2 forgotten, then a look <-> N1 (notify) */
    __asm__ volatile("fence o, rw" ::: "memory");
}

void
med_bare_notify(uint32_t core)
{
    /* N1 what is looked at, then told <-> N2 (forget) */
    __asm__ volatile("fence rw, o" ::: "memory");
    MSIP[core] = 1;
}

/* By words, since a hart may have no more. */
uint64_t
med_port_clock_ns(void)
{
    uint32_t high, low;
    do {
        high = MTIME[1];
        low = MTIME[0];
    } while (high != MTIME[1]);
    return ((uint64_t)high << 32 | low) * NS_PER_TICK;
}

/* Never meanwhile at a time before. */
static void
timer_set(uint64_t ticks)
{
    volatile uint32_t *compared = &MTIMECMP[2 * med_bare_core()];
    compared[1] = UINT32_MAX;
    compared[0] = (uint32_t)ticks;
    compared[1] = (uint32_t)(ticks >> 32);
}

void
med_bare_sleep_until_ns(uint64_t deadline_ns)
{
    /* Up to a whole tick, so that the sleep does not end just before the deadline. */
    timer_set(deadline_ns == MED_PORT_FOREVER ? UINT64_MAX : deadline_ns / NS_PER_TICK + 1);
    __asm__ volatile("wfi" ::: "memory");
}

/* ---- Boot ------------------------------------------------------------------------------------ */

int main(void);
_Noreturn void med_virt_hart_abandon(void); /* boot.S */
_Noreturn void med_virt_hart_boots(const void *devicetree);
_Noreturn void med_virt_hart_idles(void);

static void
interrupts_end_sleep(void)
{
    timer_set(UINT64_MAX);
    __asm__ volatile("csrs mie, %0" ::"r"(MIE_SOFTWARE | MIE_TIMER));
}

static uint32_t
harts_present(void)
{
    uint32_t present = 0;
    for (uint32_t i = 1; i < MED_BARE_CORES_MAX; i++) {
        /* Relaxed: they are counted only; whoever starts a thread there meets R1. */
        present += __atomic_load_n(&med_virt_harts[i].state, __ATOMIC_RELAXED) != HART_ABSENT;
    }
    return present + 1;
}

/* Hart 0, from boot.S. */
_Noreturn void
med_virt_hart_boots(const void *devicetree)
{
    uint32_t expected = med_virt_devicetree_harts(devicetree);
    if (expected > MED_BARE_CORES_MAX) {
        expected = MED_BARE_CORES_MAX;
    }
    interrupts_end_sleep();
    uint64_t deadline_ns = med_port_clock_ns() + BOOT_PATIENCE_NS;
    while (harts_present() < expected && med_port_clock_ns() < deadline_ns) {
        med_port_cpu_relax();
    }
    hart_count = harts_present();
    med_virt_harts[0].state = HART_DETACHED; /* nobody joins main */
    med_virt_power_off((uint32_t)main());
}

static void
hart_ends(med_virt_hart *hart, void *result)
{
    uint32_t given = HART_GIVEN;
    med_bare_self_ends();
    hart->result = result;
    /* R3 ended -> A3 (join; start after a detach) */
    if (!__atomic_compare_exchange_n(&hart->state, &given, HART_ENDED, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED)) {
        med_port_store_n(&hart->state, HART_IDLE, __ATOMIC_RELEASE); /* R1 idle -> A1 (start) */
    }
    (void)med_port_wake(&hart->state, UINT32_MAX, MED_PORT_SCOPE_PROCESS);
}

/* Every other hart, from boot.S; and one whose thread has exited. */
_Noreturn void
med_virt_hart_idles(void)
{
    med_virt_hart *hart = this_hart();
    uint32_t absent = HART_ABSENT;
    interrupts_end_sleep();
    /* R1 idle -> A1 (start). One whose thread has exited is something else by now. */
    (void)__atomic_compare_exchange_n(&hart->state, &absent, HART_IDLE, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
    for (;;) {
        uint32_t state = __atomic_load_n(&hart->state, __ATOMIC_ACQUIRE); /* A2 given <- R2 */
        if (state == HART_GIVEN || state == HART_DETACHED) {
            hart_ends(hart, hart->entry(hart->argument));
        } else {
            (void)med_port_wait(&hart->state, state, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS);
        }
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

static bool
may_run_on(const med_port_thread_attributes *attributes, uint32_t hart)
{
    return !attributes || !attributes->processors ||
           med_processor_set_has(attributes->processors, hart);
}

/* Of all harts, and one at least. */
static bool
are_harts(const med_processor_set *processors)
{
    return med_processor_set_next(processors, 0) < hart_count &&
           med_processor_set_next(processors, hart_count) == MED_PROCESSORS_MAX;
}

static medley_status_t
attributes_check(const med_port_thread_attributes *attributes)
{
    if (attributes->priority < 0 || attributes->priority > 99 ||
        (attributes->processors && !are_harts(attributes->processors))) {
        return MEDLEY_ERR_ARGUMENT;
    }
    if (attributes->native || attributes->priority) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    return attributes->stack_size_bytes > STACK_BYTES ? MEDLEY_ERR_NO_MEMORY : MEDLEY_OK;
}

static med_virt_hart *
idle_hart_claim(const med_port_thread_attributes *attributes)
{
    for (uint32_t i = 0; i < hart_count; i++) {
        uint32_t idle = HART_IDLE;
        if (may_run_on(attributes, i) &&
            /* A1 idle <- R1 (idles, ends, join); A3 ended <- R3 (ends) */
            __atomic_compare_exchange_n(&med_virt_harts[i].state, &idle, HART_CLAIMED, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return &med_virt_harts[i];
        }
    }
    return NULL;
}

medley_status_t
med_port_thread_start(med_port_thread *thread,
                      const med_port_thread_attributes *attributes,
                      void *(*entry)(void *),
                      void *argument)
{
    medley_status_t status = attributes ? attributes_check(attributes) : MEDLEY_OK;
    if (status != MEDLEY_OK) {
        return status;
    }
    med_virt_hart *hart = idle_hart_claim(attributes);
    if (!hart) {
        return MEDLEY_ERR_LIMIT;
    }
    hart->entry = entry;
    hart->argument = argument;
    med_port_store_n(&hart->state, HART_GIVEN, __ATOMIC_RELEASE); /* R2 given -> A2 (idles) */
    (void)med_port_wake(&hart->state, UINT32_MAX, MED_PORT_SCOPE_PROCESS);
    thread->handle = hart->number;
    return MEDLEY_OK;
}

medley_status_t
med_port_thread_join(med_port_thread thread, void **result)
{
    if (thread.handle >= hart_count) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    med_virt_hart *hart = &med_virt_harts[thread.handle];
    for (;;) {
        uint32_t state = __atomic_load_n(&hart->state, __ATOMIC_ACQUIRE); /* A3 ended <- R3 */
        if (state == HART_ENDED) {
            void *ended_with = hart->result;
            med_port_store_n(&hart->state, HART_IDLE, __ATOMIC_RELEASE); /* R1 idle -> A1 (start) */
            if (result) {
                *result = ended_with;
            }
            return MEDLEY_OK;
        }
        if (state != HART_GIVEN) {
            return MEDLEY_ERR_NOT_FOUND;
        }
        (void)med_port_wait(&hart->state, state, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS);
    }
}

medley_status_t
med_port_thread_detach(med_port_thread thread)
{
    if (thread.handle >= hart_count) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    uint32_t *state = &med_virt_harts[thread.handle].state;
    uint32_t given = HART_GIVEN;
    uint32_t ended = HART_ENDED;
    /* Relaxed, both: who detaches has nothing to tell. What stood there was released (R2, R3), and
     * whoever acquires what stands there now gets that, since it was exchanged. */
    bool detached = __atomic_compare_exchange_n(state, &given, HART_DETACHED, false,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                    __atomic_compare_exchange_n(state, &ended, HART_IDLE, false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED);
    return detached ? MEDLEY_OK : MEDLEY_ERR_NOT_FOUND;
}

_Noreturn void
med_port_thread_exit(void *result)
{
    hart_ends(this_hart(), result);
    med_virt_hart_abandon();
}
