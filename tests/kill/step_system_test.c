/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Killed while it comes into a system or leaves it, as a process or as a node. */
#include "kill/scenario.h"
#include "medley/medley.h"

static void
op_close(void)
{
    (void)medley_system_close();
}

static const scenario scenarios[] = {
    {.name = "attach_first", .operation = {NULL, child_up}, .alone = true},
    {.name = "attach_second", .operation = {NULL, child_up}},
    {.name = "detach_last", .operation = {child_up, node_down}, .alone = true},
    {.name = "detach", .operation = {child_up, node_down}},
    {.name = "open", .operation = {NULL, child_attached}},
    {.name = "close", .operation = {child_attached, op_close}},
    {.name = "register", .operation = {child_attached, child_up}},
    {.name = "leave", .operation = {child_attached_up, node_down}},
    {.name = "finalize_holding", .operation = {child_locks_all, node_down}, .holds_all = true},
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "system", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
