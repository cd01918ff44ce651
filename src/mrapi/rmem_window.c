/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Windows. A window is opened and used by its node alone, and closed by it or, when its row goes,
 * under the lock of the attachments' table.
 *
 * An address is dereferenced only if this process noted it itself (extents), or it lies in the
 * partition, or in a segment that was mapped for it, with all of its bytes; any other goes to the
 * port, with its owner's process.
 */
#include "mrapi/rmem_window.h"

#include <string.h>

#include "base/log.h"
#include "mrapi/rmem_cache.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"

/* ---- Opening --------------------------------------------------------------------------------- */

static bool
owner_lives(void *context)
{
    const med_rmem_window *window = context;
    return med_process_alive(window->system, window->process_ref);
}

/* Is what was read of the row of the life that was meant? Relaxed: K2 and K4 have put it after
 * that. */
static bool
is_meant(const med_rmem_window *window)
{
    return atomic32_load_relaxed(&window->row->row.state) == window->live;
}

static void
unreachable_report(med_rmem_window *window, uint32_t process_id, const char *why)
{
    med_text text = {.length = 0};
    med_text_string(&text, "remote memory ");
    /* Relaxed: for showing. */
    med_text_number(&text, atomic32_load_relaxed(&window->row->row.key_low));
    med_text_string(&text, " lies in process ");
    med_text_number(&text, process_id);
    med_text_string(&text, why);
    med_log(MED_LOG_ERROR, &text);
}

/* Through the port, to the process that the row names. */
static medley_status_t
peer_open(med_rmem_window *window)
{
    uint32_t owner = med_process_ref_index(window->process_ref);
    if (owner >= window->system->limits.processes) {
        return MEDLEY_ERR_STALE;
    }
    const med_process_row *process = med_system_process(window->system, owner);
    uint32_t process_id = atomic32_load_relaxed(&process->process_id); /* relaxed: alive() tells */
    /* K4 next life, as K2 <- K3 (rmem.c) */
    if (atomic32_load_acquire(&window->row->process_space) != med_port_pi_space()) {
        if (!is_meant(window) || !owner_lives(window)) {
            return MEDLEY_ERR_STALE;
        }
        unreachable_report(window, process_id,
                           ", of another PID namespace, whose memory cannot be named from here; "
                           "put the buffer into shared memory");
        return MEDLEY_ERR_SYSTEM;
    }
    window->peer = (med_port_peer){.alive = owner_lives, .context = window};
    medley_status_t status = med_port_peer_open(process_id, &window->peer);
    if (status == MEDLEY_ERR_ACCESS || status == MEDLEY_ERR_NOT_SUPPORTED) {
        unreachable_report(window, process_id,
                           ", into whose memory the system does not let this process (it must be "
                           "one that this one may trace: see ptrace(2) and PR_SET_PTRACER); or put "
                           "the buffer into shared memory");
        return MEDLEY_ERR_SYSTEM;
    }
    return status == MEDLEY_OK ? MEDLEY_OK : MEDLEY_ERR_STALE;
}

static uint64_t
address_of(const med_rmem_extent *extent)
{
    /* K2 next life <- K1 (rmem.c): then the second look at the state shows that it is another. */
    return atomic32_load_acquire(&extent->address_low) |
           (uint64_t)atomic32_load_acquire(&extent->address_high) << 32;
}

static medley_status_t
place_find(const med_system *system, uint32_t index, med_rmem_window *window)
{
    const med_rmem_extent *extent = &window->row->extent;
    bool ours = window->process_ref == system->process_ref;
    extent = ours ? &system->rmem_extents[index] : extent;
    window->address = address_of(extent);
    /* K2 next life <- K1 (rmem.c), both. */
    window->size_bytes = atomic32_load_acquire(&extent->size_bytes);
    if (atomic32_load_acquire(&extent->place) == MED_RMEM_IN_PARTITION) {
        uint64_t whole = system->layout.size_bytes;
        if (window->size_bytes > whole || window->address > whole - window->size_bytes) {
            return MEDLEY_ERR_STALE; /* no owner of ours said so */
        }
        window->local = (unsigned char *)system->header + window->address;
    } else if (ours) {
        window->local = (unsigned char *)(uintptr_t)window->address;
    }
    return MEDLEY_OK;
}

/* In a segment of shared memory that this process can map: then it is, once more, for this window
 * alone. What the row says is compared with what was mapped. */
static bool
segment_map(med_rmem_window *window)
{
    const med_rmem_row *row = window->row;
    /* K2 next life <- K1 (rmem.c), both. */
    uint32_t file = atomic32_load_acquire(&row->segment);
    uint32_t offset = atomic32_load_acquire(&row->segment_offset);
    med_port_segment segment;
    if (file == 0 || med_shmem_map_again(window->system, file, &segment) != MEDLEY_OK) {
        return false;
    }
    if (offset > segment.size_bytes || window->size_bytes > segment.size_bytes - offset) {
        med_port_segment_unmap(segment.address, segment.size_bytes, segment.place);
        return false;
    }
    window->segment = segment.address;
    window->segment_bytes = segment.size_bytes;
    window->segment_place = segment.place;
    window->local = (unsigned char *)segment.address + offset;
    return true;
}

medley_status_t
med_rmem_window_open(const med_system *system,
                     med_handle rmem,
                     uint32_t generation,
                     med_rmem_access access,
                     med_rmem_window *window)
{
    uint32_t index = med_handle_index(rmem);
    const med_rmem_row *row = (const med_rmem_row *)(void *)med_table_row(&system->rmems, index);
    window->live = med_row_word(MED_ROW_LIVE, generation);
    window->row = row;
    window->access = access;
    window->system = system;
    /* K2 next life <- K1 (rmem.c) */
    window->process_ref = atomic32_load_acquire(&row->process_ref);
    medley_status_t status = place_find(system, index, window);
    if (status == MEDLEY_OK && !window->local && !segment_map(window)) {
        status = peer_open(window);
    }
    if (window->local && access == MED_RMEM_PLAIN) {
        window->plain_bytes = window->size_bytes;
    }
    if (status == MEDLEY_OK && access == MED_RMEM_SWCACHE) {
        status = med_rmem_cache_make(window->size_bytes, &window->cache);
    }
    if (status == MEDLEY_OK && !is_meant(window)) {
        status = MEDLEY_ERR_STALE;
    }
    window->rmem = rmem;
    if (status != MEDLEY_OK) {
        med_rmem_window_close(window);
    }
    return status;
}

void
med_rmem_window_close(med_rmem_window *window)
{
    if (window->peer.process_id) {
        med_port_peer_close(&window->peer);
    }
    if (window->segment) {
        med_port_segment_unmap(window->segment, window->segment_bytes, window->segment_place);
    }
    if (window->cache) {
        med_rmem_cache_end(window->cache);
    }
    *window = (med_rmem_window){.rmem = 0};
}

/* ---- Finding --------------------------------------------------------------------------------- */

static medley_status_t
window_find(med_self *self, med_handle rmem, med_rmem_window **found)
{
    med_system *system = self->system;
    uint32_t index = med_handle_index_of_kind(rmem, MED_HANDLE_RMEM);
    if (index >= system->rmems.row_count) {
        return MEDLEY_ERR_ARGUMENT;
    }
    /* Relaxed: compared only; what is used was read when the window was opened. */
    uint32_t word = atomic32_load_relaxed(&med_table_row(&system->rmems, index)->state);
    if (!med_handle_is_current(rmem, word)) {
        return MEDLEY_ERR_STALE;
    }
    const med_key key = {.high = rmem, .low = self->ref};
    uint32_t attachment, generation;
    if (med_table_find(&system->rmem_attachments, key, &attachment, &generation) != MEDLEY_OK) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    med_rmem_window *window = &system->rmem_windows[attachment];
    /* Of a row that was scribbled over, or of an earlier life of this one. */
    if (window->rmem != rmem || window->attachment_generation != generation ||
        window->live != word) {
        return MEDLEY_ERR_STALE;
    }
    self->recent_windows[index % MED_SELF_RECENT_WINDOWS] = window;
    *found = window;
    return MEDLEY_OK;
}

medley_status_t
med_rmem_window_of(med_self *self, med_handle rmem, med_rmem_window **window)
{
    *window = med_rmem_window_recent(self, rmem);
    return *window ? MEDLEY_OK : window_find(self, rmem, window);
}

uint64_t
med_rmem_end_of(uint32_t offset, uint32_t rows, uint32_t stride, uint32_t row_bytes)
{
    return (uint64_t)(rows - 1) * stride + offset + row_bytes;
}

med_rmem_fit
med_rmem_window_fit(const med_rmem_window *window, const med_rmem_transfer *transfer)
{
    const med_rmem_transfer *t = transfer;
    if (t->rmem_stride < t->row_bytes || t->local_stride < t->row_bytes) {
        return MED_RMEM_STRIDE_SHORT;
    }
    uint64_t far_end = med_rmem_end_of(t->rmem_offset, t->rows, t->rmem_stride, t->row_bytes);
    uint64_t near_end = med_rmem_end_of(t->local_offset, t->rows, t->local_stride, t->row_bytes);
    bool fits = far_end <= window->size_bytes && near_end <= UINTPTR_MAX - (uintptr_t)t->local;
    return fits ? MED_RMEM_FITS : MED_RMEM_BEYOND_END;
}

/* ---- Moving ---------------------------------------------------------------------------------- */

static medley_status_t
move_local(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    unsigned char *far = window->local + transfer->rmem_offset;
    unsigned char *near = (unsigned char *)transfer->local + transfer->local_offset;
    for (uint32_t row = 0; row < transfer->rows; row++) {
        /* Not memcpy: a node may move bytes of a buffer within it. */
        memmove(transfer->write ? far : near, transfer->write ? near : far, transfer->row_bytes);
        far += transfer->rmem_stride;
        near += transfer->local_stride;
    }
    return MEDLEY_OK;
}

static medley_status_t
move_peer(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    const med_port_peer_copy copy = {.local =
                                         (unsigned char *)transfer->local + transfer->local_offset,
                                     .remote = window->address + transfer->rmem_offset,
                                     .row_bytes = transfer->row_bytes,
                                     .rows = transfer->rows,
                                     .local_stride_bytes = transfer->local_stride,
                                     .remote_stride_bytes = transfer->rmem_stride,
                                     .write = transfer->write};
    return med_port_peer_copy_run(&window->peer, &copy) == MEDLEY_OK ? MEDLEY_OK : MEDLEY_ERR_STALE;
}

medley_status_t
med_rmem_window_move(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    return window->local ? move_local(window, transfer) : move_peer(window, transfer);
}

med_port_copy
med_rmem_window_copy(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    unsigned char *far = window->local + transfer->rmem_offset;
    unsigned char *near = (unsigned char *)transfer->local + transfer->local_offset;
    bool write = transfer->write;
    return (med_port_copy){
        .target = write ? far : near,
        .source = write ? near : far,
        .row_bytes = transfer->row_bytes,
        .rows = transfer->rows,
        .target_stride_bytes = write ? transfer->rmem_stride : transfer->local_stride,
        .source_stride_bytes = write ? transfer->local_stride : transfer->rmem_stride};
}
