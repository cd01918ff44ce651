/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Topics: an endpoint that publishes, and those that subscribed to it, each by a lane of its own.
 * One to many; docs/design/mcapi.md */
#ifndef MEDLEY_MCAPI_TOPIC_H
#define MEDLEY_MCAPI_TOPIC_H

#include <stddef.h>
#include <stdint.h>

#include "mcapi/channel.h"

/* Sends it to all who subscribed (med_channel_subscribe) to an endpoint of the caller's; `reached`
 * is how many got it, also if the status is one of the next. Where there is no room: it is lost to
 * that subscriber, and counted, if the endpoint's memory type forbids to wait; else it waits, as
 * long as the endpoint's timeout says: MEDLEY_TIMEOUT, and it is lost to those who had none until
 * then. MEDLEY_ERR_NOT_SUPPORTED: longer than the endpoint's payload; MEDLEY_ERR_NOT_OWNER,
 * MEDLEY_ERR_STALE, MEDLEY_ERR_ARGUMENT: no endpoint of the caller's. */
medley_status_t med_topic_publish(
    med_self *self, med_handle topic, const void *payload, size_t bytes, uint32_t *reached);

/* How many were lost to an open end of the caller's, wrapping. MEDLEY_ERR_STALE: it is none;
 * MEDLEY_ERR_ARGUMENT: of a channel that is no topic's. */
medley_status_t med_topic_lost(const med_self *self, med_handle receiver, uint32_t *lost);

#endif
