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
#include "mrapi/system.h"
#include "support/system.h"

static void
op_close(void)
{
    (void)medley_system_close();
}

/* ---- A node comes that is expected ----------------------------------------------------------- */

static const med_node_request the_child = {.domain = DOMAIN, .node = CHILD, .expected = true};

static void
ensure(bool good, const char *what)
{
    must(good ? MRAPI_SUCCESS : MRAPI_ERR_NODE_FINALFAILED, what);
}

static void
child_is_expected(void)
{
    med_self *ignored;
    ensure(med_node_place(med_self_get()->system, &the_child, &ignored) == MEDLEY_OK, "expect");
}

/* Whether its place was still kept, or it had come: another may come, and only one. */
static void
another_may_come(void)
{
    med_self *come;
    med_node_request request = the_child;
    request.expected = false;
    ensure(med_node_register(med_self_get()->system, &request, &come) == MEDLEY_OK, "come");
    med_node_recover(come->system, come->index, come->generation);
    med_system_release(come->system);
}

/* ---- An endpoint comes that is expected ------------------------------------------------------ */

#define PORT 9

static void
endpoint_is_expected(void)
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

static void
op_endpoint(void)
{
    mcapi_status_t status;
    (void)mcapi_endpoint_create(PORT, &status);
    ensure(status == MCAPI_SUCCESS, "create an endpoint");
}

static medley_status_t
nothing(void *context)
{
    (void)context;
    return MEDLEY_OK;
}

/* Killed at once the place is kept, behind the end it is not, and between there is one instruction
 * from which on it is not: give or take some, since they are counted from system calls. */
#define SOME 64

static void
ensure_kept_until_it_comes(bool is_kept)
{
    static uint32_t least_gone = UINT32_MAX;
    uint32_t steps = step_kill_steps();
    bool was_kept_longer = is_kept && steps > least_gone && steps - least_gone > SOME;
    ensure((is_kept || steps > 0) && !was_kept_longer, "its place is kept until it comes");
    least_gone = !is_kept && steps < least_gone ? steps : least_gone;
}

/* The child is dead: its place is kept, or what came in it went with the child. */
static void
endpoint_is_expected_or_gone(void)
{
    const med_system *system = med_self_get()->system;
    uint32_t kept = 0;
    (void)med_process_recover_all(med_self_get()->system);
    ensure(med_table_hold(&system->endpoints, nothing, NULL) == MEDLEY_OK, "mend the table");
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
    ensure_kept_until_it_comes(kept == 1);
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
     .before = endpoint_is_expected,
     .after = endpoint_is_expected_or_gone},
    {.name = "attach_image",
     .operation = {.prepare = image_read, .operate = op_attach_image},
     .alone = true},
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
