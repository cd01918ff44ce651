/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Caches that are not coherent: what a scenario calls cached memory, each process sees through a
 * cache of its own. Plain accesses are to the process's copy of a line, which is fetched when it is
 * first needed; what is written there goes to memory when it is cleaned, or when the seed throws
 * the line out, whole as it is; what others, or the copy engine, put into memory is seen when the
 * line is fetched anew. Atomic operations have no place there.
 *
 * The copies are the processes' own pages at the end of their views; memory is an array here, which
 * the copy engine alone touches directly.
 */
#include "engine.h"

#include <string.h>

#define HERE ((uintptr_t)__builtin_return_address(0))
#define LINE_BYTES 64u
#define LINES (SIM_CACHED_BYTES / LINE_BYTES)
#define THROWN_OUT (1u << 12) /* the chance, of 65536, at each access */

typedef struct line {
    bool present;
    bool dirty;
} line;

static uint8_t memory[LINES][LINE_BYTES];
static line caches[SIM_PROCESSES_MAX][LINES];

/* ---- Lines ----------------------------------------------------------------------------------- */

static uint8_t *
copy_of(uint32_t process, uint32_t number)
{
    uint8_t(*copies)[LINE_BYTES] = sim_shared_address(process, SIM_CACHED_AT);
    return copies[number];
}

static void
fetch(uint32_t process, uint32_t number)
{
    line *l = &caches[process][number];
    if (!l->present) {
        memcpy(copy_of(process, number), memory[number], LINE_BYTES);
        *l = (line){.present = true};
    }
}

static void
write_back(uint32_t process, uint32_t number)
{
    line *l = &caches[process][number];
    if (l->dirty) {
        memcpy(memory[number], copy_of(process, number), LINE_BYTES);
        l->dirty = false;
    }
}

/* A line goes to make room, or comes because it may be wanted. */
void
sim_cache_stir(void)
{
    uint32_t process = sim.current->process;
    uint32_t count = (sim.scenario->cached_bytes + LINE_BYTES - 1) / LINE_BYTES;
    uint32_t chosen = 0;
    if (!sim.alone && count != 0) {
        chosen = sim_choose(SIM_MACHINE, count + 1, THROWN_OUT);
    }
    if (chosen == 0) {
        return;
    }
    if (caches[process][chosen - 1].present) {
        write_back(process, chosen - 1);
        caches[process][chosen - 1].present = false;
    } else {
        fetch(process, chosen - 1);
    }
}

void
sim_caches_begin(void)
{
    if (sim.scenario->cached_bytes) {
        memset(memory, 0, sizeof memory);
        memset(caches, 0, sizeof caches);
    }
}

/* What the director has made ready is in memory, and in no cache. */
void
sim_caches_empty(void)
{
    for (uint32_t number = 0; sim.scenario->cached_bytes && number < LINES; number++) {
        write_back(0, number);
        caches[0][number].present = false;
    }
}

/* ---- Accesses -------------------------------------------------------------------------------- */

void
sim_cache_access(uint32_t place, size_t bytes, bool writes)
{
    uint32_t process = sim.current->process;
    sim_cache_stir();
    uint32_t first = (place - SIM_CACHED_AT) / LINE_BYTES;
    uint32_t last = (uint32_t)(place + bytes - 1 - SIM_CACHED_AT) / LINE_BYTES;
    for (uint32_t number = first; number <= last; number++) {
        fetch(process, number);
        caches[process][number].dirty |= writes;
    }
}

/* Where memory itself has what is seen at that address. */
static void *
behind(const void *address, uint32_t place)
{
    uint32_t at = place - SIM_CACHED_AT;
    return sim_is_cached(place) ? &memory[at / LINE_BYTES][at % LINE_BYTES]
                                : (void *)(uintptr_t)address;
}

void
sim_engine_copy(void *target, const void *source, size_t bytes, uintptr_t pc)
{
    uint32_t from = sim_place(source, pc);
    uint32_t to = sim_place(target, pc);
    if (bytes == 0 || !(sim_is_cached(from) || sim_is_cached(to))) {
        sim_plain_copy(target, source, bytes, pc);
        return;
    }
    if (from != SIM_NOWHERE) {
        sim_race_check(from, (uint32_t)bytes, SIM_READS, pc);
    }
    if (to != SIM_NOWHERE) {
        sim_history_forget(to, (uint32_t)bytes);
        sim_race_check(to, (uint32_t)bytes, SIM_WRITES, pc);
    }
    memcpy(behind(target, to), behind(source, from), bytes);
}

/* ---- The port -------------------------------------------------------------------------------- */

/* Remembers where it stands, as of an order: a mutant leaves it out. */
static bool
is_left_out(uintptr_t pc)
{
    uint32_t site = sim_site_of(pc);
    sim_sites[site] |= SIM_SITE_OF_CACHE;
    return sim_weak[site] != SIM_AS_WRITTEN;
}

static void
for_lines(const void *address, size_t bytes, uintptr_t pc, void (*act)(uint32_t, uint32_t))
{
    uint32_t place = sim_place(address, pc);
    if (!sim_is_cached(place) || bytes == 0 || is_left_out(pc)) {
        return;
    }
    uint32_t last = (uint32_t)(place + bytes - 1 - SIM_CACHED_AT) / LINE_BYTES;
    for (uint32_t i = (place - SIM_CACHED_AT) / LINE_BYTES; i <= last && i < LINES; i++) {
        act(sim.current->process, i);
    }
}

/* Whole lines, also of what is beside in them; written or not. */
static void
throw_away(uint32_t process, uint32_t number)
{
    caches[process][number] = (line){.present = false};
}

void
med_port_cache_clean(const void *address, size_t size_bytes)
{
    sim_point(HERE);
    for_lines(address, size_bytes, HERE, write_back);
}

void
med_port_cache_invalidate(void *address, size_t size_bytes)
{
    sim_point(HERE);
    for_lines(address, size_bytes, HERE, throw_away);
}
