/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `medley ps` reads of MCAPI, in a system that is written over: copies of the tables of one in
 * which a lane of each kind is, and an expected endpoint, each in memory that ends with a guard. It
 * reads no others, and whom it names is there. */
#include <mcapi.h>

#include "fuzz.h"
#include "mcapi/endpoint.h"
#include "mcapi/view.h"
#include "medley/mcapi_ext.h"
#include "medley/medley.h"
#include "mrapi/image.h"
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "rows.h"
#include "small.h"

#define DOMAIN 1
#define ROUNDS 16
#define WAIT_US 1000000u

/* ---- A sound one ----------------------------------------------------------------------------- */

static void
expect(bool good)
{
    if (!good) {
        abort();
    }
}

static mcapi_endpoint_t
endpoint_make(mcapi_port_t port, mcapi_uint_t type)
{
    mcapi_status_t status;
    mcapi_endpoint_t endpoint = mcapi_endpoint_create(port, &status);
    expect(status == MCAPI_SUCCESS);
    mcapi_endpoint_set_attribute(endpoint, MCAPI_ENDP_ATTR_BUFFER_TYPE, &type, sizeof type,
                                 &status);
    expect(status == MCAPI_SUCCESS);
    return endpoint;
}

static void
await(mcapi_request_t request)
{
    mcapi_status_t status;
    size_t size;
    expect(mcapi_wait(&request, &size, WAIT_US, &status));
}

/* One packet, or state, is under way. */
static void
packets_make(mcapi_port_t port, mcapi_uint_t type)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender, receiver;
    mcapi_endpoint_t from = endpoint_make(port, type), to = endpoint_make(port + 1, type);
    mcapi_pktchan_connect_i(from, to, &request, &status);
    await(request);
    mcapi_pktchan_send_open_i(&sender, from, &request, &status);
    await(request);
    mcapi_pktchan_recv_open_i(&receiver, to, &request, &status);
    await(request);
    mcapi_pktchan_send(sender, "packet", 6, &status);
    expect(status == MCAPI_SUCCESS);
}

/* Its receiver is not open. */
static void
scalars_make(mcapi_port_t port)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender;
    mcapi_endpoint_t from = endpoint_make(port, MCAPI_ENDP_ATTR_FIFO_BUFFER);
    mcapi_endpoint_t to = endpoint_make(port + 1, MCAPI_ENDP_ATTR_FIFO_BUFFER);
    mcapi_sclchan_connect_i(from, to, &request, &status);
    await(request);
    mcapi_sclchan_send_open_i(&sender, from, &request, &status);
    expect(status == MCAPI_SUCCESS || status == MCAPI_PENDING);
}

static void
messages_make(mcapi_port_t port)
{
    mcapi_status_t status;
    mcapi_endpoint_t from = endpoint_make(port, MCAPI_ENDP_ATTR_FIFO_BUFFER);
    mcapi_endpoint_t to = endpoint_make(port + 1, MCAPI_ENDP_ATTR_FIFO_BUFFER);
    mcapi_msg_send(from, to, "message", 7, 2, &status);
    expect(status == MCAPI_SUCCESS);
}

static void
topic_make(mcapi_port_t port)
{
    mcapi_status_t status;
    unsigned receiver;
    mcapi_endpoint_t topic = endpoint_make(port, MCAPI_ENDP_ATTR_FIFO_BUFFER);
    mcapi_endpoint_t to = endpoint_make(port + 1, MCAPI_ENDP_ATTR_FIFO_BUFFER);
    medley_mcapi_topic_subscribe(topic, to, &receiver, &status);
    expect(status == MCAPI_SUCCESS);
    (void)medley_mcapi_topic_publish(topic, "topic", 5, &status);
    expect(status == MCAPI_SUCCESS);
}

static const med_system *
begin(void)
{
    mcapi_status_t status;
    mcapi_info_t info;
    small_limits_set();
    (void)setenv("MEDLEY_MAX_ENDPOINTS", "12", 1);
    (void)setenv("MEDLEY_MAX_LANES", "6", 1);
    expect(medley_system_open(NULL) == MEDLEY_OK);
    mcapi_initialize(DOMAIN, 1, NULL, NULL, &info, &status);
    expect(status == MCAPI_SUCCESS);
    messages_make(0);
    packets_make(2, MCAPI_ENDP_ATTR_FIFO_BUFFER);
    packets_make(4, MCAPI_ENDP_ATTR_STATE_BUFFER);
    scalars_make(6);
    topic_make(8);
    expect(med_endpoint_expect(med_self_get()->system, DOMAIN, 2, 10) == MEDLEY_OK);
    return med_self_get()->system;
}

/* ---- The look -------------------------------------------------------------------------------- */

static uint32_t
word(const atomic32 *a)
{
    return atomic32_load_relaxed(a); /* relaxed: there is no other thread */
}

/* The owner that an end names is the node of that name that its endpoint's row means: not one that
 * has the node's row since. */
static void
end_check(const med_system *system, uint32_t index, const med_view_end *end)
{
    if (!end->owner_known) {
        return;
    }
    uint32_t owner = word(&med_endpoint_at(system, index)->row.key_high);
    uint32_t ref, domain, number;
    expect(med_view_node_name(system, med_node_ref_index(owner), &ref, &domain, &number));
    expect(ref == owner && domain == end->domain && number == end->node);
}

/* How many lanes there are. */
static uint32_t
look(const med_system *system)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < system->limits.endpoints; i++) {
        med_view_endpoint endpoint;
        if (med_view_endpoint_read(system, i, &endpoint) && !endpoint.expected) {
            end_check(system, i, &endpoint.name);
        }
    }
    for (uint32_t i = 0; i < system->limits.lanes; i++) {
        med_view_lane lane;
        if (med_view_lane_read(system, i, &lane)) {
            const med_row *row = &med_lane_at(system, i)->row;
            end_check(system, med_handle_index(word(&row->key_low)),
                      &lane.side[MED_LANE_PRODUCER].name);
            end_check(system, med_handle_index(word(&row->key_high)),
                      &lane.side[MED_LANE_CONSUMER].name);
            expect(lane.kind <= MED_LANE_STATES);
            expect(lane.depth <= lane.side[MED_LANE_PRODUCER].count);
            lanes++;
        }
    }
    return lanes;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static const med_kind kinds[] = {MED_KIND_NODE, MED_KIND_ENDPOINT, MED_KIND_LANE};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* As who looks from outside sees it, but no table that the look has no business with. */
static med_system
copied(const med_system *system)
{
    med_system seen = *system;
    seen.observed = true;
    seen.header = NULL;
    seen.processes = NULL;
    memset(seen.tables, 0, sizeof seen.tables);
    for (size_t i = 0; i < KINDS; i++) {
        const med_table_view *table = &system->tables[kinds[i]];
        size_t size_bytes = med_table_size(table->row_count, table->row_bytes);
        void *memory = fuzz_memory(size_bytes);
        memcpy(memory, table->table, size_bytes);
        med_table_view_init(&seen.tables[kinds[i]], memory, table->row_count, table->row_bytes);
    }
    return seen;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const med_system *system;
    fuzz_input input = {.bytes = bytes, .left = size};
    system = system ? system : begin();
    med_system seen = copied(system);
    expect(look(&seen) == 5);
    for (int i = 0; i < ROUNDS && input.left; i++) {
        rows_scribble(&input, &seen.tables[kinds[fuzz_below(&input, KINDS)]]);
        (void)look(&seen);
    }
    for (size_t i = 0; i < KINDS; i++) {
        free(seen.tables[kinds[i]].table);
    }
    return 0;
}
