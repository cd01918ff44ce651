/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Target regions on the host. */
#include "omp/target.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/say.h"

void
med_target_device_check(const med_member *member, int device)
{
    device = device == MED_DEVICE_DEFAULT ? member->icv->device : device;
    if (device != MED_DEVICE_HOST && device != MED_DEVICE_FALLBACK &&
        med_settings_get()->offload == MED_OFFLOAD_MANDATORY) {
        med_say_fatal("OMP_TARGET_OFFLOAD is set to MANDATORY, but device not found");
    }
}

void
med_target_run(med_member *member, uint32_t thread_limit, void (*entry)(void *data), void *data)
{
    med_member *first = med_team_start_initial(member);
    thread_limit = thread_limit ? thread_limit : member->icv->thread_limit;
    if (thread_limit != first->icv->thread_limit) {
        med_member_icv(first)->thread_limit = thread_limit;
    }
    entry(data);
    med_team_finish_initial(first);
}

static uintptr_t
aligned(uintptr_t at, size_t alignment)
{
    return (at + alignment - 1) / alignment * alignment;
}

void *
med_target_copies(const med_private *privates, uint32_t count)
{
    size_t size_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_bytes += privates[i].size_bytes + privates[i].alignment;
    }
    void *block = size_bytes ? med_heap_lend(size_bytes) : NULL;
    if (size_bytes && !block) {
        med_say_fatal("there is no memory for what a target region has copies of");
    }
    uintptr_t at = (uintptr_t)block;
    for (uint32_t i = 0; i < count; i++) {
        at = aligned(at, privates[i].alignment);
        memcpy((void *)at, *privates[i].address, privates[i].size_bytes);
        *privates[i].address = (void *)at;
        at += privates[i].size_bytes;
    }
    return block;
}
