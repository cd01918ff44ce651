/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The parts of mrapi that keep something of the process's own beside the registry, and what each
 * does when the process comes to a system and leaves it, and when a node goes. A new part is a row
 * of the table in parts.c.
 *
 * A program for a bare machine has only the parts that it calls; of the others, every function
 * is NULL (MED_PORT_OPTIONAL).
 */
#ifndef MEDLEY_MRAPI_PARTS_H
#define MEDLEY_MRAPI_PARTS_H

#include <stdint.h>

#include "medley/status.h"
#include "mrapi/node.h"

struct med_system;

/* Any of them may be NULL. */
typedef struct med_part {
    medley_status_t (*begin)(struct med_system *system);
    /* Undoes it; also when it failed, or was not called. */
    void (*end)(struct med_system *system);
    /* The calling thread's node leaves. */
    void (*node_leaves)(med_self *self);
    /* A node is gone: what it left in the registry beside rows it holds. Idempotent. */
    void (*node_recover)(struct med_system *system, uint32_t node_ref);
} med_part;

/* In order, up to the first that fails. */
medley_status_t med_parts_begin(struct med_system *system);
void med_parts_end(struct med_system *system);
void med_parts_node_leaves(med_self *self);
void med_parts_node_recover(struct med_system *system, uint32_t node_ref);

#endif
