/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* MCAPI's calls on several harts, and what each says of wrong arguments: nodes, endpoints, requests
 * and messages. riscv_channels.c has those of channels. */
#include "riscv_mcapi.h"

#include "base/atomic.h"

#define COUNT 200u

/* ---- Several harts --------------------------------------------------------------------------- */

#define BROKEN 0x40000000u

static const char *(*exchange_body)(mcapi_node_t self); /* changed while there is one node */
static uint32_t exchange_count;                         /* likewise */
static atomic32 arrivals;                               /* at any place to meet; and BROKEN */

void
meet(void)
{
    /* M1 what stands before a meeting -> M1, <- M1 */
    uint32_t before = atomic32_fetch_add_acq_rel(&arrivals, 1);
    uint32_t all_are_there = (before / exchange_count + 1) * exchange_count;
    while (atomic32_load_acquire(&arrivals) < all_are_there) { /* M1 <- M1 */
        med_port_yield();
    }
}

static const char *
takes_part(mrapi_node_t self)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, self, NULL, NULL, &info, &status);
    const char *broken = status == MCAPI_SUCCESS ? exchange_body(self) : "a node takes part";
    if (broken) {
        (void)atomic32_fetch_add_acq_rel(&arrivals, BROKEN); /* M1 -> M1 */
    }
    mcapi_finalize(&status); /* who waits for what this one has is told */
    return broken || status == MCAPI_SUCCESS ? broken : "a node leaves";
}

const char *
nodes_exchange(uint32_t count, const char *(*body)(mcapi_node_t self))
{
    exchange_body = body;
    exchange_count = count;
    atomic32_store_relaxed(&arrivals, 0); /* relaxed: on_nodes orders it */
    return on_nodes(count, takes_part);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static bool
is_no_node(mcapi_node_t self)
{
    mcapi_status_t status;
    mcapi_uint_t type;
    return SAYS(MCAPI_ERR_NODE_NOTINIT, mcapi_finalize(&status)) &&
           SAYS(MCAPI_ERR_NODE_NOTINIT, mcapi_node_id_get(&status)) &&
           SAYS(MCAPI_ERR_NODE_NOTINIT, mcapi_domain_id_get(&status)) &&
           SAYS(MCAPI_ERR_NODE_NOTINIT, mcapi_endpoint_create(self, &status)) &&
           SAYS(MCAPI_ERR_NODE_NOTINIT, mcapi_node_get_attribute(DOMAIN, self, MCAPI_NODE_ATTR_TYPE,
                                                                 &type, sizeof type, &status));
}

static bool
attributes_are_checked(mcapi_node_attributes_t *attributes)
{
    mcapi_status_t status;
    mcapi_uint_t type = MCAPI_NODE_ATTR_TYPE_REGULAR, none = MCAPI_NODE_ATTR_TYPE_END;
    return SAYS(MCAPI_ERR_PARAMETER, mcapi_node_init_attributes(NULL, &status)) &&
           SAYS(MCAPI_SUCCESS, mcapi_node_init_attributes(attributes, &status)) &&
           SAYS(MCAPI_ERR_ATTR_NUM, mcapi_node_set_attribute(attributes, MCAPI_NODE_ATTR_END, &type,
                                                             sizeof type, &status)) &&
           SAYS(MCAPI_ERR_ATTR_SIZE,
                mcapi_node_set_attribute(attributes, MCAPI_NODE_ATTR_TYPE, &type, 1, &status)) &&
           SAYS(MCAPI_ERR_ATTR_VALUE, mcapi_node_set_attribute(attributes, MCAPI_NODE_ATTR_TYPE,
                                                               &none, sizeof none, &status)) &&
           SAYS(MCAPI_SUCCESS, mcapi_node_set_attribute(attributes, MCAPI_NODE_ATTR_TYPE, &type,
                                                        sizeof type, &status));
}

static bool
initializes(mcapi_node_t self, mcapi_node_attributes_t *attributes)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_node_attributes_t unmade = {0};
    return SAYS(MCAPI_ERR_PARAMETER,
                mcapi_initialize(DOMAIN, self, attributes, NULL, NULL, &status)) &&
           SAYS(MCAPI_ERR_PARAMETER,
                mcapi_initialize(DOMAIN, self, &unmade, NULL, &info, &status)) &&
           SAYS(MCAPI_ERR_NODE_INVALID,
                mcapi_initialize(DOMAIN, MCAPI_NODE_INVALID, NULL, NULL, &info, &status)) &&
           SAYS(MCAPI_ERR_NODE_INITIALIZED,
                mcapi_initialize(DOMAIN, self + 100, NULL, NULL, &info, &status)) &&
           SAYS(MCAPI_SUCCESS, mcapi_initialize(DOMAIN, self, attributes, NULL, &info, &status)) &&
           info.mcapi_version == MCAPI_VERSION &&
           SAYS(MCAPI_ERR_NODE_INITIALIZED,
                mcapi_initialize(DOMAIN, self, NULL, NULL, &info, &status));
}

static bool
knows_itself(mcapi_node_t self)
{
    mcapi_status_t status;
    mcapi_uint_t type = MCAPI_NODE_ATTR_TYPE_END;
    bool is_told = mcapi_node_id_get(&status) == self && status == MCAPI_SUCCESS &&
                   mcapi_domain_id_get(&status) == DOMAIN && status == MCAPI_SUCCESS;
    return is_told &&
           SAYS(MCAPI_SUCCESS, mcapi_node_get_attribute(DOMAIN, self, MCAPI_NODE_ATTR_TYPE, &type,
                                                        sizeof type, &status)) &&
           type == MCAPI_NODE_ATTR_TYPE_REGULAR &&
           SAYS(MCAPI_ERR_NODE_INVALID,
                mcapi_node_get_attribute(DOMAIN, self + 100, MCAPI_NODE_ATTR_TYPE, &type,
                                         sizeof type, &status));
}

static const char *
comes_and_goes(mrapi_node_t self)
{
    mcapi_status_t status;
    mcapi_node_attributes_t attributes;
    if (!is_no_node(self)) {
        return "before it takes part it is told so";
    }
    if (!attributes_are_checked(&attributes)) {
        return "a node's attributes are checked";
    }
    if (!initializes(self, &attributes)) {
        return "a hart takes part once, as the node that it is";
    }
    if (!knows_itself(self)) {
        return "it knows its numbers";
    }
    mcapi_finalize(&status);
    return status == MCAPI_SUCCESS && is_no_node(self) ? NULL : "it leaves";
}

static const char *
nodes_come_and_go(void)
{
    char text[MCAPI_MAX_STATUS_SIZE];
    mcapi_set_debug_level(1);
    if (mcapi_display_status(MCAPI_ERR_PRIORITY, NULL, sizeof text) ||
        !mcapi_display_status(MCAPI_ERR_PRIORITY, text, sizeof text) ||
        __builtin_strcmp(text, "MCAPI_ERR_PRIORITY") != 0) {
        return "a status has its name";
    }
    return on_nodes(hart_count(), comes_and_goes);
}

/* ---- Endpoints ------------------------------------------------------------------------------- */

#define RING 4u /* harts, each of which gets the next one's endpoint */

static bool
has(mcapi_endpoint_t endpoint, mcapi_uint_t attribute, mcapi_uint_t wanted)
{
    mcapi_status_t status;
    mcapi_uint_t value = ~wanted;
    mcapi_endpoint_get_attribute(endpoint, attribute, &value, sizeof value, &status);
    return status == MCAPI_SUCCESS && value == wanted;
}

static bool
wrong_ports_and_nodes_say_so(mcapi_node_t next, mcapi_endpoint_t *found)
{
    mcapi_status_t status;
    mcapi_request_t request;
    return SAYS(MCAPI_ERR_PORT_INVALID, mcapi_endpoint_create(MCAPI_MAX_PORT + 1, &status)) &&
           SAYS(MCAPI_ERR_PARAMETER,
                mcapi_endpoint_get_i(DOMAIN, next, next, NULL, &request, &status)) &&
           SAYS(MCAPI_ERR_NODE_INVALID,
                mcapi_endpoint_get_i(DOMAIN, MCAPI_NODE_INVALID, next, found, &request, &status)) &&
           SAYS(MCAPI_ERR_PORT_INVALID,
                mcapi_endpoint_get_i(DOMAIN, next, MCAPI_PORT_ANY, found, &request, &status)) &&
           SAYS(MCAPI_ERR_DOMAIN_INVALID,
                mcapi_endpoint_get(MCAPI_DOMAIN_INVALID, next, next, 0, &status)) &&
           SAYS(MCAPI_TIMEOUT, mcapi_endpoint_get(DOMAIN, next, 77, 500, &status));
}

static bool
attributes_say_so(mcapi_endpoint_t own, mcapi_endpoint_t another)
{
    mcapi_status_t status;
    mcapi_uint_t value = 9;
    return SAYS(MCAPI_ERR_ATTR_VALUE,
                mcapi_endpoint_set_attribute(own, MCAPI_ENDP_ATTR_NUM_PRIORITIES, &value,
                                             sizeof value, &status)) &&
           SAYS(MCAPI_ERR_ATTR_READONLY,
                mcapi_endpoint_set_attribute(own, MCAPI_ENDP_ATTR_GET_COUNT, &value, sizeof value,
                                             &status)) &&
           SAYS(MCAPI_ERR_ENDP_REMOTE,
                mcapi_endpoint_set_attribute(another, MCAPI_ENDP_ATTR_TIMEOUT, &value, sizeof value,
                                             &status)) &&
           SAYS(MCAPI_ERR_ATTR_SIZE,
                mcapi_endpoint_get_attribute(another, MCAPI_ENDP_ATTR_TYPE, &value, 1, &status)) &&
           SAYS(MCAPI_ERR_ATTR_NUM, mcapi_endpoint_get_attribute(another, MCAPI_ENDP_ATTR_END,
                                                                 &value, sizeof value, &status)) &&
           has(another, MCAPI_ENDP_ATTR_TYPE, MCAPI_ENDP_ATTR_TYPE_MESSAGE);
}

/* Each gets the next one's, and knows who got his own. */
static const char *
is_got_and_released(mcapi_node_t self, mcapi_endpoint_t own, mcapi_endpoint_t another)
{
    mcapi_status_t status;
    mcapi_endp_attr_get_source_t source;
    meet();
    mcapi_endpoint_get_attribute(own, MCAPI_ENDP_ATTR_GET_SOURCE, &source, sizeof source, &status);
    if (status != MCAPI_SUCCESS || source.domain_id != DOMAIN ||
        source.node_id != (self + RING - 1) % RING || !has(own, MCAPI_ENDP_ATTR_GET_COUNT, 1)) {
        return "an endpoint knows who got it";
    }
    meet();
    mcapi_endpoint_release(another, &status);
    meet();
    if (status != MCAPI_SUCCESS || !has(own, MCAPI_ENDP_ATTR_GET_COUNT, 0)) {
        return "it is released";
    }
    return NULL;
}

static const char *
gets_the_next(mcapi_node_t self)
{
    mcapi_status_t status;
    mcapi_request_t request;
    mcapi_endpoint_t own, unnamed, another;
    mcapi_node_t next = (self + 1) % RING;
    mcapi_endpoint_get_i(DOMAIN, next, next, &another, &request, &status);
    if (status != MCAPI_SUCCESS || !makes(self, &own) || !ends_well(request)) {
        return "a node finds what another makes";
    }
    if (!SAYS(MCAPI_ERR_ENDP_EXISTS, mcapi_endpoint_create(self, &status)) ||
        !makes(MCAPI_PORT_ANY, &unnamed) ||
        !SAYS(MCAPI_SUCCESS, mcapi_endpoint_delete(unnamed, &status))) {
        return "a port has one endpoint";
    }
    mcapi_endpoint_t none;
    if (!wrong_ports_and_nodes_say_so(next, &none) || !attributes_say_so(own, another)) {
        return "what cannot be says so";
    }
    const char *broken = is_got_and_released(self, own, another);
    if (broken) {
        return broken;
    }
    bool deleted = SAYS(MCAPI_ERR_ENDP_NOTOWNER, mcapi_endpoint_delete(another, &status));
    meet();
    deleted = deleted && SAYS(MCAPI_SUCCESS, mcapi_endpoint_delete(own, &status)) &&
              SAYS(MCAPI_ERR_ENDP_INVALID, mcapi_endpoint_delete(own, &status)) &&
              SAYS(MCAPI_ERR_ENDP_INVALID, mcapi_endpoint_release(own, &status));
    return deleted ? NULL : "its owner deletes an endpoint, once";
}

static const char *
endpoints_are_found(void)
{
    return nodes_exchange(RING, gets_the_next);
}

/* ---- Requests -------------------------------------------------------------------------------- */

#define RECEIVER 0
#define SENDER 1
#define PORT 5
#define ASKED 3u

static mcapi_request_t asked[ASKED]; /* by the receiver; the others know them since they met */

static bool
is_not_over(mcapi_request_t request, mcapi_status_t expected)
{
    mcapi_status_t status;
    size_t size;
    return !mcapi_test(&request, &size, &status) && status == expected;
}

static bool
wrong_requests_say_so(void)
{
    mcapi_status_t status;
    mcapi_request_t none = 0;
    mcapi_request_t *list[] = {&none, NULL};
    size_t size;
    return is_not_over(none, MCAPI_ERR_REQUEST_INVALID) &&
           SAYS(MCAPI_ERR_PARAMETER, mcapi_test(NULL, &size, &status)) &&
           SAYS(MCAPI_ERR_REQUEST_INVALID, mcapi_wait(&none, &size, 0, &status)) &&
           SAYS(MCAPI_ERR_PARAMETER, mcapi_wait(&none, NULL, 0, &status)) &&
           SAYS(MCAPI_ERR_REQUEST_INVALID, mcapi_cancel(&none, &status)) &&
           SAYS(MCAPI_ERR_PARAMETER, mcapi_cancel(NULL, &status)) &&
           SAYS(MCAPI_ERR_PARAMETER, mcapi_wait_any(0, list, &size, 0, &status)) &&
           SAYS(MCAPI_ERR_PARAMETER, mcapi_wait_any(2, list, &size, 0, &status));
}

/* The hart that did not make them. */
static const char *
cancels_the_second(mcapi_node_t self)
{
    mcapi_status_t status;
    mcapi_endpoint_t from, to;
    (void)self;
    if (!makes(PORT, &from) || !finds(RECEIVER, PORT, &to)) {
        return "the sender finds the receiver";
    }
    meet();
    if (!is_not_over(asked[0], MCAPI_PENDING) ||
        !SAYS(MCAPI_SUCCESS, mcapi_cancel(&asked[1], &status)) ||
        !SAYS(MCAPI_ERR_REQUEST_CANCELLED, mcapi_cancel(&asked[1], &status)) ||
        !is_not_over(asked[1], MCAPI_ERR_REQUEST_CANCELLED)) {
        return "another hart cancels a request, once";
    }
    for (uint32_t number = 1; number <= ASKED; number++) {
        mcapi_request_t request;
        mcapi_msg_send_i(from, to, &number, sizeof number, 0, &request, &status);
        if (status != MCAPI_SUCCESS || !ends_well(request)) {
            return "messages are sent";
        }
        if (number == 1) {
            meet(); /* it has come */
        }
    }
    meet();
    return NULL;
}

static bool
comes_first(mcapi_request_t *list[], size_t count, size_t wanted)
{
    mcapi_status_t status;
    size_t size = 0;
    unsigned which = mcapi_wait_any(count, list, &size, LONG_US, &status);
    return which == wanted && status == MCAPI_SUCCESS && size == sizeof(uint32_t);
}

static bool
own_are_canceled(mcapi_endpoint_t at)
{
    mcapi_status_t status;
    mcapi_request_t request;
    uint32_t number = 0;
    size_t size;
    mcapi_msg_recv_i(at, &number, sizeof number, &request, &status);
    if (status != MCAPI_SUCCESS ||
        !SAYS(MCAPI_TIMEOUT, mcapi_wait(&request, &size, 500, &status)) ||
        !SAYS(MCAPI_SUCCESS, mcapi_cancel(&request, &status)) ||
        !is_not_over(request, MCAPI_ERR_REQUEST_CANCELLED)) {
        return false;
    }
    /* Too late for one that has ended. */
    mcapi_msg_send_i(at, at, &number, sizeof number, 0, &request, &status);
    return status == MCAPI_SUCCESS &&
           SAYS(MCAPI_ERR_REQUEST_INVALID, mcapi_cancel(&request, &status)) && ends_well(request) &&
           SAYS(MCAPI_SUCCESS, mcapi_msg_recv(at, &number, sizeof number, &size, &status));
}

static const char *
waits_for_the_others(mcapi_node_t self)
{
    mcapi_status_t status;
    mcapi_endpoint_t at;
    uint32_t numbers[ASKED] = {0}, last = 0;
    size_t size;
    (void)self;
    if (!makes(PORT, &at) || !own_are_canceled(at)) {
        return "a node cancels its own";
    }
    for (uint32_t i = 0; i < ASKED; i++) {
        mcapi_msg_recv_i(at, &numbers[i], sizeof numbers[i], &asked[i], &status);
        if (status != MCAPI_SUCCESS) {
            return "a node asks for messages";
        }
    }
    meet();
    mcapi_request_t *list[] = {&asked[2], &asked[0]};
    bool first = comes_first(list, 2, 1);
    meet();
    if (!first || !comes_first(list, 1, 0)) {
        return "of several the one that has ended is told";
    }
    if (!SAYS(MCAPI_ERR_REQUEST_CANCELLED, mcapi_wait(&asked[1], &size, LONG_US, &status))) {
        return "its maker is told that another canceled it";
    }
    meet();
    mcapi_msg_recv(at, &last, sizeof last, &size, &status);
    if (numbers[0] != 1 || numbers[1] != 0 || numbers[2] != 2 || last != 3) {
        return "what the canceled one would have had goes to the next";
    }
    return wrong_requests_say_so() ? NULL : "what is no request says so";
}

static const char *
asks_or_cancels(mcapi_node_t self)
{
    return self == RECEIVER ? waits_for_the_others(self) : cancels_the_second(self);
}

static const char *
requests_are_any_harts(void)
{
    return nodes_exchange(2, asks_or_cancels);
}

/* ---- Messages -------------------------------------------------------------------------------- */

#define BATCH 7u

static bool
wrong_messages_say_so(mcapi_endpoint_t own, mcapi_endpoint_t another)
{
    mcapi_status_t status;
    mcapi_request_t request;
    uint32_t number = 0;
    size_t size;
    return SAYS(MCAPI_ERR_ENDP_INVALID, mcapi_msg_send(another, own, &number, 4, 0, &status)) &&
           SAYS(MCAPI_ERR_PRIORITY,
                mcapi_msg_send(own, another, &number, 4, MCAPI_MIN_PRIORITY + 1, &status)) &&
           SAYS(MCAPI_ERR_MSG_SIZE,
                mcapi_msg_send_i(own, another, &number, MCAPI_MAX_MESSAGE_SIZE + 1, 0, &request,
                                 &status)) &&
           SAYS(MCAPI_ERR_PARAMETER, mcapi_msg_send(own, another, NULL, 4, 0, &status)) &&
           SAYS(MCAPI_ERR_ENDP_INVALID,
                mcapi_msg_recv_i(another, &number, sizeof number, &request, &status)) &&
           SAYS(MCAPI_ERR_ENDP_INVALID,
                mcapi_msg_recv(another, &number, sizeof number, &size, &status)) &&
           SAYS(MCAPI_ERR_ENDP_INVALID, mcapi_msg_available(another, &status)) &&
           SAYS(MCAPI_ERR_ENDP_INVALID,
                medley_mcapi_msg_send_many(own, 0, &number, 4, 1, 0, &status)) &&
           SAYS(MCAPI_ERR_PARAMETER, medley_mcapi_msg_recv_many(own, NULL, 4, 1, &size, &status));
}

static const char *
sends_many(mcapi_node_t self)
{
    static uint32_t numbers[COUNT];
    mcapi_status_t status;
    mcapi_endpoint_t from, to;
    (void)self;
    if (!makes(PORT, &from) || !finds(RECEIVER, PORT, &to)) {
        return "the sender finds the receiver";
    }
    if (!wrong_messages_say_so(from, to)) {
        return "a wrong message says so";
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        numbers[i] = i;
    }
    if (medley_mcapi_msg_send_many(from, to, numbers, sizeof numbers[0], COUNT, 1, &status) !=
            COUNT ||
        status != MCAPI_SUCCESS) {
        return "many are sent, though the receiver has not room for all";
    }
    return SAYS(MCAPI_SUCCESS, mcapi_msg_send(from, to, numbers, 24, 1, &status)) ? NULL
                                                                                  : "and one more";
}

static const char *
receives_many(mcapi_node_t self)
{
    mcapi_status_t status;
    mcapi_endpoint_t at;
    uint32_t batch[BATCH];
    size_t sizes[BATCH];
    (void)self;
    if (!makes(PORT, &at)) {
        return "an endpoint is made";
    }
    for (uint32_t next = 0; next < COUNT;) {
        uint32_t most = COUNT - next < BATCH ? COUNT - next : BATCH;
        uint32_t got = medley_mcapi_msg_recv_many(at, batch, sizeof batch[0], most, sizes, &status);
        if (status != MCAPI_SUCCESS || got == 0) {
            return "those are received that are there";
        }
        for (uint32_t i = 0; i < got; i++) {
            if (batch[i] != next++ || sizes[i] != sizeof batch[i]) {
                return "in order, once and whole";
            }
        }
    }
    mcapi_msg_recv(at, batch, sizeof batch[0], sizes, &status);
    return status == MCAPI_ERR_MSG_TRUNCATED && sizes[0] == sizeof batch[0]
               ? NULL
               : "who has no room for all of one is told";
}

static const char *
sends_or_receives_many(mcapi_node_t self)
{
    return self == RECEIVER ? receives_many(self) : sends_many(self);
}

static const char *
messages_go_many_at_once(void)
{
    return nodes_exchange(2, sends_or_receives_many);
}

const med_port_check mcapi_checks[] = {
    {"nodes come and go", nodes_come_and_go},
    {"endpoints are found", endpoints_are_found},
    {"requests are any hart's", requests_are_any_harts},
    {"messages go many at once", messages_go_many_at_once},
};
const uint32_t mcapi_check_count = sizeof mcapi_checks / sizeof mcapi_checks[0];
