/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread's second pointer: of the core that it has to itself. */
#include "port/bare/bare.h"
#include "port/port.h"

static void *members[MED_BARE_CORES_MAX];
static void (*exit_handler)(void *member);

void *
med_bare_member(void)
{
    return members[med_bare_core()];
}

void
med_port_member_set(void *member)
{
    members[med_bare_core()] = member;
}

medley_status_t
med_port_member_on_exit(void (*on_exit)(void *member))
{
    exit_handler = on_exit;
    return MEDLEY_OK;
}

void
med_bare_member_ends(void)
{
    void *member = med_bare_member();
    if (member && exit_handler) {
        exit_handler(member);
    }
    med_port_member_set(NULL);
}
