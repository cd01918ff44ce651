/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The list, ordered by floor, and the looking up in it. */
#include "survivors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct survivor {
    const char *scenario; /* there only: another finds it; NULL: nobody does */
    const char *function;
    const char *label; /* how its comment begins: "A2", "R1 free"; of a half, or torn, that first */
    const char *reason;
} survivor;

static const survivor survivors[] = {
    /* base */
    {"lock_buried", "med_lock_recover", "R1",
     "nobody uses what a lock guarded that is of no more use"},
    {"wait_crowd", "announce_to_crowd", "no-release: A4", "barrier_crowd finds it"},
    {NULL, "is_paid_by_crowd", "A5",
     "what came before the barrier all see behind it, in the simulator as on machines whose memory "
     "is one: so that who knows of it does not look before he knows"},
    {NULL, "crowd_turn", "R5", "as is_paid_by_crowd, A5"},
    {"state_cell", "med_state_cell_begin_length", "R2", "state_cell_record finds it"},
    {"mrapi_shmem", "fill", "K1", "mrapi_row finds it"},
    {"mrapi_shmem", "fill", "K3", "mrapi_row finds it"},
    {"mrapi_rwl", "fill", "R2 free -> A1 (rwlock.c)", "mrapi_rwl_old finds it"},
    {"mcapi_message", "sweep_one", "G4", "mcapi_scalar finds it"},
    {"mcapi_packet", "sweep_one", "G4", "mcapi_scalar finds it"},
    {"ring_mpmc", "med_ring_mpmc_leave", "R5", "ring_mpmc_late finds it"},
    {"ring_mpmc", "claim_undo", "R4", "ring_mpmc_heir finds it"},
    {"recover_twice", "med_bit_set_recover", "R2", "the dead one wrote nothing: bit_set finds it"},
    {"recover_twice", "med_lock_recover", "R1", "the dead one wrote nothing: lock finds it"},
    {"recover_twice", "med_rwlock_recover_reader", "R1",
     "the dead one wrote nothing: rwlock finds it"},
    {"recover_twice", "med_state_cell_recover", "R3",
     "the dead one wrote nothing: state_cell finds it"},
    {"recover_twice", "role_recover", "R3", "the dead one wrote nothing: ring_mpsc finds it"},
    {"recover_twice", "claim_undo", "R1", "the dead one wrote nothing: ring_mpmc finds it"},
    {"recover_twice", "claim_undo", "R4", "ring_mpmc_heir finds it"},
    {"recover_twice", "med_trace_recover", "R3", "the dead one wrote nothing: trace finds it"},

    /* mrapi: rows */
    {"table", "insert_locked", "T2", "table_find finds it"},
    {"table", "row_look", "A2", "table_find finds it"},
    {"table", "row_give_back", "T6", "mcapi_told finds it"},
    {"table_find", "row_look", "A3", "a chain has more than one row: table finds it"},

    /* mrapi: processes */
    {"mrapi", "recover_node_row", "A1", "mcapi_heir finds it"},
    {"mrapi_full", "recover_node_row", "A1", "mcapi_heir finds it"},
    {"mrapi", "med_process_recover", "R2", "mrapi_early finds it"},
    {"mrapi", "claim_free", "A2", "mrapi_early finds it"},
    {"mrapi_full", "med_process_recover", "R2", "mrapi_early finds it"},
    {"mrapi_full", "claim_free", "A2", "mrapi_early finds it"},
    {"mrapi_succeed", "recovery_claim", "D1", "mrapi_pi_grave finds it"},
    {"mrapi_pi_number", "recovery_claim", "D1", "mrapi_pi_grave finds it"},
    {"mrapi_succeed", "med_process_recover", "R2", "mrapi_early finds it"},
    {"mrapi", "med_process_alive", "D2", "mrapi_pi_row finds it"},
    {"mrapi_full", "med_process_alive", "D2", "mrapi_pi_row finds it"},
    {"mrapi", "recovery_claim", "D1", "mrapi_pi_grave finds it"},
    {"mrapi_full", "recovery_claim", "D1", "mrapi_pi_grave finds it"},
    {"mrapi_full", "claim_dead", "D1", "mrapi_pi_row finds it"},

    /* mrapi: nodes */
    {"mrapi", "med_node_alive", "A1", "mcapi_reclaim finds it"},

    /* mrapi: locks */
    {"mrapi_pi", "med_mutex_pi_fill", "R5", "mrapi_pi_old finds it"},
    {"mrapi_pi_reborn", "med_mutex_pi_fill", "R5", "mrapi_pi_old finds it"},
    {"mrapi_pi", "bury_marked", "A4", "mrapi_pi_living finds it"},
    {"mrapi_pi_reborn", "bury_marked", "A4", "mrapi_pi_living finds it"},
    {"mrapi_pi_number", "bury_marked", "A4", "mrapi_pi_living finds it"},
    {"mrapi_pi_grave", "bury_marked", "A4", "mrapi_pi_living finds it"},
    {"mrapi_pi", "bury_marked", "R3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_reborn", "bury_marked", "R3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_number", "bury_marked", "R3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_number", "bury", "A4", "mrapi_pi finds it"},
    {"mrapi_pi_number", "med_mutex_pi_take", "A5", "mrapi_pi_old finds it"},
    {"mrapi_pi_number", "med_mutex_pi_fill", "R5", "mrapi_pi_old finds it"},
    {"mrapi_pi", "med_mutex_pi_fill", "A1", "mrapi_pi_news finds it"},
    {"mrapi_pi_old", "med_mutex_pi_fill", "A1", "mrapi_pi_news finds it"},
    {"mrapi_pi_reborn", "med_mutex_pi_fill", "A1", "mrapi_pi_news finds it"},
    {"mrapi_pi_number", "med_mutex_pi_fill", "A1", "mrapi_pi_news finds it"},
    {"mrapi_pi_news", "med_mutex_pi_fill", "R5", "mrapi_pi_old finds it"},

    /* mrapi: memory */
    {"mrapi_rmem", "extent_fill", "K1", "mrapi_window finds it"},
    {"mrapi_rmem", "create_fill", "K1", "mrapi_window finds it"},
    {"mrapi_rmem", "create_fill", "K3", "mrapi_window finds it"},
    {"mrapi_heap", "med_heap_go_to", "T1", "mrapi_heap_returned finds it"},
    {NULL, "ends_note", "E2",
     "T4 behind it is a fence as well, but the thread sanitizer does not see it"},
    {"mrapi_shmem", "file_make", "M1", "mrapi_slow finds it"},
    {"mrapi_shmem", "med_shmem_recover_making", "M2", "mrapi_slow finds it"},

    /* mcapi */
    {"mcapi_message", "med_endpoint_channel", "A1", "mcapi_scalar finds it"},
    {"mcapi_message", "med_endpoint_recover_rows", "A1", "mcapi_heir finds it"},
    {"mcapi_message", "lane_fill", "F1", "mcapi_left finds it"},
    {"mcapi_packet", "lane_fill", "F1", "mcapi_left finds it"},
    {"mcapi_message", "side_is_there", "F2", "mcapi_left finds it"},
    {"mcapi_packet", "side_is_there", "F2", "mcapi_left finds it"},
    {"mcapi_message", "lanes_look", "A2", "mcapi_lane finds it"},
    {"mcapi_message", "sweep", "A1", "mcapi_turn finds it"},
    {"mcapi_message", "lane_is_over", "A1", "mcapi_reclaim finds it"},
    {"mcapi_packet", "sweep", "A1", "mcapi_turn finds it"},
    {"mcapi_cancel", "cancel_anothers", "A2", "request_queue finds it"},

    /* omp */
    {NULL, "is_joined", "A1 in the system", "of a child of fork: no scenario has one"},
    {NULL, "join", "R1 in the system", "of a child of fork: no scenario has one"},

    /* Halves of what both acquires and releases. */
    {"units", "take_one", "no-release: B1", "rwlock finds it"},
    {"units", "take_one", "not-total: B1", "rwlock finds it"},
    {"units", "med_units_take_at", "no-release: B1", "rwlock finds it"},
    {"units", "med_units_take_at", "not-total: B1", "rwlock finds it"},
    {NULL, "claim", "no-acquire: R4",
     "the word was acquired when it was read, and its lap makes it the same store"},
    {"mrapi_pi", "take_gone", "no-release: A3", "mrapi_pi_grave finds it"},
    {"mrapi_pi", "take_gone", "no-acquire: A3", "mrapi_pi_grave finds it"},
    {"mrapi_pi", "take_try", "no-release: A1", "mrapi_pi_number finds it"},
    {"mrapi_pi_reborn", "take_gone", "no-release: A3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_number", "take_gone", "no-release: A3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_reborn", "take_gone", "no-acquire: A3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_reborn", "take_try", "no-release: A1", "mrapi_pi_number finds it"},
    {"mcapi_message", "side_leaves", "no-acquire: G3", "mcapi_close finds it"},
    {"mcapi_packet", "side_leaves", "no-acquire: G3", "mcapi_close finds it"},
    {"mcapi_scalar", "side_leaves", "no-acquire: G3", "mcapi_close finds it"},

    /* Read-modify-writes that are torn. */
    {NULL, "raise_high_water", "torn: -", "statistics"},
    {"pool", "show_free", "torn: R1", "bit_set finds it"},
    {"pool", "claim_in_word", "torn: A1", "bit_set finds it"},
    {NULL, "med_bit_set_unclaim", "torn: R1",
     "who lives alone changes what is his: compared for wrong use"},
    {"bit_set", "med_bit_set_recover", "torn: R2", "recover_twice finds it"},
    {"bit_set", "med_bit_set_end", "torn: -", "recover_twice finds it"},
    {"pool", "med_bit_set_recover", "torn: R2", "recover_twice finds it"},
    {"pool", "med_bit_set_end", "torn: -", "recover_twice finds it"},
    {NULL, "med_lock_give_back", "torn: R1",
     "who lives alone changes what is his: compared for wrong use"},
    {"lock_in_time", "med_lock_recover", "torn: R1", "recover_twice finds it"},
    {"lock_buried", "med_lock_recover", "torn: R1", "recover_twice finds it"},
    {"rwlock", "med_rwlock_recover_reader", "torn: R1", "recover_twice finds it"},
    {"rwlock_in_time", "med_rwlock_recover_reader", "torn: R1", "recover_twice finds it"},
    {"rwlock", "med_rwlock_recover_writer", "torn: R2", "rwlock_in_time finds it"},
    {NULL, "med_state_cell_close", "torn: R3",
     "who lives alone changes what is his: compared for wrong use"},
    {"state_cell", "med_state_cell_recover", "torn: R3", "recover_twice finds it"},
    {"state_cell_record", "med_state_cell_recover", "torn: R3", "recover_twice finds it"},
    {NULL, "med_ring_mpmc_leave", "torn: R5",
     "who lives alone changes what is his: compared for wrong use"},
    {NULL, "role_leave", "torn: R3", "who lives alone changes what is his: compared for wrong use"},
    {"ring_mpsc", "role_recover", "torn: R3", "recover_twice finds it"},
    {"ring_mpmc_heir", "claim_undo", "torn: R4", "recover_twice finds it"},
    {"trace_ring", "med_trace_recover", "torn: R3", "recover_twice finds it"},
    {NULL, "med_trace_write", "torn: -", "of two with one number A3 keeps one out"},
    {NULL, "crowd_turn", "torn: W6", "two who tell the wakers tell them twice"},
    {NULL, "med_wait_wake_sleepers", "torn: -",
     "whose flag is lost is asleep before the wake behind it, or sees another word"},
    {"event", "claimed_raise", "torn: -", "event_own finds it"},
    {NULL, "tell", "torn: -", "a count that guards nothing"},
    {NULL, "search_begin", "torn: -", "a hint"},
    {NULL, "file_number", "torn: -",
     "whose number another has finds the file there, and takes the next"},
    {NULL, "come_alive", "torn: L1", "with the slot in hand alone: compared for who scribbles"},
    {NULL, "claim_dead", "torn: D1",
     "with the slot in hand nobody else comes to live there; who is at it may be succeeded"},
    {"mrapi", "recovery_claim", "torn: D1", "mrapi_succeed finds it"},
    {"mrapi_full", "recovery_claim", "torn: D1", "mrapi_succeed finds it"},
    {"mrapi_pi_number", "recovery_claim", "torn: D1", "mrapi_succeed finds it"},
    {"mrapi_pi_grave", "recovery_claim", "torn: D1", "mrapi_succeed finds it"},
    {"mrapi", "med_process_recover", "torn: R2", "mrapi_succeed finds it"},
    {"mrapi_full", "med_process_recover", "torn: R2", "mrapi_succeed finds it"},
    {"mrapi_early", "med_process_recover", "torn: R2", "mrapi_succeed finds it"},
    {NULL, "med_process_recover", "torn: -",
     "given back: only another's whole recovery and a newcomer between the halves could tell"},
    {NULL, "fill", "torn: -", "under the lock of the table of nodes"},
    {NULL, "med_object_wait_told", "torn: -", "for showing"},
    {NULL, "release_slow", "torn: R1", "who has it alone changes it, but for who scribbles"},
    {NULL, "release_stale", "torn: R1", "who has it alone changes it"},
    {"mrapi_pi", "bury_marked", "torn: R3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_reborn", "bury_marked", "torn: R3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_number", "bury_marked", "torn: R3", "mrapi_pi_grave finds it"},
    {"mrapi_pi", "take_gone", "torn: A3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_reborn", "take_gone", "torn: A3", "mrapi_pi_grave finds it"},
    {"mrapi_pi_number", "take_gone", "torn: A3", "mrapi_pi_grave finds it"},
    {NULL, "med_endpoint_got", "torn: -", "for showing"},
    {NULL, "med_exchange_claim_free", "torn: -",
     "the endpoint's node alone comes to have it: compared for who scribbles"},
    {"mcapi_message", "side_leaves", "torn: G3", "mcapi_close finds it"},
    {"mcapi_packet", "side_leaves", "torn: G3", "mcapi_close finds it"},
    {"mcapi_scalar", "side_leaves", "torn: G3", "mcapi_close finds it"},
    {"mcapi_packet", "end_attach", "torn: -", "mcapi_topic finds it"},
    {"mcapi_message", "med_endpoint_lane_made", "torn: L1", "mcapi_topic finds it"},

    /* omp: of memory that may be another task by then; the compare-and-swap behind it decides */
    {NULL, "med_task_init", "L1", "a compare-and-swap reads the newest here"},
    {NULL, "lineage_of", "L1", "a compare-and-swap reads the newest here"},
    {NULL, "become", "L1", "a compare-and-swap reads the newest here"},
    {NULL, "is_in", "L1", "a compare-and-swap reads the newest here"},
    {"omp_task_queue", "win_last", "R1", "omp_tasks finds it"},
    {NULL, "med_task_queue_take", "R1",
     "as win_last's, for a thief whose top is older than another's steal of the last task"},
    {NULL, "first_of", "A2", "what is read through it acquires as well (L1)"},
    {NULL, "fulfil_as_visitor", "R3", "to give memory back is no access of the simulator's"},
    {NULL, "fulfil_as_visitor", "torn: ", "of the scenario's threads one visits"},
    {NULL, "visitor_comes", "torn: -", "of the scenario's threads one visits"},
    {NULL, "med_exclusions_add", "torn: -", "with the address in hand it is not the last"},
    {NULL, "med_exclusion_drop", "no-release: A3",
     "to give memory back is no access of the simulator's"},
    {NULL, "med_exclusion_drop", "no-acquire: A3",
     "to give memory back is no access of the simulator's"},
    {NULL, "med_exclusion_drop", "torn: A3", "to give memory back is no access of the simulator's"},
    {NULL, "med_task_await_visitors", "A3", "to give memory back is no access of the simulator's"},
    {0},
};

static bool
speaks_of(const survivor *s, const char *scenario, const char *function, const char *label)
{
    return (!s->scenario || strcmp(s->scenario, scenario) == 0) &&
           strcmp(s->function, function) == 0 && strncmp(label, s->label, strlen(s->label)) == 0;
}

const char *
survivor_reason(const char *scenario, const char *function, const char *label, bool *elsewhere)
{
    for (const survivor *s = survivors; s->function; s++) {
        if (speaks_of(s, scenario, function, label)) {
            *elsewhere = s->scenario != NULL;
            return s->reason;
        }
    }
    return NULL;
}

void
survivors_print(void)
{
    for (const survivor *s = survivors; s->function; s++) {
        if (!s->scenario) {
            printf("-\t-\t%s\t%s\t%s\n", s->function, s->label, s->reason);
        }
    }
}
