/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Software caches. One thread's own, the attached node's: there is nothing to order.
 *
 * In one piece of private memory:  med_rmem_cache | dirty masks | valid | bytes, in whole lines
 */
#include "mrapi/rmem_cache.h"

#include <string.h>

#define LINE_BYTES 64u

struct med_rmem_cache {
    uint32_t size_bytes; /* of the remote memory; its last line may be short */
    uint32_t lines;
    size_t memory_bytes;
    uint64_t *dirty; /* a bit for each byte of a line */
    unsigned char *valid;
    unsigned char *bytes;
};

/* ---- Making ---------------------------------------------------------------------------------- */

medley_status_t
med_rmem_cache_make(uint32_t size_bytes, med_rmem_cache **cache)
{
    uint32_t lines = size_bytes / LINE_BYTES + (size_bytes % LINE_BYTES != 0);
    uint64_t wanted = sizeof **cache + (uint64_t)lines * (sizeof(uint64_t) + 1 + LINE_BYTES);
    if (wanted > SIZE_MAX / 2) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    void *memory;
    medley_status_t status = med_port_memory_map((size_t)wanted, &memory);
    if (status != MEDLEY_OK) {
        return status;
    }
    *cache = memory;
    (*cache)->size_bytes = size_bytes;
    (*cache)->lines = lines;
    (*cache)->memory_bytes = (size_t)wanted;
    (*cache)->dirty = (uint64_t *)(void *)(*cache + 1);
    (*cache)->valid = (unsigned char *)((*cache)->dirty + lines);
    (*cache)->bytes = (*cache)->valid + lines;
    return MEDLEY_OK;
}

void
med_rmem_cache_end(med_rmem_cache *cache)
{
    med_port_memory_unmap(cache, cache->memory_bytes);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static uint32_t
line_bytes(const med_rmem_cache *cache, uint32_t line)
{
    uint32_t left = cache->size_bytes - line * LINE_BYTES;
    return left < LINE_BYTES ? left : LINE_BYTES;
}

/* Between the remote memory and `local`, past the cache. */
static medley_status_t
move(med_rmem_window *window, bool write, uint32_t offset, void *local, uint32_t count)
{
    const med_rmem_transfer transfer = {
        .write = write, .rmem_offset = offset, .local = local, .row_bytes = count, .rows = 1};
    return med_rmem_window_move(window, &transfer);
}

/* A line of which some bytes are newer here. */
static medley_status_t
line_merge(med_rmem_window *window, uint32_t line)
{
    med_rmem_cache *cache = window->cache;
    unsigned char fetched[LINE_BYTES];
    uint32_t count = line_bytes(cache, line);
    medley_status_t status = move(window, false, line * LINE_BYTES, fetched, count);
    for (uint32_t i = 0; status == MEDLEY_OK && i < count; i++) {
        if (!(cache->dirty[line] >> i & 1u)) {
            cache->bytes[line * LINE_BYTES + i] = fetched[i];
        }
    }
    return status;
}

/* How many lines from here on, up to `end`, can be fetched in one piece. */
static uint32_t
clean_run(const med_rmem_cache *cache, uint32_t line, uint32_t end)
{
    uint32_t run = 0;
    while (line + run < end && !cache->valid[line + run] && !cache->dirty[line + run]) {
        run++;
    }
    return run;
}

static medley_status_t
lines_fetch(med_rmem_window *window, uint32_t line, uint32_t end)
{
    med_rmem_cache *cache = window->cache;
    while (line < end) {
        uint32_t run = clean_run(cache, line, end);
        medley_status_t status = MEDLEY_OK;
        if (run) {
            uint32_t first = line * LINE_BYTES;
            uint32_t last = (line + run - 1) * LINE_BYTES + line_bytes(cache, line + run - 1);
            status = move(window, false, first, cache->bytes + first, last - first);
        } else if (!cache->valid[line]) {
            status = line_merge(window, line);
        }
        if (status != MEDLEY_OK) {
            return status;
        }
        run = run ? run : 1;
        memset(cache->valid + line, 1, run);
        line += run;
    }
    return MEDLEY_OK;
}

/* ---- Reading and writing --------------------------------------------------------------------- */

static medley_status_t
row_read(med_rmem_window *window, uint32_t offset, void *local, uint32_t count)
{
    uint32_t end = (uint32_t)(((uint64_t)offset + count + LINE_BYTES - 1) / LINE_BYTES);
    medley_status_t status = lines_fetch(window, offset / LINE_BYTES, end);
    if (status == MEDLEY_OK) {
        memcpy(local, window->cache->bytes + offset, count);
    }
    return status;
}

/* `count` bits from `first` on. */
static uint64_t
mask_of(uint32_t first, uint32_t count)
{
    uint64_t ones = count == LINE_BYTES ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    return ones << first;
}

static void
row_write(med_rmem_window *window, uint32_t offset, const void *local, uint32_t count)
{
    med_rmem_cache *cache = window->cache;
    memcpy(cache->bytes + offset, local, count);
    while (count) {
        uint32_t first = offset % LINE_BYTES;
        uint32_t here = count < LINE_BYTES - first ? count : LINE_BYTES - first;
        cache->dirty[offset / LINE_BYTES] |= mask_of(first, here);
        offset += here;
        count -= here;
    }
}

medley_status_t
med_rmem_cache_transfer(med_rmem_window *window, const med_rmem_transfer *transfer)
{
    unsigned char *near = (unsigned char *)transfer->local + transfer->local_offset;
    uint32_t far = transfer->rmem_offset;
    for (uint32_t row = 0; row < transfer->rows; row++) {
        if (transfer->write) {
            row_write(window, far, near, transfer->row_bytes);
        } else {
            medley_status_t status = row_read(window, far, near, transfer->row_bytes);
            if (status != MEDLEY_OK) {
                return status;
            }
        }
        far += transfer->rmem_stride;
        near += transfer->local_stride;
    }
    return MEDLEY_OK;
}

/* ---- Flush and synch ------------------------------------------------------------------------- */

static bool
is_dirty(const med_rmem_cache *cache, uint32_t at)
{
    return cache->dirty[at / LINE_BYTES] >> at % LINE_BYTES & 1u;
}

/* The next dirty byte at or behind `at`; the size when there is none. */
static uint32_t
dirty_find(const med_rmem_cache *cache, uint32_t at)
{
    for (uint32_t line = at / LINE_BYTES; line < cache->lines; line++) {
        uint32_t first = line == at / LINE_BYTES ? at % LINE_BYTES : 0;
        uint64_t rest = cache->dirty[line] & UINT64_MAX << first;
        if (rest) {
            return line * LINE_BYTES + (uint32_t)__builtin_ctzll(rest);
        }
    }
    return cache->size_bytes;
}

/* Where the run of dirty bytes that holds `at` ends. */
static uint32_t
dirty_end(const med_rmem_cache *cache, uint32_t at)
{
    while (at < cache->size_bytes && is_dirty(cache, at)) {
        bool whole = at % LINE_BYTES == 0 && cache->size_bytes - at >= LINE_BYTES &&
                     cache->dirty[at / LINE_BYTES] == UINT64_MAX;
        at += whole ? LINE_BYTES : 1;
    }
    return at;
}

static void
dirty_clear(med_rmem_cache *cache, uint32_t at, uint32_t end)
{
    while (at < end) {
        uint32_t first = at % LINE_BYTES;
        uint32_t here = end - at < LINE_BYTES - first ? end - at : LINE_BYTES - first;
        cache->dirty[at / LINE_BYTES] &= ~mask_of(first, here);
        at += here;
    }
}

medley_status_t
med_rmem_cache_flush(med_rmem_window *window)
{
    med_rmem_cache *cache = window->cache;
    uint32_t at = dirty_find(cache, 0);
    while (at < cache->size_bytes) {
        uint32_t end = dirty_end(cache, at);
        medley_status_t status = move(window, true, at, cache->bytes + at, end - at);
        if (status != MEDLEY_OK) {
            return status;
        }
        dirty_clear(cache, at, end);
        at = dirty_find(cache, end < cache->size_bytes ? end : cache->size_bytes);
    }
    return MEDLEY_OK;
}

void
med_rmem_cache_forget(med_rmem_window *window)
{
    memset(window->cache->valid, 0, window->cache->lines);
}
