/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads what is to be run. The rest of a system's file is the library's to read. */
#include "tools/medley/run_plan.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/medley/mapping.h"

static const char *const restarts[] = {"never", "on-death", "on-failure", "always", NULL};
static const char *const truths[] = {"false", "true", NULL};
static const char *const runtimes[] = {"medley", "own", NULL};
static const char *const outputs[] = {"prefixed", "plain", NULL};

static bool
no_memory(const med_command *command)
{
    command_error(command, "no memory");
    return false;
}

/* ---- Lists of texts -------------------------------------------------------------------------- */

typedef struct texts {
    char **list; /* ended by NULL */
    unsigned count;
} texts;

static bool
texts_add(const mapping_reader *r, const yaml_node_t *at, texts *to, const char *text)
{
    if (to->count == RUN_WORDS_MAX) {
        return mapping_wrong(r, at, "more than %u of them", RUN_WORDS_MAX);
    }
    char **list = realloc(to->list, (to->count + 2) * sizeof *list);
    char *copy = strdup(text);
    if (list) {
        to->list = list;
    }
    if (!list || !copy) {
        free(copy);
        return no_memory(r->command);
    }
    to->list[to->count++] = copy;
    to->list[to->count] = NULL;
    return true;
}

/* One text, cut at its blanks. */
static bool
words_of_text(const mapping_reader *r, const yaml_node_t *node, texts *to)
{
    char *copy = strdup(mapping_text(node));
    char *rest = copy;
    bool good = copy || no_memory(r->command);
    for (char *word; good && (word = strsep(&rest, " \t\n")) != NULL;) {
        good = !*word || texts_add(r, node, to, word);
    }
    free(copy);
    return good;
}

/* "command: ./loader picture.png" or "command: [./loader, a picture.png]" */
static bool
command_field(const mapping_reader *r, const yaml_node_t *node, const mapping_field *f, void *value)
{
    texts words = {.count = 0};
    bool good = true;
    if (mapping_text(node)) {
        good = words_of_text(r, node, &words);
    } else if (node->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *item = node->data.sequence.items.start;
             good && item < node->data.sequence.items.top; item++) {
            const yaml_node_t *word = yaml_document_get_node(r->document, *item);
            good = mapping_text(word) ? texts_add(r, word, &words, mapping_text(word))
                                      : mapping_wrong(r, word, "%s: want words", f->key);
        }
    }
    *(char ***)value = words.list;
    return good && ((words.count > 0 && *words.list[0]) ||
                    mapping_wrong(r, node, "%s: want a program and its arguments", f->key));
}

/* A mapping of names to values. */
static bool
environment_field(const mapping_reader *r,
                  const yaml_node_t *node,
                  const mapping_field *f,
                  void *value)
{
    texts settings = {.count = 0};
    bool good = node->type == YAML_MAPPING_NODE ||
                mapping_wrong(r, node, "%s: want names and values", f->key);
    for (yaml_node_pair_t *pair = good ? node->data.mapping.pairs.start : NULL;
         good && pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const char *name = mapping_text(key);
        const char *text = mapping_text(yaml_document_get_node(r->document, pair->value));
        char *setting = NULL;
        good =
            (name && *name && text && !strchr(name, '=')) ||
            mapping_wrong(r, key, "%s '%s': want a name and its value", f->key, mapping_shown(key));
        if (good && asprintf(&setting, "%s=%s", name, text) < 0) {
            setting = NULL;
            good = no_memory(r->command);
        }
        good = good && texts_add(r, key, &settings, setting);
        free(setting);
    }
    *(char ***)value = settings.list;
    return good;
}

/* ---- Other values ---------------------------------------------------------------------------- */

static bool
is_name(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return text && *text && strlen(text) < RUN_NAME_BYTES && text[strspn(text, letters)] == '\0';
}

static bool
name_field(const mapping_reader *r, const yaml_node_t *node, const mapping_field *f, void *value)
{
    const char *text = mapping_text(node);
    if (!is_name(text)) {
        return mapping_wrong(r, node, "%s '%s': want up to %u letters, digits, '_', '-'", f->key,
                             mapping_shown(node), RUN_NAME_BYTES - 1);
    }
    (void)snprintf(value, RUN_NAME_BYTES, "%s", text);
    return true;
}

static bool
text_field(const mapping_reader *r, const yaml_node_t *node, const mapping_field *f, void *value)
{
    const char *text = mapping_text(node);
    if (!text || !*text) {
        return mapping_wrong(r, node, "%s: want a text", f->key);
    }
    *(const char **)value = strdup(text);
    return *(const char **)value || no_memory(r->command);
}

/* "5 s", "0.5 s", "250 ms", "2 min" */
static bool
time_field(const mapping_reader *r, const yaml_node_t *node, const mapping_field *f, void *value)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{" ms", 1}, {" s", 1000}, {" min", 60000}};
    const char *text = mapping_text(node);
    char *end = NULL;
    double number = text && *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
    for (size_t i = 0; end && i < sizeof units / sizeof units[0]; i++) {
        double ms = number * units[i].ms;
        if (strcmp(end, units[i].name) == 0 && ms >= 1 && ms <= UINT32_MAX) {
            *(unsigned *)value = (unsigned)ms;
            return true;
        }
    }
    return mapping_wrong(r, node, "%s '%s': want a time, as 500 ms, 2.5 s, 10 min", f->key,
                         mapping_shown(node));
}

static bool
processor_add(cpu_set_t *list, const char *text)
{
    unsigned first, last;
    char *end;
    if (!text || !mapping_number_read(text, &end, &first)) {
        return false;
    }
    last = first;
    if (*end == '-' && !mapping_number_read(end + 1, &end, &last)) {
        return false;
    }
    for (unsigned i = first; i <= last && i < CPU_SETSIZE; i++) {
        CPU_SET(i, list);
    }
    return !*end && first <= last && last < CPU_SETSIZE;
}

/* The system would leave out in silence which of them it has not, or this process may not use. */
static bool
processors_are_there(const mapping_reader *r,
                     const yaml_node_t *node,
                     const mapping_field *f,
                     const cpu_set_t *list)
{
    cpu_set_t may;
    if (sched_getaffinity(0, sizeof may, &may) != 0) {
        return true; /* more than the set has room for: the system says what is wrong */
    }
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, list) && !CPU_ISSET(i, &may)) {
            return mapping_wrong(r, node, "%s: there is no processor %zu that may be used", f->key,
                                 i);
        }
    }
    return true;
}

/* "processors: [0, 2-3]" or "processors: spread" */
static bool
processors_field(const mapping_reader *r,
                 const yaml_node_t *node,
                 const mapping_field *f,
                 void *value)
{
    run_processors *processors = value;
    const char *text = mapping_text(node);
    bool good = text && strcmp(text, "spread") == 0;
    processors->binding = good ? RUN_BINDING_SPREAD : RUN_BINDING_LIST;
    if (!good && node->type == YAML_SEQUENCE_NODE) {
        good = node->data.sequence.items.start < node->data.sequence.items.top;
        for (yaml_node_item_t *item = node->data.sequence.items.start;
             good && item < node->data.sequence.items.top; item++) {
            good = processor_add(&processors->list,
                                 mapping_text(yaml_document_get_node(r->document, *item)));
        }
    }
    return good ? processors_are_there(r, node, f, &processors->list)
                : mapping_wrong(r, node, "%s: want numbers of processors, as [0, 2-3], or spread",
                                f->key);
}

/* "node 0:2", "endpoint 0:2:1": so many numbers behind the word. */
static bool
ready_numbers(const char *text, const char *word, unsigned count, run_ready *ready)
{
    size_t length = strlen(word);
    char *end;
    if (strncmp(text, word, length) != 0) {
        return false;
    }
    text += length;
    for (unsigned i = 0; i < count; i++) {
        if (!mapping_number_read(text, &end, &ready->name[i]) ||
            *end != (i + 1 < count ? ':' : '\0')) {
            return false;
        }
        text = end + 1;
    }
    return true;
}

static bool
ready_field(const mapping_reader *r, const yaml_node_t *node, const mapping_field *f, void *value)
{
    run_ready *ready = value;
    const char *text = mapping_shown(node);
    if (strcmp(text, "started") == 0) {
        ready->kind = RUN_READY_STARTED;
    } else if (strcmp(text, "ended") == 0) {
        ready->kind = RUN_READY_ENDED;
    } else if (ready_numbers(text, "node ", 2, ready)) {
        ready->kind = RUN_READY_NODE;
    } else if (ready_numbers(text, "endpoint ", 3, ready)) {
        ready->kind = RUN_READY_ENDPOINT;
    } else {
        return mapping_wrong(r, node,
                             "%s '%s': want started, ended, 'node DOMAIN:NODE', or "
                             "'endpoint DOMAIN:NODE:PORT'",
                             f->key, text);
    }
    return true;
}

/* ---- After whom ------------------------------------------------------------------------------ */

/* Names, which are looked for when all programs are known. */
static bool
after_field(const mapping_reader *r, const yaml_node_t *node, const mapping_field *f, void *value)
{
    bool good = node->type == YAML_SEQUENCE_NODE || mapping_text(node);
    *(const yaml_node_t **)value = node;
    return good || mapping_wrong(r, node, "%s: want names of programs", f->key);
}

static bool
after_one(const mapping_reader *r, const yaml_node_t *node, run_program *program)
{
    const run_plan *plan = r->to;
    const char *text = mapping_text(node);
    for (unsigned i = 0; text && i < plan->program_count; i++) {
        if (strcmp(plan->programs[i].name, text) == 0) {
            program->after |= UINT64_C(1) << i;
            return true;
        }
    }
    return mapping_wrong(r, node, "after '%s': there is no program of that name",
                         mapping_shown(node));
}

static bool
after_read(const mapping_reader *r, const yaml_node_t *node, run_program *program)
{
    if (mapping_text(node)) {
        return after_one(r, node, program);
    }
    bool good = true;
    for (yaml_node_item_t *item = node->data.sequence.items.start;
         good && item < node->data.sequence.items.top; item++) {
        good = after_one(r, yaml_document_get_node(r->document, *item), program);
    }
    return good;
}

/* Takes away, again and again, who comes after nobody that is left. */
static bool
some_wait_for_each_other(const run_plan *plan)
{
    uint64_t left =
        plan->program_count < 64 ? (UINT64_C(1) << plan->program_count) - 1 : ~UINT64_C(0);
    for (bool took = true; took;) {
        took = false;
        for (unsigned i = 0; i < plan->program_count; i++) {
            uint64_t bit = UINT64_C(1) << i;
            if (left & bit && !(plan->programs[i].after & left)) {
                left &= ~bit;
                took = true;
            }
        }
    }
    return left != 0;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* While it is read; `after` of each program, whose names are not all known yet. */
static const yaml_node_t *after_of[RUN_PROGRAMS_MAX];

typedef struct entry {
    run_program program;
    const yaml_node_t *after;
} entry;

void
run_plan_name(const char *word, char name[RUN_NAME_BYTES])
{
    const char *last = strrchr(word, '/');
    (void)snprintf(name, RUN_NAME_BYTES, "%s", last && last[1] ? last + 1 : word);
    char *dot = strchr(name, '.');
    if (dot && dot > name) {
        *dot = '\0';
    }
    for (char *at = name; *at; at++) {
        const char one[2] = {*at, '\0'};
        if (!is_name(one)) {
            *at = '_';
        }
    }
}

static bool
is_taken(const run_plan *plan, const char *name)
{
    for (unsigned i = 0; i < plan->program_count; i++) {
        if (strcmp(plan->programs[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static unsigned
processes_of(const run_plan *plan)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->program_count; i++) {
        count += plan->programs[i].count;
    }
    return count;
}

#define AT(member) offsetof(entry, program.member)
static const mapping_field fields[] = {
    {"name", AT(name), name_field, false, 0, 0, NULL},
    {"command", AT(words), command_field, true, 0, 0, NULL},
    {"count", AT(count), mapping_number, false, 1, RUN_PROCESSES_MAX, NULL},
    {"after", offsetof(entry, after), after_field, false, 0, 0, NULL},
    {"ready", AT(ready), ready_field, false, 0, 0, NULL},
    {"restart", AT(restart), mapping_one_of, false, 0, 0, restarts},
    {"restarts", AT(restarts_most), mapping_number, false, 0, 1000000, NULL},
    {"time-limit", AT(time_limit_ms), time_field, false, 0, 0, NULL},
    {"background", AT(background), mapping_one_of, false, 0, 0, truths},
    {"processors", AT(processors), processors_field, false, 0, 0, NULL},
    {"environment", AT(environment), environment_field, false, 0, 0, NULL},
    {"folder", AT(folder), text_field, false, 0, 0, NULL},
    {"openmp", AT(openmp), mapping_one_of, false, 0, 0, runtimes},
    {"output", AT(output), mapping_one_of, false, 0, 0, outputs},
};

static bool
program_read(const mapping_reader *r, const yaml_node_t *node)
{
    run_plan *plan = r->to;
    entry read = {.program = {.count = 1, .restarts_most = RUN_RESTARTS}};
    if (plan->program_count == RUN_PROGRAMS_MAX) {
        return mapping_wrong(r, node, "more than %u programs", RUN_PROGRAMS_MAX);
    }
    if (!MAPPING_READ(r, node, fields, &read)) {
        return false;
    }
    if (!*read.program.name) {
        run_plan_name(read.program.words[0], read.program.name);
    }
    if (is_taken(plan, read.program.name)) {
        return mapping_wrong(r, node, "a second program '%s': give each a name", read.program.name);
    }
    after_of[plan->program_count] = read.after;
    plan->programs[plan->program_count++] = read.program;
    return processes_of(plan) <= RUN_PROCESSES_MAX ||
           mapping_wrong(r, node, "more than %u processes", RUN_PROCESSES_MAX);
}

static bool
all_serve(const run_plan *plan)
{
    bool all = true;
    for (unsigned i = 0; i < plan->program_count; i++) {
        all = all && plan->programs[i].background;
    }
    return all;
}

static bool
programs_read(const mapping_reader *r, const yaml_node_t *programs)
{
    run_plan *plan = r->to;
    if (!mapping_list(r, programs, program_read)) {
        return false;
    }
    for (unsigned i = 0; i < plan->program_count; i++) {
        if (after_of[i] && !after_read(r, after_of[i], &plan->programs[i])) {
            return false;
        }
    }
    if (some_wait_for_each_other(plan)) {
        return mapping_wrong(r, programs, "some of the programs come after each other");
    }
    return !all_serve(plan) ||
           mapping_wrong(r, programs, "all are in the background: there is nobody to serve");
}

static bool
file_read(const mapping_reader *r, const yaml_node_t *root)
{
    const yaml_node_t *programs = NULL;
    for (yaml_node_pair_t *pair = root->type == YAML_MAPPING_NODE ? root->data.mapping.pairs.start
                                                                  : NULL;
         pair && pair < root->data.mapping.pairs.top; pair++) {
        const char *key = mapping_text(yaml_document_get_node(r->document, pair->key));
        if (key && strcmp(key, "programs") == 0) {
            programs = yaml_document_get_node(r->document, pair->value);
        }
    }
    if (!programs) {
        command_error(r->command, "%s: there are no programs in it: medley-run(1) says how",
                      r->path);
        return false;
    }
    return programs_read(r, programs);
}

bool
run_plan_of_file(const med_command *command, const char *path, run_plan *plan)
{
    mapping_reader r = {.command = command, .path = path, .to = plan};
    FILE *file = fopen(path, "re");
    if (!file) {
        command_error(command, "cannot read '%s': %s", path, strerror(errno));
        return false;
    }
    bool good = mapping_document(&r, file, file_read);
    (void)fclose(file);
    return good;
}

bool
run_plan_of_words(const med_command *command, char **words, unsigned count, run_plan *plan)
{
    if (count < 1 || count > RUN_PROCESSES_MAX) {
        (void)command_usage_error(command, "-n: want a number from 1 to %u", RUN_PROCESSES_MAX);
        return false;
    }
    plan->program_count = 1;
    plan->programs[0] = (run_program){.words = words, .count = count};
    run_plan_name(words[0], plan->programs[0].name);
    return true;
}
