/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Remote memory between processes: whose memory it is, and what is left when one of them dies. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "medley/medley.h"
#include "mrapi/rmem.h"
#include "mrapi/rmem_window.h"
#include "mrapi/system.h"
#include "support/check.h"
#include "support/emulated.h"
#include "support/node.h"
#include "support/process.h"
#include "support/system.h"
#include "support/unit.h"

#define OWNER 1
#define USER 2
#define NUMBER 5
#define BYTES (300u << 10)
#define SOME 100u

static unsigned char far[BYTES]; /* each process has its own at the same address */
static unsigned char near[BYTES];

static unsigned char
pattern(uint32_t i)
{
    return (unsigned char)(i * 5 + i / 256);
}

/* Does what it is told, a letter at a time: 'c' says what the letter's byte of its memory is now,
 * 'd' deletes, and says whether that went well. */
static int
owner(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_rmem_atype_t access = *(const mrapi_rmem_atype_t *)argument;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    child_expect(initialize(OWNER) == MRAPI_SUCCESS);
    for (uint32_t i = 0; i < BYTES; i++) {
        far[i] = pattern(i);
    }
    mrapi_rmem_hndl_t rmem = mrapi_rmem_create(NUMBER, far, access, NULL, BYTES, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'r');
    for (char order; (order = process_hear(parent)) != 0;) {
        if (order == 'd') {
            mrapi_rmem_delete(rmem, &status);
            process_say(parent, status == MRAPI_SUCCESS ? 'y' : 'n');
        } else {
            process_say(parent, (char)far[SOME]);
        }
    }
    return 0;
}

static test_process child;

/* Attached to what that owner has. */
static mrapi_rmem_hndl_t
up_with(int (*body)(test_process *parent, void *argument), mrapi_rmem_atype_t access)
{
    mrapi_status_t status;
    process_start(&child, body, &access);
    assert_int_equal(process_hear(&child), 'r');
    child_expect(initialize(USER) == MRAPI_SUCCESS);
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(NUMBER, access, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_rmem_attach(rmem, access, &status);
    if (status == MRAPI_ERR_NOT_SUPPORTED) {
        not_possible_here("the kernel lets no process into another's memory");
    }
    assert_int_equal(status, MRAPI_SUCCESS);
    return rmem;
}

static mrapi_rmem_hndl_t
owner_up(mrapi_rmem_atype_t access)
{
    return up_with(owner, access);
}

static char
asked(char order)
{
    process_say(&child, order);
    return process_hear(&child);
}

/* Nothing of anybody is left in the registry but what lives. */
static void
all_is_whole(void)
{
    med_system *system = med_self_get()->system;
    check_settle(system);
    assert_int_equal(check_system(system), 0);
}

static int
node_ends(void **state)
{
    mrapi_status_t status;
    (void)state;
    (void)process_join(&child);
    mrapi_finalize(&status);
    return 0;
}

static mrapi_status_t
read_in(mrapi_rmem_hndl_t rmem, uint32_t offset, uint32_t bytes)
{
    mrapi_status_t status;
    memset(near, 0, sizeof near);
    mrapi_rmem_read(rmem, offset, near, 0, bytes, 1, bytes, bytes, &status);
    return status;
}

static mrapi_status_t
write_out(mrapi_rmem_hndl_t rmem, uint32_t offset, unsigned char value)
{
    mrapi_status_t status;
    mrapi_rmem_write(rmem, offset, &value, 0, 1, 1, 1, 1, &status);
    return status;
}

static void
moved_by(mrapi_rmem_atype_t access)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmem = owner_up(access);
    for (uint32_t bytes = 1; bytes <= BYTES - 7; bytes = bytes * 5 + 3) {
        assert_int_equal(read_in(rmem, 7, bytes), MRAPI_SUCCESS);
        for (uint32_t i = 0; i < bytes; i++) {
            assert_int_equal(near[i], pattern(i + 7));
        }
        assert_int_equal(near[bytes], 0);
    }
    mrapi_rmem_read(rmem, 1, near, 0, 2, 300, 1000, 2, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    for (uint32_t i = 0; i < 600; i++) {
        assert_int_equal(near[i], pattern(1 + i / 2 * 1000 + i % 2));
    }
    assert_int_equal(write_out(rmem, SOME, 201), MRAPI_SUCCESS);
    if (access == MRAPI_RMEM_SWCACHE) {
        assert_int_equal((unsigned char)asked('c'), pattern(SOME));
        mrapi_rmem_flush(rmem, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    assert_int_equal((unsigned char)asked('c'), 201);
    assert_int_equal(far[SOME], 0); /* ours is another */
    assert_int_equal(asked('d'), 'n');
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(asked('d'), 'y');
    all_is_whole();
}

static void
moved_plainly(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    moved_by(MRAPI_RMEM_DUMMY);
}

static void
moved_by_engine(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    moved_by(MRAPI_RMEM_DMA);
}

static void
moved_through_a_cache(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    moved_by(MRAPI_RMEM_SWCACHE);
}

static void
not_waited_for(void **state)
{
    mrapi_status_t status;
    mrapi_request_t request;
    size_t size = 0;
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    mrapi_rmem_hndl_t rmem = owner_up(MRAPI_RMEM_DUMMY);
    mrapi_rmem_read_i(rmem, 0, near, 0, BYTES, 1, BYTES, BYTES, &request, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(mrapi_wait(&request, &size, MRAPI_TIMEOUT_INFINITE, &status), MRAPI_TRUE);
    assert_int_equal(size, BYTES);
    assert_int_equal(near[BYTES - 1], pattern(BYTES - 1));
}

static void
the_owner_dies(void **state)
{
    static const uint32_t sizes[] = {1, BYTES};
    mrapi_status_t status;
    (void)state;
    mrapi_rmem_hndl_t rmem = owner_up(MRAPI_RMEM_DUMMY);
    process_kill(&child);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(read_in(rmem, 0, sizes[i]), MRAPI_ERR_RMEM_INVALID);
        assert_int_equal(near[0], 0);
    }
    (void)med_process_recover_all(med_self_get()->system);
    (void)mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_ID_INVALID);
    assert_int_equal(read_in(rmem, 0, 1), MRAPI_ERR_RMEM_INVALID);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
    all_is_whole();
    assert_int_equal(atomic32_load_relaxed(&med_self_get()->system->rmem_attachments.table->used),
                     0);
}

/* ---- What the owner itself could not do ------------------------------------------------------ */

#define PAGE 65536u /* or a multiple of what the machine has */

/* 'n' closes its memory to itself; 'w' says whether it is as it was made. */
static int
owner_protects(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    unsigned char *memory =
        mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* zeros */
    child_expect(memory != MAP_FAILED && initialize(OWNER) == MRAPI_SUCCESS);
    (void)mrapi_rmem_create(NUMBER, memory, MRAPI_RMEM_ATYPE_ANY, NULL, PAGE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'r');
    for (char order; (order = process_hear(parent)) != 0;) {
        bool good = mprotect(memory, PAGE, order == 'n' ? PROT_NONE : PROT_READ) == 0;
        for (uint32_t i = 0; order == 'w' && i < PAGE; i++) {
            good &= memory[i] == 0;
        }
        process_say(parent, good ? 'y' : 'n');
    }
    return 0;
}

typedef struct shape {
    uint32_t row_bytes;
    uint32_t rows;
} shape;

/* Into the owner's memory, whatever stands between. */
static mrapi_status_t
write_shape(mrapi_rmem_hndl_t rmem, const shape *s, mrapi_rmem_atype_t access)
{
    mrapi_status_t status;
    memset(near, 0x55, sizeof near);
    mrapi_rmem_write(rmem, 0, near, 0, s->row_bytes, s->rows, s->row_bytes, s->row_bytes, &status);
    if (access == MRAPI_RMEM_SWCACHE) {
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_rmem_flush(rmem, &status);
    }
    return status;
}

static mrapi_status_t
write_shape_later(mrapi_rmem_hndl_t rmem, const shape *s, mrapi_rmem_atype_t access)
{
    mrapi_status_t status;
    mrapi_request_t request;
    if (access == MRAPI_RMEM_SWCACHE) {
        return MRAPI_ERR_RMEM_INVALID; /* what waits in the cache is flushed by a call */
    }
    mrapi_rmem_write_i(rmem, 0, near, 0, s->row_bytes, s->rows, s->row_bytes, s->row_bytes,
                       &request, &status);
    return status;
}

static mrapi_status_t
read_shape(mrapi_rmem_hndl_t rmem, const shape *s)
{
    mrapi_status_t status;
    mrapi_rmem_read(rmem, 0, near, 0, s->row_bytes, s->rows, s->row_bytes, s->row_bytes, &status);
    return status;
}

static void
protection_seen_by(mrapi_rmem_hndl_t rmem, mrapi_rmem_atype_t access)
{
    static const shape shapes[] = {{1, 1}, {4, 1}, {16384, 1}, {PAGE, 1}, {4, 2}, {100, 200}};
    mrapi_status_t status;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        mrapi_rmem_attach(rmem, access, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal(read_shape(rmem, &shapes[i]), MRAPI_SUCCESS);
        assert_int_equal(write_shape(rmem, &shapes[i], access), MRAPI_ERR_RMEM_INVALID);
        assert_int_equal(write_shape_later(rmem, &shapes[i], access), MRAPI_ERR_RMEM_INVALID);
        mrapi_rmem_detach(rmem, &status);
        mrapi_rmem_attach(rmem, access, &status);
        assert_int_equal(asked('n'), 'y');
        assert_int_equal(read_shape(rmem, &shapes[i]), MRAPI_ERR_RMEM_INVALID);
        assert_int_equal(write_shape(rmem, &shapes[i], access), MRAPI_ERR_RMEM_INVALID);
        assert_int_equal(write_shape_later(rmem, &shapes[i], access), MRAPI_ERR_RMEM_INVALID);
        mrapi_rmem_detach(rmem, &status);
        assert_int_equal(asked('w'), 'y');
    }
}

static void
the_owners_protection_holds(void **state)
{
    mrapi_status_t status;
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    mrapi_rmem_hndl_t rmem = up_with(owner_protects, MRAPI_RMEM_DUMMY);
    mrapi_rmem_detach(rmem, &status);
    protection_seen_by(rmem, MRAPI_RMEM_DUMMY);
    protection_seen_by(rmem, MRAPI_RMEM_DMA);
    protection_seen_by(rmem, MRAPI_RMEM_SWCACHE);
}

/* ---- Another program under the owner's number ------------------------------------------------ */

#define AS_ANOTHER "--as-another-program"

/* Has memory where the one before had it: 'c' says what its first byte is. */
static int
another_program(const char *where)
{
    test_process parent = {.in = STDIN_FILENO, .out = STDOUT_FILENO};
    void *wanted = (void *)(uintptr_t)strtoull(where, NULL, 16);
    const unsigned char *memory =
        mmap(wanted, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    process_say(&parent, memory == wanted ? 'e' : 'n');
    while (process_hear(&parent) == 'c') {
        process_say(&parent, memory[0] == 0 ? 'y' : 'n');
    }
    return 0;
}

static int
owner_executes(test_process *parent, void *argument)
{
    mrapi_status_t status;
    char where[20];
    (void)argument;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)snprintf(where, sizeof where, "%" PRIxPTR, (uintptr_t)memory);
    child_expect(memory != MAP_FAILED && initialize(OWNER) == MRAPI_SUCCESS);
    (void)mrapi_rmem_create(NUMBER, memory, MRAPI_RMEM_DUMMY, NULL, PAGE, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'r');
    (void)process_hear(parent);
    (void)dup2(parent->in, STDIN_FILENO);
    (void)dup2(parent->out, STDOUT_FILENO);
    (void)execl("/proc/self/exe", "rmem_process_test", AS_ANOTHER, where, (char *)NULL);
    return 1;
}

/* What it executes next is not what announced the memory. */
static void
the_owner_becomes_another_program(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    mrapi_rmem_hndl_t rmem = up_with(owner_executes, MRAPI_RMEM_DUMMY);
    assert_int_equal(write_out(rmem, 0, 1), MRAPI_SUCCESS);
    assert_int_equal(asked('e'), 'e');
    assert_int_equal(read_in(rmem, 0, 1), MRAPI_ERR_RMEM_INVALID);
    assert_int_equal(read_in(rmem, 0, PAGE), MRAPI_ERR_RMEM_INVALID);
    assert_int_equal(write_out(rmem, 0, 1), MRAPI_ERR_RMEM_INVALID);
    assert_int_equal(asked('c'), 'y');
}

/* ---- Death, of a cached one and of a user ---------------------------------------------------- */

/* A cache that cannot be flushed any more is lost, and says so. */
static void
the_owner_of_a_cached_one_dies(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_rmem_hndl_t rmem = owner_up(MRAPI_RMEM_SWCACHE);
    assert_int_equal(write_out(rmem, 5, 1), MRAPI_SUCCESS);
    process_kill(&child);
    mrapi_rmem_flush(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
    assert_int_equal(read_in(rmem, 0, 1), MRAPI_ERR_RMEM_INVALID);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
    all_is_whole();
}

/* However it was attached, and though nobody has noticed. */
static void
detached_from_the_dead(void **state)
{
    const mrapi_rmem_atype_t *access = *state;
    mrapi_status_t status;
    mrapi_rmem_hndl_t rmem = owner_up(*access);
    process_kill(&child);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_INVALID);
    mrapi_rmem_detach(rmem, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_NOTATTACHED);
    all_is_whole();
}

static int
user(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    child_expect(initialize(USER) == MRAPI_SUCCESS);
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status);
    child_expect(status == MRAPI_SUCCESS);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    process_say(parent, status == MRAPI_SUCCESS ? 'a' : 'n');
    (void)process_hear(parent);
    return 0;
}

/* Nobody need have noticed: who wants to delete looks. */
static void
a_user_dies(void **state)
{
    mrapi_status_t status;
    (void)state;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    child_expect(initialize(OWNER) == MRAPI_SUCCESS);
    mrapi_rmem_hndl_t rmem = mrapi_rmem_create(NUMBER, far, MRAPI_RMEM_DUMMY, NULL, BYTES, &status);
    process_start(&child, user, NULL);
    char heard = process_hear(&child);
    if (heard == 'a') {
        mrapi_rmem_delete(rmem, &status);
        assert_int_equal(status, MRAPI_ERR_RMEM_ATTACH);
    }
    process_kill(&child);
    mrapi_rmem_delete(rmem, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    all_is_whole();
    if (heard != 'a') {
        not_possible_here("the kernel lets no process into another's memory");
    }
}

/* ---- Rows that lie --------------------------------------------------------------------------- */

static med_rmem_row *
row_of(mrapi_rmem_hndl_t rmem)
{
    const med_table_view *view = &med_self_get()->system->rmems;
    return (med_rmem_row *)(void *)med_table_row(view, med_handle_index(rmem));
}

static mrapi_status_t
attach_again(mrapi_rmem_hndl_t rmem)
{
    mrapi_status_t status;
    mrapi_rmem_detach(rmem, &status);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    return status;
}

/* Whatever a row says, nothing of ours is touched, and nobody crashes. */
static void
rows_that_lie(void **state)
{
    (void)state;
    mrapi_rmem_hndl_t rmem = owner_up(MRAPI_RMEM_DUMMY);
    const med_system *system = med_self_get()->system;
    med_rmem_row *row = row_of(rmem);
    const med_rmem_row good = *row;
    memset(far, 0x11, sizeof far);
    /* Of another PID namespace. */
    atomic32_store_relaxed(&row->process_space, med_port_pi_space() + 1);
    assert_int_equal(attach_again(rmem), MRAPI_ERR_NOT_SUPPORTED);
    *row = good;
    /* Ours, at an address that we never announced. */
    atomic32_store_relaxed(&row->process_ref, system->process_ref);
    if (attach_again(rmem) == MRAPI_SUCCESS) {
        assert_int_not_equal(read_in(rmem, 0, 8), MRAPI_SUCCESS);
    }
    *row = good;
    /* Beyond the partition. */
    atomic32_store_relaxed(&row->extent.place, MED_RMEM_IN_PARTITION);
    assert_int_equal(attach_again(rmem), MRAPI_ERR_RMEM_INVALID);
    *row = good;
    /* Before it, and ending in it: the sum of address and size is a small one. */
    atomic32_store_relaxed(&row->extent.place, MED_RMEM_IN_PARTITION);
    atomic32_store_relaxed(&row->extent.address_low, 64u - BYTES);
    atomic32_store_relaxed(&row->extent.address_high, UINT32_MAX);
    assert_int_equal(attach_again(rmem), MRAPI_ERR_RMEM_INVALID);
    *row = good;
    /* Of nobody. */
    atomic32_store_relaxed(&row->process_ref, UINT32_MAX);
    assert_int_equal(attach_again(rmem), MRAPI_ERR_RMEM_INVALID);
    *row = good;
    /* Where nobody has anything. */
    atomic32_store_relaxed(&row->extent.address_high, 0x7fffffff);
    if (attach_again(rmem) == MRAPI_SUCCESS) {
        assert_int_equal(read_in(rmem, 0, 8), MRAPI_ERR_RMEM_INVALID);
        assert_int_equal(read_in(rmem, 0, BYTES), MRAPI_ERR_RMEM_INVALID);
    }
    *row = good;
    assert_int_equal(attach_again(rmem), MRAPI_SUCCESS);
    assert_int_equal(read_in(rmem, SOME, 1), MRAPI_SUCCESS);
    assert_int_equal(near[0], pattern(SOME));
    for (uint32_t i = 0; i < BYTES; i++) {
        assert_int_equal(far[i], 0x11);
    }
    memset(far, 0, sizeof far);
}

/* ---- In the partition, which both map -------------------------------------------------------- */

/* The name in a header is as good a buffer as any. */
static int
owner_in_partition(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    child_expect(initialize(OWNER) == MRAPI_SUCCESS);
    char *name = med_self_get()->system->header->name;
    (void)mrapi_rmem_create(NUMBER, name, MRAPI_RMEM_DUMMY, NULL, 64, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'r');
    (void)process_hear(parent);
    return 0;
}

static void
in_the_partition(void **state)
{
    mrapi_status_t status;
    (void)state;
    process_start(&child, owner_in_partition, NULL);
    assert_int_equal(process_hear(&child), 'r');
    child_expect(initialize(USER) == MRAPI_SUCCESS);
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(read_in(rmem, 0, 64), MRAPI_SUCCESS);
    assert_string_equal((const char *)near, test_system_name());
    /* Two processes' overlap there too. */
    (void)mrapi_rmem_create(NUMBER + 1, med_self_get()->system->header->name + 63, MRAPI_RMEM_DUMMY,
                            NULL, 1, &status);
    assert_int_equal(status, MRAPI_ERR_RMEM_CONFLICT);
}

/* ---- In a shared memory ---------------------------------------------------------------------- */

#define OFFSET 100u

static int
owner_in_shared_memory(test_process *parent, void *argument)
{
    mrapi_status_t status;
    (void)argument;
    child_expect(initialize(OWNER) == MRAPI_SUCCESS);
    mrapi_shmem_hndl_t shmem = mrapi_shmem_create(NUMBER, 8192, NULL, 0, NULL, 0, &status);
    child_expect(status == MRAPI_SUCCESS);
    unsigned char *memory = mrapi_shmem_attach(shmem, &status);
    child_expect(status == MRAPI_SUCCESS);
    memory[OFFSET + 7] = 77;
    (void)mrapi_rmem_create(NUMBER, memory + OFFSET, MRAPI_RMEM_DUMMY, NULL, 4000, &status);
    child_expect(status == MRAPI_SUCCESS);
    process_say(parent, 'r');
    while (process_hear(parent) == 'c') {
        process_say(parent, (char)memory[OFFSET + 8]);
    }
    return 0;
}

/* Which window, of the attachments' rows, is on a segment of its own? */
static bool
by_segment(void)
{
    const med_system *system = med_self_get()->system;
    bool found = false;
    for (uint32_t i = 0; i < system->limits.rmem_attachments; i++) {
        found |= system->rmem_windows[i].segment != NULL;
    }
    return found;
}

/* Who uses it need not have attached to the shared memory; and keeps it when its owner is gone. */
static void
in_a_shared_memory(void **state)
{
    mrapi_status_t status;
    (void)state;
    process_start(&child, owner_in_shared_memory, NULL);
    assert_int_equal(process_hear(&child), 'r');
    child_expect(initialize(USER) == MRAPI_SUCCESS);
    mrapi_rmem_hndl_t rmem = mrapi_rmem_get(NUMBER, MRAPI_RMEM_DUMMY, &status);
    mrapi_rmem_attach(rmem, MRAPI_RMEM_DUMMY, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_true(by_segment());
    assert_int_equal(read_in(rmem, 7, 1), MRAPI_SUCCESS);
    assert_int_equal(near[0], 77);
    assert_int_equal(write_out(rmem, 8, 88), MRAPI_SUCCESS);
    assert_int_equal(asked('c'), 88);
    assert_int_equal(write_out(rmem, 4000, 1), MRAPI_ERR_RMEM_BUFF_OVERRUN);
    /* A row that lies about where in it is not believed. */
    atomic32_store_relaxed(&row_of(rmem)->segment_offset, 8192 - 3999);
    (void)attach_again(rmem);
    assert_false(by_segment());
    atomic32_store_relaxed(&row_of(rmem)->segment_offset, OFFSET);
    assert_int_equal(attach_again(rmem), MRAPI_SUCCESS);
    assert_true(by_segment());
    process_kill(&child);
    assert_int_equal(write_out(rmem, 8, 89), MRAPI_SUCCESS); /* nobody has noticed */
    (void)med_process_recover_all(med_self_get()->system);
    assert_int_equal(write_out(rmem, 8, 90), MRAPI_ERR_RMEM_INVALID);
    mrapi_rmem_detach(rmem, &status);
    assert_false(by_segment());
    mrapi_shmem_delete(mrapi_shmem_get(NUMBER, &status), &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    all_is_whole();
}

/* A child of fork has nothing of its parent's: it may be a node of its own at once. */
static int
forked(test_process *parent, void *argument)
{
    mrapi_status_t status;
    const mrapi_rmem_hndl_t *rmem = argument;
    (void)parent;
    child_expect(med_self_get() == NULL);
    child_expect(initialize(USER + 1) == MRAPI_SUCCESS);
    mrapi_rmem_read(*rmem, 0, near, 0, 1, 1, 1, 1, &status);
    child_expect(status == MRAPI_ERR_RMEM_NOTATTACHED);
    mrapi_finalize(&status);
    return 0;
}

static void
after_a_fork(void **state)
{
    test_process other;
    (void)state;
    mrapi_rmem_hndl_t rmem = owner_up(MRAPI_RMEM_SWCACHE);
    process_start(&other, forked, &rmem);
    assert_int_equal(process_join(&other), 0);
    assert_int_equal(read_in(rmem, SOME, 1), MRAPI_SUCCESS);
    assert_int_equal(near[0], pattern(SOME));
}

#define DETACHED(access)                                                                           \
    cmocka_unit_test_prestate_setup_teardown(detached_from_the_dead, NULL, node_ends, access)

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], AS_ANOTHER) == 0) {
        return another_program(argv[2]);
    }
    mrapi_rmem_atype_t plain = MRAPI_RMEM_DUMMY, engine = MRAPI_RMEM_DMA,
                       cached = MRAPI_RMEM_SWCACHE;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(moved_plainly, node_ends),
        cmocka_unit_test_teardown(moved_by_engine, node_ends),
        cmocka_unit_test_teardown(moved_through_a_cache, node_ends),
        cmocka_unit_test_teardown(not_waited_for, node_ends),
        cmocka_unit_test_teardown(the_owner_dies, node_ends),
        cmocka_unit_test_teardown(the_owners_protection_holds, node_ends),
        cmocka_unit_test_teardown(the_owner_becomes_another_program, node_ends),
        cmocka_unit_test_teardown(the_owner_of_a_cached_one_dies, node_ends),
        DETACHED(&plain),
        DETACHED(&engine),
        DETACHED(&cached),
        cmocka_unit_test_teardown(a_user_dies, node_ends),
        cmocka_unit_test_teardown(rows_that_lie, node_ends),
        cmocka_unit_test_teardown(in_the_partition, node_ends),
        cmocka_unit_test_teardown(in_a_shared_memory, node_ends),
        cmocka_unit_test_teardown(after_a_fork, node_ends),
    };
    test_system_prepare();
    return cmocka_run_group_tests_name("rmem between processes", tests, NULL, NULL);
}
