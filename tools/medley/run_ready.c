/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who is ready, as the system and the processes show it. */
#include "mcapi/view.h"
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "tools/medley/run_watched.h"

static bool
has_node(const med_system *system, const run_ready *wanted)
{
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        med_view_node node;
        if (med_view_node_read(system, i, &node) && node.domain == wanted->name[0] &&
            node.number == wanted->name[1] && node.state != MED_VIEW_NODE_EXPECTED &&
            node.state != MED_VIEW_NODE_DEAD) {
            return true;
        }
    }
    return false;
}

static bool
has_endpoint(const med_system *system, const run_ready *wanted)
{
    for (uint32_t i = 0; i < system->limits.endpoints; i++) {
        med_view_endpoint endpoint;
        if (med_view_endpoint_read(system, i, &endpoint) && endpoint.name.owner_known &&
            endpoint.name.domain == wanted->name[0] && endpoint.name.node == wanted->name[1] &&
            endpoint.name.port == wanted->name[2] && !endpoint.closing && !endpoint.expected) {
            return true;
        }
    }
    return false;
}

/* All of its processes: have they been started, have they ended well? */
static bool
all_are(const run_watched *w, const run_program *program, bool ended)
{
    for (unsigned i = 0; i < w->child_count; i++) {
        const run_child *child = &w->children[i];
        bool is = ended ? child->state == RUN_OVER && child->good
                        : child->state == RUN_RUNS || child->restarts > 0 || child->good;
        if (child->program == program && !is) {
            return false;
        }
    }
    return true;
}

static bool
is_ready(const run_watched *w, const run_program *program)
{
    switch (program->ready.kind) {
    case RUN_READY_NODE:
        return has_node(w->options->system, &program->ready);
    case RUN_READY_ENDPOINT:
        return has_endpoint(w->options->system, &program->ready);
    default:
        return all_are(w, program, program->ready.kind == RUN_READY_ENDED);
    }
}

/* Once it was, it is. */
void
run_ready_look(run_watched *w)
{
    for (unsigned i = 0; i < w->plan->program_count; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (!(w->ready & bit) && is_ready(w, &w->plan->programs[i])) {
            w->ready |= bit;
        }
    }
}

bool
run_ready_may_start(const run_watched *w, const run_child *child, uint64_t now_ns)
{
    return child->state == RUN_DUE
               ? child->due_ns <= now_ns
               : child->state == RUN_HELD && (child->program->after & ~w->ready) == 0;
}

static bool
all_over(const run_watched *w, const run_program *program)
{
    for (unsigned i = 0; i < w->child_count; i++) {
        if (w->children[i].program == program && w->children[i].state != RUN_OVER) {
            return false;
        }
    }
    return true;
}

/* NULL, or who has ended without being ready for it. */
const run_program *
run_ready_in_vain(const run_watched *w, const run_child *child)
{
    uint64_t wanted = child->state == RUN_HELD ? child->program->after & ~w->ready : 0;
    for (unsigned i = 0; i < w->plan->program_count; i++) {
        if (wanted >> i & 1 && all_over(w, &w->plan->programs[i])) {
            return &w->plan->programs[i];
        }
    }
    return NULL;
}

/* Does somebody wait for a node or an endpoint? Nobody tells when it comes. */
bool
run_ready_is_looked_for(const run_watched *w)
{
    uint64_t wanted = 0;
    for (unsigned i = 0; i < w->child_count; i++) {
        wanted |= w->children[i].state == RUN_HELD ? w->children[i].program->after & ~w->ready : 0;
    }
    for (unsigned i = 0; i < w->plan->program_count; i++) {
        run_ready_kind kind = w->plan->programs[i].ready.kind;
        if (wanted >> i & 1 && (kind == RUN_READY_NODE || kind == RUN_READY_ENDPOINT)) {
            return true;
        }
    }
    return false;
}
