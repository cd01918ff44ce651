/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who is dead or stopped is named at once, who is neither only after a tenth of a second. */
#include "tools/medley/stuck.h"

#include <string.h>

#include "mrapi/view.h"
#include "tools/medley/output.h"
#include "tools/medley/surroundings.h"

#define STUCK_NS UINT64_C(100000000)

static const char *
state_of(const med_view_holder *holder)
{
    if (holder->life == MED_VIEW_DEAD || holder->life == MED_VIEW_RECOVERING) {
        return "dead";
    }
    return surroundings_process_stopped(holder->process_id) ? "stopped" : "alive";
}

/* Who lives and is not stopped is at work, unless he is long at it. */
static void
add_unless_at_work(json_t *rows, const char *in, const med_view_holder *holder)
{
    const char *state = state_of(holder);
    if (strcmp(state, "alive") == 0 && holder->held_ns < STUCK_NS) {
        return;
    }
    json_t *node =
        holder->node_known ? output_node_json(holder->domain, holder->number) : json_null();
    (void)json_array_append_new(
        rows,
        json_pack("{s:s, s:o, s:o, s:o, s:s, s:o}", "in", in, "process_id",
                  output_number(holder->process_id != 0, holder->process_id), "thread_id",
                  output_number(holder->thread_id != 0, holder->thread_id), "node", node, "state",
                  state, "held_ns", output_number(holder->held_ns != 0, holder->held_ns)));
}

static void
section_add(const med_system *system, json_t *rows)
{
    uint64_t since_ns;
    med_view_holder holder = {.life = MED_VIEW_ALIVE}; /* the lock of a dead one is dropped */
    if (med_port_shared_section_look(&system->shared, &holder.process_id, &since_ns)) {
        uint64_t now_ns = med_port_clock_ns();
        holder.held_ns = since_ns && since_ns < now_ns ? now_ns - since_ns : 0;
        add_unless_at_work(rows, "section", &holder);
    }
}

json_t *
stuck_json(const med_system *system)
{
    json_t *rows = json_array();
    section_add(system, rows);
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        med_view_holder holder;
        if (med_view_holder_read(system, (med_kind)k, &holder)) {
            add_unless_at_work(rows, med_limit_infos[med_kinds[k].limit].name, &holder);
        }
    }
    return rows;
}
