/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads of teams as nodes of a named system, as `medley ps` shows them: there when they work,
 * gone with their threads, their process and its death; not those of the parent in a child of fork;
 * more of them than the table has room for; and the nodes that the program makes of them. Without a
 * system: nothing of it all. Each in a child, with a system of its own.
 */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcapi.h"
#include "medley/medley.h"
#include "mrapi.h"
#include "support/unit.h"

#define DOMAIN 7

/* ---- What is shown --------------------------------------------------------------------------- */

#define COMMAND_NOT_FOUND 127 /* of a shell */

/* In how many lines of what `medley ps` shows of the system both stand. Without the command no
 * test here would end. */
static int
shown(const char *system, const char *one, const char *other)
{
    char command[512], line[512];
    int count = 0;
    (void)snprintf(command, sizeof command, "%s ps %s 2>&1", MEDLEY_COMMAND, system);
    FILE *output = popen(command, "r");
    while (output && fgets(line, sizeof line, output)) {
        count += strstr(line, one) && strstr(line, other);
    }
    int status = output ? pclose(output) : -1;
    if (status == -1 || WEXITSTATUS(status) == COMMAND_NOT_FOUND) {
        (void)fprintf(stderr, "there is no %s\n", MEDLEY_COMMAND);
        abort();
    }
    return count;
}

/* Nodes that are threads of teams, and nobody's otherwise. */
static int
workers(const char *system)
{
    return shown(system, " runtime ", " running ");
}

/* ---- Children -------------------------------------------------------------------------------- */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);                  \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

/* The call in a process of its own, of that system, or of none. */
static pid_t
start(const char *system, bool (*call)(const char *system))
{
    pid_t child = fork();
    if (child == 0) {
        (void)(system ? setenv("MEDLEY_SYSTEM", system, 1) : unsetenv("MEDLEY_SYSTEM"));
        _exit(call(system) ? 0 : 1);
    }
    return child;
}

static bool
succeeds(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static int
region(int threads)
{
    int came = 0;
#pragma omp parallel num_threads(threads) reduction(+ : came)
    came++;
    return came;
}

/* ---- There, and gone ------------------------------------------------------------------------- */

static bool
are_shown(const char *system)
{
    CHECK(region(4) == 4);
    CHECK(workers(system) == 4);
    for (int i = 0; i < 4; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, " omp.%d ", i);
        CHECK(shown(system, name, " runtime ") == 1);
    }
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int inner = region(3);
        (void)inner;
    }
    CHECK(shown(system, " omp.1.2 ", " runtime ") == 1 && workers(system) == 8);
    omp_set_max_active_levels(1);
    CHECK(omp_pause_resource_all(omp_pause_soft) == 0);
    CHECK(workers(system) == 1);
    CHECK(region(3) == 3 && workers(system) == 3);
    return true;
}

static void *
leads(void *argument)
{
    *(int *)argument = region(3);
    return NULL;
}

static bool
go_with_their_leader(const char *system)
{
    pthread_t thread;
    int came = 0;
    CHECK(region(2) == 2);
    CHECK(pthread_create(&thread, NULL, leads, &came) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(came == 3 && workers(system) == 2);
    return true;
}

static bool
in_child_of_fork(const char *system)
{
    char own[32];
    (void)snprintf(own, sizeof own, " %d ", (int)getpid());
    CHECK(shown(system, own, " omp.") == 0);
    CHECK(region(3) == 3);
    CHECK(shown(system, own, " omp.") == 3);
    return true;
}

static bool
child_has_its_own(const char *system)
{
    CHECK(region(4) == 4);
    pid_t child = fork();
    if (child == 0) {
        _exit(in_child_of_fork(system) ? 0 : 1);
    }
    CHECK(succeeds(child));
    char own[32];
    (void)snprintf(own, sizeof own, " %d ", (int)getpid());
    CHECK(region(4) == 4 && shown(system, own, " runtime ") == 4);
    return true;
}

static void
workers_are_nodes(void **state)
{
    (void)state;
    assert_true(succeeds(start("nodes_shown", are_shown)));
    assert_true(succeeds(start("nodes_leader", go_with_their_leader)));
}

static void
a_child_of_fork_has_nodes_of_its_own(void **state)
{
    (void)state;
#ifdef MEDLEY_TEST_EMULATED
    not_possible_here("the emulator ends at times where a child of several threads starts its own");
#endif
    assert_true(succeeds(start("nodes_fork", child_has_its_own)));
}

static bool
without_system(const char *system)
{
    (void)system;
    CHECK(region(4) == 4);
    CHECK(shown("", "system", "live") == 0);
    return true;
}

static bool
of_a_private_one(const char *system)
{
    CHECK(medley_system_open(NULL) == MEDLEY_OK);
    CHECK(region(4) == 4);
    CHECK(shown(system, "live", "") == 0);
    return true;
}

static bool
of_the_one_opened(const char *system)
{
    (void)system;
    CHECK(medley_system_open("nodes_opened") == MEDLEY_OK);
    CHECK(region(4) == 4 && workers("nodes_opened") == 4);
    return true;
}

static void
who_asked_for_no_system_is_in_none(void **state)
{
    (void)state;
    assert_true(succeeds(start(NULL, without_system)));
    assert_true(succeeds(start("nodes_private", of_a_private_one)));
    assert_true(succeeds(start(NULL, of_the_one_opened)));
}

/* ---- The program's own nodes ----------------------------------------------------------------- */

/* Each thread a node under a number of its own, twice; before and between it is none. */
static int
initialize_each(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    for (int round = 0; round < 2; round++) {
        mrapi_node_t number = 10u + (mrapi_node_t)omp_get_thread_num();
        mrapi_info_t info;
        mrapi_status_t status;
        (void)mrapi_node_id_get(&status);
        wrong += status != MRAPI_ERR_NODE_NOTINIT;
        mrapi_initialize(DOMAIN, number, 0, &info, &status);
        wrong += status != MRAPI_SUCCESS;
        wrong += mrapi_node_id_get(&status) != number || status != MRAPI_SUCCESS;
        mrapi_mutex_hndl_t mutex = mrapi_mutex_create(number, NULL, &status);
        wrong += status != MRAPI_SUCCESS;
        mrapi_mutex_delete(mutex, &status);
        wrong += status != MRAPI_SUCCESS && status != MRAPI_ERR_MUTEX_NOTLOCKED;
        if (round == 0) {
            mrapi_finalize(&status);
            wrong += status != MRAPI_SUCCESS;
        }
#pragma omp barrier
    }
    return wrong;
}

static int
finalize_each(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        mrapi_status_t status;
        mrapi_finalize(&status);
        wrong += status != MRAPI_SUCCESS;
    }
    return wrong;
}

/* A node is a thread: whatever it is called, a thread is there once. */
static bool
program_makes_nodes(const char *system)
{
    CHECK(initialize_each() == 0);
    if (system) {
        CHECK(workers(system) == 0);
        CHECK(shown(system, " omp.", " thread ") == 4 && shown(system, " 7:12 ", " omp.2 ") == 1);
    }
    CHECK(region(4) == 4);
    CHECK(finalize_each() == 0);
    if (system) {
        CHECK(workers(system) == 4 && shown(system, " thread ", " running ") == 0);
    }
    return region(4) == 4;
}

static bool
program_was_first(const char *system)
{
    mrapi_info_t info;
    mrapi_status_t status;
    mrapi_initialize(DOMAIN, 1, 0, &info, &status);
    CHECK(status == MRAPI_SUCCESS);
    CHECK(region(3) == 3);
    CHECK(workers(system) == 2 && shown(system, " 7:1 ", " omp.0 ") == 1);
    mrapi_finalize(&status);
    CHECK(status == MRAPI_SUCCESS && workers(system) == 3);
    return true;
}

/* One node of both standards, in a worker. */
static bool
both_standards_in_a_worker(const char *system)
{
    int wrong = 0;
    (void)system;
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    {
        unsigned number = 20u + (unsigned)omp_get_thread_num();
        mcapi_info_t mcapi_info;
        mrapi_info_t mrapi_info;
        mcapi_status_t status;
        mrapi_status_t mrapi_status;
        mcapi_initialize(DOMAIN, number, NULL, NULL, &mcapi_info, &status);
        wrong += status != MCAPI_SUCCESS;
        mrapi_initialize(DOMAIN, number, 0, &mrapi_info, &mrapi_status);
        wrong += mrapi_status != MRAPI_SUCCESS;
        mcapi_endpoint_t endpoint = mcapi_endpoint_create(1, &status);
        wrong += status != MCAPI_SUCCESS;
#pragma omp barrier
        char letter = (char)omp_get_thread_num(), got = 77;
        size_t length;
        unsigned next = 20u + (unsigned)(omp_get_thread_num() + 1) % 3;
        mcapi_endpoint_t to = mcapi_endpoint_get(DOMAIN, next, 1, MCA_INFINITE, &status);
        mcapi_msg_send(endpoint, to, &letter, 1, 1, &status);
        wrong += status != MCAPI_SUCCESS;
        mcapi_msg_recv(endpoint, &got, 1, &length, &status);
        wrong += status != MCAPI_SUCCESS || got != (omp_get_thread_num() + 2) % 3;
#pragma omp barrier
        mrapi_finalize(&mrapi_status);
        wrong += mrapi_status != MRAPI_SUCCESS;
    }
    return wrong == 0;
}

static void
a_worker_becomes_what_the_program_says(void **state)
{
    (void)state;
    assert_true(succeeds(start("nodes_own", program_makes_nodes)));
    assert_true(succeeds(start("nodes_first", program_was_first)));
    assert_true(succeeds(start("nodes_both", both_standards_in_a_worker)));
}

/* ---- A full table, and death ----------------------------------------------------------------- */

static bool
finds_a_full_table(const char *system)
{
    CHECK(region(8) == 8);
    CHECK(workers(system) == 3);
    CHECK(region(9) == 9);
    return true;
}

static int
lines_with(FILE *file, const char *text)
{
    char line[512];
    int count = 0;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        count += strstr(line, text) != NULL;
    }
    return count;
}

static void
a_full_table_is_said_once(void **state)
{
    FILE *said = tmpfile();
    int before = dup(STDERR_FILENO);
    (void)state;
    assert_non_null(said);
    (void)setenv("MEDLEY_MAX_NODES", "3", 1);
    (void)dup2(fileno(said), STDERR_FILENO);
    bool good = succeeds(start("nodes_full", finds_a_full_table));
    (void)dup2(before, STDERR_FILENO);
    (void)unsetenv("MEDLEY_MAX_NODES");
    (void)close(before);
    assert_true(good);
    assert_int_equal(lines_with(said, "MEDLEY_MAX_NODES"), 1);
    (void)fclose(said);
}

static bool
waits_to_be_killed(const char *system)
{
    (void)system;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody */
#pragma omp parallel num_threads(4)
    {
        if (omp_get_thread_num() == 2) {
            (void)pause(); /* the others are at the region's end */
        }
    }
    return false;
}

/* One thread: more would look for a row, and recover the dead for it. */
static bool
lives_beside_them(const char *system)
{
    (void)system;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)region(1);
    (void)pause();
    return false;
}

static bool
comes_after_them(const char *system)
{
    CHECK(region(4) == 4);
    char own[32];
    (void)snprintf(own, sizeof own, " %d ", (int)getpid());
    CHECK(shown(system, own, " omp.") == 4);
    return true;
}

static void
a_process_is_killed_and_its_nodes_come_free(void **state)
{
    (void)state;
    (void)setenv("MEDLEY_MAX_NODES", "5", 1);
    for (int round = 0; round < 20; round++) {
        pid_t victim = start("nodes_killed", waits_to_be_killed);
        pid_t neighbour = -1;
        int status;
        while (workers("nodes_killed") != 4) {
        }
        if (round % 2) { /* somebody lives in the system meanwhile, and has the last row */
            neighbour = start("nodes_killed", lives_beside_them);
            while (workers("nodes_killed") != 5) {
            }
        }
        assert_int_equal(kill(victim, SIGKILL), 0);
        assert_int_equal(waitpid(victim, &status, 0), victim);
        if (neighbour > 0) {
            /* Four of five rows are a dead one's. */
            assert_int_equal(shown("nodes_killed", " runtime ", " dead "), 4);
        }
        pid_t next = start("nodes_killed", comes_after_them);
        assert_true(succeeds(next));
        if (neighbour > 0) {
            assert_int_equal(kill(neighbour, SIGKILL), 0);
            assert_int_equal(waitpid(neighbour, &status, 0), neighbour);
        }
    }
    (void)unsetenv("MEDLEY_MAX_NODES");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_nodes),
        cmocka_unit_test(a_child_of_fork_has_nodes_of_its_own),
        cmocka_unit_test(who_asked_for_no_system_is_in_none),
        cmocka_unit_test(a_worker_becomes_what_the_program_says),
        cmocka_unit_test(a_full_table_is_said_once),
        cmocka_unit_test(a_process_is_killed_and_its_nodes_come_free),
    };
    return cmocka_run_group_tests_name("nodes", tests, NULL, NULL);
}
