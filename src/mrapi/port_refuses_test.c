/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a call says when the machine refuses what it needs, at each point where it can: no memory,
 * no turn at a table, no counter, no such thread, no priority inheritance, no barrier of the
 * process. Nothing is left of it, and the same call does its work when the machine does. The port's
 * functions, and the lock of tables, are replaced, for this program (-Wl,--wrap).
 */
#include "mrapi/heap_return.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/segments.h"
#include "support/unit.h"

#define FAR_BYTES 256u
#define LARGE 2000000u /* nobody keeps such a block */
#define THREAD 30

/* ---- The machine ----------------------------------------------------------------------------- */

/* So often is the table of shared memories to be had; then one has it who is stopped. */
static uint32_t turns_left = UINT32_MAX;
/* So many allocations succeed; then one does not. */
static uint32_t allocations_left = UINT32_MAX;
static bool refused_one;
static medley_status_t threads_give, counters_give;
static bool has_no_pi;
static bool has_no_barrier;

void *__real_med_port_heap_take(size_t size_bytes);
void *__wrap_med_port_heap_take(size_t size_bytes);
medley_status_t __real_med_port_memory_map(size_t size_bytes, void **memory);
medley_status_t __wrap_med_port_memory_map(size_t size_bytes, void **memory);
medley_status_t __real_med_port_counter_open(med_port_counter *counter);
medley_status_t __wrap_med_port_counter_open(med_port_counter *counter);
medley_status_t __real_med_port_thread_start(med_port_thread *thread,
                                             const med_port_thread_attributes *attributes,
                                             void *(*entry)(void *),
                                             void *argument);
medley_status_t __wrap_med_port_thread_start(med_port_thread *thread,
                                             const med_port_thread_attributes *attributes,
                                             void *(*entry)(void *),
                                             void *argument);
medley_status_t __real_med_table_lock(const med_table_view *view);
medley_status_t __wrap_med_table_lock(const med_table_view *view);
bool __real_med_port_pi_supported(void);
bool __wrap_med_port_pi_supported(void);
bool __real_med_port_barrier_heavy(med_port_scope scope);
bool __wrap_med_port_barrier_heavy(med_port_scope scope);

static bool
allocates(void)
{
    if (allocations_left == 0) {
        allocations_left = UINT32_MAX;
        refused_one = true;
        return false;
    }
    allocations_left -= allocations_left != UINT32_MAX;
    return true;
}

void *
__wrap_med_port_heap_take(size_t size_bytes)
{
    return allocates() ? __real_med_port_heap_take(size_bytes) : NULL;
}

medley_status_t
__wrap_med_port_memory_map(size_t size_bytes, void **memory)
{
    return allocates() ? __real_med_port_memory_map(size_bytes, memory) : MEDLEY_ERR_NO_MEMORY;
}

medley_status_t
__wrap_med_port_counter_open(med_port_counter *counter)
{
    return counters_give == MEDLEY_OK ? __real_med_port_counter_open(counter) : counters_give;
}

medley_status_t
__wrap_med_port_thread_start(med_port_thread *thread,
                             const med_port_thread_attributes *attributes,
                             void *(*entry)(void *),
                             void *argument)
{
    return threads_give == MEDLEY_OK
               ? __real_med_port_thread_start(thread, attributes, entry, argument)
               : threads_give;
}

medley_status_t
__wrap_med_table_lock(const med_table_view *view)
{
    if (turns_left == UINT32_MAX || view != &med_self_get()->system->shmems) {
        return __real_med_table_lock(view);
    }
    if (turns_left == 0) {
        return MEDLEY_TIMEOUT;
    }
    turns_left--;
    return __real_med_table_lock(view);
}

bool
__wrap_med_port_pi_supported(void)
{
    return !has_no_pi && __real_med_port_pi_supported();
}

bool
__wrap_med_port_barrier_heavy(med_port_scope scope)
{
    return __real_med_port_barrier_heavy(scope) && !has_no_barrier;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Asks for the first allocation of a call to be refused, then the second, until none is; each that
 * is must give that code. How many were. */
static uint32_t
refused_at_each(mrapi_status_t (*call)(void), mrapi_status_t code)
{
    for (uint32_t n = 0;; n++) {
        allocations_left = n;
        refused_one = false;
        mrapi_status_t status = call();
        allocations_left = UINT32_MAX;
        if (!refused_one) {
            assert_int_equal(status, MRAPI_SUCCESS);
            return n;
        }
        assert_int_equal(status, code);
    }
}

static mrapi_status_t
makes_heap_memory(void)
{
    mrapi_status_t status, deleted;
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    mrapi_shmem_hndl_t heap =
        mrapi_shmem_create_malloc(MRAPI_SHMEM_ID_ANY, LARGE, &attributes, &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_shmem_delete(heap, &deleted);
        assert_int_equal(deleted, MRAPI_SUCCESS);
    } else {
        assert_int_equal(heap, MRAPI_RETURN_VALUE_INVALID);
    }
    return status;
}

static mrapi_rmem_hndl_t rmem;

static mrapi_status_t
attaches_by_a_cache(void)
{
    mrapi_status_t status, detached;
    mrapi_rmem_attach(rmem, MRAPI_RMEM_SWCACHE, &status);
    mrapi_rmem_detach(rmem, &detached);
    assert_int_equal(detached,
                     status == MRAPI_SUCCESS ? MRAPI_SUCCESS : MRAPI_ERR_RMEM_NOTATTACHED);
    return status;
}

static mrapi_status_t
gets_a_tree(void)
{
    mrapi_status_t status, freed;
    mrapi_resource_t *root = mrapi_resources_get(MEDLEY_RSRC_SYSTEM, &status);
    if (status == MRAPI_SUCCESS) {
        mrapi_resource_tree_free(&root, &freed);
        assert_int_equal(freed, MRAPI_SUCCESS);
    } else {
        assert_null(root);
    }
    return status;
}

static mrapi_resource_t *system_tree;

static mrapi_status_t
starts_a_count(void)
{
    mrapi_status_t status, stopped;
    mrapi_dynamic_attribute_start(system_tree, MEDLEY_RSRC_USED_BYTES, NULL, &status);
    mrapi_dynamic_attribute_stop(system_tree, MEDLEY_RSRC_USED_BYTES, &stopped);
    assert_int_equal(stopped, status == MRAPI_SUCCESS ? MRAPI_SUCCESS : MRAPI_ERR_RSRC_NOTSTARTED);
    return status;
}

static void
no_memory(void **state)
{
    static unsigned char far[FAR_BYTES];
    mrapi_status_t status;
    (void)state;
    assert_true(refused_at_each(makes_heap_memory, MRAPI_ERR_MEM_LIMIT) >= 2);
    rmem = mrapi_rmem_create(1, far, MRAPI_RMEM_SWCACHE, NULL, FAR_BYTES, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(refused_at_each(attaches_by_a_cache, MRAPI_ERR_MEM_LIMIT), 1);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_true(refused_at_each(gets_a_tree, MRAPI_ERR_MEM_LIMIT) >= 2);
    system_tree = mrapi_resources_get(MEDLEY_RSRC_SYSTEM, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(refused_at_each(starts_a_count, MRAPI_ERR_MEM_LIMIT), 1);
}

/* ---- One who is stopped ---------------------------------------------------------------------- */

#define KEY 9u

/* Another stops, with the table of shared memories, after each of the times that a call has it:
 * what was begun is not there. */
static void
no_turn(void **state)
{
    mrapi_status_t status = MRAPI_TIMEOUT, got;
    mrapi_shmem_hndl_t shmem = MRAPI_RETURN_VALUE_INVALID;
    mrapi_shmem_attributes_t attributes;
    (void)state;
    mrapi_shmem_init_attributes(&attributes, &got);
    attributes.use_malloc = MCA_FALSE;
    for (uint32_t turns = 0; status != MRAPI_SUCCESS; turns++) {
        turns_left = turns;
        shmem = mrapi_shmem_create_malloc(KEY, LARGE, &attributes, &status);
        turns_left = UINT32_MAX;
        if (status != MRAPI_SUCCESS) {
            assert_int_equal(status, MRAPI_TIMEOUT);
            assert_int_equal(shmem, MRAPI_RETURN_VALUE_INVALID);
            (void)mrapi_shmem_get(KEY, &got);
            assert_int_equal(got, MRAPI_ERR_SHM_ID_INVALID);
            assert_int_equal(segments_count(test_system_name()), 0);
        }
    }
    memset(attributes.mem_addr, 1, LARGE);
    mrapi_shmem_detach(shmem, &got);
    assert_int_equal(got, MRAPI_SUCCESS);
    mrapi_shmem_delete(shmem, &got);
    assert_int_equal(got, MRAPI_SUCCESS);
}

/* ---- The others ------------------------------------------------------------------------------ */

static mrapi_status_t
count_status(mrapi_uint_t attribute)
{
    mrapi_status_t status, asked;
    mrapi_uint64_t value;
    mrapi_resource_t *nodes = system_tree->children[0];
    mrapi_dynamic_attribute_start(nodes->children[0], attribute, NULL, &status);
    mrapi_resource_get_attribute(nodes->children[0], attribute, &value, sizeof value, &asked);
    assert_int_equal(asked, status == MRAPI_SUCCESS ? MRAPI_SUCCESS : MRAPI_ERR_RSRC_NOTSTARTED);
    mrapi_dynamic_attribute_stop(nodes->children[0], attribute, &asked);
    return status;
}

static void
no_counter(void **state)
{
    mrapi_status_t status;
    (void)state;
    system_tree = mrapi_resources_get(MEDLEY_RSRC_SYSTEM, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    counters_give = MEDLEY_BUSY;
    assert_int_equal(count_status(MEDLEY_RSRC_CYCLES), MRAPI_ERR_RSRC_COUNTER_INUSE);
    counters_give = MEDLEY_ERR_NOT_SUPPORTED;
    assert_int_equal(count_status(MEDLEY_RSRC_CYCLES), MRAPI_ERR_NOT_SUPPORTED);
    counters_give = MEDLEY_ERR_NOT_FOUND; /* its thread has ended by now */
    assert_int_equal(count_status(MEDLEY_RSRC_CYCLES), MRAPI_ERR_NODE_INVALID);
    counters_give = MEDLEY_OK;
    assert_int_equal(count_status(MEDLEY_RSRC_TIME_NS), MRAPI_SUCCESS);
}

static void *
ends_at_once(void *argument)
{
    return argument;
}

/* Whose number is free afterwards. */
static void
no_thread(void **state)
{
    static const struct {
        medley_status_t refusal;
        mrapi_status_t code;
    } cases[] = {{MEDLEY_ERR_NOT_SUPPORTED, MRAPI_ERR_NOT_SUPPORTED},
                 {MEDLEY_ERR_ARGUMENT, MRAPI_ERR_PARAMETER},
                 {MEDLEY_ERR_ACCESS, MRAPI_ERR_NODE_INITFAILED},
                 {MEDLEY_ERR_NO_MEMORY, MRAPI_ERR_NODE_INITFAILED},
                 {MEDLEY_OK, MRAPI_SUCCESS}};
    mrapi_thread_parameters_t parameters = {.start_routine = ends_at_once};
    mrapi_status_t status;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        threads_give = cases[i].refusal;
        mrapi_thread_create(DOMAIN, THREAD, &parameters, &status);
        assert_int_equal(status, cases[i].code);
    }
    mrapi_thread_join(DOMAIN, THREAD, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
no_priority_inheritance(void **state)
{
    mrapi_status_t status;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_attributes_t attributes;
    (void)state;
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(&attributes, MEDLEY_MUTEX_PRIORITY_INHERITANCE, &yes, sizeof yes,
                              &status);
    has_no_pi = true;
    assert_int_equal(mrapi_mutex_create(5, &attributes, &status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    has_no_pi = false;
    delete_mutex(mrapi_mutex_create(5, NULL, &status)); /* the number is free */
}

#define BLOCKS 1000u

static mrapi_shmem_hndl_t blocks[BLOCKS];

static void *
deletes_blocks(void *argument)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    for (uint32_t i = 0; i < BLOCKS && status == MRAPI_SUCCESS; i++) {
        mrapi_shmem_delete(blocks[i], &status);
    }
    return status == MRAPI_SUCCESS ? argument : NULL;
}

/* How many of its blocks others deleted, and left to it. */
static uint32_t
returned_blocks(void)
{
    const med_self *self = med_self_get();
    uint32_t count = 0;
    uint32_t next = med_heap_returns_first(atomic32_load_acquire(&self->heap->returned));
    while (next != MED_HEAP_RETURNS_NONE) {
        next = med_heap_slot_at(&self->system->heap, next - 1)->returned_next;
        count++;
    }
    return count;
}

/* Who may not take over what others made leaves it to them, however much it is. */
static void
no_barrier(void **state)
{
    mrapi_shmem_attributes_t attributes = {.use_malloc = MCA_TRUE};
    mrapi_thread_parameters_t parameters = {.start_routine = deletes_blocks, .arg = blocks};
    mrapi_status_t status;
    void *done;
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        blocks[i] = mrapi_shmem_create_malloc(7, 64, &attributes, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    has_no_barrier = true;
    mrapi_thread_create(DOMAIN, THREAD, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN, THREAD, &done, &status);
    has_no_barrier = false;
    assert_ptr_equal(done, blocks);
    assert_int_equal(returned_blocks(), BLOCKS);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_memory, node_up, node_down),
        cmocka_unit_test_setup_teardown(no_turn, node_up, node_down),
        cmocka_unit_test_setup_teardown(no_counter, node_up, node_down),
        cmocka_unit_test_setup_teardown(no_thread, node_up, node_down),
        cmocka_unit_test_setup_teardown(no_priority_inheritance, node_up, node_down),
        cmocka_unit_test_setup_teardown(no_barrier, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests_name("what the port refuses", tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
