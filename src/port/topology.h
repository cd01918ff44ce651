/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a machine consists of, in the words that those who read it and those who use it share. The
 * only header that a module which reads machines includes.
 *
 * A reader hands over parts, the machine first, each after the part it belongs to. Who receives
 * them checks them.
 */
#ifndef MEDLEY_PORT_TOPOLOGY_H
#define MEDLEY_PORT_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "medley/status.h"

typedef enum med_topology_kind {
    MED_TOPOLOGY_MACHINE,
    MED_TOPOLOGY_PACKAGE,
    MED_TOPOLOGY_MEMORY,
    MED_TOPOLOGY_CACHE,
    MED_TOPOLOGY_CORE,
    MED_TOPOLOGY_PROCESSOR, /* that a thread can be bound to */
    MED_TOPOLOGY_DMA,
    MED_TOPOLOGY_KIND_COUNT
} med_topology_kind;

#define MED_TOPOLOGY_TEXT_BYTES 48u

/* 0, or no text: not told. */
typedef struct med_topology_part {
    med_topology_kind kind;
    uint32_t parent;     /* the number of an earlier part; of the first, nothing */
    uint32_t id;         /* the operating system's number of it */
    uint32_t level;      /* caches, from here on: */
    uint32_t line_bytes; /* */
    uint32_t ways;       /* UINT32_MAX: fully associative */
    uint64_t size_bytes; /* and memories */
    uint64_t address;    /* memories */
    uint64_t frequency_hz;
    char name[MED_TOPOLOGY_TEXT_BYTES];
    char type[MED_TOPOLOGY_TEXT_BYTES]; /* of processors */
} med_topology_part;

/* Takes a part over, and says its number. False: no more, the reader ends with an error. */
typedef struct med_topology_sink {
    bool (*add)(void *context, const med_topology_part *part, uint32_t *number);
    void *context;
} med_topology_sink;

/* The variable that makes hwloc take another machine for this one, and its value; of several, hwloc
 * goes by the first. NULL: none of them has a value. `value_of` reads the environment. */
static inline const char *
med_topology_variable(const char *(*value_of)(const char *variable), const char **value)
{
    static const char *const variables[] = {"HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_SYNTHETIC",
                                            "HWLOC_XMLFILE"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *found = value_of(variables[i]);
        if (found && *found) {
            *value = found;
            return variables[i];
        }
    }
    return NULL;
}

/* Reads a machine: this one, or the one that the environment chooses. On failure what was handed
 * over is worth nothing, and `why` says what was wrong and where. */
typedef medley_status_t (*med_topology_read)(const med_topology_sink *sink,
                                             char *why,
                                             size_t why_bytes);

/* What a module exports under this name. */
#define MED_TOPOLOGY_MODULE_SYMBOL "medley_topology_module"
#define MED_TOPOLOGY_MODULE_VERSION 2u
typedef struct med_topology_module {
    uint32_t version;
    uint32_t part_bytes; /* sizeof(med_topology_part) */
    med_topology_read read;
} med_topology_module;

#endif
