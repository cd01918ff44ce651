/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Harts as nodes of the one private system, and what the image has for that. */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/limits.h"
#include "riscv.h"

#define NODES_MAX (MED_BARE_CORES_MAX + 1)

/* A request for each word that any hart reads at a time. */
const uint32_t med_limits_of_process_built_in = MED_BARE_CORES_MAX * STRIDES;

/* One more node than harts, so that it is the harts that limit. */
const med_limits med_limits_built_in = {
    .domains = 2,
    .processes = 1,
    .nodes = NODES_MAX,
    .mutexes = 4,
    .semaphores = 2,
    .rwlocks = 2,
    .sharers = MED_BARE_CORES_MAX,
    .shmems = 2,
    .rmems = 2,
    .rmem_attachments = MED_BARE_CORES_MAX,
    .endpoints = 8,
    .lanes = 6,
    .lane_bytes = 512,
    .buffers = 8,
    .buffer_bytes = 256,
};

const char *
initialize(mrapi_node_t node)
{
    mrapi_info_t info;
    mrapi_status_t status;
    mrapi_initialize(DOMAIN, node, 0, &info, &status);
    if (status != MRAPI_SUCCESS) {
        return "a hart becomes a node";
    }
    return info.number_of_nodes == NODES_MAX ? NULL : "the image's limits hold";
}

static const char *(*body_now)(mrapi_node_t self); /* changed while there is one node */

static void *
started(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    return (void *)(uintptr_t)body_now(mrapi_node_id_get(&status));
}

mrapi_status_t
start(mrapi_node_t node)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = started};
    mrapi_thread_create(DOMAIN, node, &parameters, &status);
    return status;
}

static const char *
join(mrapi_node_t node)
{
    mrapi_status_t status;
    void *result;
    mrapi_thread_join(DOMAIN, node, &result, &status);
    return status == MRAPI_SUCCESS ? result : "a node is joined";
}

const char *
on_nodes(uint32_t count, const char *(*body)(mrapi_node_t self))
{
    body_now = body;
    for (mrapi_node_t node = 1; node < count; node++) {
        if (start(node) != MRAPI_SUCCESS) {
            return "a node starts on an idle hart";
        }
    }
    const char *broken = body(0);
    for (mrapi_node_t node = 1; node < count; node++) {
        const char *joined = join(node);
        broken = broken ? broken : joined;
    }
    return broken;
}

/* Attributes of a hosted system mean nothing here. */
static bool
refuses_hosted_attributes(mrapi_node_t node)
{
    mrapi_status_t status;
    const uint32_t hosted = 0;
    mrapi_thread_parameters_t parameters = {.start_routine = started, .attr = &hosted};
    mrapi_thread_create(DOMAIN, node, &parameters, &status);
    return status == MRAPI_ERR_NOT_SUPPORTED;
}

/* ---- Systems and nodes ----------------------------------------------------------------------- */

static const char *
the_only_system_is_private(void)
{
    if (medley_system_open("shared") != MEDLEY_ERR_NOT_SUPPORTED) {
        return "a name is not supported";
    }
    if (medley_system_open(NULL) != MEDLEY_OK || medley_system_close() != MEDLEY_OK ||
        medley_system_close() != MEDLEY_ERR_NOT_FOUND) {
        return "the private one is opened and closed";
    }
    return NULL;
}

static const char *
knows_itself(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_info_t info;
    if (mrapi_node_id_get(&status) != self || mrapi_domain_id_get(&status) != DOMAIN) {
        return "a node knows its number and domain";
    }
    mrapi_initialize(DOMAIN, self + 100, 0, &info, &status);
    if (status != MRAPI_ERR_NODE_INITIALIZED) {
        return "a hart is one node";
    }
    if (self == 0 && start(1) != MRAPI_ERR_NODE_INITIALIZED) {
        return "a number is one node's, until it is joined";
    }
    if (self == 0 && !refuses_hosted_attributes(hart_count())) {
        return "a hosted system's attributes are not supported";
    }
    if (self == 0 && start(hart_count()) != MRAPI_ERR_NODE_INITFAILED) {
        return "no node starts without an idle hart";
    }
    return NULL;
}

static const char *
harts_become_nodes(void)
{
    return on_nodes(hart_count(), knows_itself);
}

static void *
initializes_and_ends(void *argument)
{
    return (void *)(uintptr_t)initialize((mrapi_node_t)(uintptr_t)argument);
}

/* Harts that become nodes by themselves, and end without leaving. */
static const char *
nodes_end_with_their_hart(void)
{
    med_port_thread threads[MED_BARE_CORES_MAX];
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uintptr_t i = 1; i < hart_count(); i++) {
            if (med_port_thread_start(&threads[i], NULL, initializes_and_ends, (void *)i) !=
                MEDLEY_OK) {
                return "a thread starts";
            }
        }
        for (uint32_t i = 1; i < hart_count(); i++) {
            void *broken;
            if (med_port_thread_join(threads[i], &broken) != MEDLEY_OK || broken) {
                return "it has become a node, also the second time";
            }
        }
    }
    return NULL;
}

/* ---- Metadata -------------------------------------------------------------------------------- */

static uint32_t nodes_heard_of;

static void
hears_of_a_node(mrapi_event_t event)
{
    mrapi_status_t status;
    (void)event;
    (void)mrapi_atomic_add(&nodes_heard_of, sizeof nodes_heard_of, 1, &status);
}

static const char *
does_nothing(mrapi_node_t self)
{
    (void)self;
    return NULL;
}

static const char *
system_describes_itself(void)
{
    mrapi_status_t status;
    mrapi_resource_t *tree = mrapi_resources_get(MRAPI_RSRC_CPU, &status);
    if (!tree || tree->child_count != hart_count()) {
        return "the machine has its harts";
    }
    mrapi_uint_t number = 0;
    mrapi_resource_get_attribute(tree->children[hart_count() - 1], MRAPI_RSRC_CPU_ID, &number,
                                 sizeof number, &status);
    if (status != MRAPI_SUCCESS || number != hart_count() - 1) {
        return "a hart has its number";
    }
    mrapi_resource_tree_free(&tree, &status);
    tree = mrapi_resources_get(MEDLEY_RSRC_SYSTEM, &status);
    if (!tree || tree->resource_type != MEDLEY_RSRC_SYSTEM || tree->child_count == 0) {
        return "the system is described";
    }
    mrapi_resource_tree_free(&tree, &status);
    if (status != MRAPI_SUCCESS) {
        return "the tree is freed";
    }
    mrapi_resource_register_callback(MEDLEY_EVENT_NODE_COMES, 1, hears_of_a_node, &status);
    const char *broken = on_nodes(hart_count(), does_nothing);
    mrapi_resource_register_callback(MEDLEY_EVENT_NODE_COMES, 0, hears_of_a_node, &status);
    return broken || nodes_heard_of == hart_count() - 1 ? broken : "every node that comes is told";
}

static const char *
main_becomes_a_node(void)
{
    return initialize(0);
}

const med_port_check node_checks[] = {
    {"the only system is private", the_only_system_is_private},
    {"nodes end with their hart", nodes_end_with_their_hart},
    {"main becomes a node", main_becomes_a_node},
    {"harts become nodes", harts_become_nodes},
    {"system describes itself", system_describes_itself},
};
const uint32_t node_check_count = sizeof node_checks / sizeof node_checks[0];
