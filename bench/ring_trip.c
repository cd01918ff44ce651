/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Round trips: two line rings, one each way, 24 B, both sides awake, beside the least two
 * processors can do: a word in a line each way, the same line with the 24 B in it, and with 2 or 64
 * such lines used in turn, as a ring of so many slots does: what going round costs by itself.
 *
 * Everybody polls in the same way. Each trip is timed by the clock; what reading the clock costs is
 * measured and taken off.
 */
#include "ring_trip.h"

#include <stdlib.h>

#include "base/atomic.h"
#include "base/ring_spsc.h"
#include "port/port.h"

#define TRIPS_MAX 100000
#define WORDS 3

typedef struct trip {
    double ns[TRIPS_MAX];
    uint64_t count;
    uint64_t wrong;
    void *memory;
    /* Each on lines of its own, as in two processes. */
    _Alignas(128) med_ring_producer to;
    _Alignas(128) med_ring_consumer to_end;
    _Alignas(128) med_ring_producer back;
    _Alignas(128) med_ring_consumer back_end;
} trip;

static trip current;

/* The mean of the middle half, which it sorts: the clock may tick in steps of 10 ns, too coarse for
 * the median itself. */
static double
middle(double *samples, size_t count)
{
    (void)bench_permille(samples, count, 500);
    double sum = 0;
    for (size_t i = count / 4; i < count - count / 4; i++) {
        sum += samples[i];
    }
    return sum / (double)(count - count / 4 - count / 4);
}

static double
clock_cost_ns(void)
{
    static double costs[10000];
    uint64_t before = med_port_clock_ns();
    for (uint32_t i = 0; i < 10000; i++) {
        uint64_t now = med_port_clock_ns();
        costs[i] = (double)(now - before);
        before = now;
    }
    double sum = 0; /* over all: a step of the clock is longer than a reading */
    (void)bench_permille(costs, 10000, 500);
    for (uint32_t i = 0; i < 9900; i++) {
        sum += costs[i];
    }
    return sum / 9900;
}

void
trip_values(double *ns, uint64_t count, double *values)
{
    double cost_ns = clock_cost_ns();
    uint64_t warm_up = count / TRIP_WARM_UP_SHARE;
    bench_latencies(ns + warm_up, count - warm_up, cost_ns);
    values[0] = middle(ns + warm_up, count - warm_up) - cost_ns;
    values[1] = bench_permille(ns + warm_up, count - warm_up, 999) - cost_ns;
}

static bool
run_trips(
    const bench *b, void (*here)(void *), void (*there)(void *), const char *name, double *values)
{
    bench_thread threads[] = {{here, NULL, 0, false}, {there, NULL, 1, false}};
    current.wrong = 0;
    (void)bench_run(b, threads, 2);
    if (current.wrong) {
        return bench_failed(name, "a word was not what was sent");
    }
    trip_values(current.ns, current.count, values);
    return true;
}

/* ---- Bare ------------------------------------------------------------------------------------ */

/* A line each way: a word that says which trip it is, and, of the message, nothing or all. */
typedef struct bare_line {
    _Alignas(64) uint64_t words[WORDS];
    atomic32 trip;
} bare_line;

static inline void
bare_send(bare_line *line, uint32_t i, uint64_t message, bool with_message)
{
    for (uint32_t k = 0; with_message && k < WORDS; k++) {
        line->words[k] = message + k;
    }
    atomic32_store_release(&line->trip, i); /* R1 message -> A1 */
}

/* Its last word. */
static inline uint64_t
bare_receive(const bare_line *line, uint32_t i, bool with_message)
{
    while (atomic32_load_acquire(&line->trip) != i) { /* A1 message <- R1 */
        med_port_cpu_relax();
    }
    return with_message ? line->words[WORDS - 1] : 0;
}

/* The line of trip `i`, side by side as the slots of a ring; each way has its own. */
static inline bare_line *
bare_there_line(uint32_t i, uint32_t in_turn)
{
    return (bare_line *)current.memory + i % in_turn;
}

static inline bare_line *
bare_back_line(uint32_t i, uint32_t in_turn)
{
    return bare_there_line(i, in_turn) + (size_t)2 * TRIP_LINES_IN_TURN;
}

static inline void
bare_here(bool with_message, uint32_t in_turn)
{
    uint64_t wrong = 0;
    uint64_t before = med_port_clock_ns();
    for (uint32_t i = 1; i <= current.count; i++) {
        bare_send(bare_there_line(i, in_turn), i, i, with_message);
        uint64_t last = bare_receive(bare_back_line(i, in_turn), i, with_message);
        wrong |= with_message ? last ^ (i + WORDS) : 0;
        uint64_t now = med_port_clock_ns();
        current.ns[i - 1] = (double)(now - before);
        before = now;
    }
    current.wrong = wrong;
}

static inline void
bare_there(bool with_message, uint32_t in_turn)
{
    for (uint32_t i = 1; i <= current.count; i++) {
        uint64_t last = bare_receive(bare_there_line(i, in_turn), i, with_message);
        /* Made of what came, as below. */
        bare_send(bare_back_line(i, in_turn), i, last - 1, with_message);
    }
}

#define TRIP_LOOPS(name, with_message, in_turn)                                                    \
    static void name##_here(void *unused)                                                          \
    {                                                                                              \
        (void)unused;                                                                              \
        bare_here(with_message, in_turn);                                                          \
    }                                                                                              \
    static void name##_there(void *unused)                                                         \
    {                                                                                              \
        (void)unused;                                                                              \
        bare_there(with_message, in_turn);                                                         \
    }

TRIP_LOOPS(word, false, 1)
TRIP_LOOPS(message, true, 1)
TRIP_LOOPS(two_in_turn, true, 2)
TRIP_LOOPS(in_turn, true, TRIP_LINES_IN_TURN)

bool
trip_bare(const bench *b, void *context, double *values)
{
    static void (*const loops[][2])(void *) = {
        [TRIP_WORD] = {word_here, word_there},
        [TRIP_MESSAGE] = {message_here, message_there},
        [TRIP_TWO_IN_TURN] = {two_in_turn_here, two_in_turn_there},
        [TRIP_IN_TURN] = {in_turn_here, in_turn_there}};
    trip_bare_kind kind = *(const trip_bare_kind *)context;
    size_t size_bytes = TRIP_LINES_IN_TURN * 3 * sizeof(bare_line);
    current.count = bench_count(b, TRIPS_MAX);
    current.memory = bench_map(size_bytes);
    bool fine = run_trips(b, loops[kind][0], loops[kind][1], "bare ping-pong", values);
    bench_unmap(current.memory, size_bytes);
    return fine;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

static inline void
send(med_ring_producer *producer, uint64_t i)
{
    void *slot;
    while (med_ring_reserve_as(producer, MED_RING_LINE, &slot) != MEDLEY_OK) {
    }
    for (uint32_t k = 0; k < WORDS; k++) {
        ((uint64_t *)slot)[k] = i + k;
    }
    med_ring_commit_as(producer, MED_RING_LINE);
}

/* The element stays peeked. */
static inline uint64_t *
receive(med_ring_consumer *consumer)
{
    void *element;
    while (med_ring_peek_as(consumer, MED_RING_LINE, &element) != MEDLEY_OK) {
        med_port_cpu_relax();
    }
    return element;
}

static void
ring_here(void *unused)
{
    (void)unused;
    uint64_t wrong = 0;
    uint64_t before = med_port_clock_ns();
    for (uint64_t i = 0; i < current.count; i++) {
        send(&current.to, i);
        const uint64_t *element = receive(&current.back_end);
        for (uint32_t k = 0; k < WORDS; k++) {
            wrong |= element[k] ^ (i + 1 + k);
        }
        med_ring_release(&current.back_end);
        uint64_t now = med_port_clock_ns();
        current.ns[i] = (double)(now - before);
        before = now;
    }
    current.wrong = wrong;
}

static void
ring_there(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < current.count; i++) {
        uint64_t *element = receive(&current.to_end);
        send(&current.back, element[2] - 1); /* made of what came */
        med_ring_release(&current.to_end);
    }
}

static bool
rings_make(uint32_t capacity, uint32_t *size_bytes)
{
    med_ring_config config = {MED_RING_LINE, WORDS * 8, capacity, 0};
    if (med_ring_size(&config, size_bytes) != MEDLEY_OK) {
        return false;
    }
    *size_bytes = (*size_bytes + 4095) / 4096 * 4096;
    current.memory = bench_map((size_t)*size_bytes * 2);
    void *to = current.memory;
    void *back = (char *)current.memory + *size_bytes;
    return med_ring_init(to, *size_bytes, &config) == MEDLEY_OK &&
           med_ring_init(back, *size_bytes, &config) == MEDLEY_OK &&
           med_ring_producer_attach(&current.to, to, *size_bytes, MED_PORT_SCOPE_SHARED) ==
               MEDLEY_OK &&
           med_ring_consumer_attach(&current.to_end, to, *size_bytes, MED_PORT_SCOPE_SHARED) ==
               MEDLEY_OK &&
           med_ring_producer_attach(&current.back, back, *size_bytes, MED_PORT_SCOPE_SHARED) ==
               MEDLEY_OK &&
           med_ring_consumer_attach(&current.back_end, back, *size_bytes, MED_PORT_SCOPE_SHARED) ==
               MEDLEY_OK;
}

bool
trip_rings(const bench *b, void *context, double *values)
{
    uint32_t size_bytes;
    current.count = bench_count(b, TRIPS_MAX);
    if (!rings_make(*(const uint32_t *)context, &size_bytes)) {
        return bench_failed("line rings", "could not be made");
    }
    bool fine = run_trips(b, ring_here, ring_there, "line rings", values);
    bench_unmap(current.memory, (size_t)size_bytes * 2);
    return fine;
}
