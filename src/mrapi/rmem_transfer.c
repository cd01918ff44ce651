/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Transfers: reading and writing remote memory, at once or by the copy engine.
 *
 * They order nothing between nodes: who says that bytes are there, and who asks, use what orders
 * (a mutex, a message). A transfer is a node's own; the remote memory may be used by all at once,
 * byte by byte as in any memory.
 */
#include <string.h>

#include "mrapi/request.h"
#include "mrapi/rmem.h"
#include "mrapi/rmem_cache.h"
#include "mrapi/rmem_window.h"
#include "mrapi/system.h"

/* ---- At once --------------------------------------------------------------------------------- */

static void
rows_clean(const med_port_copy *copy, const unsigned char *first, size_t stride_bytes)
{
    for (size_t row = 0; row < copy->rows; row++) {
        med_port_cache_clean(first + row * stride_bytes, copy->row_bytes);
    }
}

static void
rows_invalidate(const med_port_copy *copy, unsigned char *first, size_t stride_bytes)
{
    for (size_t row = 0; row < copy->rows; row++) {
        med_port_cache_invalidate(first + row * stride_bytes, copy->row_bytes);
    }
}

/* An engine need not look into caches. So what the processor has written goes to memory before: of
 * the source, to be copied; of the target, lest it go there afterwards. */
static medley_status_t
engine_start(med_port_copy *copy)
{
    rows_clean(copy, copy->source, copy->source_stride_bytes);
    rows_clean(copy, copy->target, copy->target_stride_bytes);
    return med_port_copy_start(copy);
}

/* And what the processor has of the target is old. */
static medley_status_t
engine_end(med_port_copy *copy)
{
    medley_status_t status = med_port_copy_wait(copy);
    rows_invalidate(copy, copy->target, copy->target_stride_bytes);
    return status;
}

/* The processor in the engine's place: it sees what other engines have brought, and they see what
 * it did. */
static medley_status_t
run_as_engine(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    med_port_copy copy = med_rmem_window_copy(window, transfer);
    unsigned char *source = (unsigned char *)(uintptr_t)copy.source; /* nothing is written there */
    rows_clean(&copy, source, copy.source_stride_bytes);
    rows_invalidate(&copy, source, copy.source_stride_bytes);
    medley_status_t status = med_rmem_window_move(window, transfer);
    rows_clean(&copy, copy.target, copy.target_stride_bytes);
    return status;
}

/* With whatever stands between: a cache, the processor, the kernel. */
static medley_status_t
run(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    if (window->cache) {
        return med_rmem_cache_transfer(window, transfer);
    }
    return window->access == MED_RMEM_DMA && window->local ? run_as_engine(window, transfer)
                                                           : med_rmem_window_move(window, transfer);
}

/* Waits for room in the engine too. */
static medley_status_t
run_engine(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    med_port_copy copy = med_rmem_window_copy(window, transfer);
    uint32_t pauses = 0;
    medley_status_t status;
    while ((status = engine_start(&copy)) == MEDLEY_BUSY) {
        med_wait_pause(&pauses);
    }
    return status == MEDLEY_OK ? engine_end(&copy) : status;
}

/* From the first row to the last, with what lies between them. */
static bool
sides_overlap(const med_rmem_window *window, const med_rmem_transfer *transfer)
{
    const med_rmem_transfer *t = transfer;
    uint64_t far = (uintptr_t)window->local, near = (uintptr_t)t->local;
    uint64_t far_end = far + med_rmem_end_of(t->rmem_offset, t->rows, t->rmem_stride, t->row_bytes);
    uint64_t near_end =
        near + med_rmem_end_of(t->local_offset, t->rows, t->local_stride, t->row_bytes);
    return far + t->rmem_offset < near_end && near + t->local_offset < far_end;
}

/* Does the engine do it? Into another process's memory only its kernel copies; and within a buffer,
 * only the processor. */
static inline bool
by_engine(const med_rmem_window *window, const med_rmem_transfer *transfer)
{
    return window->access == MED_RMEM_DMA && window->local && !sides_overlap(window, transfer);
}

medley_status_t
med_rmem_transfer_run(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    return by_engine(window, transfer) ? run_engine(window, transfer) : run(window, transfer);
}

/* ---- That end later -------------------------------------------------------------------------- */

typedef struct engine_context {
    const med_rmem_window *window;
    med_port_copy copy;
} engine_context;
_Static_assert(sizeof(engine_context) <= MED_REQUEST_CONTEXT_BYTES, "a request holds it");

static engine_context *
engine_of(void *context)
{
    return context;
}

static size_t
bytes_of(const med_rmem_transfer *transfer)
{
    return (size_t)transfer->row_bytes * transfer->rows;
}

static med_request_state
engine_progress(void *context, med_request_outcome *outcome)
{
    med_port_copy *copy = &engine_of(context)->copy;
    if (!med_port_copy_done(copy)) {
        return MED_REQUEST_VALID;
    }
    *outcome = (med_request_outcome){.status = engine_end(copy),
                                     .size_bytes = copy->row_bytes * copy->rows};
    return MED_REQUEST_COMPLETED;
}

/* An engine is not canceled: when it has ended, nothing is touched any more. */
static bool
engine_cancel(void *context)
{
    (void)engine_end(&engine_of(context)->copy);
    return true;
}

static const med_request_operations engine_operations = {.progress = engine_progress,
                                                         .cancel = engine_cancel};

static medley_status_t
start_engine(med_rmem_window *window,
             const med_rmem_transfer *transfer,
             med_requests *requests,
             med_request *request,
             med_request_handle *handle)
{
    engine_context *engine = engine_of(request->context);
    *engine = (engine_context){.window = window, .copy = med_rmem_window_copy(window, transfer)};
    medley_status_t status = engine_start(&engine->copy);
    if (status == MEDLEY_OK) {
        *handle = med_request_start(requests, request);
    }
    return status;
}

static medley_status_t
start_at_once(med_rmem_window *window,
              const med_rmem_transfer *transfer,
              med_requests *requests,
              med_request *request,
              med_request_handle *handle)
{
    medley_status_t status = run(window, transfer);
    if (status == MEDLEY_OK) {
        const med_request_outcome outcome = {.status = MEDLEY_OK, .size_bytes = bytes_of(transfer)};
        *handle = med_request_end_at_once(requests, request, outcome);
    }
    return status;
}

medley_status_t
med_rmem_transfer_start(med_self *self,
                        med_rmem_window *window,
                        const med_rmem_transfer *transfer,
                        med_request_handle *request)
{
    med_requests *requests = &self->system->requests;
    med_request *place;
    medley_status_t status =
        med_request_begin(requests, self->ref, &self->next_request, &engine_operations, &place);
    if (status == MEDLEY_ERR_LIMIT) {
        med_requests_report_limit(requests);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    status = by_engine(window, transfer)
                 ? start_engine(window, transfer, requests, place, request)
                 : start_at_once(window, transfer, requests, place, request);
    if (status != MEDLEY_OK) {
        med_request_abandon(place);
    }
    return status;
}

/* ---- Flush, synch ---------------------------------------------------------------------------- */

static medley_status_t
cached_window_of(med_self *self, med_handle rmem, med_rmem_window **window)
{
    medley_status_t status = med_rmem_window_of(self, rmem, window);
    return status == MEDLEY_OK && !(*window)->cache ? MEDLEY_ERR_NOT_SUPPORTED : status;
}

medley_status_t
med_rmem_flush(med_self *self, med_handle rmem)
{
    med_rmem_window *window;
    medley_status_t status = cached_window_of(self, rmem, &window);
    return status == MEDLEY_OK ? med_rmem_cache_flush(window) : status;
}

medley_status_t
med_rmem_synch(med_self *self, med_handle rmem)
{
    med_rmem_window *window;
    medley_status_t status = cached_window_of(self, rmem, &window);
    if (status == MEDLEY_OK) {
        med_rmem_cache_forget(window);
    }
    return status;
}

/* ---- The end of an attachment ---------------------------------------------------------------- */

static bool
is_of_window(const void *context, const void *window)
{
    return ((const engine_context *)context)->window == window;
}

void
med_rmem_attachment_removed(const med_table_view *view, med_row *row)
{
    med_system *system = view->context;
    size_t index = (size_t)((unsigned char *)row - view->rows) / view->row_bytes;
    med_rmem_window *window = &system->rmem_windows[index];
    /* Relaxed: under the table's lock. */
    uint32_t generation = med_row_generation_of(atomic32_load_relaxed(&row->state));
    /* Another process's rows have no window here. */
    if (window->rmem && window->attachment_generation == generation) {
        med_requests_drain(&system->requests, &engine_operations, is_of_window, window);
        med_rmem_window_close(window);
    }
}
