/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads deployments. libyaml makes a tree of the text, in which each part knows its line; here the
 * tree is compared with tables of what may stand where.
 */
#include "tools/medley/deployment.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yaml.h>

#define PATH_BYTES 4096
#define WANTED_BYTES 128
#define STATE_LEAST 8u /* its number and the time */
/* Where those that Medley brings lie, seen from the command. */
#define SHIPPED "../share/medley/topologies"

const char *const deployment_type_names[] = {"message", "packet", "scalar", "state", NULL};
const char *const deployment_run_names[] = {"threads", "processes", NULL};
const char *const deployment_affinity_names[] = {"free", "one", "spread", NULL};

static const char *const directions[] = {"one-way", "both", NULL};
enum {
    ONE_WAY,
    BOTH
};

typedef struct reader {
    const med_command *command;
    const char *path;
    yaml_document_t *document;
    deployment *to;
} reader;

/* ---- Errors ---------------------------------------------------------------------------------- */

static bool __attribute__((format(printf, 3, 4)))
wrong(const reader *r, const yaml_node_t *at, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    command_error(r->command, "%s:%zu: %s", r->path, at->start_mark.line + 1, text);
    return false;
}

void
deployment_choices_write(const char *const *names, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; names[i] && length < size; i++) {
        const char *between = i == 0 ? "" : names[i + 1] ? ", " : " or ";
        length += (size_t)snprintf(text + length, size - length, "%s%s", between, names[i]);
    }
}

int
deployment_choice(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The text of a plain value, or NULL. What has a zero byte inside is none. */
static const char *
text_of(const yaml_node_t *node)
{
    const char *text = (const char *)node->data.scalar.value;
    bool plain = node->type == YAML_SCALAR_NODE && strlen(text) == node->data.scalar.length;
    return plain ? text : NULL;
}

/* Digits only. */
static bool
number_read(const char *text, char **end, unsigned *number)
{
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    unsigned long read = strtoul(text, end, 10);
    *number = (unsigned)read;
    return errno == 0 && read <= UINT32_MAX;
}

typedef enum field_kind {
    FIELD_NUMBER,
    FIELD_CHOICE,
    FIELD_NODES,
    FIELD_NODES_OR_NEXT,
} field_kind;

/* One key of a mapping, and where its value goes: an unsigned, or a selection of nodes. */
typedef struct field {
    const char *key;
    size_t offset;
    field_kind kind;
    bool needed;
    unsigned least, most;       /* of a number */
    const char *const *choices; /* of a choice */
} field;

typedef struct selection {
    unsigned first, last; /* nodes */
    bool next;            /* instead: the one after the other end, the first after the last */
} selection;

static bool
number_field(const reader *r, const yaml_node_t *node, const field *f, unsigned *value)
{
    const char *text = text_of(node);
    char *end;
    bool good = text && number_read(text, &end, value) && !*end;
    return (good && *value >= f->least && *value <= f->most) ||
           wrong(r, node, "%s '%s': want a number from %u to %u", f->key, text ? text : "...",
                 f->least, f->most);
}

static bool
choice_field(const reader *r, const yaml_node_t *node, const field *f, unsigned *value)
{
    const char *text = text_of(node);
    int choice = text ? deployment_choice(f->choices, text) : -1;
    char wanted[WANTED_BYTES];
    *value = (unsigned)choice;
    deployment_choices_write(f->choices, wanted, sizeof wanted);
    return choice >= 0 || wrong(r, node, "%s '%s': want %s", f->key, text ? text : "...", wanted);
}

/* "3", "2-5" */
static bool
range_read(const char *text, selection *nodes)
{
    char *end;
    if (!text || !number_read(text, &end, &nodes->first)) {
        return false;
    }
    nodes->last = nodes->first;
    if (*end == '-' && !number_read(end + 1, &end, &nodes->last)) {
        return false;
    }
    return !*end && nodes->first >= 1 && nodes->first <= nodes->last;
}

static bool
nodes_field(const reader *r, const yaml_node_t *node, const field *f, selection *nodes)
{
    const char *text = text_of(node);
    *nodes = (selection){.first = 1, .last = r->to->node_count};
    if (text && strcmp(text, "all") == 0) {
        return true;
    }
    if (text && f->kind == FIELD_NODES_OR_NEXT && strcmp(text, "next") == 0) {
        nodes->next = true;
        return true;
    }
    bool good = range_read(text, nodes) && nodes->last <= r->to->node_count;
    return good ||
           wrong(r, node, "%s '%s': want a node from 1 to %u, a range of them as 2-5, all%s",
                 f->key, text ? text : "...", r->to->node_count,
                 f->kind == FIELD_NODES_OR_NEXT ? ", or next" : "");
}

static bool
field_read(const reader *r, const yaml_node_t *node, const field *f, void *into)
{
    void *value = (char *)into + f->offset;
    switch (f->kind) {
    case FIELD_NUMBER:
        return number_field(r, node, f, value);
    case FIELD_CHOICE:
        return choice_field(r, node, f, value);
    default:
        return nodes_field(r, node, f, value);
    }
}

/* ---- Mappings -------------------------------------------------------------------------------- */

static const field *
field_find(const reader *r, const yaml_node_t *key, const field *fields, size_t count)
{
    const char *text = text_of(key);
    const char *names[16] = {NULL};
    char wanted[WANTED_BYTES];
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i].key;
        if (text && strcmp(text, fields[i].key) == 0) {
            return &fields[i];
        }
    }
    deployment_choices_write(names, wanted, sizeof wanted);
    (void)wrong(r, key, "key '%s': want %s", text ? text : "...", wanted);
    return NULL;
}

/* Each key once, and those that are needed. */
static bool
mapping_read(
    const reader *r, const yaml_node_t *node, const field *fields, size_t count, void *into)
{
    unsigned seen = 0;
    if (node->type != YAML_MAPPING_NODE) {
        return wrong(r, node, "want a mapping of keys to values here");
    }
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(r->document, pair->value);
        const field *f = field_find(r, key, fields, count);
        if (!f) {
            return false;
        }
        unsigned bit = 1u << (f - fields);
        if (seen & bit) {
            return wrong(r, key, "key '%s' stands here twice", f->key);
        }
        seen |= bit;
        if (!field_read(r, value, f, into)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (fields[i].needed && !(seen & 1u << i)) {
            return wrong(r, node, "'%s' is missing", fields[i].key);
        }
    }
    return true;
}
#define MAPPING_READ(r, node, fields, into)                                                        \
    mapping_read(r, node, fields, sizeof(fields) / sizeof((fields)[0]), into)

/* ---- Nodes and channels ---------------------------------------------------------------------- */

typedef struct nodes_entry {
    unsigned count, run, affinity;
} nodes_entry;

static bool
nodes_read(const reader *r, const yaml_node_t *node)
{
    static const field fields[] = {
        {"count", offsetof(nodes_entry, count), FIELD_NUMBER, true, 1, DEPLOYMENT_NODES_MAX, NULL},
        {"run", offsetof(nodes_entry, run), FIELD_CHOICE, false, 0, 0, deployment_run_names},
        {"affinity", offsetof(nodes_entry, affinity), FIELD_CHOICE, false, 0, 0,
         deployment_affinity_names},
    };
    nodes_entry entry = {.run = DEPLOYMENT_THREADS, .affinity = DEPLOYMENT_FREE};
    deployment *to = r->to;
    if (!MAPPING_READ(r, node, fields, &entry)) {
        return false;
    }
    if (entry.count > DEPLOYMENT_NODES_MAX - to->node_count) {
        return wrong(r, node, "more than %u nodes", DEPLOYMENT_NODES_MAX);
    }
    for (unsigned i = 0; i < entry.count; i++) {
        to->nodes[++to->node_count] =
            (deployment_node){.run = entry.run, .affinity = entry.affinity};
    }
    return true;
}

typedef struct channels_entry {
    selection from, to;
    unsigned type, direction, size, count, priority;
} channels_entry;

static bool
channel_add(const reader *r,
            const yaml_node_t *node,
            const channels_entry *entry,
            unsigned from,
            unsigned to)
{
    deployment *d = r->to;
    if (d->channel_count == DEPLOYMENT_CHANNELS_MAX) {
        return wrong(r, node, "more than %u channels", DEPLOYMENT_CHANNELS_MAX);
    }
    d->channels[d->channel_count++] = (deployment_channel){.from = from,
                                                           .to = to,
                                                           .type = entry->type,
                                                           .size_bytes = entry->size,
                                                           .count = entry->count,
                                                           .priority = entry->priority};
    return true;
}

static bool
channels_between(const reader *r,
                 const yaml_node_t *node,
                 const channels_entry *entry,
                 unsigned from,
                 unsigned to)
{
    return from == to || (channel_add(r, node, entry, from, to) &&
                          (entry->direction == ONE_WAY || channel_add(r, node, entry, to, from)));
}

/* From each node of the one side to each of the other but itself. */
static bool
channels_add(const reader *r, const yaml_node_t *node, const channels_entry *entry)
{
    uint32_t before = r->to->channel_count;
    bool good = true;
    for (unsigned from = entry->from.first; good && from <= entry->from.last; from++) {
        if (entry->to.next) {
            good = channels_between(r, node, entry, from, from % r->to->node_count + 1);
        } else {
            for (unsigned to = entry->to.first; good && to <= entry->to.last; to++) {
                good = channels_between(r, node, entry, from, to);
            }
        }
    }
    return good && (r->to->channel_count > before ||
                    wrong(r, node, "no channel: a node has none to itself"));
}

static bool
channels_read(const reader *r, const yaml_node_t *node)
{
    static const field fields[] = {
        {"from", offsetof(channels_entry, from), FIELD_NODES, true, 0, 0, NULL},
        {"to", offsetof(channels_entry, to), FIELD_NODES_OR_NEXT, true, 0, 0, NULL},
        {"type", offsetof(channels_entry, type), FIELD_CHOICE, true, 0, 0, deployment_type_names},
        {"direction", offsetof(channels_entry, direction), FIELD_CHOICE, false, 0, 0, directions},
        {"size", offsetof(channels_entry, size), FIELD_NUMBER, false, 1, DEPLOYMENT_SIZE_MAX, NULL},
        {"count", offsetof(channels_entry, count), FIELD_NUMBER, false, 1, DEPLOYMENT_COUNT_MAX,
         NULL},
        {"priority", offsetof(channels_entry, priority), FIELD_NUMBER, false, 0, 3, NULL},
    };
    channels_entry entry = {.direction = ONE_WAY, .count = 1000};
    if (!MAPPING_READ(r, node, fields, &entry)) {
        return false;
    }
    bool scalar = entry.type == DEPLOYMENT_SCALAR;
    entry.size = entry.size ? entry.size : scalar ? 8 : 24;
    if (scalar && entry.size != 1 && entry.size != 2 && entry.size != 4 && entry.size != 8) {
        return wrong(r, node, "size %u of a scalar: want 1, 2, 4 or 8", entry.size);
    }
    if (entry.type == DEPLOYMENT_STATE && entry.size < STATE_LEAST) {
        return wrong(r, node, "size %u of a state: want 8 or more", entry.size);
    }
    return channels_add(r, node, &entry);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool
list_read(const reader *r,
          const yaml_node_t *list,
          bool (*entry_read)(const reader *r, const yaml_node_t *node))
{
    if (list->type != YAML_SEQUENCE_NODE ||
        list->data.sequence.items.start == list->data.sequence.items.top) {
        return wrong(r, list, "want a list here, and something in it");
    }
    for (yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top; item++) {
        if (!entry_read(r, yaml_document_get_node(r->document, *item))) {
            return false;
        }
    }
    return true;
}

static bool
name_read(const reader *r, const yaml_node_t *node)
{
    const char *text = text_of(node);
    if (!text || !*text || strlen(text) >= sizeof r->to->name) {
        return wrong(r, node, "name: want 1 to %zu letters", sizeof r->to->name - 1);
    }
    (void)snprintf(r->to->name, sizeof r->to->name, "%s", text);
    return true;
}

enum {
    NAME,
    NODES,
    CHANNELS,
    PARTS
};

/* The values of the outermost keys: in whatever order they stand, nodes are read first. */
static bool
parts_find(const reader *r, const yaml_node_t *root, const yaml_node_t *parts[PARTS])
{
    static const char *const keys[] = {"name", "nodes", "channels", NULL};
    if (root->type != YAML_MAPPING_NODE) {
        return wrong(r, root, "want the keys name, nodes and channels");
    }
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const char *text = text_of(key);
        int part = text ? deployment_choice(keys, text) : -1;
        if (part < 0) {
            return wrong(r, key, "key '%s': want name, nodes or channels", text ? text : "...");
        }
        if (parts[part]) {
            return wrong(r, key, "key '%s' stands here twice", text);
        }
        parts[part] = yaml_document_get_node(r->document, pair->value);
    }
    return true;
}

static bool
tree_read(const reader *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(r->document);
    const yaml_node_t *parts[PARTS] = {NULL};
    if (!root) {
        command_error(r->command, "%s: it is empty", r->path);
        return false;
    }
    if (!parts_find(r, root, parts)) {
        return false;
    }
    if (!parts[NODES] || !parts[CHANNELS]) {
        return wrong(r, root, "'%s' is missing", parts[NODES] ? "channels" : "nodes");
    }
    return (!parts[NAME] || name_read(r, parts[NAME])) && list_read(r, parts[NODES], nodes_read) &&
           list_read(r, parts[CHANNELS], channels_read);
}

static bool
stream_read(reader *r, FILE *file)
{
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser)) {
        command_error(r->command, "no memory");
        return false;
    }
    yaml_parser_set_input_file(&parser, file);
    bool good = yaml_parser_load(&parser, &document);
    if (good) {
        r->document = &document;
        good = tree_read(r);
        yaml_document_delete(&document);
        r->document = NULL;
    } else {
        command_error(r->command, "%s:%zu: %s", r->path, parser.problem_mark.line + 1,
                      parser.problem ? parser.problem : "it cannot be read");
    }
    yaml_parser_delete(&parser);
    return good;
}

/* ---- Finding it ------------------------------------------------------------------------------ */

/* What lies beside this program under the name, or "". */
static void
shipped_path(const char *name, char path[PATH_BYTES])
{
    char own[PATH_BYTES / 2];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    path[0] = '\0';
    if (length > 0 && !strchr(name, '/')) {
        own[length] = '\0';
        *strrchr(own, '/') = '\0';
        int whole = snprintf(path, PATH_BYTES, "%s/" SHIPPED "/%s.yaml", own, name);
        if (whole >= PATH_BYTES) {
            path[0] = '\0';
        }
    }
}

static FILE *
open_either(const char *name, char shipped[PATH_BYTES], const char **path)
{
    FILE *file = fopen(name, "re");
    *path = name;
    if (!file && errno == ENOENT) {
        shipped_path(name, shipped);
        file = *shipped ? fopen(shipped, "re") : NULL;
        *path = file ? shipped : name;
    }
    return file;
}

/* "star" of "folder/star.yaml" */
static void
name_of_path(const char *path, char name[DEPLOYMENT_NAME_BYTES])
{
    const char *last = strrchr(path, '/');
    (void)snprintf(name, DEPLOYMENT_NAME_BYTES, "%s", last ? last + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot > name) {
        *dot = '\0';
    }
}

bool
deployment_read(const med_command *command, const char *name, deployment *to)
{
    char shipped[PATH_BYTES];
    reader r = {.command = command, .to = to};
    FILE *file = open_either(name, shipped, &r.path);
    if (!file) {
        command_error(command,
                      "cannot read '%s': %s; it is no file, and Medley brings none so named", name,
                      strerror(errno));
        return false;
    }
    *to = (deployment){.node_count = 0};
    name_of_path(r.path, to->name);
    bool good = stream_read(&r, file);
    (void)fclose(file);
    return good;
}
