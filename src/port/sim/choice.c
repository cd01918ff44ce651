/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Choices. Each kind of choice of each fiber is counted, so that a choice has a name (kind, fiber,
 * ordinal) that stays when others are taken back: what a run did is the list of those that did not
 * go the ordinary way. A plan is such a list.
 */
#include "engine.h"

#include <string.h>

/* Of a plan, sorted by fiber, kind, ordinal: where the next deviation of each stands. */
static uint32_t cursor[SIM_FIBERS_MAX][SIM_CHOICES];

static int
compare(const sim_deviation *a, uint32_t fiber, uint32_t kind)
{
    if (a->fiber != fiber) {
        return a->fiber < fiber ? -1 : 1;
    }
    return a->kind < kind ? -1 : a->kind > kind;
}

void
sim_choices_begin(const sim_order *order)
{
    const sim_plan *plan = order->plan;
    uint32_t at = 0;
    for (uint32_t fiber = 0; plan && fiber < SIM_FIBERS_MAX; fiber++) {
        for (uint32_t kind = 0; kind < SIM_CHOICES; kind++) {
            while (at < plan->count && compare(&plan->deviations[at], fiber, kind) < 0) {
                at++;
            }
            cursor[fiber][kind] = at;
        }
    }
}

static uint32_t
planned(const sim_plan *plan, sim_choice_kind kind, uint32_t ordinal)
{
    uint32_t fiber = sim.current->number;
    uint32_t *at = &cursor[fiber][kind];
    for (; *at < plan->count; (*at)++) {
        const sim_deviation *d = &plan->deviations[*at];
        if (compare(d, fiber, kind) != 0 || d->ordinal > ordinal) {
            break;
        }
        if (d->ordinal == ordinal) {
            return d->value;
        }
    }
    return 0;
}

static void
record(sim_choice_kind kind, uint32_t ordinal, uint32_t value)
{
    sim_plan *made = &sim.outcome->plan;
    if (made->count < SIM_DEVIATIONS_MAX) {
        made->deviations[made->count++] = (sim_deviation){.kind = (uint8_t)kind,
                                                          .fiber = (uint8_t)sim.current->number,
                                                          .ordinal = ordinal,
                                                          .value = value,
                                                          .site = sim.pc ? sim_site_of(sim.pc) : 0};
    }
}

uint32_t
sim_choose_this(sim_choice_kind kind, uint32_t value)
{
    uint32_t ordinal = sim.current->choices[kind]++;
    if (sim.order->plan) {
        value = planned(sim.order->plan, kind, ordinal);
    }
    if (value != 0) {
        record(kind, ordinal, value);
    }
    return value;
}

uint32_t
sim_choose(sim_choice_kind kind, uint32_t count, uint32_t chance)
{
    uint32_t value = 0;
    if (!sim.order->plan && count > 1 && (sim_number(&sim.numbers) & 0xffff) < chance) {
        value = 1 + sim_number_below(&sim.numbers, count - 1);
    }
    value = sim_choose_this(kind, value);
    return value < count ? value : 0;
}
