/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mutexes with priority inheritance. The kernel must see who holds such a lock, so the word has the
 * port's format: the holder's thread number, and two bits of the kernel's. Which node that is
 * stands in pi_owner, written by the holder after he has the lock, and never cleared.
 *
 * A thread number is not enough to know a dead holder by: the system gives it to others, in Medley
 * or not, and then the kernel takes the stranger for the holder. He does not unlock, so whoever
 * waits does so in slices; and when he goes, whoever waits gets the lock from the kernel, which
 * writes that one's number into the word whatever stands there by then. So the word of a dead
 * holder must not come free while anybody still waits for the stranger.
 *
 * Whose number is it? A node claims a mutex as long as it names it in waiting_for, which it does
 * from before it tries until after it wrote pi_owner, or stands in pi_owner. A number that is
 * claimed by no living node of that number is a dead holder's: there are no others. It is buried:
 *
 *   n               -> n + DIED       a mark: whoever releases the lock and takes it again
 *                                     meanwhile writes a word without it
 *   n + DIED        -> GONE + stamp   if still nobody claims it. No thread has such a number
 *   GONE + stamp    -> the taker's    when the kernel says that it knows nobody of that number: it
 *                                     looks at those who wait first, so there is none, and none can
 *                                     come while the word says GONE; another stamp is another grave
 *   whatever it is  -> a waiter's     by the kernel, at the death of a holder, or of a stranger;
 *                                     over GONE too: nobody has the lock then
 *
 * Burials hold the lock of the table of nodes. So there is one at a time, and no new node can come
 * to bear the number between the look for claims and the burial. The news of the death is in the
 * word: GONE, or the kernel's DIED. pi_death carries it where a living holder leaves, and closes
 * the lock for good under MEDLEY_MUTEX_ON_DEATH=fail.
 *
 * The word outlives the mutex. When one is deleted, those who sleep for it stay in the kernel until
 * the word comes to them one by one, and each finds the handle old and passes it on. The row may be
 * another mutex's by then, which begins with the word as it is (FORMER, where it is held): to free
 * it would take it from whom the kernel is just giving it to. Whoever makes that mutex waits for
 * his turn once, a second at most, and no longer than until another has had it: then those who
 * slept have gone, as a rule. What the word tells of a death is a former mutex's then, and
 * forgotten. Only who has a good handle writes pi_owner, and pi_death too, with an exception:
 * whoever learned of a death by an old handle leaves the news there for the next, where it says
 * SOUND (release_stale).
 *
 * Linearisation: the compare-and-swap, or the kernel's, that writes the taker's number, or 0.
 * Progress: blocking; after a burial at most as long as a slice of those who wait for a stranger.
 * Death: anywhere. Of the holder, as above; of one who buries, his process's recovery frees the
 * table's lock, and a mark is harmless; of a waiter, the kernel forgets him.
 * Model: models/pi.pml.
 */
#include "mrapi/mutex_pi.h"

#include "mrapi/system.h"

/* How long the kernel may refuse to pass a lock on before its holder does without: longer than any
 * slice of one who waits for a stranger. */
#define RELEASE_PATIENCE_NS 1000000000u

/* How long whoever makes a mutex lets those go who are still at a former one of its row. */
#define SETTLE_PATIENCE_NS 1000000000u

/* Between two tries of one whom the kernel lets not sleep: doubling from the first to the last. */
#define BACK_OFF_FIRST_NS 1000u
#define BACK_OFF_LAST_NS 4000000u

/* A burial that is disturbed so often is left to the next. */
#define BURIAL_TRIES 8u

static bool
is_gone(uint32_t word)
{
    return word & MED_PORT_PI_GONE;
}

static uint32_t
number_of(uint32_t word)
{
    return word & MED_PORT_PI_OWNER_MASK;
}

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
    uint32_t word = atomic32_load_relaxed(&row->pi_word); /* relaxed: own, or shown */
    return is_gone(word) ? 0 : number_of(word);
}

bool
med_mutex_pi_is_gone(const med_mutex_row *row)
{
    return is_gone(atomic32_load_relaxed(&row->pi_word)); /* relaxed: for showing */
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* Does that row's node, of a living process, have that thread number? */
static bool
bears(const med_system *system, uint32_t index, uint32_t generation, uint32_t number)
{
    const med_node_row *node = med_system_node(system, index);
    /* Relaxed, all: of him whose number is in the word they were written before he wanted it, and
     * are seen by A4; whoever is no more than that in an old look is waited for a slice longer. */
    return atomic32_load_relaxed(&node->row.state) == med_row_word(MED_ROW_LIVE, generation) &&
           atomic32_load_relaxed(&node->thread_id) == number &&
           atomic32_load_relaxed(&node->phase) == MED_NODE_RUNNING &&
           med_process_alive(system, atomic32_load_relaxed(&node->process_ref));
}

uint32_t
med_mutex_pi_holder(const med_system *system, const med_mutex_row *row)
{
    /* Relaxed, both: a name, and what is compared with it; for showing. */
    uint32_t owner = atomic32_load_relaxed(&row->pi_owner);
    uint32_t index = med_node_ref_index(owner);
    uint32_t number = med_mutex_pi_thread(row);
    bool named = number && index < system->limits.nodes &&
                 atomic32_load_relaxed(&med_system_node(system, index)->thread_id) == number;
    return named ? owner : 0;
}

static bool
holder_lives(const med_system *system, const med_mutex_row *row, uint32_t number)
{
    uint32_t owner = atomic32_load_relaxed(&row->pi_owner); /* relaxed: checked by bears */
    uint32_t index = med_node_ref_index(owner);
    return index < system->limits.nodes &&
           bears(system, index, med_node_ref_generation(owner), number);
}

/* A handle of an earlier life of the row takes as well, for a moment. */
static bool
is_of(const med_system *system, med_handle handle, const med_mutex_row *row)
{
    uint32_t index = med_handle_index(handle);
    return med_handle_kind_of(handle) == MED_HANDLE_MUTEX_PI && index < system->mutexes.row_count &&
           (const void *)med_table_row(&system->mutexes, index) == (const void *)row;
}

/* In this order: who has taken it says so before he says that he does not want it any more. */
static bool
claims(const med_system *system, uint32_t index, const med_mutex_row *row, uint32_t number)
{
    const med_node_row *node = med_system_node(system, index);
    /* Relaxed, both: looked at again by bears. */
    uint32_t generation = med_row_generation_of(atomic32_load_relaxed(&node->row.state));
    if (atomic32_load_relaxed(&node->thread_id) != number) {
        return false;
    }
    /* A2 has it <- R2 (take) */
    bool wants = is_of(system, atomic32_load_acquire(&node->waiting_for), row);
    uint32_t owner = atomic32_load_relaxed(&row->pi_owner); /* relaxed: ordered by A2 */
    return (wants || owner == med_node_ref(index, generation)) &&
           bears(system, index, generation, number);
}

/* ---- Burial ---------------------------------------------------------------------------------- */

typedef struct burial {
    med_system *system;
    uint32_t first; /* rows of mutexes */
    uint32_t count;
    uint32_t number;      /* of a dead node; 0: whatever number is there */
    bool unborne;         /* no living node has that number, or can have as long as this goes on */
    const med_self *self; /* of that number, knows that it holds none of them; may be NULL */
} burial;

static bool
is_claimed(const burial *task, const med_mutex_row *row, uint32_t number)
{
    if (task->unborne) {
        return false;
    }
    for (uint32_t i = 0; i < task->system->limits.nodes; i++) {
        bool itself = task->self && task->self->index == i;
        if (!itself && claims(task->system, i, row, number)) {
            return true;
        }
    }
    return false;
}

/* False: the word changed meanwhile, and is to be looked at again. */
static bool
bury_marked(const burial *task, med_mutex_row *row, uint32_t word)
{
    uint32_t marked = word | MED_PORT_PI_DIED;
    /* A4 wanted <- R4 (take): whose number it is wants it still, or has it, as seen from here. */
    if (!atomic32_cas_acquire(&row->pi_word, &word, marked)) {
        return false;
    }
    uint32_t expected = marked;
    if (is_claimed(task, row, number_of(word))) {
        /* Relaxed: it says what it said before. Where it fails, the mark is harmless. */
        (void)atomic32_cas_relaxed(&row->pi_word, &expected, word);
        return true;
    }
    /* Relaxed, both: under the table's lock. */
    uint32_t stamp = atomic32_load_relaxed(&row->pi_graves) + 1;
    atomic32_store_relaxed(&row->pi_graves, stamp);
    /* R3 buried -> A3 (take_gone). What the dead wrote was made visible by his death. */
    return atomic32_cas_release(&row->pi_word, &expected, med_port_pi_gone(stamp));
}

static void
bury(const burial *task, med_mutex_row *row)
{
    for (uint32_t i = 0; i < BURIAL_TRIES; i++) {
        uint32_t word = atomic32_load_acquire(&row->pi_word); /* A4 wanted <- R4 (take) */
        uint32_t number = number_of(word);
        bool wanted = number && !is_gone(word) && (!task->number || task->number == number);
        if (!wanted || is_claimed(task, row, number) || bury_marked(task, row, word)) {
            return;
        }
    }
}

/* Once for all rows, since one node may have held very many. Whoever has a row and has not said his
 * number yet may want a lock before this is over. */
static bool
may_be_borne(const med_system *system, uint32_t number)
{
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        const med_node_row *node = med_system_node(system, i);
        /* Relaxed, all: rows are filled under the table's lock, without a number, and one number is
         * put into each life. */
        uint32_t said = atomic32_load_relaxed(&node->thread_id);
        if ((said == number || said == 0) &&
            med_row_state_of(atomic32_load_relaxed(&node->row.state)) == MED_ROW_LIVE &&
            med_process_alive(system, atomic32_load_relaxed(&node->process_ref))) {
            return true;
        }
    }
    return false;
}

static medley_status_t
bury_all(void *context)
{
    burial *task = context;
    task->unborne = task->number && !may_be_borne(task->system, task->number);
    const med_table_view *mutexes = &task->system->mutexes;
    for (uint32_t i = 0; i < task->count && task->first + i < mutexes->row_count; i++) {
        bury(task, (med_mutex_row *)(void *)med_table_row(mutexes, task->first + i));
    }
    return MEDLEY_OK;
}

medley_status_t
med_mutex_pi_bury(med_system *system, uint32_t first, uint32_t count, uint32_t thread_id)
{
    burial task = {.system = system, .first = first, .count = count, .number = thread_id};
    return med_table_hold(&system->nodes, bury_all, &task);
}

/* ---- Release --------------------------------------------------------------------------------- */

/* Whom the kernel refuses looks again soon, and then less and less often. */
static void
back_off(uint32_t refusals, uint64_t deadline_ns)
{
    uint64_t now_ns = med_port_clock_ns();
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    uint64_t rest_ns = refusals < 12 ? (uint64_t)BACK_OFF_FIRST_NS << refusals : BACK_OFF_LAST_NS;
    med_port_delay_ns(left_ns < rest_ns ? left_ns : rest_ns);
}

/* Somebody waits, or it is marked. The kernel refuses while the word changes under its hands; the
 * lock is this thread's until it says otherwise. */
static void
release_slow(const med_system *system, med_mutex_row *row, uint32_t number)
{
    uint64_t until_ns = med_port_clock_ns() + RELEASE_PATIENCE_NS;
    for (uint32_t refusals = 0; med_port_pi_unlock(&row->pi_word.value, system->scope) != MEDLEY_OK;
         refusals++) {
        uint32_t word = atomic32_load_relaxed(&row->pi_word); /* relaxed: own, or not ours */
        if (number_of(word) != number) {
            return;
        }
        /* R1 held -> A1 (take): a peer scribbled */
        if (med_port_clock_ns() >= until_ns && atomic32_cas_release(&row->pi_word, &word, 0)) {
            return;
        }
        back_off(refusals, until_ns);
    }
}

static void
release(const med_system *system, med_mutex_row *row, uint32_t number)
{
    uint32_t mine = number;
    if (!atomic32_cas_release(&row->pi_word, &mine, 0)) { /* R1 held -> A1 (take) */
        release_slow(system, row, number);
    }
}

void
med_mutex_pi_release(med_self *self, med_mutex_row *row)
{
    release(self->system, row, self->thread_id);
}

/* Does the caller, who lives, hold it as that very node? */
static bool
is_the_callers(const med_system *system, const med_mutex_row *row, uint32_t node_ref)
{
    uint32_t index = med_node_ref_index(node_ref);
    /* Relaxed, all of these: own words, if they are. */
    return index < system->limits.nodes && med_mutex_pi_thread(row) == med_port_thread_id() &&
           atomic32_load_relaxed(&row->pi_owner) == node_ref &&
           atomic32_load_relaxed(&med_system_node(system, index)->process_ref) ==
               system->process_ref;
}

/* For the next one, where the word does not say it. */
static uint32_t
news_of_death(const med_system *system)
{
    return system->on_death == MED_ON_DEATH_FAIL ? MED_MUTEX_DEAD : MED_MUTEX_TELL_NEXT;
}

bool
med_mutex_pi_leave(const med_system *system, med_mutex_row *row, uint32_t node_ref)
{
    if (!is_the_callers(system, row, node_ref)) {
        return false;
    }
    atomic32_store_relaxed(&row->pi_death, news_of_death(system)); /* relaxed: ordered by R1 */
    release(system, row, med_port_thread_id());
    return true;
}

/* ---- Take ------------------------------------------------------------------------------------ */

/* The kernel knows nobody of that number, so nobody waits: it is free for whoever is first. */
static medley_status_t
take_gone(const med_self *self, med_mutex_row *row, uint32_t seen)
{
    uint32_t left = seen;
    while (number_of(left) == number_of(seen)) {
        /* A3 buried <- R3 (bury_marked); R4 wanted -> A4 (bury) */
        if (atomic32_cas_acq_rel(&row->pi_word, &left, self->thread_id)) {
            return MEDLEY_ERR_OWNER_DIED;
        }
    }
    return MEDLEY_ERR_PEER_DIED;
}

/* What the kernel says to one who wants it by then; MEDLEY_OK and MEDLEY_ERR_OWNER_DIED: had. */
static medley_status_t
take_by_kernel(const med_self *self, med_mutex_row *row, uint64_t until_ns)
{
    uint32_t seen = atomic32_load_relaxed(&row->pi_word); /* relaxed: checked by take_gone */
    medley_status_t status = med_port_pi_lock(&row->pi_word.value, until_ns, self->system->scope);
    return status == MEDLEY_ERR_PEER_DIED && is_gone(seen) ? take_gone(self, row, seen) : status;
}

static bool
is_had(medley_status_t status)
{
    return status == MEDLEY_OK || status == MEDLEY_ERR_OWNER_DIED;
}

/* Does its holder live? Else he is buried. A number that is the caller's own is a dead thread's,
 * given to the caller since: he knows what he holds. */
static void
bury_if_dead(med_self *self, med_mutex_row *row, med_handle handle)
{
    med_system *system = self->system;
    uint32_t number = med_mutex_pi_thread(row);
    med_process_keep(system);
    if (!number || (number != self->thread_id && holder_lives(system, row, number))) {
        return;
    }
    (void)med_node_look(system, atomic32_load_relaxed(&row->pi_owner)); /* relaxed: checked there */
    if (med_mutex_pi_thread(row) == number) {
        burial task = {
            .system = system, .first = med_handle_index(handle), .count = 1, .self = self};
        (void)med_table_hold(&system->nodes, bury_all, &task); /* or else after the next slice */
    }
}

/*
 * What the kernel says to one who wants to wait, and what is done about it:
 *
 *   had, no such call             the answer
 *   TIMEOUT                       a slice, or all the time there is
 *   EXISTS, another's number      a circle: each waits for the next. As for a plain mutex, he tries
 *                                 to the deadline, or without end
 *   EXISTS, the own number        a dead thread's
 *   PEER_DIED                     a dead thread's, or GONE, and another was first
 *   SYSTEM                        others wait for a stranger, or are about to take over from a dead
 *                                 holder: until their slices end
 *
 * Whatever it is, the holder is looked at, and it is tried again.
 */
static medley_status_t
take_slow(med_self *self, med_mutex_row *row, med_handle handle, uint64_t deadline_ns)
{
    uint32_t slices = 0;
    uint32_t refusals = 0;
    for (;;) {
        medley_status_t status =
            take_by_kernel(self, row, med_wait_slice_end_ns(slices, deadline_ns));
        /* Whether it slept the kernel does not say: whom it did not refuse, it let wait. */
        self->waiter.sleeps += is_had(status) || status == MEDLEY_TIMEOUT;
        if (is_had(status) || status == MEDLEY_ERR_NOT_SUPPORTED) {
            return status;
        }
        bury_if_dead(self, row, handle);
        if (med_port_clock_ns() >= deadline_ns ||
            /* Relaxed: compared only. The caller's look at it is a later one. */
            !med_handle_is_current(handle, atomic32_load_relaxed(&row->object.row.state))) {
            return MEDLEY_TIMEOUT; /* of one that is gone, the caller finds that out */
        }
        if (status == MEDLEY_TIMEOUT) {
            slices++;
            refusals = 0;
        } else {
            back_off(refusals++, deadline_ns);
        }
    }
}

/* What it waits for is the claim, and stays until R2. */
static medley_status_t
take_waiting(med_self *self, med_mutex_row *row, med_handle handle, uint64_t deadline_ns)
{
    uint32_t begun = med_object_wait_begin(self, handle);
    medley_status_t status = take_slow(self, row, handle, deadline_ns);
    med_object_wait_told(self, begun, status, &row->slept);
    return status;
}

static medley_status_t
take_try(med_self *self, med_mutex_row *row, med_handle handle)
{
    bury_if_dead(self, row, handle);
    uint32_t free = 0;
    /* A1 held <- R1 (release); R4 wanted -> A4 (bury) */
    if (atomic32_cas_acq_rel(&row->pi_word, &free, self->thread_id)) {
        return MEDLEY_OK;
    }
    uint64_t one_try_ns = 1;
    medley_status_t status = is_gone(free) ? take_by_kernel(self, row, one_try_ns) : MEDLEY_BUSY;
    return is_had(status) ? status : MEDLEY_BUSY;
}

/* What the word says to one who has it by a good handle. */
static medley_status_t
told(const med_self *self, med_mutex_row *row, medley_status_t status)
{
    /* Relaxed, all: written under the lock, or when the row was filled, as own_or_release saw. */
    uint32_t death = atomic32_load_relaxed(&row->pi_death);
    bool fails = status == MEDLEY_ERR_OWNER_DIED && self->system->on_death == MED_ON_DEATH_FAIL;
    if (death == MED_MUTEX_DEAD || (fails && death != MED_MUTEX_FORMER)) {
        atomic32_store_relaxed(&row->pi_death, MED_MUTEX_DEAD);
        return MEDLEY_ERR_NOT_OWNER; /* the caller releases it */
    }
    atomic32_store_relaxed(&row->pi_death, MED_MUTEX_SOUND);
    if (death == MED_MUTEX_FORMER) {
        return MEDLEY_OK;
    }
    return death == MED_MUTEX_TELL_NEXT ? MEDLEY_ERR_OWNER_DIED : status;
}

/* What was taken for a mutex that is gone. What the word told is the next one's to know, if that
 * was ever had. */
static void
release_stale(const med_self *self, med_mutex_row *row, medley_status_t status)
{
    uint32_t sound = MED_MUTEX_SOUND;
    if (status == MEDLEY_ERR_OWNER_DIED) {
        /* Relaxed: ordered by R1. It fails where the row was filled meanwhile: FORMER. */
        (void)atomic32_cas_relaxed(&row->pi_death, &sound, news_of_death(self->system));
    }
    release(self->system, row, self->thread_id);
}

/* Whoever has the word and finds the handle good has the mutex: to delete it takes the word. */
static medley_status_t
own_or_release(const med_self *self, med_mutex_row *row, med_handle handle, medley_status_t status)
{
    medley_status_t good = med_object_check(&row->object, handle);
    if (good != MEDLEY_OK) {
        release_stale(self, row, status);
        return good;
    }
    atomic32_store_relaxed(&row->pi_owner, self->ref); /* relaxed: ordered by R2 */
    return told(self, row, status);
}

medley_status_t
med_mutex_pi_take(med_self *self, med_mutex_row *row, med_handle handle, uint64_t deadline_ns)
{
    /* A5 life over <- R5 (fill): another life's is no reason to refuse, and the caller sees that
     * the handle is old. */
    if (atomic32_load_acquire(&row->pi_space) != med_port_pi_space()) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    atomic32_store_relaxed(&self->row->waiting_for, handle); /* relaxed: ordered by R4 */
    uint32_t free = 0;
    medley_status_t status = MEDLEY_OK;
    /* A1 held <- R1 (release); R4 wanted -> A4 (bury) */
    if (!atomic32_cas_acq_rel(&row->pi_word, &free, self->thread_id)) {
        status = deadline_ns == 0 ? take_try(self, row, handle)
                                  : take_waiting(self, row, handle, deadline_ns);
    }
    if (is_had(status)) {
        status = own_or_release(self, row, handle, status);
    }
    atomic32_store_release(&self->row->waiting_for, 0); /* R2 has it -> A2 (claims) */
    return status;
}

/* ---- Lives of a row -------------------------------------------------------------------------- */

void
med_mutex_pi_fill(med_mutex_row *row, uint32_t space)
{
    /* Who removed the row had the word, but one who slept may have had it after him, and written
     * news. A1 held <- R1 (release) */
    bool free = atomic32_load_acquire(&row->pi_word) == 0;
    /* Relaxed: published with the row (T1 in table.c). */
    atomic32_store_relaxed(&row->pi_death, free ? MED_MUTEX_SOUND : MED_MUTEX_FORMER);
    atomic32_store_release(&row->pi_space, space); /* R5 life over -> A5 (take) */
}

/* Nobody has had the mutex yet, and who has its word has it from a former one. */
static bool
is_unsettled(const med_mutex_row *row, med_handle handle)
{
    /* Relaxed: it says only whether to wait on. */
    return med_object_check(&row->object, handle) == MEDLEY_OK &&
           atomic32_load_relaxed(&row->pi_death) == MED_MUTEX_FORMER;
}

void
med_mutex_pi_settle(med_self *self, med_mutex_row *row, med_handle handle)
{
    uint64_t until_ns = med_port_clock_ns() + SETTLE_PATIENCE_NS;
    medley_status_t status = MEDLEY_TIMEOUT;
    for (uint32_t slices = 0;
         status == MEDLEY_TIMEOUT && is_unsettled(row, handle) && med_port_clock_ns() < until_ns;
         slices++) {
        med_object_touch(&self->tables[MED_KIND_MUTEX], med_handle_index(handle));
        status = med_mutex_pi_take(self, row, handle, med_wait_slice_end_ns(slices, until_ns));
    }
    if (status == MEDLEY_OK) {
        med_mutex_pi_release(self, row);
    } else if (med_mutex_pi_is_mine(self, row)) {
        (void)med_mutex_pi_leave(self->system, row, self->ref); /* another was first, and died */
    }
}
