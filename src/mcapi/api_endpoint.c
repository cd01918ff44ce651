/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The faces of endpoints. */
#include <string.h>

#include "mcapi/api.h"
#include "mcapi/endpoint.h"
#include "mcapi/locked.h"

static mcapi_status_t
status_of(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    case MEDLEY_ERR_EXISTS:
        return MCAPI_ERR_ENDP_EXISTS;
    case MEDLEY_ERR_LIMIT:
        return MCAPI_ERR_ENDP_LIMIT;
    case MEDLEY_ERR_NOT_OWNER:
        return MCAPI_ERR_ENDP_NOTOWNER;
    case MEDLEY_BUSY:
        return MCAPI_ERR_CHAN_CONNECTED;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

mcapi_endpoint_t
mcapi_endpoint_create(mcapi_port_t port_id, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    med_handle endpoint = MCAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return endpoint;
    }
    if (port_id != MCAPI_PORT_ANY && port_id > MCAPI_MAX_PORT) {
        *status = MCAPI_ERR_PORT_INVALID;
        return endpoint;
    }
    medley_status_t result;
    MED_LOCKED(self, MED_RWL_WRITE, result, med_endpoint_create(self, port_id, &endpoint));
    *status = status_of(result);
    return endpoint;
}

/* Of an endpoint that somebody asks for. MCAPI_PORT_ANY gives ports by rows: none is above those
 * that the last row has. */
static mcapi_status_t
numbers_check(const med_self *self, mcapi_domain_t domain, mcapi_node_t node, mcapi_port_t port)
{
    if (domain == MCAPI_DOMAIN_INVALID) {
        return MCAPI_ERR_DOMAIN_INVALID;
    }
    if (node == MCAPI_NODE_INVALID) {
        return MCAPI_ERR_NODE_INVALID;
    }
    uint32_t end = MED_ENDPOINT_PORT_ANY_FIRST + self->system->limits.endpoints;
    return port >= end ? MCAPI_ERR_PORT_INVALID : MCAPI_SUCCESS;
}

mcapi_endpoint_t
mcapi_endpoint_get(mcapi_domain_t domain_id,
                   mcapi_node_t node_id,
                   mcapi_port_t port_id,
                   mcapi_timeout_t timeout,
                   mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    med_handle endpoint = MCAPI_RETURN_VALUE_INVALID;
    if (!self) {
        return endpoint;
    }
    *status = numbers_check(self, domain_id, node_id, port_id);
    if (*status == MCAPI_SUCCESS) {
        *status = status_of(med_endpoint_await(self, domain_id, node_id, port_id,
                                               med_mcapi_deadline_ns(timeout), &endpoint));
    }
    if (*status == MCAPI_SUCCESS) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_WRITE, result, med_endpoint_got(self, endpoint, true));
        (void)result; /* for showing */
    }
    return endpoint;
}

void
mcapi_endpoint_get_i(mcapi_domain_t domain_id,
                     mcapi_node_t node_id,
                     mcapi_port_t port_id,
                     mcapi_endpoint_t *endpoint,
                     mcapi_request_t *request,
                     mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    *status = endpoint && request ? numbers_check(self, domain_id, node_id, port_id)
                                  : MCAPI_ERR_PARAMETER;
    if (*status == MCAPI_SUCCESS &&
        med_endpoint_request(self, domain_id, node_id, port_id, endpoint, request) != MEDLEY_OK) {
        *status = MCAPI_ERR_REQUEST_LIMIT;
    }
}

void
mcapi_endpoint_release(mcapi_endpoint_t endpoint, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_WRITE, result, med_endpoint_got(self, endpoint, false));
        *status = status_of(result);
    }
}

void
mcapi_endpoint_delete(mcapi_endpoint_t endpoint, mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (self) {
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_WRITE, result, med_endpoint_delete(self, endpoint));
        *status = status_of(result);
    }
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* Which of an endpoint's settings an attribute is. */
static bool
setting_of(mcapi_uint_t number, med_endpoint_setting *setting)
{
    static const struct {
        mcapi_uint_t number;
        med_endpoint_setting setting;
    } settings[] = {
        {MCAPI_ENDP_ATTR_MAX_PAYLOAD_SIZE, MED_ENDPOINT_MAX_PAYLOAD},
        {MCAPI_ENDP_ATTR_BUFFER_TYPE, MED_ENDPOINT_BUFFER_TYPE},
        {MCAPI_ENDP_ATTR_MEMORY_TYPE, MED_ENDPOINT_MEMORY_TYPE},
        {MCAPI_ENDP_ATTR_NUM_PRIORITIES, MED_ENDPOINT_PRIORITIES},
        {MCAPI_ENDP_ATTR_PRIORITY, MED_ENDPOINT_PRIORITY},
        {MCAPI_ENDP_ATTR_NUM_RECV_BUFFERS, MED_ENDPOINT_RECEIVE_BUFFERS},
        {MCAPI_ENDP_ATTR_TIMEOUT, MED_ENDPOINT_TIMEOUT_US},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (settings[i].number == number) {
            *setting = settings[i].setting;
            return true;
        }
    }
    return false;
}

static mcapi_uint_t
type_of(const med_endpoint_state *state)
{
    if (!state->connected) {
        return MCAPI_ENDP_ATTR_TYPE_MESSAGE;
    }
    return state->kind == MED_LANE_SCALARS ? MCAPI_ENDP_ATTR_TYPE_SCLCHAN
                                           : MCAPI_ENDP_ATTR_TYPE_PKTCHAN;
}

static mcapi_uint_t
status_flags(const med_endpoint_state *state)
{
    mcapi_uint_t flags = 0;
    flags |= state->connected ? MCAPI_ENDP_ATTR_STATUS_CONNECTED : 0;
    flags |= state->open ? MCAPI_ENDP_ATTR_STATUS_OPEN : 0;
    flags |= state->open_pending ? MCAPI_ENDP_ATTR_STATUS_OPEN_PENDING : 0;
    if (state->connected) {
        flags |= state->side == MED_LANE_PRODUCER ? MCAPI_ENDP_ATTR_STATUS_SEND
                                                  : MCAPI_ENDP_ATTR_STATUS_RECEIVE;
        flags |= state->kind == MED_LANE_SCALARS ? MCAPI_ENDP_ATTR_STATUS_SCLCHAN
                                                 : MCAPI_ENDP_ATTR_STATUS_PKTCHAN;
    }
    return flags;
}

/* What is read only. */
static bool
read_only(const med_self *self,
          const med_endpoint_state *state,
          mcapi_uint_t number,
          mcapi_uint_t *value)
{
    switch (number) {
    case MCAPI_ENDP_ATTR_TYPE:
        *value = type_of(state);
        return true;
    case MCAPI_ENDP_ATTR_GET_COUNT:
        *value = state->gets;
        return true;
    case MCAPI_ENDP_ATTR_NUM_SEND_BUFFERS:
        *value = self->system->limits.buffers;
        return true;
    case MCAPI_ENDP_ATTR_ENDP_STATUS:
        *value = status_flags(state);
        return true;
    default:
        return false;
    }
}

static mcapi_status_t
source_get(const med_endpoint_state *state, void *attribute, size_t size)
{
    const mcapi_endp_attr_get_source_t source = {.domain_id = state->got_domain,
                                                 .node_id = state->got_node};
    if (size != sizeof source) {
        return MCAPI_ERR_ATTR_SIZE;
    }
    memcpy(attribute, &source, sizeof source);
    return MCAPI_SUCCESS;
}

static mcapi_status_t
attribute_get(const med_self *self,
              const med_endpoint_row *row,
              const med_endpoint_state *state,
              mcapi_uint_t number,
              void *attribute,
              size_t size)
{
    mcapi_uint_t value;
    med_endpoint_setting setting;
    if (number == MCAPI_ENDP_ATTR_GET_SOURCE) {
        return source_get(state, attribute, size);
    }
    if (setting_of(number, &setting)) {
        value = med_endpoint_setting_get(self->system, row, setting);
    } else if (!read_only(self, state, number, &value)) {
        return MCAPI_ERR_ATTR_NUM;
    }
    if (size != sizeof value) {
        return MCAPI_ERR_ATTR_SIZE;
    }
    memcpy(attribute, &value, sizeof value);
    return MCAPI_SUCCESS;
}

void
mcapi_endpoint_get_attribute(mcapi_endpoint_t endpoint,
                             mcapi_uint_t attribute_num,
                             void *attribute,
                             size_t attribute_size,
                             mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    med_endpoint_row *row;
    med_endpoint_state state;
    if (!attribute) {
        *status = MCAPI_ERR_PARAMETER;
        return;
    }
    medley_status_t result;
    MED_LOCKED(self, MED_RWL_READ, result, med_endpoint_state_get(self, endpoint, &state));
    if (result != MEDLEY_OK || med_endpoint_of(self->system, endpoint, &row) != MEDLEY_OK) {
        *status = MCAPI_ERR_ENDP_INVALID;
    } else {
        *status = attribute_get(self, row, &state, attribute_num, attribute, attribute_size);
    }
}

static mcapi_status_t
status_of_set(medley_status_t status)
{
    switch (status) {
    case MEDLEY_OK:
        return MCAPI_SUCCESS;
    case MEDLEY_ERR_NOT_OWNER:
        return MCAPI_ERR_ENDP_REMOTE;
    case MEDLEY_BUSY:
        return MCAPI_ERR_CHAN_CONNECTED;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MCAPI_ERR_ATTR_VALUE;
    case MEDLEY_TIMEOUT:
        return MCAPI_TIMEOUT;
    default:
        return MCAPI_ERR_ENDP_INVALID;
    }
}

void
mcapi_endpoint_set_attribute(mcapi_endpoint_t endpoint,
                             mcapi_uint_t attribute_num,
                             const void *attribute,
                             size_t attribute_size,
                             mcapi_status_t *status)
{
    med_self *self = status ? med_mcapi_self(status) : NULL;
    if (!self) {
        return;
    }
    mcapi_uint_t value;
    med_endpoint_setting setting;
    if (!attribute) {
        *status = MCAPI_ERR_PARAMETER;
    } else if (!setting_of(attribute_num, &setting)) {
        *status =
            attribute_num < MCAPI_ENDP_ATTR_END ? MCAPI_ERR_ATTR_READONLY : MCAPI_ERR_ATTR_NUM;
    } else if (attribute_size != sizeof value) {
        *status = MCAPI_ERR_ATTR_SIZE;
    } else {
        memcpy(&value, attribute, sizeof value);
        medley_status_t result;
        MED_LOCKED(self, MED_RWL_WRITE, result, med_endpoint_set(self, endpoint, setting, value));
        *status = status_of_set(result);
    }
}
