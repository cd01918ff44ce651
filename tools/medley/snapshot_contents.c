/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One function for each table of a system; an array of rows each, with who waits for what counted
 * on the way.
 */
#include "tools/medley/snapshot_contents.h"

#include <stdlib.h>

#include "mcapi/view.h"
#include "mrapi/mutex.h"
#include "mrapi/view.h"
#include "tools/medley/output.h"
#include "tools/medley/stuck.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

static json_t *
processes_json(const med_system *system)
{
    static const char *const lives[] = {
        [MED_VIEW_ALIVE] = "alive",
        [MED_VIEW_LOST] = "lock-lost",
        [MED_VIEW_DEAD] = "dead",
        [MED_VIEW_RECOVERING] = "recovering",
    };
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.processes; i++) {
        med_view_process process;
        if (med_view_process_read(system, i, &process)) {
            (void)json_array_append_new(
                rows, json_pack("{s:I, s:s, s:I, s:o}", "process_id",
                                (json_int_t)process.process_id, "state", lives[process.life],
                                "age_ns", (json_int_t)process.age_ns, "recovered_by",
                                output_number(process.recovered_by != 0, process.recovered_by)));
        }
    }
    return rows;
}

static const struct {
    med_kind kind;
    const char *key;
} waited_for[] = {
    {MED_KIND_MUTEX, "waiting_for_mutex"},
    {MED_KIND_SEM, "waiting_for_semaphore"},
    {MED_KIND_RWL, "waiting_for_rwlock"},
};

static json_t *
node_json(const med_view_node *node)
{
    static const char *const states[] = {
        [MED_VIEW_NODE_STARTING] = "starting", [MED_VIEW_NODE_RUNNING] = "running",
        [MED_VIEW_NODE_WAITING] = "waiting",   [MED_VIEW_NODE_ENDED] = "ended",
        [MED_VIEW_NODE_DEAD] = "dead",         [MED_VIEW_NODE_EXPECTED] = "expected",
    };
    static const char *const kinds[] = {[MED_NODE_THREAD] = "thread",
                                        [MED_NODE_STARTED] = "started",
                                        [MED_NODE_RUNTIME] = "runtime"};
    json_t *row = json_pack("{s:I, s:I, s:s?, s:o, s:I, s:o, s:o, s:s, s:s, s:I, s:I, s:b}",
                            "domain", (json_int_t)node->domain, "node", (json_int_t)node->number,
                            "name", node->name[0] ? node->name : NULL, "process_id",
                            output_number(node->process_id != 0, node->process_id), "thread_id",
                            (json_int_t)node->thread_id, "process_here",
                            output_number(node->process_here != 0, node->process_here),
                            "thread_here", output_number(node->thread_here != 0, node->thread_here),
                            "kind", kinds[node->kind], "state", states[node->state], "age_ns",
                            (json_int_t)node->age_ns, "sleeps", (json_int_t)node->sleeps,
                            "awaits_news", node->awaits_news);
    for (size_t i = 0; i < sizeof waited_for / sizeof waited_for[0]; i++) {
        bool waits = node->state == MED_VIEW_NODE_WAITING && node->lock_kind == waited_for[i].kind;
        (void)json_object_set_new(row, waited_for[i].key, output_number(waits, node->lock_number));
    }
    return row;
}

/* How many nodes wait for what: a counter for each row of each kind. */
typedef struct waiters {
    uint32_t *counts[MED_KIND_COUNT];
} waiters;

static void
waiters_free(waiters *w)
{
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        free(w->counts[k]);
    }
}

static bool
waiters_make(waiters *w, const med_system *system)
{
    bool made = true;
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        w->counts[k] = calloc(system->tables[k].row_count, sizeof *w->counts[k]);
        made = made && w->counts[k];
    }
    if (!made) {
        waiters_free(w);
    }
    return made;
}

/* Counts them on the way. */
static json_t *
nodes_json(const med_system *system, waiters *w)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.nodes; i++) {
        med_view_node node;
        if (med_view_node_read(system, i, &node)) {
            (void)json_array_append_new(rows, node_json(&node));
            if (node.state == MED_VIEW_NODE_WAITING) {
                w->counts[node.lock_kind][node.lock_index]++;
            }
        }
    }
    return rows;
}

static json_t *
attributes_json(uint32_t attributes)
{
    /* Those that all objects have in common have the same bits. */
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {
        {MED_MUTEX_RECURSIVE, "recursive"},
        {MED_MUTEX_ERROR_EXT, "error-ext"},
        {MED_MUTEX_DOMAIN_SHARED, "domain-shared"},
        {MED_MUTEX_PRIORITY_INHERITANCE, "priority-inheritance"},
    };
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (attributes & names[i].bit) {
            (void)json_array_append_new(list, json_string(names[i].name));
        }
    }
    return list;
}

static json_t *
owner_json(bool known, uint32_t domain, uint32_t number)
{
    return known ? output_node_json(domain, number) : json_null();
}

static const char *const lock_states[] = {
    [MED_VIEW_LOCK_FREE] = "free",
    [MED_VIEW_LOCK_HELD] = "held",
    [MED_VIEW_LOCK_DIED] = "owner-died",
    [MED_VIEW_LOCK_DEAD] = "dead",
};

static json_t *
locks_json(const med_system *system, const waiters *w)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.mutexes; i++) {
        med_view_lock lock;
        if (med_view_lock_read(system, i, &lock)) {
            (void)json_array_append_new(
                rows,
                json_pack("{s:I, s:s, s:o, s:I, s:I, s:I, s:o}", "mutex",
                          (json_int_t)lock.object.number, "state", lock_states[lock.state], "owner",
                          owner_json(lock.owner_known, lock.owner_domain, lock.owner_number),
                          "depth", (json_int_t)lock.depth, "waiters",
                          (json_int_t)w->counts[MED_KIND_MUTEX][i], "slept", (json_int_t)lock.slept,
                          "attributes", attributes_json(lock.object.attributes)));
        }
    }
    return rows;
}

static json_t *
rmems_json(const med_system *system)
{
    static const char *const accesses[] = {
        [MED_RMEM_DMA] = "dma",
        [MED_RMEM_SWCACHE] = "software-cache",
        [MED_RMEM_PLAIN] = "plain",
        [MED_RMEM_ANY] = "any",
    };
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.rmems; i++) {
        med_view_rmem rmem;
        if (med_view_rmem_read(system, i, &rmem)) {
            (void)json_array_append_new(
                rows,
                json_pack("{s:I, s:o, s:I, s:s, s:I}", "remote_memory", (json_int_t)rmem.number,
                          "owner",
                          owner_json(rmem.owner_known, rmem.owner_domain, rmem.owner_number),
                          "size_bytes", (json_int_t)rmem.size_bytes, "access",
                          accesses[rmem.access], "attachments", (json_int_t)rmem.attachments));
        }
    }
    return rows;
}

static json_t *
resource_json(const med_view_shmem *shmem)
{
    switch (shmem->place) {
    case MED_PORT_PLACE_ANY:
        return json_string("any");
    case MED_PORT_PLACE_NUMA:
        return json_sprintf("numa %u", (unsigned)shmem->place_index);
    case MED_PORT_PLACE_HUGE_PAGES:
        return json_string("huge pages");
    case MED_PORT_PLACE_TIGHT:
        return json_sprintf("tight %u", (unsigned)shmem->place_index);
    default:
        return json_null();
    }
}

static json_t *
shmems_json(const med_system *system)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.shmems; i++) {
        med_view_shmem shmem;
        if (med_view_shmem_read(system, i, &shmem)) {
            (void)json_array_append_new(
                rows, json_pack("{s:o, s:I, s:I, s:o, s:o}", "shmem",
                                output_number(shmem.numbered, shmem.number), "size_bytes",
                                (json_int_t)shmem.size_bytes, "attached",
                                (json_int_t)shmem.attached, "resource", resource_json(&shmem),
                                "attributes", attributes_json(shmem.attributes)));
        }
    }
    return rows;
}

static json_int_t
shmems_bytes(const json_t *shmems)
{
    json_int_t bytes = 0;
    for (size_t i = 0; i < json_array_size(shmems); i++) {
        bytes += json_integer_value(json_object_get(json_array_get(shmems, i), "size_bytes"));
    }
    return bytes;
}

static json_t *
sems_json(const med_system *system, const waiters *w)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.semaphores; i++) {
        med_view_sem sem;
        if (med_view_sem_read(system, i, &sem)) {
            (void)json_array_append_new(
                rows,
                json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "semaphore",
                          (json_int_t)sem.object.number, "held", (json_int_t)sem.held, "limit",
                          (json_int_t)sem.limit, "waiters", (json_int_t)w->counts[MED_KIND_SEM][i],
                          "slept", (json_int_t)sem.slept, "attributes",
                          attributes_json(sem.object.attributes)));
        }
    }
    return rows;
}

static json_t *
rwl_json(const med_view_rwl *rwl, uint32_t waiting)
{
    return json_pack(
        "{s:I, s:s, s:o, s:I, s:I, s:I, s:I, s:o}", "rwlock", (json_int_t)rwl->object.number,
        "state", rwl->coming ? "coming" : lock_states[rwl->state], "writer",
        owner_json(rwl->owner_known, rwl->owner_domain, rwl->owner_number), "readers",
        (json_int_t)rwl->readers, "limit", (json_int_t)rwl->limit, "waiters", (json_int_t)waiting,
        "slept", (json_int_t)rwl->slept, "attributes", attributes_json(rwl->object.attributes));
}

static json_t *
rwls_json(const med_system *system, const waiters *w)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.rwlocks; i++) {
        med_view_rwl rwl;
        if (med_view_rwl_read(system, i, &rwl)) {
            (void)json_array_append_new(rows, rwl_json(&rwl, w->counts[MED_KIND_RWL][i]));
        }
    }
    return rows;
}

static json_t *
end_json(const med_view_end *end)
{
    return end->owner_known
               ? json_pack("{s:I, s:I, s:I}", "domain", (json_int_t)end->domain, "node",
                           (json_int_t)end->node, "port", (json_int_t)end->port)
               : json_null();
}

static const char *
endpoint_state(const med_view_endpoint *endpoint)
{
    if (endpoint->expected) {
        return "expected";
    }
    const char *connected = endpoint->connected ? "connected" : "free";
    return endpoint->closing ? "closing" : connected;
}

static json_t *
endpoints_json(const med_system *system)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.endpoints; i++) {
        med_view_endpoint endpoint;
        if (med_view_endpoint_read(system, i, &endpoint)) {
            (void)json_array_append_new(
                rows, json_pack("{s:o, s:s, s:I}", "endpoint", end_json(&endpoint.name), "state",
                                endpoint_state(&endpoint), "gets", (json_int_t)endpoint.gets));
        }
    }
    return rows;
}

static json_t *
side_json(const med_view_lane *lane, med_lane_side side)
{
    const char *open = lane->side[side].open ? "open" : "connected";
    const char *state = lane->kind == MED_LANE_MESSAGES ? "there" : open;
    return json_pack(
        "{s:o, s:s, s:I, s:I, s:I}", "endpoint", end_json(&lane->side[side].name), "state",
        lane->side[side].gone ? "gone" : state, "count", (json_int_t)lane->side[side].count,
        "bytes", (json_int_t)lane->side[side].bytes, "waits", (json_int_t)lane->side[side].waits);
}

static json_t *
lane_json(const med_view_lane *lane)
{
    static const char *const kinds[] = {
        [MED_LANE_MESSAGES] = "messages",
        [MED_LANE_PACKETS] = "packets",
        [MED_LANE_SCALARS] = "scalars",
        [MED_LANE_STATES] = "states",
    };
    bool states = lane->kind == MED_LANE_STATES;
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "kind", kinds[lane->kind], "priority",
        output_number(lane->kind == MED_LANE_MESSAGES, lane->priority), "from",
        side_json(lane, MED_LANE_PRODUCER), "to", side_json(lane, MED_LANE_CONSUMER), "depth",
        (json_int_t)lane->depth, "high_water", (json_int_t)lane->most, "capacity",
        (json_int_t)lane->capacity, "retries", output_number(states, lane->retries),
        "retries_worst", output_number(states, lane->retries_worst), "lost",
        output_number(lane->is_topic, lane->lost));
}

static json_t *
lanes_json(const med_system *system)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < system->limits.lanes; i++) {
        med_view_lane lane;
        if (med_view_lane_read(system, i, &lane)) {
            (void)json_array_append_new(rows, lane_json(&lane));
        }
    }
    return rows;
}

static json_t *
buffers_json(const med_system *system)
{
    med_view_buffers buffers;
    if (!med_view_buffers_read(system, &buffers)) {
        return json_null();
    }
    json_int_t had = (json_int_t)buffers.in_use + (json_int_t)buffers.kept;
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)buffers.count, "size_bytes",
                     (json_int_t)buffers.bytes, "in_use", (json_int_t)buffers.in_use, "kept",
                     (json_int_t)buffers.kept, "free", (json_int_t)buffers.count - had);
}

static json_t *
limits_json(const med_system *system)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        med_view_limit limit;
        med_view_limit_read(system, (med_limit)i, &limit);
        (void)json_array_append_new(
            rows, json_pack("{s:s, s:s, s:I, s:I, s:o}", "name", med_limit_infos[i].name,
                            "variable", med_limit_infos[i].variable, "limit",
                            (json_int_t)limit.limit, "used", (json_int_t)limit.used, "high_water",
                            output_number(limit.high_water != 0, limit.high_water)));
    }
    return rows;
}

/* ---- All of them ----------------------------------------------------------------------------- */

medley_status_t
snapshot_contents_add(const med_system *system, json_t *to)
{
    med_view_system view;
    med_view_system_read(system, &view);
    waiters w;
    if (!waiters_make(&w, system)) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    json_t *nodes = nodes_json(system, &w);
    json_t *shmems = shmems_json(system);
    json_int_t shmem_bytes = shmems_bytes(shmems);
    json_t *contents = json_pack(
        "{s:I, s:I, s:I, s:I, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "size_bytes", (json_int_t)view.size_bytes + shmem_bytes, "shmem_bytes", shmem_bytes,
        "age_ns", (json_int_t)view.age_ns, "instance", (json_int_t)view.instance, "on_death",
        view.on_death == MED_ON_DEATH_FAIL ? "fail" : "recover", "creator_process_id",
        (json_int_t)view.creator_process_id, "stuck", stuck_json(system), "processes",
        processes_json(system), "nodes", nodes, "locks", locks_json(system, &w), "semaphores",
        sems_json(system, &w), "rwlocks", rwls_json(system, &w), "shmems", shmems,
        "remote_memories", rmems_json(system), "endpoints", endpoints_json(system), "lanes",
        lanes_json(system), "buffers", buffers_json(system), "limits", limits_json(system));
    waiters_free(&w);
    (void)json_object_update(to, contents);
    json_decref(contents);
    return MEDLEY_OK;
}
