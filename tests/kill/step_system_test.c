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
    {.name = "attach_first", .operation = {.operate = child_up}, .alone = true},
    {.name = "attach_second", .operation = {.operate = child_up}},
    {.name = "detach_last",
     .operation = {.prepare = child_up, .operate = node_down},
     .alone = true},
    {.name = "detach", .operation = {.prepare = child_up, .operate = node_down}},
    {.name = "open", .operation = {.operate = child_attached}},
    {.name = "close", .operation = {.prepare = child_attached, .operate = op_close}},
    {.name = "register", .operation = {.prepare = child_attached, .operate = child_up}},
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
