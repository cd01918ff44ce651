/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Our ring with many producers beside its peers. Where the machine has enough processors, each
 * thread has its own. Else the producers share one: they are never at work at the same instant
 * then, but any of them may be stopped in the middle of an insertion, and where others wait for it
 * (ck_ring, rte_ring) they do so for a time slice, element after element.
 */
#include "mpsc_bench.h"

#include "base/ring_mpsc.h"
#include "bench.h"

#define CONSUMER_OWNER 100
/* Some time slices for each of the producers that share a processor. */
#define DURATION_NS 150000000u

static med_ring_mpsc_config
own_config(uint32_t producers)
{
    return (med_ring_mpsc_config){.element_bytes = sizeof(mpsc_element),
                                  .capacity = MPSC_ELEMENTS / producers,
                                  .lanes = MPSC_PRODUCERS_MAX};
}

static size_t
own_size_bytes(uint32_t producers)
{
    med_ring_mpsc_config config = own_config(producers);
    uint32_t size_bytes = 0;
    return med_ring_mpsc_size(&config, &size_bytes) == MEDLEY_OK ? size_bytes : 0;
}

static med_ring_mpsc_view own_view;

static bool
own_make(mpsc_run *run)
{
    med_ring_mpsc_config config = own_config(run->producers);
    size_t size_bytes = own_size_bytes(run->producers);
    return med_ring_mpsc_init(run->memory, size_bytes, &config) == MEDLEY_OK &&
           med_ring_mpsc_attach(&own_view, run->memory, size_bytes, MED_PORT_SCOPE_SHARED) ==
               MEDLEY_OK;
}

static void
own_produce(void *argument)
{
    const mpsc_side *side = argument;
    med_ring_mpsc_producer producer;
    if (med_ring_mpsc_producer_join(&producer, &own_view, side->number + 1) != MEDLEY_OK) {
        return; /* its elements will be missed */
    }
    for (uint64_t i = 0; !mpsc_stopped(side->run);) {
        void *slot;
        if (med_ring_mpsc_reserve(&producer, &slot) != MEDLEY_OK) {
            mpsc_wait_for_room(side->run);
            continue;
        }
        mpsc_fill(slot, side->number, i++);
        med_ring_mpsc_commit(&producer);
    }
}

static void
own_consume(void *argument)
{
    mpsc_run *run = argument;
    med_ring_mpsc_consumer consumer;
    if (med_ring_mpsc_consumer_join(&consumer, &own_view, CONSUMER_OWNER) != MEDLEY_OK) {
        return;
    }
    while (mpsc_goes_on(run)) {
        void *element;
        if (med_ring_mpsc_peek(&consumer, &element) != MEDLEY_OK) {
            med_port_cpu_relax();
            continue;
        }
        mpsc_check(run, element);
        med_ring_mpsc_release(&consumer);
    }
}

static void
own_consume_batches(void *argument)
{
    mpsc_run *run = argument;
    med_ring_mpsc_consumer consumer;
    if (med_ring_mpsc_consumer_join(&consumer, &own_view, CONSUMER_OWNER) != MEDLEY_OK) {
        return;
    }
    while (mpsc_goes_on(run)) {
        void *elements;
        uint32_t count;
        if (med_ring_mpsc_peek_many(&consumer, MPSC_BATCH, &elements, &count) != MEDLEY_OK) {
            med_port_cpu_relax();
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            mpsc_check(run, (const uint64_t *)elements + (size_t)i * 3);
        }
        med_ring_mpsc_release_many(&consumer, count);
    }
}

static const mpsc_system own = {"medley", own_size_bytes, own_make, own_produce, own_consume};
static const mpsc_system own_batches = {"medley, taken by 32", own_size_bytes, own_make,
                                        own_produce, own_consume_batches};

/* ---- The questions --------------------------------------------------------------------------- */

typedef struct flow {
    const mpsc_system *system;
    uint32_t producers;
} flow;

/* Does each thread have a processor of its own? */
static bool
processors_suffice(const bench *b, uint32_t producers)
{
    return producers == 1 || b->processor_count > producers;
}

static bool
flow_measure(const bench *b, void *context, double *values)
{
    const flow *f = context;
    static mpsc_run run;
    size_t size_bytes = f->system->size_bytes(f->producers);
    run = (mpsc_run){.memory = bench_map(size_bytes),
                     .producers = f->producers,
                     .duration_ns = bench_count(b, DURATION_NS)};
    if (!f->system->make(&run)) {
        return bench_failed(f->system->name, "the ring could not be made");
    }
    bool suffice = processors_suffice(b, f->producers);
    mpsc_side producers[MPSC_PRODUCERS_MAX];
    bench_thread threads[MPSC_PRODUCERS_MAX + 1];
    for (uint32_t i = 0; i < f->producers; i++) {
        producers[i] = (mpsc_side){&run, i};
        threads[i] = (bench_thread){.run = f->system->produce,
                                    .argument = &producers[i],
                                    .processor = suffice && i > 0 ? i + 1 : 0,
                                    .sleeps = !suffice || i > 0};
    }
    threads[f->producers] = (bench_thread){f->system->consume, &run, 1, false};
    (void)bench_run(b, threads, f->producers + 1);
    bench_unmap(run.memory, size_bytes);
    uint64_t taken = 0;
    for (uint32_t i = 0; i < f->producers; i++) {
        taken += run.next[i];
    }
    values[0] = (double)taken * 1e3 / (double)(run.end_ns - run.start_ns);
    return run.wrong == 0 || bench_failed(f->system->name, "wrong content or order");
}

static void
flow_ask(bench *b, const char *name, uint32_t producers)
{
    const mpsc_system *systems[] = {&own, &mpsc_ck, &mpsc_dpdk, &own_batches};
    static const bench_goal goal = {
        .name = "beside the better peer", .first_peer = 1, .peer_count = 2, .factor = 2};
    flow flows[BENCH_COUNT(systems)];
    bench_subject subjects[BENCH_COUNT(systems)];
    for (uint32_t i = 0; i < BENCH_COUNT(systems); i++) {
        flows[i] = (flow){systems[i], producers};
        subjects[i] = (bench_subject){systems[i]->name, flow_measure, &flows[i]};
    }
    bench_question question = {
        .name = name,
        .setting = processors_suffice(b, producers)
                       ? "16384 elements in all, 384 KiB; every word written and checked; each "
                         "thread on its own processor"
                       : "16384 elements in all, 384 KiB; every word written and checked; the "
                         "producers share one processor, the consumer has another",
        .unit = "M/s",
        .value_count = 1,
        .subjects = subjects,
        .subject_count = BENCH_COUNT(systems),
        .goals = &goal,
        .goal_count = 1};
    bench_ask(b, &question);
}

int
main(int argc, char **argv)
{
    bench b;
    bench_begin(&b, argc, argv, "mpsc_bench", "Many producers, one consumer");
    flow_ask(&b, "MPSC 24 B, 1 producer", 1);
    flow_ask(&b, "MPSC 24 B, 2 producers", 2);
    flow_ask(&b, "MPSC 24 B, 4 producers", 4);
    return bench_end(&b);
}
