/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a system looks like from outside: alive, after a death, and written over. */
#include <stdlib.h>
#include <string.h>

#include "medley/medley.h"
#include "mrapi/mutex.h"
#include "mrapi/rwl.h"
#include "mrapi/view.h"
#include "support/process.h"
#include "support/system.h"
#include "support/unit.h"

#define DOMAIN 3
#define NODE 5
#define MUTEX 9
#define RMEM 11
#define RMEM_BYTES 100
#define SHMEM 12
#define SHMEM_BYTES 5000
#define SEM 10
#define RWL 13
#define SHARERS 3
#define READERS 2

static test_process child;

/* A node that holds a recursive mutex twice, until it is told to go. */
static int
holder(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t recursive = MRAPI_TRUE;
    mrapi_key_t key;
    (void)argument;
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &recursive, sizeof recursive,
                              &status);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(MUTEX, &attributes, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    static unsigned char memory[RMEM_BYTES];
    mrapi_rmem_hndl_t rmem =
        mrapi_rmem_create(RMEM, memory, MRAPI_RMEM_ATYPE_ANY, NULL, sizeof memory, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_SWCACHE, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(SHMEM, SHMEM_BYTES, NULL, 0, NULL, 0, &status);
    (void)mrapi_shmem_attach(shmem, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_sem_hndl_t sem = mrapi_sem_create(SEM, NULL, SHARERS, &status);
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_rwl_hndl_t rwl = mrapi_rwl_create(RWL, NULL, READERS, &status);
    mrapi_rwl_lock(rwl, MRAPI_RWL_WRITER, MRAPI_TIMEOUT_INFINITE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'r');
    (void)process_hear(parent);
    return 0;
}

static int
holder_start(void **state)
{
    (void)state;
    process_start(&child, holder, NULL);
    return process_hear(&child) == 'r' ? 0 : -1;
}

static int
holder_end(void **state)
{
    (void)state;
    process_kill(&child);
    (void)process_join(&child);
    char why[MED_PORT_WHY_BYTES];
    (void)med_system_remove(test_system_name(), MED_PORT_FOREVER, why);
    return 0;
}

static void
observe(med_system *system)
{
    assert_int_equal(med_system_observe(test_system_name(), MED_PORT_FOREVER, system), MEDLEY_OK);
}

/* The one row there is of each kind. */
static void
read_all(const med_system *system,
         med_view_process *process,
         med_view_node *node,
         med_view_lock *lock)
{
    uint32_t found[3] = {0};
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        found[0] += med_view_process_read(system, i, process);
    }
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        found[1] += med_view_node_read(system, i, node);
    }
    for (uint32_t i = 0; i < system->limits.rmems; i++) {
        med_view_rmem rmem;
        (void)med_view_rmem_read(system, i, &rmem);
    }
    for (uint32_t i = 0; i < system->limits.mutexes; i++) {
        found[2] += med_view_lock_read(system, i, lock);
    }
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], 1);
    assert_int_equal(found[2], 1);
}

static void
shows_the_living(void **state)
{
    med_system system;
    med_view_process process;
    med_view_node node;
    med_view_lock lock;
    bool inhabited = false;
    (void)state;
    assert_int_equal(med_view_inhabited(test_system_name(), &inhabited), MEDLEY_OK);
    assert_true(inhabited);
    observe(&system);
    read_all(&system, &process, &node, &lock);
    assert_int_equal(process.process_id, child.pid);
    assert_int_equal(process.life, MED_VIEW_ALIVE);
    assert_int_equal(node.domain, DOMAIN);
    assert_int_equal(node.number, NODE);
    assert_int_equal(node.process_id, child.pid);
    assert_int_equal(node.process_here, child.pid);
    assert_int_equal(node.thread_here, node.thread_id);
    assert_int_equal(node.state, MED_VIEW_NODE_RUNNING);
    assert_false(node.awaits_news);
    assert_int_equal(lock.object.number, MUTEX);
    assert_int_equal(lock.state, MED_VIEW_LOCK_HELD);
    assert_int_equal(lock.object.attributes, MED_MUTEX_RECURSIVE | MED_MUTEX_DOMAIN_SHARED);
    assert_true(lock.owner_known);
    assert_int_equal(lock.owner_domain, DOMAIN);
    assert_int_equal(lock.owner_number, NODE);
    assert_int_equal(lock.depth, 2);
    med_system_observe_end(&system);
}

static void
shows_a_remote_memory(void **state)
{
    med_system system;
    med_view_rmem rmem;
    uint32_t found = 0;
    (void)state;
    observe(&system);
    for (uint32_t i = 0; i < system.limits.rmems; i++) {
        if (med_view_rmem_read(&system, i, &rmem)) {
            found++;
            assert_int_equal(rmem.number, RMEM);
            assert_true(rmem.owner_known);
            assert_int_equal(rmem.owner_domain, DOMAIN);
            assert_int_equal(rmem.owner_number, NODE);
            assert_int_equal(rmem.size_bytes, RMEM_BYTES);
            assert_int_equal(rmem.access, MED_RMEM_ANY);
            assert_int_equal(rmem.attachments, 1);
        }
    }
    assert_int_equal(found, 1);
    med_system_observe_end(&system);
}

static void
shows_shared_memory(void **state)
{
    med_system system;
    med_view_shmem shmem;
    uint32_t found = 0;
    (void)state;
    observe(&system);
    for (uint32_t i = 0; i < system.limits.shmems; i++) {
        if (med_view_shmem_read(&system, i, &shmem)) {
            assert_true(shmem.numbered);
            assert_int_equal(shmem.number, SHMEM);
            assert_int_equal(shmem.size_bytes, SHMEM_BYTES);
            assert_int_equal(shmem.attributes, MED_SHMEM_DOMAIN_SHARED);
            assert_int_equal(shmem.place, MED_PORT_PLACE_ANY);
            assert_int_equal(shmem.attached, 1);
            found++;
        }
    }
    assert_int_equal(found, 1);
    med_system_observe_end(&system);
}

static void
shows_limits(void **state)
{
    med_system system;
    med_view_limit limit;
    (void)state;
    observe(&system);
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        med_view_limit_read(&system, (med_limit)i, &limit);
        bool there = i < MED_LIMIT_ENDPOINTS; /* nobody sends anything */
        bool counted = there && i != MED_LIMIT_PROCESSES && i != MED_LIMIT_SHARERS;
        assert_int_equal(limit.used, i == MED_LIMIT_SHARERS ? SHARERS : there);
        assert_int_equal(limit.limit, system.limits.of[i]);
        assert_int_equal(limit.high_water, counted ? 1 : 0);
    }
    med_system_observe_end(&system);
}

static void
shows_semaphores_and_rwlocks(void **state)
{
    med_system system;
    med_view_sem sem;
    med_view_rwl rwl;
    (void)state;
    observe(&system);
    assert_true(med_view_sem_read(&system, 0, &sem));
    assert_int_equal(sem.object.number, SEM);
    assert_int_equal(sem.object.attributes, MED_OBJECT_DOMAIN_SHARED);
    assert_int_equal(sem.limit, SHARERS);
    assert_int_equal(sem.held, 2);
    assert_false(med_view_sem_read(&system, 1, &sem));
    assert_true(med_view_rwl_read(&system, 0, &rwl));
    assert_int_equal(rwl.object.number, RWL);
    assert_int_equal(rwl.limit, READERS);
    assert_int_equal(rwl.readers, 0);
    assert_int_equal(rwl.state, MED_VIEW_LOCK_HELD);
    assert_false(rwl.coming);
    assert_true(rwl.owner_known);
    assert_int_equal(rwl.owner_number, NODE);
    med_view_object object;
    assert_true(med_view_object_read(&system, MED_KIND_RWL, 0, &object));
    assert_int_equal(object.number, RWL);
    assert_int_equal(object.attributes, MED_OBJECT_DOMAIN_SHARED);
    assert_false(med_view_object_read(&system, MED_KIND_RWL, 1, &object));
    med_rwl_row *row = (med_rwl_row *)(void *)med_table_row(&system.rwls, 0);
    atomic32_store_relaxed(&row->lock.writer.word, MED_RWLOCK_COMING | med_node_ref(16000, 0));
    med_units units = med_rwl_units(row, system.limits.sharers);
    atomic32_store_relaxed(&med_units_nth(&units, 1)->word, 1);
    assert_true(med_view_rwl_read(&system, 0, &rwl));
    assert_int_equal(rwl.readers, 1);
    assert_true(rwl.coming);
    assert_false(rwl.owner_known);
    atomic32_store_relaxed(&row->lock.writer.word, MED_LOCK_DEAD | MED_LOCK_DIED);
    assert_true(med_view_rwl_read(&system, 0, &rwl));
    assert_int_equal(rwl.state, MED_VIEW_LOCK_DEAD);
    atomic32_store_relaxed(&row->limit, 1000000);
    assert_true(med_view_rwl_read(&system, 0, &rwl));
    assert_int_equal(rwl.limit, system.limits.sharers);
    med_system_observe_end(&system);
}

/* Looking does not recover: what the dead one held is still his. */
static void
shows_the_dead(void **state)
{
    med_system system;
    med_view_process process;
    med_view_node node;
    med_view_lock lock;
    bool inhabited = true;
    (void)state;
    process_kill(&child);
    assert_int_equal(med_view_inhabited(test_system_name(), &inhabited), MEDLEY_OK);
    assert_false(inhabited);
    observe(&system);
    read_all(&system, &process, &node, &lock);
    assert_int_equal(process.life, MED_VIEW_DEAD);
    assert_int_equal(node.state, MED_VIEW_NODE_DEAD);
    assert_int_equal(lock.state, MED_VIEW_LOCK_HELD);
    assert_true(lock.owner_known);
    med_system_observe_end(&system);
}

static void
no_such_system(void **state)
{
    bool inhabited;
    (void)state;
    assert_int_equal(med_view_inhabited("test-nobody-made-this", &inhabited), MEDLEY_ERR_NOT_FOUND);
    assert_int_equal(med_view_inhabited("no/name", &inhabited), MEDLEY_ERR_ARGUMENT);
}

/* Everything behind the header is random, with words of plausible rows among it. */
static void
scribble(med_system *system, uint32_t seed)
{
    uint32_t *words = (uint32_t *)(void *)system->header;
    uint32_t random = seed * 2654435761u + 1;
    for (size_t i = sizeof *system->header / 4; i < system->layout.size_bytes / 4; i++) {
        random = random * 1664525u + 1013904223u;
        bool row_state = random >> 28 == 0;
        words[i] = row_state ? med_row_word(MED_ROW_LIVE, random) : random ^ random >> 16;
    }
}

static void
read_scribbled(const med_system *system)
{
    med_view_process process;
    med_view_node node;
    med_view_lock lock;
    med_view_limit limit;
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        (void)med_view_process_read(system, i, &process);
    }
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        if (med_view_node_read(system, i, &node) && node.state == MED_VIEW_NODE_WAITING) {
            assert_true(node.lock_kind < MED_KIND_COUNT);
            assert_true(node.lock_index < system->tables[node.lock_kind].row_count);
        }
    }
    for (uint32_t i = 0; i < system->limits.rmems; i++) {
        med_view_rmem rmem;
        (void)med_view_rmem_read(system, i, &rmem);
    }
    for (uint32_t i = 0; i < system->limits.mutexes; i++) {
        (void)med_view_lock_read(system, i, &lock);
    }
    for (uint32_t i = 0; i < system->limits.semaphores; i++) {
        med_view_sem sem;
        assert_true(!med_view_sem_read(system, i, &sem) || sem.held <= sem.limit);
    }
    for (uint32_t i = 0; i < system->limits.rwlocks; i++) {
        med_view_rwl rwl;
        assert_true(!med_view_rwl_read(system, i, &rwl) || rwl.readers <= rwl.limit);
    }
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        med_view_limit_read(system, (med_limit)i, &limit);
        assert_true(limit.used <= limit.limit);
        assert_true(limit.high_water <= limit.limit);
    }
}

static void
survives_scribbling(void **state)
{
    med_system system;
    (void)state;
    observe(&system);
    for (uint32_t seed = 0; seed < 200; seed++) {
        scribble(&system, seed);
        read_scribbled(&system);
    }
    med_system_observe_end(&system);
}

/* Each word that names something names what is not there. */
static void
checks_every_index(void **state)
{
    med_system system;
    med_view_process process;
    med_view_node node;
    med_view_lock lock;
    (void)state;
    observe(&system);
    med_node_row *node_row = med_system_node(&system, 0);
    med_mutex_row *mutex_row = (med_mutex_row *)(void *)med_table_row(&system.mutexes, 0);
    atomic32_store_relaxed(&node_row->waiting_for, med_handle_make(MED_HANDLE_MUTEX, 0xffff, 0));
    atomic32_store_relaxed(&mutex_row->lock.word, med_node_ref(16000, 0));
    read_all(&system, &process, &node, &lock);
    assert_int_equal(node.state, MED_VIEW_NODE_RUNNING);
    assert_int_equal(lock.state, MED_VIEW_LOCK_HELD);
    assert_false(lock.owner_known);
    atomic32_store_relaxed(&node_row->process_ref, med_process_ref(8000, 0));
    read_all(&system, &process, &node, &lock);
    assert_int_equal(node.state, MED_VIEW_NODE_DEAD);
    assert_int_equal(node.process_id, 0);
    med_system_observe_end(&system);
}

/* A lock that its owner took with him shows so: told to the next, or dead for good. */
static void
shows_locks_of_the_dead(void **state)
{
    med_system system;
    med_view_lock lock;
    (void)state;
    observe(&system);
    med_mutex_row *row = (med_mutex_row *)(void *)med_table_row(&system.mutexes, 0);
    atomic32_store_relaxed(&row->lock.word, MED_LOCK_DIED);
    assert_true(med_view_lock_read(&system, 0, &lock));
    assert_int_equal(lock.state, MED_VIEW_LOCK_DIED);
    assert_int_equal(lock.depth, 0);
    atomic32_store_relaxed(&row->lock.word, MED_LOCK_DEAD | MED_LOCK_DIED);
    assert_true(med_view_lock_read(&system, 0, &lock));
    assert_int_equal(lock.state, MED_VIEW_LOCK_DEAD);
    atomic32_store_relaxed(&row->lock.word, 0);
    assert_true(med_view_lock_read(&system, 0, &lock));
    assert_int_equal(lock.state, MED_VIEW_LOCK_FREE);
    med_system_observe_end(&system);
}

/* With priority inheritance what the death of an owner left is a word of its own; and as long as
 * nobody met it, the lock's. */
static void
shows_what_a_death_left(void **state)
{
    static const struct {
        uint32_t left;
        uint32_t in_word;
        med_view_lock_state shown;
    } cases[] = {
        {MED_MUTEX_SOUND, 0, MED_VIEW_LOCK_FREE},
        {MED_MUTEX_SOUND, MED_PORT_PI_GONE, MED_VIEW_LOCK_DIED},
        {MED_MUTEX_TELL_NEXT, 0, MED_VIEW_LOCK_DIED},
        {MED_MUTEX_DEAD, 0, MED_VIEW_LOCK_DEAD},
        {MED_MUTEX_FORMER, MED_PORT_PI_GONE, MED_VIEW_LOCK_FREE},
    };
    med_system system;
    med_view_lock lock;
    (void)state;
    observe(&system);
    med_mutex_row *row = (med_mutex_row *)(void *)med_table_row(&system.mutexes, 0);
    uint32_t attributes = atomic32_load_relaxed(&row->object.attributes);
    atomic32_store_relaxed(&row->object.attributes, attributes | MED_MUTEX_PRIORITY_INHERITANCE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        atomic32_store_relaxed(&row->pi_death, cases[i].left);
        atomic32_store_relaxed(&row->pi_word, cases[i].in_word);
        assert_true(med_view_lock_read(&system, 0, &lock));
        assert_int_equal(lock.state, cases[i].shown);
        assert_int_equal(lock.depth, 0);
    }
    med_system_observe_end(&system);
}

/* A node that is not yet, or no longer, what it says; its process lives. */
static void
shows_nodes_that_come_and_go(void **state)
{
    static const struct {
        uint32_t phase;
        med_view_node_state shown;
    } cases[] = {
        {MED_NODE_STARTING, MED_VIEW_NODE_STARTING},
        {MED_NODE_ENDED, MED_VIEW_NODE_ENDED},
        {MED_NODE_LEFT, MED_VIEW_NODE_ENDED},
        {MED_NODE_EXPECTED, MED_VIEW_NODE_EXPECTED},
    };
    med_system system;
    med_view_node node;
    (void)state;
    observe(&system);
    med_node_row *row = med_system_node(&system, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        atomic32_store_relaxed(&row->phase, cases[i].phase);
        assert_true(med_view_node_read(&system, 0, &node));
        assert_int_equal(node.state, cases[i].shown);
        assert_int_equal(node.number, NODE);
    }
    med_system_observe_end(&system);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shows_the_living, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(shows_a_remote_memory, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(shows_semaphores_and_rwlocks, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(shows_limits, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(shows_shared_memory, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(shows_the_dead, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(shows_locks_of_the_dead, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(shows_what_a_death_left, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(shows_nodes_that_come_and_go, holder_start, holder_end),
        cmocka_unit_test_setup_teardown(checks_every_index, holder_start, holder_end),
        cmocka_unit_test(no_such_system),
        cmocka_unit_test_setup_teardown(survives_scribbling, holder_start, holder_end),
    };
    test_system_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
