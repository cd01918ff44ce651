/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Teams: the threads that execute a parallel region, and what they share. docs/design/openmp.md.
 *
 * Words:
 *   member   one thread's part in one team. The thread's pointer of the port names the member that
 *            it is now. Outside of all regions it is the only member of an initial team.
 *   leader   who met the parallel construct. As the new team's member 0 its thread is another
 *            member, until the region is over.
 *   hot      a team stays with its leader after the region, its other threads waiting to be told of
 *            the next one: med_gate.
 */
#ifndef MEDLEY_OMP_TEAM_H
#define MEDLEY_OMP_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/barrier.h"
#include "base/wait.h"
#include "omp/formation.h"
#include "omp/icv.h"
#include "omp/ompt.h"
#include "omp/quota.h"
#include "omp/task.h"
#include "omp/work.h"
#include "port/port.h"

typedef struct med_team med_team;

/* What a team's members are told for a region, in the one line that they look at. The counts are
 * everybody's: all members of a region have met the same constructs when it ends. */
typedef struct med_gate {
    _Alignas(64) atomic32 round; /* the team's regions so far */
    atomic32 told;               /* how many members, and of which round: gate.c */
    uint32_t come;               /* through the barrier, so often */
    uint32_t singles;
    uint32_t works;
    void (*entry)(void *data);
    void *data;
    med_barrier *barrier;
    med_work *work; /* NULL; or the region is a worksharing construct, which is begun */
    uintptr_t phase;
} med_gate;
_Static_assert(sizeof(med_gate) == 64, "one line of a cache");

typedef struct med_member {
    _Alignas(64) med_team *team;
    uint32_t round;     /* the last one that it has seen at the gate; the first: it has opened */
    uint32_t number;    /* in the team, */
    uint32_t seat;      /* and in its barrier: its leader writes it between regions */
    uint32_t owner;     /* of locks: no other member's */
    uint32_t singles;   /* met so far */
    uint32_t works;     /* likewise: worksharing constructs */
    med_work *work;     /* the one it is in */
    med_share share;    /* what it has of that */
    med_work *empty;    /* its own, met where the ring is full in a cancelled region; or NULL */
    const med_icv *icv; /* of its task: its own, or those of the one it came from */
    med_icv own_icv;
    med_barrier *barrier;
    med_barrier_member place; /* in the barrier */
    med_waiter waiter;
    const med_wait_limits *limits; /* of its waits; or NULL: waiting.h */
    /* What the environment or the program has said of them, or NULL; its own, since who sleeps at
     * his gate looks at it while his leader may change the team's variables. */
    const med_wait_limits *waits_fixed;
    med_task *task; /* that it executes; in the end: */
    med_task implicit;
    bool lists;                    /* what becomes ready is put into the team's list */
    bool put_aside;                /* task.c: in a team of one there may be some */
    uint32_t depth;                /* so many tasks, one within the other */
    atomic_word tasking;           /* task_inner.h; or NULL */
    struct med_privates *privates; /* its thread's, outside of what that leads */
    med_team *hot;                 /* led by this member: of several, */
    med_team *alone;               /* and of one */
    med_team *initial;             /* of one as at the program's begin: for target regions */
    uint32_t bind_wanted;          /* by the region that it meets: a med_bind, or 0 */
    /* Likewise, where a face is told before: threads; teams, and how many threads each may have;
     * 0: nothing is said. */
    uint32_t threads_wanted;
    uint32_t teams_wanted;
    uint32_t teams_limit_wanted;
    med_dimensions dimensions;
    uint64_t float_control; /* of who met its region: abi_kmpc.c */
    uint64_t shown;         /* where it was when that was displayed; and the team's size */
    uint32_t bound;         /* to that place, and one more; 0: to none */
    med_placement placement;
    bool is_dense;  /* the team's, for its own eyes: it may sleep at the gate while that changes */
    bool early;     /* it came to the region's end before: cancel.c */
    atomic32 ended; /* the last region that it has come to the end of */
    /* Copyprivate, in a region that is cancelled (cancel.c): of the singles up to that number it
     * has read what was given; what others may not have read yet was given in the one of that
     * number, when it had come so often; and it has not read itself what it waits for. */
    atomic32 settled;
    uint32_t gave;
    uint32_t gave_come;
    bool gives;
    bool takes;
    struct med_ompt_thread *ompt; /* what a tool is told of its thread; NULL: nothing */
    bool thread_of_team;          /* else its thread is a leader's, or the team is initial */
    med_port_thread thread;
    const med_barrier *departed; /* of the last region it was told of, but for the team's last */
    uint32_t started_on;         /* the processor of who started it then; MED_PORT_PROCESSOR_ANY */
    uint32_t started_with;       /* that many in the team, itself one of them */
    uint32_t shared;             /* so often it found a member it waits for on its processor, */
    uint32_t shared_enough;      /* and when it has so often, it looks for another: apart.c */
} med_member;

#define MED_TEAM_WORKS 8u

struct med_team {
    med_gate gate; /* its leader writes it between regions */
    uint32_t size;
    uint32_t level;          /* of regions around its members: 0: the initial one */
    uint32_t active_level;   /* of these, those of more than one */
    bool cancels;            /* OMP_CANCELLATION: what the program gives up is given up */
    atomic32 cancelled;      /* cancel.c: what is; */
    atomic32 cancelled_come; /* the region: who has come so often need not come at its end */
    atomic32 cancelled_work; /* which loop */
    med_member *leader;      /* NULL: the program's own */
    med_team *root;          /* the initial team around it, maybe itself; of which: */
    atomic32 threads;        /* that it has, and all teams in it, beside its own: limit.h */
    uint32_t reserved;       /* of these, for the region */
    med_icv icv;             /* what the tasks of a region begin with */
    med_formation *formation;
    med_formation *formations; /* that the team has had, the last one first */
    med_formation *told;       /* that of the last region; or NULL */
    const uint32_t *seats;     /* those that its members have been told; NULL: their numbers */
    med_member **members;      /* those it has had, asleep or not: `ready` of them */
    uint32_t ready;
    uint32_t room;
    uint64_t refused_until_ns; /* it gets no more threads before: there is no memory for them */
    uint32_t process_life;     /* med_port_process_life when its threads were started */
    bool is_shown;             /* med_crew_show: its leader is, and so will they be */
    med_placed placed;         /* how its members were told their places last */
    bool is_dense;             /* more members are bound to some processors than these are */
    med_wait_crowd gate_wait;
    med_wait wait;                 /* for everything within a region but the barrier */
    void *copied;                  /* copyprivate's: behind the barrier, or */
    atomic32 copied_of;            /* when this is the single's number */
    med_task_list tasks;           /* that are nobody's in particular */
    atomic_word fulfilled;         /* tasks whose events threads of other teams have fulfilled, */
    atomic32 visitors;             /* and how many of these are still here: task_event.c */
    atomic_word tasked[2];         /* the last phase that had tasks, of each second one */
    atomic_word drained;           /* that had, and the region is over */
    atomic32 ompt_over;            /* so many regions are, to a tool */
    _Alignas(64) atomic32 singles; /* so many are taken */
    med_work works[MED_TEAM_WORKS];
};

/* The member that the calling thread is; it becomes the initial one of a team of its own. */
med_member *med_member_begin(void);

static inline med_member *
med_member_get(void)
{
    med_member *member = med_port_member_get();
    return __builtin_expect(member != NULL, 1) ? member : med_member_begin();
}

/* With its threads, and the teams of its members. Between two regions. */
void med_team_destroy(med_team *team);

/* Called by a member that waits, behind a slice of sleep: it has the time to see how many threads
 * can run by now, and waits as goes with that from here on. */
void med_team_slept(med_member *member);
/* Called by each member before a barrier in a region, or in a loop before its turn comes: likewise,
 * by how many of these it has had, which is the same for all of them. */
void med_team_turn(med_member *member, uint32_t turn);

/* Are its team more than can run at once, by the quota or where they are bound? */
static inline bool
med_member_is_crowded(const med_member *member)
{
    return member->is_dense || med_quota_is_crowd(member->team->size);
}

/* Is nobody else there, and would a task that the member met now be executed at once? */
static inline bool
med_task_is_alone(const med_member *member)
{
    return member->team->size == 1 && member->depth < MED_TASK_DEPTH;
}

/* To change them: the member's own from here on. */
med_icv *med_member_icv(med_member *member);

/* How many threads a region gets that asks for so many (0: for none in particular). */
uint32_t med_team_threads(const med_member *leader, uint32_t wanted);

/* A parallel region: entry(data) by all members of a team of that many threads; fewer, and a
 * warning, where no more can be started. Blocks until all have come to its end. */
void med_team_run(med_member *leader, uint32_t threads, void (*entry)(void *data), void *data);
/* The same in two halves, for what stands between them; `finish` by whom `start` made member 0. */
med_member *
med_team_start(med_member *leader, uint32_t threads, void (*entry)(void *data), void *data);
/* Between these two: the region is that worksharing construct. */
void med_team_prepare(med_member *first, const med_loop *loop, const med_bounds *bounds);
void med_team_go(med_member *first);
void med_team_finish(med_member *first);

/* What is executed as if by a thread of its own: the calling one is the only member of an initial
 * team, with the variables that the program began with, until `finish` by that member. */
med_member *med_team_start_initial(med_member *leader);
void med_team_finish_initial(med_member *first);

/* The member's teams end, with their threads; later regions start new ones. False: it is in a
 * region itself; but of one of a parent's, behind a fork, there is only its thread. */
bool med_team_rest(med_member *member);

/* The member is in that construct from here on. */
static inline void
med_work_enter(med_member *member, med_work *work)
{
    member->share = (med_share){.has_some = false};
    member->work = work;
    member->works++;
}

/* A barrier: all tasks of the team are complete behind it. True: the region is cancelled, which
 * nobody waits in; the program goes on to its end. */
bool med_team_barrier(med_member *member);
/* Do the members of its team reduce along the barrier's groups? Else each does so by himself. The
 * same for all of them throughout a region. */
bool med_team_combines(const med_member *member);
/* A barrier to which all bring what they have: behind it the first member has all of it, combined
 * in the order of their seats: true; and of the others nobody needs theirs any more. */
bool med_team_combine(med_member *member, void *what, void (*combine)(void *into, void *from));
/* At the region's end, by all but the first member, who have come: to the gate. Who leads a
 * group goes when that is complete, and executes tasks meanwhile. */
void med_team_depart(med_member *member);
/* Behind it, however that was met: all have come. */
void med_team_phase_end(med_member *member);

/* What the one who executes a single gives to all others (copyprivate), who take it behind that. In
 * a cancelled region they wait for it as well. */
void med_team_copy_give(med_member *member, void *data);
void *med_team_copy_take(med_member *member);

/* Is the single construct that the member met its to execute? One member's answer is yes. */
static inline bool
med_team_single(med_member *member)
{
    uint32_t met = member->singles++;
    /* Relaxed: what stands before the construct is ordered, if at all, by a barrier. */
    return atomic32_load_relaxed(&member->team->singles) == met &&
           atomic32_cas_relaxed(&member->team->singles, &met, met + 1);
}

#endif
