/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The partition that this process attaches to. One that is new is made of this process's variables,
 * or of an image; one in which somebody lives is checked, and used as it is. Whatever of it decides
 * where things are is read once: the views are built of checked limits.
 */
#include "mrapi/attach_partition.h"

#include "base/log.h"
#include "base/text.h"
#include "mrapi/kinds.h"
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
    system->processes =
        (med_process_row *)(void *)((char *)(void *)system->header + system->layout.processes);
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

/* ---- What becomes of a dead holder's mutex --------------------------------------------------- */

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

/* ---- A new one ------------------------------------------------------------------------------- */

/* `memory` is zeroed and as large as the layout says; `image` may be NULL. */
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

medley_status_t
med_attach_partition_create(med_system *system, const char *name, med_image *image)
{
    if (!med_port_has_processes()) {
        return MEDLEY_ERR_NOT_SUPPORTED; /* so that a program for bare metal has nothing of this */
    }
    medley_status_t status = MEDLEY_OK;
    med_limits_from_environment(&system->limits);
    if (image) {
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

medley_status_t
med_attach_partition_private(med_system *system)
{
    med_limits_from_environment(&system->limits);
    void *memory;
    medley_status_t status = med_layout_compute(&system->limits, &system->layout);
    if (status == MEDLEY_OK) {
        status = med_port_memory_map(system->layout.size_bytes, &memory);
    }
    if (status == MEDLEY_OK) {
        partition_make(system, memory, "private", NULL);
    }
    return status;
}

/* ---- One in which somebody lives ------------------------------------------------------------- */

medley_status_t
med_attach_partition_join(med_system *system)
{
    if (!med_port_has_processes()) {
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
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
