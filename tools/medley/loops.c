/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A line of JSON for each loop, between a first and a last one of its process. Anybody may have
 * written it: what is not as the library writes it is refused, with its line.
 */
#include "tools/medley/loops.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/medley/output.h"
#include "tools/medley/symbol.h"

#define FORMAT 1
#define NAME_BYTES 512

static const struct {
    const char *why;
    const char *text;
} whys[] = {
    {"probed", "probed, and split by that"},
    {"cached", "split by what its probes have measured"},
    {"told", "split as MEDLEY_CSR says"},
    {"few", "not probed: too few iterations for each member's probe"},
    {"short", "not probed any more: it takes less time than a probe is worth"},
    {"one-class", "not probed, equal parts: all members are on cores of one class"},
    {"unbound", "not probed, equal parts: threads are not bound to cores (OMP_PROC_BIND)"},
    {"ordered", "not probed, equal parts: its iterations are in order"},
    {"max-probes", "not probed: MEDLEY_MAX_PROBES is 0"},
    {"other", "not probed: its schedule does not ask how fast cores are"},
};

const char *
loops_why_text(const char *why)
{
    for (size_t i = 0; i < sizeof whys / sizeof whys[0]; i++) {
        if (strcmp(whys[i].why, why) == 0) {
            return whys[i].text;
        }
    }
    return NULL;
}

/* ---- Where ----------------------------------------------------------------------------------- */

/* ";file;function;line;column;;" */
static json_t *
source_name(const char *source)
{
    char parts[3][NAME_BYTES] = {"", "", ""};
    for (size_t i = 0; i < 3 && *source == ';'; i++) {
        size_t length = strcspn(++source, ";");
        (void)snprintf(parts[i], NAME_BYTES, "%.*s", (int)length, source);
        source += length;
    }
    char name[3 * NAME_BYTES + 8];
    (void)snprintf(name, sizeof name, "%s:%s, %s", parts[0], parts[2], parts[1]);
    return output_string(name);
}

/* "function+0x12"; without a name "program+0x1234", or the address alone. */
static json_t *
address_name(const json_t *of)
{
    json_int_t address, inside = 0;
    const char *object = NULL;
    char name[NAME_BYTES], text[NAME_BYTES + 32];
    uint64_t beyond;
    if (json_unpack((json_t *)of, "{s:I, s?s, s?I}", "address", &address, "object", &object,
                    "inside", &inside) != 0) {
        return NULL;
    }
    if (!object) {
        (void)snprintf(text, sizeof text, "0x%" PRIx64, (uint64_t)address);
    } else if (!symbol_find(object, (uint64_t)inside, name, sizeof name, &beyond)) {
        const char *file = strrchr(object, '/');
        (void)snprintf(text, sizeof text, "%.400s+0x%" PRIx64, file ? file + 1 : object,
                       (uint64_t)inside);
    } else if (beyond) {
        (void)snprintf(text, sizeof text, "%s+0x%" PRIx64, name, beyond);
    } else {
        (void)snprintf(text, sizeof text, "%s", name);
    }
    return output_string(text);
}

/* NULL: the record does not say. */
static json_t *
where_json(const json_t *line)
{
    const char *source = json_string_value(json_object_get(line, "source"));
    const json_t *code = json_object_get(line, "code");
    const json_t *region = json_object_get(line, "region");
    if (source) {
        return source_name(source);
    }
    json_t *place = address_name(code);
    json_t *around = address_name(region);
    if (!place || !around) {
        json_decref(place);
        json_decref(around);
        return NULL;
    }
    bool has_code = json_integer_value(json_object_get(code, "address")) != 0;
    json_decref(has_code ? around : place);
    return has_code ? place : around;
}

/* ---- A loop ---------------------------------------------------------------------------------- */

/* As fast as the fastest class: 1. */
static json_int_t
weight_most(json_t *classes)
{
    json_int_t most = 0;
    size_t i;
    json_t *class;
    json_array_foreach(classes, i, class)
    {
        json_int_t weight = json_integer_value(json_object_get(class, "weight"));
        most = weight > most ? weight : most;
    }
    return most;
}

static json_t *
class_json(json_t *class, size_t number, json_int_t most)
{
    json_int_t members, weight, time_ps, iterations;
    if (json_unpack(class, "{s:I, s:I, s:I, s:I}", "members", &members, "weight", &weight,
                    "time_ps", &time_ps, "iterations", &iterations) != 0 ||
        members < 0 || weight < 0) {
        return NULL;
    }
    json_t *speed = weight ? json_real((double)weight / (double)most) : json_null();
    return json_pack("{s:i, s:I, s:I, s:o, s:o, s:o}", "class", (int)number, "members", members,
                     "iterations", iterations, "weight",
                     output_number(weight != 0, (uint64_t)weight), "speed", speed, "iteration_ps",
                     output_number(time_ps != 0, (uint64_t)time_ps));
}

static json_t *
classes_json(json_t *classes)
{
    json_t *all = json_is_array(classes) ? json_array() : NULL;
    json_int_t most = weight_most(classes);
    for (size_t i = 0; all && i < json_array_size(classes); i++) {
        json_t *class = class_json(json_array_get(classes, i), i, most);
        if (!class || json_array_append_new(all, class) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

/* NULL: it is not as the library writes it. */
static json_t *
loop_json(json_t *line)
{
    json_int_t invocations, iterations, probes, reprobes;
    const char *schedule, *why;
    json_t *classes;
    if (json_unpack(line, "{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "schedule", &schedule, "why", &why,
                    "invocations", &invocations, "iterations", &iterations, "probes", &probes,
                    "reprobes", &reprobes, "classes", &classes) != 0 ||
        !loops_why_text(why)) {
        return NULL;
    }
    json_t *where = where_json(line);
    json_t *rows = where ? classes_json(classes) : NULL;
    if (!rows) {
        json_decref(where);
        return NULL;
    }
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:s, s:o}", "where", where, "schedule",
                     output_string(schedule), "invocations", invocations, "iterations", iterations,
                     "probes", probes, "reprobes", reprobes, "why", why, "classes", rows);
}

/* ---- The record ------------------------------------------------------------------------------ */

static json_t *
process_of(const json_t *processes, json_int_t number)
{
    size_t i;
    json_t *process;
    json_array_foreach(processes, i, process)
    {
        if (json_integer_value(json_object_get(process, "process")) == number &&
            !json_object_get(process, "whole")) {
            return process;
        }
    }
    return NULL;
}

/* False: the line has no place in a record. */
static bool
line_take(json_t *processes, json_t *line)
{
    json_int_t number, format, loops;
    if (json_unpack(line, "{s:I}", "process", &number) != 0) {
        return false;
    }
    json_t *process = process_of(processes, number);
    if (json_unpack(line, "{s:I}", "medley_explain", &format) == 0) {
        return !process && format == FORMAT &&
               json_array_append_new(processes,
                                     json_pack("{s:I, s:[]}", "process", number, "loops")) == 0;
    }
    json_t *all = json_object_get(process, "loops");
    if (json_unpack(line, "{s:I}", "loops", &loops) == 0) {
        return process && loops == (json_int_t)json_array_size(all) &&
               json_object_set_new(process, "whole", json_true()) == 0;
    }
    json_t *loop = process ? loop_json(line) : NULL;
    return loop && json_array_append_new(all, loop) == 0;
}

static bool
lines_take(const med_command *command, FILE *file, const char *path, json_t *processes)
{
    char *text = NULL;
    size_t room = 0;
    bool is_right = true;
    for (size_t number = 1; is_right && getline(&text, &room, file) >= 0; number++) {
        json_t *line = json_loads(text, 0, NULL);
        is_right = line && line_take(processes, line);
        json_decref(line);
        if (!is_right) {
            command_error(command,
                          "%s:%zu: no line of a record that this version's OpenMP library writes",
                          path, number);
        }
    }
    free(text);
    return is_right;
}

static bool
all_are_whole(const med_command *command, const char *path, json_t *processes)
{
    size_t i;
    json_t *process;
    json_array_foreach(processes, i, process)
    {
        if (!json_object_get(process, "whole")) {
            command_error(command, "%s: the record of process %" JSON_INTEGER_FORMAT " breaks off",
                          path, json_integer_value(json_object_get(process, "process")));
            return false;
        }
        (void)json_object_del(process, "whole");
    }
    return true;
}

json_t *
loops_read(const med_command *command, const char *path)
{
    json_t *processes = json_array();
    FILE *file = fopen(path, "re");
    if (!file && errno == ENOENT) {
        return processes;
    }
    if (!file) {
        command_error(command, "%s: %s", path, strerror(errno));
        json_decref(processes);
        return NULL;
    }
    bool is_right =
        lines_take(command, file, path, processes) && all_are_whole(command, path, processes);
    (void)fclose(file);
    if (!is_right) {
        json_decref(processes);
        return NULL;
    }
    return processes;
}
