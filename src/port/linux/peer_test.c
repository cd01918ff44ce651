/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Another process's memory: reached while that process lives, and never another's. */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "port/port.h"
#include "support/emulated.h"
#include "support/process.h"
#include "support/unit.h"

#define BYTES (3u << 20)
#define PAGE 65536u /* or a multiple of what the machine has */
#define READ_ONLY (1u << 20)
#define CLOSED (2u << 20)

/* One that the child has and we have, at the same address, but not in common. */
static unsigned char *mine;
static test_process child;
static bool child_lives;
static uint32_t questions; /* whether it lives */

static unsigned char
sum_of_mine(void)
{
    unsigned char sum = 0;
    for (uint32_t i = 0; i < BYTES; i++) {
        sum = (unsigned char)(sum + mine[i]);
    }
    return sum;
}

static unsigned char
childs(uint32_t i)
{
    return (unsigned char)(i * 7 + i / 251);
}

static bool
is_as_made(void)
{
    bool as_made = true;
    for (uint32_t i = 0; i < BYTES; i++) {
        as_made &= mine[i] == childs(i);
    }
    return as_made;
}

/* Of two pages of it. */
static bool
protect(int read_only, int closed)
{
    return mprotect(mine + READ_ONLY, PAGE, read_only) == 0 &&
           mprotect(mine + CLOSED, PAGE, closed) == 0;
}

static char
answer(char order)
{
    switch (order) {
    case 's':
        return (char)sum_of_mine();
    case 'p':
        return protect(PROT_READ, PROT_NONE) ? 'y' : 'n';
    case 'm':
        return protect(PROT_READ, PROT_READ) && is_as_made() ? 'y' : 'n';
    default:
        return 0;
    }
}

static int
child_body(test_process *parent, void *argument)
{
    (void)argument;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    for (uint32_t i = 0; i < BYTES; i++) {
        mine[i] = childs(i);
    }
    process_say(parent, 'r');
    for (char order; (order = process_hear(parent)) != 0;) {
        process_say(parent, answer(order));
    }
    return 0;
}

static bool
is_alive(void *context)
{
    (void)context;
    questions++;
    return child_lives;
}

static med_port_peer
peer_of_child(void)
{
    med_port_peer peer = {.alive = is_alive};
    medley_status_t status = med_port_peer_open((uint32_t)child.pid, &peer);
    if (status == MEDLEY_ERR_ACCESS) {
        not_possible_here("the kernel lets no process into another's memory");
    }
    assert_int_equal(status, MEDLEY_OK);
    return peer;
}

static int
child_starts(void **state)
{
    (void)state;
    void *memory;
    if (med_port_memory_map(BYTES, &memory) != MEDLEY_OK) {
        return -1;
    }
    mine = memory;
    process_start(&child, child_body, NULL);
    child_lives = process_hear(&child) == 'r';
    return child_lives ? 0 : -1;
}

static int
child_ends(void **state)
{
    (void)state;
    (void)process_join(&child);
    med_port_memory_unmap(mine, BYTES);
    return 0;
}

static char
asked(char order)
{
    process_say(&child, order);
    return process_hear(&child);
}

static void
read_in_every_size(void **state)
{
    static const uint32_t sizes[] = {1, 64, 4096, 16384, 16385, 70000, BYTES - 5};
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    med_port_peer peer = peer_of_child();
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        memset(mine, 0, BYTES);
        const med_port_peer_copy copy = {.local = mine + 1,
                                         .remote = (uint64_t)(uintptr_t)(mine + 5),
                                         .row_bytes = sizes[s],
                                         .rows = 1};
        assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_OK);
        for (uint32_t i = 0; i < sizes[s]; i++) {
            assert_int_equal(mine[i + 1], childs(i + 5));
        }
        assert_int_equal(mine[0], 0);
        assert_int_equal(mine[sizes[s] + 1], 0);
    }
    med_port_peer_close(&peer);
}

/* More rows than go into one call. */
static void
read_with_strides(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    med_port_peer peer = peer_of_child();
    const med_port_peer_copy copy = {.local = mine,
                                     .remote = (uint64_t)(uintptr_t)mine,
                                     .row_bytes = 3,
                                     .rows = 1000,
                                     .local_stride_bytes = 4,
                                     .remote_stride_bytes = 1000};
    assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_OK);
    for (uint32_t row = 0; row < copy.rows; row++) {
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(mine[row * 4 + i], childs(row * 1000 + i));
        }
        assert_int_equal(mine[row * 4 + 3], 0);
    }
    med_port_peer_close(&peer);
}

static unsigned char
sum_of_child(void)
{
    return (unsigned char)asked('s');
}

/* What was written is there, and nothing else changed. */
static void
written_in_every_size(void **state)
{
    static const uint32_t sizes[] = {1, 64, 16384, 16385, BYTES - 9};
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    med_port_peer peer = peer_of_child();
    for (uint32_t i = 0; i < BYTES; i++) {
        mine[i] = childs(i);
    }
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        assert_int_equal(sum_of_child(), sum_of_mine());
        for (uint32_t i = 0; i < sizes[s]; i++) {
            mine[9 + i] = (unsigned char)(mine[9 + i] + s + i % 3);
        }
        const med_port_peer_copy copy = {.local = mine + 9,
                                         .remote = (uint64_t)(uintptr_t)(mine + 9),
                                         .row_bytes = sizes[s],
                                         .rows = 1,
                                         .write = true};
        assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_OK);
    }
    assert_int_equal(sum_of_child(), sum_of_mine());
    med_port_peer_close(&peer);
}

static void
nothing_there(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    med_port_peer peer = peer_of_child();
    for (uint32_t bytes = 64; bytes <= 65536; bytes *= 1024) {
        const med_port_peer_copy copy = {
            .local = mine, .remote = 4096, .row_bytes = bytes, .rows = 1};
        assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_ERR_NOT_FOUND);
    }
    med_port_peer_close(&peer);
}

/* Each touches the page. */
static const med_port_peer_copy shapes[] = {
    {.remote = 0, .row_bytes = 1, .rows = 1},
    {.remote = PAGE - 1, .row_bytes = 64, .rows = 1},
    {.remote = 0, .row_bytes = 16384, .rows = 1},
    {.remote = 0, .row_bytes = 70000, .rows = 1},
    {.remote = 8, .row_bytes = 1, .rows = 2, .remote_stride_bytes = 1},
    {.remote = 0, .row_bytes = 2, .rows = 300, .remote_stride_bytes = 1000},
};

/* What goes there differs from what is there in the page, and nowhere else. */
static medley_status_t
shape_run(const med_port_peer_copy *shape, uint32_t page, bool write)
{
    med_port_peer peer = peer_of_child();
    for (uint32_t i = 0; i < BYTES; i++) {
        mine[i] = (unsigned char)(childs(i) ^ (i - page < PAGE ? 0xff : 0));
    }
    med_port_peer_copy copy = *shape;
    copy.local = mine + page + shape->remote;
    copy.remote = (uint64_t)(uintptr_t)copy.local;
    copy.local_stride_bytes = shape->remote_stride_bytes;
    copy.write = write;
    medley_status_t status = med_port_peer_copy_run(&peer, &copy);
    med_port_peer_close(&peer);
    return status;
}

/* In every shape: what the child could not do itself is not done to it. */
static void
protection_holds(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    assert_int_equal(asked('p'), 'y');
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        assert_int_equal(shape_run(&shapes[i], READ_ONLY, false), MEDLEY_OK);
        assert_int_equal(shape_run(&shapes[i], READ_ONLY, true), MEDLEY_ERR_NOT_FOUND);
        assert_int_equal(shape_run(&shapes[i], CLOSED, false), MEDLEY_ERR_NOT_FOUND);
        assert_int_equal(shape_run(&shapes[i], CLOSED, true), MEDLEY_ERR_NOT_FOUND);
    }
    assert_int_equal(asked('m'), 'y');
}

/* Its number says nothing: who the caller takes for dead is not touched. */
static void
not_the_process_that_is_meant(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    med_port_peer peer = peer_of_child();
    child_lives = false;
    med_port_peer_copy copy = {
        .local = mine, .remote = (uint64_t)(uintptr_t)mine, .row_bytes = BYTES, .rows = 1};
    assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_ERR_PEER_DIED);
    unsigned char before = sum_of_child();
    memset(mine, 1, BYTES);
    copy.write = true;
    assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_ERR_PEER_DIED);
    assert_int_equal(sum_of_child(), before);
    med_port_peer_close(&peer);
    assert_int_equal(med_port_peer_open((uint32_t)child.pid, &peer), MEDLEY_ERR_PEER_DIED);
}

/* Seldom while bytes are written quickly; and before any that come a while later. */
static void
asked_now_and_then(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP(); /* as every test here: an emulator may have no such call */
    enum {
        WRITES = 2000
    };
    med_port_peer peer = peer_of_child();
    const med_port_peer_copy copy = {.local = mine,
                                     .remote = (uint64_t)(uintptr_t)mine,
                                     .row_bytes = 64,
                                     .rows = 1,
                                     .write = true};
    questions = 0;
    for (uint32_t i = 0; i < WRITES; i++) {
        assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_OK);
    }
    assert_in_range(questions, 1, WRITES - 1);
    child_lives = false;
    (void)usleep(20000); /* longer than an answer is believed: time itself is under test */
    assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_ERR_PEER_DIED);
    child_lives = true;
    assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_OK);
    med_port_peer_close(&peer);
}

static void
the_dead_have_no_memory(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    med_port_peer peer = peer_of_child();
    process_kill(&child);
    for (uint32_t bytes = 64; bytes <= 65536; bytes *= 1024) {
        const med_port_peer_copy copy = {
            .local = mine, .remote = (uint64_t)(uintptr_t)mine, .row_bytes = bytes, .rows = 1};
        assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_ERR_PEER_DIED);
    }
    med_port_peer_close(&peer);
}

static void
no_process(void **state)
{
    (void)state;
    WITHOUT_OTHER_MEMORY_SKIP();
    med_port_peer peer = {.alive = is_alive};
    assert_int_equal(med_port_peer_open(0, &peer), MEDLEY_ERR_PEER_DIED);
    assert_int_equal(med_port_peer_open(UINT32_MAX, &peer), MEDLEY_ERR_PEER_DIED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(read_in_every_size, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(read_with_strides, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(written_in_every_size, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(nothing_there, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(protection_holds, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(not_the_process_that_is_meant, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(asked_now_and_then, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(the_dead_have_no_memory, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(no_process, child_starts, child_ends),
    };
    return cmocka_run_group_tests_name("peer", tests, NULL, NULL);
}
