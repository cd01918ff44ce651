/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How long a trace the environment asks for, mapping it when a system is opened, and writing in the
 * name of the caller's node.
 */
#include "mrapi/traced.h"

#include "base/log.h"
#include "base/text.h"
#include "mrapi/limits.h"

static const med_limit_info info = {"traced events", "MEDLEY_TRACE", 0, MED_TRACED_EVENTS_MAX};

uint32_t
med_traced_wanted(void)
{
    uint32_t asked = med_port_has_environment() ? med_limits_of_process(&info) : 0;
    uint32_t events = MED_TRACED_EVENTS_MIN;
    asked = asked == 1 ? MED_TRACED_EVENTS_STANDARD : asked;
    while (events < asked) {
        events *= 2;
    }
    return asked ? events : 0;
}

void
med_traced_open(med_system *system, bool make)
{
    system->trace = med_trace_none;
    uint32_t events = system->layout.trace_events;
    if (!med_port_has_processes() || events == 0) {
        return;
    }
    med_trace trace;
    void *memory = (char *)(void *)system->header + system->layout.trace;
    uint32_t records = events / MED_TRACED_LANES;
    size_t bytes = med_trace_size(MED_TRACED_LANES, records);
    medley_status_t status = make ? med_trace_init(memory, bytes, MED_TRACED_LANES, records, &trace)
                                  : med_trace_attach(memory, bytes, &trace);
    if (status == MEDLEY_OK) {
        system->trace = trace;
        if (make) {
            med_trace_enable(&trace, true);
        }
    }
}

void
med_traced_warn_difference(const med_system *system)
{
    if (system->layout.trace_events || med_traced_wanted() == 0) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, "MEDLEY_TRACE has no effect: system '");
    med_text_string(&text, system->shared.name);
    med_text_string(&text, "' was created without");
    med_log(MED_LOG_ERROR, &text);
}

void
med_traced_recover(const med_system *system, uint32_t node_ref)
{
    (void)med_trace_recover(&system->trace, node_ref);
}

void
med_traced_write_by_caller(const med_system *system,
                           med_traced_event event,
                           uint32_t first,
                           uint32_t second)
{
    const med_self *self = med_self_get();
    uint32_t node_ref = self && self->system == system ? self->ref : 0;
    med_trace_write(&system->trace, node_ref, (uint32_t)event, first, second);
}

void
med_traced_more(const med_system *system,
                uint32_t node_ref,
                med_traced_event event,
                uint32_t more,
                uint32_t first,
                uint32_t second)
{
    uint32_t says = more < MED_TRACED_MORE_MAX ? more : MED_TRACED_MORE_MAX;
    med_trace_event(&system->trace, node_ref, (uint32_t)event | says << 8, first, second);
}

#define WORD_BYTES 4u

/* So many bytes of the text, or those up to its end; and on behind them. */
static uint32_t
letters(const char **text, uint32_t count)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < count && **text; i++) {
        word |= (uint32_t)(unsigned char)*(*text)++ << 8 * i;
    }
    return word;
}

#define PROGRAM_PIECES 2u /* of 8 letters: as long as the system's own names */

void
med_traced_joined(const med_system *system, bool is_new)
{
    uint32_t process_id = med_port_process_id();
    const char *name = med_traced_is_on(system) ? med_port_program_name() : "";
    med_traced(system, 0, MED_TRACED_JOINED, process_id, is_new);
    for (uint32_t i = 0; i < PROGRAM_PIECES && *name; i++) {
        uint32_t first = letters(&name, WORD_BYTES);
        med_traced_more(system, 0, MED_TRACED_PROGRAM, process_id, first,
                        letters(&name, WORD_BYTES));
    }
}

void
med_traced_letters(const med_system *system,
                   uint32_t node_ref,
                   med_traced_event event,
                   const char *text)
{
    uint32_t first = letters(&text, WORD_BYTES);
    uint32_t second = letters(&text, WORD_BYTES);
    uint32_t more = letters(&text, MED_TRACED_LETTERS - 2 * WORD_BYTES);
    med_traced_more(system, node_ref, event, more, first, second);
}
