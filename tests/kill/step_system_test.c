/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Killed while it comes into a system or leaves it, as a process or as a node. */
#include <mcapi.h>
#include <stdio.h>
#include <stdlib.h>

#include "kill/scenario.h"
#include "mcapi/endpoint.h"
#include "mcapi/view.h"
#include "medley/medley.h"
#include "mrapi/image.h"
#include "support/expected.h"
#include "support/system.h"

static void
op_close(void)
{
    (void)medley_system_close();
}

/* ---- A node that is expected comes and goes -------------------------------------------------- */

static void
ensure(bool good, const char *what)
{
    must(good ? MRAPI_SUCCESS : MRAPI_ERR_NODE_FINALFAILED, what);
}

static void
child_is_expected(void)
{
    ensure(med_node_expect(med_self_get()->system, DOMAIN, CHILD) == MEDLEY_OK, "expect");
}

static void
child_up_expected(void)
{
    med_system *system;
    child_attached();
    ensure(med_system_attach_default(&system) == MEDLEY_OK, "attach");
    ensure(med_node_expect(system, DOMAIN, CHILD) == MEDLEY_OK, "expect");
    child_up();
    med_system_release(system);
}

static medley_status_t
nothing(void *context)
{
    (void)context;
    return MEDLEY_OK;
}

/* In a table as the dead child left it: is a row there that is kept, or keeps a place? */
static bool
was_there(const med_table_view *view, bool (*is)(const med_row *row))
{
    for (uint32_t i = 0; i < view->row_count; i++) {
        const med_row *row = med_table_row(view, i);
        if (med_row_state_of(atomic32_load_acquire(&row->state)) == MED_ROW_LIVE && is(row)) {
            return true;
        }
    }
    return false;
}

/* Who dies while he replaces one row by another may leave neither; he has the table locked then. */
static bool
may_be_lost(const med_table_view *view, bool (*is)(const med_row *row))
{
    bool locked = med_lock_owner(&view->table->lock) != 0;
    bool there = was_there(view, is);
    ensure(med_table_hold(view, nothing, NULL) == MEDLEY_OK, "mend the table");
    (void)med_process_recover_all(med_self_get()->system);
    return locked && !there;
}

static bool
is_the_child(const med_row *row)
{
    return atomic32_load_relaxed(&row->key_high) == DOMAIN &&
           atomic32_load_relaxed(&row->key_low) == CHILD;
}

static bool
is_any(const med_row *row)
{
    return row != NULL;
}

/* The child is dead: another may come, and only one. Then the place is kept again. */
static void
another_may_come(void)
{
    const med_node_request request = {.domain = DOMAIN, .node = CHILD};
    med_system *system = med_self_get()->system;
    med_self *come;
    bool may_be = may_be_lost(&system->nodes, is_the_child);
    bool is_kept = expect_no_more(system, DOMAIN, CHILD);
    ensure(is_kept || may_be, "its place is kept");
    ensure(!is_kept || med_node_expect(system, DOMAIN, CHILD) == MEDLEY_OK, "expect again");
    ensure(med_node_register(system, &request, &come) == MEDLEY_OK, "come");
    med_node_recover(system, come->index, come->generation);
    med_system_release(system);
    ensure(expect_no_more(system, DOMAIN, CHILD) == is_kept, "it is expected again");
}

/* ---- An endpoint that is expected comes and goes --------------------------------------------- */

#define PORT 9

static void
endpoint_expect(void)
{
    const med_self *self = med_self_get();
    ensure(med_endpoint_expect(self->system, DOMAIN, CHILD, PORT) == MEDLEY_OK, "expect");
}

static void
child_exchanges(void)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, CHILD, NULL, NULL, &info, &status);
    ensure(status == MCAPI_SUCCESS, "exchange");
}

static mcapi_endpoint_t made;

static void
op_endpoint(void)
{
    mcapi_status_t status;
    made = mcapi_endpoint_create(PORT, &status);
    ensure(status == MCAPI_SUCCESS, "create an endpoint");
}

static void
child_has_expected(void)
{
    child_exchanges();
    endpoint_expect();
    op_endpoint();
}

static void
op_endpoint_delete(void)
{
    mcapi_status_t status;
    mcapi_endpoint_delete(made, &status);
    ensure(status == MCAPI_SUCCESS, "delete an endpoint");
}

/* The child is dead, and what it made gone with it: the place is kept. */
static void
endpoint_is_expected(void)
{
    const med_system *system = med_self_get()->system;
    uint32_t kept = 0;
    bool may_be = may_be_lost(&system->endpoints, is_any);
    for (uint32_t i = 0; i < system->endpoints.row_count; i++) {
        med_view_endpoint endpoint;
        if (med_view_endpoint_read(system, i, &endpoint)) {
            ensure(endpoint.expected && endpoint.name.node == CHILD && endpoint.name.port == PORT,
                   "only what was expected is there");
            uint32_t word = atomic32_load_acquire(&med_endpoint_at(system, i)->row.state);
            ensure(med_table_remove(&system->endpoints, i, med_row_generation_of(word)) ==
                       MEDLEY_OK,
                   "expect no more");
            kept++;
        }
    }
    ensure(kept <= 1 && atomic32_load_relaxed(&system->endpoints.table->used) == 0, "no other");
    ensure(kept == 1 || may_be, "its place is kept");
}

/* ---- A system is made of an image ------------------------------------------------------------ */

/* Read before the first step: to read it changes nothing that others see, and takes a tenth of all
 * instructions. */
static med_image image;

static void
image_read(void)
{
    static const char text[] = "medley-system: 1\ndomains:\n  - number: 1\n"
                               "nodes:\n  - number: 2\n    domain: 1\n"
                               "endpoints:\n  - port: 1\n    node: 2\n    domain: 1\n"
                               "shmems:\n  - number: 1\n    domain: 1\n    size: 64\n";
    static unsigned list[MED_IMAGE_LIST_ROOM];
    ensure(med_image_open_text("a text", text, sizeof text - 1, list, &image) == MEDLEY_OK,
           "read the image");
}

static void
op_attach_image(void)
{
    ensure(med_system_open_image(test_system_name(), &image) == MEDLEY_OK, "open by image");
    child_up();
}

static const scenario scenarios[] = {
    {.name = "attach_first", .operation = {.operate = child_up}, .alone = true},
    {.name = "attach_second", .operation = {.operate = child_up}},
    {.name = "detach_last",
     .operation = {.prepare = child_up, .operate = node_down},
     .alone = true},
    {.name = "detach", .operation = {.prepare = child_up, .operate = node_down}},
    {.name = "open", .operation = {.operate = child_attached}},
    {.name = "close", .operation = {.prepare = child_attached, .operate = op_close}},
    {.name = "register", .operation = {.prepare = child_attached, .operate = child_up}},
    {.name = "register_expected",
     .operation = {.prepare = child_attached, .operate = child_up},
     .before = child_is_expected,
     .after = another_may_come},
    {.name = "endpoint_expected",
     .operation = {.prepare = child_exchanges, .operate = op_endpoint},
     .before = endpoint_expect,
     .after = endpoint_is_expected},
    {.name = "endpoint_goes_expected",
     .operation = {.prepare = child_has_expected, .operate = op_endpoint_delete},
     .after = endpoint_is_expected},
    {.name = "attach_image",
     .operation = {.prepare = image_read, .operate = op_attach_image},
     .alone = true},
    {.name = "leave_expected",
     .operation = {.prepare = child_up_expected, .operate = node_down},
     .after = another_may_come},
    {.name = "leave", .operation = {.prepare = child_attached_up, .operate = node_down}},
    {.name = "finalize_holding",
     .operation = {.prepare = child_locks_all, .operate = node_down},
     .holds_all = true},
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "system", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
