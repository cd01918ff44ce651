/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mutexes with priority inheritance. The kernel must see who holds such a lock, so the word has the
 * port's format: the holder's thread number, and two bits of the kernel's. Which node that is
 * stands in pi_owner, written by the holder after he has the lock, so it may be missing when he
 * dies.
 *
 * Death: where somebody waits in the kernel, the kernel passes the lock on and says so; where
 * nobody does, the word keeps the dead thread's number, and the recovery clears it, or, if the node
 * is not known, whoever wants the lock has all processes looked at. pi_death carries the news to
 * the next holder, and closes the lock for good under MEDLEY_MUTEX_ON_DEATH=fail.
 */
#include "mrapi/mutex_pi.h"

#include "mrapi/system.h"

bool
med_mutex_pi_is_mine(const med_self *self, const med_mutex_row *row)
{
    /* Both, since a thread number is used again after its thread's death, and holds in one PID
     * namespace only. Relaxed: own words. */
    return med_mutex_pi_thread(row) == self->thread_id &&
           atomic32_load_relaxed(&row->pi_owner) == self->ref;
}

uint32_t
med_mutex_pi_thread(const med_mutex_row *row)
{
    return atomic32_load_relaxed(&row->pi_word) &
           MED_PORT_PI_OWNER_MASK; /* relaxed: own, or shown */
}

/* How often the kernel may refuse before the word is held to be scribbled over. It refuses for a
 * moment while a waiter takes over from a dead owner. */
#define PI_REFUSALS_MAX 10000u

/* Between two tries of one who waits in a circle: the kernel lets nobody sleep there. */
#define PI_CIRCLE_PAUSE_NS 4000000u

static void
circle_pause(uint64_t deadline_ns)
{
    uint64_t now_ns = med_port_clock_ns();
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    med_port_delay_ns(left_ns < PI_CIRCLE_PAUSE_NS ? left_ns : PI_CIRCLE_PAUSE_NS);
}

/*
 * What the kernel says to one who wants to wait, and what is done about it:
 *
 *   the lock is had, TIMEOUT, no such call   the answer
 *   EXISTS, another's thread number          a circle: each waits for the next. Wait as for a plain
 *                                            mutex, to the deadline, or without end
 *   EXISTS, the own thread number            a dead thread's, given to the caller since
 *   PEER_DIED                                a dead thread's
 *   SYSTEM                                   no state of such a lock; for a moment while a waiter
 *                                            takes over from a dead owner
 *
 * Of the dead, the process is recovered, and it is tried again; where nobody is found dead however
 * often it is tried, the word was scribbled over.
 */
static medley_status_t
take_slow(med_self *self, med_mutex_row *row, uint64_t deadline_ns)
{
    for (uint32_t refusals = 0;; refusals++) {
        medley_status_t status =
            med_port_pi_lock(&row->pi_word.value, deadline_ns, self->system->scope);
        bool circle = status == MEDLEY_ERR_EXISTS && med_mutex_pi_thread(row) != self->thread_id;
        if (status != MEDLEY_ERR_PEER_DIED && status != MEDLEY_ERR_SYSTEM &&
            status != MEDLEY_ERR_EXISTS) {
            return status;
        }
        /* The word names a thread that is gone: recover its process, then try again. Which one it
         * was, pi_owner tells, unless it died before it wrote that. */
        uint32_t owner = atomic32_load_relaxed(&row->pi_owner); /* relaxed: checked by look */
        (void)med_node_look(self->system, owner);
        (void)med_process_recover_all(self->system);
        if (med_port_clock_ns() >= deadline_ns) {
            return MEDLEY_TIMEOUT;
        }
        if (circle) {
            refusals = 0;
            circle_pause(deadline_ns);
            continue;
        }
        if (refusals >= PI_REFUSALS_MAX) {
            return MEDLEY_ERR_CORRUPT;
        }
        med_port_yield();
    }
}

/* Before the kernel is asked: a holder that died between taking the word and writing down who he is
 * leaves no name, and is looked for among all. */
static medley_status_t
take_try(med_self *self, med_mutex_row *row)
{
    uint32_t owner = atomic32_load_relaxed(&row->pi_owner); /* relaxed: checked by look */
    if (owner) {
        (void)med_node_look(self->system, owner);
    } else {
        (void)med_process_recover_all(self->system);
    }
    uint32_t free = 0;
    return atomic32_cas_acquire(&row->pi_word, &free, self->thread_id) ? MEDLEY_OK /* A1 <- R1 */
                                                                       : MEDLEY_BUSY;
}

medley_status_t
med_mutex_pi_take(med_self *self, med_mutex_row *row, med_handle handle, uint64_t deadline_ns)
{
    /* Relaxed: fixed at creation. */
    if (atomic32_load_relaxed(&row->pi_space) != med_port_pi_space()) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    uint32_t free = 0;
    medley_status_t status = MEDLEY_OK;
    if (!atomic32_cas_acquire(&row->pi_word, &free, self->thread_id)) { /* A1 held <- R1 */
        atomic32_store_relaxed(&self->row->waiting_for, handle);        /* relaxed: for showing */
        status = deadline_ns == 0 ? take_try(self, row) : take_slow(self, row, deadline_ns);
        atomic32_store_relaxed(&self->row->waiting_for, 0);
    }
    if (status != MEDLEY_OK && status != MEDLEY_ERR_OWNER_DIED) {
        return status;
    }
    atomic32_store_relaxed(&row->pi_owner,
                           self->ref); /* relaxed: read after the owner's death only */
    /* Relaxed: written under the lock, or by a recoverer before the word came free. */
    uint32_t death = atomic32_load_relaxed(&row->pi_death);
    if (death == MED_MUTEX_DEAD ||
        (status == MEDLEY_ERR_OWNER_DIED && self->system->on_death == MED_ON_DEATH_FAIL)) {
        atomic32_store_relaxed(&row->pi_death, MED_MUTEX_DEAD);
        return MEDLEY_ERR_NOT_OWNER; /* the caller gives it back */
    }
    atomic32_store_relaxed(&row->pi_death, MED_MUTEX_SOUND);
    return death == MED_MUTEX_TELL_NEXT ? MEDLEY_ERR_OWNER_DIED : status;
}

void
med_mutex_pi_give(med_self *self, med_mutex_row *row)
{
    uint32_t mine = self->thread_id;
    atomic32_store_relaxed(&row->pi_owner, 0);            /* relaxed: as above */
    if (!atomic32_cas_release(&row->pi_word, &mine, 0)) { /* R1 held -> A1 (take) */
        (void)med_port_pi_unlock(&row->pi_word.value, self->system->scope);
    }
}

static void
death_note(const med_system *system, med_mutex_row *row)
{
    /* Relaxed: ordered by R1. */
    atomic32_store_relaxed(&row->pi_death, system->on_death == MED_ON_DEATH_FAIL
                                               ? MED_MUTEX_DEAD
                                               : MED_MUTEX_TELL_NEXT);
}

/* Does the caller, who lives, hold it as that very node? Else the number is a dead thread's, which
 * the system has given to the caller since. */
static bool
is_the_callers(const med_system *system, const med_mutex_row *row, uint32_t node_ref)
{
    uint32_t index = med_node_ref_index(node_ref);
    if (index >= system->limits.nodes || med_mutex_pi_thread(row) != med_port_thread_id()) {
        return false;
    }
    const med_node_row *node = (const med_node_row *)(void *)med_table_row(&system->nodes, index);
    return atomic32_load_relaxed(&node->process_ref) == system->process_ref; /* relaxed: own */
}

/* Of a dead thread: the kernel passed the lock on if anybody waited; only if nobody did, which it
 * knows for certain, the word may be changed without it. */
static medley_status_t
ask_the_kernel(const med_system *system, med_mutex_row *row)
{
    uint64_t one_try_ns = 1;
    if (med_mutex_pi_thread(row) == med_port_thread_id()) {
        return MEDLEY_ERR_PEER_DIED; /* it would take the dead for the caller */
    }
    return med_port_pi_lock(&row->pi_word.value, one_try_ns, system->scope);
}

/* The lock of a thread that leaves, or is gone. */
void
med_mutex_pi_recover(const med_system *system,
                     med_mutex_row *row,
                     uint32_t node_ref,
                     uint32_t thread_id)
{
    uint32_t owner = atomic32_load_relaxed(&row->pi_owner); /* relaxed: its writer is gone */
    if (!thread_id || med_mutex_pi_thread(row) != thread_id || (owner && owner != node_ref)) {
        return;
    }
    bool own = is_the_callers(system, row, node_ref);
    medley_status_t status = own ? MEDLEY_OK : ask_the_kernel(system, row);
    if (status == MEDLEY_OK || status == MEDLEY_ERR_OWNER_DIED) {
        uint32_t caller = med_port_thread_id();
        death_note(system, row);
        atomic32_store_relaxed(&row->pi_owner, 0);
        if (!atomic32_cas_release(&row->pi_word, &caller, 0)) { /* R1 held -> A1 (take) */
            (void)med_port_pi_unlock(&row->pi_word.value, system->scope);
        }
    } else if (status == MEDLEY_ERR_PEER_DIED) {
        death_note(system, row);
        atomic32_store_relaxed(&row->pi_owner, 0);
        uint32_t left = atomic32_load_relaxed(&row->pi_word); /* relaxed: checked below */
        while ((left & MED_PORT_PI_OWNER_MASK) == thread_id &&
               !atomic32_cas_acq_rel(&row->pi_word, &left, 0)) { /* R1 held -> A1 (take) */
        }
    }
}
