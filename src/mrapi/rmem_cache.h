/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Software caches: a copy of a remote memory for one attachment alone, which its node reads and
 * writes, and no other.
 *
 *   a line is valid:  all its bytes are there, fetched or written
 *   a byte is dirty:  it was written here, and not yet sent
 *
 * Only dirty bytes are sent. So nodes that write different bytes of a line lose nothing.
 */
#ifndef MEDLEY_MRAPI_RMEM_CACHE_H
#define MEDLEY_MRAPI_RMEM_CACHE_H

#include <stdint.h>

#include "medley/status.h"
#include "mrapi/rmem.h"
#include "mrapi/rmem_window.h"

typedef struct med_rmem_cache med_rmem_cache;

/* MEDLEY_ERR_NO_MEMORY. */
medley_status_t med_rmem_cache_make(uint32_t size_bytes, med_rmem_cache **cache);
void med_rmem_cache_end(med_rmem_cache *cache);

/* Reads through the window's cache, or writes into it. What it is given was checked.
 * MEDLEY_ERR_STALE, of a read: what it wants cannot be fetched. */
medley_status_t med_rmem_cache_transfer(med_rmem_window *window, const med_rmem_transfer *transfer);
/* Sends what is dirty. MEDLEY_ERR_STALE: it stays so. */
medley_status_t med_rmem_cache_flush(med_rmem_window *window);
/* No line is valid any more; what is dirty stays. */
void med_rmem_cache_forget(med_rmem_window *window);

#endif
