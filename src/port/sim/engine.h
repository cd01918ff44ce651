/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The simulator from inside: one world, in which one run of one scenario goes on at a time. All of
 * it is run by one thread of the host; nothing here is atomic.
 *
 * Words
 *   fiber     a stack of its own and what the simulated processor knows
 *   point     where another fiber may go on: before every atomic operation and call of the port
 *   event     where a fiber may be killed: a point, or before a plain write to simulated memory
 *   place     the number of a byte of simulated memory, the same for all who map it
 *   choice    one thing that may happen one way or another; 0 is the ordinary way
 */
#ifndef MEDLEY_PORT_SIM_ENGINE_H
#define MEDLEY_PORT_SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "port/port.h"
#include "random.h"
#include "run.h"
#include "sim.h"

/* ---- Fibers ---------------------------------------------------------------------------------- */

typedef enum sim_state {
    SIM_ABSENT,
    SIM_READY,
    SIM_WAITING, /* for a word, a bell, another's end; perhaps with a deadline */
    SIM_ENDED,
    SIM_KILLED,
} sim_state;

typedef struct sim_fiber {
    void *stack; /* its pointer, while another runs */
    uint32_t number;
    uint32_t process;
    sim_state state;
    sim_view view;     /* its own entry: how far it is itself */
    sim_view released; /* the view at its last release fence */
    sim_view pending;  /* what its relaxed loads could have acquired; for an acquire fence */
    uint32_t choices[SIM_CHOICES];
    uint32_t priority; /* higher runs first, under that strategy */
    bool mortal;
    uint32_t waits_for; /* a place, or SIM_NOWHERE */
    const struct sim_fiber *joins;
    bool watches;       /* waits for any death */
    uint32_t queued_at; /* the place of a lock of the kernel's that it waits for, or SIM_NOWHERE */
    uint32_t thread_id;
    uint64_t deadline_ns;
    bool timed_out;
    void *self;
    void *member;
    bool detached;
    void *(*entry)(void *);
    void *argument;
    void *result;
} sim_fiber;

/* Makes a fiber that will run `entry(argument)`; its maker's steps happened before. */
sim_fiber *sim_fiber_start(uint32_t process, void *(*entry)(void *), void *argument);
_Noreturn void sim_fiber_end(void *result);
/* Waits for its end, by whatever means; all it did is visible. */
void sim_fiber_join(const sim_fiber *fiber);
/* The running one waits until somebody makes it ready; false: its deadline passed. */
bool sim_fiber_wait(uint64_t deadline_ns);
void sim_fiber_wake(sim_fiber *fiber);
void sim_process_kill(uint32_t process);
void sim_fibers_begin(void);

/* Before an atomic operation. `pc`: where it stands. */
void sim_point(uintptr_t pc);
/* Where a fiber does nothing but let time pass: another one goes on, if there is one. */
void sim_pass(void);
void sim_event(void);
_Noreturn void sim_fail(sim_failure_kind kind, const char *what, uintptr_t pc, uintptr_t other_pc);
/* From now on what the processor refuses of a run is a failure of the run (crash.c). */
bool sim_crashes_begin(void);
/* Ends the run, which is none of the program's. */
_Noreturn void sim_discard(void);

void sim_switch(void **from, void *to); /* switch.S */

/* ---- Choices --------------------------------------------------------------------------------- */

/* The running fiber's next choice of this kind: 0, or with `chance` (of 65536) one of 1 to count-1.
 */
uint32_t sim_choose(sim_choice_kind kind, uint32_t count, uint32_t chance);
/* The same, where a strategy knows what to choose. */
uint32_t sim_choose_this(sim_choice_kind kind, uint32_t value);
void sim_choices_begin(const sim_order *order);

/* ---- Memory ---------------------------------------------------------------------------------- */

#define SIM_NOWHERE UINT32_MAX
#define SIM_VIEW_SHIFT 24
#define SIM_VIEW_BYTES (1u << SIM_VIEW_SHIFT)
#define SIM_CACHED_AT (SIM_VIEW_BYTES - SIM_CACHED_BYTES) /* the end of each view */
#define SIM_PRIVATE_SHIFT 21
#define SIM_PRIVATE_BYTES (1u << SIM_PRIVATE_SHIFT)
#define SIM_GLOBALS_BYTES (1u << 18)
#define SIM_STACK_BYTES (1u << 18)
/* Places: the shared memory, then each process's private memory, then its globals. */
#define SIM_PRIVATE_AT SIM_VIEW_BYTES
#define SIM_GLOBALS_AT (SIM_PRIVATE_AT + SIM_PROCESSES_MAX * SIM_PRIVATE_BYTES)
#define SIM_PLACES (SIM_GLOBALS_AT + SIM_PROCESSES_MAX * SIM_GLOBALS_BYTES)

/* Where the byte at `address` is; SIM_NOWHERE: on a stack, in notes, outside. Fails the run when it
 * is another process's, or nobody's. */
uint32_t sim_place(const void *address, uintptr_t pc);
void *sim_shared_address(uint32_t process, uint32_t place);
uintptr_t sim_private_base(uint32_t process);

/* The pages of each process's shared memory that lie in a segment which it has not mapped. */
#define SIM_PAGE_BYTES 4096u
extern bool sim_unmapped[SIM_PROCESSES_MAX][SIM_VIEW_BYTES / SIM_PAGE_BYTES];

/* Names, sections, slots: shared.c. */
void sim_shared_begin(void);
/* Of which this fiber was. */
void sim_shared_process_died(const sim_fiber *fiber);
/* So many bytes of the shared memory, until the run ends; SIM_NOWHERE: there is no more. */
uint32_t sim_shared_take(size_t size_bytes);
/* segment.c. */
void sim_segments_begin(void);

/* Locks of the kernel's: pi.c. */
void sim_pi_begin(void);
/* What it had goes to who waits for it, and it waits for nothing any more. */
void sim_pi_thread_ended(sim_fiber *fiber);

/* ---- Atomics and races ----------------------------------------------------------------------- */

typedef enum sim_access {
    SIM_READS = 0,
    SIM_WRITES = 1,
    SIM_READS_ATOMICALLY = 2,
    SIM_WRITES_ATOMICALLY = 3,
} sim_access;

/* Does it race with an earlier access of another fiber? */
void sim_race_check(uint32_t place, uint32_t bytes, sim_access access, uintptr_t pc);

/* By plain accesses of the running fiber, word by word. */
void sim_plain_copy(void *target, const void *source, size_t bytes, uintptr_t pc);

/* Caches that are not coherent: cache.c. */
static inline bool
sim_is_cached(uint32_t place)
{
    return place >= SIM_CACHED_AT && place < SIM_VIEW_BYTES;
}
void sim_caches_begin(void);
void sim_caches_empty(void);
/* Before a plain access of the running fiber there. */
void sim_cache_access(uint32_t place, size_t bytes, bool writes);
/* Perhaps a line of the running fiber's process goes, or comes. */
void sim_cache_stir(void);
/* By the copy engine, past any cache. */
void sim_engine_copy(void *target, const void *source, size_t bytes, uintptr_t pc);

void sim_history_begin(void);
uint64_t sim_history_load(void *address, uint32_t place, uint32_t bytes, int order, uintptr_t pc);
void sim_history_store(
    void *address, uint32_t place, uint32_t bytes, uint64_t value, int order, uintptr_t pc);
/* Reads the newest and puts `value(old, operand)`. */
typedef uint64_t (*sim_change)(uint64_t old, uint64_t operand);
uint64_t sim_history_change(void *address,
                            uint32_t place,
                            uint32_t bytes,
                            sim_change change,
                            uint64_t operand,
                            int order,
                            uintptr_t pc);
bool sim_history_swap(void *address,
                      uint32_t place,
                      uint32_t bytes,
                      uint64_t *expected,
                      uint64_t desired,
                      int order,
                      int failure_order,
                      uintptr_t pc);
/* What the fiber stored, and comes late, is there now. */
void sim_history_settle(const sim_fiber *fiber);
/* Somebody wrote there by plain stores. */
void sim_history_forget(uint32_t place, uint32_t bytes);
void sim_fence(sim_fiber *fiber, int order);
/* The fiber's steps so far are told apart from those to come. */
void sim_step(sim_fiber *fiber);

/* Loads of stores that are made later: early.c. */
void sim_early_begin(void);
/* A relaxed load of the running fiber, that would return *value. True: it is early, and returns
 * another. */
bool sim_early_load(uint32_t place, uint32_t bytes, uint64_t *value);
/* Before the running fiber has to do with that place; and before a fence that acquires. */
void sim_early_touch(uint32_t place, uint32_t bytes);
void sim_early_fence(const sim_fiber *fiber);
/* Was it that store that was loaded early? Then the step of the load's fiber; else 0. */
uint32_t sim_early_stored(const sim_fiber *writer, uint32_t place, uint32_t bytes, uint64_t value);
bool sim_early_is_pending(void);

/* ---- The world ------------------------------------------------------------------------------- */

#define SIM_PROCESS_ID_FIRST 1000u /* the number of the first process of each space */

typedef struct sim_process {
    uintptr_t base;    /* where its copy of the program is loaded */
    uintptr_t globals; /* its variables, */
    size_t globals_bytes;
    void *globals_fresh; /* and what they were at first */
    const sim_scenario *const *scenarios;
    uint32_t private_used;
    void (*on_thread_exit)(void *self);
    void (*on_member_exit)(void *member);
    bool killed;
} sim_process;

typedef struct sim_world {
    uintptr_t views; /* of process 0; the others' follow, then the private memories, the stacks */
    sim_process processes[SIM_PROCESSES_MAX];
    uint32_t process_count;
    void *notes;

    const sim_scenario *scenario;
    const sim_order *order;
    uint32_t run; /* counts them; whatever is of another run does not count */
    sim_numbers numbers;
    sim_settings settings;
    sim_fiber fibers[SIM_FIBERS_MAX];
    uint32_t fiber_count;
    sim_fiber *current;
    sim_fiber *actors[SIM_ACTORS_MAX];
    uint32_t mourned; /* bit i: that actor's death was told to one who watches */
    uint32_t waiting; /* how many fibers are */
    bool alone;       /* the director is at work: nothing else happens */
    uint64_t now_ns;
    uint32_t steps;
    uint32_t lowest; /* priority */
    uintptr_t pc;    /* of the last point, or plain write */
    uint32_t deaths;
    uint32_t death_victim; /* SIM_NOWHERE: nobody is to be killed */
    uint32_t death_in;     /* so many of its events */
    sim_clock fences;      /* what sequentially consistent fences have shown */
    uint32_t total;        /* sequentially consistent operations so far */
    void *outside;         /* stack of whoever called sim_run */
    sim_outcome *outcome;
    uint64_t points; /* of all runs */
} sim_world;

extern sim_world sim;

/* Each space numbers its processes by itself: from 0 on, which space a process is in, and its
 * number there. */
static inline uint32_t
sim_spaces(void)
{
    return sim.scenario->spaces ? sim.scenario->spaces : 1;
}

static inline uint32_t
sim_space_of(uint32_t process)
{
    return process % sim_spaces();
}

static inline uint32_t
sim_process_id(uint32_t process)
{
    return SIM_PROCESS_ID_FIRST + process / sim_spaces();
}

/* What the simulator counted per place of the program where an atomic operation stands. */
extern uint8_t sim_sites[SIM_PROGRAM_BYTES]; /* bits: run.h */
extern uint8_t sim_weak[SIM_PROGRAM_BYTES];  /* sim_weakening */

static inline uint32_t
sim_site_of(uintptr_t pc)
{
    uintptr_t site = pc - sim.processes[sim.current->process].base;
    return site < SIM_PROGRAM_BYTES ? (uint32_t)site : 0;
}

/* What happened last, for the report. */
void sim_trace(sim_trace_kind kind, uint32_t place, uint64_t value, uintptr_t pc);
void sim_trace_load(uint32_t place, uint64_t value, bool old, uintptr_t pc);

#endif
