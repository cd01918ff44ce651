/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Worksharing loops, and sections, which are loops over their numbers: who of a team executes which
 * iterations.
 *
 * A loop is counted: its iterations are 0 to count - 1, whatever its bounds, its step and their
 * type, which the faces translate. All members of a team meet the same constructs in the same
 * order; the k-th of them uses the k-th place of a ring that the team has. Who comes first begins
 * it, who leaves last frees it for the construct that comes to it next. So a member may be some
 * constructs ahead of another (nowait), and waits when it is a whole ring ahead.
 */
#ifndef MEDLEY_OMP_WORK_H
#define MEDLEY_OMP_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "omp/doacross.h"

struct med_het;
struct med_loop;
struct med_member;
struct med_part;
struct med_team;
struct med_work;

/* Iterations from `first` to before `end`. */
typedef struct med_span {
    uint64_t first;
    uint64_t end;
} med_span;

/* The same for a schedule, which shares out units: iterations, but where their number is beyond the
 * processor's word; then so many of them that it is not. */
typedef struct med_units {
    uintptr_t first;
    uintptr_t end;
} med_units;

/* How they are shared out: one file in schedule/ each. */
typedef struct med_schedule {
    const char *name;
    bool notes; /* its `begin` notes what it does (schedule/site.h) */
    /* By who fills the construct in, before others look at it. It may put another schedule in the
     * place of this one, whose `begin` is not called then. NULL: there is nothing to do. */
    void (*begin)(struct med_work *work, const struct med_team *team, const struct med_loop *loop);
    /* The member's next units, in the place of those it had last; false: there are no more for it.
     * Must not wait for what the program does. */
    bool (*next)(struct med_work *work, struct med_member *member, med_units *units);
} med_schedule;

extern const med_schedule med_schedule_static;
extern const med_schedule med_schedule_dynamic;
extern const med_schedule med_schedule_guided;
extern const med_schedule med_schedule_guided_monotonic; /* the same, where it is asked for */
extern const med_schedule med_schedule_steal;
extern const med_schedule med_schedule_hetprobe;
extern const med_schedule med_schedule_hetprobe_i;
extern const med_schedule med_schedule_nonmonotonic; /* dynamic, in any order: the cheapest */
/* What MEDLEY_SCHEDULE puts in the place of dynamic and guided loops: in any order, or monotonic;
 * NULL: nothing. Written while the environment is read. */
typedef struct med_imposed {
    bool acts; /* something of this is to be done where a loop is begun */
    const med_schedule *any;
    const med_schedule *monotonic;
    uint64_t chunk;
    bool parts;    /* clang's static loops are split by the speed of cores */
    bool explains; /* loops are noted (explain.h) */
} med_imposed;
extern med_imposed med_work_imposed;
/* That of an ICV (icv.h). */
const med_schedule *med_schedule_of(uint32_t kind);

typedef struct med_loop {
    uint64_t count;
    uint64_t chunk; /* 0: the schedule's own */
    const med_schedule *schedule;
    bool ordered;
    bool is_sections;
    bool by_chunks;      /* also if one member has them all: sections */
    uint32_t vector;     /* so many iterations stay together; 0: each may be alone */
    size_t memory_bytes; /* zeroed, that all members have in common */
    uint32_t dimensions; /* 0; or a doacross loop: of so many loops, this one the outermost. What
                          * `counts` points to has that of each: longs, or else unsigned long
                          * longs */
    bool counts_are_long;
    const void *counts;
    const void *code;   /* where it is begun, */
    const char *source; /* and where that is in the program, as clang has it; or NULL */
} med_loop;

/* How a face makes iterations values of its variable; kept for it. */
typedef struct med_bounds {
    uint64_t start;
    uint64_t end;
    uint64_t step;
} med_bounds;

#define MED_WORK_SEATS 32u

/* Of an ordered loop: all units before that one are done. Who has it waits here. */
typedef struct med_turn {
    _Alignas(64) atomic_word done;
    med_wait wait;
    med_wait early; /* in a large crowd, until the turn before is here */
} med_turn;
typedef struct med_turns med_turns; /* ordered.c */

/* By who writes a line, and when: members who end a loop would take the line from those who still
 * read of it what to do. */
typedef struct med_work {
    /* Written by who begins it, before `turn` says so; and by nobody else. */
    _Alignas(64) const med_schedule *schedule;
    uintptr_t units; /* less than half of what the word holds */
    uintptr_t chunk; /* in units; 0: the schedule's own */
    uint64_t unit;   /* iterations in one */
    uint64_t count;  /* of iterations */
    uint32_t members;
    bool ordered;
    bool is_sections;
    bool excludes;       /* ordered parts are by `inside` */
    bool is_large_crowd; /* waits for a turn begin with a sleep */
    bool near_first;     /* some of `parts` share a cache, others do not */
    med_bounds bounds;
    void *memory;           /* of the members in common; kept, and so is its size */
    size_t memory_bytes;    /* */
    med_doacross *doacross; /* NULL: it is none */
    struct med_part *parts; /* schedule/steal.c: of the members; kept */
    uint32_t parts_room;    /* so many */
    struct med_het *het;    /* schedule/het.h: of a loop on unlike cores; kept */
    uintptr_t turn_base;    /* what turns have, beyond units: more than in the loops before */
    uintptr_t turn_units;
    /* A med_turns: for who has that unit, so many that few others look at the same; kept. From the
     * first ordered loop on; or 0, and `only_turn`, where there is no memory for them. */
    atomic_word turns;
    /* By all who come to it. */
    _Alignas(64) atomic32 turn; /* work.c */
    /* By all who are at it. */
    _Alignas(64) atomic_word next; /* the first unit that nobody has */
    atomic32 left;                 /* so many members: they have asked for the next in vain */
    /* By who is in an ordered part. */
    _Alignas(64) atomic_word done; /* as the turns say; a guess, for who is in a crowd */
    med_lock inside;               /* of ordered parts, where a region may be cancelled */
    med_turn only_turn;
    /* Of who waits for a turn, by it: on which processor, and one more. A guess. */
    _Alignas(64) atomic32 seats[MED_WORK_SEATS];
} med_work;

/* So many groups of that size hold the count. */
static inline uint64_t
med_work_groups(uint64_t count, uint64_t size)
{
    return count / size + (count % size != 0);
}

/* What a member has of the loop it is in. */
typedef struct med_share {
    med_units units;
    uintptr_t rounds; /* so often it got some */
    bool has_some;    /* that are not done */
    bool inside;      /* an ordered part */
    bool has_turn;    /* of an ordered loop, and so it is its turn: */
    med_turn *turn;   /* where that is said, */
    med_turn *then;   /* and to whom this one says it */
    bool parted;      /* the loop is a static one of clang's, split by the speed of cores */
} med_share;

/* The place of that number in a team's ring, for the first time. */
void med_work_place_init(med_work *work, uint32_t number);
/* What it has kept. Nobody is in it. */
void med_work_place_fini(med_work *work);
/* Blocks until the condition holds; whoever makes it hold wakes that wait. False: it does
 * not, and the region is cancelled. `is_wanted_here` as in med_wait_request; NULL: in a crowded
 * team one who is waited for is, as a rule. */
bool med_work_wait(struct med_member *member,
                   med_wait *wait,
                   bool (*condition)(void *context),
                   bool (*is_wanted_here)(void *context),
                   void *context);
/* The same, but he does not look on before he sleeps; whoever makes the condition hold wakes by
 * med_wait_wake_paid. */
bool med_work_sleep(struct med_member *member,
                    med_wait *wait,
                    bool (*condition)(void *context),
                    void *context);
/* The member meets the construct. In a cancelled region it may be one without iterations. */
void med_work_begin(struct med_member *member, const med_loop *loop, const med_bounds *bounds);
/* The construct of that number of a team that has not started yet, or of one member. */
void med_work_prepare(med_work *work,
                      uint32_t number,
                      const struct med_team *team,
                      const med_loop *loop,
                      const med_bounds *bounds);
/* The next iterations of the loop that the member is in. Blocks, in an ordered one, until those
 * before the last ones are done. */
bool med_work_next(struct med_member *member, med_span *span);
/* The member is through with it; it waits for nobody but as med_work_next. */
void med_work_end(struct med_member *member);
/* An ordered part: blocks until all iterations before the member's own ones are done, or, in a
 * cancelled region, until nobody else is in such a part. */
void med_work_ordered(struct med_member *member);
void med_work_ordered_end(struct med_member *member);

#endif
