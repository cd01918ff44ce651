/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds up what the nodes have recorded, makes the document of it, and prints that with bars. */
#include "tools/medley/stress_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/medley/output.h"
#include "tools/medley/stress_crew.h"

#define BAR_MOST 40
#define POWERS 40u

static json_t *
number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* ---- The document ---------------------------------------------------------------------------- */

/* Null where there are no others to share with. */
static json_t *
share_make(bool shares, uint32_t worst_share)
{
    return shares ? json_real((double)worst_share / STRESS_WHOLE) : json_null();
}

static json_t *
node_make(const deployment *d, uint32_t i, const stress_record *record)
{
    /* Relaxed, all: it has ended. */
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "node", (int)i, "run", deployment_run_names[d->nodes[i].run], "affinity",
                     deployment_affinity_names[d->nodes[i].affinity], "sent",
                     number(atomic64_load_relaxed(&record->sent)), "received",
                     number(atomic64_load_relaxed(&record->received)), "skipped",
                     number(atomic64_load_relaxed(&record->skipped)), "retries",
                     number(record->retries), "retries_worst", number(record->retries_worst),
                     "copies_again", number(record->copies_again), "copies_again_worst",
                     number(record->copies_again_worst), "yields", number(record->yields),
                     "wake_ups", number(record->wake_ups), "switches", number(record->switches),
                     "worked_ns", number(record->worked_ns), "worst_share",
                     share_make(record->shares, record->worst_share));
}

/* By powers of two. */
static json_t *
rows_make(const histogram *h)
{
    json_t *rows = json_array();
    for (unsigned power = 0; power < POWERS; power++) {
        uint64_t from_ns = power ? UINT64_C(1) << power : 0, to_ns = UINT64_C(2) << power;
        uint64_t count = histogram_between(h, from_ns, to_ns);
        if (count) {
            (void)json_array_append_new(rows, json_pack("{s:o, s:o, s:o}", "from_ns",
                                                        number(from_ns), "below_ns", number(to_ns),
                                                        "count", number(count)));
        }
    }
    return rows;
}

static json_t *
latency_make(const histogram *h)
{
    static const struct {
        const char *key;
        double share;
    } shares[] = {{"median_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}, {"p99_9_ns", 0.999}};
    if (h->total == 0) {
        return json_null();
    }
    json_t *latency = json_pack("{s:o, s:o, s:o, s:o}", "count", number(h->total), "least_ns",
                                number(h->least_ns), "mean_ns", number(h->sum_ns / h->total),
                                "most_ns", number(h->most_ns));
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        (void)json_object_set_new(latency, shares[i].key, number(histogram_at(h, shares[i].share)));
    }
    (void)json_object_set_new(latency, "histogram", rows_make(h));
    return latency;
}

typedef struct sums {
    uint64_t received, skipped, retries, retries_worst, copies_again, copies_again_worst;
    uint64_t yields, wake_ups, switches, worked_ns, begin_ns, end_ns;
    bool shares;
    uint32_t worst_share; /* of the receiver where it is least */
} sums;

static uint64_t
larger(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static void
add(sums *s, const stress_record *record)
{
    /* Relaxed, both: it has ended. */
    s->received += atomic64_load_relaxed(&record->received);
    s->skipped += atomic64_load_relaxed(&record->skipped);
    s->retries += record->retries;
    s->retries_worst = larger(s->retries_worst, record->retries_worst);
    s->copies_again += record->copies_again;
    s->copies_again_worst = larger(s->copies_again_worst, record->copies_again_worst);
    s->yields += record->yields;
    s->wake_ups += record->wake_ups;
    s->switches += record->switches;
    s->worked_ns += record->worked_ns;
    if (record->shares && (!s->shares || record->worst_share < s->worst_share)) {
        s->shares = true;
        s->worst_share = record->worst_share;
    }
    s->begin_ns = record->begin_ns < s->begin_ns ? record->begin_ns : s->begin_ns;
    s->end_ns = record->end_ns > s->end_ns ? record->end_ns : s->end_ns;
}

/* The library's word for it; what it does not know it ignores, and says so. */
static json_t *
exchange_name(void)
{
    const char *wanted = getenv("MEDLEY_EXCHANGE");
    return output_string(wanted && strcmp(wanted, "locked") == 0 ? "locked" : "lock-free");
}

json_t *
stress_report_make(const deployment *d, const stress_shared *shared)
{
    histogram *latency = calloc(1, sizeof *latency);
    json_t *nodes = json_array();
    sums s = {.begin_ns = UINT64_MAX};
    if (!latency || !nodes) {
        free(latency);
        return NULL;
    }
    for (uint32_t i = 1; i <= d->node_count; i++) {
        const stress_record *record = &shared->records[i - 1];
        (void)json_array_append_new(nodes, node_make(d, i, record));
        histogram_merge(latency, &record->latency);
        add(&s, record);
    }
    uint64_t took_ns = s.end_ns > s.begin_ns ? s.end_ns - s.begin_ns : 1;
    json_t *report = json_pack(
        "{s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "topology", output_string(d->name), "exchange", exchange_name(), "nodes", nodes, "channels",
        (int)d->channel_count, "transactions", number(s.received), "skipped", number(s.skipped),
        "took_ns", number(took_ns), "per_second", (double)s.received * 1e9 / (double)took_ns,
        "retries", number(s.retries), "retries_worst", number(s.retries_worst), "copies_again",
        number(s.copies_again), "copies_again_worst", number(s.copies_again_worst), "yields",
        number(s.yields), "wake_ups", number(s.wake_ups), "switches", number(s.switches),
        "worked_ns", number(s.worked_ns), "worst_share", share_make(s.shares, s.worst_share),
        "latency", latency_make(latency));
    free(latency);
    return report;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static const output_column node_columns[] = {
    {"NODE", "node", NULL, true},          {"RUNS AS", "run", NULL, false},
    {"AFFINITY", "affinity", NULL, false}, {"SENT", "sent", NULL, true},
    {"RECEIVED", "received", NULL, true},  {"SKIPPED", "skipped", NULL, true},
    {"RETRIES", "retries", NULL, true},    {"WORST", "retries_worst", NULL, true},
    {"YIELDS", "yields", NULL, true},      {"WAKE-UPS", "wake_ups", NULL, true},
};

static uint64_t
value(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static double
microseconds(const json_t *object, const char *key)
{
    return (double)value(object, key) / 1e3;
}

static void
latency_print(const json_t *latency)
{
    static const char bar[] = "########################################";
    uint64_t all = value(latency, "count");
    (void)printf(
        "latency, us: least %.2f, median %.2f, p90 %.2f, p99 %.2f, p99.9 %.2f, most %.2f\n",
        microseconds(latency, "least_ns"), microseconds(latency, "median_ns"),
        microseconds(latency, "p90_ns"), microseconds(latency, "p99_ns"),
        microseconds(latency, "p99_9_ns"), microseconds(latency, "most_ns"));
    const json_t *rows = json_object_get(latency, "histogram");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        double share = (double)value(row, "count") / (double)all;
        (void)printf("  < %12.2f us  %6.2f %%  %.*s\n", microseconds(row, "below_ns"), share * 100,
                     (int)(share * BAR_MOST + 0.5), bar);
    }
}

static void
counts_print(const json_t *report)
{
    const json_t *share = json_object_get(report, "worst_share");
    (void)printf("retries %" PRIu64 ", at most %" PRIu64 " for one; yields %" PRIu64
                 ", wake-ups %" PRIu64 "\n",
                 value(report, "retries"), value(report, "retries_worst"), value(report, "yields"),
                 value(report, "wake_ups"));
    if (value(report, "copies_again")) {
        (void)printf("states copied again %" PRIu64 " times, at most %" PRIu64 " for one\n",
                     value(report, "copies_again"), value(report, "copies_again_worst"));
    }
    if (json_is_real(share)) {
        (void)printf("worst sender's share: %.0f %% of the mean\n", json_real_value(share) * 100);
    }
}

void
stress_report_print(const json_t *report)
{
    const json_t *latency = json_object_get(report, "latency");
    (void)printf("%s: nodes %zu, channels %" PRIu64 ", %s exchange\n",
                 json_string_value(json_object_get(report, "topology")),
                 json_array_size(json_object_get(report, "nodes")), value(report, "channels"),
                 json_string_value(json_object_get(report, "exchange")));
    (void)printf("%s in %.3f s: %.0f a second\n",
                 output_count_text(value(report, "transactions"), "transactions"),
                 (double)value(report, "took_ns") / 1e9,
                 json_real_value(json_object_get(report, "per_second")));
    counts_print(report);
    if (json_is_object(latency)) {
        latency_print(latency);
    }
    OUTPUT_TABLE(json_object_get(report, "nodes"), node_columns);
}
