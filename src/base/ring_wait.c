/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a side of any ring waits: ring_wait.h. */
#include "base/ring_wait.h"

typedef struct attempts {
    const med_ring_wait *wait;
    const med_ring_sleep *sleep;
    void *slot;
    medley_status_t status; /* of the last */
} attempts;

/* Full, empty and busy pass; corrupt does not. */
static bool
is_over(void *context)
{
    attempts *a = context;
    a->status = a->wait->attempt(a->wait->side, &a->slot);
    return a->status == MEDLEY_OK || a->status == MEDLEY_ERR_CORRUPT;
}

static medley_status_t
each_slice(void *context)
{
    const med_ring_sleep *sleep = ((const attempts *)context)->sleep;
    return sleep->each_slice ? sleep->each_slice(sleep->context) : MEDLEY_OK;
}

medley_status_t
med_ring_wait_until(const med_ring_wait *wait,
                    med_ring_sleep *sleep,
                    uint64_t deadline_ns,
                    void **slot)
{
    attempts a = {.wait = wait, .sleep = sleep};
    med_wait_request request = {.condition = is_over,
                                .each_slice = each_slice,
                                .context = &a,
                                .call = wait->call,
                                .call_value = wait->call_value,
                                .deadline_ns = deadline_ns,
                                .scope = wait->scope};
    medley_status_t status = med_wait_until(wait->place, &sleep->waiter, &request);
    status = status == MEDLEY_OK ? a.status : status;
    if (status == MEDLEY_OK) {
        *slot = a.slot;
    }
    return status;
}
