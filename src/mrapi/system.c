/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Opening and closing systems.
 *
 * In the port's section of the name, which excludes all other processes: if nobody's liveness slot
 * is held, whatever the file contains is a leftover, and a new one is made in its place; else the
 * partition is checked and used as it is. A slot is claimed before the section ends, so the next
 * process finds us alive. Hence no file, however it was left behind, stops the next start.
 */
#include "mrapi/system.h"

#include "base/log.h"
#include "base/text.h"
#include "mrapi/domain.h"
#include "mrapi/mutex.h"

static med_system named;
static med_system private_one;
static char chosen_name[MED_PORT_NAME_MAX + 1];
static bool chosen_private;

/* ---- The gate -------------------------------------------------------------------------------- */

static med_lock gate;
static med_lock_sleepers gate_sleepers;
static bool hooks_in_place; /* guarded by the gate */

static void
gate_enter(void)
{
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = (med_port_thread_id() & 0xffffffu) + 1,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter};
    (void)med_lock_acquire(&gate, &gate_sleepers, &request);
}

static void
gate_leave(void)
{
    med_lock_release(&gate, &gate_sleepers, MED_PORT_SCOPE_PROCESS);
}

/* ---- Fork and exit --------------------------------------------------------------------------- */

/* The child is no part of its parent's systems: it has no node, no slot, no mapping. */
static void
after_fork(void)
{
    med_port_self_set(NULL);
    gate = (med_lock){.word = ATOMIC32_INIT(0)};
    /* What is not open yet may be half opened, by a thread that the child does not have. */
    med_port_shared_forget(named.open ? &named.shared : NULL);
    if (named.open) {
        med_port_memory_unmap(named.selves, sizeof(med_self) * named.limits.nodes);
    }
    /* A private partition was copied; what the program has in it stays where it is. */
    named = (med_system){.open = false};
    private_one = (med_system){.open = false};
}

/* The threads still run, so nothing is unmapped; only the name goes, if nobody else needs it. */
static void
at_exit(void)
{
    if (named.open && med_port_shared_lock(&named.shared) == MEDLEY_OK) {
        if (!med_port_slot_any_held(&named.shared)) {
            med_port_shared_remove(&named.shared);
        }
        med_port_shared_unlock(&named.shared);
    }
}

static void
thread_ended(void *self)
{
    med_node_leave(self);
}

static medley_status_t
hooks_place(void)
{
    if (hooks_in_place) {
        return MEDLEY_OK;
    }
    med_log_level_from_environment();
    medley_status_t status = med_port_self_on_exit(thread_ended);
    if (status == MEDLEY_OK) {
        status = med_port_on_fork(after_fork);
    }
    if (status == MEDLEY_OK) {
        status = med_port_on_exit(at_exit);
    }
    hooks_in_place = status == MEDLEY_OK;
    return status;
}

/* ---- Views ----------------------------------------------------------------------------------- */

static void
view_open(med_system *system, med_table_view *view, uint32_t offset, uint32_t rows, uint32_t bytes)
{
    med_table_view_init(view, (char *)(void *)system->header + offset, rows, bytes);
    view->scope = system->scope;
    view->on_slice = med_process_look;
    view->context = system;
}

static void
views_open(med_system *system)
{
    const med_layout *layout = &system->layout;
    const med_limits *limits = &system->limits;
    system->processes = (unsigned char *)(void *)system->header + layout->processes;
    view_open(system, &system->domains, layout->domains, limits->domains, sizeof(med_domain_row));
    view_open(system, &system->nodes, layout->nodes, limits->nodes, layout->node_row_bytes);
    view_open(system, &system->mutexes, layout->mutexes, limits->mutexes, sizeof(med_mutex_row));
    system->mutexes.on_remove = med_mutex_row_removed;
    system->on_death =
        system->header->on_death == MED_ON_DEATH_FAIL ? MED_ON_DEATH_FAIL : MED_ON_DEATH_RECOVER;
}

static void
tables_init(med_system *system)
{
    med_table_init(&system->domains);
    med_table_init(&system->nodes);
    med_table_init(&system->mutexes);
}

static med_on_death
on_death_from_environment(void)
{
    const char *value = med_port_environment("MEDLEY_MUTEX_ON_DEATH");
    if (!value || !*value || med_text_equal(value, "recover", 8)) {
        return MED_ON_DEATH_RECOVER;
    }
    if (med_text_equal(value, "fail", 5)) {
        return MED_ON_DEATH_FAIL;
    }
    med_log_error("MEDLEY_MUTEX_ON_DEATH ignored", "want 'recover' or 'fail'");
    return MED_ON_DEATH_RECOVER;
}

/* `memory` is zeroed and as large as the layout says. */
static void
partition_make(med_system *system, void *memory, const char *name)
{
    med_partition_init(memory, &system->limits, &system->layout, on_death_from_environment(), name);
    system->header = memory;
    views_open(system);
    tables_init(system);
}

/* ---- Attaching ------------------------------------------------------------------------------- */

static void
report(const char *name, medley_status_t status, const char *advice)
{
    med_text text = {.length = 0};
    med_text_string(&text, "cannot open system '");
    med_text_string(&text, name);
    med_text_string(&text, "': ");
    med_text_string(&text, medley_status_text(status));
    if (advice) {
        med_text_string(&text, "; ");
        med_text_string(&text, advice);
    }
    med_log(MED_LOG_ERROR, &text);
}

static const char *
advice_for(medley_status_t status)
{
    switch (status) {
    case MEDLEY_ERR_ACCESS:
        return "its file is not a plain file of yours with mode 0600: see who made it, or choose "
               "another name with MEDLEY_SYSTEM";
    case MEDLEY_ERR_NO_MEMORY:
        return "shared memory is full: 'medley system list' shows what takes it, lower limits "
               "(MEDLEY_MAX_...) need less";
    case MEDLEY_ERR_VERSION:
        return "processes of another Medley live in it: choose another name with MEDLEY_SYSTEM";
    case MEDLEY_ERR_CORRUPT:
        return "end the processes in it ('medley ps' names them) and start again";
    case MEDLEY_ERR_ARGUMENT:
        return "a name has 1 to 48 letters, digits, '.', '_', '-'";
    default:
        return NULL;
    }
}

static medley_status_t
create_in_section(med_system *system, const char *name)
{
    med_limits_from_environment(&system->limits);
    medley_status_t status = med_layout_compute(&system->limits, &system->layout);
    if (status == MEDLEY_OK) {
        status = med_port_shared_resize(&system->shared, system->layout.size_bytes);
    }
    if (status == MEDLEY_OK) {
        status = med_port_shared_map(&system->shared);
    }
    if (status == MEDLEY_OK) {
        partition_make(system, system->shared.address, name);
    }
    return status;
}

static medley_status_t
join_in_section(med_system *system)
{
    if (system->shared.size_bytes < sizeof(med_partition_header)) {
        return MEDLEY_ERR_CORRUPT;
    }
    medley_status_t status = med_port_shared_map(&system->shared);
    if (status == MEDLEY_OK) {
        status = med_partition_check(system->shared.address, system->shared.size_bytes,
                                     &system->limits, &system->layout);
    }
    if (status == MEDLEY_OK) {
        system->header = system->shared.address;
        views_open(system);
        med_limits_warn_differences(&system->limits, system->shared.name);
    }
    return status;
}

/* Opens the name's section on a file that is new, or in which somebody lives. */
static medley_status_t
open_section(const char *name, med_port_shared *shared)
{
    for (;;) {
        medley_status_t status = med_port_shared_open(name, shared);
        if (status != MEDLEY_OK || shared->size_bytes == 0 || med_port_slot_any_held(shared)) {
            return status;
        }
        /* A leftover: not truncated, since an observer may look at it, but replaced. */
        med_port_shared_remove(shared);
        med_port_shared_close(shared);
    }
}

static medley_status_t
selves_make(med_system *system)
{
    void *memory;
    medley_status_t status = med_port_memory_map(sizeof(med_self) * system->limits.nodes, &memory);
    if (status == MEDLEY_OK) {
        system->selves = memory;
    }
    return status;
}

static medley_status_t
attach_named(const char *name, med_system *system)
{
    *system = (med_system){.scope = MED_PORT_SCOPE_SHARED};
    medley_status_t status = open_section(name, &system->shared);
    if (status != MEDLEY_OK) {
        report(name, status, advice_for(status));
        return status;
    }
    status =
        system->shared.size_bytes == 0 ? create_in_section(system, name) : join_in_section(system);
    if (status == MEDLEY_OK) {
        status = selves_make(system);
    }
    if (status == MEDLEY_OK) {
        status = med_process_claim(system);
    }
    if (status != MEDLEY_OK) {
        if (system->selves) {
            med_port_memory_unmap(system->selves, sizeof(med_self) * system->limits.nodes);
        }
        if (!med_port_slot_any_held(&system->shared)) {
            med_port_shared_remove(&system->shared);
        }
        med_port_shared_close(&system->shared);
        report(name, status, advice_for(status));
        return status;
    }
    med_port_shared_unlock(&system->shared);
    (void)med_process_recover_all(system);
    return MEDLEY_OK;
}

static medley_status_t
attach_private(med_system *system)
{
    *system = (med_system){.scope = MED_PORT_SCOPE_PROCESS};
    med_limits_from_environment(&system->limits);
    void *memory;
    medley_status_t status = med_layout_compute(&system->limits, &system->layout);
    if (status == MEDLEY_OK) {
        status = med_port_memory_map(system->layout.size_bytes, &memory);
    }
    if (status == MEDLEY_OK) {
        partition_make(system, memory, "private");
        status = selves_make(system);
        if (status != MEDLEY_OK) {
            med_port_memory_unmap(memory, system->layout.size_bytes);
        }
    }
    if (status != MEDLEY_OK) {
        report("private", status, advice_for(status));
        return status;
    }
    status = med_process_claim(system);
    med_port_barrier_prepare(MED_PORT_SCOPE_PROCESS);
    return status;
}

static void
detach(med_system *system)
{
    med_port_memory_unmap(system->selves, sizeof(med_self) * system->limits.nodes);
    if (system->scope == MED_PORT_SCOPE_PROCESS) {
        med_port_memory_unmap(system->header, system->layout.size_bytes);
    } else {
        bool in_section = med_port_shared_lock(&system->shared) == MEDLEY_OK;
        med_process_release(system);
        if (in_section && !med_port_slot_any_held(&system->shared)) {
            med_port_shared_remove(&system->shared);
        }
        med_port_shared_close(&system->shared);
    }
    *system = (med_system){.open = false};
}

static medley_status_t
attach_in_gate(const char *name, med_system *system)
{
    medley_status_t status = hooks_place();
    if (status == MEDLEY_OK && !system->open) {
        status = name ? attach_named(name, system) : attach_private(system);
        system->open = status == MEDLEY_OK;
    } else if (status == MEDLEY_OK && name && !med_text_equal(name, system->shared.name, 64)) {
        report(name, MEDLEY_BUSY, "this process is in another system already");
        status = MEDLEY_BUSY;
    }
    if (status == MEDLEY_OK) {
        system->users++;
    }
    return status;
}

/* In the gate; NULL is the private system. */
static const char *
default_name(void)
{
    if (chosen_private) {
        return NULL;
    }
    if (chosen_name[0]) {
        return chosen_name;
    }
    const char *name = med_port_environment("MEDLEY_SYSTEM");
    return name && *name ? name : MED_SYSTEM_DEFAULT_NAME;
}

static medley_status_t
attach(bool by_default, const char *name, med_system **system)
{
    gate_enter();
    if (by_default) {
        name = default_name();
    }
    med_system *wanted = name ? &named : &private_one;
    medley_status_t status = attach_in_gate(name, wanted);
    gate_leave();
    if (status == MEDLEY_OK) {
        *system = wanted;
    }
    return status;
}

medley_status_t
med_system_attach(const char *name, med_system **system)
{
    return attach(false, name, system);
}

medley_status_t
med_system_attach_default(med_system **system)
{
    return attach(true, NULL, system);
}

void
med_system_retain(med_system *system)
{
    gate_enter();
    system->users++;
    gate_leave();
}

/* In the gate. */
static void
user_leaves(med_system *system)
{
    if (--system->users == 0) {
        detach(system);
    }
}

void
med_system_release(med_system *system)
{
    gate_enter();
    user_leaves(system);
    gate_leave();
}

/* ---- Chosen by the program ------------------------------------------------------------------- */

medley_status_t
med_system_open(const char *name)
{
    med_system *wanted = name ? &named : &private_one;
    gate_enter();
    medley_status_t status = attach_in_gate(name, wanted);
    if (status == MEDLEY_OK) {
        wanted->opens++;
        chosen_private = name == NULL;
        med_text_copy(chosen_name, sizeof chosen_name, name ? name : "");
    }
    gate_leave();
    return status;
}

medley_status_t
med_system_close(void)
{
    gate_enter();
    med_system *chosen = chosen_private ? &private_one : &named;
    med_system *other = chosen_private ? &named : &private_one;
    med_system *system = chosen->opens ? chosen : other;
    bool found = system->opens > 0;
    if (found) {
        system->opens--;
        user_leaves(system);
    }
    gate_leave();
    return found ? MEDLEY_OK : MEDLEY_ERR_NOT_FOUND;
}

/* ---- From outside ---------------------------------------------------------------------------- */

medley_status_t
med_system_observe(const char *name, med_system *system)
{
    *system = (med_system){.scope = MED_PORT_SCOPE_SHARED, .observed = true};
    medley_status_t status = med_port_shared_open_existing(name, &system->shared);
    if (status != MEDLEY_OK) {
        return status;
    }
    status = join_in_section(system);
    if (status == MEDLEY_OK) {
        med_port_shared_unlock(&system->shared);
        system->open = true;
    } else {
        med_port_shared_close(&system->shared);
    }
    return status;
}

void
med_system_observe_end(med_system *system)
{
    med_port_shared_close(&system->shared);
    *system = (med_system){.open = false};
}

medley_status_t
med_system_remove(const char *name)
{
    med_port_shared shared;
    medley_status_t status = med_port_shared_open_existing(name, &shared);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (med_port_slot_any_held(&shared)) {
        status = MEDLEY_BUSY;
    } else {
        med_port_shared_remove(&shared);
    }
    med_port_shared_close(&shared);
    return status;
}
