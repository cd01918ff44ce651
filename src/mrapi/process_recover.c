/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is done about a process that died: its row goes from LIVE over DEAD and RECOVERING(by) to
 * FREE, as process.c draws it.
 *
 * Every step of a recovery can be done twice, or by two at once: each takes one thing from one
 * owner by one compare-and-swap, or removes one row by its generation, or replaces it so. So who
 * goes on with what another began need not see what that one did of it, only what the dead one did:
 * the dead one's slot shows it, which each recoverer has asked himself, or has in hand. A recoverer
 * that dies leaves RECOVERING(by himself); the recovery of his own row gives that claim back before
 * anything else can make his row LIVE again. One who cannot have a table's lock, since its holder
 * lives and does not go on, gives the claim back himself: what is not done yet is done by the next,
 * from the start.
 *
 * One who is stopped keeps his claim until others have seen it for MED_PROCESS_TAKE_OVER_NS; then
 * one of them takes it over, by compare-and-swap. Where he keeps a table locked besides, his
 * successor does what needs no table, which is what others wait for, and gives the claim back. When
 * the stopped one goes on, what he still does has been done, in the name of the dead one's
 * generation, which is no newcomer's; and his last compare-and-swap fails. But a newcomer who
 * recovers the row that he will live in is at it in his own generation, and nobody takes that over:
 * who waits for a lock of the dead one finds that its holder is gone (med_process_look).
 *
 * Model: models/process.pml.
 */
#include "mrapi/process.h"

#include "base/log.h"
#include "base/wait.h"
#include "mrapi/event.h"
#include "mrapi/node.h"
#include "mrapi/process_life.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

_Static_assert(sizeof(((med_process_row *)0)->node_rows) * 8 * MED_PROCESS_NODE_ROWS_PER_BIT >=
                   16000,
               "one bit for every chunk of the largest node table");

/* ---- Whose it is ----------------------------------------------------------------------------- */

/* Notes of every recovery under way since when this process sees it: who waits for one dead process
 * may have to wait for another behind it. Relaxed, all: threads that mix what they write here find
 * a recovery overdue early or late, and one may be taken over at any time. */
static void
watch_all(med_system *system, uint32_t now)
{
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        uint32_t word = atomic32_load_relaxed(&med_system_process(system, i)->state);
        uint32_t at_it = med_process_state_of(word) == MED_PROCESS_RECOVERING ? word : 0;
        if (atomic32_load_relaxed(&system->watches[i].word) != at_it) {
            atomic32_store_relaxed(&system->watches[i].since, now);
            atomic32_store_relaxed(&system->watches[i].word, at_it);
        }
    }
}

/* Has this process seen the same one at that recovery for long? Relaxed, all: see watch_all. */
static bool
is_overdue(med_system *system, uint32_t index, uint32_t word)
{
    const med_process_watch *watch = &system->watches[index];
    uint32_t now = (uint32_t)(med_port_clock_ns() / MED_PROCESS_WATCH_NS);
    watch_all(system, now);
    uint32_t for_so_long = now - atomic32_load_relaxed(&watch->since);
    return atomic32_load_relaxed(&watch->word) == word &&
           for_so_long >= MED_PROCESS_TAKE_OVER_NS / MED_PROCESS_WATCH_NS;
}

/* A recoverer that died and whose row lives again had its claims given back in between, so a held
 * slot is enough. */
bool
med_process_recoverer_at_it(med_system *system, uint32_t index, uint32_t word)
{
    uint32_t by = med_process_recoverer_of(word);
    bool lives = by < system->limits.processes && med_process_slot_held(system, by);
    bool is_newcomer = by == index;
    return lives && (is_newcomer || !is_overdue(system, index, word));
}

typedef struct claim {
    uint32_t word; /* of the row: RECOVERING(by us) */
    uint32_t from; /* the row of who was at it before, or NOBODY */
} claim;
#define NOBODY UINT32_MAX

/* Moves a dead process's row to RECOVERING(by us). False: it lives, or another is at it. */
static bool
recovery_claim(med_system *system, uint32_t index, claim *claimed)
{
    med_process_row *row = med_system_process(system, index);
    claimed->from = NOBODY;
    for (;;) {
        /* A1 live <- L1 (process.c), before the slot is asked: whose LIVE it is had it by then.
         * After a compare-and-swap that failed, too: that is a relaxed load. */
        uint32_t word = atomic32_load_acquire(&row->state);
        switch (med_process_state_of(word)) {
        case MED_PROCESS_LIVE:
        case MED_PROCESS_DEAD: /* held: by a newcomer who claims it, or we cannot see who lives */
            if (med_process_slot_held(system, index)) {
                return false;
            }
            break;
        case MED_PROCESS_RECOVERING:
            if (med_process_recoverer_at_it(system, index, word)) {
                return false;
            }
            claimed->from = med_process_recoverer_of(word);
            break;
        case MED_PROCESS_FREE:
        default:
            return false;
        }
        uint32_t generation = med_process_generation_of(word);
        bool dead = med_process_state_of(word) == MED_PROCESS_DEAD;
        uint32_t next =
            dead ? med_process_word(MED_PROCESS_RECOVERING, system->process_index, generation)
                 : med_process_word(MED_PROCESS_DEAD, 0, generation);
        /* D1 died -> D2 (process.c). What others did of it is done again, or found done. */
        if (atomic32_cas_release(&row->state, &word, next) && dead) {
            claimed->word = next;
            return true;
        }
    }
}

/* ---- What it held ---------------------------------------------------------------------------- */

/* Does `ref` name the row in this generation or an earlier one? A later one is a newcomer's: he may
 * live there when others took us for dead, and finished this recovery, while we were at it. */
static bool
names_the_dead(uint32_t ref, uint32_t index, uint32_t generation)
{
    int16_t later = (int16_t)(med_process_ref_generation(ref) - generation);
    return ref && med_process_ref_index(ref) == index && later <= 0;
}

/* Tables come first: the later steps need their locks. Whoever holds one in the name of this row
 * is dead: the row is not LIVE, and a newcomer who is at it holds none now. */
static void
recover_table_locks(med_system *system, uint32_t index, uint32_t generation)
{
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        med_table *table = system->tables[k].table;
        uint32_t owner = med_lock_owner(&table->lock);
        if (names_the_dead(owner, index, generation)) {
            (void)med_lock_recover(&table->lock, &table->sleepers, owner, true, system->scope);
        }
    }
}

/* The recoveries that it was at become somebody else's. */
static void
recover_claims(med_system *system, uint32_t index)
{
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        atomic32 *state = &med_system_process(system, i)->state;
        uint32_t word = atomic32_load_relaxed(state); /* relaxed: checked by compare-and-swap */
        if (i != index && med_process_state_of(word) == MED_PROCESS_RECOVERING &&
            med_process_recoverer_of(word) == index) {
            uint32_t dead = med_process_word(MED_PROCESS_DEAD, 0, med_process_generation_of(word));
            /* Relaxed: what was done of it the next does again, or finds done. */
            (void)atomic32_cas_relaxed(state, &word, dead);
        }
    }
}

/* Of which process. */
typedef struct cleaning {
    uint32_t index;
    uint32_t generation;
} cleaning;

/* What is done about one of its nodes: a part of med_node_recover, or all. */
typedef medley_status_t node_recovery(med_system *system, uint32_t index, uint32_t generation);

static medley_status_t
node_locks_recover(med_system *system, uint32_t index, uint32_t generation)
{
    const med_row *row = &med_system_node(system, index)->row;
    med_traced(system, med_node_ref(index, generation), MED_TRACED_NODE_DIED,
               med_traced_word(&row->key_high), med_traced_word(&row->key_low));
    return med_node_recover_locks(system, index, generation);
}

static medley_status_t
recover_node_row(med_system *system, uint32_t index, const cleaning *c, node_recovery *recover)
{
    const med_node_row *row = med_system_node(system, index);
    uint32_t word = atomic32_load_acquire(&row->row.state); /* A1 live <- T1 (table.c) */
    /* Relaxed: written before the row became LIVE. */
    uint32_t ref = atomic32_load_relaxed(&row->process_ref);
    bool its =
        med_row_state_of(word) == MED_ROW_LIVE && names_the_dead(ref, c->index, c->generation);
    return its ? recover(system, index, med_row_generation_of(word)) : MEDLEY_OK;
}

/* All of them, whatever one of them says. */
static medley_status_t
recover_nodes(med_system *system, const cleaning *c, node_recovery *recover)
{
    const med_process_row *row = med_system_process(system, c->index);
    medley_status_t status = MEDLEY_OK;
    for (uint32_t first = 0; first < system->limits.nodes; first += MED_PROCESS_NODE_ROWS_PER_BIT) {
        uint32_t bit = first / MED_PROCESS_NODE_ROWS_PER_BIT;
        /* Relaxed: its writer is dead. */
        if (!(atomic32_load_relaxed(&row->node_rows[bit / 32]) & 1u << bit % 32)) {
            continue;
        }
        uint32_t last = first + MED_PROCESS_NODE_ROWS_PER_BIT;
        for (uint32_t i = first; i < last && i < system->limits.nodes; i++) {
            if (recover_node_row(system, i, c, recover) != MEDLEY_OK) {
                status = MEDLEY_TIMEOUT;
            }
        }
    }
    return status;
}

static void
recovery_report(uint32_t process_id)
{
    if (!med_log_wanted(MED_LOG_INFO)) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, "process ");
    med_text_number(&text, process_id);
    med_text_string(&text, " died; its nodes and locks were recovered");
    med_log(MED_LOG_INFO, &text);
}

/* With `all` unset, only what needs no table. */
static medley_status_t
clean_up(med_system *system, const cleaning *c, bool all)
{
    const med_process_row *row = med_system_process(system, c->index);
    /* Relaxed: for showing. Read once: another may live in the row when this ends. */
    uint32_t process_id = atomic32_load_relaxed(&row->process_id);
    med_traced_by_caller(system, MED_TRACED_PROCESS_DIED, process_id, 0);
    recover_table_locks(system, c->index, c->generation);
    recover_claims(system, c->index);
    /* First of all nodes what needs no table: who waits for a lock need not wait for one. */
    medley_status_t status = recover_nodes(system, c, node_locks_recover);
    if (all && status != MEDLEY_OK) {
        status = recover_nodes(system, c, med_node_recover);
    }
    if (status == MEDLEY_OK) {
        recovery_report(process_id);
        med_traced_by_caller(system, MED_TRACED_RECOVERED, process_id, 0);
    }
    return status;
}

medley_status_t
med_process_clean_up(med_system *system, uint32_t index, uint32_t generation)
{
    cleaning c = {.index = index, .generation = generation};
    return clean_up(system, &c, true);
}

/* ---- Recovery -------------------------------------------------------------------------------- */

/* Has the process of that row, which lives, a table locked? */
static bool
keeps_a_table(const med_system *system, uint32_t index)
{
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        uint32_t owner = med_lock_owner(&system->tables[k].table->lock);
        if (owner && med_process_ref_index(owner) == index && med_process_alive(system, owner)) {
            return true;
        }
    }
    return false;
}

bool
med_process_recover(med_system *system, uint32_t index)
{
    claim claimed;
    if (!med_system_is_shared(system) || index >= system->limits.processes ||
        !recovery_claim(system, index, &claimed)) {
        return false;
    }
    med_process_row *row = med_system_process(system, index);
    uint32_t generation = med_process_generation_of(claimed.word);
    bool all = !keeps_a_table(system, claimed.from);
    cleaning c = {.index = index, .generation = generation};
    if (clean_up(system, &c, all) != MEDLEY_OK) {
        uint32_t given_back = med_process_word(MED_PROCESS_DEAD, 0, generation);
        /* Relaxed: as in recover_claims. */
        (void)atomic32_cas_relaxed(&row->state, &claimed.word, given_back);
        return false;
    }
    uint32_t freed = med_process_word(MED_PROCESS_FREE, 0, generation);
    /* R2 free -> A2 (process.c). Fails when another has taken it over, or a peer scribbled. */
    bool done = atomic32_cas_release(&row->state, &claimed.word, freed);
    if (done) {
        med_event_tell(MEDLEY_EVENT_DEATH); /* else who took it over tells it */
    }
    return done;
}

uint32_t
med_process_recover_all(med_system *system)
{
    uint32_t recovered = 0;
    if (med_port_has_processes()) {
        med_process_keep(system);
    }
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        recovered += med_process_recover(system, i);
    }
    return recovered;
}

bool
med_process_recovery_await(const med_system *system, uint64_t until_ns, uint32_t *pauses)
{
    if (!med_system_is_shared(system) || med_port_clock_ns() >= until_ns) {
        return false;
    }
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        /* Relaxed: who sees all over tries again, which begins with a compare-and-swap, or with the
         * slot, and depends on this look: R2 has put all that came free before it. */
        uint32_t word = atomic32_load_relaxed(&med_system_process(system, i)->state);
        med_process_state state = med_process_state_of(word);
        if (state == MED_PROCESS_DEAD || state == MED_PROCESS_RECOVERING) {
            med_wait_pause(pauses);
            return true;
        }
    }
    return false;
}
