/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A baseline, not a way to exchange that anybody should choose: what the lock-free exchange is
 * measured beside. As where the paper starts from, a reader/writer lock stands before everything
 * that is shared, and each change of that lock is made under one lock of the operating system.
 *
 * The reader/writer lock is one of MRAPI's, under a number that users cannot choose. The operating
 * system's is a lock with priority inheritance that is asked for by a system call each time, free
 * or not. So an operation costs four system calls at least, and all changes are made one after the
 * other.
 *
 *           linearises at                        progress
 *   enter   what the reader/writer lock says     blocking
 *   leave   likewise                             blocking, for the other lock
 *
 * Who finds the reader/writer lock taken gives the other lock back, and sleeps until he has it:
 * that lock needs no guard, it only costs what the paper's costs. Trying again and again in its
 * place, as the paper's starting point does, lets one who is always inside starve another.
 *
 * Death. Of the holder of the reader/writer lock: MRAPI recovers it, and the operation that was cut
 * short under it leaves no more behind than a lock-free one. Of the holder of the other: the
 * machine says that the word names a thread that is gone; whoever is told so first frees the word.
 * The thread numbers in that word hold in one PID namespace.
 *
 * Of one who is stopped inside nobody takes the reader/writer lock away. Who waits for it gives up
 * after a while, says so, and has an error; from then on he waits for a moment only, until he has
 * it again. The other lock is taken away from whoever has it for long: from one who is stopped, or
 * from one who was written into the word and will never give it back, as any thread of the machine
 * may be. It orders but does not guard, so it does no harm that two have it then: the first finds
 * the word another's, and leaves it alone. Who slept for him in the kernel keeps all others from
 * the lock for as long as he sleeps; so nobody sleeps for longer than it takes to take it away.
 */
#include "mcapi/locked.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "mrapi/object.h"
#include "mrapi/system.h"
#include "port/port.h"

#define GUARD_NUMBER (MED_OBJECT_USER_MAX + 1)
#define VARIABLE "MEDLEY_EXCHANGE"
/* For both locks together: longer than anybody is inside who goes on. Then for one who was waited
 * for in vain. */
#define PATIENCE_NS UINT64_C(5000000000)
#define PATIENCE_LEFT_NS 100000000u
/* For the operating system's lock alone: who has it only tries the other. */
#define OS_PATIENCE_NS 1000000000u

static const char *const names[] = {"lock-free", "locked"};

/* ---- Which ----------------------------------------------------------------------------------- */

bool
med_locked_wanted(void)
{
    const char *value = med_port_environment(VARIABLE);
    if (!value || !*value || strcmp(value, names[false]) == 0) {
        return false;
    }
    if (strcmp(value, names[true]) == 0) {
        return true;
    }
    med_log_ignored(VARIABLE, value, "want 'lock-free' or 'locked'");
    return false;
}

void
med_locked_report(const med_system *system, bool wanted)
{
    med_text text = {.length = 0};
    med_text_string(&text, "system '");
    med_text_string(&text, system->shared.name);
    med_text_string(&text, "' exchanges ");
    med_text_string(&text, names[!wanted]);
    med_text_string(&text, ", and " VARIABLE " asks for ");
    med_text_string(&text, names[wanted]);
    med_log(MED_LOG_ERROR, &text);
}

medley_status_t
med_locked_join(med_self *self)
{
    med_handle guard;
    if (!med_port_pi_supported()) {
        med_log_error_line(VARIABLE "=locked", "this machine has no locks of the kind it needs");
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    medley_status_t status = med_rwl_get(self, GUARD_NUMBER, &guard);
    if (status == MEDLEY_ERR_NOT_FOUND) {
        status =
            med_rwl_create(self, GUARD_NUMBER, MED_OBJECT_DOMAIN_SHARED, self->sharers, &guard);
        if (status == MEDLEY_ERR_EXISTS) {
            status = med_rwl_get(self, GUARD_NUMBER, &guard);
        }
    }
    if (status == MEDLEY_OK) {
        self->exchange->guard = guard;
    }
    return status;
}

/* ---- The operating system's lock ------------------------------------------------------------- */

/* It still names whom it named, who will not give it back: he is gone; or has, as somebody new, the
 * caller's number; or was waited for in vain. Should he have come anew by now, alive, then two have
 * it for once. */
static void
take_away(atomic32 *word, uint32_t seen)
{
    /* Relaxed, both: the machine's own change of it, which follows, orders. */
    uint32_t now = atomic32_load_relaxed(word); /* the machine may have noted that somebody waits */
    if (((now ^ seen) & MED_PORT_PI_OWNER_MASK) == 0) {
        (void)atomic32_cas_relaxed(word, &now, 0);
    }
}

/* Whatever stands in the word. MEDLEY_TIMEOUT. */
static medley_status_t
os_lock(const med_self *self, uint64_t deadline_ns)
{
    atomic32 *word = &self->exchange->exchange->head->os_lock;
    uint32_t pauses = 0;
    do {
        uint64_t slice_end_ns = med_port_clock_ns() + OS_PATIENCE_NS;
        uint32_t seen = atomic32_load_relaxed(word); /* relaxed: compared when it is taken away */
        medley_status_t status = med_port_pi_lock(
            &word->value, slice_end_ns < deadline_ns ? slice_end_ns : deadline_ns, self->scope);
        if (status == MEDLEY_OK || status == MEDLEY_ERR_OWNER_DIED) {
            return MEDLEY_OK;
        }
        if (status == MEDLEY_ERR_PEER_DIED || status == MEDLEY_ERR_EXISTS ||
            status == MEDLEY_TIMEOUT) {
            take_away(word, seen);
        }
        med_wait_pause(&pauses); /* else others sleep in the kernel for whom it named */
    } while (med_port_clock_ns() < deadline_ns);
    return MEDLEY_TIMEOUT;
}

static void
os_unlock(const med_self *self)
{
    (void)med_port_pi_unlock(&self->exchange->exchange->head->os_lock.value, self->scope);
}

/* ---- In and out ------------------------------------------------------------------------------ */

static medley_status_t
try_once(med_self *self, med_rwl_mode mode, uint64_t deadline_ns)
{
    medley_status_t status = os_lock(self, deadline_ns);
    if (status == MEDLEY_OK) {
        status = med_rwl_lock(self, self->exchange->guard, mode, 0);
        os_unlock(self);
    }
    return status;
}

static uint64_t
patience_end_ns(const med_self *self)
{
    return med_port_clock_ns() + (self->exchange->in_vain ? PATIENCE_LEFT_NS : PATIENCE_NS);
}

/* It says so when it begins. */
static void
note_how_it_went(med_self *self, medley_status_t status)
{
    bool in_vain = status == MEDLEY_TIMEOUT;
    if (in_vain && !self->exchange->in_vain) {
        med_log_error_line(VARIABLE "=locked", "its locks were not to be had for 5 s: somebody is "
                                               "stopped inside, or they were written over");
    }
    self->exchange->in_vain = in_vain;
}

medley_status_t
med_locked_enter_slow(med_self *self, med_rwl_mode mode)
{
    bool told = self->owner_died; /* of the program's own locks */
    uint64_t deadline_ns = patience_end_ns(self);
    medley_status_t status = try_once(self, mode, deadline_ns);
    if (status == MEDLEY_BUSY) {
        status = med_rwl_lock(self, self->exchange->guard, mode, deadline_ns);
    }
    self->owner_died = told;
    note_how_it_went(self, status);
    return status == MEDLEY_OK ? MEDLEY_OK : MEDLEY_ERR_CORRUPT;
}

void
med_locked_leave_slow(med_self *self, med_rwl_mode mode)
{
    medley_status_t status = os_lock(self, patience_end_ns(self));
    (void)med_rwl_unlock(self, self->exchange->guard, mode);
    if (status == MEDLEY_OK) {
        os_unlock(self);
    }
}
