/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * medley model: what this machine should exchange, and what it does.
 *
 * The prediction is a program of Python (model/model.py, which Medley brings). Here is what has to
 * be measured by machine code: what each kind of access costs, the least of some short tries.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "port/port.h"
#include "tools/medley/command.h"
#include "tools/medley/output.h"

/* The system's, which its packages are for; who is called otherwise finds others. */
#define PYTHON "/usr/bin/python3"
#define PROGRAM "../share/medley/model/model.py"
#define WORDS 2048u /* 16 KiB: they stay in the nearest cache */
#define PASSES 100u
#define TRIPS 5000u
#define WAKES 200u
#define CALLS 5000u
#define LOCKS 2000u
#define PATIENCE_NS UINT64_C(5000000000)
#define LINES 4096u
#define REPEATS 20
#define STREAMED 50000u

static const char help[] =
    "usage: medley model [--matrix FILE] [--folder FOLDER] [--json]\n"
    "\n"
    "Measures what each kind of access to memory costs here, and predicts from that how\n"
    "much MCAPI should exchange: for each row of the matrix, and over the share of accesses\n"
    "that hit the cache. Beside what was measured it says whether there is more to gain.\n"
    "Needs Python and SimPy (python3-simpy).\n"
    "\n"
    "  --matrix FILE     what was measured: matrix.json of make matrix\n"
    "  --folder FOLDER   model.svg is written there\n"
    "  --json            one JSON document\n"
    "  -h, --help        this text\n";

/* ---- One thread ------------------------------------------------------------------------------ */

/* Loads, comparisons, additions and branches, as code has them: the ns of one instruction. */
static double
instruction_ns(void)
{
    static uint32_t words[WORDS];
    volatile uint32_t result = 0;
    uint64_t begin_ns = med_port_clock_ns();
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        uint32_t sum = result;
        for (uint32_t i = 0; i < WORDS; i++) {
            sum += words[i] == pass ? i : 1;
            __asm__ volatile("" : "+r"(sum));
        }
        result = sum;
    }
    /* Load, compare, choose, add, count, branch. */
    return (double)(med_port_clock_ns() - begin_ns) / ((double)PASSES * WORDS * 6);
}

/* Loads and stores that hit, and need not wait for each other: the ns of one. */
static double
hit_ns(void)
{
    static uint32_t words[WORDS];
    uint64_t begin_ns = med_port_clock_ns();
    for (uint32_t i = 0; i < PASSES * WORDS; i++) {
        uint32_t *word = &words[i % WORDS];
        *word += i;
        __asm__ volatile("" : : "r"(word) : "memory");
    }
    return (double)(med_port_clock_ns() - begin_ns) / ((double)PASSES * WORDS * 2);
}

typedef void (*call)(void);

static void
call_yield(void)
{
    (void)sched_yield();
}

static void
call_clock(void)
{
    (void)med_port_clock_ns();
}

static double
call_ns(call act)
{
    uint64_t begin_ns = med_port_clock_ns();
    for (uint32_t i = 0; i < CALLS; i++) {
        act();
    }
    return (double)(med_port_clock_ns() - begin_ns) / CALLS;
}

/* ---- Two threads ----------------------------------------------------------------------------- */

typedef struct line {
    _Alignas(64) atomic32 turn;
    uint32_t words[15];
} line;

/* Both threads use lines of the same places. */
typedef struct meeting {
    _Alignas(128) line there;
    _Alignas(128) line there_data;
    _Alignas(128) line back;
    _Alignas(128) line back_data;
    _Alignas(128) line streamed[LINES];
    bool with_data;
    bool asleep;
} meeting;

static meeting shared;

static void
turn_await(line *of, uint32_t turn)
{
    uint32_t seen;
    while ((seen = atomic32_load_acquire(&of->turn)) != turn) { /* A1 turn <- R1 */
        if (shared.asleep) {
            (void)syscall(SYS_futex, &of->turn.value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
        } else {
            med_port_cpu_relax();
        }
    }
}

static void
turn_give(line *of, uint32_t turn)
{
    atomic32_store_release(&of->turn, turn); /* R1 turn -> A1 */
    if (shared.asleep) {
        (void)syscall(SYS_futex, &of->turn.value, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static uint32_t
trips_count(void)
{
    return shared.asleep ? WAKES : TRIPS;
}

static void *
trips_answer(void *unused)
{
    for (uint32_t i = 1; i <= trips_count(); i++) {
        turn_await(&shared.there, i);
        if (shared.with_data) {
            shared.back_data.words[0] = shared.there_data.words[0] + 1;
        }
        turn_give(&shared.back, i);
    }
    return unused;
}

static void *
trips_ask(void *unused)
{
    for (uint32_t i = 1; i <= trips_count(); i++) {
        if (shared.with_data) {
            shared.there_data.words[0] = shared.back_data.words[0] + 1;
        }
        turn_give(&shared.there, i);
        turn_await(&shared.back, i);
    }
    return unused;
}

/* A line after the other, each with its number; the writer is a table ahead at most. */
static void *
lines_write(void *unused)
{
    for (uint32_t i = 0; i < STREAMED; i++) {
        if (i >= LINES) {
            while (atomic32_load_acquire(&shared.back.turn) + LINES / 2 < i) { /* A2 read <- R2 */
                med_port_cpu_relax();
            }
        }
        atomic32_store_release(&shared.streamed[i % LINES].turn, i + 1); /* R3 line -> A3 */
    }
    return unused;
}

static void *
lines_read(void *unused)
{
    for (uint32_t i = 0; i < STREAMED; i++) {
        while (atomic32_load_acquire(&shared.streamed[i % LINES].turn) !=
               i + 1) { /* A3 line <- R3 */
            med_port_cpu_relax();
        }
        if (i % 256 == 0) {
            atomic32_store_release(&shared.back.turn, i); /* R2 read -> A2 */
        }
    }
    return unused;
}

/* The lock of the locked exchange (mcapi/locked.c), in memory that processes could share. */
static uint32_t *
lock_word(void)
{
    static uint32_t *word;
    if (!word) {
        void *page =
            mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) {
            exit(COMMAND_FAILED);
        }
        word = page;
    }
    return word;
}

/* Where the machine has no such lock there is no locked exchange either. */
static void *
locks_take(void *unused)
{
    uint32_t *word = lock_word();
    for (uint32_t i = 0; i < LOCKS && med_port_pi_supported(); i++) {
        uint64_t deadline_ns = med_port_clock_ns() + PATIENCE_NS; /* as it has there */
        (void)med_port_pi_lock(word, deadline_ns, MED_PORT_SCOPE_SHARED);
        (void)med_port_pi_unlock(word, MED_PORT_SCOPE_SHARED);
    }
    return unused;
}

/* The first two processors that this process may use; the same twice where there is one. */
static void
processors_find(uint32_t processors[2])
{
    med_processor_set allowed;
    med_port_processors_allowed(&allowed);
    processors[0] = med_processor_set_next(&allowed, 0);
    processors[1] = med_processor_set_next_round(&allowed, processors[0] + 1);
}

/* 0: there are no two threads on two processors to be had. */
static double
pair_ns(void *(*first)(void *), void *(*second)(void *), bool with_data, bool asleep)
{
    uint32_t processors[2];
    med_port_thread threads[2];
    void *(*const entries[])(void *) = {first, second};
    processors_find(processors);
    if (processors[0] == processors[1]) {
        return 0;
    }
    memset(&shared, 0, sizeof shared);
    shared.with_data = with_data;
    shared.asleep = asleep;
    uint64_t begin_ns = med_port_clock_ns();
    for (uint32_t i = 0; i < 2; i++) {
        const med_processor_set one = med_processor_set_of(processors[i]);
        med_port_thread_attributes attributes = {.processors = &one};
        if (med_port_thread_start(&threads[i], &attributes, entries[i], NULL) != MEDLEY_OK) {
            exit(COMMAND_FAILED); /* the other would wait for it */
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        (void)med_port_thread_join(threads[i], NULL);
    }
    return (double)(med_port_clock_ns() - begin_ns);
}

/* ---- The costs ------------------------------------------------------------------------------- */

static double
clock_ns(void)
{
    return call_ns(call_clock);
}

static double
yield_ns(void)
{
    return call_ns(call_yield);
}

/* Taking or giving back, one of both, by one thread alone. */
static double
lock_ns(void)
{
    uint64_t begin_ns = med_port_clock_ns();
    (void)locks_take(NULL);
    return (double)(med_port_clock_ns() - begin_ns) / LOCKS / 2;
}

/* The same, of all that two do at once. */
static double
lock_contended_ns(void)
{
    return pair_ns(locks_take, locks_take, false, false) / LOCKS / 4;
}

static double
one_line_ns(void)
{
    return pair_ns(trips_ask, trips_answer, false, false) / TRIPS / 2;
}

static double
two_lines_ns(void)
{
    return pair_ns(trips_ask, trips_answer, true, false) / TRIPS / 2;
}

static double
stream_line_ns(void)
{
    return pair_ns(lines_write, lines_read, false, false) / STREAMED;
}

static double
wake_ns(void)
{
    return pair_ns(trips_ask, trips_answer, false, true) / WAKES / 2;
}

/* What else runs on the machine only adds to it. */
static double
least_of(double (*measure)(void))
{
    double least = measure();
    for (uint32_t i = 1; i < REPEATS; i++) {
        double again = measure();
        least = again < least ? again : least;
    }
    return least;
}

/* What goes on for seconds says so to who looks on. */
static void
progress_show(size_t done, size_t all)
{
    if (isatty(STDERR_FILENO)) {
        (void)fprintf(stderr, "\rmedley model: %zu of %zu costs measured%s", done, all,
                      done == all ? "\n" : "");
        (void)fflush(stderr);
    }
}

static json_t *
costs_measure(void)
{
    static const struct {
        const char *name;
        double (*measure)(void);
    } all[] = {{"instruction_ns", instruction_ns},
               {"hit_ns", hit_ns},
               {"clock_ns", clock_ns},
               {"yield_ns", yield_ns},
               {"lock_ns", lock_ns},
               {"lock_contended_ns", lock_contended_ns},
               {"one_line_ns", one_line_ns},
               {"two_lines_ns", two_lines_ns},
               {"stream_line_ns", stream_line_ns},
               {"wake_ns", wake_ns}};
    const size_t count = sizeof all / sizeof all[0];
    json_t *costs = json_object();
    (void)lock_word(); /* before two threads ask for it */
    for (size_t i = 0; costs && i < count; i++) {
        progress_show(i, count);
        (void)json_object_set_new(costs, all[i].name, json_real(least_of(all[i].measure)));
    }
    progress_show(count, count);
    return costs;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int
model(const med_command *command, const char *matrix, const char *folder, bool json)
{
    char path[1024];
    if (!command_brought(PROGRAM, path, sizeof path)) {
        command_error(command, "%s, beside the command, is not to be read", PROGRAM);
        return COMMAND_FAILED;
    }
    json_t *costs = costs_measure();
    char *text = costs ? json_dumps(costs, JSON_COMPACT) : NULL;
    json_decref(costs);
    if (!text) {
        command_error(command, "no memory");
        return COMMAND_FAILED;
    }
    (void)execl(PYTHON, PYTHON, "-B", path, text, matrix, folder, json ? "json" : "text",
                (char *)NULL);
    command_error(command, PYTHON ": %s; install python3 and python3-simpy", strerror(errno));
    free(text);
    return COMMAND_FAILED;
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {COMMAND_OPTIONS,
                                          {"matrix", required_argument, NULL, 'm'},
                                          {"folder", required_argument, NULL, 'f'},
                                          {NULL, 0, NULL, 0}};
    const char *matrix = "", *folder = "";
    bool json = false;
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        if (option == 'j') {
            json = true;
        } else if (option == 'm') {
            matrix = optarg;
        } else if (option == 'f') {
            folder = optarg;
        } else {
            return command_other_option(command, option, argv);
        }
    }
    if (argc != optind) {
        return command_usage_error(command, "'%s': model takes no arguments", argv[optind]);
    }
    return model(command, matrix, folder, json);
}

const med_command command_model = {
    .name = "model",
    .summary = "what MCAPI should exchange here, and does",
    .help = help,
    .run = command_run,
    .body = run,
};
