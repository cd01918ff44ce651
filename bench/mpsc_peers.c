/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rings with many producers beside which ours is measured. */
#include <ck_ring.h>
#include <rte_ring_elem.h>

#include "mpsc_bench.h"

/* ---- ck_ring: reserved in place, taken by copy ----------------------------------------------- */

CK_RING_PROTOTYPE(24, mpsc_element)

/* The counters, then the elements from the next page on. */
#define ELEMENTS_AT 4096

static size_t
ck_size_bytes(uint32_t producers)
{
    (void)producers;
    return ELEMENTS_AT + MPSC_ELEMENTS * sizeof(mpsc_element);
}

static bool
ck_make(mpsc_run *run)
{
    ck_ring_init(run->memory, MPSC_ELEMENTS);
    return true;
}

static struct mpsc_element *
ck_elements(const mpsc_run *run)
{
    return (struct mpsc_element *)(void *)((char *)run->memory + ELEMENTS_AT);
}

static void
ck_produce(void *argument)
{
    const mpsc_side *side = argument;
    const mpsc_run *run = side->run;
    struct mpsc_element *elements = ck_elements(run);
    for (uint64_t i = 0; !mpsc_stopped(run);) {
        unsigned int ticket;
        struct mpsc_element *slot = ck_ring_enqueue_reserve_mpsc_24(run->memory, elements, &ticket);
        if (!slot) {
            mpsc_wait_for_room(run);
            continue;
        }
        mpsc_fill(slot->word, side->number, i++);
        ck_ring_enqueue_commit_mpsc(run->memory, ticket);
    }
}

static void
ck_consume(void *argument)
{
    mpsc_run *run = argument;
    struct mpsc_element *elements = ck_elements(run);
    while (mpsc_goes_on(run)) {
        struct mpsc_element element;
        if (ck_ring_dequeue_mpsc_24(run->memory, elements, &element)) {
            mpsc_check(run, element.word);
        } else {
            med_port_cpu_relax();
        }
    }
}

const mpsc_system mpsc_ck = {"ck_ring", ck_size_bytes, ck_make, ck_produce, ck_consume};

/* ---- DPDK's rte_ring: by copy, from elements that were filled before ------------------------- */

/* Its zero-copy calls are not for several producers that reserve at a time. */

static size_t
dpdk_size_bytes(uint32_t producers)
{
    (void)producers;
    return (size_t)rte_ring_get_memsize_elem(sizeof(mpsc_element), MPSC_ELEMENTS);
}

static bool
dpdk_make(mpsc_run *run)
{
    return rte_ring_init(run->memory, "bench", MPSC_ELEMENTS, RING_F_SC_DEQ) == 0;
}

static void
dpdk_produce(void *argument)
{
    const mpsc_side *side = argument;
    const mpsc_run *run = side->run;
    mpsc_element filled[MPSC_BATCH];
    for (uint64_t i = 0; !mpsc_stopped(run); i += MPSC_BATCH) {
        for (uint32_t n = 0; n < MPSC_BATCH; n++) {
            mpsc_fill(filled[n].word, side->number, i + n);
        }
        for (uint32_t n = 0; n < MPSC_BATCH && !mpsc_stopped(run);) {
            if (rte_ring_mp_enqueue_elem(run->memory, &filled[n], sizeof filled[n]) == 0) {
                n++;
            } else {
                mpsc_wait_for_room(run);
            }
        }
    }
}

static void
dpdk_consume(void *argument)
{
    mpsc_run *run = argument;
    while (mpsc_goes_on(run)) {
        mpsc_element element;
        if (rte_ring_sc_dequeue_elem(run->memory, &element, sizeof element) == 0) {
            mpsc_check(run, element.word);
        } else {
            med_port_cpu_relax();
        }
    }
}

const mpsc_system mpsc_dpdk = {"DPDK rte_ring", dpdk_size_bytes, dpdk_make, dpdk_produce,
                               dpdk_consume};
