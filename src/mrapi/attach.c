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
 * name; the file stays as a leftover. Nothing is said in the section: who reads standard error may
 * be stopped himself.
 */
#include "mrapi/attach.h"

#include "mrapi/attach_partition.h"
#include "mrapi/attach_report.h"
#include "mrapi/image.h"
#include "mrapi/parts.h"
#include "mrapi/traced.h"

/* ---- The name -------------------------------------------------------------------------------- */

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

/* All segments, where that is 0: what a leftover says of itself is not asked. */
static medley_status_t
instance_remove(med_port_shared *shared, uint64_t instance)
{
    med_port_segments_remove(shared->path, instance);
    return med_port_shared_remove(shared);
}

medley_status_t
med_attach_name_remove(med_port_shared *shared)
{
    return instance_remove(shared, 0);
}

void
med_attach_name_remove_unless_held(med_system *system)
{
    if (med_port_slot_any_stays(&system->shared)) {
        return;
    }
    /* Relaxed: whoever made one is gone. Most systems have none, and need not look for them. */
    bool alone = system->header && atomic32_load_relaxed(&system->header->segments) == 0;
    /* 0 when its contents were not looked at: opened a moment ago, it is what the name names. */
    medley_status_t status = alone ? med_port_shared_remove(&system->shared)
                                   : instance_remove(&system->shared, system->instance);
    if (status != MEDLEY_OK) {
        med_attach_report_file_left(&system->shared);
    }
}

/* ---- Attaching ------------------------------------------------------------------------------- */

/* Where there are no named systems, a program has nothing of what images are made by. */
static inline bool
is_there(const med_image *image)
{
    return med_port_has_processes() && image;
}

/* Its nodes, and where there are processes what it sees of them. */
static size_t
own_bytes(const med_system *system)
{
    size_t watches = med_port_has_processes() ? system->limits.processes : 0;
    return sizeof(med_self) * system->limits.nodes + sizeof(med_process_watch) * watches;
}

/* What this process keeps for itself. Where it fails, the caller ends what there is of it. */
static medley_status_t
own_make(med_system *system)
{
    void *memory;
    medley_status_t status = med_port_memory_map(own_bytes(system), &memory);
    if (status == MEDLEY_OK) {
        system->selves = memory;
        system->watches = (med_process_watch *)(void *)(system->selves + system->limits.nodes);
        status = med_parts_begin(system);
    }
    return status;
}

void
med_attach_own_end(med_system *system)
{
    med_parts_end(system);
    if (system->selves) {
        med_port_memory_unmap(system->selves, own_bytes(system));
        system->selves = NULL;
    }
}

static medley_status_t
own_make_and_claim(med_system *system)
{
    medley_status_t status = own_make(system);
    return status == MEDLEY_OK ? med_process_claim(system) : status;
}

/* In the section of a name that nobody lives in. Who is in it before the section ends is alone. */
static medley_status_t
create_and_claim(med_system *system, const char *name, med_image *image)
{
    medley_status_t status = med_attach_partition_create(system, name, image);
    if (status == MEDLEY_OK) {
        status = own_make_and_claim(system);
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
    if (status != MEDLEY_OK && refused) {
        med_attach_report_image_refused(name);
    } else if (status != MEDLEY_OK) {
        med_attach_report_failure(name, status, system->shared.why);
    }
    if (is_there(&of_environment)) {
        med_image_close(&of_environment);
    }
    return status;
}

static medley_status_t
join_and_claim(med_system *system, const char *name)
{
    medley_status_t status = med_attach_partition_join(system);
    if (status == MEDLEY_OK) {
        status = own_make_and_claim(system);
    }
    if (status != MEDLEY_OK) {
        med_attach_report_failure(name, status, system->shared.why);
    }
    return status;
}

/* In the section of the name. */
static medley_status_t
create_or_join(med_system *system, const char *name, med_image *image, bool is_new)
{
    medley_status_t status;
    if (image && !is_new) {
        status = MEDLEY_BUSY;
        med_attach_report(name, status, "somebody lives in it: choose another name for the image");
    } else {
        status = is_new ? create(system, name, image) : join_and_claim(system, name);
    }
    if (status != MEDLEY_OK) {
        med_attach_own_end(system);
        med_attach_name_remove_unless_held(system);
    }
    return status;
}

static medley_status_t
attach(const char *name, uint64_t deadline_ns, med_image *image, med_system *system)
{
    if (!med_port_has_processes()) {
        return MEDLEY_ERR_NOT_SUPPORTED; /* so that a program for bare metal has nothing of this */
    }
    *system = (med_system){.scope = MED_PORT_SCOPE_SHARED};
    bool is_new;
    medley_status_t status = open_section(name, deadline_ns, &system->shared, &is_new);
    if (status != MEDLEY_OK) {
        med_attach_report_failure(name, status, system->shared.why);
        return status;
    }
    med_log_kept said;
    med_log_keep(&said);
    status = create_or_join(system, name, image, is_new);
    med_log_keep_end();
    if (status == MEDLEY_OK) {
        med_port_shared_unlock(&system->shared);
    } else {
        med_port_shared_close(&system->shared);
    }
    med_log_say(&said);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_attach_tell(is_new ? "created" : "joined", system);
    med_traced_joined(system, is_new);
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

/* Who asks for an image means a system that he names. */
static void
image_of_nobody_report(void)
{
    const char *path = med_port_environment("MEDLEY_SYSTEM_IMAGE");
    if (path && *path) {
        med_log_error("MEDLEY_SYSTEM_IMAGE ignored",
                      "a private system is not made of an image; open one by a name");
    }
}

medley_status_t
med_attach_private(med_system *system)
{
    if (med_port_has_processes()) {
        image_of_nobody_report();
    }
    *system = (med_system){.scope = MED_PORT_SCOPE_PROCESS};
    medley_status_t status = med_attach_partition_private(system);
    if (status == MEDLEY_OK) {
        status = own_make_and_claim(system);
        if (status != MEDLEY_OK) {
            med_attach_own_end(system);
            med_port_memory_unmap(system->header, system->layout.size_bytes);
        }
    }
    if (status != MEDLEY_OK) {
        med_attach_report_failure(NULL, status, "");
        return status;
    }
    med_attach_tell("created", system);
    med_port_barrier_prepare(MED_PORT_SCOPE_PROCESS);
    return MEDLEY_OK;
}

static void
end_named(med_system *system)
{
    med_log_kept said = {.lines = NULL};
    medley_status_t status = med_port_shared_lock_until(&system->shared, med_system_deadline_ns());
    /* Any other: the descriptor is lost, and with it the slot. The row may be another's. */
    if (status == MEDLEY_OK || status == MEDLEY_TIMEOUT) {
        med_process_release(system);
    }
    if (status == MEDLEY_OK) {
        med_log_keep(&said);
        med_attach_name_remove_unless_held(system);
        med_log_keep_end();
    } else if (status == MEDLEY_TIMEOUT) {
        med_attach_report_file_left(&system->shared);
    }
    med_port_shared_close(&system->shared);
    med_log_say(&said);
}

void
med_attach_end(med_system *system)
{
    med_attach_tell("left", system);
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

/* Who is aside of the section keeps nobody from it. */
static medley_status_t
observe(med_system *system)
{
    if (!system->shared.in_section) {
        return med_attach_partition_join(system);
    }
    med_log_kept said;
    med_log_keep(&said);
    medley_status_t status = med_attach_partition_join(system);
    med_log_keep_end();
    med_port_shared_unlock(&system->shared);
    med_log_say(&said);
    return status;
}

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
    status = observe(system);
    if (status != MEDLEY_OK) {
        med_port_shared_close(&system->shared);
        return status;
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
