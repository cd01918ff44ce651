/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opens each system for looking only, and tells its state from how that goes. */
#include "tools/medley/snapshot.h"

#include <string.h>

#include "mrapi/view.h"
#include "tools/medley/output.h"
#include "tools/medley/snapshot_contents.h"

/* The state, when the system cannot be looked into. */
static medley_status_t
outside_only(const char *name, medley_status_t why, const char **state)
{
    bool inhabited;
    if (why == MEDLEY_ERR_ACCESS || why == MEDLEY_TIMEOUT) {
        *state = why == MEDLEY_TIMEOUT ? "blocked" : "refused";
        return MEDLEY_OK;
    }
    medley_status_t status = med_view_inhabited(name, &inhabited);
    if (status == MEDLEY_OK) {
        *state = inhabited ? "unreadable" : "stale";
    }
    return status;
}

static const char *
reason_of(medley_status_t status, const med_system *system)
{
    return *system->shared.why ? system->shared.why : medley_status_text(status);
}

medley_status_t
snapshot_take_until(const char *name, uint64_t deadline_ns, json_t **system_out)
{
    med_system system;
    const char *state = "unreadable";
    medley_status_t status = med_system_observe(name, deadline_ns, &system);
    if (status == MEDLEY_ERR_NOT_FOUND || status == MEDLEY_ERR_ARGUMENT) {
        return status;
    }
    json_t *json = json_pack("{s:s, s:n, s:n}", "name", name, "state", "reason");
    if (status == MEDLEY_OK) {
        state = med_port_slot_any_held(&system.shared) ? "live" : "stale";
        status = snapshot_contents_add(&system, json);
        med_system_observe_end(&system);
    } else {
        (void)json_object_set_new(json, "reason", output_string(reason_of(status, &system)));
        status = outside_only(name, status, &state);
    }
    if (status != MEDLEY_OK) {
        json_decref(json);
        return status;
    }
    (void)json_object_set_new(json, "state", json_string(state));
    *system_out = json;
    return MEDLEY_OK;
}

medley_status_t
snapshot_take(const char *name, json_t **system)
{
    return snapshot_take_until(name, med_system_deadline_ns(), system);
}

/* Keeps `context`, a JSON array of strings, sorted. */
static bool
name_add(const char *name, void *context)
{
    json_t *names = context;
    size_t at = 0;
    while (at < json_array_size(names) &&
           strcmp(json_string_value(json_array_get(names, at)), name) < 0) {
        at++;
    }
    return json_array_insert_new(names, at, json_string(name)) == 0;
}

json_t *
snapshot_names(void)
{
    json_t *names = json_array();
    if (med_port_shared_list(name_add, names) != MEDLEY_OK) {
        json_decref(names);
        return NULL;
    }
    return names;
}

json_t *
snapshot_all_until(uint64_t deadline_ns)
{
    json_t *names = snapshot_names();
    if (!names) {
        return NULL;
    }
    json_t *systems = json_array();
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        json_t *system;
        /* What is gone by now is not shown. */
        if (snapshot_take_until(name, deadline_ns, &system) == MEDLEY_OK) {
            (void)json_array_append_new(systems, system);
        }
    }
    json_decref(names);
    return systems;
}

json_t *
snapshot_all(void)
{
    return snapshot_all_until(med_system_deadline_ns());
}
