/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces that are alike for channels of packets and of scalars. `status` may be NULL. */
#ifndef MEDLEY_MCAPI_API_CHANNEL_H
#define MEDLEY_MCAPI_API_CHANNEL_H

#include "mcapi/api.h"
#include "mcapi/channel.h"

void med_mcapi_connect(med_lane_kind kind,
                       mcapi_endpoint_t from,
                       mcapi_endpoint_t to,
                       mcapi_request_t *request,
                       mcapi_status_t *status);
void med_mcapi_open(med_lane_kind kind,
                    med_lane_side side,
                    mcapi_endpoint_t endpoint,
                    unsigned *handle,
                    mcapi_request_t *request,
                    mcapi_status_t *status);
void med_mcapi_close(med_lane_kind kind,
                     med_lane_side side,
                     med_handle handle,
                     mcapi_request_t *request,
                     mcapi_status_t *status);

/* What comes of moving something: `gone` is what it is when the other side is. */
mcapi_status_t med_mcapi_channel_status(medley_status_t status, mcapi_status_t gone);

#endif
