/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Metadata, by the public calls: trees and who may use them, attributes, counts, events. */
#include <stdlib.h>
#include <string.h>

#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/logged.h"

#define MACHINE                                                                                    \
    "package:2 [numa(memory=68719476736)] l3:8(size=33554432) l2:8(size=1048576) core:1 pu:1"

static mrapi_status_t status;

/* ---- Small things ---------------------------------------------------------------------------- */

static mrapi_resource_t *
tree(mrapi_rsrc_filter_t filter)
{
    mrapi_resource_t *root = mrapi_resources_get(filter, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_non_null(root);
    return root;
}

static void
tree_free(mrapi_resource_t *root)
{
    mrapi_resource_tree_free(&root, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static mrapi_uint64_t
number(const mrapi_resource_t *resource, mrapi_uint_t attribute)
{
    mrapi_uint64_t value = ~UINT64_C(0);
    mrapi_resource_get_attribute(resource, attribute, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return value;
}

static uint32_t
count_type(const mrapi_resource_t *resource, mrapi_rsrc_filter_t type)
{
    uint32_t count = resource->resource_type == type;
    assert_int_equal(resource->number_of_children, resource->child_count);
    for (uint32_t i = 0; i < resource->child_count; i++) {
        count += count_type(resource->children[i], type);
    }
    return count;
}

static mrapi_resource_t *
named(mrapi_resource_t *resource, const char *name)
{
    mrapi_resource_t *found = strcmp(resource->name, name) == 0 ? resource : NULL;
    for (uint32_t i = 0; i < resource->child_count && !found; i++) {
        found = named(resource->children[i], name);
    }
    return found;
}

static int
synthetic_up(void **state)
{
    (void)setenv("HWLOC_SYNTHETIC", MACHINE, 1);
    return node_up(state);
}

static int
synthetic_down(void **state)
{
    (void)unsetenv("HWLOC_SYNTHETIC");
    return node_down(state);
}

/* ---- Without the module ---------------------------------------------------------------------- */

static int
nowhere(void)
{
    (void)setenv("MEDLEY_MODULE_DIR", "/nowhere", 1);
    mrapi_set_debug_level(1);
    if (node_up(NULL) != 0) {
        return 1;
    }
    med_port_processors processors;
    (void)med_port_processors_discover(&processors);
    mrapi_resource_t *root = tree(MRAPI_RSRC_CPU);
    assert_int_equal(root->child_count, processors.online);
    tree_free(root);
    tree_free(tree(MRAPI_RSRC_MEM));
    (void)setenv("HWLOC_SYNTHETIC", MACHINE, 1);
    assert_null(mrapi_resources_get(MRAPI_RSRC_CPU, &status));
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    return node_down(NULL);
}

static void
without_the_module(void **state)
{
    (void)state;
    logged_run("error", nowhere);
    assert_true(logged_says_once("there is no medley-hwloc.so in MEDLEY_MODULE_DIR, /nowhere"));
    assert_true(logged_says("needs medley-hwloc.so"));
}

/* ---- Trees ----------------------------------------------------------------------------------- */

static void
filters(void **state)
{
    (void)state;
    mrapi_resource_t *root = tree(MRAPI_RSRC_CPU);
    assert_int_equal(root->resource_type, MEDLEY_RSRC_MACHINE);
    assert_int_equal(root->child_count, 128);
    assert_int_equal(root->number_of_children, 128);
    for (uint32_t i = 0; i < 128; i++) {
        assert_int_equal(root->children[i]->resource_type, MRAPI_RSRC_CPU);
        assert_int_equal(number(root->children[i], MRAPI_RSRC_CPU_ID), i);
        assert_int_equal(root->children[i]->child_count, 0);
    }
    tree_free(root);
    root = tree(MRAPI_RSRC_CACHE);
    assert_int_equal(root->child_count, 16);
    assert_int_equal(root->children[3]->child_count, 8);
    assert_int_equal(count_type(root, MRAPI_RSRC_CACHE), 16 + 128);
    assert_int_equal(number(root->children[3], MRAPI_RSRC_CACHE_LEVEL), 3);
    assert_int_equal(number(root->children[3], MRAPI_RSRC_CACHE_SIZE), 33554432);
    assert_int_equal(number(root->children[3]->children[7], MRAPI_RSRC_CACHE_LEVEL), 2);
    tree_free(root);
    root = tree(MRAPI_RSRC_MEM);
    assert_int_equal(root->child_count, 2);
    assert_int_equal(number(root->children[1], MRAPI_RSRC_MEM_NUMWORDS) *
                         number(root->children[1], MRAPI_RSRC_MEM_WORDSIZE),
                     68719476736);
    tree_free(root);
    root = tree(MRAPI_RSRC_CROSSBAR);
    assert_int_equal(root->child_count, 0);
    tree_free(root);
    tree_free(tree(MRAPI_RSRC_DMA));
    root = tree(MEDLEY_RSRC_ALL);
    assert_int_equal(count_type(root, MRAPI_RSRC_CPU), 128);
    assert_int_equal(count_type(root, MEDLEY_RSRC_PACKAGE), 2);
    assert_int_equal(count_type(root, MRAPI_RSRC_MEM), 2);
    tree_free(root);
    assert_null(mrapi_resources_get(MEDLEY_RSRC_MACHINE, &status));
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_SUBSYSTEM);
    assert_null(mrapi_resources_get((mrapi_rsrc_filter_t)-1, &status));
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_SUBSYSTEM);
}

/* What hangs below a part that the filter drops hangs below the nearest that it keeps. */
static void
dropped_between(void **state)
{
    (void)state;
    (void)setenv("HWLOC_SYNTHETIC", "package:2 l3:1 core:4 l1:2 pu:1", 1);
    mrapi_resource_t *root = tree(MRAPI_RSRC_CACHE);
    assert_int_equal(root->child_count, 2);
    assert_int_equal(root->children[1]->child_count, 8);
    tree_free(root);
}

static void
wrong_file(void **state)
{
    (void)state;
    (void)setenv("HWLOC_XMLFILE", "/dev/null", 1);
    assert_null(mrapi_resources_get(MRAPI_RSRC_CPU, &status));
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    (void)unsetenv("HWLOC_XMLFILE");
}

static void
many_trees(void **state)
{
    enum {
        TREES = 30
    };
    mrapi_resource_t *roots[TREES];
    mrapi_uint_t id;
    (void)state;
    for (uint32_t i = 0; i < TREES; i++) {
        roots[i] = tree(MRAPI_RSRC_CPU);
    }
    for (uint32_t i = 0; i < TREES; i += 2) {
        mrapi_resource_t *gone = roots[i], *below = roots[i]->children[5];
        tree_free(roots[i]);
        mrapi_resource_get_attribute(below, MRAPI_RSRC_CPU_ID, &id, sizeof id, &status);
        assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
        mrapi_dynamic_attribute_start(below, MEDLEY_RSRC_TIME_NS, NULL, &status);
        assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
        mrapi_resource_tree_free(&gone, &status);
        assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_TREE);
    }
    for (uint32_t i = 1; i < TREES; i += 2) {
        assert_int_equal(number(roots[i]->children[7], MRAPI_RSRC_CPU_ID), 7);
        tree_free(roots[i]);
    }
}

static mrapi_resource_t *of_first;
static mrapi_resource_t *of_other;

static void
as_other_node(void)
{
    mrapi_info_t info;
    mrapi_resource_get_attribute(of_first, MRAPI_RSRC_CPU_ID, &info, 4, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_initialize(DOMAIN, NODE + 1, 0, &info, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(number(of_first->children[3], MRAPI_RSRC_CPU_ID), 3);
    mrapi_resource_tree_free(&of_first, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_NOTOWNER);
    of_other = tree(MRAPI_RSRC_CPU);
    mrapi_dynamic_attribute_start(of_other->children[0], MEDLEY_RSRC_TIME_NS, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
} /* its end ends the node */

static void
owners(void **state)
{
    mrapi_resource_t *nothing = NULL;
    mrapi_resource_t mine = {.child_count = 0};
    mrapi_resource_t *no_tree = &mine;
    (void)state;
    of_first = tree(MRAPI_RSRC_CPU);
    on_other_thread(as_other_node);
    mrapi_resource_tree_free(&of_other, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_TREE); /* gone with its node */
    mrapi_resource_tree_free(&of_first->children[0], &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_TREE);
    mrapi_resource_tree_free(&nothing, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_TREE);
    mrapi_resource_tree_free(&no_tree, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_TREE);
    mrapi_resource_tree_free(NULL, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_TREE);
    tree_free(of_first);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static void
wrong_attributes(void **state)
{
    mrapi_uint_t value = 7;
    const char *type = NULL;
    (void)state;
    mrapi_resource_t *root = tree(MEDLEY_RSRC_ALL);
    mrapi_resource_t *memory = named(root, "NUMANode#1"), *processor = named(root, "PU#9");
    mrapi_resource_t inside = *processor;
    mrapi_resource_get_attribute(memory, 99, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_resource_get_attribute(root, MRAPI_RSRC_CPU_ID, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_resource_get_attribute(memory, MRAPI_RSRC_MEM_NUMWORDS, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE); /* 2^33 words */
    mrapi_resource_get_attribute(memory, MRAPI_RSRC_MEM_WORDSIZE, &value, 3, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_resource_get_attribute(memory, MRAPI_RSRC_MEM_WORDSIZE, NULL, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_resource_get_attribute(&inside, MRAPI_RSRC_CPU_ID, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
    mrapi_resource_get_attribute((mrapi_resource_t *)(void *)((char *)processor + 8),
                                 MRAPI_RSRC_CPU_ID, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
    mrapi_resource_get_attribute(NULL, MRAPI_RSRC_CPU_ID, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID);
    assert_int_equal(value, 7);
    mrapi_resource_get_attribute(processor, MRAPI_RSRC_CPU_ID, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(value, 9);
    mrapi_resource_get_attribute(processor, MRAPI_RSRC_CPU_TYPE, &type, sizeof type, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_non_null(type);
    tree_free(root);
}

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

/* ---- Events ---------------------------------------------------------------------------------- */

static uint32_t told[MEDLEY_EVENT_COUNT];

static void
tell(mrapi_event_t event)
{
    told[event]++;
}

static void
listen(mrapi_event_t event, unsigned frequency)
{
    mrapi_resource_register_callback(event, frequency, tell, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    told[event] = 0;
}

static void
come_and_go(void)
{
    mrapi_node_t node;
    assert_int_equal(medley_node_adopt(DOMAIN, MEDLEY_NODE_ANY, &node), MEDLEY_OK);
}

static void
events(void **state)
{
    mrapi_status_t created = MRAPI_SUCCESS;
    (void)state;
    listen(MEDLEY_EVENT_NODE_COMES, 1);
    listen(MEDLEY_EVENT_NODE_GOES, 3);
    for (int i = 0; i < 7; i++) {
        on_other_thread(come_and_go);
    }
    assert_int_equal(told[MEDLEY_EVENT_NODE_COMES], 7);
    assert_int_equal(told[MEDLEY_EVENT_NODE_GOES], 2);
    listen(MEDLEY_EVENT_NODE_GOES, 2);
    listen(MEDLEY_EVENT_NODE_COMES, 0);
    on_other_thread(come_and_go);
    on_other_thread(come_and_go);
    assert_int_equal(told[MEDLEY_EVENT_NODE_COMES], 0);
    assert_int_equal(told[MEDLEY_EVENT_NODE_GOES], 1);
    listen(MEDLEY_EVENT_NODE_GOES, 0);
    listen(MEDLEY_EVENT_LIMIT, 1);
    uint32_t made = 0;
    while (created == MRAPI_SUCCESS) {
        (void)mrapi_mutex_create(made++, NULL, &created);
    }
    assert_int_equal(created, MRAPI_ERR_MUTEX_LIMIT);
    assert_int_equal(told[MEDLEY_EVENT_LIMIT], 1);
    listen(MEDLEY_EVENT_LIMIT, 0);
    for (uint32_t i = 0; i + 1 < made; i++) {
        delete_mutex(mrapi_mutex_get(i, &status));
    }
}

/* Nobody comes or goes meanwhile, so it is never called. */
static void (*no_callback(uintptr_t number))(mrapi_event_t event)
{
    return (void (*)(mrapi_event_t))number;
}

/* Who ended leaves his place to others. */
static void
places_of_listeners_come_back(void **state)
{
    (void)state;
    for (uintptr_t i = 1; i <= 100; i++) {
        mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 1, no_callback(i), &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 2, no_callback(i), &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_resource_register_callback(MEDLEY_EVENT_NODE_GOES, 0, no_callback(i), &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    listen(MEDLEY_EVENT_NODE_GOES, 1);
    on_other_thread(come_and_go);
    assert_int_equal(told[MEDLEY_EVENT_NODE_GOES], 1);
    listen(MEDLEY_EVENT_NODE_GOES, 0);
}

static void
wrong_events(void **state)
{
    (void)state;
    mrapi_resource_register_callback(MRAPI_EVENT_CROSSBAR_BUFFER_OVER_80PERCENT, 1, tell, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_EVENT);
    mrapi_resource_register_callback(MEDLEY_EVENT_COUNT, 1, tell, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_EVENT);
    mrapi_resource_register_callback((mrapi_event_t)-1, 1, tell, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_EVENT);
    mrapi_resource_register_callback(MEDLEY_EVENT_DEATH, 1, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_RSRC_INVALID_CALLBACK);
}

static int
dies(test_process *parent, void *argument)
{
    mrapi_info_t info;
    (void)parent;
    (void)argument;
    mrapi_initialize(DOMAIN, NODE + 1, 0, &info, &status);
    child_expect(status == MRAPI_SUCCESS);
    _exit(0); /* without a word */
}

static void
death(void **state)
{
    test_process child;
    (void)state;
    if (med_self_get()->system->scope == MED_PORT_SCOPE_PROCESS) {
        return; /* nobody else can be in a private system */
    }
    listen(MEDLEY_EVENT_DEATH, 1);
    process_start(&child, dies, NULL);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(told[MEDLEY_EVENT_DEATH], 0);
    assert_int_equal(med_process_recover_all(med_self_get()->system), 1);
    assert_int_equal(told[MEDLEY_EVENT_DEATH], 1);
    listen(MEDLEY_EVENT_DEATH, 0);
}

/* ---- Nobody ---------------------------------------------------------------------------------- */

static void
no_node(void **state)
{
    mrapi_resource_t *root = NULL;
    mrapi_uint_t value;
    (void)state;
    assert_null(mrapi_resources_get(MRAPI_RSRC_CPU, &status));
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_resource_tree_free(&root, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_resource_get_attribute(root, 0, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_dynamic_attribute_start(root, 0, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_dynamic_attribute_reset(root, 0, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_dynamic_attribute_stop(root, 0, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    mrapi_resource_register_callback(MEDLEY_EVENT_DEATH, 1, tell, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    assert_null(mrapi_resources_get(MRAPI_RSRC_CPU, NULL));
    mrapi_resource_tree_free(&root, NULL);
    mrapi_resource_get_attribute(root, 0, &value, sizeof value, NULL);
    mrapi_dynamic_attribute_start(root, 0, NULL, NULL);
    mrapi_dynamic_attribute_reset(root, 0, NULL);
    mrapi_dynamic_attribute_stop(root, 0, NULL);
    mrapi_resource_register_callback(MEDLEY_EVENT_DEATH, 1, tell, NULL);
}

#define ON_MACHINE(test) cmocka_unit_test_setup_teardown(test, synthetic_up, synthetic_down)
#define HERE(test) cmocka_unit_test_setup_teardown(test, node_up, node_down)

static bool
module_there(void)
{
    void *found;
    char why[MED_PORT_WHY_BYTES];
    return med_port_module_open("hwloc", MED_TOPOLOGY_MODULE_SYMBOL, &found, why) == MEDLEY_OK;
}

static int
run_on_machine(void)
{
    const struct CMUnitTest tests[] = {
        ON_MACHINE(filters),      ON_MACHINE(dropped_between), ON_MACHINE(wrong_file),
        ON_MACHINE(many_trees),   ON_MACHINE(owners),          ON_MACHINE(wrong_attributes),
        ON_MACHINE(wrong_counts),
    };
    if (!module_there()) {
        (void)fprintf(stderr, "not possible here: no module for hwloc (%s)\n", __func__);
        return 0;
    }
    return cmocka_run_group_tests_name("mrapi/resource, 128 cores", tests, NULL, NULL);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_module), /* first: a module stays open */
        HERE(time_of_a_node),
        HERE(counters_of_the_processor),
        HERE(roll_over),
        HERE(what_is_used),
        HERE(locks_are_slept_for),
        HERE(events),
        HERE(places_of_listeners_come_back),
        HERE(wrong_events),
        HERE(death),
        cmocka_unit_test(no_node),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mrapi/resource", tests, NULL, NULL);
    return failed + run_on_machine();
}
