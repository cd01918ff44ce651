/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The barrier: of a number of members nobody goes on before all have come; what they did before is
 * visible to all of them behind it.
 *
 * Each member says in a line of its own how often it has come, and looks at the others' lines: what
 * the last one says reaches each of them in one transfer of a line. A counter that all of them
 * change takes two, and as many changes of its owner as there are members.
 *
 * Many members lie in groups, and groups in groups, as processors do (a shared cache, a memory
 * node, a domain), of whatever sizes: the first member of each leads it. Members of a group meet;
 * then their leaders, up to the top; then each leader says in one more line that all have come.
 *
 * To come and to wait are two calls, so that who waits can do something else in between: there, or
 * whenever `called` says so. Members are the caller's threads; of their deaths the barrier knows
 * nothing. docs/design/barrier.md.
 */
#ifndef MEDLEY_BASE_BARRIER_H
#define MEDLEY_BASE_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/wait.h"
#include "medley/status.h"
#include "port/port.h"

#define MED_BARRIER_MEMBERS_MAX 65536u
/* Of so many, most of which sleep, each that looks in between takes the processors from those who
 * have to come: their first slice is of 256 ms. 10,000 threads on two processors, a region and a
 * barrier: 0.5 to 0.8 -> 0.2 s. */
#define MED_BARRIER_MANY 1024u
static inline uint32_t
med_barrier_slices_left_out(uint32_t members)
{
    return members >= MED_BARRIER_MANY ? 3 : 0;
}

/* One writer each. Others read of it how often, `processor`, and what it has brought; the rest is
 * of init. */
typedef struct med_barrier_line {
    _Alignas(64) atomic32 come; /* so often */
    atomic32 processor;         /* where it last ran, of a member */
    uint32_t first;             /* line of its group, the leader's; */
    uint32_t count;             /* so many are in that one */
    uint32_t above;             /* that leader's line one level up; 0: this one is at the top */
    uint32_t news;              /* that leader's line that says that all have come */
    void *brought;              /* with that coming: med_barrier_bring */
} med_barrier_line;
_Static_assert(sizeof(med_barrier_line) == 64, "one line of a cache");

typedef struct med_barrier {
    med_wait_crowd wait; /* all who sleep, at whatever level */
    med_port_scope scope;
    uint32_t members;
    uint32_t line_count;
    med_barrier_line lines[]; /* the members', the leaders' level by level, news */
} med_barrier;

/* One per member; its own but where the barrier is begun anew. */
typedef struct med_barrier_member {
    uint32_t index;
    uint32_t come; /* so often */
    uint32_t line; /* where it meets others: its own, or that of a level up */
    /* What it has brought, and how others' are added to that; NULL: it has come with nothing. */
    void *brings;
    void (*combine)(void *into, void *from);
    med_waiter waiter;
    /* The caller's, behind init: as in med_wait_request; and NULL, or called behind each slice that
     * the member has slept. */
    const med_wait_limits *limits;
    void (*slept)(struct med_barrier_member *member);
    /* Likewise: called when one of those it waits for seems to be on its own processor. */
    void (*shares)(struct med_barrier_member *member);
} med_barrier_member;

/* `leads` says of each member how many levels it goes up as a leader, from 0 on: a group of the
 * lowest level begins with each that goes up at least one, a group of these with each that goes up
 * two, and so on. NULL: all are in one group. 0: no such barrier (no members, too many, one who
 * goes further up than the first). */
MED_INNER size_t med_barrier_size(uint32_t members, const uint8_t *leads);
/* In `memory` of that size, at a multiple of 64 bytes. */
MED_INNER void med_barrier_init(med_barrier *barrier,
                                uint32_t members,
                                const uint8_t *leads,
                                med_port_scope scope);
MED_INNER void med_barrier_member_init(med_barrier_member *member, uint32_t index);
/* As after init, and so must be all members: while nobody is between coming and having passed. Who
 * left a wait that `called` ended may have left it for ever. */
void med_barrier_reset(med_barrier *barrier);

/* The member has come. It waits before it comes again. */
MED_INNER void med_barrier_come(med_barrier *barrier, med_barrier_member *member);

/* The same in a barrier with groups, of threads of one process, which all come with something:
 * leaders combine, each what those of his group have brought into his own, in the order of their
 * indices, up to the first member. Behind the wait that has all of it, and nobody looks at the
 * others' any more. */
MED_INNER void med_barrier_bring(med_barrier *barrier,
                                 med_barrier_member *member,
                                 void *what,
                                 void (*combine)(void *into, void *from));

/* Blocks until all have come: true; or until `called(context)`, which is looked at often and must
 * not block: false, and it is to be called again. `called` may be NULL. Who makes `called` true
 * calls med_wait_crowd_wake of `barrier->wait` behind it. */
MED_INNER bool med_barrier_await(med_barrier *barrier,
                                 med_barrier_member *member,
                                 bool (*called)(void *context),
                                 void *context);

/* In the place of await, for the end of what a team does together, of which all but the first
 * member wait for nobody: they have come, and depart, to be told elsewhere when they are wanted
 * again; the first one, who will tell them, passes. Leaders of groups wait for those: `called` as
 * above. So may go who left a wait that was called. A member comes again once it was told. */
MED_INNER bool med_barrier_depart(med_barrier *barrier,
                                  med_barrier_member *member,
                                  bool (*called)(void *context),
                                  void *context);

/* Does one of the others whom a member that departed waits for run on this processor, as far as one
 * knows? The first member once all have come, else one who has not. For who waits to be told. */
MED_INNER bool med_barrier_is_wanted_here(const med_barrier *barrier,
                                          const med_barrier_member *member);

static inline void
med_barrier_pass(med_barrier *barrier, med_barrier_member *member)
{
    med_barrier_come(barrier, member);
    (void)med_barrier_await(barrier, member, NULL, NULL);
}

#endif
