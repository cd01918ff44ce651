/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley system save: what a running system consists of, as a file, which mrapi/image.h reads. */
#include "tools/medley/image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcapi/view.h"
#include "mrapi/image.h"
#include "mrapi/object.h"
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "tools/medley/output.h"
#include "tools/medley/output_file.h"
#include "tools/medley/snapshot_tell.h"

/* ---- Writing --------------------------------------------------------------------------------- */

/* In the order of their numbers, so that equal systems are equal files whatever was made first. */
typedef struct entry {
    uint32_t domain; /* of a node or an endpoint, else 0 */
    uint32_t node;   /* of an endpoint, else 0 */
    uint32_t number;
    uint32_t index;
} entry;

static int
entry_compare(const void *a, const void *b)
{
    const entry *left = a;
    const entry *right = b;
    if (left->domain != right->domain) {
        return left->domain < right->domain ? -1 : 1;
    }
    if (left->node != right->node) {
        return left->node < right->node ? -1 : 1;
    }
    return left->number < right->number ? -1 : left->number > right->number;
}

static void
attributes_write(FILE *file, uint32_t attributes)
{
    const char *between = "";
    (void)fputs("    attributes: [", file);
    for (const med_image_attribute *a = med_image_attributes; a->name; a++) {
        if (attributes & a->bit) {
            (void)fprintf(file, "%s%s", between, a->name);
            between = ", ";
        }
    }
    (void)fputs("]\n", file);
}

static void
object_write(FILE *file, uint32_t number, uint32_t domain)
{
    (void)fprintf(file, "  - number: %" PRIu32 "\n    domain: %" PRIu32 "\n", number, domain);
}

/* Of numbers that the library chose, nobody knows which: who made them has the handle, and nobody
 * could find them again. So they are not saved, nor are nodes of such numbers. */
static bool
by_number(uint32_t number)
{
    return number <= MED_OBJECT_USER_MAX;
}

static bool
domain_entry(const med_system *system, med_kind kind, uint32_t index, entry *e)
{
    (void)kind;
    return med_view_domain_read(system, index, &e->number);
}

static void
domain_write(FILE *file, const med_system *system, const entry *e)
{
    (void)system;
    (void)fprintf(file, "  - number: %" PRIu32 "\n", e->number);
}

static bool
node_entry(const med_system *system, med_kind kind, uint32_t index, entry *e)
{
    med_view_node node;
    (void)kind;
    bool there = med_view_node_read(system, index, &node) && node.number < MED_NODE_ANY_FIRST &&
                 (node.kept || node.state != MED_VIEW_NODE_DEAD);
    if (there) {
        e->domain = node.domain;
        e->number = node.number;
    }
    return there;
}

static void
node_write(FILE *file, const med_system *system, const entry *e)
{
    (void)system;
    object_write(file, e->number, e->domain);
}

/* Has its node died, and nobody has noticed yet? One whose place is kept is expected again then. */
static bool
is_of_a_dead(const med_system *system, const med_view_endpoint *endpoint)
{
    const med_key key = {.high = endpoint->name.domain, .low = endpoint->name.node};
    uint32_t index, generation;
    med_view_node node;
    return !endpoint->expected && !endpoint->kept &&
           med_table_find(&system->nodes, key, &index, &generation) == MEDLEY_OK &&
           med_view_node_read(system, index, &node) && node.state == MED_VIEW_NODE_DEAD;
}

/* Those that somebody else can find: whose node and port a program chose, or an image. */
static bool
endpoint_entry(const med_system *system, med_kind kind, uint32_t index, entry *e)
{
    med_view_endpoint endpoint;
    (void)kind;
    bool there = med_view_endpoint_read(system, index, &endpoint) && endpoint.name.owner_known &&
                 endpoint.name.node < MED_NODE_ANY_FIRST &&
                 endpoint.name.port <= MED_IMAGE_PORT_MAX && !is_of_a_dead(system, &endpoint);
    if (there) {
        e->domain = endpoint.name.domain;
        e->node = endpoint.name.node;
        e->number = endpoint.name.port;
    }
    return there;
}

static void
endpoint_write(FILE *file, const med_system *system, const entry *e)
{
    (void)system;
    (void)fprintf(file, "  - port: %" PRIu32 "\n    node: %" PRIu32 "\n    domain: %" PRIu32 "\n",
                  e->number, e->node, e->domain);
}

/* Of a mutex, a semaphore or a reader/writer lock. */
static bool
object_entry(const med_system *system, med_kind kind, uint32_t index, entry *e)
{
    med_view_object object;
    bool there = med_view_object_read(system, kind, index, &object) && by_number(object.number);
    if (there) {
        e->number = object.number;
    }
    return there;
}

/* What has gone since it was listed is left out, here and below. */
static void
mutex_write(FILE *file, const med_system *system, const entry *e)
{
    med_view_lock lock;
    if (med_view_lock_read(system, e->index, &lock)) {
        object_write(file, lock.object.number, lock.object.domain);
        attributes_write(file, lock.object.attributes);
    }
}

static void
sem_write(FILE *file, const med_system *system, const entry *e)
{
    med_view_sem sem;
    if (med_view_sem_read(system, e->index, &sem)) {
        object_write(file, sem.object.number, sem.object.domain);
        (void)fprintf(file, "    limit: %" PRIu32 "\n", sem.limit);
        attributes_write(file, sem.object.attributes);
    }
}

static void
rwl_write(FILE *file, const med_system *system, const entry *e)
{
    med_view_rwl rwl;
    if (med_view_rwl_read(system, e->index, &rwl)) {
        object_write(file, rwl.object.number, rwl.object.domain);
        (void)fprintf(file, "    limit: %" PRIu32 "\n", rwl.limit);
        attributes_write(file, rwl.object.attributes);
    }
}

static bool
shmem_entry(const med_system *system, med_kind kind, uint32_t index, entry *e)
{
    med_view_shmem shmem;
    (void)kind;
    bool there =
        med_view_shmem_read(system, index, &shmem) && shmem.numbered && by_number(shmem.number);
    if (there) {
        e->number = shmem.number;
    }
    return there;
}

static void
resource_write(FILE *file, const med_view_shmem *shmem)
{
    if (shmem->place == MED_PORT_PLACE_HUGE_PAGES) {
        (void)fputs("    resource: huge-pages\n", file);
    } else if (shmem->place == MED_PORT_PLACE_NUMA || shmem->place == MED_PORT_PLACE_TIGHT) {
        (void)fprintf(file, "    resource: %s %" PRIu32 "\n",
                      shmem->place == MED_PORT_PLACE_NUMA ? "numa" : "tight", shmem->place_index);
    }
}

static void
shmem_write(FILE *file, const med_system *system, const entry *e)
{
    med_view_shmem shmem;
    if (!med_view_shmem_read(system, e->index, &shmem)) {
        return;
    }
    object_write(file, shmem.number, shmem.domain);
    (void)fprintf(file, "    size: %" PRIu32 "\n", shmem.size_bytes);
    resource_write(file, &shmem);
    if (shmem.address) {
        (void)fprintf(file, "    address: 0x%" PRIx64 "\n", shmem.address);
    }
    for (uint32_t i = 0; i < shmem.node_count; i++) {
        (void)fprintf(file, "%s%" PRIu32, i ? ", " : "    nodes: [",
                      med_view_shmem_node(system, e->index, i));
    }
    if (shmem.node_count) {
        (void)fputs("]\n", file);
    }
    attributes_write(file, shmem.attributes);
}

typedef struct section {
    const char *name;
    med_kind kind;
    bool (*entry_of)(const med_system *system, med_kind kind, uint32_t index, entry *e);
    void (*write)(FILE *file, const med_system *system, const entry *e);
} section;

static const section sections[] = {
    {"domains", MED_KIND_DOMAIN, domain_entry, domain_write},
    {"nodes", MED_KIND_NODE, node_entry, node_write},
    {"endpoints", MED_KIND_ENDPOINT, endpoint_entry, endpoint_write},
    {"mutexes", MED_KIND_MUTEX, object_entry, mutex_write},
    {"semaphores", MED_KIND_SEM, object_entry, sem_write},
    {"rwlocks", MED_KIND_RWL, object_entry, rwl_write},
    {"shmems", MED_KIND_SHMEM, shmem_entry, shmem_write},
};

#define SECTIONS (sizeof sections / sizeof sections[0])

/* How many items it has, in `count`. */
static bool
section_write(FILE *file, const med_system *system, const section *s, size_t *count_out)
{
    uint32_t rows = system->tables[s->kind].row_count;
    entry *entries = calloc(rows ? rows : 1, sizeof *entries);
    size_t count = 0;
    if (!entries) {
        return false;
    }
    for (uint32_t i = 0; i < rows; i++) {
        entry *e = &entries[count];
        *e = (entry){.index = i};
        count += s->entry_of(system, s->kind, i, e);
    }
    qsort(entries, count, sizeof *entries, entry_compare);
    if (count) {
        (void)fprintf(file, "\n%s:\n", s->name);
    }
    for (size_t i = 0; i < count; i++) {
        s->write(file, system, &entries[i]);
    }
    free(entries);
    *count_out = count;
    return true;
}

static bool
system_write(FILE *file, const med_system *system, size_t counts[SECTIONS])
{
    bool good = true;
    (void)fprintf(file,
                  "# A Medley system; medley-system(1) says what may stand here.\n"
                  "medley-system: 1\nname: %s\non-death: %s\n\nlimits:\n",
                  system->shared.name, system->on_death == MED_ON_DEATH_FAIL ? "fail" : "recover");
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        char name[32];
        med_image_limit_name((med_limit)i, name);
        (void)fprintf(file, "  %s: %" PRIu32 "\n", name, system->limits.of[i]);
    }
    for (size_t i = 0; good && i < SECTIONS; i++) {
        good = section_write(file, system, &sections[i], &counts[i]);
    }
    return good && fflush(file) == 0 && !ferror(file);
}

/* ---- Save ------------------------------------------------------------------------------------ */

typedef struct saving {
    const med_system *system;
    size_t counts[SECTIONS];
} saving;

static bool
saving_write(FILE *file, void *context)
{
    saving *s = context;
    return system_write(file, s->system, s->counts);
}

static const char *
default_name(void)
{
    const char *name = getenv("MEDLEY_SYSTEM");
    return name && *name ? name : MED_SYSTEM_DEFAULT_NAME;
}

static void
saved_print(const char *path, const char *name, const size_t counts[SECTIONS])
{
    json_t *saved =
        json_pack("{s:o, s:o}", "system", output_string(name), "file", output_string(path));
    for (size_t i = 0; i < SECTIONS; i++) {
        (void)json_object_set_new(saved, sections[i].name, json_integer((json_int_t)counts[i]));
    }
    output_json(json_pack("{s:o}", "saved", saved), false);
}

int
image_save(const med_command *command, const char *path, const char *name, bool json)
{
    med_system system;
    saving s = {.system = &system};
    name = name ? name : default_name();
    medley_status_t status = med_system_observe(name, med_system_deadline_ns(), &system);
    if (status != MEDLEY_OK) {
        return snapshot_no_look_tell(command, name, status, system.shared.why);
    }
    bool good = output_file_write(path, saving_write, &s);
    med_system_observe_end(&system);
    if (!good) {
        command_error(command, "cannot write '%s': %s", path, strerror(errno));
        return COMMAND_FAILED;
    }
    if (json) {
        saved_print(path, name, s.counts);
    }
    return COMMAND_OK;
}
