/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the schedules for unlike cores have in common (het.c). Words:
 *   class    cores of one speed; a member is of the class of the core that it is bound to
 *   weight   how fast a core of a class is, for this loop, beside the fastest
 *   probe    equal shares, one to each member, which are measured
 *   ratios   known, when every class that has members has a weight
 */
#ifndef MEDLEY_OMP_SCHEDULE_HET_H
#define MEDLEY_OMP_SCHEDULE_HET_H

#include "omp/schedule/rest.h"
#include "omp/schedule/site.h"
#include "omp/schedule/split.h"
#include "omp/team.h"

typedef struct med_het_member {
    _Alignas(64) uint32_t class;
    uint32_t rank; /* in it */
    bool measures; /* the units that it has, */
    bool has_part; /* of the rest; it gets no other */
    uint64_t since_ns;
    med_units probe; /* hetprobe-i: its share, until it takes it */
} med_het_member;

/* Of a loop. Members find it filled in; what changes then is under the lock. */
typedef struct med_het {
    med_site *site;
    uint32_t room; /* for members */
    bool probes;
    uintptr_t probe_each; /* units */
    med_lock lock;
    med_split split;
    bool is_split; /* the split is final; else there are no ratios yet */
    med_pace pace; /* of the probe */
    uint32_t probed;
    uintptr_t rest; /* the first unit that nobody has */
    /* hetprobe-i: */
    med_rest queues[MED_CLASSES_MAX]; /* of the classes */
    uintptr_t given;                  /* in all, */
    uintptr_t given_at_probe;         /* and when the last probe began; */
    uintptr_t again;                  /* so many later there is another */
    uintptr_t again_each;             /* a member's share of the probes after the first */
    uint32_t probing;                 /* members that have not come back with theirs */
    bool last_given;
    med_het_member members[];
} med_het;

/* Plans the loop. False: it is for no such schedule, and static has taken its place. `wholes`: it
 * is measured whole, without probes of their own. */
bool med_het_plan(med_work *work, const med_team *team, const med_loop *loop, bool wholes);
/* The measured units are done; under the lock. True: all members' are; then the loop's ratios are
 * known, or it is too short for it. */
bool med_het_measured(med_work *work, med_het_member *own, uintptr_t units);

static inline uint64_t
med_het_since(const med_het_member *own)
{
    uint64_t now = med_port_clock_ns();
    return now > own->since_ns ? now - own->since_ns : 1;
}

/* Of clang's static loops, of which members ask once: their parts are measured whole, and the next
 * invocation is split by that. */
extern const med_schedule med_schedule_hetprobe_whole;
/* The member is through with its part of such a loop. */
void med_hetprobe_whole_end(struct med_member *member);

#endif
