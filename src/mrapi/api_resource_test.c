/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Metadata, by the public calls: trees and who may use them, and their attributes. */
#include <pthread.h>

#include "mrapi/api_resource_test.h"
#include "support/process.h"

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
    (void)unsetenv("HWLOC_SYNTHETIC"); /* which comes first */
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
    assert_int_equal(initialize(NODE + 1), MRAPI_SUCCESS);
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

/* ---- Fork ------------------------------------------------------------------------------------ */

#define FORKS 60
#define STUCK_AFTER_S 60
/* While one fork waits, on average. One is on its way when it comes; a few may come before one who
 * has lost his processor says that he waits. */
#define READ_BEFORE_A_FORK 10u

static atomic32 over;
static atomic32 reads;

static void *
reads_all_the_time(void *argument)
{
    mrapi_status_t mine = initialize(2);
    while (mine == MRAPI_SUCCESS && !atomic32_load_relaxed(&over)) { /* relaxed: joined after */
        mrapi_resource_t *root = mrapi_resources_get(MRAPI_RSRC_CPU, &mine);
        if (mine == MRAPI_SUCCESS) {
            mrapi_resource_tree_free(&root, &mine);
        }
        (void)atomic32_fetch_add_relaxed(&reads, 1); /* relaxed: a count */
    }
    *(mrapi_status_t *)argument = mine;
    mrapi_finalize(&mine);
    return NULL;
}

static int
joins_and_reads(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    (void)signal(SIGALRM, SIG_DFL);
    (void)alarm(STUCK_AFTER_S);
    child_expect(initialize(3) == MRAPI_SUCCESS);
    (void)mrapi_resources_get(MRAPI_RSRC_CPU, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_finalize(&status);
    return 0;
}

/* What hwloc had locked at the fork, nobody in the child would give back. So a fork waits for who
 * reads; but not for those who come after it, or again. */
static void
forks_beside_a_reader(void **state)
{
    pthread_t reader;
    mrapi_status_t read = MRAPI_SUCCESS;
    uint32_t meanwhile = 0;
    (void)state;
    assert_int_equal(pthread_create(&reader, NULL, reads_all_the_time, &read), 0);
    for (uint32_t i = 0; i < FORKS; i++) {
        test_process child;
        uint32_t before = atomic32_load_relaxed(&reads); /* relaxed, both: how many about then */
        process_start(&child, joins_and_reads, NULL);
        meanwhile += atomic32_load_relaxed(&reads) - before;
        assert_int_equal(process_join(&child), 0);
    }
    assert_in_range(meanwhile, 0, FORKS * READ_BEFORE_A_FORK);
    atomic32_store_relaxed(&over, 1); /* relaxed: it guards nothing */
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_int_equal(read, MRAPI_SUCCESS);
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
    assert_null(mrapi_resources_get(MRAPI_RSRC_CPU, NULL));
    mrapi_resource_tree_free(&root, NULL);
    mrapi_resource_get_attribute(root, 0, &value, sizeof value, NULL);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_module), /* first: a module stays open */
        cmocka_unit_test(no_node),
    };
    const struct CMUnitTest on_machine[] = {
        ON_MACHINE(filters),    ON_MACHINE(dropped_between), ON_MACHINE(wrong_file),
        ON_MACHINE(many_trees), ON_MACHINE(owners),          ON_MACHINE(wrong_attributes),
    };
    const struct CMUnitTest here[] = {HERE(forks_beside_a_reader)};
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("mrapi/resource", tests, NULL, NULL);
    if (module_there()) {
        failed += cmocka_run_group_tests_name("mrapi/resource, 128 cores", on_machine, NULL, NULL);
        failed += cmocka_run_group_tests_name("mrapi/resource, here", here, NULL, NULL);
    }
    return failed;
}
