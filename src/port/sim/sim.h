/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The simulator, as scenarios see it. docs/design/sim.md says what it is.
 *
 * Words
 *   scenario  a small program over some structure: what is made, who does what, what must be true
 *   actor     a thread of a scenario; each in a virtual process of its own unless the scenario
 *             says otherwise
 *   director  makes the memory ready before the actors begin, and checks it after they have ended
 *   notes     memory that all actors see and the simulator does not look at: what the scenario
 *             knows of the truth. Several accesses to notes are one step, up to the next atomic
 *             operation, call of the port, or write to simulated memory
 *   seed      decides everything that may happen one way or another
 */
#ifndef MEDLEY_PORT_SIM_SIM_H
#define MEDLEY_PORT_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_FIBERS_MAX 16 /* the director, actors, and the threads they start */
#define SIM_ACTORS_MAX 12
#define SIM_PROCESSES_MAX 8
#define SIM_NOTES_BYTES 65536u
#define SIM_CACHED_BYTES 4096u

typedef struct sim_actor {
    uint32_t index; /* from 0; the director: UINT32_MAX */
    void *memory;   /* shared, zeroed at first; where this actor's process sees it */
    void *cached;   /* the same, where each process sees it through a cache of its own, that others
                       do not look into: docs/design/sim.md; `cached_bytes` of it */
    void *notes;    /* zeroed at first */
} sim_actor;

typedef struct sim_variable {
    const char *name;
    const char *value;
} sim_variable;

typedef struct sim_scenario {
    const char *name;
    const char *covers; /* files, and functions, whose orders its mutants weaken: "wait read()" */
    uint32_t memory_bytes;
    uint32_t cached_bytes; /* up to SIM_CACHED_BYTES */
    uint32_t actors;
    uint32_t deaths;    /* so many actors may be killed, at most; some seeds kill none */
    uint32_t mortal;    /* bit i: actor i may be */
    bool sees_late;     /* loads return old values more often: for what only several of them show */
    bool stores_late;   /* a store may come later than what stands behind it: in each seed */
    bool loads_early;   /* a load may return what another stores later: the same; twice the runs */
    bool long_lived;    /* much is done before what it is about: deaths come late, too */
    bool one_process;   /* the actors are threads of one process */
    uint32_t spaces;    /* of process numbers; the actors' processes are in each in turn. 0: one */
    bool times_out;     /* waits may end by their deadline; else only when somebody was killed */
    bool waits_forever; /* mutants: a wake that is left out must be found, */
    bool wakers_pay;    /* and no heavy barrier, for there is none */
    void (*begin)(const sim_actor *director);
    void (*act)(const sim_actor *actor);
    void (*end)(const sim_actor *director);
    const sim_variable *environment; /* the first of a name counts; ends with {NULL}; or NULL */
} sim_scenario;

/* The scenarios of the world (tests/sim), ending with NULL. */
extern const sim_scenario *const sim_scenarios[];

/* ---- What actors may ask --------------------------------------------------------------------- */

/* 0 to count - 1, as the seed says. */
uint32_t sim_random(uint32_t count);
/* Others may go on here: for who has something, as the notes say, that others should not have
 * meanwhile. Without it what is noted and struck out again is one step, and nobody sees it. */
void sim_linger(void);
/* The caller, who may be, is killed here: where a death at any point would seldom be where it is
 * about. */
_Noreturn void sim_die(void);
/* Is that actor dead? If so, all it did is visible to the caller from now on. */
bool sim_is_dead(uint32_t actor);
/* Has it ended, or is it dead? If so, all it did is visible. */
bool sim_has_ended(uint32_t actor);
/* Waits until that actor has ended or was killed: true when it was killed. All it did is visible.
 */
bool sim_join(uint32_t actor);
/* Waits until an actor has been killed that no other call has returned: its index, and all it did
 * is visible. Or until nobody else is left who could be: UINT32_MAX. */
uint32_t sim_await_death(void);
/* Code that does what `function` does, called the same way, at an address made of one of two upper
 * halves and one of two lower ones. */
typedef void sim_code(void);
sim_code *sim_code_place(uint32_t high, uint32_t low, sim_code *function);
/* The calling thread gets the number of that actor's, which has ended, as one that is made later
 * may. Before it tells anybody its own. */
void sim_take_number_of(uint32_t actor);
/* Ends the run as failed. */
_Noreturn void sim_fail_at(const char *file, int line, const char *what);

#define SIM_CHECK(condition)                                                                       \
    ((condition) ? (void)0 : sim_fail_at(__FILE__, __LINE__, "not true: " #condition))

#endif
