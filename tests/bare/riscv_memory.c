/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory between all harts: atomic operations, a ring, shared, heap and remote memory. */
#include "base/atomic.h"
#include "base/ring_mpsc.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "riscv.h"

#define ROUNDS 3000u
#define STORES 500000u
#define WIDE 0x80000001u

/* ---- Atomic operations ----------------------------------------------------------------------- */

/* Eight bytes at once, where the processor can. */
static struct {
    uintptr_t widest;
    uint32_t four;
    uint16_t two;
    uint8_t one;
    uint8_t neighbour;
    uint32_t bits;
    uintptr_t swapped;
} words;

static const char *
adds_to_words(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_uint64_t seen = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        (void)mrapi_atomic_add(&words.widest, sizeof words.widest, WIDE, &status);
        (void)mrapi_atomic_add(&words.four, 4, 3, &status);
        (void)mrapi_atomic_add(&words.two, 2, 3, &status);
        (void)mrapi_atomic_add(&words.one, 1, 3, &status);
        while (!mrapi_atomic_cas(&words.swapped, sizeof words.swapped, &seen, seen + 1, &status)) {
        }
    }
    if (status != MRAPI_SUCCESS) {
        return "every width is supported";
    }
    return mrapi_atomic_bit_set(&words.bits, 4, self, &status) ? "a bit was clear" : NULL;
}

static const char *
atomic_operations_add_up(void)
{
    __builtin_memset(&words, 0, sizeof words);
    const char *broken = on_nodes(hart_count(), adds_to_words);
    uint32_t total = ROUNDS * hart_count();
    bool sums = words.widest == (uintptr_t)total * WIDE && words.four == total * 3 &&
                words.two == (uint16_t)(total * 3) && words.one == (uint8_t)(total * 3) &&
                words.swapped == total && words.neighbour == 0;
    if (!broken && !sums) {
        return "no addition is lost";
    }
    return broken || words.bits == (1u << hart_count()) - 1 ? broken : "every bit is set";
}

/* Node 0 stores, the others change by what changes nothing. */
static uint32_t stored;       /* by MRAPI */
static atomic32 stored_plain; /* as Medley stores its own */
static struct {
    volatile uint8_t beside; /* a plain byte of the program's */
    uint8_t changed;         /* by MRAPI */
} neighbours;
static atomic32 storing_ends;

static const char *
stores_among_changes(mrapi_node_t self)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    /* Relaxed, all: each word is looked at alone. */
    for (uint32_t i = 1; self == 0 && i <= STORES; i++) {
        mrapi_atomic_store(&stored, sizeof stored, i, &status);
        atomic32_store_relaxed(&stored_plain, i);
        neighbours.beside = (uint8_t)i;
        if (mrapi_atomic_load(&stored, sizeof stored, &status) != i ||
            atomic32_load_relaxed(&stored_plain) != i || neighbours.beside != (uint8_t)i) {
            atomic32_store_relaxed(&storing_ends, 1);
            return "what was stored stays";
        }
    }
    while (self != 0 && !atomic32_load_relaxed(&storing_ends)) {
        (void)mrapi_atomic_add(&stored, sizeof stored, 0, &status);
        (void)atomic32_fetch_or_relaxed(&stored_plain, 0);
        (void)mrapi_atomic_add(&neighbours.changed, sizeof neighbours.changed, 1, &status);
    }
    atomic32_store_relaxed(&storing_ends, 1);
    return status == MRAPI_SUCCESS ? NULL : "it is supported";
}

static const char *
store_is_not_lost(void)
{
    atomic32_store_relaxed(&storing_ends, 0); /* relaxed: on_nodes orders it */
    return on_nodes(hart_count(), stores_among_changes);
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

/* ---- Shared memory --------------------------------------------------------------------------- */

#define SHARED_KEY 5
#define SHARED_BYTES 4096u

static const char *
attaches_and_adds(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_get(SHARED_KEY, &status);
    uint32_t *words_there = mrapi_shmem_attach(shmem, &status);
    if (!words_there) {
        return "every node attaches";
    }
    words_there[1 + self] = self;
    (void)mrapi_atomic_add(&words_there[0], sizeof(uint32_t), 1, &status);
    while (mrapi_atomic_load(&words_there[0], sizeof(uint32_t), &status) < hart_count()) {
        mrapi_yield(&status);
    }
    for (uint32_t i = 0; i < hart_count(); i++) {
        if (words_there[1 + i] != i) {
            return "what one writes all see";
        }
    }
    mrapi_shmem_detach(shmem, &status);
    return status == MRAPI_SUCCESS ? NULL : "every node detaches";
}

static const char *
shared_memory_is_shared(void)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t shmem =
        mrapi_shmem_create(SHARED_KEY, SHARED_BYTES, NULL, 0, NULL, 0, &status);
    if (status != MRAPI_SUCCESS) {
        return "it is made";
    }
    const char *broken = on_nodes(hart_count(), attaches_and_adds);
    mrapi_shmem_delete(shmem, &status);
    return broken || status == MRAPI_SUCCESS ? broken : "it is deleted";
}

/* What stands for the board's tightly coupled memory: all of it, and nothing beside it. */
static const char *
tight_memory_is_shared(void)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes;
    mrapi_uint_t resource = MEDLEY_SHMEM_RESOURCE_TIGHT(0), address = 0, words_there = 0;
    mrapi_resource_t *tree = mrapi_resources_get(MRAPI_RSRC_MEM, &status);
    if (!tree || tree->child_count != 1 ||
        __builtin_strcmp(tree->children[0]->name, "tight#0 virt-tcm") != 0) {
        return "the tree has it";
    }
    mrapi_resource_get_attribute(tree->children[0], MRAPI_RSRC_MEM_BASEADDR, &address,
                                 sizeof address, &status);
    mrapi_resource_get_attribute(tree->children[0], MRAPI_RSRC_MEM_NUMWORDS, &words_there,
                                 sizeof words_there, &status);
    mrapi_resource_tree_free(&tree, &status);
    mrapi_shmem_init_attributes(&attributes, &status);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_RESOURCE, &resource, sizeof resource,
                              &status);
    uint32_t bytes = words_there * (uint32_t)sizeof(void *);
    mrapi_shmem_hndl_t shmem =
        mrapi_shmem_create(SHARED_KEY, bytes, NULL, 0, &attributes, sizeof attributes, &status);
    if (status != MRAPI_SUCCESS) {
        return "all of it can be had";
    }
    const uint8_t *first = mrapi_shmem_attach(shmem, &status);
    mrapi_shmem_detach(shmem, &status);
    if ((uintptr_t)first != address || bytes < SHARED_BYTES) {
        return "it lies where the tree says";
    }
    (void)mrapi_shmem_create(SHARED_KEY + 1, 1, NULL, 0, &attributes, sizeof attributes, &status);
    if (status != MRAPI_ERR_MEM_LIMIT) {
        return "there is no more of it";
    }
    const char *broken = on_nodes(hart_count(), attaches_and_adds);
    mrapi_shmem_delete(shmem, &status);
    if (!broken && status != MRAPI_SUCCESS) {
        return "it is deleted";
    }
    resource = MEDLEY_SHMEM_RESOURCE_TIGHT(1);
    mrapi_shmem_set_attribute(&attributes, MRAPI_SHMEM_RESOURCE, &resource, sizeof resource,
                              &status);
    (void)mrapi_shmem_create(SHARED_KEY, 64, NULL, 0, &attributes, sizeof attributes, &status);
    return broken || status == MRAPI_ERR_NOT_SUPPORTED ? broken : "there is no other";
}

/* Of many sizes, three at a time. */
static const char *
takes_heap_memory(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_shmem_hndl_t kept[3] = {0};
    for (uint32_t i = 0; i < 300; i++) {
        mrapi_shmem_attributes_t attributes;
        mrapi_shmem_init_attributes(&attributes, &status);
        attributes.use_malloc = MRAPI_TRUE;
        if (i >= 3) {
            mrapi_shmem_delete(kept[i % 3], &status);
            if (status != MRAPI_SUCCESS) {
                return "it is given back";
            }
        }
        mrapi_uint_t size = (i * 37 + self * 11) % 2000 + 1;
        kept[i % 3] = mrapi_shmem_create_malloc(self, size, &attributes, &status);
        if (status != MRAPI_SUCCESS) {
            return "there is some";
        }
        __builtin_memset(attributes.mem_addr, (int)self, size);
    }
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t *first = mrapi_shmem_attach(kept[i], &status);
        if (!first || *first != self) {
            return "each has his own";
        }
        mrapi_shmem_delete(kept[i], &status);
    }
    return NULL;
}

static const char *
heap_memory_comes_and_goes(void)
{
    return on_nodes(hart_count(), takes_heap_memory);
}

/* ---- Remote memory --------------------------------------------------------------------------- */

#define REMOTE_NUMBER 9

static uint32_t remote[MED_BARE_CORES_MAX];

/* The same by requests: one is tested until it is over, the other waited for. */
static const char *
asks_for_its_word(mrapi_rmem_hndl_t rmem, mrapi_uint_t offset, uint32_t word)
{
    mrapi_status_t status;
    mrapi_request_t request;
    size_t size = 0;
    uint32_t back = 0;
    mrapi_rmem_write_i(rmem, offset, &word, 0, sizeof word, 1, sizeof word, sizeof word, &request,
                       &status);
    while (status == MRAPI_SUCCESS && !mrapi_test(&request, &size, &status)) {
        status = status == MRAPI_INCOMPLETE ? MRAPI_SUCCESS : status;
    }
    if (status != MRAPI_SUCCESS || size != sizeof word) {
        return "a request to write ends";
    }
    mrapi_rmem_read_i(rmem, offset, &back, 0, sizeof word, 1, sizeof word, sizeof word, &request,
                      &status);
    if (status != MRAPI_SUCCESS || !mrapi_wait(&request, &size, MRAPI_TIMEOUT_INFINITE, &status) ||
        back != word) {
        return "a request to read ends";
    }
    mrapi_cancel(&request, &status);
    return status == MRAPI_ERR_REQUEST_INVALID ? NULL : "what was fetched is no more";
}

static const char *
writes_its_word(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(REMOTE_NUMBER, MRAPI_RMEM_DUMMY, &status);
    uint32_t word = self + 100;
    uint32_t back = 0;
    mrapi_uint32_t offset = self * (mrapi_uint32_t)sizeof word;
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    if (status != MRAPI_SUCCESS) {
        return "every node attaches";
    }
    mrapi_rmem_write(rmem, offset, &word, 0, sizeof word, 1, sizeof word, sizeof word, &status);
    mrapi_rmem_read(rmem, offset, &back, 0, sizeof word, 1, sizeof word, sizeof word, &status);
    if (status != MRAPI_SUCCESS || back != word) {
        return "a word is written and read";
    }
    const char *broken = asks_for_its_word(rmem, offset, word);
    mrapi_rmem_detach(rmem, &status);
    return broken || status == MRAPI_SUCCESS ? broken : "every node detaches";
}

static const char *
remote_memory_is_reached(void)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmem =
        mrapi_rmem_create(REMOTE_NUMBER, remote, MRAPI_RMEM_DUMMY, NULL, sizeof remote, &status);
    if (status != MRAPI_SUCCESS) {
        return "it is made";
    }
    const char *broken = on_nodes(hart_count(), writes_its_word);
    mrapi_rmem_delete(rmem, &status);
    for (uint32_t i = 0; i < hart_count() && !broken; i++) {
        broken = remote[i] == i + 100 ? NULL : "every word came";
    }
    return broken || status == MRAPI_SUCCESS ? broken : "it is deleted";
}

/* ---- All of them ----------------------------------------------------------------------------- */

static const char *
main_leaves(void)
{
    mrapi_status_t status;
    mrapi_finalize(&status);
    return status == MRAPI_SUCCESS ? NULL : "a node leaves";
}

const med_port_check memory_checks[] = {
    {"atomic operations add up", atomic_operations_add_up},
    {"store is not lost", store_is_not_lost},
    {"ring carries between nodes", ring_carries_between_nodes},
    {"shared memory is shared", shared_memory_is_shared},
    {"tight memory is shared", tight_memory_is_shared},
    {"heap memory comes and goes", heap_memory_comes_and_goes},
    {"remote memory is reached", remote_memory_is_reached},
    {"main leaves", main_leaves},
};
const uint32_t memory_check_count = sizeof memory_checks / sizeof memory_checks[0];
