/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What MCAPI's scenarios share: an actor is a node, and what it does is expected to succeed. */
#ifndef MEDLEY_TESTS_SIM_MCAPI_ACTOR_H
#define MEDLEY_TESTS_SIM_MCAPI_ACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcapi.h"
#include "sim.h"

/* The actor becomes a node: again, when another was too long at opening or closing the system. */
void mcapi_come(const sim_actor *actor);
void mcapi_go(void);
/* An endpoint at which nothing ever waits. */
mcapi_endpoint_t mcapi_endpoint_make(uint32_t port);
void mcapi_endpoint_end(mcapi_endpoint_t endpoint);
/* A message. False: there is no lane, or no room, just now. */
bool mcapi_send_now(mcapi_endpoint_t from, mcapi_endpoint_t to, const void *content, size_t bytes);

#endif
