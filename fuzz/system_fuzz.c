/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The public calls, with any handles and numbers, in a system that is sound or is written over.
 * What is written is never a plausible lie about who holds a table: that nobody can tell. */
#include "fuzz.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "small.h"

#define DOMAIN 1
#define OPERATIONS 64

static med_system *
begin(void)
{
    small_limits_set();
    if (medley_system_open(NULL) != MEDLEY_OK || medley_node_adopt(DOMAIN, 1, NULL) != MEDLEY_OK) {
        abort();
    }
    return med_self_get()->system;
}

static void
holders_kept_honest(const med_system *system)
{
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        med_table *table = system->tables[k].table;
        uint32_t holder = med_lock_owner(&table->lock);
        if (med_process_ref_index(holder) < system->limits.processes) {
            atomic32_store_relaxed(&table->lock.word, 0);
        }
    }
}

static mrapi_mutex_hndl_t
any_handle(fuzz_input *input)
{
    uint32_t generation = fuzz_take(input, 1);
    uint32_t kind = 1 + (generation & 1);
    return generation == 255
               ? fuzz_word(input)
               : med_handle_make((med_handle_kind)kind, fuzz_below(input, 9), generation >> 5);
}

static void
attributes_any(fuzz_input *input, mrapi_mutex_attributes_t *attributes)
{
    mrapi_status_t status;
    mrapi_boolean_t value = (mrapi_boolean_t)(fuzz_take(input, 1) & 1);
    mrapi_mutex_init_attributes(attributes, &status);
    mrapi_mutex_set_attribute(attributes, fuzz_word(input), &value, sizeof value, &status);
    if (fuzz_take(input, 1) & 1) {
        attributes->set = fuzz_word(input);
    }
}

static mrapi_rmem_hndl_t
any_rmem(fuzz_input *input)
{
    uint32_t generation = fuzz_take(input, 1);
    return generation == 255
               ? fuzz_word(input)
               : med_handle_make(MED_HANDLE_RMEM, fuzz_below(input, 5), generation >> 5);
}

/* Reads only: what is written could become a lie about who holds a table. */
static void
operate_rmem(fuzz_input *input)
{
    static unsigned char memory[1024];
    mrapi_status_t status;
    mrapi_request_t request = fuzz_word(input);
    size_t size;
    unsigned char bytes[256];
    mrapi_rmem_hndl_t rmem = any_rmem(input);
    mrapi_rmem_atype_t access = (mrapi_rmem_atype_t)fuzz_below(input, 5);
    switch (fuzz_below(input, 9)) {
    case 0:
        (void)mrapi_rmem_create(fuzz_below(input, 4), memory + 256 * fuzz_below(input, 3), access,
                                NULL, 1 + fuzz_below(input, 512), &status);
        break;
    case 1:
        (void)mrapi_rmem_get(fuzz_below(input, 4), access, &status);
        break;
    case 2:
        mrapi_rmem_attach(rmem, access, &status);
        break;
    case 3:
        mrapi_rmem_detach(rmem, &status);
        break;
    case 4:
        mrapi_rmem_delete(rmem, &status);
        break;
    case 5:
        mrapi_rmem_read(rmem, fuzz_word(input), bytes, 0, fuzz_below(input, 16),
                        fuzz_below(input, 16), fuzz_word(input), 16, &status);
        break;
    case 6:
        mrapi_rmem_read_i(rmem, fuzz_below(input, 512), bytes, 0, 16, fuzz_below(input, 16),
                          fuzz_below(input, 64), 16, &request, &status);
        (void)mrapi_test(&request, &size, &status);
        break;
    case 7:
        mrapi_rmem_synch(rmem, &status);
        break;
    default:
        (void)mrapi_wait_any(1, &request, &size, 1, &status);
        mrapi_cancel(&request, &status);
        break;
    }
}

static mrapi_shmem_hndl_t
any_memory(fuzz_input *input)
{
    uint32_t generation = fuzz_take(input, 1);
    med_handle_kind kind = generation & 1 ? MED_HANDLE_SHMEM : MED_HANDLE_HEAP;
    return generation == 255 ? fuzz_word(input)
                             : med_handle_make(kind, fuzz_below(input, 9), generation >> 5);
}

static void
memory_attributes_any(fuzz_input *input, mrapi_shmem_attributes_t *attributes)
{
    mrapi_status_t status;
    mrapi_uint_t resource = fuzz_word(input);
    mrapi_shmem_init_attributes(attributes, &status);
    mrapi_shmem_set_attribute(attributes, MRAPI_SHMEM_RESOURCE, &resource, sizeof resource,
                              &status);
    if (fuzz_take(input, 1) & 1) {
        attributes->set = fuzz_word(input);
    }
    attributes->use_malloc = (mrapi_boolean_t)(fuzz_take(input, 1) & 1);
}

/* What is attached is not touched: where it lies may be written over, how large it is too. */
static void
operate_memory(fuzz_input *input)
{
    mrapi_status_t status;
    mrapi_shmem_attributes_t attributes;
    mrapi_uint_t value;
    mrapi_node_t nodes[2] = {1, fuzz_word(input)};
    mrapi_shmem_hndl_t shmem = any_memory(input);
    switch (fuzz_below(input, 8)) {
    case 0:
        memory_attributes_any(input, &attributes);
        (void)mrapi_shmem_create(fuzz_below(input, 4), 1 + fuzz_below(input, 9000), nodes,
                                 fuzz_below(input, 3), &attributes, sizeof attributes, &status);
        break;
    case 1:
        (void)mrapi_shmem_create(fuzz_below(input, 4), 1 + fuzz_below(input, 9000), NULL, 0, NULL,
                                 0, &status);
        break;
    case 2:
        memory_attributes_any(input, &attributes);
        (void)mrapi_shmem_create_malloc(fuzz_below(input, 4), fuzz_below(input, 9000), &attributes,
                                        &status);
        break;
    case 3:
        (void)mrapi_shmem_get(fuzz_below(input, 4), &status);
        break;
    case 4:
        (void)mrapi_shmem_attach(shmem, &status);
        break;
    case 5:
        mrapi_shmem_detach(shmem, &status);
        break;
    case 6:
        mrapi_shmem_delete(shmem, &status);
        break;
    default:
        mrapi_shmem_get_attribute(shmem, fuzz_below(input, 8), &value, sizeof value, &status);
        break;
    }
}

static mrapi_sem_hndl_t
any_of(fuzz_input *input, med_handle_kind kind)
{
    uint32_t generation = fuzz_take(input, 1);
    return generation == 255 ? fuzz_word(input)
                             : med_handle_make(kind, fuzz_below(input, 5), generation >> 5);
}

static void
operate_sem(fuzz_input *input)
{
    mrapi_status_t status;
    mrapi_uint_t value;
    mrapi_sem_hndl_t sem = any_of(input, MED_HANDLE_SEM);
    switch (fuzz_below(input, 8)) {
    case 0:
        (void)mrapi_sem_create(fuzz_below(input, 4), NULL, fuzz_below(input, 6), &status);
        break;
    case 1:
        mrapi_sem_delete(sem, &status);
        break;
    case 2:
        mrapi_sem_lock(sem, 1, &status);
        break;
    case 3:
        (void)mrapi_sem_trylock(sem, &status);
        break;
    case 4:
        (void)mrapi_sem_get(fuzz_below(input, 4), &status);
        break;
    case 5:
        mrapi_sem_get_attribute(sem, fuzz_word(input), &value, sizeof value, &status);
        break;
    default:
        mrapi_sem_unlock(sem, &status);
        break;
    }
}

static void
operate_rwl(fuzz_input *input)
{
    mrapi_status_t status;
    mrapi_rwl_hndl_t rwl = any_of(input, MED_HANDLE_RWL);
    mrapi_uint_t value;
    mrapi_rwl_mode_t mode = (mrapi_rwl_mode_t)fuzz_below(input, 3);
    switch (fuzz_below(input, 8)) {
    case 0:
        (void)mrapi_rwl_create(fuzz_below(input, 4), NULL, fuzz_below(input, 6), &status);
        break;
    case 1:
        mrapi_rwl_delete(rwl, &status);
        break;
    case 2:
        mrapi_rwl_lock(rwl, mode, 1, &status);
        break;
    case 3:
        (void)mrapi_rwl_trylock(rwl, mode, &status);
        break;
    case 4:
        (void)mrapi_rwl_get(fuzz_below(input, 4), &status);
        break;
    case 5:
        mrapi_rwl_get_attribute(rwl, fuzz_word(input), &value, sizeof value, &status);
        break;
    default:
        mrapi_rwl_unlock(rwl, mode, &status);
        break;
    }
}

static void *
thread_runs(void *argument)
{
    return argument;
}

/* Nodes and domains; a thread that came is taken home at once, whatever its row says by then. */
static void
operate_node(fuzz_input *input)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mrapi_uint_t value;
    mrapi_resource_t *tree;
    void *result;
    mrapi_thread_parameters_t thread = {.start_routine = thread_runs};
    mrapi_domain_t domain = 1 + fuzz_below(input, 4);
    mrapi_node_t node = 1 + fuzz_below(input, 4);
    switch (fuzz_below(input, 6)) {
    case 0:
        mrapi_finalize(&status);
        break;
    case 1:
        mrapi_initialize(domain, node, 0, &info, &status);
        break;
    case 2:
        mrapi_thread_create(domain, node, &thread, &status);
        if (status == MRAPI_SUCCESS) {
            mrapi_thread_join(domain, node, &result, &status);
        }
        break;
    case 3:
        mrapi_node_get_attribute(node, fuzz_word(input), &value, sizeof value, &status);
        break;
    case 4:
        mrapi_yield_to(domain, node, &status);
        break;
    default:
        tree = mrapi_resources_get(MEDLEY_RSRC_SYSTEM, &status);
        if (tree) {
            mrapi_resource_tree_free(&tree, &status);
        }
        break;
    }
}

static void
operate(fuzz_input *input, mrapi_key_t *key)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t value;
    mrapi_mutex_hndl_t mutex = any_handle(input);
    switch (fuzz_below(input, 15)) {
    case 13:
    case 14:
        operate_node(input);
        break;
    case 11:
        operate_sem(input);
        break;
    case 12:
        operate_rwl(input);
        break;
    case 0:
        attributes_any(input, &attributes);
        (void)mrapi_mutex_create(fuzz_word(input), &attributes, &status);
        break;
    case 1:
        (void)mrapi_mutex_create(fuzz_below(input, 4), NULL, &status);
        break;
    case 2:
        (void)mrapi_mutex_get(fuzz_below(input, 4), &status);
        break;
    case 3:
        mrapi_mutex_delete(mutex, &status);
        break;
    case 4:
        mrapi_mutex_lock(mutex, key, 1, &status);
        break;
    case 5:
        (void)mrapi_mutex_trylock(mutex, key, &status);
        break;
    case 6:
        mrapi_mutex_unlock(mutex, key, &status);
        break;
    case 7:
        *key = fuzz_word(input);
        break;
    case 8:
    case 9:
        operate_rmem(input);
        break;
    default:
        mrapi_mutex_get_attribute(mutex, fuzz_word(input), &value, sizeof value, &status);
        break;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input input = {.bytes = bytes, .left = size};
    med_system *system = begin();
    mrapi_status_t status;
    mrapi_key_t key = 0;
    bool sound = fuzz_take(&input, 1) & 1;
    for (int i = 0; i < OPERATIONS && input.left; i++) {
        if (!sound && (fuzz_take(&input, 1) & 1)) {
            fuzz_scribble(&input, system->header, system->layout.size_bytes);
            holders_kept_honest(system);
        }
        if (fuzz_take(&input, 1) & 1) {
            operate(&input, &key);
        } else {
            operate_memory(&input);
        }
    }
    mrapi_finalize(&status);
    (void)medley_system_close();
    return 0;
}
