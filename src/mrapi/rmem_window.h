/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Windows: how this process reaches a remote memory that one of its nodes is attached to. Private
 * to the process, one for each row of the attachments' table; a window is its node's own, but for
 * what stands in the rows.
 */
#ifndef MEDLEY_MRAPI_RMEM_WINDOW_H
#define MEDLEY_MRAPI_RMEM_WINDOW_H

#include "mrapi/rmem.h"
#include "port/port.h"

struct med_rmem_cache;

typedef struct med_rmem_window {
    med_handle rmem; /* 0: nobody of this process has this row */
    uint32_t live;   /* what the remote memory's state word is as long as it is the same one */
    uint32_t attachment_generation;
    uint32_t node_ref; /* whose it is */
    const med_rmem_row *row;
    uint32_t size_bytes;  /* read from the row once */
    uint32_t plain_bytes; /* the same where a call moves the bytes itself, else 0 */
    med_rmem_access access;
    unsigned char *local; /* where it lies for this process too; NULL: only through the peer */
    uint64_t address;     /* in its owner's memory */
    const struct med_system *system;
    uint32_t process_ref; /* the owner's */
    med_port_peer peer;   /* open when `local` is NULL */
    void *segment;        /* the mapping that `local` lies in, if it is this window's own */
    uint32_t segment_bytes;
    uint32_t segment_place;
    struct med_rmem_cache *cache;
} med_rmem_window;

/* Opens a zeroed window on a remote memory whose row is LIVE in that generation; the log says why
 * it cannot be. MEDLEY_ERR_STALE, _SYSTEM, _NO_MEMORY. */
medley_status_t med_rmem_window_open(const struct med_system *system,
                                     med_handle rmem,
                                     uint32_t generation,
                                     med_rmem_access access,
                                     med_rmem_window *window);
void med_rmem_window_close(med_rmem_window *window);

/* The window of a remote memory that this node is attached to. MEDLEY_ERR_ARGUMENT,
 * MEDLEY_ERR_STALE; MEDLEY_ERR_NOT_FOUND: it is not attached. */
medley_status_t med_rmem_window_of(med_self *self, med_handle rmem, med_rmem_window **window);

typedef enum med_rmem_fit {
    MED_RMEM_FITS,
    MED_RMEM_STRIDE_SHORT, /* shorter than a row */
    MED_RMEM_BEYOND_END,   /* of either side */
} med_rmem_fit;

/* Is there room on both sides for what the transfer would move? To be asked before it. */
med_rmem_fit med_rmem_window_fit(const med_rmem_window *window, const med_rmem_transfer *transfer);
/* One behind the last byte of the rows. No sum or product of these can overflow 64 bits. */
uint64_t med_rmem_end_of(uint32_t offset, uint32_t rows, uint32_t stride, uint32_t row_bytes);

/* Is the remote memory still there? Relaxed: the window was filled by its node. */
static inline bool
med_rmem_window_current(const med_rmem_window *window)
{
    return atomic32_load_relaxed(&window->row->row.state) == window->live;
}

/* The window of a remote memory that this node used of late, and that is still there; or NULL. */
static inline med_rmem_window *
med_rmem_window_recent(const med_self *self, med_handle rmem)
{
    med_rmem_window *window = self->recent_windows[rmem % MED_SELF_RECENT_WINDOWS];
    bool good = window && window->rmem == rmem && window->node_ref == self->ref &&
                med_rmem_window_current(window);
    return __builtin_expect(good, 1) ? window : NULL;
}

/* The common case: one piece, plainly, to or from where this process has it itself, and all is
 * right. NULL: it is not; else where the bytes lie. */
static inline unsigned char *
med_rmem_window_piece(const med_self *self, med_handle rmem, const med_rmem_transfer *transfer)
{
    const med_rmem_transfer *t = transfer;
    const med_rmem_window *window = med_rmem_window_recent(self, rmem);
    uint32_t last = t->row_bytes - 1; /* of no bytes: beyond any stride */
    bool common = window && t->rows == 1 && t->local && last < t->rmem_stride &&
                  last < t->local_stride &&
                  (uint64_t)t->rmem_offset + t->row_bytes <= window->plain_bytes &&
                  (uint64_t)t->local_offset + t->row_bytes <= UINTPTR_MAX - (uintptr_t)t->local;
    return __builtin_expect(common, 1) ? window->local + t->rmem_offset : NULL;
}

/* Moves rows, past any cache, at once. What it is given was checked. MEDLEY_ERR_STALE. */
medley_status_t med_rmem_window_move(med_rmem_window *window, const med_rmem_transfer *transfer);
/* The transfer as the copy engine wants it. */
med_port_copy med_rmem_window_copy(med_rmem_window *window, const med_rmem_transfer *transfer);

#endif
