/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What MRAPI's scenarios share: a system of few rows, whose nodes are the actors. */
#ifndef MEDLEY_TESTS_SIM_MRAPI_ACTOR_H
#define MEDLEY_TESTS_SIM_MRAPI_ACTOR_H

#include <stddef.h>

#include "sim.h"

#define MRAPI_ACTORS 3u
#define MRAPI_TOLD 2u

/* How the notes of these scenarios begin. */
typedef struct mrapi_notes {
    uint32_t present;          /* bit i: actor i is a node, and does not leave yet */
    uint32_t told[MRAPI_TOLD]; /* handles that somebody had last, known to all without any order */
} mrapi_notes;

/* A scenario's `begin`, where actors find a zeroed memory. */
void mrapi_begin(const sim_actor *director);
/* Its variables: a run spends its steps on what happens between processes. For one who wants some
 * otherwise, behind his. */
#define MRAPI_VARIABLES                                                                            \
    {"MEDLEY_SYSTEM", "sim"}, {"MEDLEY_MAX_DOMAINS", "1"}, {"MEDLEY_MAX_PROCESSES", "4"},          \
        {"MEDLEY_MAX_NODES", "6"}, {"MEDLEY_MAX_MUTEXES", "1"}, {"MEDLEY_MAX_SEMAPHORES", "1"},    \
        {"MEDLEY_MAX_RWLOCKS", "1"}, {"MEDLEY_MAX_SHARERS", "2"}, {"MEDLEY_MAX_SHMEMS", "3"},      \
        {"MEDLEY_MAX_RMEMS", "1"}, {"MEDLEY_MAX_RMEM_ATTACHMENTS", "4"},                           \
        {"MEDLEY_MAX_REQUESTS", "4"},                                                              \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }
extern const sim_variable mrapi_environment[];
/* The actor becomes a node, and is none any more; nothing is noted. */
void mrapi_node_come(const sim_actor *actor);
void mrapi_node_go(void);
/* The same, noted: a node of the system, which it makes if nobody is in it: then what was told is
 * of no more use. */
void mrapi_come(const sim_actor *actor);
void mrapi_go(const sim_actor *actor);
/* The caller becomes the holder of something, in the notes: index + 1. Nobody who lives was. True:
 * one was who died. */
bool mrapi_take_note(const sim_actor *actor, uint32_t *holder);

#endif
