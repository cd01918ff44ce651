/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Options, restarts, pinned threads, fresh memory. */
#include "bench.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "port/port.h"
#include "tools/medley/histogram.h"

#define FIFO_PRIORITY 50
#define RUN_LIMIT_S 60

/* ---- The beginning --------------------------------------------------------------------------- */

static void
usage(const bench *b, FILE *to, int status)
{
    fprintf(to,
            "usage: %s [--short] [--restarts N] [--no-fifo] [--extra SECONDS] [--only TEXT]\n"
            "       [--json FILE] [--markdown FILE] [--help]\n"
            "  --short     fewer restarts: %d instead of %d\n"
            "  --restarts  so many, 1 to %d; each row tells their median and quartiles\n"
            "  --no-fifo   not at a priority above the machine's other work\n"
            "  --extra     what the undecided may take beyond their share (%d s)\n"
            "  --only      the rows whose names have this text in them\n"
            "  --json      writes the figures to a file\n"
            "  --markdown  adds the table to a file\n",
            b->program, BENCH_RESTARTS_SHORT, BENCH_RESTARTS, BENCH_RESTARTS_MAX, BENCH_EXTRA_S);
    exit(status);
}

static FILE *
open_or_exit(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(2);
    }
    return file;
}

static uint32_t
restarts_from(const char *text, const char *program)
{
    char *end;
    unsigned long restarts = strtoul(text, &end, 10);
    if (*end || restarts < 1 || restarts > BENCH_RESTARTS_MAX) {
        fprintf(stderr, "%s: --restarts takes 1 to %d\n", program, BENCH_RESTARTS_MAX);
        exit(2);
    }
    return (uint32_t)restarts;
}

static double
seconds_from(const char *text, const char *program)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0 && seconds < 1e6)) {
        fprintf(stderr, "%s: --extra takes seconds, 0 or more\n", program);
        exit(2);
    }
    return seconds;
}

static void
options_read(bench *b, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(option, "--short") == 0) {
            b->is_short = true;
            continue;
        }
        if (strcmp(option, "--help") == 0) {
            usage(b, stdout, 0);
        }
        if (strcmp(option, "--no-fifo") == 0) {
            b->fifo_why = "not wanted (--no-fifo)";
            continue;
        }
        if (!value) {
            usage(b, stderr, 2);
        }
        if (strcmp(option, "--restarts") == 0) {
            b->restarts = restarts_from(value, b->program);
        } else if (strcmp(option, "--extra") == 0) {
            b->extra_left_s = seconds_from(value, b->program);
        } else if (strcmp(option, "--only") == 0) {
            b->only = value;
        } else if (strcmp(option, "--json") == 0) {
            b->json = open_or_exit(value, "w");
        } else if (strcmp(option, "--markdown") == 0) {
            b->markdown = open_or_exit(value, "a");
        } else {
            usage(b, stderr, 2);
        }
        i++;
    }
    if (b->restarts == 0) {
        b->restarts = b->is_short ? BENCH_RESTARTS_SHORT : BENCH_RESTARTS;
    }
}

/* The first processors this process may run on; twice the same when there is one. */
static void
processors_choose(bench *b)
{
    cpu_set_t allowed;
    uint32_t found = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        perror("sched_getaffinity");
        exit(2);
    }
    for (uint32_t i = 0; i < CPU_SETSIZE && found < BENCH_THREADS_MAX; i++) {
        if (CPU_ISSET(i, &allowed)) {
            b->processors[found++] = i;
        }
    }
    b->processor_count = found;
    if (found < 2) {
        b->processors[1] = b->processors[0];
        b->fifo_why = "one processor only: spinning threads would starve each other";
    }
}

static void *
nothing(void *argument)
{
    return argument;
}

static void
fifo_probe(bench *b)
{
    med_port_thread_attributes attributes = {.priority = FIFO_PRIORITY};
    med_port_thread thread;
    if (b->fifo_why) {
        return;
    }
    if (med_port_thread_start(&thread, &attributes, nothing, NULL) != MEDLEY_OK) {
        b->fifo_why = "the system refused it";
        return;
    }
    (void)med_port_thread_join(thread, NULL);
    b->fifo = true;
}

/* Registering takes a grace period of the kernel, and until then every wake check is a fence. */
static void
barriers_await(void)
{
    for (int i = 0; i < 100; i++) {
        if (med_port_barrier_is_free(MED_PORT_SCOPE_PROCESS) &&
            med_port_barrier_is_free(MED_PORT_SCOPE_SHARED)) {
            return;
        }
        med_port_delay_ns(10000000);
    }
}

void
bench_begin(bench *b, int argc, char **argv, const char *program, const char *title)
{
    memset(b, 0, sizeof *b);
    b->program = program;
    b->began_s = bench_now_s();
    b->extra_left_s = BENCH_EXTRA_S;
    options_read(b, argc, argv);
    processors_choose(b);
    fifo_probe(b);
    if (getloadavg(&b->load, 1) != 1) {
        b->load = -1;
    }
    /* Arranged before the first measure: what a long-running process has. */
    med_port_barrier_prepare(MED_PORT_SCOPE_PROCESS);
    med_port_barrier_prepare(MED_PORT_SCOPE_SHARED);
    barriers_await();
    bench_report_machine(b, title);
}

/* ---- Restarts -------------------------------------------------------------------------------- */

/* Of the subject that is measured; NULL: what it tells is thrown away. */
static histogram *latencies_told;

double
bench_now_s(void)
{
    return (double)med_port_clock_ns() / 1e9;
}

static bool
measure_one(const bench *b, const bench_question *question, uint32_t subject, double *values)
{
    const bench_subject *s = &question->subjects[subject];
    if (s->measure(b, s->context, values)) {
        return true;
    }
    fprintf(stderr, "%s: %s: %s failed\n", b->program, question->name, s->name);
    return false;
}

/* A number that looks like any, the same for the same two. */
static uint32_t
scatter(uint32_t restart, uint32_t place)
{
    uint64_t x = ((uint64_t)restart << 32 | place) + 1;
    x *= 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

/* The subjects of a round, in an order that looks like any: each finds the machine's caches, and
 * the pages that the system hands out, as the one before left them, which is not always the
 * same. */
static void
order_make(uint32_t *order, uint32_t count, uint32_t restart)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = scatter(restart, i) % (i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

/* Every subject once, and the samples are one more. */
static bool
measure_round(const bench *b, const bench_question *question, bench_samples *samples)
{
    uint32_t restart = samples->restarts;
    uint32_t order[BENCH_SUBJECTS_MAX];
    order_make(order, question->subject_count, restart);
    for (uint32_t i = 0; i < question->subject_count; i++) {
        uint32_t subject = order[i];
        double values[BENCH_VALUES_MAX] = {0};
        latencies_told = samples->latencies[subject];
        if (!measure_one(b, question, subject, values)) {
            return false;
        }
        for (uint32_t v = 0; v < question->value_count; v++) {
            samples->at[subject][v][restart] = values[v];
        }
    }
    samples->restarts++;
    return true;
}

/* One line, written over and over; nothing where nobody looks. */
static void
progress_show(const bench *b, const bench_question *question, const bench_samples *samples)
{
    if (isatty(STDERR_FILENO)) {
        (void)fprintf(stderr, "\r\033[K%s, %.0f s: question %u: %.60s: restart %u%s", b->program,
                      bench_now_s() - b->began_s, b->questions + 1, question->name,
                      samples->restarts + 1, samples->restarts < b->restarts ? "" : ", undecided");
    }
}

static void
progress_end(void)
{
    if (isatty(STDERR_FILENO)) {
        (void)fprintf(stderr, "\r\033[K");
    }
}

static bool
measure_until(const bench *b,
              const bench_question *question,
              bench_samples *samples,
              uint32_t restarts)
{
    double begin_s = bench_now_s();
    bool right = true;
    while (right && samples->restarts < restarts) {
        progress_show(b, question, samples);
        right = measure_round(b, question, samples);
    }
    progress_end();
    samples->took_s += bench_now_s() - begin_s;
    return right;
}

/* How many restarts the question has when it is looked at next; as many as it has when that is no
 * use, or there is no time left. Fewer than a final verdict takes are for a quick look: those are
 * not prolonged. */
static uint32_t
restarts_next(const bench *b, const bench_question *question, const bench_samples *samples)
{
    uint32_t now = samples->restarts;
    uint32_t next = now + (now + 2) / 3;
    next = next < BENCH_RESTARTS_MAX ? next : BENCH_RESTARTS_MAX;
    double takes_s = samples->took_s / now * (next - now);
    bool useful = takes_s <= b->extra_left_s && bench_report_is_undecided(b, question, samples);
    return useful ? next : now;
}

static uint32_t
restarts_first(const bench *b, const bench_question *question)
{
    bool whole = question->goal_count > 0 || b->restarts != BENCH_RESTARTS;
    return whole ? b->restarts : BENCH_RESTARTS_NO_GOAL;
}

/* False when a functional check failed. */
static bool
measure_enough(bench *b, const bench_question *question, bench_samples *samples)
{
    if (!measure_until(b, question, samples, restarts_first(b, question))) {
        return false;
    }
    b->extra_left_s += samples->took_s * BENCH_EXTRA_SHARE;
    uint32_t next;
    while ((next = restarts_next(b, question, samples)) > samples->restarts) {
        double before_s = samples->took_s;
        if (!measure_until(b, question, samples, next)) {
            return false;
        }
        b->extra_left_s -= samples->took_s - before_s;
    }
    return true;
}

/* Empty, with room for what single operations take. */
static bench_samples *
samples_begin(void)
{
    static histogram latencies[BENCH_SUBJECTS_MAX];
    static bench_samples samples;
    samples.restarts = 0;
    samples.took_s = 0;
    for (uint32_t i = 0; i < BENCH_SUBJECTS_MAX; i++) {
        samples.latencies[i] = &latencies[i];
        if (latencies[i].total) {
            memset(&latencies[i], 0, sizeof latencies[i]);
        }
    }
    return &samples;
}

void
bench_ask(bench *b, const bench_question *question)
{
    if (b->only && !strstr(question->name, b->only)) {
        return;
    }
    bench_samples *samples = samples_begin();
    /* Thrown away: whoever comes first after a pause is slow. */
    double cold[BENCH_VALUES_MAX];
    latencies_told = NULL;
    if (!measure_one(b, question, 0, cold) || !measure_enough(b, question, samples)) {
        b->failed = true;
        return;
    }
    bench_report_question(b, question, samples);
    b->questions++;
}

void
bench_latencies(const double *ns, size_t count, double clock_ns)
{
    for (size_t i = 0; latencies_told && i < count; i++) {
        double less_ns = ns[i] - clock_ns;
        histogram_add(latencies_told, less_ns > 0 ? (uint64_t)(less_ns + 0.5) : 0);
    }
}

int
bench_end(bench *b)
{
    bench_report_end(b);
    bool unwritten = (b->json && fclose(b->json) != 0) || (b->markdown && fclose(b->markdown) != 0);
    if (unwritten) {
        perror("the report");
    }
    return b->failed || unwritten ? 1 : 0;
}

/* ---- For the measuring functions ------------------------------------------------------------- */

uint64_t
bench_count(const bench *b, uint64_t full)
{
    return b->is_short ? full / 5 + 1 : full;
}

void *
bench_map(size_t size_bytes)
{
    void *address = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (address == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return address;
}

void
bench_unmap(void *address, size_t size_bytes)
{
    (void)munmap(address, size_bytes);
}

bool
bench_failed(const char *subject, const char *what)
{
    fprintf(stderr, "%s: %s\n", subject, what);
    return false;
}

/* The threads start each other: this program's main thread may find no processor while they spin
 * under SCHED_FIFO. Until all are there they sleep, then they meet. */
typedef struct start_line {
    _Alignas(128) atomic32 there;
    _Alignas(128) atomic32 met;
    uint32_t count;
} start_line;

typedef struct runner {
    const bench_thread *thread;
    start_line *line;
    uint64_t start_ns;
    uint64_t end_ns;
} runner;

static void
start_together(const runner *r)
{
    const struct timespec pause = {.tv_nsec = 50000};
    (void)atomic32_fetch_add_acq_rel(&r->line->there, 1);
    while (atomic32_load_acquire(&r->line->there) != r->line->count) {
        (void)nanosleep(&pause, NULL);
    }
    (void)atomic32_fetch_add_acq_rel(&r->line->met, 1);              /* R1 at the start -> A1 */
    while (atomic32_load_acquire(&r->line->met) != r->line->count) { /* A1 at the start <- R1 */
        if (r->thread->sleeps) {
            med_port_yield();
        } else {
            med_port_cpu_relax();
        }
    }
}

static void *
runner_main(void *argument)
{
    runner *r = argument;
    start_together(r);
    r->start_ns = med_port_clock_ns();
    r->thread->run(r->thread->argument);
    r->end_ns = med_port_clock_ns();
    return NULL;
}

static med_port_thread
runner_start(const bench *b, runner *r)
{
    const med_processor_set one = med_processor_set_of(b->processors[r->thread->processor]);
    med_port_thread_attributes attributes = {
        .priority = b->fifo && !r->thread->sleeps ? FIFO_PRIORITY : 0,
        .processors = &one,
    };
    med_port_thread thread;
    if (med_port_thread_start(&thread, &attributes, runner_main, r) != MEDLEY_OK) {
        fprintf(stderr, "%s: a thread could not be started\n", b->program);
        exit(1);
    }
    return thread;
}

uint64_t
bench_run(const bench *b, const bench_thread *threads, uint32_t count)
{
    static start_line line;
    runner runners[BENCH_THREADS_MAX];
    med_port_thread handles[BENCH_THREADS_MAX];
    /* Relaxed: the threads that read them are started below. */
    atomic32_store_relaxed(&line.there, 0);
    atomic32_store_relaxed(&line.met, 0);
    line.count = count;
    alarm(RUN_LIMIT_S);
    for (uint32_t i = 0; i < count; i++) {
        runners[i] = (runner){.thread = &threads[i], .line = &line};
        handles[i] = runner_start(b, &runners[i]);
    }
    uint64_t start_ns = UINT64_MAX;
    uint64_t end_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        (void)med_port_thread_join(handles[i], NULL);
        start_ns = runners[i].start_ns < start_ns ? runners[i].start_ns : start_ns;
        end_ns = runners[i].end_ns > end_ns ? runners[i].end_ns : end_ns;
    }
    alarm(0);
    return end_ns - start_ns;
}
