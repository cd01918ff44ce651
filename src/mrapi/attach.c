/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attaching to a system, and leaving it.
 *
 * In the port's section of the name, which excludes all other processes: if nobody's liveness slot
 * is held, whatever the file contains is a leftover, and a new one is made in its place; else the
 * partition is checked and used as it is. A slot is claimed before the section ends, so the next
 * process finds us alive. Hence no file, however it was left behind, stops the next start.
 *
 * A slot is claimed only in a partition that is complete, and a file that has one is never made
 * anew. So who only looks needs no section where a slot is held. A file without a byte in which one
 * is held was cut off under its users, and is refused like any other that is too short.
 *
 * Another process that is stopped in the section keeps us out. To attach then fails, at a deadline.
 * To detach does not: the row is given back without the section, which is needed only to remove the
 * name; the file stays as a leftover.
 */
#include "mrapi/attach.h"

#include "base/log.h"
#include "base/text.h"
#include "mrapi/image.h"
#include "mrapi/kinds.h"
#include "mrapi/parts.h"
#include "mrapi/traced.h"

/* ---- Views ----------------------------------------------------------------------------------- */

static void
view_open(med_system *system, med_kind kind)
{
    med_table_view *view = &system->tables[kind];
    med_table_view_init(view, (char *)(void *)system->header + system->layout.tables[kind],
                        med_kind_rows(&system->limits, kind), system->layout.row_bytes[kind]);
    view->scope = system->scope;
    view->on_remove = med_kinds[kind].on_remove;
    view->on_slice = med_process_look;
    view->patience_ns = MED_SYSTEM_PATIENCE_NS;
    view->on_stuck = med_port_has_processes() ? med_process_report_stuck : NULL;
    view->given_up = &system->tables_given_up[kind];
    view->context = system;
}

static void
views_open(med_system *system)
{
    system->processes = (unsigned char *)(void *)system->header + system->layout.processes;
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        view_open(system, (med_kind)k);
    }
    system->instance = system->header->created_ns;
    system->on_death =
        system->header->on_death == MED_ON_DEATH_FAIL ? MED_ON_DEATH_FAIL : MED_ON_DEATH_RECOVER;
}

static void
tables_init(med_system *system)
{
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        if (system->layout.tables[k]) {
            med_table_init(&system->tables[k]);
        }
    }
}

/* False when the variable asks for nothing, or makes no sense (then it is reported). */
static bool
on_death_asked_for(med_on_death *asked)
{
    const char *value =
        med_port_has_environment() ? med_port_environment("MEDLEY_MUTEX_ON_DEATH") : NULL;
    if (!value || !*value) {
        return false;
    }
    bool recover = med_text_equal(value, "recover", 8);
    if (!recover && !med_text_equal(value, "fail", 5)) {
        med_log_ignored("MEDLEY_MUTEX_ON_DEATH", value, "want 'recover' or 'fail'");
        return false;
    }
    *asked = recover ? MED_ON_DEATH_RECOVER : MED_ON_DEATH_FAIL;
    return true;
}

static med_on_death
on_death_from_environment(void)
{
    med_on_death asked;
    return on_death_asked_for(&asked) ? asked : MED_ON_DEATH_RECOVER;
}

static void
on_death_warn_difference(const med_system *system)
{
    med_on_death asked;
    if (!on_death_asked_for(&asked) || asked == system->on_death) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, "MEDLEY_MUTEX_ON_DEATH has no effect: system '");
    med_text_string(&text, system->shared.name);
    med_text_string(&text, "' was created with '");
    med_text_string(&text, system->on_death == MED_ON_DEATH_FAIL ? "fail'" : "recover'");
    med_log(MED_LOG_ERROR, &text);
}

/* `memory` is zeroed and as large as the layout says; `image` may be NULL, here and below. */
static void
partition_make(med_system *system, void *memory, const char *name, const med_image *image)
{
    med_on_death on_death =
        image && image->on_death_said ? image->on_death : on_death_from_environment();
    med_partition_init(memory, &system->limits, &system->layout, on_death, name);
    system->header = memory;
    views_open(system);
    tables_init(system);
    if (med_port_has_processes()) {
        med_traced_open(system, true);
    }
}

/* ---- Attaching ------------------------------------------------------------------------------- */

/* `why` (may be "") is the port's, and says more than the status. */
static void
report(const char *name, medley_status_t status, const char *why, const char *advice)
{
    if (!med_log_wanted(MED_LOG_ERROR)) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, "cannot open system '");
    med_text_string(&text, name);
    med_text_string(&text, "': ");
    med_text_string(&text, *why ? why : medley_status_text(status));
    if (advice) {
        med_text_string(&text, "; ");
        med_text_string(&text, advice);
    }
    med_log(MED_LOG_ERROR, &text);
}

void
med_attach_report(const char *name, medley_status_t status, const char *advice)
{
    report(name, status, "", advice);
}

static void
file_left_report(const med_port_shared *shared)
{
    med_text text = {.length = 0};
    med_text_string(&text, "left system '");
    med_text_string(&text, shared->name);
    med_text_string(&text, "', whose file may stay: ");
    med_text_string(&text, shared->why);
    med_log(MED_LOG_ERROR, &text);
}

/* The coming and going of systems, for who wants to follow it. */
static void
tell(const char *what, const med_system *system)
{
    if (!med_log_wanted(MED_LOG_INFO)) {
        return;
    }
    med_text text = {.length = 0};
    med_text_string(&text, what);
    if (system->scope == MED_PORT_SCOPE_PROCESS) {
        med_text_string(&text, " the private system");
    } else {
        med_text_string(&text, " system '");
        med_text_string(&text, system->shared.name);
        med_text_string(&text, "'");
    }
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        med_text_string(&text, i ? ", " : ": ");
        med_text_number(&text, med_limits_get(&system->limits, (med_limit)i));
        med_text_string(&text, " ");
        med_text_string(&text, med_limit_infos[i].name);
    }
    med_log(MED_LOG_INFO, &text);
}

/* What to do, unless `why` says so. */
static const char *
advice_for(const char *name, medley_status_t status, const char *why)
{
    switch (status) {
    case MEDLEY_ERR_ACCESS:
        return "see who made it, or choose another name with MEDLEY_SYSTEM";
    case MEDLEY_ERR_NO_MEMORY:
        return *why ? NULL
                    : "shared memory is full: 'medley system list' shows what takes it, lower "
                      "limits (MEDLEY_MAX_...) need less";
    case MEDLEY_ERR_VERSION:
    case MEDLEY_ERR_BYTE_ORDER:
        return "processes of another Medley live in it: choose another name with MEDLEY_SYSTEM";
    case MEDLEY_ERR_CORRUPT:
        return "end the processes in it ('medley ps' names them) and start again";
    case MEDLEY_ERR_ARGUMENT:
        return med_port_shared_name_valid(name) ? "the folder's path (MEDLEY_SHM_DIR) is too long"
                                                : MED_ATTACH_ADVICE_NAME;
    default:
        return NULL;
    }
}

/* Where there are no named systems, a program has nothing of what images are made by. */
static inline bool
is_there(const med_image *image)
{
    return med_port_has_processes() && image;
}

static medley_status_t
create_in_section(med_system *system, const char *name, med_image *image)
{
    medley_status_t status = MEDLEY_OK;
    med_limits_from_environment(&system->limits);
    if (is_there(image)) {
        med_image_limits(image, &system->limits);
        status = med_image_check(image, &system->limits);
    }
    if (status == MEDLEY_OK) {
        status = med_layout_compute(&system->limits, &system->layout);
    }
    if (status == MEDLEY_OK) {
        status = med_layout_add_trace(&system->layout, med_traced_wanted());
    }
    if (status == MEDLEY_OK) {
        status = med_port_shared_resize(&system->shared, system->layout.size_bytes);
    }
    if (status == MEDLEY_OK) {
        status = med_port_shared_map(&system->shared);
    }
    if (status == MEDLEY_OK) {
        partition_make(system, system->shared.address, name, image);
    }
    return status;
}

/* In the section, or of an observer who has seen that a slot is held. */
static medley_status_t
join(med_system *system)
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
        med_traced_open(system, false);
        med_traced_warn_difference(system);
        med_limits_warn_differences(&system->limits, system->shared.name);
        on_death_warn_difference(system);
    }
    return status;
}

/* Opens the name's section on a file that is new, or in which somebody lives. */
static medley_status_t
open_section(const char *name, uint64_t deadline_ns, med_port_shared *shared, bool *is_new)
{
    for (;;) {
        medley_status_t status = med_port_shared_open_until(name, deadline_ns, shared);
        if (status != MEDLEY_OK) {
            return status;
        }
        bool lived_in = med_port_slot_any_held(shared);
        *is_new = shared->size_bytes == 0 && !lived_in;
        if (*is_new || lived_in) {
            return MEDLEY_OK;
        }
        /* A leftover: not truncated, since an observer may look at it, but replaced. */
        status = med_attach_name_remove(shared);
        med_port_shared_close(shared);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
}

medley_status_t
med_attach_name_remove(med_port_shared *shared)
{
    med_port_segments_remove(shared->path);
    return med_port_shared_remove(shared);
}

void
med_attach_name_remove_unless_held(med_system *system)
{
    if (med_port_slot_any_held(&system->shared)) {
        return;
    }
    /* Relaxed: whoever made one is gone. Most systems have none, and need not look for them. */
    bool alone = system->header && atomic32_load_relaxed(&system->header->segments) == 0;
    medley_status_t status =
        alone ? med_port_shared_remove(&system->shared) : med_attach_name_remove(&system->shared);
    if (status != MEDLEY_OK) {
        file_left_report(&system->shared);
    }
}

/* What this process keeps for itself. Nothing of it stays when it cannot be had. */
static medley_status_t
own_make(med_system *system)
{
    void *memory;
    medley_status_t status = med_port_memory_map(sizeof(med_self) * system->limits.nodes, &memory);
    if (status == MEDLEY_OK) {
        system->selves = memory;
        status = med_parts_begin(system);
    }
    if (status != MEDLEY_OK) {
        med_attach_own_end(system);
    }
    return status;
}

void
med_attach_own_end(med_system *system)
{
    med_parts_end(system);
    if (system->selves) {
        med_port_memory_unmap(system->selves, sizeof(med_self) * system->limits.nodes);
        system->selves = NULL;
    }
}

/* In the section of a name that nobody lives in. Who is in it before the section ends is alone. */
static medley_status_t
create_and_claim(med_system *system, const char *name, med_image *image)
{
    medley_status_t status = create_in_section(system, name, image);
    if (status == MEDLEY_OK) {
        status = own_make(system);
    }
    if (status == MEDLEY_OK) {
        status = med_process_claim(system);
    }
    if (status == MEDLEY_OK && is_there(image)) {
        status = med_image_apply(system, image);
        if (status != MEDLEY_OK) {
            med_process_release(system);
        }
    }
    return status;
}

/* Of that image, or of MEDLEY_SYSTEM_IMAGE's if there is one. */
static medley_status_t
create(med_system *system, const char *name, med_image *image)
{
    med_image of_environment = {.path = NULL};
    medley_status_t status = MEDLEY_EMPTY;
    if (!image && med_port_has_processes()) {
        status = med_image_open_environment(name, &of_environment);
        image = status == MEDLEY_OK ? &of_environment : NULL;
    }
    if (status == MEDLEY_OK || status == MEDLEY_EMPTY) {
        status = create_and_claim(system, name, image);
    }
    bool refused = (image && image->refused) || of_environment.refused;
    if (status != MEDLEY_OK) {
        report(name, status, refused ? "its image was refused" : system->shared.why,
               refused ? NULL : advice_for(name, status, system->shared.why));
    }
    if (is_there(&of_environment)) {
        med_image_close(&of_environment);
    }
    return status;
}

static medley_status_t
join_and_claim(med_system *system, const char *name)
{
    medley_status_t status = join(system);
    if (status == MEDLEY_OK) {
        status = own_make(system);
    }
    if (status == MEDLEY_OK) {
        status = med_process_claim(system);
    }
    if (status != MEDLEY_OK) {
        report(name, status, system->shared.why, advice_for(name, status, system->shared.why));
    }
    return status;
}

static medley_status_t
attach(const char *name, uint64_t deadline_ns, med_image *image, med_system *system)
{
    if (!med_port_has_processes()) {
        return MEDLEY_ERR_NOT_SUPPORTED; /* so that an image of bare metal has nothing of this */
    }
    *system = (med_system){.scope = MED_PORT_SCOPE_SHARED};
    bool is_new;
    medley_status_t status = open_section(name, deadline_ns, &system->shared, &is_new);
    if (status != MEDLEY_OK) {
        report(name, status, system->shared.why, advice_for(name, status, system->shared.why));
        return status;
    }
    if (image && !is_new) {
        status = MEDLEY_BUSY;
        med_attach_report(name, status, "somebody lives in it: choose another name for the image");
    } else {
        status = is_new ? create(system, name, image) : join_and_claim(system, name);
    }
    if (status != MEDLEY_OK) {
        med_attach_own_end(system);
        med_attach_name_remove_unless_held(system);
        med_port_shared_close(&system->shared);
        return status;
    }
    med_port_shared_unlock(&system->shared);
    tell(is_new ? "created" : "joined", system);
    med_traced(system, 0, MED_TRACED_JOINED, med_port_process_id(), is_new);
    (void)med_process_recover_all(system);
    return MEDLEY_OK;
}

medley_status_t
med_attach_named(const char *name, uint64_t deadline_ns, med_system *system)
{
    return attach(name, deadline_ns, NULL, system);
}

medley_status_t
med_attach_image(const char *name, uint64_t deadline_ns, med_image *image, med_system *system)
{
    return attach(name, deadline_ns, image, system);
}

medley_status_t
med_attach_private(med_system *system)
{
    *system = (med_system){.scope = MED_PORT_SCOPE_PROCESS};
    med_limits_from_environment(&system->limits);
    void *memory;
    medley_status_t status = med_layout_compute(&system->limits, &system->layout);
    if (status == MEDLEY_OK) {
        status = med_port_memory_map(system->layout.size_bytes, &memory);
    }
    if (status == MEDLEY_OK) {
        partition_make(system, memory, "private", NULL);
        status = own_make(system);
        if (status != MEDLEY_OK) {
            med_port_memory_unmap(memory, system->layout.size_bytes);
        }
    }
    if (status != MEDLEY_OK) {
        med_attach_report("private", status, advice_for("private", status, ""));
        return status;
    }
    status = med_process_claim(system);
    tell("created", system);
    med_port_barrier_prepare(MED_PORT_SCOPE_PROCESS);
    return status;
}

static void
end_named(med_system *system)
{
    medley_status_t status = med_port_shared_lock_until(&system->shared, med_system_deadline_ns());
    /* Any other: the descriptor is lost, and with it the slot. The row may be another's. */
    if (status == MEDLEY_OK || status == MEDLEY_TIMEOUT) {
        med_process_release(system);
    }
    if (status == MEDLEY_OK) {
        med_attach_name_remove_unless_held(system);
    } else if (status == MEDLEY_TIMEOUT) {
        file_left_report(&system->shared);
    }
    med_port_shared_close(&system->shared);
}

void
med_attach_end(med_system *system)
{
    tell("left", system);
    med_traced(system, 0, MED_TRACED_LEFT, med_port_process_id(), 0);
    med_attach_own_end(system);
    if (med_system_is_shared(system)) {
        end_named(system);
    } else {
        med_port_memory_unmap(system->header, system->layout.size_bytes);
    }
    *system = (med_system){.open = false};
}

/* ---- From outside ---------------------------------------------------------------------------- */

medley_status_t
med_system_observe(const char *name, uint64_t deadline_ns, med_system *system)
{
    *system = (med_system){.scope = MED_PORT_SCOPE_SHARED, .observed = true};
    medley_status_t status = med_port_shared_open_aside(name, &system->shared);
    if (status == MEDLEY_EMPTY) {
        status = med_port_shared_open_existing_until(name, deadline_ns, &system->shared);
    }
    if (status != MEDLEY_OK) {
        return status;
    }
    status = join(system);
    if (status != MEDLEY_OK) {
        med_port_shared_close(&system->shared);
        return status;
    }
    if (system->shared.in_section) {
        med_port_shared_unlock(&system->shared);
    }
    system->open = true;
    return MEDLEY_OK;
}

void
med_system_observe_end(med_system *system)
{
    med_port_shared_close(&system->shared);
    *system = (med_system){.open = false};
}
