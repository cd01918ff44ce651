/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Killed while it makes, takes, gives back or deletes a semaphore or a reader/writer lock: whatever
 * it had comes back. All units can be had at once afterwards, the lock can be written under and
 * read under, and both can be deleted. Whose writer died tells so; or, with
 * MEDLEY_MUTEX_ON_DEATH=fail, lets nobody in until it is deleted. Units and readers come back even
 * then.
 */
#include "kill/scenario.h"

#include <signal.h>

#include "medley/medley.h"
#include "mrapi/rwl.h"
#include "mrapi/sem.h"
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "support/process.h"

#define NUMBER 1u
#define UNITS 2u
#define PATIENCE_US 60000000u
#define TIMEOUT_SHORT_US 1000u

/* Of the process that runs this. */
static mrapi_sem_hndl_t sem;
static mrapi_rwl_hndl_t rwl;

static void
make(void)
{
    mrapi_status_t status;
    sem = mrapi_sem_create(NUMBER, NULL, UNITS, &status);
    must(status, "create of a semaphore");
    rwl = mrapi_rwl_create(NUMBER, NULL, UNITS, &status);
    must(status, "create of a reader/writer lock");
}

/* ---- What the child does --------------------------------------------------------------------- */

static void
child_makes(void)
{
    child_up();
    make();
}

static void
op_take(void)
{
    mrapi_status_t status;
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "lock of a semaphore");
}

static void
op_give(void)
{
    mrapi_status_t status;
    mrapi_sem_unlock(sem, &status);
    must(status, "unlock of a semaphore");
}

static void
child_takes(void)
{
    child_makes();
    op_take();
}

static void
child_takes_all(void)
{
    child_takes();
    op_take();
}

/* All units are its own already. */
static void
op_take_in_vain(void)
{
    mrapi_status_t status;
    mrapi_sem_lock(sem, TIMEOUT_SHORT_US, &status);
    must(status == MRAPI_TIMEOUT ? MRAPI_SUCCESS : MRAPI_ERR_SEM_LOCKED, "lock in vain");
}

static void
op_sem_delete(void)
{
    mrapi_status_t status;
    mrapi_sem_delete(sem, &status);
    must(status, "delete of a semaphore");
}

static void
enter(mrapi_rwl_mode_t mode)
{
    mrapi_status_t status;
    mrapi_rwl_lock(rwl, mode, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "lock to read or write");
}

static void
leave(mrapi_rwl_mode_t mode)
{
    mrapi_status_t status;
    mrapi_rwl_unlock(rwl, mode, &status);
    must(status, "unlock of a reader or writer");
}

static void
op_read(void)
{
    enter(MRAPI_RWL_READER);
}

static void
op_read_end(void)
{
    leave(MRAPI_RWL_READER);
}

static void
op_write(void)
{
    enter(MRAPI_RWL_WRITER);
}

static void
op_write_end(void)
{
    leave(MRAPI_RWL_WRITER);
}

static void
child_reads(void)
{
    child_makes();
    op_read();
}

static void
child_writes(void)
{
    child_makes();
    op_write();
}

static void
op_rwl_delete(void)
{
    mrapi_status_t status;
    mrapi_rwl_delete(rwl, &status);
    must(status, "delete of a reader/writer lock");
}

/* Somebody else reads: it comes, waits, and gives up. */
static void
op_write_in_vain(void)
{
    mrapi_status_t status;
    rwl = mrapi_rwl_get(NUMBER, &status);
    must(status, "get of a reader/writer lock");
    mrapi_rwl_lock(rwl, MRAPI_RWL_WRITER, TIMEOUT_SHORT_US, &status);
    must(status == MRAPI_TIMEOUT ? MRAPI_SUCCESS : MRAPI_ERR_RWL_LOCKED, "write in vain");
}

/* What somebody else made. */
static void
find(void)
{
    mrapi_status_t status;
    sem = mrapi_sem_get(NUMBER, &status);
    must(status, "get of a semaphore");
    rwl = mrapi_rwl_get(NUMBER, &status);
    must(status, "get of a reader/writer lock");
}

static void
op_take_handed(void)
{
    find();
    op_take();
}

static void
op_read_handed(void)
{
    find();
    op_read();
}

static void
op_write_handed(void)
{
    find();
    op_write();
}

static void
op_sem_delete_in_vain(void)
{
    mrapi_status_t status;
    find();
    mrapi_sem_delete(sem, &status);
    must(status == MRAPI_ERR_SEM_LOCKED ? MRAPI_SUCCESS : MRAPI_ERR_SEM_INVALID, "delete in vain");
}

/* ---- Who sleeps ------------------------------------------------------------------------------ */

/* Of one unit, that the child has. */
static void
child_takes_the_only_unit(void)
{
    mrapi_status_t status;
    child_up();
    sem = mrapi_sem_create(NUMBER, NULL, 1, &status);
    must(status, "create of a semaphore");
    op_take();
}

static char
told(void)
{
    return medley_lock_owner_died() ? 'd' : 'o';
}

static char
sem_take_once(void)
{
    mrapi_status_t status;
    sem = mrapi_sem_get(NUMBER, &status);
    must(status, "the sleeper's get");
    op_take();
    char heard = told();
    op_give();
    return heard;
}

static char
rwl_enter_once(mrapi_rwl_mode_t mode)
{
    mrapi_status_t status;
    rwl = mrapi_rwl_get(NUMBER, &status);
    must(status, "the sleeper's get");
    mrapi_rwl_lock(rwl, mode, MRAPI_TIMEOUT_INFINITE, &status);
    if (status == MRAPI_ERR_RWL_INVALID) {
        return 'n';
    }
    must(status, "the sleeper's lock");
    char heard = told();
    leave(mode);
    return heard;
}

static char
rwl_read_once(void)
{
    return rwl_enter_once(MRAPI_RWL_READER);
}

static char
rwl_write_once(void)
{
    return rwl_enter_once(MRAPI_RWL_WRITER);
}

static bool
sleeper_waits_for(med_handle_kind kind)
{
    const med_system *system = med_self_get()->system;
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        const med_node_row *node = med_system_node(system, i);
        uint32_t word = atomic32_load_acquire(&node->row.state);
        if (is_node(med_node_ref(i, med_row_generation_of(word)), SLEEPER)) {
            return med_handle_kind_of(atomic32_load_acquire(&node->waiting_for)) == kind;
        }
    }
    return false;
}

static bool
sem_is_wanted(void)
{
    return sleeper_waits_for(MED_HANDLE_SEM);
}

static bool
rwl_is_wanted(void)
{
    return sleeper_waits_for(MED_HANDLE_RWL);
}

/* Whether it is still the child's, or the sleeper's by now, or nobody's. */
static char
sem_expect(void)
{
    mrapi_status_t status;
    sem = mrapi_sem_get(NUMBER, &status);
    must(status, "the tester's get");
    const med_self *self = med_self_get();
    med_row *row = med_table_row(&self->system->sems, med_handle_index(sem));
    const med_units units = med_sem_units((med_sem_row *)(void *)row, self->sharers);
    return is_node(med_lock_owner(med_units_nth(&units, 0)), CHILD) ? 'd' : 'o';
}

static char
rwl_expect(void)
{
    mrapi_status_t status;
    rwl = mrapi_rwl_get(NUMBER, &status);
    must(status, "the tester's get");
    const med_system *system = med_self_get()->system;
    const med_rwl_row *row =
        (const med_rwl_row *)(const void *)med_table_row(&system->rwls, med_handle_index(rwl));
    bool dies_writing = is_node(med_lock_owner(&row->lock.writer), CHILD);
    return !dies_writing ? 'o' : system->on_death == MED_ON_DEATH_FAIL ? 'n' : 'd';
}

/* Who leaves with it dies with it. */
static char
left_expect(void)
{
    return 'd';
}

static const scenario_sleeper takes_left_unit = {
    .take = sem_take_once, .is_wanted = sem_is_wanted, .expect = left_expect};
static const scenario_sleeper takes_unit = {
    .take = sem_take_once, .is_wanted = sem_is_wanted, .expect = sem_expect};
static const scenario_sleeper reads = {
    .take = rwl_read_once, .is_wanted = rwl_is_wanted, .expect = rwl_expect};
static const scenario_sleeper writes = {
    .take = rwl_write_once, .is_wanted = rwl_is_wanted, .expect = rwl_expect};

/* ---- Who has died before --------------------------------------------------------------------- */

static bool victim_writes; /* else it reads */

static int
sharing_victim(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    node_up(VICTIM);
    find();
    op_take();
    (victim_writes ? op_write : op_read)();
    (void)raise(SIGKILL);
    return 1;
}

static void
victim_shares(void)
{
    former_dies(sharing_victim);
}

/* ---- What the tester does -------------------------------------------------------------------- */

static bool tester_reads, tester_writes;
static uint32_t tester_units;

static void
tester_makes_and_reads(void)
{
    make();
    op_read();
    tester_reads = true;
}

static void
tester_takes(void)
{
    op_take();
    tester_units++;
}

static void
tester_makes_and_takes_all(void)
{
    make();
    tester_takes();
    tester_takes();
}

static void
tester_gives(void)
{
    if (tester_units > 0) {
        op_give();
        tester_units--;
    }
}

static void
tester_makes_and_writes(void)
{
    make();
    op_write();
    tester_writes = true;
}

static void
tester_writes_no_more(void)
{
    if (tester_writes) {
        op_write_end();
        tester_writes = false;
    }
}

static void
tester_makes_and_one_dies(void)
{
    make();
    victim_writes = !victim_writes;
    victim_shares();
}

/* Who deletes takes the dead one's unit, then finds the tester's. */
static void
tester_makes_one_dies_and_it_takes(void)
{
    make();
    victim_shares();
    tester_takes();
}

/* Of so many units the next owner is to be told: the tester has none, and nobody else lives. */
static uint32_t
unit_deaths(void)
{
    const med_self *self = med_self_get();
    med_row *row = med_table_row(&self->system->sems, med_handle_index(sem));
    const med_units units = med_sem_units((med_sem_row *)(void *)row, self->sharers);
    uint32_t deaths = 0;
    for (uint32_t i = 0; i < units.count; i++) {
        deaths += atomic32_load_acquire(&med_units_nth(&units, i)->word) != 0;
    }
    return deaths;
}

static uint32_t
unit_count(void)
{
    const med_sem_row *row = (const med_sem_row *)(const void *)med_table_row(
        &med_self_get()->system->sems, med_handle_index(sem));
    return atomic32_load_relaxed(&row->limit);
}

static void
units_had(void)
{
    mrapi_status_t status;
    sem = mrapi_sem_get(NUMBER, &status);
    if (status != MRAPI_SUCCESS) {
        return; /* was not made yet, or is deleted */
    }
    uint32_t deaths = unit_deaths(), told = 0, count = unit_count();
    for (uint32_t i = 0; i < count; i++) {
        mrapi_sem_lock(sem, PATIENCE_US, &status);
        must(status, "lock of a semaphore after the kill");
        told += (uint32_t)medley_lock_owner_died();
    }
    if (told != deaths) {
        must(MRAPI_ERR_SEM_INVALID, "told of a unit's owner's death");
    }
    op_give();
    op_sem_delete();
}

static bool writer_died; /* inside: what the lock said before anybody else was at it */

static bool
is_closed(void)
{
    return writer_died && med_self_get()->system->on_death == MED_ON_DEATH_FAIL;
}

static void
lock_lets_in(mrapi_rwl_mode_t mode)
{
    mrapi_status_t status;
    mrapi_rwl_lock(rwl, mode, PATIENCE_US, &status);
    must(status, "read and write after the kill");
    if (medley_lock_owner_died() != writer_died) {
        must(MRAPI_ERR_RWL_INVALID, "told of a writer's death");
    }
    leave(mode);
}

/* Nobody, whoever tries, and however often. */
static void
lock_lets_nobody_in(mrapi_rwl_mode_t mode)
{
    mrapi_status_t status;
    for (int i = 0; i < 2; i++) {
        mrapi_rwl_lock(rwl, mode, i ? MRAPI_TIMEOUT_IMMEDIATE : PATIENCE_US, &status);
        must(status == MRAPI_ERR_RWL_INVALID ? MRAPI_SUCCESS : MRAPI_ERR_RWL_LOCKED,
             "lock of a closed one");
    }
}

static void
lock_had(void)
{
    mrapi_status_t status;
    rwl = mrapi_rwl_get(NUMBER, &status);
    if (status != MRAPI_SUCCESS) {
        return;
    }
    if (tester_reads) {
        op_read_end();
        tester_reads = false;
    }
    for (int mode = MRAPI_RWL_READER; mode <= MRAPI_RWL_WRITER; mode++) {
        (is_closed() ? lock_lets_nobody_in : lock_lets_in)((mrapi_rwl_mode_t)mode);
    }
    if (!is_closed()) {
        op_read();
        if (medley_lock_owner_died()) {
            must(MRAPI_ERR_RWL_INVALID, "told again after a writer was there");
        }
    }
    op_rwl_delete();
}

/* Before anybody looks: nobody but the dead one writes. */
static void
writers_death_expected(void)
{
    const med_system *system = med_self_get()->system;
    writer_died = false;
    for (uint32_t i = 0; i < system->limits.rwlocks; i++) {
        med_view_rwl view;
        bool written = med_view_rwl_read(system, i, &view) &&
                       (view.state == MED_VIEW_LOCK_HELD || view.state == MED_VIEW_LOCK_DIED ||
                        view.state == MED_VIEW_LOCK_DEAD);
        writer_died = writer_died || (written && !view.coming);
    }
}

/* What was being made is there, or not, once somebody else has made one: he repairs the table. */
static void
tables_settle(void)
{
    mrapi_status_t status;
    mrapi_sem_delete(mrapi_sem_create(MRAPI_SEM_ID_ANY, NULL, 1, &status), &status);
    must(status, "another semaphore");
    mrapi_rwl_delete(mrapi_rwl_create(MRAPI_RWL_ID_ANY, NULL, 1, &status), &status);
    must(status, "another reader/writer lock");
}

/* Of the dead, who are recovered. */
static void
nothing_left(void)
{
    const med_system *system = med_self_get()->system;
    for (uint32_t i = 0; i < system->limits.semaphores; i++) {
        med_view_sem view;
        if (med_view_sem_read(system, i, &view) && view.held != 0) {
            must(MRAPI_ERR_SEM_LOCKED, "a dead node's unit");
        }
    }
    for (uint32_t i = 0; i < system->limits.rwlocks; i++) {
        med_view_rwl view;
        med_view_lock_state wanted = is_closed()   ? MED_VIEW_LOCK_DEAD
                                     : writer_died ? MED_VIEW_LOCK_DIED
                                                   : MED_VIEW_LOCK_FREE;
        if (med_view_rwl_read(system, i, &view) &&
            (view.state != wanted || view.readers != tester_reads)) {
            must(MRAPI_ERR_RWL_LOCKED, "a dead reader or writer");
        }
    }
}

/* By turns the death is found by one who wants what the dead one had, or when nobody does yet. */
static void
all_comes_back(void)
{
    while (tester_units > 0) {
        tester_gives();
    }
    tester_writes_no_more();
    writers_death_expected();
    if (step_kill_steps() % 2) {
        op_recover();
        nothing_left();
    }
    tables_settle();
    units_had();
    lock_had();
    make();
    units_had();
    writer_died = false;
    lock_had();
}

/* Whoever dies with a unit, none of an earlier death is forgotten. */
static void
victims_unit_is_told(void)
{
    while (tester_units > 0) {
        tester_gives();
    }
    if (unit_deaths() == 0) {
        must(MRAPI_ERR_SEM_INVALID, "the victim's death");
    }
    all_comes_back();
}

static const scenario scenarios[] = {
    {.name = "sharing_make",
     .operation = {.prepare = child_up, .operate = make},
     .after = all_comes_back},
    {.name = "sem_take",
     .operation = {.prepare = child_makes, .operate = op_take},
     .after = all_comes_back},
    {.name = "sem_take_in_vain",
     .operation = {.prepare = child_takes_all, .operate = op_take_in_vain},
     .after = all_comes_back},
    {.name = "sem_give",
     .operation = {.prepare = child_takes, .operate = op_give},
     .after = all_comes_back},
    {.name = "sem_delete",
     .operation = {.prepare = child_takes, .operate = op_sem_delete},
     .after = all_comes_back},
    {.name = "sem_take_handed",
     .operation = {.prepare = child_up, .operate = op_take_handed},
     .before = tester_makes_and_takes_all,
     .asleep = tester_gives,
     .after = all_comes_back},
    {.name = "sem_delete_in_vain",
     .operation = {.prepare = child_up, .operate = op_sem_delete_in_vain},
     .before = tester_makes_one_dies_and_it_takes,
     .after = victims_unit_is_told},
    {.name = "sem_finalize",
     .operation = {.prepare = child_takes_all, .operate = node_down},
     .after = all_comes_back},
    {.name = "sharing_recover",
     .operation = {.prepare = child_up, .operate = op_recover},
     .before = tester_makes_and_one_dies,
     .after = all_comes_back},
    {.name = "rwl_read_handed",
     .operation = {.prepare = child_up, .operate = op_read_handed},
     .before = tester_makes_and_writes,
     .asleep = tester_writes_no_more,
     .after = all_comes_back},
    {.name = "rwl_write_handed",
     .operation = {.prepare = child_up, .operate = op_write_handed},
     .before = tester_makes_and_writes,
     .asleep = tester_writes_no_more,
     .after = all_comes_back},
    {.name = "rwl_read",
     .operation = {.prepare = child_makes, .operate = op_read},
     .after = all_comes_back},
    {.name = "rwl_read_again",
     .operation = {.prepare = child_reads, .operate = op_read},
     .after = all_comes_back},
    {.name = "rwl_read_end",
     .operation = {.prepare = child_reads, .operate = op_read_end},
     .after = all_comes_back},
    {.name = "rwl_write",
     .operation = {.prepare = child_makes, .operate = op_write},
     .after = all_comes_back},
    {.name = "rwl_write_in_vain",
     .operation = {.prepare = child_up, .operate = op_write_in_vain},
     .before = tester_makes_and_reads,
     .after = all_comes_back},
    {.name = "rwl_write_end",
     .operation = {.prepare = child_writes, .operate = op_write_end},
     .after = all_comes_back},
    {.name = "rwl_delete",
     .operation = {.prepare = child_reads, .operate = op_rwl_delete},
     .after = all_comes_back},
    {.name = "rwl_delete_held",
     .operation = {.prepare = child_writes, .operate = op_rwl_delete},
     .after = all_comes_back},
    {.name = "rwl_finalize",
     .operation = {.prepare = child_writes, .operate = node_down},
     .after = all_comes_back},
    {.name = "fail_sem_take",
     .operation = {.prepare = child_makes, .operate = op_take},
     .fail = true,
     .after = all_comes_back},
    {.name = "fail_sem_give",
     .operation = {.prepare = child_takes_all, .operate = op_give},
     .fail = true,
     .after = all_comes_back},
    {.name = "fail_sem_delete",
     .operation = {.prepare = child_takes, .operate = op_sem_delete},
     .fail = true,
     .after = all_comes_back},
    {.name = "fail_rwl_read",
     .operation = {.prepare = child_makes, .operate = op_read},
     .fail = true,
     .after = all_comes_back},
    {.name = "fail_rwl_write",
     .operation = {.prepare = child_makes, .operate = op_write},
     .fail = true,
     .after = all_comes_back},
    {.name = "fail_rwl_write_in_vain",
     .operation = {.prepare = child_up, .operate = op_write_in_vain},
     .fail = true,
     .before = tester_makes_and_reads,
     .after = all_comes_back},
    {.name = "fail_rwl_write_end",
     .operation = {.prepare = child_writes, .operate = op_write_end},
     .fail = true,
     .after = all_comes_back},
    {.name = "fail_rwl_delete",
     .operation = {.prepare = child_reads, .operate = op_rwl_delete},
     .fail = true,
     .after = all_comes_back},
    {.name = "fail_rwl_delete_held",
     .operation = {.prepare = child_writes, .operate = op_rwl_delete},
     .fail = true,
     .after = all_comes_back},
    {.name = "fail_sharing_recover",
     .operation = {.prepare = child_up, .operate = op_recover},
     .fail = true,
     .before = tester_makes_and_one_dies,
     .after = all_comes_back},
    {.name = "sem_give_sleeper",
     .operation = {.prepare = child_takes_the_only_unit, .operate = op_give},
     .after = all_comes_back,
     .sleeper = &takes_unit},
    {.name = "sem_finalize_sleeper",
     .operation = {.prepare = child_takes_the_only_unit, .operate = node_down},
     .after = all_comes_back,
     .sleeper = &takes_left_unit},
    {.name = "rwl_read_end_sleeper",
     .operation = {.prepare = child_reads, .operate = op_read_end},
     .after = all_comes_back,
     .sleeper = &writes},
    {.name = "rwl_write_end_sleeper",
     .operation = {.prepare = child_writes, .operate = op_write_end},
     .after = all_comes_back,
     .sleeper = &writes},
    {.name = "rwl_write_end_reader",
     .operation = {.prepare = child_writes, .operate = op_write_end},
     .after = all_comes_back,
     .sleeper = &reads},
    {.name = "fail_sem_give_sleeper",
     .operation = {.prepare = child_takes_the_only_unit, .operate = op_give},
     .fail = true,
     .after = all_comes_back,
     .sleeper = &takes_unit},
    {.name = "fail_rwl_write_end_sleeper",
     .operation = {.prepare = child_writes, .operate = op_write_end},
     .fail = true,
     .after = all_comes_back,
     .sleeper = &writes},
    {.name = "fail_rwl_write_end_reader",
     .operation = {.prepare = child_writes, .operate = op_write_end},
     .fail = true,
     .after = all_comes_back,
     .sleeper = &reads},
    {.name = "fail_rwl_finalize",
     .operation = {.prepare = child_writes, .operate = node_down},
     .fail = true,
     .after = all_comes_back},
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "sharing", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
