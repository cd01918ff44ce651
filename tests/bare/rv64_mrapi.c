/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MRAPI across all harts, through the public calls: harts as nodes of the one private system,
 * mutexes, atomic operations, and a ring in memory between them; and what there is not.
 *
 * A node's body returns NULL, or the condition that did not hold; its join hands that on.
 */
#include "base/ring_mpsc.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/limits.h"
#include "rv64.h"

#define DOMAIN 7
#define ROUNDS 3000u

const uint32_t med_limits_of_process_built_in = 8;

/* One more node than harts, so that it is the harts that limit. */
const med_limits med_limits_built_in = {
    .domains = 2, .processes = 1, .nodes = MED_BARE_CORES_MAX + 1, .mutexes = 4};

static const char *
initialize(mrapi_node_t node)
{
    mrapi_info_t info;
    mrapi_status_t status;
    mrapi_initialize(DOMAIN, node, 0, &info, &status);
    if (status != MRAPI_SUCCESS) {
        return "a hart becomes a node";
    }
    return info.number_of_nodes == MED_BARE_CORES_MAX + 1 ? NULL : "the image's limits hold";
}

static const char *
finalize(void)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
    return status == MRAPI_SUCCESS ? NULL : "a node leaves";
}

static const char *(*body_now)(mrapi_node_t self); /* changed while there is one node */

static void *
started(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    return (void *)(uintptr_t)body_now(mrapi_node_id_get(&status));
}

static mrapi_status_t
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

/* Runs `body` as a node on each of the first `count` harts; this one is node 0. */
static const char *
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

/* ---- Mutexes --------------------------------------------------------------------------------- */

static mrapi_mutex_hndl_t mutex;
static volatile uint32_t counter; /* guarded by mutex */

/* Makes `mutex`, runs the body, deletes it. */
static const char *
with_mutex(uint32_t nodes, const char *(*body)(mrapi_node_t self))
{
    mrapi_status_t status;
    mutex = mrapi_mutex_create(1, NULL, &status);
    if (status != MRAPI_SUCCESS) {
        return "a mutex is made";
    }
    const char *broken = on_nodes(nodes, body);
    mrapi_mutex_delete(mutex, &status);
    return broken || status == MRAPI_SUCCESS ? broken : "it is deleted";
}

static const char *
adds_with_key(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)self;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        if (status != MRAPI_SUCCESS) {
            return "every lock succeeds";
        }
        counter = counter + 1;
        mrapi_key_t wrong = key + 1;
        mrapi_mutex_unlock(mutex, &wrong, &status);
        if (status != MRAPI_ERR_MUTEX_KEY) {
            return "a wrong key opens nothing";
        }
        mrapi_mutex_unlock(mutex, &key, &status);
        if (status != MRAPI_SUCCESS) {
            return "the key does";
        }
    }
    return NULL;
}

static const char *
mutex_excludes_nodes(void)
{
    counter = 0;
    const char *broken = with_mutex(hart_count(), adds_with_key);
    return broken || counter == ROUNDS * hart_count() ? broken : "no addition is lost";
}

static uint32_t stage;

/* Node 1 holds it until node 0 has waited in vain. */
static const char *
waits_in_vain(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_key_t key;
    if (self == 1) {
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        mrapi_atomic_store(&stage, sizeof stage, 1, &status);
        while (mrapi_atomic_load(&stage, sizeof stage, &status) != 2) {
            mrapi_yield(&status);
        }
        return NULL; /* it ends with the node */
    }
    while (mrapi_atomic_load(&stage, sizeof stage, &status) != 1) {
        mrapi_yield(&status);
    }
    uint64_t begun_ns = medley_clock_ns();
    mrapi_mutex_lock(mutex, &key, 2000, &status);
    bool in_time = status == MRAPI_TIMEOUT && medley_clock_ns() - begun_ns >= 2000000;
    bool tried = !mrapi_mutex_trylock(mutex, &key, &status) && status == MRAPI_ERR_MUTEX_LOCKED;
    mrapi_atomic_store(&stage, sizeof stage, 2, &status);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    if (!in_time || !tried) {
        return "a wait ends at its time";
    }
    return status == MRAPI_SUCCESS && medley_lock_owner_died() ? NULL
                                                               : "the next one has it, and is told";
}

static const char *
mutex_outlives_its_holder(void)
{
    stage = 0;
    return with_mutex(2, waits_in_vain);
}

static const char *
no_priority_inheritance(void)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(&attributes, MEDLEY_MUTEX_PRIORITY_INHERITANCE, &yes, sizeof yes,
                              &status);
    (void)mrapi_mutex_create(2, &attributes, &status);
    return status == MRAPI_ERR_NOT_SUPPORTED ? NULL : "it is not supported";
}

/* ---- Atomic operations ----------------------------------------------------------------------- */

static struct {
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    uint8_t one;
    uint8_t neighbour;
    uint32_t bits;
    uint64_t swapped;
} words;

static const char *
adds_to_words(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_uint64_t seen = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        (void)mrapi_atomic_add(&words.eight, 8, (mrapi_uint64_t)1 << 31, &status);
        (void)mrapi_atomic_add(&words.four, 4, 3, &status);
        (void)mrapi_atomic_add(&words.two, 2, 3, &status);
        (void)mrapi_atomic_add(&words.one, 1, 3, &status);
        while (!mrapi_atomic_cas(&words.swapped, 8, &seen, seen + 1, &status)) {
        }
    }
    if (status != MRAPI_SUCCESS) {
        return "eight bytes are supported";
    }
    return mrapi_atomic_bit_set(&words.bits, 4, self, &status) ? "a bit was clear" : NULL;
}

static const char *
atomic_operations_add_up(void)
{
    __builtin_memset(&words, 0, sizeof words);
    const char *broken = on_nodes(hart_count(), adds_to_words);
    uint32_t total = ROUNDS * hart_count();
    bool sums = words.eight == (uint64_t)total << 31 && words.four == total * 3 &&
                words.two == (uint16_t)(total * 3) && words.one == (uint8_t)(total * 3) &&
                words.swapped == total && words.neighbour == 0;
    if (!broken && !sums) {
        return "no addition is lost";
    }
    return broken || words.bits == (1u << hart_count()) - 1 ? broken : "every bit is set";
}

/* ---- A ring between nodes -------------------------------------------------------------------- */

static const med_ring_mpsc_config ring_config = {
    .element_bytes = sizeof(uint64_t), .capacity = 16, .lanes = MED_BARE_CORES_MAX};
static _Alignas(128) uint8_t ring_memory[16 << 10];
static med_ring_mpsc_view ring;

static const char *
sends(mrapi_node_t self)
{
    med_ring_mpsc_producer producer;
    if (med_ring_mpsc_producer_join(&producer, &ring, self) != MEDLEY_OK) {
        return "a node has a lane";
    }
    for (uint64_t i = 0; i < ROUNDS; i++) {
        void *slot;
        if (med_ring_mpsc_reserve_until(&producer, MED_PORT_FOREVER, &slot) != MEDLEY_OK) {
            return "there comes room";
        }
        *(uint64_t *)slot = (uint64_t)self << 32 | i;
        med_ring_mpsc_commit(&producer);
    }
    return med_ring_mpsc_producer_leave(&producer) == MEDLEY_OK ? NULL : "it gives the lane back";
}

static const char *
receives(void)
{
    med_ring_mpsc_consumer consumer;
    uint32_t next[MED_BARE_CORES_MAX] = {0};
    if (med_ring_mpsc_consumer_join(&consumer, &ring, hart_count()) != MEDLEY_OK) {
        return "there is one consumer";
    }
    for (uint32_t n = ROUNDS * (hart_count() - 1); n > 0; n--) {
        void *element;
        if (med_ring_mpsc_peek_until(&consumer, MED_PORT_FOREVER, &element) != MEDLEY_OK) {
            return "there comes an element";
        }
        uint64_t value = *(const uint64_t *)element;
        med_ring_mpsc_release(&consumer);
        if (value >> 32 >= hart_count() || (uint32_t)value != next[value >> 32]++) {
            return "each node's elements come once and in order";
        }
    }
    return NULL;
}

static const char *
sends_or_receives(mrapi_node_t self)
{
    return self == 0 ? receives() : sends(self);
}

static const char *
ring_carries_between_nodes(void)
{
    if (med_ring_mpsc_init(ring_memory, sizeof ring_memory, &ring_config) != MEDLEY_OK ||
        med_ring_mpsc_attach(&ring, ring_memory, sizeof ring_memory, MED_PORT_SCOPE_PROCESS) !=
            MEDLEY_OK) {
        return "a ring is made";
    }
    return on_nodes(hart_count(), sends_or_receives);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static const char *
main_becomes_a_node(void)
{
    return initialize(0);
}

const med_port_check mrapi_checks[] = {
    {"the only system is private", the_only_system_is_private},
    {"nodes end with their hart", nodes_end_with_their_hart},
    {"main becomes a node", main_becomes_a_node},
    {"harts become nodes", harts_become_nodes},
    {"mutex excludes nodes", mutex_excludes_nodes},
    {"mutex outlives its holder", mutex_outlives_its_holder},
    {"no priority inheritance", no_priority_inheritance},
    {"atomic operations add up", atomic_operations_add_up},
    {"ring carries between nodes", ring_carries_between_nodes},
    {"main leaves", finalize},
};
const uint32_t mrapi_check_count = sizeof mrapi_checks / sizeof mrapi_checks[0];
