/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Processes: attachment and liveness. What is done about a dead one is process_recover.c.
 *
 *   FREE --claim--> LIVE --release--> FREE
 *                    |  somebody finds the liveness slot not held
 *                    v
 *                   DEAD --one wins the compare-and-swap--> RECOVERING(by) --done--> FREE
 *                    ^                                           |
 *                    +---- `by` is found dead, or too long at it +   (or taken over directly)
 *
 * Why it is right. Only a process that holds the slot of a FREE row makes it LIVE, so a LIVE row
 * whose slot nobody holds belongs to a dead process, and stays so until it is FREE again: nobody
 * claims a row that is not FREE, but a newcomer who first recovers the dead one, its slot in hand.
 *
 * Model: models/process.pml.
 */
#include "mrapi/process.h"

#include "base/log.h"
#include "mrapi/event.h"
#include "mrapi/process_life.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

/* ---- Alive? ---------------------------------------------------------------------------------- */

bool
med_process_slot_lost(const med_system *system, uint32_t index)
{
    /* Relaxed: written before the row became LIVE; another's number at most takes it for dead. */
    uint32_t process_id = atomic32_load_relaxed(&med_system_process(system, index)->process_id);
    return med_port_slot_lost(&system->shared, index, process_id);
}

bool
med_process_slot_held(const med_system *system, uint32_t index)
{
    if (!system->observed && system->process_ref && index == system->process_index) {
        return true;
    }
    return med_system_is_shared(system) &&
           (med_port_slot_held(&system->shared, index) || med_process_slot_lost(system, index));
}

bool
med_process_alive(const med_system *system, uint32_t ref)
{
    if (!med_port_has_processes()) {
        return ref == system->process_ref;
    }
    uint32_t index = med_process_ref_index(ref);
    if (index >= system->limits.processes) {
        return false;
    }
    uint32_t live = med_process_word(MED_PROCESS_LIVE, 0, med_process_ref_generation(ref));
    /* The state is read after the slot: a row that is LIVE in this generation after its slot was
     * held was LIVE while it was. D2 died <- D1 (claim_dead, process_recover.c): the slot may have
     * been asked before the death, which then shows in the state alone. */
    return med_process_slot_held(system, index) &&
           atomic32_load_acquire(&med_system_process(system, index)->state) == live;
}

/* ---- Claim and release ----------------------------------------------------------------------- */

static void
row_fill(med_process_row *row)
{
    /* Relaxed, all: published by L1. */
    for (uint32_t i = 0; i < sizeof row->node_rows / sizeof row->node_rows[0]; i++) {
        atomic32_store_relaxed(&row->node_rows[i], 0);
    }
    atomic32_store_relaxed(&row->process_id, med_port_process_id());
    atomic64_store_relaxed(&row->since_ns, med_port_clock_common_ns());
}

/* From here on this process is `ref`, also as the owner of the tables' locks. */
static void
identify(med_system *system, uint32_t index, uint32_t generation)
{
    system->process_index = index;
    system->process_ref = med_process_ref(index, generation);
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        system->tables[k].process_ref = system->process_ref;
    }
}

static bool
slot_take(med_system *system, uint32_t index)
{
    return !med_system_is_shared(system) ||
           med_port_slot_claim(&system->shared, index) == MEDLEY_OK;
}

static void
slot_drop(med_system *system, uint32_t index)
{
    if (med_system_is_shared(system)) {
        med_port_slot_drop(&system->shared, index);
    }
}

/* The slot is held, and nobody else is at the row. False when a peer scribbled over it. */
static bool
come_alive(med_system *system, uint32_t index, uint32_t word, uint32_t generation)
{
    med_process_row *row = med_system_process(system, index);
    row_fill(row);
    identify(system, index, generation);
    /* L1 live -> A1 (process_recover.c, view.c) */
    return atomic32_cas_release(&row->state, &word,
                                med_process_word(MED_PROCESS_LIVE, 0, generation));
}

/* A row of nobody. */
static bool
claim_free(med_system *system, uint32_t index)
{
    const med_process_row *row = med_system_process(system, index);
    /* Relaxed: looked at again with the slot in hand. */
    if (med_process_state_of(atomic32_load_relaxed(&row->state)) != MED_PROCESS_FREE ||
        !slot_take(system, index)) {
        return false;
    }
    uint32_t word = atomic32_load_acquire(&row->state); /* A2 free <- R2 (process_recover.c) */
    if (med_process_state_of(word) != MED_PROCESS_FREE ||
        !come_alive(system, index, word, med_process_generation_of(word) + 1)) {
        slot_drop(system, index);
        return false;
    }
    return true;
}

/* A dead process's row, when there is none of nobody. With its slot in hand this process is its
 * recoverer, already under the generation that it will live in: so the word differs from whatever
 * another, who found the slot free a moment ago, may still compare with. */
static bool
claim_dead(med_system *system, uint32_t index)
{
    med_process_row *row = med_system_process(system, index);
    if (med_process_slot_lost(system, index) || !slot_take(system, index)) {
        return false;
    }
    /* Relaxed: checked by compare-and-swap; what its last holder did came with the slot. Should the
     * slot of its recoverer be asked too early, he is succeeded as one who is too long at it. */
    uint32_t word = atomic32_load_relaxed(&row->state);
    uint32_t generation = (med_process_generation_of(word) + 1) & 0xffffu;
    uint32_t by_me = med_process_word(MED_PROCESS_RECOVERING, index, generation);
    bool another_is_at_it = med_process_state_of(word) == MED_PROCESS_RECOVERING &&
                            med_process_recoverer_of(word) != index &&
                            med_process_recoverer_at_it(system, index, word);
    /* Lost, as of now: between the first look and the claim. D1 died -> D2 (alive). What others did
     * of the recovery is done again, or found done (process_recover.c). */
    if (another_is_at_it || med_process_slot_lost(system, index) ||
        !atomic32_cas_release(&row->state, &word, by_me)) {
        slot_drop(system, index);
        return false;
    }
    identify(system, index, generation);
    if (med_process_clean_up(system, index, generation) != MEDLEY_OK ||
        !come_alive(system, index, by_me, generation)) {
        slot_drop(system, index); /* RECOVERING by one without a slot: as a recoverer's death */
        return false;
    }
    med_event_tell(MEDLEY_EVENT_DEATH);
    return true;
}

static bool
claim_any(med_system *system)
{
    for (uint32_t index = 0; index < system->limits.processes; index++) {
        if (claim_free(system, index)) {
            return true;
        }
    }
    for (uint32_t index = 0; index < system->limits.processes; index++) {
        if (med_system_is_shared(system) && claim_dead(system, index)) {
            return true;
        }
    }
    return false;
}

medley_status_t
med_process_claim(med_system *system)
{
    uint64_t until_ns = med_port_clock_ns() + MED_PROCESS_RECOVERY_PATIENCE_NS;
    uint32_t pauses = 0;
    for (bool last = false;;) {
        if (claim_any(system)) {
            return MEDLEY_OK;
        }
        if (last) {
            break;
        }
        /* When there is none any more, one may have ended since we looked. */
        last = !med_process_recovery_await(system, until_ns, &pauses);
    }
    med_limits_report(&system->limits, MED_LIMIT_PROCESSES);
    return MEDLEY_ERR_LIMIT;
}

void
med_process_release(med_system *system)
{
    med_process_row *row = med_system_process(system, system->process_index);
    uint32_t generation = med_process_ref_generation(system->process_ref);
    atomic32_store_relaxed(&system->slot_given_up, 1); /* relaxed: see med_process_keep */
    /* Relaxed: set by nodes of this process, the last of which is the caller. */
    if (!atomic32_load_relaxed(&system->leaves_undone)) {
        /* Should this one die now: nothing that is his comes behind FREE. */
        atomic_compiler_barrier();
        /* Relaxed: the slot, which goes behind it, and is had by the next before he looks, orders
         * one life of the row and the next. */
        atomic32_store_relaxed(&row->state, med_process_word(MED_PROCESS_FREE, 0, generation));
    }
    med_port_slot_drop(&system->shared, system->process_index);
}

void
med_process_exits(med_system *system)
{
    /* Relaxed: see med_process_keep. */
    if (!atomic32_load_relaxed(&system->slot_given_up)) {
        med_port_slot_exits(&system->shared, system->process_index);
    }
}

/* ---- Keeping it ------------------------------------------------------------------------------ */

static void
report_lost(const med_system *system, const char *what)
{
    if (!med_log_wanted(MED_LOG_ERROR)) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, "this process ");
    med_text_string(&text, what);
    med_text_string(&text, ": its program opened the file of system '");
    med_text_string(&text, system->shared.name);
    med_text_string(&text, "' and closed it again, by which a process loses all its locks on it "
                           "(fcntl(2)); 'medley ps' looks without harm");
    med_log(MED_LOG_ERROR, &text);
}

void
med_process_keep(med_system *system)
{
    /* Relaxed, as below: set once, and only to be quiet afterwards. */
    if (!med_system_is_shared(system) || system->observed || !system->process_ref ||
        atomic32_load_relaxed(&system->slot_given_up)) {
        return;
    }
    medley_status_t status = med_port_slot_keep(&system->shared, system->process_index);
    if (status != MEDLEY_ERR_STALE && status != MEDLEY_BUSY) {
        return;
    }
    uint32_t generation = med_process_ref_generation(system->process_ref);
    const med_process_row *row = med_system_process(system, system->process_index);
    /* Relaxed: compared only. Who is not LIVE there now, his slot in hand, will never be. */
    bool ours =
        atomic32_load_relaxed(&row->state) == med_process_word(MED_PROCESS_LIVE, 0, generation);
    if (!ours) {
        atomic32_store_relaxed(&system->slot_given_up, 1); /* relaxed: as above */
        if (status == MEDLEY_ERR_STALE) {
            slot_drop(system, system->process_index);
        }
        report_lost(system, "was taken for dead, and all that it held with it; end it");
    } else if (status == MEDLEY_ERR_STALE) {
        report_lost(system, "had lost the lock that shows that it lives, and has it again");
    }
}

/* ---- Who waits for it ------------------------------------------------------------------------ */

medley_status_t
med_process_look(void *context, uint32_t process_ref)
{
    med_system *system = context;
    uint32_t index = med_process_ref_index(process_ref);
    if (med_port_has_processes()) {
        med_process_keep(system);
    }
    if (process_ref == 0 || med_process_alive(system, process_ref)) {
        return MEDLEY_OK; /* 0: it came free meanwhile */
    }
    if (!med_port_has_processes() || index >= system->limits.processes) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    (void)med_process_recover(system, index);
    /* Relaxed: whoever is named has come alive before he could be (A2 in lock.h, A1 in node.c), and
     * nothing else of the row is read. */
    uint32_t word = atomic32_load_relaxed(&med_system_process(system, index)->state);
    med_process_state state = med_process_state_of(word);
    bool there =
        state == MED_PROCESS_LIVE || state == MED_PROCESS_DEAD || state == MED_PROCESS_RECOVERING;
    bool same = med_process_generation_of(word) == med_process_ref_generation(process_ref);
    return there && same ? MEDLEY_OK : MEDLEY_ERR_NOT_FOUND;
}

static void
stuck_describe(med_text *text, uint32_t process_id)
{
    if (process_id == 0) {
        med_text_string(text, ": a process that cannot be seen from here (of another container, or "
                              "gone by now) has it locked and does not go on: continue or end it "
                              "there");
        return;
    }
    med_text_string(text, ": process ");
    med_text_number(text, process_id);
    med_text_string(text, " has it locked and does not go on: 'kill -CONT ");
    med_text_number(text, process_id);
    med_text_string(text, "' continues it if it is stopped, 'kill -9 ");
    med_text_number(text, process_id);
    med_text_string(text, "' ends it");
}

uint32_t
med_process_number_here(const med_system *system, uint32_t index)
{
    if (!system->observed && system->process_ref && index == system->process_index) {
        return med_port_process_id();
    }
    if (!med_system_is_shared(system)) {
        return 0;
    }
    uint32_t process_id = med_port_slot_process(&system->shared, index);
    bool lost = process_id == 0 && !med_port_slot_held(&system->shared, index) &&
                med_process_slot_lost(system, index);
    /* Of one who lost his slot the row's is: it was found here. Relaxed: for showing. */
    return lost ? atomic32_load_relaxed(&med_system_process(system, index)->process_id)
                : process_id;
}

void
med_process_report_stuck(const med_table_view *view, uint32_t process_ref)
{
    const med_system *system = view->context;
    uint32_t index = med_process_ref_index(process_ref);
    bool known = process_ref && index < system->limits.processes;
    uint32_t process_id = known ? med_process_number_here(system, index) : 0;
    med_traced_by_caller(system, MED_TRACED_TABLE_STUCK, (uint32_t)(view - system->tables),
                         process_id);
    if (!med_log_wanted(MED_LOG_ERROR)) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, "cannot change the table of ");
    med_text_string(&text, med_limit_infos[med_kinds[view - system->tables].limit].name);
    if (!med_system_is_shared(system)) {
        med_text_string(&text, ": a thread of this process has it locked and does not go on");
    } else if (!known) {
        med_text_string(&text, ": a process had it locked until now; try again");
    } else {
        stuck_describe(&text, process_id);
    }
    med_log(MED_LOG_ERROR, &text);
}
