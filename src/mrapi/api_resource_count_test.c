/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts of resources, by the public calls: dynamic attributes. */
#include "support/threads.h" /* first: the next has a status for all */

#include "mrapi/api_resource_test.h"
#include "mrapi/mutex.h"
#include "mrapi/shmem_mapping.h"
#include "support/process.h"

/* ---- Counts ---------------------------------------------------------------------------------- */

static void
wrong_counts(void **state)
{
    (void)state;
    mrapi_uint_t value;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_ALL);
    mrapi_resource_t *memory = named(root, "NUMANode#0"), *processor = named(root, "PU#0");
    mrapi_dynamic_attribute_start(memory, MRAPI_RSRC_MEM_WORDSIZE, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_NOTDYNAMIC);
    mrapi_dynamic_attribute_reset(memory, MRAPI_RSRC_MEM_WORDSIZE, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_NOTDYNAMIC);
    mrapi_dynamic_attribute_stop(memory, MRAPI_RSRC_MEM_WORDSIZE, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_NOTDYNAMIC);
    mrapi_dynamic_attribute_start(memory, MEDLEY_RSRC_TIME_NS, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_dynamic_attribute_stop(processor, MEDLEY_RSRC_TIME_NS, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_NOTSTARTED);
    mrapi_dynamic_attribute_reset(processor, MEDLEY_RSRC_TIME_NS, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_NOTSTARTED);
    mrapi_resource_get_attribute(processor, MEDLEY_RSRC_TIME_NS, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_NOTSTARTED);
    mrapi_dynamic_attribute_start(processor, MEDLEY_RSRC_TIME_NS, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_dynamic_attribute_start(processor, MEDLEY_RSRC_TIME_NS, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_STARTED);
    mrapi_dynamic_attribute_stop(processor, MEDLEY_RSRC_TIME_NS, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    /* A processor of that machine which this one has not. */
    mrapi_dynamic_attribute_start(named(root, "PU#127"), MEDLEY_RSRC_TIME_NS, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    tree_free(root);
}

static void
time_of_a_node(void **state)
{
    (void)state;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t *me = named(root, "node 1:7");
    assert_non_null(me);
    assert_int_equal(me->resource_type, MEDLEY_RSRC_NODE);
    mrapi_dynamic_attribute_start(me, MEDLEY_RSRC_TIME_NS, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    while (number(me, MEDLEY_RSRC_TIME_NS) == 0) {
    }
    mrapi_uint64_t before = number(me, MEDLEY_RSRC_TIME_NS);
    assert_true(number(me, MEDLEY_RSRC_TIME_NS) >= before);
    mrapi_dynamic_attribute_stop(me, MEDLEY_RSRC_TIME_NS, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_resource_get_attribute(me, MEDLEY_RSRC_TIME_NS, &before, sizeof before, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_NOTSTARTED);
    tree_free(root);
}

static void *
stays_until_two(void *argument)
{
    stage_reach(1);
    stage_await(2);
    return argument;
}

/* Nothing of it begins, or begins anew; what was begun is ended all the same. */
static void
a_node_that_has_gone(void **state)
{
    static const mrapi_uint_t attributes[] = {MEDLEY_RSRC_TIME_NS, MEDLEY_RSRC_SLEEPS};
    mrapi_uint64_t value;
    (void)state;
    stage_reach(0);
    start(30, stays_until_two);
    stage_await(1);
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t *it = named(root, "node 1:30");
    assert_non_null(it);
    for (size_t i = 0; i < 2; i++) {
        mrapi_dynamic_attribute_start(it, attributes[i], NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    stage_reach(2);
    join(30, 0);
    for (size_t i = 0; i < 2; i++) {
        mrapi_resource_get_attribute(it, attributes[i], &value, sizeof value, &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
        mrapi_dynamic_attribute_reset(it, attributes[i], &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
        mrapi_dynamic_attribute_stop(it, attributes[i], &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_dynamic_attribute_start(it, attributes[i], NULL, &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    }
    tree_free(root);
}

static int
comes_and_stays(test_process *parent, void *argument)
{
    (void)argument;
    child_expect(initialize(31) == MRAPI_SUCCESS);
    process_say(parent, 'u');
    (void)process_hear(parent);
    return 0;
}

/* Its row is there until somebody recovers it, and the system knows its thread until its process is
 * waited for. */
static void
a_node_that_died(void **state)
{
    mrapi_uint64_t value;
    test_process child;
    (void)state;
    if (!med_system_is_shared(med_self_get()->system)) {
        return; /* a private system has no other process */
    }
    process_start(&child, comes_and_stays, NULL);
    assert_int_equal(process_hear(&child), 'u');
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t *it = named(root, "node 1:31");
    assert_non_null(it);
    mrapi_dynamic_attribute_start(it, MEDLEY_RSRC_TIME_NS, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_true(number(it, MEDLEY_RSRC_TIME_NS) < UINT64_MAX);
    process_kill(&child);
    mrapi_resource_get_attribute(it, MEDLEY_RSRC_TIME_NS, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_dynamic_attribute_stop(it, MEDLEY_RSRC_TIME_NS, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_dynamic_attribute_start(it, MEDLEY_RSRC_TIME_NS, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    assert_int_equal(process_join(&child), -SIGKILL);
    tree_free(root);
}

/* Where its process and its thread have numbers that are others' here. */
static void
a_node_of_another_namespace(void **state)
{
    static const mrapi_uint_t attributes[] = {MEDLEY_RSRC_TIME_NS, MEDLEY_RSRC_INSTRUCTIONS};
    const med_self *self = med_self_get();
    med_process_row *process = med_system_process(self->system, self->system->process_index);
    uint32_t thread = atomic32_load_relaxed(&self->row->thread_id);
    (void)state;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t *me = named(root, "node 1:7");
    atomic32_store_relaxed(&process->process_id, (uint32_t)getppid());
    atomic32_store_relaxed(&self->row->thread_id, (uint32_t)getppid());
    for (size_t i = 0; i < 2; i++) {
        mrapi_dynamic_attribute_start(me, attributes[i], NULL, &status);
        assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    }
    atomic32_store_relaxed(&process->process_id, (uint32_t)getpid());
    atomic32_store_relaxed(&self->row->thread_id, thread);
    tree_free(root);
}

/* Of no tree, or not one that its resource has. */
static void
counts_of_nothing(void **state)
{
    (void)state;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t copy = *root;
    mrapi_resource_t *const none[] = {NULL, &copy, (mrapi_resource_t *)((char *)root + 1)};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        mrapi_dynamic_attribute_start(none[i], MEDLEY_RSRC_USED_BYTES, NULL, &status);
        assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
        mrapi_dynamic_attribute_reset(none[i], MEDLEY_RSRC_USED_BYTES, &status);
        assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
        mrapi_dynamic_attribute_stop(none[i], MEDLEY_RSRC_USED_BYTES, &status);
        assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
    }
    mrapi_dynamic_attribute_start(root, MEDLEY_RSRC_SLEEPS, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_dynamic_attribute_reset(root, MEDLEY_RSRC_SLEEPS, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_dynamic_attribute_stop(root, MEDLEY_RSRC_SLEEPS, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    tree_free(root);
    mrapi_dynamic_attribute_start(root, MEDLEY_RSRC_USED_BYTES, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
}

static void
counters_of_the_processor(void **state)
{
    (void)state;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t *me = named(root, "node 1:7");
    mrapi_dynamic_attribute_start(me, MEDLEY_RSRC_INSTRUCTIONS, NULL, &status);
    if (status == MRAPI_ERR_NOT_SUPPORTED) {
        tree_free(root);
        not_possible_here("no counters of the processor");
    }
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_uint64_t before = number(me, MEDLEY_RSRC_INSTRUCTIONS);
    assert_true(number(me, MEDLEY_RSRC_INSTRUCTIONS) > before);
    mrapi_dynamic_attribute_stop(me, MEDLEY_RSRC_INSTRUCTIONS, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    tree_free(root);
}

static int rollovers;

static void
rolled_over(void)
{
    mrapi_node_t node = mrapi_node_id_get(&status); /* no lock is held, and it is the noticer's */
    rollovers += node == NODE;
}

static void
roll_over(void **state)
{
    (void)state;
    atomic32 *sleeps = &med_self_get()->row->sleeps;
    mrapi_uint_t low;
    atomic32_store_relaxed(sleeps, 10);
    rollovers = 0;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t *me = named(root, "node 1:7");
    mrapi_dynamic_attribute_start(me, MEDLEY_RSRC_SLEEPS, rolled_over, &status);
    atomic32_store_relaxed(sleeps, 0xffffffffu);
    assert_int_equal(number(me, MEDLEY_RSRC_SLEEPS), 0xfffffff5u);
    assert_int_equal(rollovers, 0);
    atomic32_store_relaxed(sleeps, 12); /* its own 32 bits have wrapped */
    assert_int_equal(number(me, MEDLEY_RSRC_SLEEPS), UINT64_C(0x100000002));
    assert_int_equal(rollovers, 1);
    mrapi_resource_get_attribute(me, MEDLEY_RSRC_SLEEPS, &low, sizeof low, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(low, 2);
    mrapi_dynamic_attribute_reset(me, MEDLEY_RSRC_SLEEPS, &status);
    assert_int_equal(number(me, MEDLEY_RSRC_SLEEPS), 0);
    assert_int_equal(rollovers, 1);
    atomic32_store_relaxed(sleeps, 0);
    tree_free(root);
}

static mrapi_resource_t *rolling;
static mrapi_status_t in_callback;

static void
frees_the_tree(void)
{
    mrapi_resource_tree_free(&rolling, &in_callback);
}

static void
ends_the_node(void)
{
    mrapi_finalize(&in_callback);
}

static void
looks_again(void)
{
    mrapi_uint64_t value;
    mrapi_resource_get_attribute(named(rolling, "node 1:7"), MEDLEY_RSRC_SLEEPS, &value,
                                 sizeof value, &in_callback);
}

/* It holds nothing, and may take away what it is called for: the tree, or the node. */
static void
a_roll_over_may_do_anything(void **state)
{
    static void (*const callbacks[])(void) = {looks_again, frees_the_tree, ends_the_node};
    (void)state;
    for (size_t i = 0; i < sizeof callbacks / sizeof callbacks[0]; i++) {
        mrapi_uint64_t value = 0;
        atomic32_store_relaxed(&med_self_get()->row->sleeps, 1);
        rolling = tree(MEDLEY_RSRC_SYSTEM);
        mrapi_resource_t *me = named(rolling, "node 1:7");
        mrapi_dynamic_attribute_start(me, MEDLEY_RSRC_SLEEPS, callbacks[i], &status);
        atomic32_store_relaxed(&med_self_get()->row->sleeps, 0);
        assert_int_equal(number(me, MEDLEY_RSRC_SLEEPS), 0xffffffffu);
        atomic32_store_relaxed(&med_self_get()->row->sleeps, 1);
        in_callback = MRAPI_STATUS_COUNT;
        mrapi_resource_get_attribute(me, MEDLEY_RSRC_SLEEPS, &value, sizeof value, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(value, UINT64_C(0x100000000));
        assert_int_equal(in_callback, MRAPI_SUCCESS);
        mrapi_resource_get_attribute(me, MEDLEY_RSRC_SLEEPS, &value, sizeof value, &status);
        assert_int_equal(status, i == 0   ? MRAPI_SUCCESS
                                 : i == 1 ? MRAPI_ERR_RSRC_INVALID
                                          : MRAPI_ERR_NODE_NOTINIT);
    }
    (void)node_up(state);
}

static mrapi_shmem_hndl_t
memory_of_nearly_4_gib(mrapi_uint_t id)
{
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(id, 1, NULL, 0, NULL, 0, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    med_shmem_row *row = med_shmem_row_at(med_self_get()->system, med_handle_index(shmem));
    atomic32_store_relaxed(&row->size_bytes, 0xfffff000u); /* as it says */
    return shmem;
}

static void
memory_goes(mrapi_shmem_hndl_t shmem)
{
    med_shmem_row *row = med_shmem_row_at(med_self_get()->system, med_handle_index(shmem));
    atomic32_store_relaxed(&row->size_bytes, 1);
    mrapi_shmem_delete(shmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

/* It is where it is: only that it goes beyond another 4 GiB is a roll-over. */
static void
a_level_rolls_over_when_it_rises(void **state)
{
    (void)state;
    rollovers = 0;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_shmem_hndl_t first = memory_of_nearly_4_gib(1), second = memory_of_nearly_4_gib(2);
    mrapi_dynamic_attribute_start(root, MEDLEY_RSRC_USED_BYTES, rolled_over, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_uint64_t level = number(root, MEDLEY_RSRC_USED_BYTES);
    assert_true(level >> 32 == 1);
    assert_int_equal(rollovers, 0);
    mrapi_dynamic_attribute_reset(root, MEDLEY_RSRC_USED_BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(number(root, MEDLEY_RSRC_USED_BYTES), level);
    assert_int_equal(rollovers, 0);
    mrapi_shmem_hndl_t third = memory_of_nearly_4_gib(3);
    assert_true(number(root, MEDLEY_RSRC_USED_BYTES) >> 32 == 2);
    assert_int_equal(rollovers, 1);
    memory_goes(third);
    assert_int_equal(number(root, MEDLEY_RSRC_USED_BYTES), level);
    assert_int_equal(rollovers, 1);
    memory_goes(second);
    memory_goes(first);
    tree_free(root);
}

static void
what_is_used(void **state)
{
    (void)state;
    const med_system *system = med_self_get()->system;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t *mutexes = named(root, "mutexes");
    mrapi_dynamic_attribute_start(mutexes, MEDLEY_RSRC_USED_BYTES, NULL, &status);
    mrapi_dynamic_attribute_start(root, MEDLEY_RSRC_USED_BYTES, NULL, &status);
    mrapi_uint64_t bytes = number(mutexes, MEDLEY_RSRC_USED_BYTES);
    mrapi_uint64_t all = number(root, MEDLEY_RSRC_USED_BYTES);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(3, NULL, &status);
    assert_int_equal(number(mutexes, MEDLEY_RSRC_USED_BYTES) - bytes, system->mutexes.row_bytes);
    assert_int_equal(number(root, MEDLEY_RSRC_USED_BYTES) - all, system->mutexes.row_bytes);
    mrapi_resource_t *newer = tree(MEDLEY_RSRC_SYSTEM);
    mrapi_resource_t *lock = named(newer, "mutex 3");
    assert_non_null(lock);
    mrapi_dynamic_attribute_start(lock, MEDLEY_RSRC_SLEEPS, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(number(lock, MEDLEY_RSRC_SLEEPS), 0);
    delete_mutex(mutex);
    mrapi_resource_get_attribute(lock, MEDLEY_RSRC_SLEEPS, &bytes, sizeof bytes, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_dynamic_attribute_stop(lock, MEDLEY_RSRC_SLEEPS, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    tree_free(newer);
    tree_free(root);
}

/* Each of the three kinds, had by this node. */
static mrapi_mutex_hndl_t mutex_had;
static mrapi_sem_hndl_t sem_had;
static mrapi_rwl_hndl_t rwl_had;

#define NOT_LONG_US 20000u

static void
wait_for_locks_in_vain(void)
{
    mrapi_status_t result;
    mrapi_node_t node;
    mrapi_key_t key;
    assert_int_equal(medley_node_adopt(DOMAIN, MEDLEY_NODE_ANY, &node), MEDLEY_OK);
    mrapi_mutex_lock(mutex_had, &key, NOT_LONG_US, &result);
    assert_int_equal(result, MRAPI_TIMEOUT);
    for (int i = 0; i < 2; i++) {
        mrapi_sem_lock(sem_had, NOT_LONG_US, &result);
        assert_int_equal(result, MRAPI_TIMEOUT);
    }
    for (int i = 0; i < 3; i++) {
        mrapi_rwl_lock(rwl_had, i == 1 ? MRAPI_RWL_WRITER : MRAPI_RWL_READER, NOT_LONG_US, &result);
        assert_int_equal(result, MRAPI_TIMEOUT);
    }
}

/* Whoever waits in vain for so long has slept. */
static void
locks_are_slept_for(void **state)
{
    static const char *const names[] = {"mutex 3", "semaphore 3", "reader/writer lock 3"};
    mrapi_resource_t *locks[3];
    mrapi_key_t key;
    (void)state;
    mutex_had = mrapi_mutex_create(3, NULL, &status);
    sem_had = mrapi_sem_create(3, NULL, 1, &status);
    rwl_had = mrapi_rwl_create(3, NULL, 2, &status);
    mrapi_mutex_lock(mutex_had, &key, 0, &status);
    mrapi_sem_lock(sem_had, 0, &status);
    mrapi_rwl_lock(rwl_had, MRAPI_RWL_WRITER, 0, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_resource_t *root = tree(MEDLEY_RSRC_SYSTEM);
    for (unsigned i = 0; i < 3; i++) {
        locks[i] = named(root, names[i]);
        assert_non_null(locks[i]);
        assert_int_equal(locks[i]->resource_type, MEDLEY_RSRC_LOCK);
        mrapi_dynamic_attribute_start(locks[i], MEDLEY_RSRC_SLEEPS, NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(number(locks[i], MEDLEY_RSRC_SLEEPS), 0);
    }
    on_other_thread(wait_for_locks_in_vain);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(number(locks[i], MEDLEY_RSRC_SLEEPS), i + 1);
    }
    delete_mutex(mutex_had);
    mrapi_sem_delete(sem_had, &status);
    mrapi_rwl_delete(rwl_had, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_uint64_t ignored;
    for (unsigned i = 0; i < 3; i++) {
        mrapi_resource_get_attribute(locks[i], MEDLEY_RSRC_SLEEPS, &ignored, sizeof ignored,
                                     &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    }
    tree_free(root);
}

/* ---- Nobody ---------------------------------------------------------------------------------- */

static void
no_node(void **state)
{
    mrapi_resource_t *root = NULL;
    (void)state;
    mrapi_dynamic_attribute_start(root, 0, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_dynamic_attribute_reset(root, 0, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_dynamic_attribute_stop(root, 0, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_dynamic_attribute_start(root, 0, NULL, NULL);
    mrapi_dynamic_attribute_reset(root, 0, NULL);
    mrapi_dynamic_attribute_stop(root, 0, NULL);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HERE(time_of_a_node),      HERE(counters_of_the_processor),
        HERE(roll_over),           HERE(a_roll_over_may_do_anything),
        HERE(what_is_used),        HERE(a_level_rolls_over_when_it_rises),
        HERE(locks_are_slept_for), HERE(a_node_that_has_gone),
        HERE(a_node_that_died),    HERE(a_node_of_another_namespace),
        HERE(counts_of_nothing),   cmocka_unit_test(no_node),
    };
    const struct CMUnitTest on_machine[] = {ON_MACHINE(wrong_counts)};
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mrapi/resource counts", tests, NULL, NULL);
    if (module_there()) {
        failed +=
            cmocka_run_group_tests_name("mrapi/resource counts, 128 cores", on_machine, NULL, NULL);
    }
    return failed;
}
