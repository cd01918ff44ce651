/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What every benchmark program shares: restarts, interleaving, intervals, goals, the report.
 *
 * Words
 *   subject    one of the things compared: ours, a peer, ours in another form
 *   measure    one restart of a subject: maps its memory afresh, runs, checks order and content,
 *              writes its values (one or several: a rate; a median and a p99.9)
 *   question   subjects that are measured interleaved: restart 1 of each, then restart 2 of each,
 *              ...; every round in another order, which looks like chance
 *   goal       a ratio and what it shall be: own value over the best peer's, own over one
 *              partner's, or own over a fixed figure
 *
 * The ratio of a goal is the median over the restarts of (own / partner in the same restart), its
 * interval the 95 % order-statistic interval of that median, which assumes nothing about the
 * distribution. The best peer is the one with the best median. Verdict (a goal is met when the
 * interval reaches it, and its worse end keeps it with 0.05 to spare for noise):
 *     at most  g:  met when lower <= g and upper <= g + 0.05, missed when lower > g + 0.05
 *     at least g:  met when upper >= g and lower >= g - 0.05, missed when upper < g - 0.05
 * Else it is undecided.
 * Time goes where it decides something. Every question is measured BENCH_RESTARTS times, one
 * without a goal BENCH_RESTARTS_NO_GOAL times. One of which a goal is then undecided is measured
 * on, and its intervals are looked at again whenever it has a third more restarts: until all its
 * goals are decided, until it has BENCH_RESTARTS_MAX, or until the time for such is used up. To it
 * each question brings a share of what its own restarts took (BENCH_EXTRA_SHARE); what is left
 * over the next question has, and the next program (--extra, "extra_left" in the JSON). So a run
 * takes at most that share longer than one in which all is clear at once. Every restart counts. (An
 * interval that is looked at several times errs more often than one in twenty times, toward either
 * verdict; how many restarts a question has is in the report.) Fewer than 20 restarts (--short):
 * the verdict is provisional, printed with a "?". A goal for a quiet machine only (the rings'
 * p99.9) is "reported" unless under SCHED_FIFO and load below 0.2.
 *
 * A program:
 *     int main(int argc, char **argv) {
 *         bench b;
 *         bench_begin(&b, argc, argv, "lock_bench", "Locks beside pthread's");
 *         bench_subject subjects[] = {{"medley", measure_ours, NULL}, {"pthread", ...}};
 *         bench_goal goals[] = {BENCH_BESIDE("uncontended", 1, BENCH_AT_MOST, 0.9)};
 *         bench_question q = {...};
 *         bench_ask(&b, &q);
 *         return bench_end(&b);
 *     }
 *
 * Options of every program: --short (fewer restarts, less work), --restarts N, --no-fifo,
 * --extra SECONDS, --only TEXT (questions whose name contains it), --json FILE, --markdown FILE
 * (rows appended). On a terminal it shows which restart of which question it is at.
 * Exit: 0 measured, 1 a functional check failed, 2 wrong use. A missed goal is not a failure.
 */
#ifndef MEDLEY_BENCH_BENCH_H
#define MEDLEY_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_SUBJECTS_MAX 12
#define BENCH_VALUES_MAX 17
#define BENCH_RESTARTS_MAX 101
#define BENCH_RESTARTS 21         /* a full run; the rule asks for 20 */
#define BENCH_RESTARTS_SHORT 7    /* the fewest with a 95 % interval is 6 */
#define BENCH_RESTARTS_NO_GOAL 11 /* of a question without a goal: an interval, and no more */
#define BENCH_EXTRA_SHARE 0.25 /* of the time of a question's first restarts, for the undecided */
#define BENCH_EXTRA_S 10       /* what the first question may take of others' time */
#define BENCH_THREADS_MAX 16

typedef struct bench {
    const char *program;
    const char *only;
    FILE *json;
    FILE *markdown;
    uint32_t restarts;
    bool is_short;
    bool fifo;            /* timed threads run under SCHED_FIFO */
    const char *fifo_why; /* why not */
    /* Where the timed threads are pinned: the first that are allowed; two at least, though they may
     * be the same one. */
    uint32_t processors[BENCH_THREADS_MAX];
    uint32_t processor_count; /* different ones */
    double load;              /* 1 minute, at the beginning */
    double began_s;           /* by the monotonic clock */
    double extra_left_s;      /* which undecided questions may take beyond their share */
    uint32_t questions;
    bool failed;
} bench;

typedef struct bench_subject {
    const char *name;
    /* One restart: false when a functional check failed or the machine refused (says why on
     * stderr). */
    bool (*measure)(const bench *b, void *context, double *values);
    void *context;
} bench_subject;

typedef enum bench_direction {
    BENCH_AT_LEAST, /* more is better */
    BENCH_AT_MOST,  /* less is better */
} bench_direction;

typedef struct bench_goal {
    const char *name;
    uint32_t own;        /* index of the subject */
    uint32_t first_peer; /* the best of `peer_count` subjects from here is the partner */
    uint32_t peer_count; /* 0: no partner, `figure` takes its place */
    double figure;       /* a value in the unit of that value */
    double factor;       /* what the ratio shall be */
    bench_direction direction;
    uint32_t value; /* which of the values */
    bool quiet_only;
    bool report_only; /* nobody has set a goal: the figure is what would be best */
} bench_goal;

/* The subject of index 0 beside that of index `peer`. */
#define BENCH_BESIDE(text, peer, wanted, by)                                                       \
    {                                                                                              \
        .name = (text), .first_peer = (peer), .peer_count = 1, .direction = (wanted),              \
        .factor = (by)                                                                             \
    }
/* The subject of index `subject` and a figure of its unit. */
#define BENCH_AT_MOST_FIGURE(text, subject, most)                                                  \
    {                                                                                              \
        .name = (text), .own = (subject), .figure = (most), .factor = 1,                           \
        .direction = BENCH_AT_MOST                                                                 \
    }

#define BENCH_COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

typedef struct bench_question {
    const char *name;                          /* "24 B, one at a time, in place" */
    const char *setting;                       /* the size of everything, and what was touched */
    const char *unit;                          /* "M/s", "ns" */
    const char *value_names[BENCH_VALUES_MAX]; /* [0] may be NULL when there is one */
    const char *value_units[BENCH_VALUES_MAX]; /* NULL: the question's unit */
    uint32_t value_count;
    const bench_subject *subjects;
    uint32_t subject_count;
    const bench_goal *goals;
    uint32_t goal_count;
} bench_question;

/* Reads the options, looks at the machine, prints it. Ends the program on a wrong option. */
void bench_begin(bench *b, int argc, char **argv, const char *program, const char *title);
/* Measures and reports one question. */
void bench_ask(bench *b, const bench_question *question);
/* Closes the files; what main returns. */
int bench_end(bench *b);

/* ---- For the measuring functions ------------------------------------------------------------- */

/* `full` in a full run, about a fifth of it under --short. */
uint64_t bench_count(const bench *b, uint64_t full);

/* Fresh zeroed pages, all of them there, shared like a partition's. Never NULL: ends the program
 * when there is no memory. */
void *bench_map(size_t size_bytes);
void bench_unmap(void *address, size_t size_bytes);

typedef struct bench_thread {
    void (*run)(void *argument);
    void *argument;
    uint32_t processor; /* index into bench.processors; 0 and 1 are always there */
    bool sleeps;        /* it may share its processor: never under SCHED_FIFO */
} bench_thread;

/* Runs all of them at once, each pinned; nanoseconds from the common start to the end of the last.
 * Ends the program when they take longer than a minute. */
uint64_t bench_run(const bench *b, const bench_thread *threads, uint32_t count);

/* Says on stderr what check failed; returns false, for `return bench_failed(...)`. */
bool bench_failed(const char *subject, const char *what);

/* What `count` single operations of the subject took, each less `clock_ns`, what reading the clock
 * costs: of all restarts together their distribution goes into the JSON. */
void bench_latencies(const double *ns, size_t count, double clock_ns);

/* The p-th permille of `count` samples, which it sorts. */
double bench_permille(double *samples, size_t count, double permille);

/* ---- Between bench.c and bench_report.c ------------------------------------------------------ */
typedef struct bench_samples {
    /* [subject][value][restart] */
    double at[BENCH_SUBJECTS_MAX][BENCH_VALUES_MAX][BENCH_RESTARTS_MAX];
    uint32_t restarts;
    double took_s;
    /* Of single operations, in all restarts; of most subjects there are none. */
    struct histogram *latencies[BENCH_SUBJECTS_MAX];
} bench_samples;

typedef struct bench_interval {
    double median, low, high;
} bench_interval;

double bench_now_s(void);
bool bench_report_is_undecided(const bench *b,
                               const bench_question *question,
                               const bench_samples *samples);
bench_interval bench_interval_of(const double *samples, uint32_t count);
void bench_report_machine(bench *b, const char *title);
void bench_report_question(bench *b, const bench_question *question, const bench_samples *samples);
void bench_report_end(bench *b);

#ifdef __cplusplus
}
#endif
#endif
