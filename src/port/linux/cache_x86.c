/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dropping lines on x86: an instruction for programs, of which many can be under way, since Skylake
 * and Zen; its elder sister takes one line after the other. */
#include <cpuid.h>

#include "port/port.h"

#define LINE_BYTES 64u
#define LEAF_FEATURES 7
#define EBX_CLFLUSHOPT (1u << 23)

/* 0: not asked yet. Asking takes microseconds in a virtual machine. */
enum {
    ABSENT = 1,
    PRESENT = 2
};
static uint32_t clflushopt;

static uint32_t
ask(void)
{
    uint32_t eax;
    uint32_t ebx = 0;
    uint32_t ecx;
    uint32_t edx;
    bool answered = __get_cpuid_count(LEAF_FEATURES, 0, &eax, &ebx, &ecx, &edx) != 0;
    return answered && (ebx & EBX_CLFLUSHOPT) ? PRESENT : ABSENT;
}

bool
med_port_cache_drops(void)
{
    /* Relaxed, both: whoever asks at the same time gets the same answer. */
    uint32_t answer = __atomic_load_n(&clflushopt, __ATOMIC_RELAXED);
    if (!answer) {
        answer = ask();
        __atomic_store_n(&clflushopt, answer, __ATOMIC_RELAXED);
    }
    return answer == PRESENT;
}

void
med_port_cache_drop(const void *address, size_t size_bytes)
{
    if (!size_bytes || !med_port_cache_drops()) {
        return;
    }
    const char *last = (const char *)address + size_bytes - 1;
    const char *line = (const char *)address - (uintptr_t)address % LINE_BYTES;
    for (; line <= last; line += LINE_BYTES) {
        __asm__ volatile("clflushopt %0" : : "m"(*line));
    }
}
