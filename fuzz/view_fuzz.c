/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `medley ps` reads, of a system that is written over: a copy of one in which something of
 * each kind is, in memory that ends with a guard. */
#include "fuzz.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "small.h"
#include "view_all.h"

#define DOMAIN 1
#define ROUNDS 16

static med_system *
begin(void)
{
    static unsigned char memory[256];
    mrapi_status_t status;
    mrapi_key_t key;
    small_limits_set();
    if (medley_system_open(NULL) != MEDLEY_OK || medley_node_adopt(DOMAIN, 1, NULL) != MEDLEY_OK) {
        abort();
    }
    mrapi_mutex_lock(mrapi_mutex_create(1, NULL, &status), &key, 0, &status);
    mrapi_sem_lock(mrapi_sem_create(1, NULL, 4, &status), 0, &status);
    mrapi_rwl_lock(mrapi_rwl_create(1, NULL, 4, &status), MRAPI_RWL_READER, 0, &status);
    (void)mrapi_rmem_create(1, memory, MRAPI_RMEM_ATYPE_DEFAULT, NULL, sizeof memory, &status);
    (void)mrapi_shmem_create(1, 4096, NULL, 0, NULL, 0, &status);
    if (status != MRAPI_SUCCESS) {
        abort();
    }
    return med_self_get()->system;
}

/* The same system in other memory, as who looks from outside sees it. */
static med_system
moved(const med_system *system, char *memory)
{
    med_system seen = *system;
    seen.observed = true;
    seen.header = (med_partition_header *)(void *)memory;
    seen.processes = (med_process_row *)(void *)(memory + seen.layout.processes);
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        med_table_view_init(&seen.tables[k], memory + seen.layout.tables[k],
                            seen.tables[k].row_count, seen.layout.row_bytes[k]);
    }
    return seen;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static med_system *system;
    fuzz_input input = {.bytes = bytes, .left = size};
    system = system ? system : begin();
    size_t size_bytes = system->layout.size_bytes;
    char *memory = fuzz_memory(size_bytes);
    memcpy(memory, system->header, size_bytes);
    med_system seen = moved(system, memory);
    for (int i = 0; i < ROUNDS && input.left; i++) {
        fuzz_scribble(&input, memory, size_bytes);
        view_all(&seen, fuzz_word(&input));
    }
    free(memory);
    return 0;
}
