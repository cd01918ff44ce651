/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What there is not without an operating system: names, processes, and what comes with them. */
#include "port/port.h"

medley_status_t
med_port_shared_open_until(const char *name, uint64_t deadline_ns, med_port_shared *shared)
{
    (void)name;
    (void)deadline_ns;
    (void)shared;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_shared_open_existing_until(const char *name, uint64_t deadline_ns, med_port_shared *shared)
{
    (void)name;
    (void)deadline_ns;
    (void)shared;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_shared_open_aside(const char *name, med_port_shared *shared)
{
    (void)name;
    (void)shared;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

bool
med_port_shared_name_valid(const char *name)
{
    (void)name;
    return false;
}

medley_status_t
med_port_shared_resize(med_port_shared *shared, size_t size_bytes)
{
    (void)shared;
    (void)size_bytes;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_shared_map(med_port_shared *shared)
{
    (void)shared;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_shared_lock_until(med_port_shared *shared, uint64_t deadline_ns)
{
    (void)shared;
    (void)deadline_ns;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

void
med_port_shared_unlock(med_port_shared *shared)
{
    (void)shared;
}

medley_status_t
med_port_shared_remove(med_port_shared *shared)
{
    (void)shared;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

void
med_port_shared_close(med_port_shared *shared)
{
    (void)shared;
}

void
med_port_shared_forget(med_port_shared *shared)
{
    (void)shared;
}

void
med_port_shared_on_lost(void (*handler)(const char *name))
{
    (void)handler;
}

medley_status_t
med_port_shared_list(bool (*visit)(const char *name, void *context), void *context)
{
    (void)visit;
    (void)context;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_segment_open(med_port_segment *segment)
{
    (void)segment;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_segment_map(med_port_segment *segment)
{
    (void)segment;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

void
med_port_segment_close(med_port_segment *segment)
{
    (void)segment;
}

void
med_port_segment_remove(const char *beside, uint64_t instance, uint32_t number)
{
    (void)beside;
    (void)instance;
    (void)number;
}

void
med_port_segments_remove(const char *beside, uint64_t instance)
{
    (void)beside;
    (void)instance;
}

bool
med_port_shared_section_look(const med_port_shared *shared,
                             uint32_t *process_id,
                             uint64_t *since_ns)
{
    (void)shared;
    (void)process_id;
    (void)since_ns;
    return false;
}

medley_status_t
med_port_slot_claim(med_port_shared *shared, uint32_t slot)
{
    (void)shared;
    (void)slot;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

void
med_port_slot_drop(med_port_shared *shared, uint32_t slot)
{
    (void)shared;
    (void)slot;
}

bool
med_port_slot_held(const med_port_shared *shared, uint32_t slot)
{
    (void)shared;
    (void)slot;
    return false;
}

uint32_t
med_port_slot_process(const med_port_shared *shared, uint32_t slot)
{
    (void)shared;
    (void)slot;
    return 0;
}

bool
med_port_slot_any_held(const med_port_shared *shared)
{
    (void)shared;
    return false;
}

void
med_port_slot_exits(med_port_shared *shared, uint32_t slot)
{
    (void)shared;
    (void)slot;
}

bool
med_port_slot_any_stays(const med_port_shared *shared)
{
    (void)shared;
    return false;
}

bool
med_port_slot_lost(const med_port_shared *shared, uint32_t slot, uint32_t process_id)
{
    (void)shared;
    (void)slot;
    (void)process_id;
    return false;
}

medley_status_t
med_port_slot_keep(med_port_shared *shared, uint32_t slot)
{
    (void)shared;
    (void)slot;
    return MEDLEY_OK;
}

size_t
med_port_thread_stack_bytes(void)
{
    return 0;
}

/* There is nothing to raise. */
const char *
med_port_thread_refusal(medley_status_t status)
{
    (void)status;
    return NULL;
}

medley_status_t
med_port_peer_open(uint32_t process_id, med_port_peer *peer)
{
    (void)process_id;
    (void)peer;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

void
med_port_peer_close(med_port_peer *peer)
{
    (void)peer;
}

medley_status_t
med_port_peer_copy_run(med_port_peer *peer, const med_port_peer_copy *copy)
{
    (void)peer;
    (void)copy;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

bool
med_port_pi_supported(void)
{
    return false;
}

uint32_t
med_port_pi_space(void)
{
    return 0;
}

medley_status_t
med_port_pi_lock(uint32_t *word, uint64_t deadline_ns, med_port_scope scope)
{
    (void)word;
    (void)deadline_ns;
    (void)scope;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_pi_unlock(uint32_t *word, med_port_scope scope)
{
    (void)word;
    (void)scope;
    return MEDLEY_ERR_NOT_SUPPORTED;
}
