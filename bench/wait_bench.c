/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The wait object beside a bare futex, between two threads on two processors.
 *
 *   wake to run   the sleeper sleeps; the waker publishes a stamp and wakes; how old is the stamp
 *                 when the sleeper runs
 *   round trip    two threads answer each other; a bare futex sleeps every time, the wait object
 *                 spins first, which is its point
 */
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/wait.h"
#include "bench.h"

#define WAKES 400
#define TRIPS 20000
/* Long enough for the other to be asleep. */
#define ASLEEP_NS 300000u

typedef struct side {
    _Alignas(128) atomic32 turn; /* how many messages were sent to this side */
    med_wait wait;
} side;

typedef struct table {
    side sides[2];
    _Alignas(128) atomic64 stamp_ns;
    double samples_ns[WAKES];
} table;

typedef struct way {
    void (*send)(side *to);
    void (*receive)(side *me, uint32_t turn, med_waiter *waiter);
} way;

/* ---- The wait object ------------------------------------------------------------------------- */

typedef struct turn_context {
    const side *me;
    uint32_t turn;
} turn_context;

static bool
turn_has_come(void *context)
{
    const turn_context *c = context;
    return atomic32_load_acquire(&c->me->turn) == c->turn; /* A1 message <- R1 (send) */
}

static void
medley_receive(side *me, uint32_t turn, med_waiter *waiter)
{
    turn_context context = {.me = me, .turn = turn};
    med_wait_request request = {.condition = turn_has_come,
                                .context = &context,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS};
    (void)med_wait_until(&me->wait, waiter, &request);
}

static void
medley_send(side *to)
{
    uint32_t turn = atomic32_load_relaxed(&to->turn) + 1; /* relaxed: its only writer */
    atomic32_store_release(&to->turn, turn);              /* R1 message -> A1 (receive) */
    med_wait_wake(&to->wait, MED_PORT_SCOPE_PROCESS);
}

/* ---- A bare futex ---------------------------------------------------------------------------- */

static void
futex_receive(side *me, uint32_t turn, med_waiter *waiter)
{
    uint32_t seen;
    (void)waiter;
    while ((seen = atomic32_load_acquire(&me->turn)) != turn) { /* A1 message <- R1 (send) */
        (void)syscall(SYS_futex, &me->turn.value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
}

static void
futex_send(side *to)
{
    uint32_t turn = atomic32_load_relaxed(&to->turn) + 1; /* relaxed: its only writer */
    atomic32_store_release(&to->turn, turn);              /* R1 message -> A1 (receive) */
    (void)syscall(SYS_futex, &to->turn.value, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static const way medley_way = {medley_send, medley_receive};
static const way futex_way = {futex_send, futex_receive};

/* ---- Wake to run ----------------------------------------------------------------------------- */

typedef struct runner {
    const way *way;
    table *t;
    uint32_t count;
} runner;

static void
sleeper(void *argument)
{
    runner *r = argument;
    med_waiter waiter = {.spin_ns = 0};
    for (uint32_t i = 0; i < r->count; i++) {
        r->way->receive(&r->t->sides[0], i + 1, &waiter);
        uint64_t stamp_ns = atomic64_load_relaxed(&r->t->stamp_ns); /* relaxed: behind A1 */
        r->t->samples_ns[i] = (double)(med_port_clock_ns() - stamp_ns);
        r->way->send(&r->t->sides[1]);
    }
}

static void
waker(void *argument)
{
    runner *r = argument;
    med_waiter waiter = {.spin_ns = 0};
    for (uint32_t i = 0; i < r->count; i++) {
        med_port_delay_ns(ASLEEP_NS);
        atomic64_store_relaxed(&r->t->stamp_ns, med_port_clock_ns()); /* relaxed: before R1 */
        r->way->send(&r->t->sides[0]);
        r->way->receive(&r->t->sides[1], i + 1, &waiter);
    }
}

static void
run_pair(const bench *b, runner *r, void (*first)(void *), void (*second)(void *), uint64_t *ns)
{
    bench_thread threads[] = {{.run = first, .argument = r, .processor = 0, .sleeps = true},
                              {.run = second, .argument = r, .processor = 1, .sleeps = true}};
    *ns = bench_run(b, threads, 2);
}

static bool
measure_wake(const bench *b, void *context, double *values)
{
    table *t = bench_map(sizeof *t);
    runner r = {.way = context, .t = t, .count = (uint32_t)bench_count(b, WAKES)};
    uint64_t ns;
    run_pair(b, &r, sleeper, waker, &ns);
    bench_latencies(t->samples_ns, r.count, 0);
    values[0] = bench_permille(t->samples_ns, r.count, 500) / 1e3;
    bench_unmap(t, sizeof *t);
    return true;
}

/* ---- Round trip ------------------------------------------------------------------------------ */

static void
asks(void *argument)
{
    runner *r = argument;
    med_waiter waiter = {.spin_ns = 0};
    for (uint32_t i = 0; i < r->count; i++) {
        r->way->send(&r->t->sides[1]);
        r->way->receive(&r->t->sides[0], i + 1, &waiter);
    }
}

static void
answers(void *argument)
{
    runner *r = argument;
    med_waiter waiter = {.spin_ns = 0};
    for (uint32_t i = 0; i < r->count; i++) {
        r->way->receive(&r->t->sides[1], i + 1, &waiter);
        r->way->send(&r->t->sides[0]);
    }
}

static bool
measure_trip(const bench *b, void *context, double *values)
{
    table *t = bench_map(sizeof *t);
    runner r = {.way = context, .t = t, .count = (uint32_t)bench_count(b, TRIPS)};
    uint64_t ns;
    run_pair(b, &r, asks, answers, &ns);
    values[0] = (double)ns / 1e3 / r.count;
    bench_unmap(t, sizeof *t);
    return true;
}

static void
ask(bench *b,
    const char *name,
    const char *setting,
    bool (*measure)(const bench *, void *, double *))
{
    bench_subject subjects[] = {{"medley", measure, (void *)(uintptr_t)&medley_way},
                                {"bare futex", measure, (void *)(uintptr_t)&futex_way}};
    static const bench_goal goals[] = {BENCH_BESIDE("beside a bare futex", 1, BENCH_AT_MOST, 1.1)};
    bench_question question = {.name = name,
                               .setting = setting,
                               .unit = "us",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects),
                               .goals = goals,
                               .goal_count = BENCH_COUNT(goals)};
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "wait_bench", "The wait object beside a bare futex");
    ask(&b, "wake to run", "the sleeper idle for 300 us; median of 400 wakes", measure_wake);
    ask(&b, "futex round trip", "both wait for the other's answer; 20,000 trips", measure_trip);
    return bench_end(&b);
}
