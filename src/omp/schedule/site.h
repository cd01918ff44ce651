/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is known of each loop of the program that is shared out between unlike cores: the probe
 * cache. A loop is where it stands in the source, if the compiler says that, or else in the code,
 * together with the region that it is met in. Sites are kept until the program ends.
 *
 * That a loop is short is not for ever: it is measured again after MED_SITE_AGAIN invocations. Nor,
 * where MEDLEY_PROBE_AGAIN says so, is what was measured of one that was probed often enough. */
#ifndef MEDLEY_OMP_SCHEDULE_SITE_H
#define MEDLEY_OMP_SCHEDULE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "omp/schedule/split.h"

/* A probe shares a tenth of a loop out evenly, and costs a twentieth of one of 20 us: in one of so
 * many invocations that is less than 0.3 % of their time, where cores are twice as fast as others,
 * and a loop of 20 us that has changed is known for that after 1.3 ms. */
#define MED_SITE_AGAIN 64u

/* Why a loop was split as it was the last time. */
typedef enum med_site_why {
    MED_SITE_PROBED,    /* and split by that */
    MED_SITE_CACHED,    /* it was probed often enough */
    MED_SITE_TOLD,      /* MEDLEY_CSR says how */
    MED_SITE_FEW,       /* iterations: not one for each member's probe */
    MED_SITE_SHORT,     /* it takes less time than a probe is worth */
    MED_SITE_ONE_CLASS, /* of cores */
    MED_SITE_UNBOUND,   /* threads are not bound */
    MED_SITE_ORDERED,
    MED_SITE_UNPROBED, /* MEDLEY_MAX_PROBES=0 */
    MED_SITE_OTHER,    /* the schedule is none for unlike cores (explain.h) */
    MED_SITE_WHY_COUNT
} med_site_why;

/* Whoever begins the loop, in whatever team, reads and writes this at any time, each word by
 * itself: what it tells are measurements, which change anyway. */
typedef struct med_site {
    struct med_site *next;
    const void *code;
    const void *region;
    const char *source;   /* as clang has it, a copy; NULL */
    atomic_word schedule; /* the name of it: a const char * */
    atomic32 invocations;
    atomic32 probes;
    atomic32 reprobes;
    atomic32 probe_due;   /* with that invocation it is probed again, once it was often enough; */
    atomic32 short_due;   /* and while it is short */
    atomic32 why;         /* a med_site_why */
    atomic_word short_to; /* so many iterations take no time worth a probe; 0: nothing is known */
    atomic_word count;    /* of iterations, last time */
    atomic32 members[MED_CLASSES_MAX];
    atomic32 weights[MED_CLASSES_MAX];     /* 0: never measured */
    atomic32 newest[MED_CLASSES_MAX];      /* what the last probe said */
    atomic_word times_ps[MED_CLASSES_MAX]; /* of an iteration, last time */
    atomic32 splits[MED_CLASSES_MAX];      /* the weights by which it was split last */
} med_site;

/* NULL: there is no memory for it. */
med_site *med_site_of(const void *code, const void *region, const char *source);
/* Calls it for each. */
void med_site_each(void (*tell)(const med_site *site, void *context), void *context);
/* It is begun once more. */
void med_site_note(med_site *site, med_site_why why, const char *schedule, uintptr_t count);
/* By that its units are split from now on; 0: as 1. */
void med_site_note_split(med_site *site, const med_split *split);
/* One more measurement of it; it is not short, and is due again after so many invocations. */
void med_site_learn(med_site *site, const med_pace *pace, uint32_t classes, uint32_t again);
/* So many units are measured, and take no time worth a probe. */
void med_site_learn_short(med_site *site, uintptr_t units);
/* Are so many known for that? */
bool med_site_is_short(const med_site *site, uintptr_t units);
/* It was measured often enough, or is short; but that is long ago. */
bool med_site_is_due(const med_site *site, const atomic32 *due);

#endif
