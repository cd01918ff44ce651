/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which lines are met at all is learned from runs without a mutant, the label of each from its
 * source. Then it is hunted seed by seed, until a run fails that passes without it.
 */
#include "mutants.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "seed.h"
#include "survivors.h"

#define SITES_MAX 1024u
#define LABEL_BYTES 48
#define SEEDS_TO_MEET 400u /* so many runs meet every site that is met at all */

typedef struct mutant {
    char label[LABEL_BYTES];
    source_line where;
    uint32_t sites[SITES_MAX / 16];
    uint32_t site_count;
    uint8_t kinds; /* bit w: a mutant of its own is sim_weakening w */
    sim_weakening weakening;
} mutant;

static const char *const weakening_names[SIM_WEAKENINGS] = {
    "", "", "no-release: ", "no-acquire: ", "not-total: ", "torn: "};

/* ---- Labels ---------------------------------------------------------------------------------- */

/* "R1" in "R1 slot filled -> A1 (pop)": a capital and a digit, by themselves. */
static const char *
find_label(const char *text)
{
    for (const char *at = strstr(text, "/*"); at && *at; at++) {
        bool begins = at[0] >= 'A' && at[0] <= 'Z' && isdigit((unsigned char)at[1]);
        if (begins && !isalnum((unsigned char)at[2]) && !isalnum((unsigned char)at[-1])) {
            return at;
        }
    }
    return NULL;
}

static void
copy_label(const char *from, char *label)
{
    size_t length = 0;
    while (from[length] && from[length] != '\n' && from[length] != '*' &&
           length + 1 < LABEL_BYTES) {
        length++;
    }
    while (length && from[length - 1] == ' ') {
        length--;
    }
    memcpy(label, from, length);
    label[length] = 0;
}

#define LINES_KEPT 8u

/* Reads the lines around `wanted`: text[0] is the line itself, then those above it, nearest first;
 * `below` is what follows, to the end of its statement. */
static bool
read_around(const source_line *where, char text[][256], char *below, size_t size)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", SIM_SOURCES, where->path);
    FILE *file = fopen(path, "r");
    if (!file) {
        return false;
    }
    char line[256];
    below[0] = 0;
    for (uint32_t number = 1; fgets(line, sizeof line, file); number++) {
        if (number <= where->line) {
            memmove(text[1], text[0], (LINES_KEPT - 1) * sizeof text[0]);
            memcpy(text[0], line, sizeof line);
        } else if (number <= where->line + 2 && !strchr(text[0], ';') && !strchr(below, ';')) {
            strncat(below, line, size - strlen(below) - 1);
        }
    }
    return fclose(file) == 0;
}

static bool
is_comment(const char *line)
{
    line += strspn(line, " ");
    return strncmp(line, "/*", 2) == 0 || strncmp(line, "* ", 2) == 0;
}

/* Does a comment above that is for several lines speak for those below this one too? */
static bool
is_in_block(const char *line)
{
    size_t length = strcspn(line, "\n");
    return length != 0 && line[strspn(line, " ")] != '}' && line[length - 1] != '{';
}

static void
label_find(mutant *m)
{
    static char text[LINES_KEPT][256];
    char below[600];
    char comment[LINES_KEPT * 256] = "";
    memset(text, 0, sizeof text);
    m->label[0] = '-';
    m->label[1] = 0;
    if (!read_around(&m->where, text, below, sizeof below)) {
        return;
    }
    const char *label = find_label(text[0]);
    label = label ? label : find_label(below);
    if (label) {
        copy_label(label, m->label);
        return;
    }
    /* A comment above, or a call that began above. */
    for (uint32_t above = 1; above < LINES_KEPT && !label; above++) {
        if (above > 2 && !is_comment(text[above]) && !is_in_block(text[above])) {
            break;
        }
        (void)snprintf(comment, sizeof comment, "/*%s", text[above]);
        label = strstr(text[above], "*") ? find_label(comment) : NULL;
    }
    if (label) {
        copy_label(label, m->label);
    }
}

/* ---- Which there are ------------------------------------------------------------------------- */

static bool
has_word(const char *words, const char *word)
{
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, " ");
        if (length == strlen(word) && strncmp(at, word, length) == 0) {
            return true;
        }
        at += length + strspn(at + length, " ");
    }
    return false;
}

/* Its file or its function stands there. */
static bool
covers(const sim_scenario *scenario, const source_line *where)
{
    char word[PLACE_FILE_BYTES + 4];
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(where->file, "."), where->file);
    if (has_word(scenario->covers, word)) {
        return true;
    }
    (void)snprintf(word, sizeof word, "%.*s()", (int)sizeof word - 4, where->function);
    return has_word(scenario->covers, word);
}

static uint32_t
sites_met(const sim_scenario *scenario, sim_outcome *outcome, uint32_t *sites)
{
    sim_world_sites_forget();
    for (uint64_t seed = 1; seed <= SEEDS_TO_MEET; seed++) {
        sim_order order = {.scenario = scenario, .seed = seed, .steps_max = STEPS_MAX};
        sim_run(&order, outcome);
    }
    uint32_t count = 0;
    const uint8_t *met = sim_world_sites();
    for (uint32_t site = 1; site < SIM_PROGRAM_BYTES && count < SITES_MAX; site++) {
        if (met[site]) {
            sites[count++] = site;
        }
    }
    return count;
}

static mutant *
mutant_at(mutant *mutants, uint32_t *count, const source_line *where)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (mutants[i].where.line == where->line &&
            strcmp(mutants[i].where.file, where->file) == 0) {
            return &mutants[i];
        }
    }
    mutant *m = &mutants[(*count)++];
    m->where = *where;
    label_find(m);
    return m;
}

/* Of what acquires and releases each half is a mutant: without both, without either would be found
 * as well. */
static uint8_t
kinds_of(uint8_t site)
{
    bool total = site & 1u << __ATOMIC_SEQ_CST;
    bool changes = site & SIM_SITE_OF_CHANGE;
    bool both = (site & 1u << __ATOMIC_ACQ_REL) || (total && changes);
    bool ordered = site & ~SIM_SITE_OF_CHANGE;
    return (uint8_t)((both ? 1u << SIM_NO_RELEASE | 1u << SIM_NO_ACQUIRE : 0) |
                     (ordered && !both ? 1u << SIM_RELAXED : 0) |
                     (total ? 1u << SIM_NOT_TOTAL : 0) | (changes ? 1u << SIM_TORN : 0));
}

static uint32_t
mutants_find(const sim_scenario *scenario, sim_outcome *outcome, mutant *mutants)
{
    static uint32_t sites[SITES_MAX];
    static source_line lines[SITES_MAX];
    uint32_t site_count = sites_met(scenario, outcome, sites);
    uint32_t count = 0;
    report_lines(sites, site_count, lines);
    for (uint32_t i = 0; i < site_count; i++) {
        if (!covers(scenario, &lines[i])) {
            continue;
        }
        mutant *m = mutant_at(mutants, &count, &lines[i]);
        if (m->site_count < sizeof m->sites / sizeof m->sites[0]) {
            m->sites[m->site_count++] = sites[i];
        }
        m->kinds |= kinds_of(sim_world_sites()[sites[i]]);
    }
    return count;
}

/* ---- Are they found? ------------------------------------------------------------------------- */

static void
mutant_weaken(const mutant *m, sim_weakening weakening)
{
    for (uint32_t site = 0; site < m->site_count; site++) {
        sim_world_weaken(m->sites[site], weakening);
    }
}

/* The seed that finds it; 0: none. */
static uint64_t
hunt(const options *o,
     const sim_order *mutated,
     const mutant *m,
     uint64_t seeds,
     sim_outcome *outcome)
{
    sim_order order = *mutated;
    mutant_weaken(m, m->weakening);
    order.seed = o->first;
    do {
        seed_run(&order, outcome);
    } while (outcome->kind == SIM_PASSED && ++order.seed < o->first + seeds);
    mutant_weaken(m, SIM_AS_WRITTEN);
    return outcome->kind == SIM_PASSED ? 0 : order.seed;
}

/* Does the program as it is pass with that seed? */
static bool
passes_unmutated(const options *o, const sim_order *mutated, uint64_t seed)
{
    sim_order order = {
        .scenario = mutated->scenario, .seed = seed, .steps_max = mutated->steps_max};
    seed_run(&order, o->second);
    if (o->second->kind != SIM_PASSED) {
        printf("  the program fails by itself: sim --scenario %s --seed %" PRIu64 "\n",
               order.scenario->name, seed);
    }
    return o->second->kind == SIM_PASSED;
}

static const char *
reason_to_survive(const sim_scenario *scenario, const mutant *m, bool *elsewhere)
{
    char text[LABEL_BYTES + 16];
    (void)snprintf(text, sizeof text, "%s%.*s", weakening_names[m->weakening], LABEL_BYTES - 1,
                   m->label);
    *elsewhere = false;
    return survivor_reason(scenario->name, m->where.function, text, elsewhere);
}

/* True: m->weakening is another kind of mutant; first from SIM_AS_WRITTEN on. */
static bool
kind_next(mutant *m)
{
    do {
        m->weakening++;
    } while (m->weakening < SIM_WEAKENINGS && !(m->kinds & 1u << m->weakening));
    return m->weakening < SIM_WEAKENINGS;
}

#define SEEDS_FOR_LISTED 500u

/* Prints one row. True: as it should be. */
static bool
judge(const options *o, const sim_order *order, const mutant *m, sim_outcome *outcome)
{
    char line[PLACE_FILE_BYTES + 16] = "";
    bool elsewhere;
    const char *reason = reason_to_survive(order->scenario, m, &elsewhere);
    uint64_t seeds =
        reason && o->mutant_seeds > SEEDS_FOR_LISTED ? SEEDS_FOR_LISTED : o->mutant_seeds;
    uint64_t seed = hunt(o, order, m, seeds, outcome);
    if (m->where.line) {
        (void)snprintf(line, sizeof line, "%s:%" PRIu32, m->where.file, m->where.line);
    }
    printf("  %-46s %-18s %-26s %s", m->label, line, m->where.function,
           weakening_names[m->weakening]);
    if (seed) {
        printf("%s by seed %" PRIu64 "\n", report_kind(outcome->kind), seed);
    } else {
        printf("survives%s%s\n", reason ? ": " : "", reason ? reason : ", unlisted");
    }
    if (!seed) {
        return reason != NULL;
    }
    return (!reason || elsewhere) && passes_unmutated(o, order, seed);
}

static bool
is_at(const source_line *line, const char *where)
{
    char place[PLACE_FILE_BYTES + 16];
    (void)snprintf(place, sizeof place, "%.*s:%" PRIu32, PLACE_FILE_BYTES, line->file, line->line);
    return strcmp(where, place) == 0;
}

/* What stands before "file:line", as in "torn:file:line". */
static sim_weakening
weakening_read(const char **where)
{
    for (uint32_t w = SIM_NO_RELEASE; w < SIM_WEAKENINGS; w++) {
        size_t length = strlen(weakening_names[w]) - 1;
        if (strncmp(*where, weakening_names[w], length) == 0) {
            *where += length;
            return (sim_weakening)w;
        }
    }
    return SIM_RELAXED;
}

bool
mutant_weaken_line(const sim_scenario *scenario, sim_outcome *outcome, const char *where)
{
    sim_weakening weakening = weakening_read(&where);
    static uint32_t sites[SITES_MAX];
    static source_line lines[SITES_MAX];
    bool met = false;
    for (uint32_t site = 1; site < SIM_PROGRAM_BYTES; site++) {
        sim_world_weaken(site, SIM_AS_WRITTEN);
    }
    uint32_t count = sites_met(scenario, outcome, sites);
    report_lines(sites, count, lines);
    for (uint32_t i = 0; i < count; i++) {
        if (is_at(&lines[i], where)) {
            sim_world_weaken(sites[i], weakening);
            met = true;
        }
    }
    return met;
}

/* For another program (order_test.py): scenario, place, function and label of each order, and what
 * becomes of its mutant. */
bool
mutants_list(const options *o, const sim_scenario *scenario, sim_outcome *outcome)
{
    static mutant mutants[SITES_MAX];
    (void)o;
    memset(mutants, 0, sizeof mutants);
    uint32_t count = mutants_find(scenario, outcome, mutants);
    for (uint32_t i = 0; i < count; i++) {
        mutant *m = &mutants[i];
        bool elsewhere;
        while (kind_next(m)) {
            printf("%s\t%s:%" PRIu32 "\t%s\t%s%s\t%s\n", scenario->name, m->where.path,
                   m->where.line, m->where.function, weakening_names[m->weakening], m->label,
                   reason_to_survive(scenario, m, &elsewhere) ? "survives" : "found");
        }
    }
    return true;
}

bool
mutants_run(const options *o, const sim_scenario *scenario, sim_outcome *outcome)
{
    static mutant mutants[SITES_MAX];
    memset(mutants, 0, sizeof mutants);
    uint32_t count = mutants_find(scenario, outcome, mutants);
    sim_order order = {.scenario = scenario, .steps_max = STEPS_MAX};
    uint32_t wrong = 0;
    uint32_t judged = 0;
    printf("%s: %" PRIu32 " places\n", scenario->name, count);
    for (uint32_t i = 0; i < count; i++) {
        for (mutant *m = &mutants[i]; kind_next(m); judged++) {
            wrong += !judge(o, &order, m, outcome);
        }
    }
    if (scenario->waits_forever && !scenario->wakers_pay) {
        mutant barrier = {.label = "without the heavy barrier"};
        order.barrier_missing = true;
        wrong += !judge(o, &order, &barrier, outcome);
        order.barrier_missing = false;
        judged++;
    }
    if (scenario->waits_forever) {
        mutant wake = {.label = "without wakes"};
        order.wake_missing = true;
        wrong += !judge(o, &order, &wake, outcome);
        judged++;
    }
    printf("%s: %" PRIu32 " mutants, %" PRIu32 " not as expected\n", scenario->name, judged, wrong);
    return wrong == 0 && judged != 0;
}
