/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * YAML by tables. libyaml makes a tree of the text, in which each part knows its line; here it is
 * compared with tables of what may stand where. What is wrong is told with the file's name and the
 * line; then nothing more is read.
 */
#ifndef MEDLEY_TOOLS_MAPPING_H
#define MEDLEY_TOOLS_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <yaml.h>

#include "tools/medley/command.h"

typedef struct mapping_reader {
    const med_command *command;
    const char *path;
    yaml_document_t *document;
    void *to; /* what is made of it */
} mapping_reader;

/* One key of a mapping, and where its value goes. */
typedef struct mapping_field {
    const char *key;
    size_t offset;
    bool (*read)(const mapping_reader *r,
                 const yaml_node_t *node,
                 const struct mapping_field *f,
                 void *value);
    bool needed;
    unsigned least, most;       /* of a number */
    const char *const *choices; /* of a choice, ended by NULL */
} mapping_field;

/* Tells it. False. */
bool mapping_wrong(const mapping_reader *r, const yaml_node_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The text of a plain value, or NULL. What has a zero byte inside is none. */
const char *mapping_text(const yaml_node_t *node);
/* The same for a message. */
const char *mapping_shown(const yaml_node_t *node);
/* Digits only; where they end. */
bool mapping_number_read(const char *text, char **end, unsigned *number);
/* The number of a name in such a list, or -1. */
int mapping_choice(const char *const *names, const char *name);
/* "one, two or three" */
void mapping_choices_write(const char *const *names, char *text, size_t size);

/* For fields: an unsigned between `least` and `most`; an unsigned that counts `choices`. */
bool mapping_number(const mapping_reader *r,
                    const yaml_node_t *node,
                    const mapping_field *f,
                    void *value);
bool mapping_one_of(const mapping_reader *r,
                    const yaml_node_t *node,
                    const mapping_field *f,
                    void *value);

/* Each key once, and those that are needed. */
bool mapping_read(const mapping_reader *r,
                  const yaml_node_t *node,
                  const mapping_field *fields,
                  size_t count,
                  void *into);
#define MAPPING_READ(r, node, fields, into)                                                        \
    mapping_read(r, node, fields, sizeof(fields) / sizeof((fields)[0]), into)

/* All of a list, which is not empty. */
bool mapping_list(const mapping_reader *r,
                  const yaml_node_t *list,
                  bool (*entry_read)(const mapping_reader *r, const yaml_node_t *node));

/* The whole file. */
bool mapping_document(mapping_reader *r,
                      FILE *file,
                      bool (*tree_read)(const mapping_reader *r, const yaml_node_t *root));

#endif
