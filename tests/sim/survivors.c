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
    const char *label; /* how its comment begins: "A2", "R1 free" */
    const char *reason;
} survivor;

static const survivor survivors[] = {
    /* base */
    {"lock_buried", "med_lock_recover", "R1",
     "nobody uses what a lock guarded that is of no more use"},
    {"state_cell", "med_state_cell_begin_length", "R2", "state_cell_record finds it"},
    {"mrapi_shmem", "fill", "K1", "mrapi_row finds it"},
    {"mrapi_shmem", "fill", "K3", "mrapi_row finds it"},
    {"mrapi_rwl", "fill", "R2 free -> A1 (rwlock.c)", "mrapi_rwl_old finds it"},
    {"mcapi_message", "sweep_one", "G4", "mcapi_scalar finds it"},
    {"mcapi_packet", "sweep_one", "G4", "mcapi_scalar finds it"},
    {"ring_mpmc", "med_ring_mpmc_leave", "R5", "ring_mpmc_late finds it"},
    {"ring_mpmc", "claim_undo", "R4", "ring_mpmc_heir finds it"},

    /* mrapi: rows */
    {"table", "insert_locked", "T2", "table_find finds it"},
    {"table", "row_look", "A2", "table_find finds it"},
    {"table_find", "row_look", "A3", "a chain has more than one row: table finds it"},

    /* mrapi: processes */
    {"mrapi", "recover_node_row", "A1", "mcapi_heir finds it"},
    {"mrapi_full", "recover_node_row", "A1", "mcapi_heir finds it"},
    {"mrapi", "med_process_recover", "R2", "mrapi_early finds it"},
    {"mrapi", "claim_free", "A2", "mrapi_early finds it"},
    {"mrapi_full", "med_process_recover", "R2", "mrapi_early finds it"},
    {"mrapi_full", "claim_free", "A2", "mrapi_early finds it"},
    {"mrapi", "med_process_alive", "D2", "mrapi_pi_row finds it"},
    {"mrapi_full", "med_process_alive", "D2", "mrapi_pi_row finds it"},
    {"mrapi", "recovery_claim", "D1", "mrapi_pi_number finds it"},
    {"mrapi_full", "recovery_claim", "D1", "mrapi_pi_number finds it"},
    {"mrapi_full", "claim_dead", "D1", "mrapi_pi_row finds it"},

    /* mrapi: nodes */
    {"mrapi", "med_node_alive", "A1", "mcapi_reclaim finds it"},

    /* mrapi: locks */
    {"mrapi_pi", "med_mutex_pi_fill", "R5", "mrapi_pi_old finds it"},
    {"mrapi_pi_reborn", "med_mutex_pi_fill", "R5", "mrapi_pi_old finds it"},
    {"mrapi_pi", "bury_marked", "A4", "mrapi_pi_number finds it"},
    {"mrapi_pi_reborn", "bury_marked", "A4", "mrapi_pi_number finds it"},
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
    {"mrapi_heap", "med_heap_delete", "T1", "mrapi_heap_returned finds it"},
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
    {"mcapi_packet", "sweep", "A1", "mcapi_turn finds it"},
    {"mcapi_cancel", "cancel_anothers", "A2", "request_queue finds it"},
    {0},
};

static bool
speaks_of(const survivor *s, const char *scenario, const char *function, const char *label)
{
    return (!s->scenario || strcmp(s->scenario, scenario) == 0) &&
           strcmp(s->function, function) == 0 && strncmp(label, s->label, strlen(s->label)) == 0;
}

const char *
survivor_reason(const char *scenario, const char *function, const char *label)
{
    for (const survivor *s = survivors; s->function; s++) {
        if (speaks_of(s, scenario, function, label)) {
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
