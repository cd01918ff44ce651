/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares a tree with tables. */
#include "tools/medley/mapping.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WANTED_BYTES 256

bool
mapping_wrong(const mapping_reader *r, const yaml_node_t *at, const char *format, ...)
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
mapping_choices_write(const char *const *names, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; names[i] && length < size; i++) {
        const char *between = i == 0 ? "" : names[i + 1] ? ", " : " or ";
        length += (size_t)snprintf(text + length, size - length, "%s%s", between, names[i]);
    }
}

int
mapping_choice(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- Values ---------------------------------------------------------------------------------- */

const char *
mapping_text(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE) {
        return NULL;
    }
    const char *text = (const char *)node->data.scalar.value;
    return strlen(text) == node->data.scalar.length ? text : NULL;
}

const char *
mapping_shown(const yaml_node_t *node)
{
    const char *text = mapping_text(node);
    return text ? text : "...";
}

bool
mapping_number_read(const char *text, char **end, unsigned *number)
{
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    unsigned long read = strtoul(text, end, 10);
    *number = (unsigned)read;
    return errno == 0 && read <= UINT32_MAX;
}

bool
mapping_number(const mapping_reader *r,
               const yaml_node_t *node,
               const mapping_field *f,
               void *value)
{
    const char *text = mapping_text(node);
    unsigned *number = value;
    char *end;
    bool good = text && mapping_number_read(text, &end, number) && !*end;
    return (good && *number >= f->least && *number <= f->most) ||
           mapping_wrong(r, node, "%s '%s': want a number from %u to %u", f->key,
                         mapping_shown(node), f->least, f->most);
}

bool
mapping_one_of(const mapping_reader *r,
               const yaml_node_t *node,
               const mapping_field *f,
               void *value)
{
    const char *text = mapping_text(node);
    int choice = text ? mapping_choice(f->choices, text) : -1;
    char wanted[WANTED_BYTES];
    *(unsigned *)value = (unsigned)choice;
    mapping_choices_write(f->choices, wanted, sizeof wanted);
    return choice >= 0 ||
           mapping_wrong(r, node, "%s '%s': want %s", f->key, mapping_shown(node), wanted);
}

/* ---- Mappings -------------------------------------------------------------------------------- */

static const mapping_field *
field_find(const mapping_reader *r,
           const yaml_node_t *key,
           const mapping_field *fields,
           size_t count)
{
    const char *text = mapping_text(key);
    const char *names[32] = {NULL};
    char wanted[WANTED_BYTES];
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i].key;
        if (text && strcmp(text, fields[i].key) == 0) {
            return &fields[i];
        }
    }
    mapping_choices_write(names, wanted, sizeof wanted);
    (void)mapping_wrong(r, key, "key '%s': want %s", mapping_shown(key), wanted);
    return NULL;
}

bool
mapping_read(const mapping_reader *r,
             const yaml_node_t *node,
             const mapping_field *fields,
             size_t count,
             void *into)
{
    unsigned seen = 0;
    if (node->type != YAML_MAPPING_NODE) {
        return mapping_wrong(r, node, "want a mapping of keys to values here");
    }
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(r->document, pair->value);
        const mapping_field *f = field_find(r, key, fields, count);
        if (!f) {
            return false;
        }
        unsigned bit = 1u << (f - fields);
        if (seen & bit) {
            return mapping_wrong(r, key, "key '%s' stands here twice", f->key);
        }
        seen |= bit;
        if (!f->read(r, value, f, (char *)into + f->offset)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (fields[i].needed && !(seen & 1u << i)) {
            return mapping_wrong(r, node, "'%s' is missing", fields[i].key);
        }
    }
    return true;
}
/* ---- The whole ------------------------------------------------------------------------------- */

bool
mapping_list(const mapping_reader *r,
             const yaml_node_t *list,
             bool (*entry_read)(const mapping_reader *r, const yaml_node_t *node))
{
    if (list->type != YAML_SEQUENCE_NODE ||
        list->data.sequence.items.start == list->data.sequence.items.top) {
        return mapping_wrong(r, list, "want a list here, and something in it");
    }
    for (yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top; item++) {
        if (!entry_read(r, yaml_document_get_node(r->document, *item))) {
            return false;
        }
    }
    return true;
}

bool
mapping_document(mapping_reader *r,
                 FILE *file,
                 bool (*tree_read)(const mapping_reader *r, const yaml_node_t *root))
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
        const yaml_node_t *root = yaml_document_get_root_node(&document);
        r->document = &document;
        good = root && tree_read(r, root);
        if (!root) {
            command_error(r->command, "%s: it is empty", r->path);
        }
        yaml_document_delete(&document);
        r->document = NULL;
    } else {
        command_error(r->command, "%s:%zu: %s", r->path, parser.problem_mark.line + 1,
                      parser.problem ? parser.problem : "it cannot be read");
    }
    yaml_parser_delete(&parser);
    return good;
}
