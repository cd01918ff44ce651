/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hwloc's format has three versions, of which the first asked for less: then only what all have in
 * common is looked at. Attributes and tags that are not known here are left to hwloc.
 */
#include "modules/machine_check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <hwloc.h>

#include "modules/xml_check.h"

#define VALUE_BYTES_MAX 16384
#define SETS_ALL 15u
#define UNTYPED HWLOC_OBJ_TYPE_MAX

enum {
    CPUSET,
    NODESET,
    COMPLETE_CPUSET,
    COMPLETE_NODESET
};

/* One tag that is open. */
typedef struct element {
    bool is_object;
    bool has_objects; /* some of its own: nothing else may follow */
    hwloc_obj_type_t type;
    unsigned sets; /* a bit for each that it has */
    unsigned long os_index;
    unsigned long cache_depth;
    unsigned long cache_type;
    hwloc_bitmap_t own[2]; /* CPUSET, NODESET */
} element;

typedef struct machine {
    element open[XML_DEPTH_MAX];
    unsigned depth;
    unsigned long version; /* of the format */
    unsigned line;         /* where its first object begins; 0: there was none yet */
    bool has_processors;
    bool no_memory;         /* for the sets */
    hwloc_bitmap_t seen[2]; /* processors by CPUSET, memories by NODESET */
} machine;

static bool
span_is(xml_span span, const char *text)
{
    return strlen(text) == span.length && memcmp(span.start, text, span.length) == 0;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* hwloc writes -1 for the ways of a cache that has none, or as many as lines. */
static bool
number_read(xml_span value, bool may_be_negative, unsigned long *number)
{
    char text[24];
    char *end;
    if (value.length == 0 || value.length >= sizeof text) {
        return false;
    }
    memcpy(text, value.start, value.length);
    text[value.length] = '\0';
    size_t sign = may_be_negative && text[0] == '-';
    errno = 0;
    *number = strtoul(text, &end, 10);
    return text[sign] >= '0' && text[sign] <= '9' && *end == '\0' && errno == 0;
}

#define INFINITE_SET "0xf...f"

/* Numbers of 32 bits, the highest first; those that are 0 may be left out, but not the first. hwloc
 * does not survive all that is not so. */
static bool
set_good(const char *text)
{
    bool first = true;
    if (strncmp(text, INFINITE_SET, strlen(INFINITE_SET)) == 0) {
        text += strlen(INFINITE_SET);
        first = false;
    }
    for (; first || *text == ','; first = false) {
        text += !first;
        text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
        size_t digits = strspn(text, "0123456789abcdefABCDEF");
        if (digits > 8 || (first && digits == 0)) {
            return false;
        }
        text += digits;
    }
    return *text == '\0';
}

static const char *
set_read(machine *m, element *e, int set, xml_span value)
{
    char text[VALUE_BYTES_MAX];
    if (value.length >= sizeof text) {
        return "a set is too long";
    }
    memcpy(text, value.start, value.length);
    text[value.length] = '\0';
    if (!set_good(text)) {
        return "a set is none; want hexadecimal numbers";
    }
    e->sets |= 1u << set;
    if (set <= NODESET) {
        e->own[set] = e->own[set] ? e->own[set] : hwloc_bitmap_alloc();
        m->no_memory = m->no_memory || !e->own[set];
        if (e->own[set] && hwloc_bitmap_sscanf(e->own[set], text) != 0) {
            return "a set is none; want hexadecimal numbers";
        }
    }
    return NULL;
}

static const char *
type_read(const machine *m, element *e, xml_span value)
{
    char text[32];
    if (value.length >= sizeof text) {
        return "an object is of no known type";
    }
    memcpy(text, value.start, value.length);
    text[value.length] = '\0';
    if (hwloc_type_sscanf(text, &e->type, NULL, 0) == 0) {
        return NULL;
    }
    /* What hwloc takes when it reads, but does not call so itself. */
    static const char *const groups[] = {"Tile", "Module", "Cluster"};
    e->type = HWLOC_OBJ_GROUP;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (strcasecmp(text, groups[i]) == 0) {
            return NULL;
        }
    }
    bool is_old = strcasecmp(text, "Cache") == 0 || strcasecmp(text, "System") == 0;
    return is_old && m->version < 2 ? NULL : "an object is of no known type";
}

static const char *
object_attribute(machine *m, element *e, xml_span name, xml_span value)
{
    static const char *const sets[] = {"cpuset", "nodeset", "complete_cpuset", "complete_nodeset"};
    static const char *const numbers[] = {
        "gp_index",     "cache_size", "cache_linesize", "cache_associativity",
        "local_memory", "kind",       "subkind",        "dont_merge"};
    unsigned long ignored;
    if (span_is(name, "type")) {
        return type_read(m, e, value);
    }
    if (e->type == UNTYPED) {
        return "an object's type is not its first attribute";
    }
    for (int i = 0; i < 4; i++) {
        if (span_is(name, sets[i])) {
            return set_read(m, e, i, value);
        }
    }
    unsigned long *number = span_is(name, "os_index")     ? &e->os_index
                            : span_is(name, "depth")      ? &e->cache_depth
                            : span_is(name, "cache_type") ? &e->cache_type
                                                          : NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !number; i++) {
        number = span_is(name, numbers[i]) ? &ignored : NULL;
    }
    bool may_be_negative = span_is(name, "cache_associativity");
    return number && !number_read(value, may_be_negative, number) ? "a value is no number" : NULL;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static bool
is_io(hwloc_obj_type_t type)
{
    return type == HWLOC_OBJ_BRIDGE || type == HWLOC_OBJ_PCI_DEVICE || type == HWLOC_OBJ_OS_DEVICE;
}

static bool
has_sets(hwloc_obj_type_t type)
{
    return !is_io(type) && type != HWLOC_OBJ_MISC;
}

static bool
is_memory(hwloc_obj_type_t type)
{
    return type == HWLOC_OBJ_NUMANODE || type == HWLOC_OBJ_MEMCACHE;
}

/* Processors, and what they are parts of. */
static bool
is_normal(hwloc_obj_type_t type)
{
    return has_sets(type) && !is_memory(type);
}

static bool
cache_fits(const element *e)
{
    bool instruction = hwloc_obj_type_is_icache(e->type);
    hwloc_obj_type_t first = instruction ? HWLOC_OBJ_L1ICACHE : HWLOC_OBJ_L1CACHE;
    return e->cache_depth == (unsigned long)(e->type - first) + 1 &&
           (e->cache_type == HWLOC_OBJ_CACHE_INSTRUCTION) == instruction;
}

#define OS_INDEX_MAX (1u << 20)

/* A processor or a memory stands in its own set under its own number, alone, and no other has it.
 */
static const char *
alone_check(machine *m, const element *e, int set)
{
    unsigned index = (unsigned)e->os_index;
    if (e->os_index > OS_INDEX_MAX || hwloc_bitmap_weight(e->own[set]) != 1 ||
        !hwloc_bitmap_isset(e->own[set], index)) {
        return "a processor's cpuset, or a memory's nodeset, is not its own os_index alone";
    }
    if (hwloc_bitmap_isset(m->seen[set], index)) {
        return "two have the same os_index";
    }
    return hwloc_bitmap_set(m->seen[set], index) == 0 ? NULL : "no memory";
}

static const char *
place_check(const element *e, const element *parent)
{
    if (e->type == HWLOC_OBJ_MACHINE) {
        return "a machine stands in another object";
    }
    if (is_normal(e->type) && (!is_normal(parent->type) || parent->type == HWLOC_OBJ_PU)) {
        return "an object stands where none of its type may";
    }
    if (is_memory(e->type) && !has_sets(parent->type)) {
        return "a memory stands in what is not of processors or memory";
    }
    if (is_io(e->type) && (is_memory(parent->type) || parent->type == HWLOC_OBJ_MISC)) {
        return "a device stands in what has none";
    }
    return NULL;
}

static const char *
sets_check(machine *m, const element *e, const element *parent)
{
    if (!has_sets(e->type)) {
        return e->own[CPUSET] || e->own[NODESET] ? "a device has a set of processors or memories"
                                                 : NULL;
    }
    if (e->sets != SETS_ALL) {
        return "an object lacks cpuset, complete_cpuset, nodeset or complete_nodeset";
    }
    if (e->type == HWLOC_OBJ_PU || e->type == HWLOC_OBJ_NUMANODE) {
        const char *wrong = alone_check(m, e, e->type == HWLOC_OBJ_PU ? CPUSET : NODESET);
        if (wrong) {
            return wrong;
        }
    }
    for (int set = CPUSET; parent && set <= NODESET; set++) {
        if (!hwloc_bitmap_isincluded(e->own[set], parent->own[set])) {
            return "an object's set has what the one around it lacks";
        }
    }
    return NULL;
}

static const char *
object_check(machine *m, const element *e, const element *parent)
{
    if (e->type == UNTYPED) {
        return "an object has no type";
    }
    m->has_processors = m->has_processors || e->type == HWLOC_OBJ_PU;
    if (m->version < 2 || m->no_memory) {
        return NULL;
    }
    if (!parent && e->type != HWLOC_OBJ_MACHINE) {
        return "the first object is no machine";
    }
    const char *wrong = parent ? place_check(e, parent) : NULL;
    wrong = wrong ? wrong : sets_check(m, e, parent && has_sets(parent->type) ? parent : NULL);
    if (!wrong && !parent && hwloc_bitmap_iszero(e->own[NODESET])) {
        return "the machine has no memory";
    }
    if (!wrong && hwloc_obj_type_is_cache(e->type) && !cache_fits(e)) {
        return "a cache's depth or cache_type is not that of its type";
    }
    return wrong;
}

/* ---- Tags ------------------------------------------------------------------------------------ */

static const element *
parent_of(const machine *m)
{
    return m->depth >= 2 && m->open[m->depth - 1].is_object ? &m->open[m->depth - 1] : NULL;
}

static const char *
child_check(const machine *m, xml_span name)
{
    static const char *const known[] = {"info", "userdata", "page_type", "distances"};
    const element *parent = parent_of(m);
    if (!parent) {
        return NULL;
    }
    if (parent->has_objects) {
        return "an object has something else after its objects";
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (span_is(name, known[i])) {
            return NULL;
        }
    }
    return "an object has something that none has";
}

static const char *
begin(void *context, xml_span name, unsigned line)
{
    machine *m = context;
    element *e = &m->open[m->depth];
    hwloc_bitmap_free(e->own[CPUSET]);
    hwloc_bitmap_free(e->own[NODESET]);
    *e = (element){.is_object = span_is(name, "object"), .type = UNTYPED};
    if (m->depth == 0) {
        return span_is(name, "topology") || span_is(name, "root") ? NULL : "it is no topology";
    }
    if (!e->is_object) {
        return m->depth == 1 && m->line == 0 && m->version >= 2 ? "a topology has no object first"
                                                                : child_check(m, name);
    }
    if (m->depth == 1 && m->line != 0) {
        return "a second object stands beside the machine";
    }
    if (m->depth > 1 && !m->open[m->depth - 1].is_object) {
        return "an object stands in what is none";
    }
    m->line = m->line ? m->line : line;
    m->open[m->depth - 1].has_objects = true;
    return NULL;
}

static const char *
attribute(void *context, xml_span name, xml_span value)
{
    machine *m = context;
    element *e = &m->open[m->depth];
    if (e->is_object) {
        return object_attribute(m, e, name, value);
    }
    if (m->depth == 0 && span_is(name, "version")) {
        xml_span major = {.start = value.start, .length = strcspn(value.start, ".\"'")};
        return number_read(major, false, &m->version) && m->version <= hwloc_get_api_version() >> 16
                   ? NULL
                   : "a version of the format that this hwloc does not read";
    }
    return NULL;
}

static const char *
begun(void *context)
{
    machine *m = context;
    const element *e = &m->open[m->depth];
    const char *wrong = e->is_object ? object_check(m, e, parent_of(m)) : NULL;
    m->depth++;
    return wrong;
}

static const char *
end(void *context)
{
    machine *m = context;
    if (--m->depth > 0) {
        return NULL;
    }
    return m->line == 0         ? "there is no machine in it"
           : !m->has_processors ? "the machine has no processors"
                                : NULL;
}

static void
machine_free(machine *m)
{
    for (unsigned i = 0; i < XML_DEPTH_MAX; i++) {
        hwloc_bitmap_free(m->open[i].own[CPUSET]);
        hwloc_bitmap_free(m->open[i].own[NODESET]);
    }
    hwloc_bitmap_free(m->seen[CPUSET]);
    hwloc_bitmap_free(m->seen[NODESET]);
    free(m);
}

static machine *
machine_new(void)
{
    machine *m = calloc(1, sizeof *m);
    if (m) {
        m->seen[CPUSET] = hwloc_bitmap_alloc();
        m->seen[NODESET] = hwloc_bitmap_alloc();
    }
    if (m && (!m->seen[CPUSET] || !m->seen[NODESET])) {
        machine_free(m);
        m = NULL;
    }
    return m;
}

const char *
machine_check(const char *text, size_t length, unsigned *line)
{
    machine *m = machine_new();
    if (!m) {
        *line = 1;
        return "no memory";
    }
    const xml_reader reader = {
        .begin = begin, .attribute = attribute, .begun = begun, .end = end, .context = m};
    const char *wrong = xml_check(text, length, &reader, line);
    *line = wrong ? *line : m->line;
    machine_free(m);
    return wrong;
}
