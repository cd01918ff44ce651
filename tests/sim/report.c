/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Addresses become source lines by addr2line, run once for all of them; then failures, events and
 * plans are printed.
 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program_path;

void
report_program(const char *program)
{
    program_path = program;
}

/* ---- Source lines ---------------------------------------------------------------------------- */

/* "./build/dev/./src/base/x.c:12 (discriminator 3)"; of a compiler's cache, that names it from the
 * folder of the build on, "./build/dev/../../src/base/x.c:12" */
static void
parse_line(const char *text, source_line *line)
{
    const char *colon = strchr(text, ':');
    if (!colon) {
        return;
    }
    const char *root = strstr(text, "/./");
    const char *path = root ? root + 3 : text + 2 * (strncmp(text, "./", 2) == 0);
    for (const char *up = strstr(path, "../"); up && up < colon; up = strstr(path, "../")) {
        path = up + 3;
    }
    const char *slash = colon;
    while (slash > path && slash[-1] != '/') {
        slash--;
    }
    (void)snprintf(line->path, sizeof line->path, "%.*s", (int)(colon - path), path);
    (void)snprintf(line->file, sizeof line->file, "%.*s", (int)(colon - slash), slash);
    line->line = (uint32_t)strtoul(colon + 1, NULL, 10);
}

/* For each address its number; then, innermost first, functions and lines. */
static void
parse_output(FILE *output, uint32_t count, source_line *lines)
{
    char text[512];
    char function[64] = "";
    uint32_t index = UINT32_MAX;
    while (fgets(text, sizeof text, output)) {
        if (strncmp(text, "0x", 2) == 0) {
            index++;
        } else if (!strchr(text, ':')) {
            (void)snprintf(function, sizeof function, "%.*s", (int)strcspn(text, "\n"), text);
        } else if (index < count &&
                   (lines[index].line == 0 || strcmp(lines[index].file, "atomic.h") == 0)) {
            parse_line(text, &lines[index]);
            memcpy(lines[index].function, function, sizeof function);
        }
    }
}

#define ADDRESSES_PER_CALL 256u

void
report_lines(const uint32_t *sites, uint32_t count, source_line *lines)
{
    memset(lines, 0, count * sizeof *lines);
    for (uint32_t first = 0; first < count; first += ADDRESSES_PER_CALL) {
        char command[16384];
        uint32_t some = count - first < ADDRESSES_PER_CALL ? count - first : ADDRESSES_PER_CALL;
        int length = snprintf(command, sizeof command, "addr2line -i -a -f -e '%s'", program_path);
        for (uint32_t i = 0; i < some; i++) {
            /* The call itself, not what it returns to. */
            length += snprintf(command + length, sizeof command - (size_t)length, " 0x%x",
                               sites[first + i] - 1);
        }
        FILE *output = popen(command, "r");
        if (!output) {
            return;
        }
        parse_output(output, some, lines + first);
        (void)pclose(output);
    }
}

/* ---- Failures -------------------------------------------------------------------------------- */

const char *
report_kind(sim_failure_kind kind)
{
    static const char *const names[] = {"passed",   "wrong",   "race", "deadlock",
                                        "livelock", "foreign", "full", "crash"};
    return names[kind];
}

static const char *
fiber_name(uint32_t fiber, char *name, size_t size)
{
    if (fiber == 0) {
        return "director";
    }
    (void)snprintf(name, size, "actor %" PRIu32, fiber - 1);
    return name;
}

static void
print_event(const sim_event_seen *event, const source_line *line)
{
    static const char *const verbs[] = {"reads",  "stores", "puts", "fence",
                                        "sleeps", "wakes",  "dies", "ends"};
    char name[32];
    printf("    %-9s %-6s", fiber_name(event->fiber, name, sizeof name), verbs[event->kind]);
    if (event->kind == SIM_DID_LOAD || event->kind == SIM_DID_STORE ||
        event->kind == SIM_DID_CHANGE) {
        printf(" %06x: %08" PRIx64 "%s", event->place, event->value, event->old ? " (old)" : "");
    }
    if (event->site) {
        printf("   %s:%" PRIu32, line->file, line->line);
    }
    printf("\n");
}

void
report_events(const sim_outcome *outcome)
{
    source_line lines[SIM_TRACE_EVENTS];
    uint32_t sites[SIM_TRACE_EVENTS] = {0};
    uint32_t kept =
        outcome->event_count < SIM_TRACE_EVENTS ? outcome->event_count : SIM_TRACE_EVENTS;
    uint32_t first = outcome->event_count - kept;
    for (uint32_t i = 0; i < kept; i++) {
        sites[i] = outcome->events[(first + i) % SIM_TRACE_EVENTS].site;
    }
    report_lines(sites, kept, lines);
    printf("  the last %" PRIu32 " events:\n", kept);
    for (uint32_t i = 0; i < kept; i++) {
        print_event(&outcome->events[(first + i) % SIM_TRACE_EVENTS], &lines[i]);
    }
}

static void
print_early(const sim_early *early)
{
    char reader[32];
    char writer[32];
    printf("  %s's relaxed load %" PRIu32 ", of %06x, returned %08" PRIx64
           ", which %s stored later\n",
           fiber_name(early->fiber, reader, sizeof reader), early->ordinal, early->place,
           early->value, fiber_name(early->writer, writer, sizeof writer));
}

void
report_failure(const options *o,
               const sim_scenario *scenario,
               uint64_t seed,
               const sim_outcome *outcome)
{
    source_line lines[2];
    uint32_t sites[2] = {outcome->site, outcome->other_site};
    char name[32];
    report_lines(sites, 2, lines);
    printf("%s: seed %" PRIu64 ": %s: %s\n", scenario->name, seed, report_kind(outcome->kind),
           outcome->what);
    printf("  %s", fiber_name(outcome->fiber, name, sizeof name));
    if (outcome->site) {
        printf(" at %s:%" PRIu32, lines[0].path, lines[0].line);
    }
    if (outcome->other_site) {
        printf(", with the access at %s:%" PRIu32, lines[1].path, lines[1].line);
    }
    printf("; %" PRIu32 " steps, %" PRIu32 " deaths\n", outcome->steps, outcome->deaths);
    if (outcome->early.there) {
        print_early(&outcome->early);
    }
    bool elsewhere = strcmp(o->world, WORLD_USUAL) != 0;
    printf("  again: sim%s%s --scenario %s --seed %" PRIu64 "%s%s\n", elsewhere ? " --world " : "",
           elsewhere ? o->world : "", scenario->name, seed, o->weaken ? " --weaken " : "",
           o->weaken ? o->weaken : "");
}

/* ---- Plans ----------------------------------------------------------------------------------- */

#define CHOICES_SHOWN 60u

static void
print_choice(const sim_deviation *d, const source_line *line)
{
    static const char *const words[] = {
        "leaves to fiber", "next but",    "reads an old value, back", "dies",
        "alarm",           "wakes first", "spins otherwise",          "script",
        "machine"};
    char name[32];
    char value[16] = "";
    uint32_t shown = d->kind == SIM_SWITCH ? d->value - 1 : d->value;
    if (d->kind != SIM_DEATH) {
        (void)snprintf(value, sizeof value, " %" PRIu32, shown);
    }
    printf("    %-9s %s%s", fiber_name(d->fiber, name, sizeof name), words[d->kind], value);
    if (d->site && line->line) {
        printf("   %s:%" PRIu32, line->file, line->line);
    }
    printf("\n");
}

void
report_plan(const sim_plan *plan)
{
    source_line lines[CHOICES_SHOWN];
    uint32_t sites[CHOICES_SHOWN] = {0};
    uint32_t shown = plan->count < CHOICES_SHOWN ? plan->count : CHOICES_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        sites[i] = plan->deviations[i].site;
    }
    report_lines(sites, shown, lines);
    printf("  %" PRIu32
           " choices out of the ordinary (fiber 0 is the director, fiber n+1 actor n):\n",
           plan->count);
    for (uint32_t i = 0; i < shown; i++) {
        print_choice(&plan->deviations[i], &lines[i]);
    }
    if (shown < plan->count) {
        printf("    ...\n");
    }
}
