/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sites, by a table of lists that only grow. What may run together: everything. A site is put at
 * the head of its list by a compare-and-swap, whole; who looks for one meanwhile may make the same
 * site again, and then each is found by those who have seen it first: what is known of the loop is
 * learned twice. No locks: a child of fork finds the table as it was.
 */
#include "omp/schedule/site.h"

#include <string.h>

#include "mrapi/heap_lent.h"

#define BUCKETS 256u

static atomic_word buckets[BUCKETS];

static atomic_word *
bucket_of(const void *code, const void *region)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)code * 31 + (uintptr_t)region) * 0x9e3779b97f4a7c15u;
    return &buckets[mixed >> 56];
}

/* Clang says that it does not know: ";unknown;unknown;0;0;;". */
static bool
is_known(const char *source)
{
    static const char unknown[] = ";unknown;";
    if (!source) {
        return false;
    }
    for (uint32_t i = 0; unknown[i]; i++) {
        if (source[i] != unknown[i]) {
            return true;
        }
    }
    return false;
}

/* The text goes with the library that it is in, if that is closed. */
static med_site *
make(const void *code, const void *region, const char *source)
{
    size_t text_bytes = source ? strlen(source) + 1 : 0;
    med_site *site = med_heap_lend(sizeof *site + text_bytes);
    if (site) {
        site->code = code;
        site->region = region;
        site->source = source ? memcpy(site + 1, source, text_bytes) : NULL;
    }
    return site;
}

med_site *
med_site_of(const void *code, const void *region, const char *source)
{
    source = is_known(source) ? source : NULL;
    code = source ? source : code;
    region = source ? NULL : region;
    atomic_word *bucket = bucket_of(code, region);
    uintptr_t head = atomic_word_load_acquire(bucket); /* A1 site <- R1 (med_site_of) */
    for (med_site *site = (med_site *)head; site; site = site->next) {
        if (site->code == code && site->region == region) {
            return site;
        }
    }
    med_site *site = make(code, region, source);
    if (site) {
        do {
            site->next = (med_site *)head;
        } while (!atomic_word_cas_release(bucket, &head, (uintptr_t)site)); /* R1 site -> A1 */
    }
    return site;
}

void
med_site_each(void (*tell)(const med_site *site, void *context), void *context)
{
    for (uint32_t i = 0; i < BUCKETS; i++) {
        uintptr_t head = atomic_word_load_acquire(&buckets[i]); /* A1 site <- R1 (med_site_of) */
        for (const med_site *site = (const med_site *)head; site; site = site->next) {
            tell(site, context);
        }
    }
}

void
med_site_note(med_site *site, med_site_why why, const char *schedule, uintptr_t count)
{
    atomic32_fetch_add_relaxed(&site->invocations, 1); /* relaxed, all: see the struct */
    atomic32_store_relaxed(&site->why, why);           /* relaxed: as above */
    atomic_word_store_relaxed(&site->count, count);    /* relaxed: as above */
    atomic_word_store_relaxed(&site->schedule, (uintptr_t)schedule); /* relaxed: as above */
}

void
med_site_note_split(med_site *site, const med_split *split)
{
    for (uint32_t i = 0; i < split->classes; i++) {
        uint32_t weight = split->weights[i] ? split->weights[i] : 1;
        atomic32_store_relaxed(&site->members[i], split->members[i]); /* relaxed: see the struct */
        atomic32_store_relaxed(&site->splits[i], weight);             /* relaxed: as above */
    }
}

static void
due_put(const med_site *site, atomic32 *due, uint32_t after)
{
    uint32_t now = atomic32_load_relaxed(&site->invocations); /* relaxed: see the struct */
    atomic32_store_relaxed(due, now + after);                 /* relaxed: as above */
}

/* The number goes round. */
bool
med_site_is_due(const med_site *site, const atomic32 *due)
{
    uint32_t now = atomic32_load_relaxed(&site->invocations);    /* relaxed: see the struct */
    return (int32_t)(now + 1 - atomic32_load_relaxed(due)) >= 0; /* relaxed: as above */
}

bool
med_site_is_short(const med_site *site, uintptr_t units)
{
    return units <= atomic_word_load_relaxed(&site->short_to); /* relaxed: see the struct */
}

void
med_site_learn_short(med_site *site, uintptr_t units)
{
    if (!med_site_is_short(site, units)) {
        atomic_word_store_relaxed(&site->short_to, units); /* relaxed: see the struct */
    }
    due_put(site, &site->short_due, MED_SITE_AGAIN);
}

/* One that was disturbed is not believed: of the mean and the last two measurements the middle one
 * counts. Of the first, which may have been cold, nothing is known but that. */
static uint32_t
weight_learn(med_site *site, uint32_t class, uint32_t measured, bool second)
{
    uint32_t old = atomic32_load_relaxed(&site->weights[class]);   /* relaxed: see the struct */
    uint32_t before = atomic32_load_relaxed(&site->newest[class]); /* relaxed: as above */
    if (measured) {
        atomic32_store_relaxed(&site->newest[class], measured); /* relaxed: as above */
    }
    if (old && before && measured && !second) {
        measured = med_weight_middle(old, before, measured);
    }
    return med_weight_mean(old, measured);
}

void
med_site_learn(med_site *site, const med_pace *pace, uint32_t classes, uint32_t again)
{
    uint32_t weights[MED_CLASSES_MAX];
    med_pace_weights(pace, classes, weights);
    bool is_second = atomic32_load_relaxed(&site->probes) == 1; /* relaxed, all: see the struct */
    for (uint32_t i = 0; i < classes; i++) {
        uint64_t ps = med_pace_ps(pace, i);
        uint32_t mean = weight_learn(site, i, weights[i], is_second);
        atomic32_store_relaxed(&site->weights[i], mean); /* relaxed: as above */
        if (ps) {
            uintptr_t whole = ps < UINTPTR_MAX ? (uintptr_t)ps : UINTPTR_MAX;
            atomic_word_store_relaxed(&site->times_ps[i], whole); /* relaxed: as above */
        }
    }
    atomic32_fetch_add_relaxed(&site->probes, 1);  /* relaxed: as above */
    atomic_word_store_relaxed(&site->short_to, 0); /* relaxed: as above */
    due_put(site, &site->probe_due, again);
}
