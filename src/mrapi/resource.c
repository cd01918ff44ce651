/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Resource trees: reading, building, finding, freeing.
 *
 * A reader of the machine hands over its parts one by one (topology.h). Parts that the filter drops
 * get the number of the part they hang below, so that what hangs below them finds the nearest part
 * that is kept.
 *
 * A program may hold a pointer into a tree that is gone. So an address is never followed before it
 * was found to be that of a resource of a tree in the list. The lock stands for all lists here; who
 * dies with it dies with the whole process.
 */
#include "mrapi/resource.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"

/* ---- The list -------------------------------------------------------------------------------- */

static med_lock lock;
static med_lock_sleepers lock_sleepers;
static med_tree *trees;                   /* guarded by the lock, as are the next two */
static const med_topology_module *module; /* once it was found */
static bool module_missed;                /* that it is missing was said */

static uint32_t
this_thread(void)
{
    return (med_port_thread_id() & 0xffffffu) + 1;
}

static void
take(med_lock *wanted, med_lock_sleepers *sleepers)
{
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = this_thread(),
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter};
    (void)med_lock_acquire(wanted, sleepers, &request);
}

static void
enter(void)
{
    take(&lock, &lock_sleepers);
}

void
med_resource_unlock(void)
{
    med_lock_release(&lock, &lock_sleepers, MED_PORT_SCOPE_PROCESS);
}

med_tree *
med_resource_lock(const mrapi_resource_t *resource)
{
    uintptr_t address = (uintptr_t)resource;
    enter();
    for (med_tree *tree = trees; tree; tree = tree->next) {
        uintptr_t offset = address - (uintptr_t)tree->resources;
        if (offset < tree->count * sizeof(med_resource) && offset % sizeof(med_resource) == 0) {
            return tree;
        }
    }
    med_resource_unlock();
    return NULL;
}

/* ---- Reading and fork ------------------------------------------------------------------------ */

/* Who reads the machine by the module, or forks, has it: what the module is made of has locks of
 * its own, and a child of fork would find them as they were, held by a thread it does not have. */
static med_lock reading;
static med_lock_sleepers reading_sleepers;
static atomic32 forks; /* the thread that forks and has `reading` for it; 0: none */
/* A lock goes to whom comes first, and who reads tree after tree comes back sooner than one who
 * sleeps for it wakes up. So whoever wants to read lets those go first who wait in order to fork:
 * none of them waits for more than the readings that have begun. */
static atomic32 forks_waiting;
static med_wait forks_went;

static bool
no_fork_waits(void *context)
{
    (void)context;
    return atomic32_load_relaxed(&forks_waiting) == 0; /* relaxed: who misses one is one more */
}

static void
reading_begin(void)
{
    med_waiter waiter = {.spin_ns = 0};
    const med_wait_request request = {.condition = no_fork_waits,
                                      .deadline_ns = MED_PORT_FOREVER,
                                      .scope = MED_PORT_SCOPE_PROCESS};
    (void)med_wait_until(&forks_went, &waiter, &request);
    take(&reading, &reading_sleepers);
}

static void
reading_end(void)
{
    med_lock_release(&reading, &reading_sleepers, MED_PORT_SCOPE_PROCESS);
}

void
med_resources_fork_begin(void)
{
    /* A signal's handler that interrupts a reader may fork: who waited for himself would hang. */
    if (!med_lock_is_mine(&reading, this_thread())) {
        /* Relaxed, both: a count. */
        (void)atomic32_fetch_add_relaxed(&forks_waiting, 1);
        take(&reading, &reading_sleepers);
        (void)atomic32_fetch_add_relaxed(&forks_waiting, UINT32_MAX);
        med_wait_wake(&forks_went, MED_PORT_SCOPE_PROCESS);
        atomic32_store_relaxed(&forks, this_thread()); /* relaxed: others only compare */
    }
}

bool
med_resources_forking(void)
{
    /* Relaxed: one's own number is written by oneself alone. */
    return atomic32_load_relaxed(&forks) == this_thread();
}

void
med_resources_fork_end(void)
{
    if (med_resources_forking()) {
        atomic32_store_relaxed(&forks, 0); /* relaxed: as there */
        reading_end();
    }
}

void
med_resources_forget(void)
{
    lock = (med_lock){.word = ATOMIC32_INIT(0)};
    reading = (med_lock){.word = ATOMIC32_INIT(0)};
    forks_went = (med_wait){.word = ATOMIC32_INIT(0)};
    /* Relaxed, both: the child is alone. */
    atomic32_store_relaxed(&forks, 0);
    atomic32_store_relaxed(&forks_waiting, 0);
    trees = NULL;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

typedef struct parts {
    med_resource *items;
    uint32_t count;
    uint32_t capacity;
    mrapi_rsrc_filter_t filter;
} parts;

static void
parts_give(parts *p)
{
    if (p->items) {
        med_port_heap_give(p->items, p->capacity * sizeof *p->items);
    }
}

static bool
parts_grow(parts *p)
{
    uint32_t capacity = p->capacity ? 2 * p->capacity : 64;
    med_resource *items = med_port_heap_take(capacity * sizeof *items);
    if (!items) {
        return false;
    }
    if (p->items) {
        memcpy(items, p->items, p->count * sizeof *items);
    }
    parts_give(p);
    p->items = items;
    p->capacity = capacity;
    return true;
}

/* The next resource, empty; NULL: no memory. */
static med_resource *
parts_next(parts *p, mrapi_rsrc_filter_t type, uint32_t parent)
{
    if (p->count == p->capacity && !parts_grow(p)) {
        return NULL;
    }
    med_resource *next = &p->items[p->count++];
    *next = (med_resource){.face = {.resource_type = type}, .parent = parent};
    return next;
}

static const mrapi_rsrc_filter_t types[MED_TOPOLOGY_KIND_COUNT] = {
    [MED_TOPOLOGY_MACHINE] = MEDLEY_RSRC_MACHINE, [MED_TOPOLOGY_PACKAGE] = MEDLEY_RSRC_PACKAGE,
    [MED_TOPOLOGY_MEMORY] = MRAPI_RSRC_MEM,       [MED_TOPOLOGY_CACHE] = MRAPI_RSRC_CACHE,
    [MED_TOPOLOGY_CORE] = MEDLEY_RSRC_CORE,       [MED_TOPOLOGY_PROCESSOR] = MRAPI_RSRC_CPU,
    [MED_TOPOLOGY_DMA] = MRAPI_RSRC_DMA,
};

/* The sink of a reader, which may be a module, which may read a file: nothing is trusted. */
static bool
part_add(void *context, const med_topology_part *part, uint32_t *number)
{
    parts *p = context;
    bool root = p->count == 0;
    if ((uint32_t)part->kind >= MED_TOPOLOGY_KIND_COUNT ||
        (part->kind == MED_TOPOLOGY_MACHINE) != root || (!root && part->parent >= p->count)) {
        return false;
    }
    if (!root && p->filter != MEDLEY_RSRC_ALL && p->filter != types[part->kind]) {
        *number = part->parent;
        return true;
    }
    med_resource *added = parts_next(p, types[part->kind], root ? 0 : part->parent);
    if (!added) {
        return false;
    }
    added->part = *part;
    added->part.name[MED_TOPOLOGY_TEXT_BYTES - 1] = '\0';
    added->part.type[MED_TOPOLOGY_TEXT_BYTES - 1] = '\0';
    *number = p->count - 1;
    return true;
}

/* ---- The machine ----------------------------------------------------------------------------- */

/* The module's reader; NULL: there is none, which is said once. */
static med_topology_read
module_reader(void)
{
    char why[MED_PORT_WHY_BYTES];
    void *found = NULL;
    enter();
    if (!module) {
        reading_begin();
        medley_status_t status =
            med_port_module_open("hwloc", MED_TOPOLOGY_MODULE_SYMBOL, &found, why);
        reading_end();
        const med_topology_module *candidate = found;
        if (status == MEDLEY_OK && candidate->version == MED_TOPOLOGY_MODULE_VERSION &&
            candidate->part_bytes == sizeof(med_topology_part)) {
            module = candidate;
        } else if (status != MEDLEY_ERR_NOT_SUPPORTED && !module_missed) {
            module_missed = true;
            med_log_error("no hwloc; resource trees show what the system's own files tell",
                          status == MEDLEY_OK ? "the module is another version's" : why);
        }
    }
    med_topology_read read = module ? module->read : NULL;
    med_resource_unlock();
    return read;
}

/* What the board of this machine has beside what a reader finds: "tight#0 DTCM". */
static bool
tight_add(parts *p)
{
    med_port_tight memory;
    for (uint32_t i = 0; med_port_tight_get(i, &memory); i++) {
        uint32_t number;
        med_topology_part part = {.kind = MED_TOPOLOGY_MEMORY,
                                  .id = i,
                                  .size_bytes = memory.size_bytes,
                                  .address = (uintptr_t)memory.address};
        med_text text = {.length = 0};
        med_text_string(&text, "tight#");
        med_text_number(&text, i);
        med_text_string(&text, " ");
        med_text_string(&text, memory.name);
        med_text_copy(part.name, sizeof part.name, text.bytes);
        if (!part_add(p, &part, &number)) {
            return false;
        }
    }
    return true;
}

/* What a module is made of knows nothing of the port's rules. A machine that somebody describes it
 * reads in a process apart: that is a fork. */
static medley_status_t
module_read(med_topology_read read,
            bool here,
            const med_topology_sink *sink,
            char why[MED_PORT_WHY_BYTES])
{
    int before = med_port_cancel_hold();
    if (here) {
        reading_begin();
    }
    medley_status_t status = read(sink, why, MED_PORT_WHY_BYTES);
    if (here) {
        reading_end();
    }
    med_port_cancel_release(before);
    return status;
}

static medley_status_t
machine_read(parts *p)
{
    char why[MED_PORT_WHY_BYTES] = "no port of this kind can";
    const med_topology_sink sink = {.add = part_add, .context = p};
    med_topology_read read = module_reader();
    medley_status_t status;
    const char *value;
    const char *chosen_by = med_topology_variable(med_port_environment, &value);
    if (!read && chosen_by) {
        med_log_error(chosen_by, "to read the machine that it chooses needs medley-hwloc.so");
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    status = read ? module_read(read, !chosen_by, &sink, why)
                  : med_port_topology_read(&sink, why, sizeof why);
    if (status == MEDLEY_OK && p->count > 0) {
        return chosen_by || tight_add(p) ? MEDLEY_OK : MEDLEY_ERR_NO_MEMORY;
    }
    med_log_error("the machine cannot be read", why);
    return status == MEDLEY_ERR_NO_MEMORY ? status : MEDLEY_ERR_NOT_SUPPORTED;
}

/* ---- The system ------------------------------------------------------------------------------ */

static void
name_numbered(med_resource *resource, const char *what, uint32_t number)
{
    med_text text = {.length = 0};
    med_text_string(&text, what);
    med_text_number(&text, number);
    med_text_copy(resource->part.name, sizeof resource->part.name, text.bytes);
}

static void
name_node(med_resource *resource, const med_row *row)
{
    med_text text = {.length = 0};
    med_text_string(&text, "node ");
    /* Relaxed, both: for showing. */
    med_text_number(&text, atomic32_load_relaxed(&row->key_high));
    med_text_string(&text, ":");
    med_text_number(&text, atomic32_load_relaxed(&row->key_low));
    med_text_copy(resource->part.name, sizeof resource->part.name, text.bytes);
}

/* Of which tables the rows are shown, as what, and under which name. */
static const struct shown {
    mrapi_rsrc_filter_t type; /* 0: they are not */
    const char *name;
} shown[MED_KIND_COUNT] = {
    [MED_KIND_NODE] = {MEDLEY_RSRC_NODE, NULL}, /* by two numbers */
    [MED_KIND_MUTEX] = {MEDLEY_RSRC_LOCK, "mutex "},
    [MED_KIND_SEM] = {MEDLEY_RSRC_LOCK, "semaphore "},
    [MED_KIND_RWL] = {MEDLEY_RSRC_LOCK, "reader/writer lock "},
};

/* The rows of a table that are there now. */
static bool
rows_read(parts *p, const med_system *system, med_kind kind, uint32_t parent)
{
    const med_table_view *table = &system->tables[kind];
    for (uint32_t i = 0; i < table->row_count; i++) {
        const med_row *row = med_table_row(table, i);
        uint32_t word = atomic32_load_acquire(&row->state); /* A1 live <- T1 (table.c) */
        if (med_row_state_of(word) != MED_ROW_LIVE) {
            continue;
        }
        med_resource *added = parts_next(p, shown[kind].type, parent);
        if (!added) {
            return false;
        }
        added->index = i;
        added->generation = med_row_generation_of(word);
        added->kind = kind;
        if (kind == MED_KIND_NODE) {
            name_node(added, row);
        } else {
            uint32_t number = atomic32_load_relaxed(&row->key_low); /* relaxed: for showing */
            name_numbered(added, shown[kind].name, number);
        }
    }
    return true;
}

static medley_status_t
system_read(parts *p, const med_system *system)
{
    const char *name = system->scope == MED_PORT_SCOPE_SHARED ? system->shared.name : "private";
    med_resource *root = parts_next(p, MEDLEY_RSRC_SYSTEM, 0);
    if (!root) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    med_text_copy(root->part.name, sizeof root->part.name, name);
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        if (!med_kind_is_there((med_kind)k)) {
            continue;
        }
        med_resource *table = parts_next(p, MEDLEY_RSRC_TABLE, 0);
        uint32_t number = p->count - 1;
        if (!table) {
            return MEDLEY_ERR_NO_MEMORY;
        }
        table->kind = (med_kind)k;
        med_text_copy(table->part.name, sizeof table->part.name,
                      med_limit_infos[med_kinds[k].limit].name);
        if (shown[k].type != 0 && !rows_read(p, system, (med_kind)k, number)) {
            return MEDLEY_ERR_NO_MEMORY;
        }
    }
    return MEDLEY_OK;
}

/* ---- Trees ----------------------------------------------------------------------------------- */

/* Lists of children, one after the other, behind the resources. A resource's two counts say the
 * same in the end; until then one tells how long its list is, the other how far it is filled. */
static void
children_link(med_tree *tree)
{
    mrapi_resource_t **list = (mrapi_resource_t **)(void *)&tree->resources[tree->count];
    for (uint32_t i = 1; i < tree->count; i++) {
        tree->resources[tree->resources[i].parent].face.number_of_children++;
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        mrapi_resource_t *face = &tree->resources[i].face;
        face->children = list;
        list += face->number_of_children;
        face->name = tree->resources[i].part.name;
    }
    for (uint32_t i = 1; i < tree->count; i++) {
        mrapi_resource_t *parent = &tree->resources[tree->resources[i].parent].face;
        parent->children[parent->child_count++] = &tree->resources[i].face;
    }
}

static med_tree *
tree_make(const parts *p, const med_self *self)
{
    size_t size_bytes =
        sizeof(med_tree) + p->count * (sizeof(med_resource) + sizeof(mrapi_resource_t *));
    med_tree *tree = med_port_heap_take(size_bytes);
    if (tree) {
        *tree = (med_tree){.system = self->system,
                           .owner_ref = self->ref,
                           .count = p->count,
                           .size_bytes = size_bytes};
        memcpy(tree->resources, p->items, p->count * sizeof(med_resource));
        children_link(tree);
    }
    return tree;
}

/* With the lock. */
static void
tree_take_out(med_tree **place)
{
    med_tree *tree = *place;
    *place = tree->next;
    med_resource_counts_end(tree);
    med_port_heap_give(tree, tree->size_bytes);
}

medley_status_t
med_resources_get(med_self *self, mrapi_rsrc_filter_t filter, mrapi_resource_t **root)
{
    parts p = {.filter = filter};
    if ((uint32_t)filter > MEDLEY_RSRC_SYSTEM) {
        return MEDLEY_ERR_ARGUMENT;
    }
    medley_status_t status =
        filter == MEDLEY_RSRC_SYSTEM ? system_read(&p, self->system) : machine_read(&p);
    med_tree *tree = status == MEDLEY_OK ? tree_make(&p, self) : NULL;
    parts_give(&p);
    if (!tree) {
        return status == MEDLEY_OK ? MEDLEY_ERR_NO_MEMORY : status;
    }
    enter();
    tree->next = trees;
    trees = tree;
    med_resource_unlock();
    self->has_trees = true;
    *root = &tree->resources[0].face;
    return MEDLEY_OK;
}

medley_status_t
med_resources_free(med_self *self, const mrapi_resource_t *root)
{
    med_tree *tree = med_resource_lock(root);
    if (!tree) {
        return MEDLEY_ERR_STALE;
    }
    medley_status_t status = MEDLEY_OK;
    if (root != &tree->resources[0].face) {
        status = MEDLEY_ERR_STALE;
    } else if (tree->system != self->system || tree->owner_ref != self->ref) {
        status = MEDLEY_ERR_NOT_OWNER;
    } else {
        med_tree **place = &trees;
        while (*place != tree) {
            place = &(*place)->next;
        }
        tree_take_out(place);
    }
    med_resource_unlock();
    return status;
}

void
med_resources_node_leaves(med_self *self)
{
    if (!self->has_trees) {
        return;
    }
    enter();
    for (med_tree **place = &trees; *place;) {
        if ((*place)->system == self->system && (*place)->owner_ref == self->ref) {
            tree_take_out(place);
        } else {
            place = &(*place)->next;
        }
    }
    med_resource_unlock();
}
