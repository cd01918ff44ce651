/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Resource trees: a machine, or the running system, as its parts and what can be asked of them.
 * docs/design/metadata.md
 *
 * Trees are private to the process, and each is one node's. A process-wide lock guards them; none
 * of this is a hot path.
 */
#ifndef MEDLEY_MRAPI_RESOURCE_H
#define MEDLEY_MRAPI_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "medley/status.h"
#include "mrapi.h"
#include "mrapi/kinds.h"
#include "mrapi/node.h"
#include "port/port.h"

typedef struct med_resource {
    mrapi_resource_t face;  /* what programs see; first */
    med_topology_part part; /* of a part of the machine; of others, the name */
    uint32_t parent;        /* which resource of the tree; of the root, itself */
    uint32_t index;         /* nodes and locks: the row, and its life */
    uint32_t generation;
    med_kind kind; /* tables and locks */
} med_resource;

/* Something that is counted now. */
typedef struct med_count {
    struct med_count *next;
    const med_resource *resource;
    uint32_t attribute;
    med_port_counter port;
    uint64_t last;  /* of the source, when it was looked at last */
    uint64_t total; /* since the start or the reset */
    void (*on_rollover)(void);
} med_count;

typedef struct med_tree {
    struct med_tree *next;
    struct med_system *system;
    uint32_t owner_ref;
    uint32_t count;
    size_t size_bytes; /* of the block */
    med_count *counts;
    med_resource resources[]; /* the root first; then the lists of children */
} med_tree;

/* The root of a new tree of the calling node. MEDLEY_ERR_ARGUMENT: no such filter;
 * MEDLEY_ERR_NO_MEMORY; MEDLEY_ERR_NOT_SUPPORTED: the machine cannot be read, and the log says why.
 */
medley_status_t
med_resources_get(med_self *self, mrapi_rsrc_filter_t filter, mrapi_resource_t **root);
/* MEDLEY_ERR_STALE: it is no root of a tree; MEDLEY_ERR_NOT_OWNER. */
medley_status_t med_resources_free(med_self *self, const mrapi_resource_t *root);
/* A node of this process leaves: its trees go. */
void med_resources_node_leaves(med_self *self);
/* Around a fork, in the parent: no other thread is in the module meanwhile, whose locks the child
 * would have for ever. In the child: the trees are the parent's. */
void med_resources_fork_begin(void);
void med_resources_fork_end(void);
/* Is the calling thread between these two? */
bool med_resources_forking(void);
void med_resources_forget(void);

typedef struct med_resource_value {
    uint64_t number;
    const char *text; /* NULL: a number */
} med_resource_value;

/* The rest: MEDLEY_ERR_STALE: no resource of a tree that is there; MEDLEY_ERR_NOT_FOUND: it has no
 * such attribute; MEDLEY_EMPTY: a dynamic one that is not counted; MEDLEY_ERR_PEER_DIED: what it
 * belongs to has gone. */
medley_status_t
med_resource_read(const mrapi_resource_t *resource, uint32_t attribute, med_resource_value *value);
/* MEDLEY_ERR_ARGUMENT: a static attribute; MEDLEY_ERR_EXISTS: it is counted; MEDLEY_BUSY: the
 * processor's counters are taken; MEDLEY_ERR_NOT_SUPPORTED: the log says why;
 * MEDLEY_ERR_NO_MEMORY. */
medley_status_t med_resource_count_start(const mrapi_resource_t *resource,
                                         uint32_t attribute,
                                         void (*on_rollover)(void));
medley_status_t med_resource_count_reset(const mrapi_resource_t *resource, uint32_t attribute);
medley_status_t med_resource_count_stop(const mrapi_resource_t *resource, uint32_t attribute);

/* ---- Between resource.c and resource_count.c ------------------------------------------------- */

/* Takes the lock, and finds the tree of a resource; NULL without the lock: there is none. */
med_tree *med_resource_lock(const mrapi_resource_t *resource);
void med_resource_unlock(void);
/* Ends all that is counted in a tree. */
void med_resource_counts_end(med_tree *tree);

#endif
