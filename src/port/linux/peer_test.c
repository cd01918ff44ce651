/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Another process's memory: reached while that process lives, and never another's. */
#include <fcntl.h>
#include <sys/prctl.h>

#include "port/port.h"
#include "support/emulated.h"
#include "support/process.h"
#include "support/unit.h"

#define BYTES (3u << 20)

/* One that the child has and we have, at the same address, but not in common. */
static unsigned char *mine;
static test_process child;
static bool child_lives;

static unsigned char
sum_of_mine(void)
{
    unsigned char sum = 0;
    for (uint32_t i = 0; i < BYTES; i++) {
        sum = (unsigned char)(sum + mine[i]);
    }
    return sum;
}

static int
child_body(test_process *parent, void *argument)
{
    (void)argument;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    for (uint32_t i = 0; i < BYTES; i++) {
        mine[i] = (unsigned char)(i * 7 + i / 251);
    }
    process_say(parent, 'r');
    while (process_hear(parent) == 's') {
        process_say(parent, (char)sum_of_mine());
    }
    return 0;
}

static bool
is_alive(void *context)
{
    (void)context;
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

static unsigned char
childs(uint32_t i)
{
    return (unsigned char)(i * 7 + i / 251);
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
    process_say(&child, 's');
    return (unsigned char)process_hear(&child);
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

/* Its number says nothing: who the caller takes for dead is not touched. */
static void
not_the_process_that_is_meant(void **state)
{
    (void)state;
    med_port_peer peer = peer_of_child();
    child_lives = false;
    peer.alive_ns = 0; /* not asked just now */
    const med_port_peer_copy copy = {.local = mine,
                                     .remote = (uint64_t)(uintptr_t)mine,
                                     .row_bytes = BYTES,
                                     .rows = 1,
                                     .write = true};
    unsigned char before = sum_of_child();
    assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_ERR_PEER_DIED);
    assert_int_equal(sum_of_child(), before);
    med_port_peer_close(&peer);
    assert_int_equal(med_port_peer_open((uint32_t)child.pid, &peer), MEDLEY_ERR_PEER_DIED);
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

/* What it executes next is not what was opened. */
static int
child_executes(test_process *parent, void *argument)
{
    (void)argument;
    process_say(parent, 'r');
    (void)process_hear(parent);
    (void)dup2(parent->in, STDIN_FILENO);
    (void)dup2(parent->out, STDOUT_FILENO);
    (void)execl("/bin/sh", "sh", "-c", "printf e; read ignored", (char *)NULL);
    return 1;
}

static void
another_program_is_another_memory(void **state)
{
    test_process other;
    unsigned char byte;
    (void)state;
    process_start(&other, child_executes, NULL);
    assert_int_equal(process_hear(&other), 'r');
    med_port_peer peer = {.alive = is_alive};
    medley_status_t status = med_port_peer_open((uint32_t)other.pid, &peer);
    const med_port_peer_copy copy = {
        .local = &byte, .remote = (uint64_t)(uintptr_t)mine, .row_bytes = 1, .rows = 1};
    if (status == MEDLEY_OK) {
        assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_OK);
        process_say(&other, 'e');
        assert_int_equal(process_hear(&other), 'e');
        assert_int_equal(med_port_peer_copy_run(&peer, &copy), MEDLEY_ERR_PEER_DIED);
        med_port_peer_close(&peer);
    }
    (void)process_join(&other);
    if (status == MEDLEY_ERR_ACCESS) {
        not_possible_here("the kernel lets no process into another's memory");
    }
    assert_int_equal(status, MEDLEY_OK);
}

static void
no_process(void **state)
{
    (void)state;
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
        cmocka_unit_test_setup_teardown(not_the_process_that_is_meant, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(the_dead_have_no_memory, child_starts, child_ends),
        cmocka_unit_test_setup_teardown(another_program_is_another_memory, child_starts,
                                        child_ends),
        cmocka_unit_test_setup_teardown(no_process, child_starts, child_ends),
    };
    return cmocka_run_group_tests_name("peer", tests, NULL, NULL);
}
