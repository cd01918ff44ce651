/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An image: a system as a text that a person writes, from which it is made before any program runs
 * in it. The grammar, a small part of YAML, is in docs/design/image.md.
 *
 * The text is read as a stream, twice or more: once for what holds for all of it (name, limits, is
 * it well formed), then for its items, as often as somebody wants them. So an image takes no memory
 * but its text's. Nothing of it is trusted; the first thing wrong with it is told by file and line.
 */
#ifndef MEDLEY_MRAPI_IMAGE_H
#define MEDLEY_MRAPI_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "medley/status.h"
#include "mrapi/limits.h"
#include "mrapi/partition.h"
#include "port/port.h"

struct med_system;

/* Larger files are refused. */
#define MED_IMAGE_BYTES_MAX (4u << 20)
/* As many numbers as a list of nodes may have: all nodes that there can be. */
#define MED_IMAGE_LIST_MAX ((uint32_t)MED_LIMIT_NODES_LARGEST)
/* What a reader needs for one list: it is kept, and sorted. */
#define MED_IMAGE_LIST_ROOM (2u * MED_IMAGE_LIST_MAX)
/* The numbers of domains and nodes are below. */
#define MED_IMAGE_NUMBER_ANY UINT32_MAX
/* Above are the ports that MCAPI chooses where any will do. */
#define MED_IMAGE_PORT_MAX 0x3fffffffu

typedef enum med_image_section {
    MED_IMAGE_DOMAINS,
    MED_IMAGE_NODES,
    MED_IMAGE_ENDPOINTS,
    MED_IMAGE_MUTEXES,
    MED_IMAGE_SEMAPHORES,
    MED_IMAGE_RWLOCKS,
    MED_IMAGE_SHMEMS,
    MED_IMAGE_SECTION_COUNT
} med_image_section;

typedef struct med_image_attribute {
    uint32_t bit;
    const char *name;
} med_image_attribute;

/* All that any object has, ended by a NULL name. */
extern const med_image_attribute med_image_attributes[];

typedef struct med_image_item {
    med_image_section section;
    uint32_t line;
    uint32_t number; /* of an endpoint: its port */
    uint32_t domain;
    uint32_t node;       /* of an endpoint */
    uint32_t attributes; /* DOMAIN_SHARED unless said otherwise */
    uint32_t limit;
    uint32_t size_bytes;
    uint32_t place; /* med_port_place */
    uint32_t place_index;
    uint64_t address;
    uint32_t node_count; /* numbers in the image's list, until the next item */
} med_image_item;

typedef struct med_image {
    const char *path; /* for messages; outlives the image */
    const char *text;
    uint32_t length;
    bool mapped;                      /* text and list are this image's own memory */
    unsigned *list;                   /* MED_IMAGE_LIST_ROOM numbers */
    char name[MED_PORT_NAME_MAX + 1]; /* "": not said */
    uint32_t name_line;
    bool on_death_said;
    med_on_death on_death;
    uint32_t limits[MED_LIMIT_COUNT]; /* 0: not said */
    bool refused;                     /* and it was told why */
    bool (*ended)(void); /* asked before each item is made: no more is wanted; or NULL */
} med_image;

typedef struct med_image_reader {
    med_image *image;
    uint32_t at; /* the next byte, and its line, from 1 */
    uint32_t line;
    uint32_t place; /* where in the text it is: of no section, in the limits, or a section */
    uint32_t seen;  /* keys of the top */
    uint32_t limits_seen;
} med_image_reader;

/* Reads a file, and checks all of it that can be checked by itself. On failure nothing is to be
 * closed, and the log says why: MEDLEY_ERR_ARGUMENT: the text; else the file. `why_absent` is said
 * where there is none: what to do depends on who named it. */
medley_status_t med_image_open(const char *path, const char *why_absent, med_image *image);
/* The same for a text in memory; `list` has room for MED_IMAGE_LIST_ROOM. */
medley_status_t med_image_open_text(
    const char *path, const char *text, uint32_t length, unsigned *list, med_image *image);
void med_image_close(med_image *image);

void med_image_rewind(med_image *image, med_image_reader *reader);
/* The next item. MEDLEY_EMPTY: there is no more; MEDLEY_ERR_ARGUMENT. */
medley_status_t med_image_next(med_image_reader *reader, med_image_item *item);

/* "file:line: what 'quoted': advice"; marks the image. Gives MEDLEY_ERR_ARGUMENT. */
medley_status_t med_image_refuse(med_image *image,
                                 uint32_t line,
                                 const char *what,
                                 const char *quoted,
                                 size_t quoted_bytes,
                                 const char *advice);

/* What a limit is called in an image: "rmem-attachments". */
void med_image_limit_name(med_limit which, char name[32]);

/* ---- Making a system of it (image_apply.c) --------------------------------------------------- */

/* The image says what it says of the limits. */
void med_image_limits(const med_image *image, med_limits *limits);
/* Is there room in such a system for all that it asks for? MEDLEY_ERR_ARGUMENT. */
medley_status_t med_image_check(med_image *image, const med_limits *limits);
/* Makes all of it, in a system that nobody else is in. What was made before a failure stays: the
 * system goes as a whole. MEDLEY_ERR_CANCELED: ended. */
medley_status_t med_image_apply(struct med_system *system, med_image *image);
/* That of MEDLEY_SYSTEM_IMAGE, for a system of that name. MEDLEY_EMPTY: none is asked for. */
medley_status_t med_image_open_environment(const char *name, med_image *image);

/* Of a floor above: this name is all that this one knows of it (mcapi/endpoint_expected.c). Keeps
 * the place of an endpoint that its node will create, while nobody else is in the system yet; one
 * with a node and port below those that the library chooses. MEDLEY_ERR_EXISTS; MEDLEY_ERR_LIMIT,
 * also where too many names have one hash. */
MED_PORT_OPTIONAL medley_status_t med_endpoint_expect(struct med_system *system,
                                                      uint32_t domain,
                                                      uint32_t node,
                                                      uint32_t port);

#endif
