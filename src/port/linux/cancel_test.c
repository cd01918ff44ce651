/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * No function of the port is a point at which a thread is cancelled: each that asks the kernel for
 * something is called by a thread that has been cancelled already, and comes back. The next point
 * is the thread's own.
 */
#include <pthread.h>
#include <unistd.h>

#include "port/port.h"
#include "support/process.h"
#include "support/unit.h"

static char name[MED_PORT_NAME_MAX + 1];
static char word[16] = "a word";

/* ---- What is called -------------------------------------------------------------------------- */

static void
shared_memory(void)
{
    med_port_shared shared;
    child_expect(med_port_shared_open_until(name, MED_PORT_FOREVER, &shared) == MEDLEY_OK);
    child_expect(med_port_shared_resize(&shared, 4096) == MEDLEY_OK);
    child_expect(med_port_shared_map(&shared) == MEDLEY_OK);
    med_port_shared_unlock(&shared);
    child_expect(med_port_slot_claim(&shared, 3) == MEDLEY_OK);
    child_expect(!med_port_slot_held(&shared, 3));
    child_expect(med_port_slot_keep(&shared, 3) == MEDLEY_OK);
    med_port_slot_drop(&shared, 3);
    child_expect(med_port_shared_lock_until(&shared, MED_PORT_FOREVER) == MEDLEY_OK);
    child_expect(med_port_shared_remove(&shared) == MEDLEY_OK);
    med_port_shared_close(&shared);
    child_expect(med_port_shared_open_existing_until(name, 0, &shared) == MEDLEY_ERR_NOT_FOUND);
}

static bool
visit_all(const char *found, void *context)
{
    (void)found;
    (void)context;
    return true;
}

static void
shared_list(void)
{
    child_expect(med_port_shared_list(visit_all, NULL) == MEDLEY_OK);
}

static void
segment(void)
{
    char beside[MED_PORT_PATH_BYTES];
    (void)snprintf(beside, sizeof beside, "%s/medley-%u-%s", med_port_environment("MEDLEY_SHM_DIR"),
                   (unsigned)geteuid(), name);
    med_port_segment made = {.beside = beside, .instance = 1, .number = 2, .size_bytes = 4096};
    child_expect(med_port_segment_create(&made) == MEDLEY_OK);
    med_port_segment_close(&made);
    child_expect(med_port_segment_open(&made) == MEDLEY_OK);
    child_expect(med_port_segment_map(&made) == MEDLEY_OK);
    med_port_segment_close(&made);
    med_port_segment_unmap(made.address, made.size_bytes, made.place);
    med_port_segment_remove(beside, 1, 2);
    med_port_segments_remove(beside, 0);
}

static bool
is_alive(void *context)
{
    (void)context;
    return true;
}

/* An emulator shows no such file of its guest's; what is read does not matter here. */
static void
peer(void)
{
    char read[sizeof word];
    med_port_peer own = {.alive = is_alive};
    const med_port_peer_copy copy = {.local = read,
                                     .remote = (uintptr_t)word,
                                     .row_bytes = sizeof word,
                                     .rows = 1,
                                     .local_stride_bytes = sizeof word,
                                     .remote_stride_bytes = sizeof word};
    if (med_port_peer_open(med_port_process_id(), &own) == MEDLEY_OK) {
        (void)med_port_peer_copy_run(&own, &copy);
        med_port_peer_close(&own);
    }
}

static void
doorbell(void)
{
    med_port_doorbell bell;
    child_expect(med_port_doorbell_create(&bell) == MEDLEY_OK);
    child_expect(med_port_doorbell_wait(bell, 0, NULL) == MEDLEY_TIMEOUT);
    child_expect(med_port_doorbell_ring(bell) == MEDLEY_OK);
    child_expect(med_port_doorbell_wait(bell, MED_PORT_FOREVER, NULL) == MEDLEY_OK);
    med_port_doorbell_destroy(&bell);
}

static void
waits(void)
{
    static const uint32_t zero;
    uint64_t soon_ns = med_port_clock_ns() + 1000000;
    child_expect(med_port_wait(&zero, 0, soon_ns, MED_PORT_SCOPE_SHARED) == MEDLEY_TIMEOUT);
    med_port_delay_ns(1000000);
    med_port_yield();
}

static void *
returns(void *argument)
{
    return argument;
}

static void
thread(void)
{
    med_port_thread started;
    void *result;
    child_expect(med_port_thread_start(&started, NULL, returns, word) == MEDLEY_OK);
    child_expect(med_port_thread_join(started, &result) == MEDLEY_OK);
    child_expect(result == word);
    med_port_barrier_prepare(MED_PORT_SCOPE_SHARED);
    (void)med_port_barrier_heavy(MED_PORT_SCOPE_SHARED);
}

static bool
part_take(void *context, const med_topology_part *part, uint32_t *number)
{
    (void)context;
    (void)part;
    *number = 0;
    return true;
}

static void
machine(void)
{
    char why[MED_PORT_WHY_BYTES];
    med_port_processors processors;
    med_port_scheduling scheduling;
    med_port_grants grants;
    med_topology_sink sink = {.add = part_take};
    child_expect(med_port_processors_discover(&processors) == MEDLEY_OK);
    med_port_scheduling_get(&scheduling);
    med_port_grants_get(&grants);
    child_expect(med_port_topology_read(&sink, why, sizeof why) == MEDLEY_OK);
}

static void
counter(void)
{
    uint64_t value;
    med_port_counter time = {.of_processor = true, .processor = UINT32_MAX};
    med_port_counter cycles = {.kind = MED_PORT_COUNTER_CYCLES, .thread_id = med_port_thread_id()};
    child_expect(med_port_counter_open(&time) == MEDLEY_ERR_NOT_FOUND);
    if (med_port_counter_open(&cycles) == MEDLEY_OK) {
        child_expect(med_port_counter_read(&cycles, &value) == MEDLEY_OK);
        med_port_counter_close(&cycles);
    }
}

static void
surroundings(void)
{
    char bytes[64];
    char why[MED_PORT_WHY_BYTES];
    size_t length;
    void *found;
    child_expect(med_port_file_read("/dev/null", bytes, sizeof bytes, &length) ==
                 MEDLEY_ERR_ARGUMENT);
    child_expect(med_port_module_open("none", "none", &found, why) == MEDLEY_ERR_NOT_FOUND);
    med_port_log("a line");
}

/* ---- By whom --------------------------------------------------------------------------------- */

typedef struct call {
    const char *name;
    void (*make)(void);
    bool came_back;
} call;

static void *
make_while_cancelled(void *argument)
{
    call *c = argument;
    (void)pthread_cancel(pthread_self());
    c->make();
    c->came_back = true;
    pthread_testcancel();
    return NULL;
}

static void
comes_back(void **state)
{
    call *c = *state;
    pthread_t caller;
    void *result;
    (void)snprintf(name, sizeof name, "cancel_test.%d", (int)getpid());
    assert_int_equal(pthread_create(&caller, NULL, make_while_cancelled, c), 0);
    assert_int_equal(pthread_join(caller, &result), 0);
    assert_true(c->came_back);
    assert_ptr_equal(result, PTHREAD_CANCELED);
}

int
main(void)
{
#define CALL(function)                                                                             \
    {                                                                                              \
        .name = #function, .make = function                                                        \
    }
    static call calls[] = {
        CALL(shared_memory), CALL(shared_list), CALL(segment), CALL(peer),    CALL(doorbell),
        CALL(waits),         CALL(thread),      CALL(machine), CALL(counter), CALL(surroundings),
    };
    struct CMUnitTest tests[sizeof calls / sizeof calls[0]];
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        tests[i] = (struct CMUnitTest){calls[i].name, comes_back, NULL, NULL, &calls[i]};
    }
    return cmocka_run_group_tests_name("port/linux/cancel", tests, NULL, NULL);
}
