/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Our ring with one producer and one consumer beside its peers, on two processors. */
#include "ring_bench.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "port/port.h"
#include "ring_trip.h"

/* ---- Streams --------------------------------------------------------------------------------- */

typedef struct stream {
    const ring_system *system;
    ring_work work;
} stream;

/* So many that a run takes some tens of milliseconds, with the peers in their slow regime too. */
static uint64_t
element_count(const bench *b, const stream *s)
{
    uint64_t full =
        ring_work_words(s->work) == 512 ? (s->work == RING_WHOLE_4K ? 100000 : 1000000) : 4000000;
    return bench_count(b, full) / RING_BURST * RING_BURST;
}

static bool
stream_measure(const bench *b, void *context, double *values)
{
    const stream *s = context;
    static ring_run run;
    size_t size_bytes = s->system->size_bytes(s->work);
    run =
        (ring_run){.memory = bench_map(size_bytes), .work = s->work, .count = element_count(b, s)};
    run.wrong = 1; /* until the consumer says otherwise */
    if (!s->system->make(&run)) {
        return bench_failed(s->system->name, "the ring could not be made");
    }
    bench_thread threads[] = {{s->system->produce[s->work], &run, 0, false},
                              {s->system->consume[s->work], &run, 1, false}};
    uint64_t ns = bench_run(b, threads, 2);
    bench_unmap(run.memory, size_bytes);
    values[0] = (double)run.count * 1e3 / (double)ns;
    return run.wrong == 0 || bench_failed(s->system->name, "wrong content or order");
}

/* Asks one question of the systems that can do the work; the goals name systems by index. */
static void
stream_ask(bench *b,
           const char *name,
           const char *setting,
           ring_work work,
           const ring_system *const *systems,
           uint32_t system_count,
           const bench_goal *goals,
           uint32_t goal_count)
{
    stream streams[BENCH_SUBJECTS_MAX];
    bench_subject subjects[BENCH_SUBJECTS_MAX];
    for (uint32_t i = 0; i < system_count; i++) {
        streams[i] = (stream){systems[i], work};
        subjects[i] = (bench_subject){systems[i]->name, stream_measure, &streams[i]};
    }
    bench_question question = {.name = name,
                               .setting = setting,
                               .unit = "M/s",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = system_count,
                               .goals = goals,
                               .goal_count = goal_count};
    bench_ask(b, &question);
}

static void
ask_in_place(bench *b)
{
    static const ring_system *const systems[] = {
        &ring_packed,         &ring_packed_silent,    &ring_boost, &ring_ck,         &ring_dpdk,
        &ring_dpdk_zero_copy, &ring_packed_looked_up, &ring_line,  &ring_line_silent};
    static const bench_goal goals[] = {
        {.name = "beside the best peer", .first_peer = 2, .peer_count = 4, .factor = 1.5},
        {.name = "cost of the wake check", .first_peer = 1, .peer_count = 1, .factor = 0.95},
    };
    stream_ask(b, "SPSC 8 B, one at a time, in place",
               "65536 elements, 512 KiB packed, 4 MiB line; the word written and checked",
               RING_ONE_8, systems, BENCH_COUNT(systems), goals, BENCH_COUNT(goals));
    stream_ask(b, "SPSC 24 B, one at a time, in place",
               "16384 elements, 384 KiB packed, 1 MiB line; all words written and checked",
               RING_ONE_24, systems, BENCH_COUNT(systems), goals, BENCH_COUNT(goals));
}

static void
ask_bursts(bench *b)
{
    static const ring_system *const systems[] = {
        &ring_packed, &ring_boost, &ring_dpdk, &ring_dpdk_zero_copy,
        &ring_ck,     &ring_line,  &ring_bare};
    static const bench_goal goals[] = {
        {.name = "beside the best peer", .first_peer = 1, .peer_count = 4, .factor = 1.5},
    };
    stream_ask(
        b, "SPSC 8 B, bursts of 32",
        "65536 elements, 512 KiB packed; every word written and checked; ck_ring has no bursts",
        RING_BURST_8, systems, BENCH_COUNT(systems), goals, BENCH_COUNT(goals));
    stream_ask(
        b, "SPSC 24 B, bursts of 32",
        "16384 elements, 384 KiB packed; every word written and checked; ck_ring has no bursts",
        RING_BURST_24, systems, BENCH_COUNT(systems), goals, BENCH_COUNT(goals));
}

static void
ask_copies(bench *b)
{
    static const ring_system *const systems[] = {&ring_packed, &ring_boost, &ring_ck, &ring_dpdk,
                                                 &ring_line};
    static const bench_goal goals[] = {
        {.name = "beside the best peer", .first_peer = 1, .peer_count = 3, .factor = 1.0},
    };
    stream_ask(b, "SPSC 8 B, by copy",
               "65536 elements, 512 KiB packed; copied from elements filled 32 before", RING_COPY_8,
               systems, BENCH_COUNT(systems), goals, BENCH_COUNT(goals));
    stream_ask(b, "SPSC 24 B, by copy",
               "16384 elements, 384 KiB packed; copied from elements filled 32 before",
               RING_COPY_24, systems, BENCH_COUNT(systems), goals, BENCH_COUNT(goals));
    stream_ask(b, "SPSC 24 B, by copy, filled just now",
               "16384 elements, 384 KiB packed; copied right after it was filled", RING_FRESH_24,
               systems, BENCH_COUNT(systems), goals, BENCH_COUNT(goals));
}

static void
ask_large(bench *b)
{
    static const ring_system *const systems[] = {&ring_packed, &ring_boost, &ring_ck,
                                                 &ring_dpdk_zero_copy, &ring_line};
    static const bench_goal whole[] = {
        {.name = "beside the best peer", .first_peer = 1, .peer_count = 3, .factor = 1.0},
    };
    static const ring_system *const own[] = {&ring_packed, &ring_line};
    static const bench_goal touched[] = {
        {.name = "handed over in place", .figure = 20, .factor = 1.0},
    };
    stream_ask(b, "SPSC 4 KiB, first and last word",
               "256 elements, 1 MiB; first and last word written and checked", RING_TOUCH_4K, own,
               BENCH_COUNT(own), touched, BENCH_COUNT(touched));
    stream_ask(b, "SPSC 4 KiB, whole", "256 elements, 1 MiB; every word written and checked",
               RING_WHOLE_4K, systems, BENCH_COUNT(systems), whole, BENCH_COUNT(whole));
}

/* ---- Round trips ----------------------------------------------------------------------------- */

static void
ask_round_trip(bench *b)
{
    static uint32_t capacities[] = {4, 64, 4096};
    static trip_bare_kind kinds[] = {TRIP_WORD, TRIP_MESSAGE, TRIP_TWO_IN_TURN, TRIP_IN_TURN};
    static const bench_subject subjects[] = {
        {"medley line, 4 slots", trip_rings, &capacities[0]},
        {"medley line, 64 slots", trip_rings, &capacities[1]},
        {"medley line, 4096 slots", trip_rings, &capacities[2]},
        {"bare, one word each way", trip_bare, &kinds[0]},
        {"bare, 24 B and a word each way", trip_bare, &kinds[1]},
        {"bare, as before, 2 lines in turn", trip_bare, &kinds[2]},
        {"bare, as before, 64 lines in turn", trip_bare, &kinds[3]},
    };
    static const bench_goal goals[] = {
        {.name = "median",
         .first_peer = 3,
         .peer_count = 1,
         .factor = 1.1,
         .direction = BENCH_AT_MOST},
        {.name = "64 slots beside 64 bare lines with the same 24 B, in turn",
         .own = 1,
         .first_peer = 6,
         .peer_count = 1,
         .factor = 1.1,
         .direction = BENCH_AT_MOST},
        {.name = "p99.9",
         .first_peer = 3,
         .peer_count = 1,
         .factor = 3,
         .direction = BENCH_AT_MOST,
         .value = 1,
         .quiet_only = true},
    };
    static const bench_question question = {
        .name = "SPSC 24 B, round trip",
        .setting =
            "two line rings of 4 slots (256 B), both sides awake; all words written and checked",
        .unit = "ns",
        .value_names = {"median", "p99.9"},
        .value_count = 2,
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
    bench_begin(&b, argc, argv, "ring_bench", "One producer, one consumer, two processors");
    ask_in_place(&b);
    ask_bursts(&b);
    ask_copies(&b);
    ask_large(&b);
    ask_round_trip(&b);
    return bench_end(&b);
}
