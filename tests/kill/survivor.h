/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Deaths among processes of one system, as those see them who stay: what all of these tests do. The
 * tester is the survivor, node 1; everybody else is a process of its own.
 */
#ifndef MEDLEY_TESTS_KILL_SURVIVOR_H
#define MEDLEY_TESTS_KILL_SURVIVOR_H

#include "mrapi.h"
#include "support/node.h"
#include "support/process.h"

#define SURVIVOR 1
#define HOLDER 2
#define SLEEPER_A 3
#define SLEEPER_B 4
#define OTHER 5
#define MUTEX 1
#define STUCK_AFTER_S 60

void node_up(mrapi_node_t node);
void node_down(void);

/* `attribute` 0: none. */
mrapi_mutex_hndl_t mutex_make_numbered(mrapi_uint_t number, mrapi_uint_t attribute);
/* MUTEX. */
mrapi_mutex_hndl_t mutex_make(mrapi_uint_t attribute);
mrapi_mutex_hndl_t mutex_get(void);
void mutex_delete(mrapi_mutex_hndl_t mutex);
/* Takes the mutex and gives it back: 'd' its holder had died, 'o' he had not, 'n' nobody gets it,
 * 't' not in time. */
char lock_once(mrapi_mutex_hndl_t mutex, mrapi_timeout_t timeout_us);

/* What one has, or wants, of the semaphore and the reader/writer lock of a number. */
typedef enum want {
    UNIT,
    READ,
    WRITE
} want;

/* One unit, one reader: whoever comes second waits. */
void sharing_make(mrapi_uint_t number);
void sharing_delete(mrapi_uint_t number);
mrapi_status_t sharing_take(want what, mrapi_uint_t number, mrapi_timeout_t timeout_us);
/* Takes it and gives it back: 'd' somebody had died, 'o' nobody had, 'n' nobody gets it, 't' not in
 * time. */
char sharing_once(want what, mrapi_uint_t number, mrapi_timeout_t timeout_us);

/* Priority inheritance is the kernel's: where it has no such futex (an emulator's) there is nothing
 * that these tests could look at, which they say; mrapi's unit tests see it refused there. */
#define PI MEDLEY_MUTEX_PRIORITY_INHERITANCE
#define WAITERS_BIT 0x80000000u /* the kernel's, in such a word */
#define WITHOUT_PI_SKIP()                                                                          \
    do {                                                                                           \
        if (!med_port_pi_supported()) {                                                            \
            not_possible_here("no priority-inheritance futex");                                    \
        }                                                                                          \
    } while (0)

/* A process that holds the mutex until it is killed. */
void holder_start(test_process *holder);
/* One that waits for it, without end; then says what lock_once gave. */
void sleeper_start(test_process *sleeper, mrapi_node_t node);
/* The same, but on return it is only about to. */
void sleeper_begin(test_process *sleeper, mrapi_node_t node);

/* For cmocka: the survivor comes, with MEDLEY_MUTEX_ON_DEATH=recover or fail, and goes, the last
 * one. */
int survivor_up(void **state);
int survivor_up_fail(void **state);
int survivor_down(void **state);
#define WITH_SURVIVOR(test) cmocka_unit_test_setup_teardown(test, survivor_up, survivor_down)
#define WITH_SURVIVOR_FAIL(test)                                                                   \
    cmocka_unit_test_setup_teardown(test, survivor_up_fail, survivor_down)

/* The checker finds nothing. */
void system_is_whole(void);
/* Whatever lies under the name of the system, somebody can start there. */
void next_start_works(void);
/* For process_start: stays in the section of the name, where everybody who opens it must pass. */
int section_keeper(test_process *parent, void *argument);

#endif
