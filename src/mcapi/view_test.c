/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pool as it looks from outside: not there yet, in use, and written over. */
#include "mcapi/view.h"

#include <mcapi.h>
#include <mrapi.h>
#include <string.h>

#include "mcapi/exchange.h"
#include "mrapi/shmem.h"
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "support/process.h"
#include "support/request_end.h"
#include "support/system.h"
#include "support/unit.h"

#define DOMAIN 3
#define NODE 5
#define PACKETS 3

static test_process child;

/* A node of MRAPI; when told so, of MCAPI, with a channel in which packets lie. */
static int
sends_when_told(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_info_t info;
    mcapi_status_t result;
    mcapi_info_t mcapi_info;
    mcapi_request_t request;
    mcapi_pktchan_send_hndl_t sender;
    unsigned char packet[24] = "";
    (void)argument;
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    process_say(parent, 'r');
    child_expect(process_hear(parent) == 's');
    mcapi_initialize(DOMAIN, NODE, NULL, NULL, &mcapi_info, &result);
    mcapi_endpoint_t from = mcapi_endpoint_create(1, &result);
    mcapi_endpoint_t to = mcapi_endpoint_create(2, &result);
    child_expect(result == MCAPI_SUCCESS);
    mcapi_pktchan_connect_i(from, to, &request, &result);
    child_expect(ends_well(request));
    mcapi_pktchan_send_open_i(&sender, from, &request, &result);
    child_expect(ends_well(request));
    for (int i = 0; i < PACKETS; i++) {
        mcapi_pktchan_send(sender, packet, sizeof packet, &result);
        child_expect(result == MCAPI_SUCCESS);
    }
    process_say(parent, 'r');
    (void)process_hear(parent);
    return 0;
}

static int
child_start(void **state)
{
    (void)state;
    process_start(&child, sends_when_told, NULL);
    return process_hear(&child) == 'r' ? 0 : -1;
}

static int
child_end(void **state)
{
    char why[MED_PORT_WHY_BYTES];
    (void)state;
    process_kill(&child);
    (void)process_join(&child);
    (void)med_system_remove(test_system_name(), MED_PORT_FOREVER, why);
    return 0;
}

static void
let_it_send(void)
{
    process_say(&child, 's');
    assert_int_equal(process_hear(&child), 'r');
}

static void
observe(med_system *system)
{
    assert_int_equal(med_system_observe(test_system_name(), MED_PORT_FOREVER, system), MEDLEY_OK);
}

static void
there_is_no_pool_yet(void **state)
{
    med_system system;
    med_view_buffers buffers;
    (void)state;
    observe(&system);
    assert_false(med_view_buffers_read(&system, &buffers));
    med_system_observe_end(&system);
}

/* What somebody has, or is under way, is in use; the rest of what a node took it keeps. */
static void
buffers_are_counted(void **state)
{
    med_system system;
    med_view_buffers buffers;
    (void)state;
    let_it_send();
    observe(&system);
    assert_true(med_view_buffers_read(&system, &buffers));
    assert_int_equal(buffers.count, system.limits.buffers);
    assert_int_equal(buffers.bytes, system.limits.buffer_bytes);
    assert_int_equal(buffers.in_use, PACKETS);
    assert_true(buffers.kept < buffers.count - PACKETS);
    med_system_observe_end(&system);
}

/* The shared memory of the exchange, as any process of this user could map it. */
static void *
exchange_map(const med_system *system, med_port_segment *segment)
{
    for (uint32_t i = 0; i < system->shmems.row_count; i++) {
        const med_shmem_row *row = (const med_shmem_row *)(void *)med_table_row(&system->shmems, i);
        uint32_t file = atomic32_load_relaxed(&row->file);
        if (atomic32_load_relaxed(&row->row.key_low) == MED_EXCHANGE_MEMORY_NUMBER &&
            med_shmem_map_again(system, file, segment) == MEDLEY_OK) {
            return segment->address;
        }
    }
    return NULL;
}

/* Whatever somebody scribbles there: none, or no more than there can be. */
static void
scribbles_do_not_disturb(void **state)
{
    med_system system;
    med_view_buffers buffers;
    med_port_segment segment;
    (void)state;
    let_it_send();
    observe(&system);
    unsigned char *memory = exchange_map(&system, &segment);
    assert_non_null(memory);
    for (int value = 0; value < 256; value += 85) {
        /* From behind the pool's constants on; then all of it. */
        memset(memory + sizeof(med_exchange_head) + 256, value, 4096);
        if (med_view_buffers_read(&system, &buffers)) {
            assert_true((uint64_t)buffers.in_use + buffers.kept <= buffers.count);
        }
    }
    memset(memory + sizeof(med_exchange_head), 0xff, 256);
    assert_false(med_view_buffers_read(&system, &buffers));
    memset(memory, 0, sizeof(med_exchange_head)); /* nor is it ready */
    assert_false(med_view_buffers_read(&system, &buffers));
    med_port_segment_unmap(segment.address, segment.size_bytes, segment.place);
    med_system_observe_end(&system);
}

#define ON_CHILD(test) cmocka_unit_test_setup_teardown(test, child_start, child_end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CHILD(there_is_no_pool_yet),
        ON_CHILD(buffers_are_counted),
        ON_CHILD(scribbles_do_not_disturb),
    };
    test_system_prepare();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
