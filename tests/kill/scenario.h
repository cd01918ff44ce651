/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations of a node, killed at any instruction: the system around them, and what must hold of it
 * after each kill.
 *
 * The tester itself is the survivor, node 1. Where the operation is about being the first or the
 * last in a system, it stays outside until the child is dead. Mutexes 1 to 3 are there before each
 * kill and made anew after it.
 *
 *   step_..._test [scenario]    all of them, or the one of that name
 */
#ifndef MEDLEY_TESTS_KILL_SCENARIO_H
#define MEDLEY_TESTS_KILL_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "mrapi.h"
#include "support/process.h"
#include "support/step_kill.h"

enum {
    DOMAIN = 1,
    SURVIVOR = 1,
    CHILD = 2,
    SLEEPER = 3,
    VICTIM = 4,
    THREAD = 102, /* a node that the child starts */
    MUTEXES = 3
};

/* Somebody else, who sleeps for what the child gives back, or dies with. */
typedef struct scenario_sleeper {
    /* In his process: takes it and gives it back. 'd': its former owner had died, 'n': nobody may
     * have it, else 'o'. */
    char (*take)(void);
    /* In the tester's: does somebody sleep for it? */
    bool (*is_wanted)(void);
    /* With the child stopped: what the sleeper is to say. */
    char (*expect)(void);
    void (*had)(void); /* he has said it; may be NULL */
} scenario_sleeper;

extern const scenario_sleeper sleeps_for_mutex; /* number 1 */

typedef struct scenario {
    const char *name;
    step_operation operation;
    bool alone;             /* the tester is outside until the child is dead */
    bool fail;              /* MEDLEY_MUTEX_ON_DEATH=fail, else recover */
    bool holds_all;         /* at each instruction somebody dead, or about to die, has each mutex */
    mrapi_uint_t attribute; /* of the mutexes; 0: none */
    const scenario_sleeper *sleeper;
    void (*before)(void); /* the tester, with the child at its marker */
    void (*asleep)(void); /* the tester, when the child sleeps */
    void (*after)(void);  /* the tester, before anything else after the kill */
} scenario;

/* What `main` of a family of operations does. */
int scenarios_main(
    int argc, char **argv, const char *family, const scenario *scenarios, uint32_t count);

/* Ends the test, or the child, with a word on what and when, unless it succeeded. */
void must(mrapi_status_t status, const char *what);
/* Another process, which kills itself in the middle of what it does, for others to recover. */
void former_dies(int (*victim)(test_process *parent, void *argument));

/* Is that the node of that number, of this system's domain? */
bool is_node(uint32_t node_ref, mrapi_node_t number);

/* Such a process is killed in the middle of its operation, as soon as `there` holds: the tester
 * asks after each call until `call` holds, then after each instruction. */
void former_dies_in(const step_operation *operation, bool (*call)(void), bool (*there)(void));

/* ---- What the tester does -------------------------------------------------------------------- */

/* Has mutex 1 until it gives it back, at the latest before the kill. */
void tester_locks(void);
void tester_unlocks(void);

/* ---- What children do, before their operation or as it --------------------------------------- */

void node_up(mrapi_node_t node);
void node_down(void);

void child_up(void);
/* In the system, without being a node; and a node besides. */
void child_attached(void);
void child_attached_up(void);
/* A node, with mutex 1 in hand; has locked it; has locked all. */
void child_up_first(void);
void child_locks_first(void);
void child_locks_all(void);

void op_lock(void);
void op_lock_in_vain(void); /* gives up after a while */
void op_unlock(void);
void op_delete(void);
/* Twice, and back. */
void op_recursive(void);

/* Starts a node, number THREAD, that does that. */
void thread_start(void *(*body)(void *));
void *returns_at_once(void *argument);

/* ---- Who has died before --------------------------------------------------------------------- */

/* A process that held all there is to hold: the mutexes, the tables, and a row half made. */
void victim_dies(void);
/* What it held comes free. */
void op_recover(void);

#endif
