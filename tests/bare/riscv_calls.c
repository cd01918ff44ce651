/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calls of MRAPI, and of its additions, that the other files do not come to: each runs here,
 * most on all harts at once, or says that it is not supported. */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "riscv.h"

#define ROUNDS 2000u

/* ---- Atomic operations ----------------------------------------------------------------------- */

static uint32_t bits;  /* a bit for each hart */
static uint32_t masks; /* the same, by masks */
static uint32_t token; /* goes round: each hart has one, and one lies here */
static uint32_t tokens[MED_BARE_CORES_MAX];

static bool
bit_goes_through(mrapi_uint_t bit)
{
    mrapi_status_t status;
    return !mrapi_atomic_bit_set(&bits, sizeof bits, bit, &status) &&
           mrapi_atomic_bit_test(&bits, sizeof bits, bit, &status) &&
           mrapi_atomic_bit_flip(&bits, sizeof bits, bit, &status) &&
           !mrapi_atomic_bit_flip(&bits, sizeof bits, bit, &status) &&
           mrapi_atomic_bit_clear(&bits, sizeof bits, bit, &status) && status == MRAPI_SUCCESS;
}

static bool
mask_goes_through(mrapi_uint64_t mask)
{
    mrapi_status_t status;
    return !(mrapi_atomic_or(&masks, sizeof masks, mask, &status) & mask) &&
           (mrapi_atomic_xor(&masks, sizeof masks, mask, &status) & mask) &&
           !(mrapi_atomic_xor(&masks, sizeof masks, mask, &status) & mask) &&
           (mrapi_atomic_and(&masks, sizeof masks, ~mask, &status) & mask) &&
           status == MRAPI_SUCCESS;
}

static const char *
changes_its_bit(mrapi_node_t self)
{
    mrapi_status_t status;
    tokens[self] = self;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (!bit_goes_through(self) || !mask_goes_through(1u << self)) {
            return "a bit is as its hart left it";
        }
        tokens[self] = (uint32_t)mrapi_atomic_exchange(&token, sizeof token, tokens[self], &status);
        mrapi_atomic_barrier(&status);
    }
    return status == MRAPI_SUCCESS ? NULL : "a fence is there";
}

static const char *
bits_are_each_harts_own(void)
{
    bits = masks = 0;
    token = hart_count();
    const char *broken = on_nodes(hart_count(), changes_its_bit);
    uint32_t there = 1u << token;
    for (uint32_t i = 0; i < hart_count(); i++) {
        there |= 1u << tokens[i];
    }
    if (!broken && there != (2u << hart_count()) - 1) {
        return "no exchange loses or doubles a value";
    }
    return broken || bits + masks == 0 ? broken : "no bit is left";
}

/* ---- Time ------------------------------------------------------------------------------------ */

static const char *
waits_a_while(mrapi_node_t self)
{
    mrapi_status_t status;
    uint64_t begun_ns = medley_clock_ns();
    mrapi_delay(500, &status);
    if (status != MRAPI_SUCCESS || medley_clock_ns() - begun_ns < 500000) {
        return "a delay lasts";
    }
    uint64_t deadline_ns = medley_clock_ns() + 500000;
    mrapi_delay_until_ns(deadline_ns, &status);
    if (status != MRAPI_SUCCESS || medley_clock_ns() < deadline_ns) {
        return "a delay lasts until its end";
    }
    mrapi_delay_until_ns(begun_ns, &status);
    mrapi_yield_to(DOMAIN, self, &status);
    if (status != MRAPI_SUCCESS) {
        return "a node may be yielded to";
    }
    mrapi_yield_to(DOMAIN, MRAPI_NODE_INVALID, &status);
    return status == MRAPI_ERR_NODE_INVALID ? NULL : "but none that is not there";
}

static const char *
delays_last(void)
{
    return on_nodes(hart_count(), waits_a_while);
}

/* ---- Locks that were made with attributes, got by number, tried ------------------------------ */

#define KEY 3

static volatile uint32_t counters[3]; /* guarded by the mutex, the semaphore, the lock */

static const char *
locks_make(void)
{
    mrapi_status_t statuses[6];
    mrapi_mutex_attributes_t mutex;
    mrapi_sem_attributes_t sem;
    mrapi_rwl_attributes_t rwl;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&mutex, &statuses[0]);
    mrapi_sem_init_attributes(&sem, &statuses[0]);
    mrapi_rwl_init_attributes(&rwl, &statuses[0]);
    mrapi_mutex_set_attribute(&mutex, MRAPI_ERROR_EXT, &yes, sizeof yes, &statuses[0]);
    mrapi_sem_set_attribute(&sem, MRAPI_ERROR_EXT, &yes, sizeof yes, &statuses[1]);
    mrapi_rwl_set_attribute(&rwl, MRAPI_ERROR_EXT, &yes, sizeof yes, &statuses[2]);
    (void)mrapi_mutex_create(KEY, &mutex, &statuses[3]);
    (void)mrapi_sem_create(KEY, &sem, 1, &statuses[4]);
    (void)mrapi_rwl_create(KEY, &rwl, hart_count(), &statuses[5]);
    for (uint32_t i = 0; i < 6; i++) {
        if (statuses[i] != MRAPI_SUCCESS) {
            return "locks are made";
        }
    }
    return NULL;
}

typedef struct locks {
    mrapi_mutex_hndl_t mutex;
    mrapi_sem_hndl_t sem;
    mrapi_rwl_hndl_t rwl;
} locks;

/* False: one is not there. */
static bool
locks_get(locks *l)
{
    mrapi_status_t statuses[3];
    l->mutex = mrapi_mutex_get(KEY, &statuses[0]);
    l->sem = mrapi_sem_get(KEY, &statuses[1]);
    l->rwl = mrapi_rwl_get(KEY, &statuses[2]);
    return statuses[0] == MRAPI_SUCCESS && statuses[1] == MRAPI_SUCCESS &&
           statuses[2] == MRAPI_SUCCESS;
}

/* What each says of itself now. */
static void
locks_ask(const locks *l, mrapi_status_t statuses[3])
{
    mrapi_boolean_t extended[3] = {MRAPI_FALSE, MRAPI_FALSE, MRAPI_FALSE};
    mrapi_mutex_get_attribute(l->mutex, MRAPI_ERROR_EXT, &extended[0], sizeof extended[0],
                              &statuses[0]);
    mrapi_sem_get_attribute(l->sem, MRAPI_ERROR_EXT, &extended[1], sizeof extended[1],
                            &statuses[1]);
    mrapi_rwl_get_attribute(l->rwl, MRAPI_ERROR_EXT, &extended[2], sizeof extended[2],
                            &statuses[2]);
    for (uint32_t i = 0; i < 3; i++) {
        if (statuses[i] == MRAPI_SUCCESS && !extended[i]) {
            statuses[i] = MRAPI_ERR_ATTR_NUM;
        }
    }
}

static const char *
tries_locks(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_key_t key;
    locks l;
    (void)self;
    if (!locks_get(&l)) {
        return "every node finds them";
    }
    for (uint32_t i = 0; i < ROUNDS; i++) {
        while (!mrapi_mutex_trylock(l.mutex, &key, &status)) {
            if (status != MRAPI_ERR_MUTEX_LOCKED) {
                return "a mutex is locked, or not";
            }
        }
        counters[0] = counters[0] + 1;
        mrapi_mutex_unlock(l.mutex, &key, &status);
        while (!mrapi_sem_trylock(l.sem, &status)) {
        }
        counters[1] = counters[1] + 1;
        mrapi_sem_unlock(l.sem, &status);
        while (!mrapi_rwl_trylock(l.rwl, MRAPI_RWL_WRITER, &status)) {
        }
        counters[2] = counters[2] + 1;
        mrapi_rwl_unlock(l.rwl, MRAPI_RWL_WRITER, &status);
    }
    return status == MRAPI_SUCCESS ? NULL : "every unlock succeeds";
}

static const char *
locks_delete(const locks *l)
{
    mrapi_status_t status;
    mrapi_status_t statuses[3];
    mrapi_mutex_delete(l->mutex, &status);
    mrapi_sem_delete(l->sem, &status);
    mrapi_rwl_delete(l->rwl, &status);
    locks_ask(l, statuses);
    return statuses[0] == MRAPI_ERR_MUTEX_DELETED && statuses[1] == MRAPI_ERR_SEM_DELETED &&
                   statuses[2] == MRAPI_ERR_RWL_DELETED
               ? NULL
               : "what was deleted says so";
}

static const char *
tries_exclude_nodes(void)
{
    locks l;
    mrapi_status_t statuses[3];
    const char *broken = locks_make();
    if (broken || !locks_get(&l)) {
        return broken ? broken : "they are found";
    }
    locks_ask(&l, statuses);
    for (uint32_t i = 0; i < 3; i++) {
        counters[i] = 0;
        if (statuses[i] != MRAPI_SUCCESS) {
            return "each has its attribute";
        }
    }
    broken = on_nodes(hart_count(), tries_locks);
    for (uint32_t i = 0; i < 3 && !broken; i++) {
        broken = counters[i] == ROUNDS * hart_count() ? NULL : "no addition is lost";
    }
    return broken ? broken : locks_delete(&l);
}

/* ---- A thread that ends itself --------------------------------------------------------------- */

static mrapi_mutex_hndl_t left_locked;

static const char *
exits(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_key_t key;
    if (self != 0) {
        mrapi_mutex_lock(left_locked, &key, MRAPI_TIMEOUT_INFINITE, &status);
        mrapi_thread_exit(NULL, &status);
        return "a thread ends itself";
    }
    return NULL;
}

/* One after the other holds it, and ends with it. */
static const char *
threads_end_themselves(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    left_locked = mrapi_mutex_create(KEY, NULL, &status);
    const char *broken = on_nodes(hart_count(), exits);
    mrapi_mutex_lock(left_locked, &key, MRAPI_TIMEOUT_INFINITE, &status);
    bool told = status == MRAPI_SUCCESS && medley_lock_owner_died();
    mrapi_mutex_delete(left_locked, &status);
    if (!broken && !told) {
        return "the next one has the mutex, and is told";
    }
    return broken || status == MRAPI_SUCCESS ? broken : "it is deleted";
}

/* ---- Remote memory by way of a copy ---------------------------------------------------------- */

static uint32_t remote[MED_BARE_CORES_MAX][STRIDES];

/* Its row, by several requests. */
static const char *
row_read(mrapi_rmem_hndl_t rmem, mrapi_uint32_t offset, uint32_t *row)
{
    mrapi_status_t status;
    mrapi_request_t requests[STRIDES];
    size_t size;
    const uint32_t word = sizeof *row;
    for (uint32_t i = 0; i < STRIDES; i++) {
        mrapi_rmem_read_i(rmem, offset + i * word, row, i * word, word, 1, word, word, &requests[i],
                          &status);
        if (status != MRAPI_SUCCESS) {
            return "a request is made";
        }
    }
    for (uint32_t left = STRIDES; left > 0; left--) {
        mrapi_uint_t done = mrapi_wait_any(left, requests, &size, MRAPI_TIMEOUT_INFINITE, &status);
        if (status != MRAPI_SUCCESS || done >= left || size != word) {
            return "one of several requests ends";
        }
        requests[done] = requests[left - 1];
    }
    return NULL;
}

static const char *
writes_by_copy(mrapi_node_t self)
{
    mrapi_status_t status;
    uint32_t row[STRIDES];
    uint32_t back[STRIDES] = {0};
    mrapi_uint32_t offset = self * (mrapi_uint32_t)sizeof row;
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(KEY, MRAPI_RMEM_SWCACHE, &status);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_SWCACHE, &status);
    if (status != MRAPI_SUCCESS) {
        return "every node attaches";
    }
    for (uint32_t i = 0; i < STRIDES; i++) {
        row[i] = self * STRIDES + i + 1;
    }
    mrapi_rmem_write(rmem, offset, row, 0, sizeof row[0], STRIDES, sizeof row[0], sizeof row[0],
                     &status);
    mrapi_rmem_flush(rmem, &status);
    if (status != MRAPI_SUCCESS || __builtin_memcmp(remote[self], row, sizeof row) != 0) {
        return "what is flushed is there";
    }
    const char *broken = row_read(rmem, offset, back);
    if (!broken && __builtin_memcmp(back, row, sizeof row) != 0) {
        broken = "what was written is read";
    }
    mrapi_rmem_synch(rmem, &status);
    mrapi_rmem_sync(rmem, &status);
    if (!broken && status != MRAPI_SUCCESS) {
        broken = "what was read is forgotten";
    }
    mrapi_rmem_detach(rmem, &status);
    return broken || status == MRAPI_SUCCESS ? broken : "every node detaches";
}

static const char *
copies_are_flushed(void)
{
    mrapi_status_t status;
    mrapi_rmem_attributes_t attributes;
    mrapi_boolean_t shared = MRAPI_FALSE;
    mrapi_rmem_init_attributes(&attributes, &status);
    mrapi_rmem_set_attribute(&attributes, MRAPI_DOMAIN_SHARED, &shared, sizeof shared, &status);
    mrapi_rmem_hndl_t rmem =
        mrapi_rmem_create(KEY, remote, MRAPI_RMEM_SWCACHE, &attributes, sizeof remote, &status);
    if (status != MRAPI_SUCCESS) {
        return "it is made";
    }
    shared = MRAPI_TRUE;
    mrapi_rmem_get_attribute(rmem, MRAPI_DOMAIN_SHARED, &shared, sizeof shared, &status);
    const char *broken = shared ? "it has its attribute" : on_nodes(hart_count(), writes_by_copy);
    mrapi_rmem_delete(rmem, &status);
    return broken || status == MRAPI_SUCCESS ? broken : "it is deleted";
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* The first of that type, from `resource` down; NULL: there is none. */
static mrapi_resource_t *
resource_find(mrapi_resource_t *resource, mrapi_rsrc_filter_t type)
{
    mrapi_resource_t *found = resource->resource_type == type ? resource : NULL;
    for (mrapi_uint_t i = 0; i < resource->child_count && !found; i++) {
        found = resource_find(resource->children[i], type);
    }
    return found;
}

static mrapi_status_t
count(mrapi_resource_t *resource, mrapi_uint_t attribute, mrapi_uint64_t *value)
{
    mrapi_status_t status;
    mrapi_dynamic_attribute_start(resource, attribute, NULL, &status);
    if (status != MRAPI_SUCCESS) {
        return status;
    }
    mrapi_dynamic_attribute_reset(resource, attribute, &status);
    mrapi_resource_get_attribute(resource, attribute, value, sizeof *value, &status);
    mrapi_status_t was_read = status;
    mrapi_dynamic_attribute_stop(resource, attribute, &status);
    return was_read == MRAPI_SUCCESS ? status : was_read;
}

static const char *
system_is_counted(mrapi_resource_t *tree)
{
    mrapi_uint64_t value = 0;
    mrapi_resource_t *lock = resource_find(tree, MEDLEY_RSRC_LOCK);
    mrapi_resource_t *node = resource_find(tree, MEDLEY_RSRC_NODE);
    if (!lock || !node) {
        return "the system has a node and a lock";
    }
    if (count(tree, MEDLEY_RSRC_USED_BYTES, &value) != MRAPI_SUCCESS || value == 0) {
        return "bytes in use are told";
    }
    if (count(lock, MEDLEY_RSRC_SLEEPS, &value) != MRAPI_SUCCESS || value != 0 ||
        count(node, MEDLEY_RSRC_SLEEPS, &value) != MRAPI_SUCCESS || value != 0) {
        return "sleeps are counted";
    }
    for (mrapi_uint_t a = MEDLEY_RSRC_TIME_NS; a <= MEDLEY_RSRC_CACHE_MISSES; a++) {
        if (count(node, a, &value) != MRAPI_ERR_NOT_SUPPORTED) {
            return "a processor counts nothing";
        }
    }
    return NULL;
}

static const char *
what_is_counted_says_so(void)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(KEY, NULL, &status);
    mrapi_resource_t *tree = mrapi_resources_get(MEDLEY_RSRC_SYSTEM, &status);
    const char *broken = tree ? system_is_counted(tree) : "there is a tree";
    if (tree) {
        mrapi_resource_tree_free(&tree, &status);
    }
    mrapi_mutex_delete(mutex, &status);
    return broken || status == MRAPI_SUCCESS ? broken : "the mutex is deleted";
}

/* ---- The rest -------------------------------------------------------------------------------- */

static const char *
a_node_has_no_attributes(void)
{
    mrapi_status_t status;
    mrapi_node_attributes_t attributes;
    mrapi_uint_t value = 0;
    char text[MRAPI_MAX_STATUS_SIZE];
    mrapi_node_init_attributes(&attributes, &status);
    mrapi_node_set_attribute(&attributes, 0, &value, sizeof value, &status);
    if (status != MRAPI_ERR_ATTR_NUM) {
        return "none can be set";
    }
    mrapi_node_get_attribute(0, 0, &value, sizeof value, &status);
    if (status != MRAPI_ERR_ATTR_NUM) {
        return "none can be read";
    }
    mrapi_set_debug_level(1);
    if (!mrapi_display_status(status, text, sizeof text) ||
        __builtin_strcmp(text, "MRAPI_ERR_ATTR_NUM") != 0) {
        return "a status has its name";
    }
    return NULL;
}

static const char *
shared_memory_tells_its_size(void)
{
    mrapi_status_t status;
    mrapi_uint_t size = 0;
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(KEY, 1000, NULL, 0, NULL, 0, &status);
    mrapi_shmem_get_attribute(shmem, MRAPI_SHMEM_SIZE, &size, sizeof size, &status);
    bool told = status == MRAPI_SUCCESS && size == 1000;
    mrapi_shmem_delete(shmem, &status);
    return told && status == MRAPI_SUCCESS ? NULL : "its size is told";
}

const med_port_check call_checks[] = {
    {"bits are each hart's own", bits_are_each_harts_own},
    {"delays last", delays_last},
    {"tries exclude nodes", tries_exclude_nodes},
    {"threads end themselves", threads_end_themselves},
    {"copies are flushed", copies_are_flushed},
    {"what is counted says so", what_is_counted_says_so},
    {"a node has no attributes", a_node_has_no_attributes},
    {"shared memory tells its size", shared_memory_tells_its_size},
};
const uint32_t call_check_count = sizeof call_checks / sizeof call_checks[0];
