/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recoveries that are late, or cut short: process rows as those leave them who died at a recovery,
 * or were taken for dead at it and go on. */
#include "mrapi/process.h"

#include <fcntl.h>

#include "base/log.h"
#include "medley/medley.h"
#include "mrapi.h"
#include "mrapi/node.h"
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "support/node.h"
#include "support/process.h"
#include "support/system.h"
#include "support/unit.h"

#define NODE 7
#define OTHER 8
#define PLANTED 20
#define GENERATION 0xffffu /* the next is 0 */

/* Rows of nobody, the first two behind the test's own: a newcomer takes the first. */
#define FIRST 1u
#define SECOND 2u
#define THIRD 3u

static int
node_up(void **state)
{
    *state = NULL;
    return initialize(NODE) == MRAPI_SUCCESS && med_self_get()->system->process_index == 0 ? 0 : -1;
}

static int
node_down(void **state)
{
    (void)state;
    return finalize() == MRAPI_SUCCESS ? 0 : -1;
}

static atomic32 *
state_of(uint32_t index)
{
    return &med_system_process(med_self_get()->system, index)->state;
}

static void
plant(uint32_t index, med_process_state state, uint32_t by, uint32_t generation)
{
    uint32_t found =
        atomic32_load_relaxed(state_of(index)); /* relaxed, both: nobody else is here */
    assert_int_equal(med_process_state_of(found), MED_PROCESS_FREE);
    atomic32_store_relaxed(state_of(index), med_process_word(state, by, generation));
}

/* ---- What is a newcomer's -------------------------------------------------------------------- */

/* A node of that life of FIRST. */
static uint32_t
node_plant(uint32_t generation)
{
    med_system *system = med_self_get()->system;
    med_node_request request = {.domain = DOMAIN, .node = PLANTED, .kind = MED_NODE_THREAD};
    med_self *self;
    assert_int_equal(med_node_place(system, &request, &self), MEDLEY_OK);
    atomic32 *chunk = &med_system_process(system, FIRST)->node_rows[self->index / 64 / 32];
    (void)atomic32_fetch_or_relaxed(chunk, 1u << self->index / 64 % 32); /* relaxed: as above */
    atomic32_store_relaxed(&self->row->process_ref, med_process_ref(FIRST, generation));
    return self->index;
}

static bool
node_is_there(void)
{
    uint32_t index, generation;
    med_key key = {.high = DOMAIN, .low = PLANTED};
    return med_table_find(&med_self_get()->system->nodes, key, &index, &generation) == MEDLEY_OK;
}

/* Recovers GENERATION of FIRST, where a node is of another. Is it there afterwards? */
static bool
node_survives(uint32_t its_generation)
{
    med_system *system = med_self_get()->system;
    uint32_t index = node_plant(its_generation);
    const med_row *row = med_table_row(&system->nodes, index);
    uint32_t life = med_row_generation_of(atomic32_load_relaxed(&row->state)); /* relaxed: alone */
    plant(FIRST, MED_PROCESS_LIVE, 0, GENERATION);
    assert_true(med_process_recover(system, FIRST));
    bool survived = node_is_there();
    if (survived) {
        assert_int_equal(med_table_remove(&system->nodes, index, life), MEDLEY_OK);
    }
    return survived;
}

static void
nodes_of_a_newcomer_stay(void **state)
{
    (void)state;
    assert_false(node_survives(GENERATION));
    assert_false(node_survives(GENERATION - 1));
    assert_true(node_survives((GENERATION + 1) & 0xffffu));
}

/* Recovers GENERATION of FIRST, in whose name of another the mutexes' table is locked. Who holds it
 * afterwards? */
static uint32_t
holder_after(uint32_t its_generation)
{
    med_system *system = med_self_get()->system;
    med_lock *lock = &system->mutexes.table->lock;
    medley_status_t status = med_lock_try(lock, med_process_ref(FIRST, its_generation));
    assert_true(status == MEDLEY_OK || status == MEDLEY_ERR_OWNER_DIED);
    plant(FIRST, MED_PROCESS_LIVE, 0, GENERATION);
    assert_true(med_process_recover(system, FIRST));
    uint32_t holder = med_lock_owner(lock);
    if (holder) {
        med_lock_release(lock, &system->mutexes.table->sleepers, system->scope);
    }
    return holder;
}

static void
table_locks_of_a_newcomer_stay(void **state)
{
    uint32_t next = (GENERATION + 1) & 0xffffu;
    (void)state;
    assert_int_equal(holder_after(next), med_process_ref(FIRST, next));
    assert_int_equal(holder_after(GENERATION), 0);
    assert_int_equal(holder_after(GENERATION - 1), 0);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static int
newcomer(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    child_expect(initialize(OTHER) == MRAPI_SUCCESS);
    child_expect(med_self_get()->system->process_index == FIRST);
    process_say(parent, 'u');
    child_expect(process_hear(parent) == 'g');
    mrapi_finalize(&status);
    return status == MRAPI_SUCCESS ? 0 : 1;
}

/* FIRST died while it recovered SECOND. When another lives in FIRST's row, he must not be taken for
 * the one who is still at it. */
static void
claim_outlives_no_recoverer(void **state)
{
    med_system *system = med_self_get()->system;
    test_process child;
    (void)state;
    plant(FIRST, MED_PROCESS_LIVE, 0, GENERATION);
    plant(SECOND, MED_PROCESS_RECOVERING, FIRST, GENERATION);
    assert_true(med_process_recover(system, FIRST));
    process_start(&child, newcomer, NULL);
    assert_int_equal(process_hear(&child), 'u');
    (void)med_process_recover(system, SECOND);               /* if the newcomer has not */
    uint32_t left = atomic32_load_relaxed(state_of(SECOND)); /* relaxed: nobody is at it */
    assert_int_equal(med_process_state_of(left), MED_PROCESS_FREE);
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
}

/* ---- A recoverer who is stopped -------------------------------------------------------------- */

/* Writes to it wait, until somebody reads. */
static void
fill_up(int pipe_end)
{
    static const char bytes[4096];
    int flags = fcntl(pipe_end, F_GETFL);
    child_expect(fcntl(pipe_end, F_SETFL, flags | O_NONBLOCK) == 0);
    while (write(pipe_end, bytes, sizeof bytes) > 0 || write(pipe_end, bytes, 1) > 0) {
    }
    child_expect(fcntl(pipe_end, F_SETFL, flags) == 0);
}

/* Recovers SECOND, and says so on the way, where nobody reads. */
static int
recoverer(test_process *parent, void *argument)
{
    const int *unread = argument;
    child_expect(initialize(OTHER) == MRAPI_SUCCESS);
    med_system *system = med_self_get()->system;
    child_expect(system->process_index == FIRST);
    fill_up(unread[1]);
    child_expect(dup2(unread[1], STDERR_FILENO) == STDERR_FILENO);
    med_log_level_set(MED_LOG_INFO);
    process_say(parent, 'r');
    child_expect(process_hear(parent) == 'g');
    bool done = med_process_recover(system, SECOND);
    med_log_level_set(MED_LOG_QUIET);
    process_say(parent, done ? 'd' : 'l');
    (void)process_hear(parent);
    return finalize() == MRAPI_SUCCESS ? 0 : 1;
}

static void
process_await_word(const test_process *child, uint32_t word)
{
    /* Relaxed: only waited for. */
    while (atomic32_load_relaxed(state_of(SECOND)) != word || !process_sleeps(child->pid)) {
        med_port_yield();
    }
}

/* Another takes over both recoveries that the stopped one is at; he goes on when the row is
 * somebody else's, who keeps it. */
static void
stopped_recoverer_is_succeeded(void **state)
{
    med_system *system = med_self_get()->system;
    test_process child;
    char bytes[4096];
    int unread[2];
    (void)state;
    assert_int_equal(pipe(unread), 0);
    process_start(&child, recoverer, unread);
    assert_int_equal(process_hear(&child), 'r');
    plant(SECOND, MED_PROCESS_LIVE, 0, GENERATION);
    process_say(&child, 'g');
    process_await_word(&child, med_process_word(MED_PROCESS_RECOVERING, FIRST, GENERATION));
    med_view_process shown;
    assert_true(med_view_process_read(system, SECOND, &shown));
    assert_int_equal(shown.life, MED_VIEW_RECOVERING);
    assert_int_equal(shown.recovered_by, child.pid);
    plant(THIRD, MED_PROCESS_RECOVERING, FIRST, GENERATION);
    assert_false(med_process_recover(system, THIRD));
    while (!med_process_recover(system, SECOND)) {
        med_port_yield();
    }
    assert_true(med_process_recover(system, THIRD)); /* which was seen as long */
    uint32_t next = med_process_word(MED_PROCESS_DEAD, 0, GENERATION + 1);
    assert_int_equal(med_process_state_of(atomic32_load_relaxed(state_of(SECOND))),
                     MED_PROCESS_FREE);
    atomic32_store_relaxed(state_of(SECOND), next);
    assert_int_equal(close(unread[1]), 0);
    while (read(unread[0], bytes, sizeof bytes) == (ssize_t)sizeof bytes) {
    }
    assert_int_equal(process_hear(&child), 'l');
    assert_int_equal(atomic32_load_relaxed(state_of(SECOND)), next);
    atomic32_store_relaxed(state_of(SECOND), med_process_word(MED_PROCESS_FREE, 0, 0));
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
    (void)close(unread[0]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_of_a_newcomer_stay, node_up, node_down),
        cmocka_unit_test_setup_teardown(table_locks_of_a_newcomer_stay, node_up, node_down),
        cmocka_unit_test_setup_teardown(claim_outlives_no_recoverer, node_up, node_down),
        cmocka_unit_test_setup_teardown(stopped_recoverer_is_succeeded, node_up, node_down),
    };
    test_system_prepare();
    (void)alarm(60);
    return cmocka_run_group_tests_name("mrapi/process", tests, NULL, NULL);
}
