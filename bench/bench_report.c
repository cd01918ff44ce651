/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Medians, their intervals, ratios, verdicts; the table, the JSON, the Markdown. */
#include "bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "tools/medley/histogram.h"

#define TOLERANCE 0.05
#define LOAD_QUIET 0.2
#define RESTARTS_FINAL 20

/* ---- Statistics ------------------------------------------------------------------------------ */

static int
by_value(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

double
bench_permille(double *samples, size_t count, double permille)
{
    qsort(samples, count, sizeof *samples, by_value);
    size_t rank = (size_t)(permille / 1000 * (double)(count - 1) + 0.5);
    return samples[rank];
}

/* How many samples may be cut off at either end so that the rest still covers the median with 95 %:
 * the largest k with P(Binomial(count, 1/2) < k) <= 2.5 %. 0 when `count` is too small. */
static uint32_t
interval_cut(uint32_t count)
{
    double probability = 1;
    for (uint32_t i = 0; i < count; i++) {
        probability /= 2;
    }
    double below = 0;
    for (uint32_t k = 0; k < count; k++) {
        below += probability; /* P(X <= k) */
        if (below > 0.025) {
            return k;
        }
        probability *= (double)(count - k) / (double)(k + 1);
    }
    return 0;
}

bench_interval
bench_interval_of(const double *samples, uint32_t count)
{
    double sorted[BENCH_RESTARTS_MAX];
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    uint32_t cut = interval_cut(count);
    uint32_t low = cut ? cut - 1 : 0;
    double median = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    return (bench_interval){median, sorted[low], sorted[count - 1 - low]};
}

/* ---- Goals ----------------------------------------------------------------------------------- */

typedef struct outcome {
    uint32_t partner; /* meaningless without peers */
    bench_interval ratio;
    const char *verdict;
} outcome;

static uint32_t
best_peer(const bench_goal *goal, const bench_samples *samples)
{
    uint32_t best = goal->first_peer;
    double best_median =
        bench_interval_of(samples->at[best][goal->value], samples->restarts).median;
    for (uint32_t i = 1; i < goal->peer_count; i++) {
        uint32_t peer = goal->first_peer + i;
        double median = bench_interval_of(samples->at[peer][goal->value], samples->restarts).median;
        bool better =
            goal->direction == BENCH_AT_LEAST ? median > best_median : median < best_median;
        if (better) {
            best = peer;
            best_median = median;
        }
    }
    return best;
}

static const char *
verdict_of(const bench *b, const bench_goal *goal, bench_interval ratio, uint32_t restarts)
{
    bool at_least = goal->direction == BENCH_AT_LEAST;
    double limit = at_least ? goal->factor - TOLERANCE : goal->factor + TOLERANCE;
    bool quiet = b->fifo && b->load >= 0 && b->load < LOAD_QUIET;
    if (goal->report_only || (goal->quiet_only && !quiet)) {
        return "reported";
    }
    bool may_keep = at_least ? ratio.high >= goal->factor : ratio.low <= goal->factor;
    bool met = may_keep && (at_least ? ratio.low >= limit : ratio.high <= limit);
    bool missed = at_least ? ratio.high < limit : ratio.low > limit;
    bool final = restarts >= RESTARTS_FINAL;
    if (interval_cut(restarts) == 0 || (!met && !missed)) {
        return final ? "undecided" : "undecided?";
    }
    if (met) {
        return final ? "met" : "met?";
    }
    return final ? "missed" : "missed?";
}

static outcome
outcome_of(const bench *b, const bench_goal *goal, const bench_samples *samples)
{
    outcome result = {0};
    double ratios[BENCH_RESTARTS_MAX];
    const double *own = samples->at[goal->own][goal->value];
    const double *partner = NULL;
    if (goal->peer_count) {
        result.partner = best_peer(goal, samples);
        partner = samples->at[result.partner][goal->value];
    }
    for (uint32_t i = 0; i < samples->restarts; i++) {
        ratios[i] = own[i] / (partner ? partner[i] : goal->figure);
    }
    result.ratio = bench_interval_of(ratios, samples->restarts);
    result.verdict = verdict_of(b, goal, result.ratio, samples->restarts);
    return result;
}

bool
bench_report_is_undecided(const bench *b,
                          const bench_question *question,
                          const bench_samples *samples)
{
    for (uint32_t g = 0; g < question->goal_count; g++) {
        if (strcmp(outcome_of(b, &question->goals[g], samples).verdict, "undecided") == 0) {
            return true;
        }
    }
    return false;
}

static const char *
partner_name(const bench_question *question, const bench_goal *goal, const outcome *result)
{
    return goal->peer_count ? question->subjects[result->partner].name : "the figure";
}

static const char *
value_name(const bench_question *question, uint32_t value)
{
    return question->value_names[value] ? question->value_names[value] : "";
}

static const char *
value_unit(const bench_question *question, uint32_t value)
{
    return question->value_units[value] ? question->value_units[value] : question->unit;
}

/* "at least 1.50x ck_ring", "at least 20 M/s" */
static void
goal_text(const bench_question *q, const bench_goal *g, const outcome *o, char *text, size_t size)
{
    const char *word = g->direction == BENCH_AT_LEAST ? "at least" : "at most";
    if (g->report_only) {
        snprintf(text, size, "none; %g %s is best", g->figure, value_unit(q, g->value));
    } else if (g->peer_count) {
        snprintf(text, size, "%s %.2fx %s", word, g->factor, partner_name(q, g, o));
    } else {
        snprintf(text, size, "%s %g %s", word, g->factor * g->figure, value_unit(q, g->value));
    }
}

/* ---- The machine ----------------------------------------------------------------------------- */

static void
processor_model(char *model, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(model, size, "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(model, size, "%s", colon + 2);
            break;
        }
    }
    if (file) {
        (void)fclose(file);
    }
}

void
bench_report_machine(bench *b, const char *title)
{
    char model[128];
    struct utsname name;
    processor_model(model, sizeof model);
    if (uname(&name) != 0) {
        memset(&name, 0, sizeof name);
    }
    printf("%s: %s\n", b->program, title);
    printf("machine: %s, %s %s %s\n", model, name.sysname, name.release, name.machine);
    printf("pinned to processors %u and %u; %s%s; load average %.2f; %u restarts%s\n",
           b->processors[0], b->processors[1],
           b->fifo ? "SCHED_FIFO" : "not SCHED_FIFO: ", b->fifo ? "" : b->fifo_why, b->load,
           b->restarts, b->is_short ? " (short)" : "");
    (void)fflush(stdout);
    if (b->json) {
        fprintf(b->json,
                "{\"program\": \"%s\", \"title\": \"%s\", \"machine\": \"%s\", \"system\": \"%s %s "
                "%s\", \"compiler\": \"" BENCH_COMPILER "\",\n \"pinned\": [%u, %u], \"fifo\": %s, "
                "\"load\": %.2f, \"short\": %s, \"restarts\": %u,\n \"questions\": [",
                b->program, title, model, name.sysname, name.release, name.machine,
                b->processors[0], b->processors[1], b->fifo ? "true" : "false", b->load,
                b->is_short ? "true" : "false", b->restarts);
    }
}

/* ---- One question ---------------------------------------------------------------------------- */

static void
table_print(const bench *b, const bench_question *question, const bench_samples *samples)
{
    printf("\n%s\n  (%s; %u restarts, %.1f s)\n", question->name, question->setting,
           samples->restarts, samples->took_s);
    for (uint32_t s = 0; s < question->subject_count; s++) {
        for (uint32_t v = 0; v < question->value_count; v++) {
            bench_interval i = bench_interval_of(samples->at[s][v], samples->restarts);
            printf("    %-36s %-7s %9.2f %-4s [%.2f .. %.2f]\n", question->subjects[s].name,
                   value_name(question, v), i.median, value_unit(question, v), i.low, i.high);
        }
    }
    for (uint32_t g = 0; g < question->goal_count; g++) {
        char text[160];
        outcome o = outcome_of(b, &question->goals[g], samples);
        goal_text(question, &question->goals[g], &o, text, sizeof text);
        printf("  goal %s: %s: ratio %.2f [%.2f .. %.2f]: %s\n", question->goals[g].name, text,
               o.ratio.median, o.ratio.low, o.ratio.high, o.verdict);
    }
    (void)fflush(stdout);
}

static void
json_samples(FILE *json, const bench_question *question, const bench_samples *samples, uint32_t s)
{
    for (uint32_t v = 0; v < question->value_count; v++) {
        bench_interval i = bench_interval_of(samples->at[s][v], samples->restarts);
        fprintf(json,
                "%s{\"value\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"low\": %.6g, "
                "\"high\": %.6g, ",
                v ? ", " : "", value_name(question, v), value_unit(question, v), i.median, i.low,
                i.high);
        fprintf(json, "\"samples\": [");
        for (uint32_t r = 0; r < samples->restarts; r++) {
            fprintf(json, "%s%.6g", r ? ", " : "", samples->at[s][v][r]);
        }
        fprintf(json, "]}");
    }
}

/* The times that a share of the operations did not exceed, denser toward the slow ones; and how
 * many took between two powers of two. */
static void
json_latencies(FILE *json, const histogram *h)
{
    static const double shares[] = {0,     0.1,   0.2,    0.3,    0.4,    0.5,     0.6,
                                    0.7,   0.8,   0.9,    0.95,   0.98,   0.99,    0.995,
                                    0.998, 0.999, 0.9995, 0.9998, 0.9999, 0.99999, 1};
    if (h->total == 0) {
        return;
    }
    fprintf(json,
            ", \"latencies\": {\"count\": %" PRIu64 ", \"least_ns\": %" PRIu64
            ", \"most_ns\": %" PRIu64 ", \"shares\": [",
            h->total, h->least_ns, h->most_ns);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        fprintf(json, "%s[%g, %" PRIu64 "]", i ? ", " : "", shares[i], histogram_at(h, shares[i]));
    }
    fprintf(json, "], \"histogram\": [");
    const char *comma = "";
    for (uint64_t from_ns = 1; from_ns <= h->most_ns && from_ns < UINT64_C(1) << 40; from_ns *= 2) {
        uint64_t count = histogram_between(h, from_ns, from_ns * 2);
        if (count) {
            fprintf(json, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", comma, from_ns, from_ns * 2,
                    count);
            comma = ", ";
        }
    }
    fprintf(json, "]}");
}

static void
json_print(const bench *b, const bench_question *question, const bench_samples *samples)
{
    FILE *json = b->json;
    fprintf(json,
            "%s\n  {\"name\": \"%s\", \"setting\": \"%s\", \"unit\": \"%s\", \"restarts\": %u, "
            "\"seconds\": %.3f,\n   \"subjects\": [",
            b->questions ? "," : "", question->name, question->setting, question->unit,
            samples->restarts, samples->took_s);
    for (uint32_t s = 0; s < question->subject_count; s++) {
        fprintf(json, "%s\n    {\"name\": \"%s\", \"values\": [", s ? "," : "",
                question->subjects[s].name);
        json_samples(json, question, samples, s);
        fprintf(json, "]");
        json_latencies(json, samples->latencies[s]);
        fprintf(json, "}");
    }
    fprintf(json, "],\n   \"goals\": [");
    for (uint32_t g = 0; g < question->goal_count; g++) {
        const bench_goal *goal = &question->goals[g];
        outcome o = outcome_of(b, goal, samples);
        fprintf(
            json,
            "%s\n    {\"name\": \"%s\", \"value\": \"%s\", \"own\": \"%s\", \"partner\": \"%s\", "
            "\"direction\": \"%s\", \"factor\": %g, \"figure\": %g, \"ratio\": %.6g, \"low\": "
            "%.6g, "
            "\"high\": %.6g, \"verdict\": \"%s\"}",
            g ? "," : "", goal->name, value_name(question, goal->value),
            question->subjects[goal->own].name, partner_name(question, goal, &o),
            goal->direction == BENCH_AT_LEAST ? "at least" : "at most", goal->factor, goal->figure,
            o.ratio.median, o.ratio.low, o.ratio.high, o.verdict);
    }
    fprintf(json, "]}");
}

static void
markdown_print(const bench *b, const bench_question *question, const bench_samples *samples)
{
    for (uint32_t g = 0; g < question->goal_count; g++) {
        const bench_goal *goal = &question->goals[g];
        char text[160];
        outcome o = outcome_of(b, goal, samples);
        bench_interval own =
            bench_interval_of(samples->at[goal->own][goal->value], samples->restarts);
        goal_text(question, goal, &o, text, sizeof text);
        fprintf(b->markdown, "| %s: %s (%s) | %.4g %s | %s | %.2f [%.2f, %.2f] | %s |\n",
                question->name, goal->name, question->setting, own.median,
                value_unit(question, goal->value), text, o.ratio.median, o.ratio.low, o.ratio.high,
                o.verdict);
    }
}

void
bench_report_question(bench *b, const bench_question *question, const bench_samples *samples)
{
    table_print(b, question, samples);
    if (b->json) {
        json_print(b, question, samples);
    }
    if (b->markdown) {
        markdown_print(b, question, samples);
    }
}

void
bench_report_end(bench *b)
{
    double load = -1;
    if (getloadavg(&load, 1) != 1) {
        load = -1;
    }
    double took_s = bench_now_s() - b->began_s;
    double extra_left_s = b->extra_left_s > 0 ? b->extra_left_s : 0;
    printf("\n%u questions in %.1f s; load average at the end %.2f%s\n", b->questions, took_s, load,
           b->failed ? "; A FUNCTIONAL CHECK FAILED" : "");
    if (b->json) {
        fprintf(b->json,
                "],\n \"load_end\": %.2f, \"seconds\": %.1f, \"extra_left\": %.1f, "
                "\"failed\": %s}\n",
                load, took_s, extra_left_s, b->failed ? "true" : "false");
    }
}
