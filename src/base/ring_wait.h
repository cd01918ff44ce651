/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The _until forms of every ring: the form that does not wait, tried again and again through the
 * wait object until it succeeds, finds the ring corrupt, or the time is up.
 */
#ifndef MEDLEY_BASE_RING_WAIT_H
#define MEDLEY_BASE_RING_WAIT_H

#include <stdint.h>

#include "base/wait.h"
#include "medley/status.h"
#include "port/port.h"

/* One in each handle: what its thread learned, and what it does after each slice slept. */
typedef struct med_ring_sleep {
    med_waiter waiter;
    /* May be NULL; anything but MEDLEY_OK ends the wait with it. Here the caller looks whether the
     * others live, and recovers those who do not. Set by the handle's owner, once it has it. */
    medley_status_t (*each_slice)(void *context);
    void *context;
} med_ring_sleep;

typedef struct med_ring_wait {
    medley_status_t (*attempt)(void *side, void **slot); /* reserve, peek, take */
    void *side;
    med_wait *place;
    atomic32 *call; /* as in med_wait_request; or NULL */
    uint32_t call_value;
    med_port_scope scope;
} med_ring_wait;

/* MEDLEY_OK and `slot`; MEDLEY_TIMEOUT, MEDLEY_ERR_CORRUPT, or what each_slice said. */
medley_status_t med_ring_wait_until(const med_ring_wait *wait,
                                    med_ring_sleep *sleep,
                                    uint64_t deadline_ns,
                                    void **slot);

#endif
