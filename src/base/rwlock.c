/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The reader/writer lock. What may run together: everything, by anybody; inside at once:
 *
 *              reader    writer
 *   reader     yes       no
 *   writer     no        no
 *
 * Transitions of the word (o: owner; +C: COMING; D: DIED, kept unless said otherwise):
 *   0        -> o+C       write: nothing is changed yet
 *   o+C      -> o         no reader is left; D is told to o, and cleared
 *   o+C      -> 0         gives up (a deadline); or recover
 *   o        -> 0         write_end
 *   o        -> D         recover, usable
 *   o        -> DEAD+D    recover, of no more use
 * Of a unit: those of a lock (lock.c); a reader's death is told to nobody: he changed nothing.
 *
 * Why they exclude each other. Reader: takes his unit (B1), then looks at the word. Writer: takes
 * the word (B2), then looks at the units. All four are sequentially consistent, so at least one
 * sees the other. The alternative, the port's asymmetric barrier, would save the readers nothing on
 * x86, where taking the unit is a locked instruction and so a full fence, and one ordered load
 * elsewhere; it would cost every writer a system call that stops all processors.
 *
 * Orders: a writer's changes are seen by readers (R2 -> A2) and writers (R2 -> A1); that readers
 * have finished is seen by the writer (R1 -> A1 of units.c). A unit is backed out by
 * compare-and-swap, since between taking it and finding the word free nothing keeps the lock from
 * being deleted.
 *
 * Why no wake is lost. Who waits for the word: lock.c's protocol (med_contest). A reader who has
 * got in leaves the word free for the next, so for readers there are several to be had, and each
 * wakes the next; one who finds no unit leaves the line, and waits with the wait object (wait.c),
 * as does the writer who has the word and waits for readers; who leaves looks at its flag.
 *
 * Linearisation: read, the look at the word that finds it free; write, the last look at a unit;
 * their ends, the store that frees. Progress: blocking, by nature; the ends are wait-free but for
 * the kernel's wake. A reader who backs out may delay a writer who is coming by a moment, but only
 * one who had not seen him yet: for each reader once.
 * Death: recover_writer and recover_reader, of everyone whose words these are; of one who was woken
 * and had not taken anything yet: slices.
 * Model: models/rwl.pml.
 */
#include "base/rwlock.h"

static uint32_t
owner_of(uint32_t word)
{
    return word & MED_LOCK_OWNER_MASK;
}

/* What is left of a word that comes free without anybody having changed anything. */
static uint32_t
freed(uint32_t word)
{
    return word & MED_LOCK_DIED;
}

static medley_status_t
still_there(const med_rwlock_request *request)
{
    return request->still_there(request->context);
}

static medley_status_t
each_slice(const med_rwlock_request *request)
{
    request->each_slice(request->context);
    return MEDLEY_OK;
}

void
med_rwlock_back_out(med_rwlock *lock, med_lock *unit, uint32_t owner, med_port_scope scope)
{
    /* Relaxed: he has read nothing; what others released in the word before goes on with it. */
    if (atomic32_cas_relaxed(&unit->word, &owner, 0)) {
        med_wait_wake(&lock->left, scope);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct reading {
    const med_rwlock_request *request;
    uint32_t unit;
    bool no_unit;     /* the word is free, but all units are had */
    bool died;        /* a writer, and none has been since */
    uint64_t look_ns; /* at the owners, next; 0: has not waited yet */
    uint32_t slice;
} reading;

static bool
word_is_free(void *context)
{
    const reading *r = context;
    /* Relaxed: as S3 in lock.c. */
    return owner_of(atomic32_load_relaxed(&r->request->lock->writer.word)) == 0;
}

/* What is to be said of a word that is not free. */
static medley_status_t
why_not(uint32_t word)
{
    return owner_of(word) == MED_LOCK_DEAD ? MEDLEY_ERR_PEER_DIED : MEDLEY_BUSY;
}

/* A unit was taken: may it be kept? */
static medley_status_t
keep(reading *r)
{
    const med_rwlock_request *request = r->request;
    /* B1 unit, then word <-> B2 (write_attempt). A2 free <- R2 (write_end, recover) */
    uint32_t word = atomic32_load_seq_cst(&request->lock->writer.word);
    medley_status_t status = owner_of(word) ? why_not(word) : still_there(request);
    if (status != MEDLEY_OK) {
        med_rwlock_back_out(request->lock, &request->units.words[r->unit], request->owner,
                            request->scope);
        return status;
    }
    r->died = word & MED_LOCK_DIED;
    return MEDLEY_OK;
}

/* One try. MEDLEY_OK with no_unit: past the word, but not in. */
static medley_status_t
read_attempt(void *context)
{
    reading *r = context;
    const med_rwlock_request *request = r->request;
    medley_status_t status = still_there(request);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed: looked at again; a writer who is coming is not disturbed. */
    uint32_t word = atomic32_load_relaxed(&request->lock->writer.word);
    if (owner_of(word)) {
        return why_not(word);
    }
    /* B1 unit, then word <-> B2 (write_attempt) */
    r->no_unit = med_units_take(&request->units, request->owner, r->unit, &r->unit) == MEDLEY_BUSY;
    return r->no_unit ? MEDLEY_OK : keep(r);
}

static medley_status_t
reading_each_slice(void *context)
{
    const reading *r = context;
    return each_slice(r->request);
}

/* A unit came free, or there is another reason to look closer. */
static bool
unit_may_be_free(void *context)
{
    const reading *r = context;
    return med_units_any_free(&r->request->units) || still_there(r->request) != MEDLEY_OK;
}

/* Others may get each unit that comes free, and no slice ends meanwhile: who waits looks at the
 * owners as often all the same, or a dead one's would be lost as long as that lasts. */
static medley_status_t
wait_for_unit(reading *r)
{
    const med_rwlock_request *request = r->request;
    if (med_port_clock_ns() >= r->look_ns) {
        if (r->look_ns != 0) {
            (void)each_slice(request);
        }
        r->look_ns = med_wait_slice_end_ns(r->slice++, MED_PORT_FOREVER);
    }
    med_wait_request wait = {.condition = unit_may_be_free,
                             .each_slice = reading_each_slice,
                             .context = r,
                             .deadline_ns = request->deadline_ns,
                             .scope = request->scope};
    return med_wait_until(&request->lock->left, request->waiter, &wait);
}

/* One who is inside gets another unit whoever is coming, since nobody comes in before he has left.
 */
static medley_status_t
read_again(reading *r)
{
    const med_rwlock_request *request = r->request;
    bool all_mine = med_units_held_by(&request->units, request->owner) == request->units.count;
    if (all_mine && request->deadline_ns == MED_PORT_FOREVER) {
        return MEDLEY_ERR_EXISTS;
    }
    while (med_units_take(&request->units, request->owner, r->unit, &r->unit) == MEDLEY_BUSY) {
        medley_status_t status = still_there(request);
        if (status == MEDLEY_OK) {
            status = request->deadline_ns == 0 ? MEDLEY_BUSY : wait_for_unit(r);
        }
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    /* Relaxed: only he who will change things clears the bit. */
    r->died = atomic32_load_relaxed(&request->lock->writer.word) & MED_LOCK_DIED;
    return MEDLEY_OK;
}

static medley_status_t
read_first(reading *r)
{
    const med_rwlock_request *request = r->request;
    med_contest contest = {.attempt = read_attempt,
                           .any_free = word_is_free,
                           .each_slice = reading_each_slice,
                           .context = r,
                           .deadline_ns = request->deadline_ns,
                           .scope = request->scope,
                           .waiter = request->waiter};
    for (;;) {
        r->no_unit = false;
        medley_status_t status = med_contest_run(&contest, &request->lock->sleepers);
        if (status != MEDLEY_OK || !r->no_unit) {
            return status;
        }
        status = request->deadline_ns == 0 ? MEDLEY_BUSY : wait_for_unit(r);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
}

medley_status_t
med_rwlock_read(const med_rwlock_request *request, uint32_t *unit)
{
    reading r = {.request = request, .unit = *unit};
    /* Relaxed: own, or not his. */
    if (owner_of(atomic32_load_relaxed(&request->lock->writer.word)) == request->owner) {
        return MEDLEY_ERR_EXISTS;
    }
    bool inside = med_units_find(&request->units, request->owner, *unit) != MED_UNITS_NONE;
    medley_status_t status = inside ? read_again(&r) : read_first(&r);
    if (status != MEDLEY_OK) {
        return status;
    }
    *unit = r.unit;
    return r.died ? MEDLEY_ERR_OWNER_DIED : MEDLEY_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The owner is coming, and will not come. */
static void
give_up(const med_rwlock_request *request)
{
    med_rwlock *lock = request->lock;
    uint32_t word = atomic32_load_relaxed(&lock->writer.word); /* relaxed: own */
    /* Relaxed: he has written nothing; else as back_out. */
    if (owner_of(word) == request->owner &&
        atomic32_cas_relaxed(&lock->writer.word, &word, freed(word))) {
        med_lock_wake_one(&lock->sleepers, request->scope);
    }
}

static medley_status_t
write_attempt(void *context)
{
    const med_rwlock_request *request = context;
    medley_status_t status = still_there(request);
    if (status != MEDLEY_OK) {
        return status;
    }
    atomic32 *word = &request->lock->writer.word;
    uint32_t seen = atomic32_load_relaxed(word); /* relaxed: checked by compare-and-swap */
    do {
        if (owner_of(seen)) {
            return why_not(seen);
        }
        /* B2 word, then units <-> B1 (read). A1 free <- R2 (write_end, recover);
         * R3 owner came -> A2 (lock.h) */
    } while (!atomic32_cas_seq_cst(word, &seen, request->owner | MED_RWLOCK_COMING | freed(seen)));
    status = still_there(request);
    if (status != MEDLEY_OK) {
        give_up(request);
    }
    return status;
}

static bool
readers_have_left(void *context)
{
    const med_rwlock_request *request = context;
    return med_units_all_free(&request->units, 0); /* B2 */
}

static medley_status_t
writing_each_slice(void *context)
{
    return each_slice(context);
}

/* He has the word. */
static medley_status_t
await_readers(const med_rwlock_request *request)
{
    void *context = (void *)(uintptr_t)request;
    if (__builtin_expect(readers_have_left(context), 1)) {
        return MEDLEY_OK;
    }
    if (request->deadline_ns == 0) {
        return MEDLEY_BUSY;
    }
    med_wait_request wait = {.condition = readers_have_left,
                             .each_slice = writing_each_slice,
                             .context = context,
                             .deadline_ns = request->deadline_ns,
                             .scope = request->scope};
    return med_wait_until(&request->lock->left, request->waiter, &wait);
}

medley_status_t
med_rwlock_write(const med_rwlock_request *request)
{
    med_contest contest = {.attempt = write_attempt,
                           .each_slice = writing_each_slice,
                           .context = (void *)(uintptr_t)request,
                           .deadline_ns = request->deadline_ns,
                           .scope = request->scope,
                           .waiter = request->waiter};
    atomic32 *word = &request->lock->writer.word;
    if (owner_of(atomic32_load_relaxed(word)) == request->owner || /* relaxed: own, or not his */
        med_units_find(&request->units, request->owner, 0) != MED_UNITS_NONE) {
        return MEDLEY_ERR_EXISTS;
    }
    medley_status_t status = med_contest_run(&contest, &request->lock->sleepers);
    if (status != MEDLEY_OK) {
        return status;
    }
    status = await_readers(request);
    if (status != MEDLEY_OK) {
        give_up(request);
        return status;
    }
    bool died = atomic32_load_relaxed(word) & MED_LOCK_DIED; /* relaxed: own word */
    /* R3 owner came -> A2 (lock.h): as when he took it, for who sees this store only. */
    atomic32_store_release(word, request->owner);
    atomic_compiler_barrier(); /* before anything is changed; read by others after his death only */
    return died ? MEDLEY_ERR_OWNER_DIED : MEDLEY_OK;
}

/* ---- Its end --------------------------------------------------------------------------------- */

medley_status_t
med_rwlock_close(const med_rwlock_request *request)
{
    if (med_rwlock_is_writer(request->lock, request->owner)) {
        return MEDLEY_OK;
    }
    medley_status_t status = write_attempt((void *)(uintptr_t)request);
    if (status != MEDLEY_OK) {
        return med_lock_is_dead(&request->lock->writer) ? MEDLEY_OK : status;
    }
    if (!med_units_all_free(&request->units, request->owner)) { /* B2 */
        give_up(request);
        return MEDLEY_BUSY;
    }
    return MEDLEY_OK;
}

void
med_rwlock_reopen(const med_rwlock_request *request)
{
    /* Relaxed: own, or not his. Who was the writer before stays it. */
    if (atomic32_load_relaxed(&request->lock->writer.word) & MED_RWLOCK_COMING) {
        give_up(request);
    }
}

void
med_rwlock_wake_all(med_rwlock *lock, med_port_scope scope)
{
    med_lock_wake(&lock->sleepers, UINT32_MAX, scope);
    med_wait_wake(&lock->left, scope);
}

/* ---- Death ----------------------------------------------------------------------------------- */

bool
med_rwlock_recover_writer(med_rwlock *lock, uint32_t dead_owner, bool usable, med_port_scope scope)
{
    uint32_t word = atomic32_load_relaxed(&lock->writer.word); /* relaxed: checked below */
    while (owner_of(word) == dead_owner) {
        uint32_t after_writing = usable ? MED_LOCK_DIED : MED_LOCK_DEAD | MED_LOCK_DIED;
        uint32_t desired = word & MED_RWLOCK_COMING ? freed(word) : after_writing;
        /* R2 free -> A1 (write_attempt), A2 (read): what the dead one wrote was made visible by his
         * death, and goes on to the next. */
        if (atomic32_cas_release(&lock->writer.word, &word, desired)) {
            med_lock_wake(&lock->sleepers, 1, scope);
            return true;
        }
    }
    return false;
}

bool
med_rwlock_recover_reader(med_rwlock *lock,
                          med_lock *unit,
                          uint32_t dead_owner,
                          med_port_scope scope)
{
    uint32_t word = atomic32_load_relaxed(&unit->word); /* relaxed: checked below */
    /* R1 held -> A1 (units.c) */
    if (owner_of(word) != dead_owner || !atomic32_cas_release(&unit->word, &word, 0)) {
        return false;
    }
    med_wait_wake(&lock->left, scope);
    return true;
}
