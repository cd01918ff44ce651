/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which systems this process is in: one named, one private. Nodes and explicit opens are their
 * users; the first attaches, the last detaches (attach.c). A process-wide gate guards all of it.
 */
#include "mrapi/system.h"

#include "base/log.h"
#include "base/text.h"
#include "mrapi/attach.h"
#include "mrapi/attach_report.h"
#include "mrapi/image.h"
#include "mrapi/resource.h"

static med_system named;
static med_system private_one;
static char chosen_name[MED_PORT_NAME_MAX + 1];
static bool chosen_private;

/* NULL is the private one. */
static med_system *
system_of(const char *name)
{
    return name && med_port_has_processes() ? &named : &private_one;
}

/* ---- The gate -------------------------------------------------------------------------------- */

static med_lock gate;
static med_lock_sleepers gate_sleepers;
static bool hooks_in_place; /* guarded by the gate */

static uint32_t
gate_owner(void)
{
    return (med_port_thread_id() & 0xffffffu) + 1;
}

static bool
gate_enter_until(uint64_t deadline_ns)
{
    if (!med_port_has_threads()) {
        return true; /* nobody else could be in it */
    }
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = gate_owner(),
                                .deadline_ns = deadline_ns,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter};
    return med_lock_acquire(&gate, &gate_sleepers, &request) == MEDLEY_OK;
}

static void
gate_enter(void)
{
    (void)gate_enter_until(MED_PORT_FOREVER);
}

static void
gate_leave(void)
{
    if (med_port_has_threads()) {
        med_lock_release(&gate, &gate_sleepers, MED_PORT_SCOPE_PROCESS);
    }
}

/* ---- Fork and exit --------------------------------------------------------------------------- */

/* Of a system that another thread opens or leaves at the time a child has half: what it says that
 * is mapped may be so no longer. So who forks is in the gate, if he can get in soon: an open may
 * wait for others, a fork does not. Then the child leaves what it has where it is. */
#define FORK_PATIENCE_NS 10000000u
static bool
    fork_has_gate; /* guarded by resource.c's hook, as the next: one thread at a time forks */
/* A signal's handler may fork in the middle of its thread's fork: as many forks, which take nothing
 * of their own, and so give nothing back that the outermost has. */
static uint32_t forks_inside;

static void
before_fork(void)
{
    if (med_resources_forking()) {
        forks_inside++;
        return;
    }
    med_resources_fork_begin();
    /* A signal's handler may fork, who interrupts one that is in the gate. */
    if (!med_lock_is_mine(&gate, gate_owner())) {
        fork_has_gate = gate_enter_until(med_port_clock_ns() + FORK_PATIENCE_NS);
    }
}

static void
parent_after_fork(void)
{
    if (forks_inside > 0) {
        forks_inside--;
        return;
    }
    if (fork_has_gate) {
        fork_has_gate = false;
        gate_leave();
    }
    med_resources_fork_end();
}

/* No segment was inherited; heap memory was copied, and stays where it is. */
static void
own_part_end(med_system *system)
{
    med_mappings_forget(system);
    system->heap = (med_heap){.chunks = NULL};
    med_attach_own_end(system);
}

/* The child is no part of its parent's systems: it has no node, no slot, no mapping. */
static void
after_fork(void)
{
    med_port_self_set(NULL);
    med_log_keep_end();
    gate = (med_lock){.word = ATOMIC32_INIT(0)};
    /* What is not open yet may be half opened, by a thread that the child does not have. */
    med_port_shared_forget(named.open ? &named.shared : NULL);
    if (named.open && fork_has_gate) {
        own_part_end(&named);
    }
    if (private_one.open && fork_has_gate) {
        own_part_end(&private_one);
        med_port_memory_unmap(private_one.header, private_one.layout.size_bytes);
    }
    if (!fork_has_gate) {
        med_requests_forget();
    }
    fork_has_gate = false;
    forks_inside = 0;
    named = (med_system){.open = false};
    private_one = (med_system){.open = false};
    med_resources_forget();
}

/* An exit does not wait for others, who may be stopped: a file that stays harms nobody. */
#define EXIT_PATIENCE_NS 10000000u

static bool
section_enter_at_exit(void)
{
    uint64_t deadline_ns = med_port_clock_ns() + EXIT_PATIENCE_NS;
    return med_port_shared_lock_until(&named.shared, deadline_ns) == MEDLEY_OK;
}

/* In the gate: no other thread closes the system meanwhile. Who exits in the middle of that
 * himself, in a signal's handler, tells nothing. */
static void
exit_tell(void)
{
    if (named.open && !med_lock_is_mine(&gate, gate_owner()) &&
        gate_enter_until(med_port_clock_ns() + EXIT_PATIENCE_NS)) {
        if (named.open) {
            med_node_exits_tell(&named);
        }
        gate_leave();
    }
}

/* Behind the program's own handlers (port.h), so that none of them can find it gone and its process
 * still there. The threads still run, so nothing is unmapped; only the name goes, if nobody else
 * needs it: others that are at this very point do not. */
static void
at_exit(void)
{
    exit_tell();
    if (named.open && section_enter_at_exit()) {
        med_log_kept said;
        med_log_keep(&said);
        med_process_exits(&named);
        med_attach_name_remove_unless_held(&named);
        med_log_keep_end();
        med_port_shared_unlock(&named.shared);
        med_log_say(&said);
    }
}

static void
thread_ended(void *self)
{
    (void)med_node_leave(self); /* what is left of it, its process removes */
}

static void
descriptor_lost(const char *name)
{
    med_text text = {.length = 0};
    med_text_string(&text, "the descriptor of system '");
    med_text_string(&text, name);
    med_text_string(&text, "' was closed by the program: others take this process for dead, and it "
                           "recovers nobody; close only what is yours");
    med_log(MED_LOG_ERROR, &text);
}

static void
folder_check(void)
{
    const char *folder = med_port_environment("MEDLEY_SHM_DIR");
    if (folder && *folder && *folder != '/') {
        med_log_ignored("MEDLEY_SHM_DIR", folder, "want a path from the root");
    }
}

static medley_status_t
process_hooks_place(void)
{
    folder_check();
    med_port_shared_on_lost(descriptor_lost);
    medley_status_t status = med_port_on_fork(before_fork, parent_after_fork, after_fork);
    return status == MEDLEY_OK ? med_port_on_exit(at_exit) : status;
}

static medley_status_t
hooks_place(void)
{
    if (hooks_in_place) {
        return MEDLEY_OK;
    }
    med_log_level_from_environment();
    medley_status_t status = med_port_self_on_exit(thread_ended);
    if (status == MEDLEY_OK && med_port_has_processes()) {
        status = process_hooks_place();
    }
    hooks_in_place = status == MEDLEY_OK;
    return status;
}

/* ---- Users ----------------------------------------------------------------------------------- */

static void
busy_report(const char *name)
{
    med_text advice = {.length = 0};
    med_text_string(&advice, "this process is in system '");
    med_text_string(&advice, named.shared.name);
    med_text_string(&advice, "' already, and in one named system at a time");
    med_attach_report(name, MEDLEY_BUSY, advice.bytes);
}

static medley_status_t
attach_in_gate(const char *name, uint64_t deadline_ns, med_image *image, med_system *system)
{
    if (name && !med_port_has_processes()) {
        med_attach_report(name, MEDLEY_ERR_NOT_SUPPORTED, "there is a private one");
        return MEDLEY_ERR_NOT_SUPPORTED;
    }
    medley_status_t status = hooks_place();
    if (status == MEDLEY_OK && !system->open) {
        status = image  ? med_attach_image(name, deadline_ns, image, system)
                 : name ? med_attach_named(name, deadline_ns, system)
                        : med_attach_private(system);
        system->open = status == MEDLEY_OK;
    } else if (status == MEDLEY_OK && image) {
        status = MEDLEY_BUSY;
    } else if (status == MEDLEY_OK && name && !med_port_shared_name_valid(name)) {
        status = MEDLEY_ERR_ARGUMENT;
        med_attach_report(name, status, MED_ATTACH_ADVICE_NAME);
    } else if (status == MEDLEY_OK && name && !med_text_equal(name, system->shared.name, 64)) {
        busy_report(name);
        status = MEDLEY_BUSY;
    }
    if (status == MEDLEY_OK) {
        system->users++;
    }
    return status;
}

/* In the gate; NULL is the private system, the only one where there are no processes. */
static const char *
default_name(void)
{
    if (chosen_private || !med_port_has_processes()) {
        return NULL;
    }
    if (chosen_name[0]) {
        return chosen_name;
    }
    const char *name = med_port_environment("MEDLEY_SYSTEM");
    return name && *name ? name : MED_SYSTEM_DEFAULT_NAME;
}

bool
med_system_is_asked_for(void)
{
    const char *name = med_port_environment("MEDLEY_SYSTEM");
    gate_enter();
    bool is_named = !chosen_private && (chosen_name[0] || (name && *name));
    gate_leave();
    return med_port_has_processes() && is_named;
}

med_system *
med_system_retain_named(void)
{
    gate_enter();
    bool is_open = named.open;
    named.users += is_open;
    gate_leave();
    return is_open ? &named : NULL;
}

static medley_status_t
attach(bool by_default, const char *name, med_system **system)
{
    uint64_t deadline_ns = med_system_deadline_ns();
    gate_enter();
    if (by_default) {
        name = default_name();
    }
    med_system *wanted = system_of(name);
    medley_status_t status = attach_in_gate(name, deadline_ns, NULL, wanted);
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
        med_attach_end(system);
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

static medley_status_t
open_and_choose(const char *name, med_image *image)
{
    med_system *wanted = system_of(name);
    uint64_t deadline_ns = med_system_deadline_ns();
    gate_enter();
    medley_status_t status = attach_in_gate(name, deadline_ns, image, wanted);
    if (status == MEDLEY_OK) {
        wanted->opens++;
        chosen_private = name == NULL;
        med_text_copy(chosen_name, sizeof chosen_name, name ? name : "");
    }
    gate_leave();
    return status;
}

medley_status_t
med_system_open(const char *name)
{
    return open_and_choose(name, NULL);
}

medley_status_t
med_system_open_image(const char *name, med_image *image)
{
    return open_and_choose(name, image);
}

/* In the gate, when one of the two systems has lost its last open: the other's count. */
static void
choice_follows_opens(void)
{
    chosen_private = private_one.opens > 0;
    bool chosen_named = !chosen_private && named.opens > 0;
    med_text_copy(chosen_name, sizeof chosen_name, chosen_named ? named.shared.name : "");
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
        if (--system->opens == 0) {
            choice_follows_opens();
        }
        user_leaves(system);
    }
    gate_leave();
    return found ? MEDLEY_OK : MEDLEY_ERR_NOT_FOUND;
}

/* ---- Leftovers ------------------------------------------------------------------------------- */

medley_status_t
med_system_remove(const char *name, uint64_t deadline_ns, char why[MED_PORT_WHY_BYTES])
{
    med_port_shared shared;
    medley_status_t status = med_port_shared_open_existing_until(name, deadline_ns, &shared);
    if (status == MEDLEY_OK) {
        status = med_port_slot_any_held(&shared) ? MEDLEY_BUSY : med_attach_name_remove(&shared);
        med_port_shared_close(&shared);
    }
    med_text_copy(why, MED_PORT_WHY_BYTES, shared.why);
    return status;
}
