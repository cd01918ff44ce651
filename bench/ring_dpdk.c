/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* DPDK's rte_ring, one producer and one consumer: by copy, and by its zero-copy calls. */
#include <rte_ring_elem.h>

#include "port/port.h"
#include "ring_bench.h"

static size_t
size_bytes(ring_work work)
{
    return (size_t)rte_ring_get_memsize_elem(ring_work_words(work) * 8, ring_work_capacity(work));
}

static bool
make(ring_run *run)
{
    run->system = run->memory;
    return rte_ring_init(run->memory, "bench", ring_work_capacity(run->work),
                         RING_F_SP_ENQ | RING_F_SC_DEQ) == 0;
}

/* ---- By copy --------------------------------------------------------------------------------- */

RING_INLINE void
produce(const ring_run *run, uint32_t words, uint32_t ahead)
{
    uint64_t filled[RING_BURST * 3];
    for (uint64_t i = 0; i < run->count; i += ahead) {
        for (uint32_t n = 0; n < ahead; n++) {
            ring_fill(filled + n * words, words, i + n);
        }
        for (uint32_t n = 0; n < ahead; n++) {
            while (rte_ring_sp_enqueue_elem(run->system, filled + n * words, words * 8) != 0) {
                med_port_cpu_relax();
            }
        }
    }
}

RING_INLINE void
consume(ring_run *run, uint32_t words)
{
    uint64_t element[3];
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count; i++) {
        while (rte_ring_sc_dequeue_elem(run->system, element, words * 8) != 0) {
            med_port_cpu_relax();
        }
        wrong |= ring_check(element, words, i);
    }
    run->wrong = wrong;
}

RING_INLINE void
produce_burst(const ring_run *run, uint32_t words)
{
    uint64_t filled[RING_BURST * 3];
    for (uint64_t i = 0; i < run->count; i += RING_BURST) {
        for (uint32_t n = 0; n < RING_BURST; n++) {
            ring_fill(filled + n * words, words, i + n);
        }
        for (uint32_t done = 0; done < RING_BURST;) {
            uint32_t pushed = rte_ring_sp_enqueue_burst_elem(run->system, filled + done * words,
                                                             words * 8, RING_BURST - done, NULL);
            done += pushed;
            if (!pushed) {
                med_port_cpu_relax();
            }
        }
    }
}

RING_INLINE void
consume_burst(ring_run *run, uint32_t words)
{
    uint64_t elements[RING_BURST * 3];
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count;) {
        uint32_t popped =
            rte_ring_sc_dequeue_burst_elem(run->system, elements, words * 8, RING_BURST, NULL);
        for (uint32_t n = 0; n < popped; n++) {
            wrong |= ring_check(elements + n * words, words, i + n);
        }
        i += popped;
        if (!popped) {
            med_port_cpu_relax();
        }
    }
    run->wrong = wrong;
}

/* ---- Zero copy ------------------------------------------------------------------------------- */

RING_INLINE void
produce_zero_copy(const ring_run *run, uint32_t words, uint32_t burst)
{
    for (uint64_t i = 0; i < run->count;) {
        struct rte_ring_zc_data zc;
        uint32_t count =
            rte_ring_enqueue_zc_burst_elem_start(run->system, words * 8, burst, &zc, NULL);
        if (!count) {
            med_port_cpu_relax();
            continue;
        }
        for (uint32_t n = 0; n < zc.n1; n++) {
            ring_fill((uint64_t *)zc.ptr1 + (size_t)n * words, words, i + n);
        }
        for (uint32_t n = zc.n1; n < count; n++) {
            ring_fill((uint64_t *)zc.ptr2 + (size_t)(n - zc.n1) * words, words, i + n);
        }
        rte_ring_enqueue_zc_elem_finish(run->system, count);
        i += count;
    }
}

RING_INLINE void
consume_zero_copy(ring_run *run, uint32_t words, uint32_t burst)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count;) {
        struct rte_ring_zc_data zc;
        uint32_t count =
            rte_ring_dequeue_zc_burst_elem_start(run->system, words * 8, burst, &zc, NULL);
        if (!count) {
            med_port_cpu_relax();
            continue;
        }
        for (uint32_t n = 0; n < zc.n1; n++) {
            wrong |= ring_check((uint64_t *)zc.ptr1 + (size_t)n * words, words, i + n);
        }
        for (uint32_t n = zc.n1; n < count; n++) {
            wrong |= ring_check((uint64_t *)zc.ptr2 + (size_t)(n - zc.n1) * words, words, i + n);
        }
        rte_ring_dequeue_zc_elem_finish(run->system, count);
        i += count;
    }
    run->wrong = wrong;
}

/* ---- One function per kind of work ----------------------------------------------------------- */
#define LOOP(name, call)                                                                           \
    static void name(void *run)                                                                    \
    {                                                                                              \
        call;                                                                                      \
    }

LOOP(produce_8, produce(run, 1, RING_BURST))
LOOP(consume_8, consume(run, 1))
LOOP(produce_24, produce(run, 3, RING_BURST))
LOOP(produce_fresh_24, produce(run, 3, 1))
LOOP(consume_24, consume(run, 3))
LOOP(produce_burst_8, produce_burst(run, 1))
LOOP(consume_burst_8, consume_burst(run, 1))
LOOP(produce_burst_24, produce_burst(run, 3))
LOOP(consume_burst_24, consume_burst(run, 3))
LOOP(produce_zero_copy_8, produce_zero_copy(run, 1, 1))
LOOP(consume_zero_copy_8, consume_zero_copy(run, 1, 1))
LOOP(produce_zero_copy_24, produce_zero_copy(run, 3, 1))
LOOP(consume_zero_copy_24, consume_zero_copy(run, 3, 1))
LOOP(produce_zero_copy_burst_8, produce_zero_copy(run, 1, RING_BURST))
LOOP(consume_zero_copy_burst_8, consume_zero_copy(run, 1, RING_BURST))
LOOP(produce_zero_copy_burst_24, produce_zero_copy(run, 3, RING_BURST))
LOOP(consume_zero_copy_burst_24, consume_zero_copy(run, 3, RING_BURST))
LOOP(produce_zero_copy_4k, produce_zero_copy(run, 512, 1))
LOOP(consume_zero_copy_4k, consume_zero_copy(run, 512, 1))

const ring_system ring_dpdk = {
    "DPDK rte_ring",
    size_bytes,
    make,
    {[RING_ONE_8] = produce_8,
     [RING_ONE_24] = produce_24,
     [RING_BURST_8] = produce_burst_8,
     [RING_BURST_24] = produce_burst_24,
     [RING_COPY_8] = produce_8,
     [RING_COPY_24] = produce_24,
     [RING_FRESH_24] = produce_fresh_24},
    {[RING_ONE_8] = consume_8,
     [RING_ONE_24] = consume_24,
     [RING_BURST_8] = consume_burst_8,
     [RING_BURST_24] = consume_burst_24,
     [RING_COPY_8] = consume_8,
     [RING_COPY_24] = consume_24,
     [RING_FRESH_24] = consume_24},
};

const ring_system ring_dpdk_zero_copy = {
    "DPDK rte_ring, zero copy",
    size_bytes,
    make,
    {[RING_ONE_8] = produce_zero_copy_8,
     [RING_ONE_24] = produce_zero_copy_24,
     [RING_BURST_8] = produce_zero_copy_burst_8,
     [RING_BURST_24] = produce_zero_copy_burst_24,
     [RING_WHOLE_4K] = produce_zero_copy_4k},
    {[RING_ONE_8] = consume_zero_copy_8,
     [RING_ONE_24] = consume_zero_copy_24,
     [RING_BURST_8] = consume_zero_copy_burst_8,
     [RING_BURST_24] = consume_zero_copy_burst_24,
     [RING_WHOLE_4K] = consume_zero_copy_4k},
};
