/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Coming and going, with notes of who is present, and of who has what and may have died with it. */
#include "mrapi_actor.h"

#include <string.h>

#include "mrapi.h"
#include "mrapi/process.h"
#include "mrapi/system.h"
#include "port/port.h"

#define DOMAIN 1u

void
mrapi_begin(const sim_actor *director)
{
    (void)director;
}

const sim_variable mrapi_environment[] = {MRAPI_VARIABLES};

static bool
somebody_is_present(const mrapi_notes *n)
{
    for (uint32_t i = 0; i < MRAPI_ACTORS; i++) {
        if ((n->present >> i & 1) && !sim_is_dead(i)) {
            return true;
        }
    }
    return false;
}

/* Again, when another was too long at opening or closing the system, or all rows were taken. */
void
mrapi_node_come(const sim_actor *actor)
{
    mrapi_info_t info;
    mrapi_parameters_t parameters = {0};
    mrapi_status_t status;
    for (;;) {
        mrapi_initialize(DOMAIN, actor->index + 1, parameters, &info, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_NODE_INITFAILED);
        if (status == MRAPI_SUCCESS) {
            return;
        }
        med_port_yield();
    }
}

/* Nobody has taken this process for dead. */
void
mrapi_node_go(void)
{
    const med_system *system = med_self_get()->system;
    mrapi_status_t status;
    SIM_CHECK(med_process_alive(system, system->process_ref));
    mrapi_finalize(&status);
    SIM_CHECK(status == MRAPI_SUCCESS);
}

void
mrapi_come(const sim_actor *actor)
{
    mrapi_node_come(actor);
    mrapi_notes *n = actor->notes;
    if (!somebody_is_present(n)) {
        memset(n->told, 0, sizeof n->told);
    }
    n->present |= 1u << actor->index;
}

void
mrapi_go(const sim_actor *actor)
{
    ((mrapi_notes *)actor->notes)->present &= ~(1u << actor->index);
    mrapi_node_go();
}

bool
mrapi_take_note(const sim_actor *actor, uint32_t *holder)
{
    bool died = *holder != 0;
    SIM_CHECK(!died || sim_is_dead(*holder - 1));
    *holder = actor->index + 1;
    return died;
}
