/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads deployments: what may stand where in such a file. */
#include "tools/medley/deployment.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/medley/mapping.h"

#define PATH_BYTES 4096
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

typedef struct selection {
    unsigned first, last; /* nodes */
    bool next;            /* instead: the one after the other end, the first after the last */
} selection;

/* "3", "2-5" */
static bool
range_read(const char *text, selection *nodes)
{
    char *end;
    if (!text || !mapping_number_read(text, &end, &nodes->first)) {
        return false;
    }
    nodes->last = nodes->first;
    if (*end == '-' && !mapping_number_read(end + 1, &end, &nodes->last)) {
        return false;
    }
    return !*end && nodes->first >= 1 && nodes->first <= nodes->last;
}

static bool
selection_read(const mapping_reader *r,
               const yaml_node_t *node,
               const mapping_field *f,
               bool or_next,
               selection *nodes)
{
    const deployment *d = r->to;
    const char *text = mapping_text(node);
    *nodes = (selection){.first = 1, .last = d->node_count};
    if (text && strcmp(text, "all") == 0) {
        return true;
    }
    if (text && or_next && strcmp(text, "next") == 0) {
        nodes->next = true;
        return true;
    }
    bool good = range_read(text, nodes) && nodes->last <= d->node_count;
    return good || mapping_wrong(
                       r, node, "%s '%s': want a node from 1 to %u, a range of them as 2-5, all%s",
                       f->key, mapping_shown(node), d->node_count, or_next ? ", or next" : "");
}

static bool
nodes_field(const mapping_reader *r, const yaml_node_t *node, const mapping_field *f, void *value)
{
    return selection_read(r, node, f, false, value);
}

static bool
nodes_or_next_field(const mapping_reader *r,
                    const yaml_node_t *node,
                    const mapping_field *f,
                    void *value)
{
    return selection_read(r, node, f, true, value);
}

/* ---- Nodes and channels ---------------------------------------------------------------------- */

typedef struct nodes_entry {
    unsigned count, run, affinity;
} nodes_entry;

static bool
nodes_read(const mapping_reader *r, const yaml_node_t *node)
{
    static const mapping_field fields[] = {
        {"count", offsetof(nodes_entry, count), mapping_number, true, 1, DEPLOYMENT_NODES_MAX,
         NULL},
        {"run", offsetof(nodes_entry, run), mapping_one_of, false, 0, 0, deployment_run_names},
        {"affinity", offsetof(nodes_entry, affinity), mapping_one_of, false, 0, 0,
         deployment_affinity_names},
    };
    nodes_entry entry = {.run = DEPLOYMENT_THREADS, .affinity = DEPLOYMENT_FREE};
    deployment *to = r->to;
    if (!MAPPING_READ(r, node, fields, &entry)) {
        return false;
    }
    if (entry.count > DEPLOYMENT_NODES_MAX - to->node_count) {
        return mapping_wrong(r, node, "more than %u nodes", DEPLOYMENT_NODES_MAX);
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
channel_add(const mapping_reader *r,
            const yaml_node_t *node,
            const channels_entry *entry,
            unsigned from,
            unsigned to)
{
    deployment *d = r->to;
    if (d->channel_count == DEPLOYMENT_CHANNELS_MAX) {
        return mapping_wrong(r, node, "more than %u channels", DEPLOYMENT_CHANNELS_MAX);
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
channels_between(const mapping_reader *r,
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
channels_add(const mapping_reader *r, const yaml_node_t *node, const channels_entry *entry)
{
    const deployment *d = r->to;
    uint32_t before = d->channel_count;
    bool good = true;
    for (unsigned from = entry->from.first; good && from <= entry->from.last; from++) {
        if (entry->to.next) {
            good = channels_between(r, node, entry, from, from % d->node_count + 1);
        } else {
            for (unsigned to = entry->to.first; good && to <= entry->to.last; to++) {
                good = channels_between(r, node, entry, from, to);
            }
        }
    }
    return good && (d->channel_count > before ||
                    mapping_wrong(r, node, "no channel: a node has none to itself"));
}

static bool
channels_read(const mapping_reader *r, const yaml_node_t *node)
{
    static const mapping_field fields[] = {
        {"from", offsetof(channels_entry, from), nodes_field, true, 0, 0, NULL},
        {"to", offsetof(channels_entry, to), nodes_or_next_field, true, 0, 0, NULL},
        {"type", offsetof(channels_entry, type), mapping_one_of, true, 0, 0, deployment_type_names},
        {"direction", offsetof(channels_entry, direction), mapping_one_of, false, 0, 0, directions},
        {"size", offsetof(channels_entry, size), mapping_number, false, 1, DEPLOYMENT_SIZE_MAX,
         NULL},
        {"count", offsetof(channels_entry, count), mapping_number, false, 1, DEPLOYMENT_COUNT_MAX,
         NULL},
        {"priority", offsetof(channels_entry, priority), mapping_number, false, 0, 3, NULL},
    };
    channels_entry entry = {.direction = ONE_WAY, .count = 1000};
    if (!MAPPING_READ(r, node, fields, &entry)) {
        return false;
    }
    bool scalar = entry.type == DEPLOYMENT_SCALAR;
    entry.size = entry.size ? entry.size : scalar ? 8 : 24;
    if (scalar && entry.size != 1 && entry.size != 2 && entry.size != 4 && entry.size != 8) {
        return mapping_wrong(r, node, "size %u of a scalar: want 1, 2, 4 or 8", entry.size);
    }
    if (entry.type == DEPLOYMENT_STATE && entry.size < STATE_LEAST) {
        return mapping_wrong(r, node, "size %u of a state: want 8 or more", entry.size);
    }
    return channels_add(r, node, &entry);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool
name_read(const mapping_reader *r, const yaml_node_t *node)
{
    deployment *to = r->to;
    const char *text = mapping_text(node);
    if (!text || !*text || strlen(text) >= sizeof to->name) {
        return mapping_wrong(r, node, "name: want 1 to %zu letters", sizeof to->name - 1);
    }
    (void)snprintf(to->name, sizeof to->name, "%s", text);
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
parts_find(const mapping_reader *r, const yaml_node_t *root, const yaml_node_t *parts[PARTS])
{
    static const char *const keys[] = {"name", "nodes", "channels", NULL};
    if (root->type != YAML_MAPPING_NODE) {
        return mapping_wrong(r, root, "want the keys name, nodes and channels");
    }
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const char *text = mapping_text(key);
        int part = text ? mapping_choice(keys, text) : -1;
        if (part < 0) {
            return mapping_wrong(r, key, "key '%s': want name, nodes or channels",
                                 mapping_shown(key));
        }
        if (parts[part]) {
            return mapping_wrong(r, key, "key '%s' stands here twice", text);
        }
        parts[part] = yaml_document_get_node(r->document, pair->value);
    }
    return true;
}

static bool
tree_read(const mapping_reader *r, const yaml_node_t *root)
{
    const yaml_node_t *parts[PARTS] = {NULL};
    if (!parts_find(r, root, parts)) {
        return false;
    }
    if (!parts[NODES] || !parts[CHANNELS]) {
        return mapping_wrong(r, root, "'%s' is missing", parts[NODES] ? "channels" : "nodes");
    }
    return (!parts[NAME] || name_read(r, parts[NAME])) &&
           mapping_list(r, parts[NODES], nodes_read) &&
           mapping_list(r, parts[CHANNELS], channels_read);
}

/* ---- Finding it ------------------------------------------------------------------------------ */

static bool
shipped_find(const char *name, char path[PATH_BYTES])
{
    char from_command[PATH_BYTES];
    int whole = snprintf(from_command, sizeof from_command, SHIPPED "/%s.yaml", name);
    return !strchr(name, '/') && whole < PATH_BYTES &&
           command_brought(from_command, path, PATH_BYTES);
}

static FILE *
open_either(const char *name, char shipped[PATH_BYTES], const char **path)
{
    FILE *file = fopen(name, "re");
    *path = name;
    if (!file && errno == ENOENT) {
        file = shipped_find(name, shipped) ? fopen(shipped, "re") : NULL;
        *path = file ? shipped : name;
    }
    return file;
}

/* "star" of "folder/star.yaml"; of a longer one so much as a name may have: it is only shown. */
static void
name_of_path(const char *path, char name[DEPLOYMENT_NAME_BYTES])
{
    const char *last = strrchr(path, '/');
    const char *file = last ? last + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t letters = dot && dot > file ? (size_t)(dot - file) : strlen(file);
    int shown = letters < DEPLOYMENT_NAME_BYTES ? (int)letters : (int)DEPLOYMENT_NAME_BYTES - 1;
    (void)snprintf(name, DEPLOYMENT_NAME_BYTES, "%.*s", shown, file);
}

bool
deployment_read(const med_command *command, const char *name, deployment *to)
{
    char shipped[PATH_BYTES];
    mapping_reader r = {.command = command, .to = to};
    FILE *file = open_either(name, shipped, &r.path);
    if (!file) {
        command_error(command,
                      "cannot read '%s': %s; it is no file, and Medley brings none so named", name,
                      strerror(errno));
        return false;
    }
    *to = (deployment){.node_count = 0};
    name_of_path(r.path, to->name);
    bool good = mapping_document(&r, file, tree_read);
    (void)fclose(file);
    return good;
}
