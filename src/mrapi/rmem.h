/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Remote memory: a buffer that its owner, a node, announces in the registry, and that others read
 * and write by calls.
 *
 * Words
 *   attachment  a node's right to one remote memory, in one way; a row of the registry
 *   window      how this process reaches what one of its nodes is attached to (rmem_window.h)
 *   transfer    bytes that go one way, in rows with strides or in one piece
 *
 * docs/design/rmem.md
 */
#ifndef MEDLEY_MRAPI_RMEM_H
#define MEDLEY_MRAPI_RMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "medley/status.h"
#include "mrapi/handle.h"
#include "mrapi/node.h"
#include "mrapi/request.h"
#include "mrapi/table.h"

struct med_system;

typedef enum med_rmem_access {
    MED_RMEM_DMA,     /* by the port's copy engine */
    MED_RMEM_SWCACHE, /* through a copy of the attachment's own */
    MED_RMEM_PLAIN,
    MED_RMEM_ANY, /* of a remote memory: each attachment chooses */
    MED_RMEM_ACCESS_COUNT
} med_rmem_access;

#define MED_RMEM_ERROR_EXT 2u     /* kept for whoever asks; without effect */
#define MED_RMEM_DOMAIN_SHARED 4u /* other domains may get it */

typedef enum med_rmem_place {
    MED_RMEM_IN_OWNER,     /* at an address of its owner's process; perhaps in a segment too */
    MED_RMEM_IN_PARTITION, /* at an offset in the partition */
} med_rmem_place;

/* Where it lies. As the row says it, and as the owner's process noted it for itself: a peer may
 * have written over the one, and not over the other. */
typedef struct med_rmem_extent {
    atomic32 place; /* med_rmem_place */
    atomic32 size_bytes;
    atomic32 address_low;
    atomic32 address_high;
} med_rmem_extent;
_Static_assert(sizeof(med_rmem_extent) == 16, "the same in every build");

/* Written by the owner before it is LIVE, then constant. */
typedef struct med_rmem_row {
    med_row row; /* key: 0, number */
    atomic32 attributes;
    atomic32 domain; /* the owner's */
    atomic32 owner;  /* node reference */
    atomic32 process_ref;
    atomic32 access;        /* med_rmem_access */
    atomic32 process_space; /* where the number of the owner's process holds */
    med_rmem_extent extent;
    atomic32 segment;        /* the number of the shared memory's segment that it lies in, or 0 */
    atomic32 segment_offset; /* and where in it */
} med_rmem_row;
_Static_assert(sizeof(med_rmem_row) == 64, "one line");
_Static_assert(offsetof(med_rmem_row, extent) == 40, "the same in every build");

/* Written by the attaching node before it is LIVE, then constant. */
typedef struct med_rmem_attachment_row {
    med_row row; /* key: handle of the remote memory, node reference */
    atomic32 access;
    uint32_t unused[3];
} med_rmem_attachment_row;
_Static_assert(sizeof(med_rmem_attachment_row) == 32, "the same in every build");

typedef struct med_rmem_request {
    uint32_t number; /* or MED_OBJECT_ANY */
    void *memory;    /* stays the caller's, and stays there until it is deleted */
    uint32_t size_bytes;
    med_rmem_access access;
    uint32_t attributes;
} med_rmem_request;

/* MEDLEY_ERR_EXISTS; MEDLEY_ERR_LIMIT; MEDLEY_BUSY: overlaps another remote memory of this
 * process. */
medley_status_t med_rmem_create(med_self *self, const med_rmem_request *request, med_handle *rmem);
/* MEDLEY_ERR_NOT_FOUND; MEDLEY_ERR_ACCESS: another domain's, not shared; MEDLEY_ERR_NOT_SUPPORTED:
 * not to be had in that way. */
medley_status_t
med_rmem_get(med_self *self, uint32_t number, med_rmem_access access, med_handle *rmem);

/* All of the following: MEDLEY_ERR_ARGUMENT for what is no handle of a remote memory,
 * MEDLEY_ERR_STALE for one that is gone, by its owner's death too. */

/* By its owner, else MEDLEY_ERR_NOT_OWNER. MEDLEY_BUSY: somebody is attached to it. */
medley_status_t med_rmem_delete(med_self *self, med_handle rmem);
/* The attributes and the size. */
medley_status_t med_rmem_attributes(const med_self *self, med_handle rmem, uint32_t *attributes);

/* MEDLEY_ERR_ACCESS: another domain's, not shared; a handle can be passed on. MEDLEY_ERR_EXISTS:
 * this node is attached to it; MEDLEY_ERR_NOT_SUPPORTED: not to be had in that
 * way; MEDLEY_BUSY: attached in another way by another; MEDLEY_ERR_LIMIT; MEDLEY_ERR_NO_MEMORY;
 * MEDLEY_ERR_SYSTEM: the machine does not let this process reach it, and the log says why. */
medley_status_t med_rmem_attach(med_self *self, med_handle rmem, med_rmem_access access);
/* Ends what is under way, and flushes. MEDLEY_ERR_NOT_FOUND: not attached. Of what is gone, the
 * attachment goes all the same. */
medley_status_t med_rmem_detach(med_self *self, med_handle rmem);

/* ---- Transfers ------------------------------------------------------------------------------- */

struct med_rmem_window;

typedef struct med_rmem_transfer {
    bool write;
    uint32_t rmem_offset;
    void *local;
    uint32_t local_offset;
    uint32_t row_bytes;
    uint32_t rows;
    uint32_t rmem_stride;
    uint32_t local_stride;
} med_rmem_transfer;

/* By the window's node, of what fits (rmem_window.h). Blocks until it is done. MEDLEY_ERR_STALE:
 * the owner died meanwhile, or has nothing at that address any more. */
medley_status_t med_rmem_transfer_run(struct med_rmem_window *window,
                                      const med_rmem_transfer *transfer);
/* As run, but may end later: `request` tells. MEDLEY_ERR_LIMIT: no request is free; MEDLEY_BUSY:
 * the engine takes no more. */
medley_status_t med_rmem_transfer_start(med_self *self,
                                        struct med_rmem_window *window,
                                        const med_rmem_transfer *transfer,
                                        med_request_handle *request);

/* What was written goes to the remote memory; what was fetched is forgotten, so that it is fetched
 * anew. MEDLEY_ERR_NOT_FOUND: this node is not attached; MEDLEY_ERR_NOT_SUPPORTED: not with a
 * software cache. */
medley_status_t med_rmem_flush(med_self *self, med_handle rmem);
medley_status_t med_rmem_synch(med_self *self, med_handle rmem);

/* ---- For the registry ------------------------------------------------------------------------ */

medley_status_t med_rmem_recover_rows(struct med_system *system,
                                      uint32_t first,
                                      uint32_t count,
                                      uint32_t node_ref,
                                      uint32_t thread_id);
medley_status_t med_rmem_attachment_recover_rows(struct med_system *system,
                                                 uint32_t first,
                                                 uint32_t count,
                                                 uint32_t node_ref,
                                                 uint32_t thread_id);
/* The attachments' on_remove: closes the window, if it is this process's. */
void med_rmem_attachment_removed(const med_table_view *view, med_row *row);

/* What the caller's caches have and did not send goes to where it belongs. */
void med_rmem_node_leaves(med_self *self);

/* What this process keeps for itself: of its remote memories, and of its attachments. */
medley_status_t med_rmem_own_make(struct med_system *system);
void med_rmem_own_end(struct med_system *system);

#endif
